/*
 * Profiles of the heap by gperftools and jemalloc:
 *
 *   1:       40 [     1:       40] @ 0x55e4a1db2352 0x7f71997b11fa
 *
 * The modules are in a table behind them; what is found is written below the line. All are
 * return addresses.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

/* More are not looked up. */
#define ADDRESSES_MAX 512

static void read_line(struct mk_line *l, const char *end)
{
	const char *at = mk_find(l->p, end, "@ 0x"), *p, *start;
	uint64_t address;
	struct mk_event *e;

	if (!at || (at > l->p && at[-1] != ' '))
		return;
	p = at + 1;
	for (unsigned i = 0; i < ADDRESSES_MAX && mk_match(&p, end, " "); i++) {
		start = p;
		if (!mk_match(&p, end, "0x%x", &address) || (p < end && !strchr(" \r\n", *p)))
			return;
		e = mk_add_frame(l, "heap", start, p);
		e->form = MK_FORM_BELOW;
		e->address = address;
		e->absolute = true;
		e->returns = MK_RETURN;
		e->number = i;
	}
}

const struct mk_input mk_heap_input = {
	.name = "heap",
	.cuttable = true,
	.words = (const char *const[]){ "@ 0x", NULL },
	.read = read_line,
};

/*
 * Profiles of the heap by gperftools and jemalloc:
 *
 *   1:       40 [     1:       40] @ 0x55e4a1db2352 0x7f71997b11fa
 *
 * The modules are in a table behind them; what is found is written below the line. All are
 * return addresses.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

/* More are not looked up. */
#define ADDRESSES_MAX 512

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + l->len, *at = memmem(l->p, l->len, "@ 0x", 4), *p = at + 1, *start;
	uint64_t address;
	struct mk_event *e;

	(void)dialect;
	if (!at || (at > l->p && at[-1] != ' '))
		return;
	for (unsigned i = 0; i < ADDRESSES_MAX && mk_take_text(&p, end, " "); i++) {
		start = p;
		if (!mk_take_hex(&p, end, &address) || (p < end && !strchr(" \r\n", *p)) ||
		    !(e = mk_add_frame(l, "heap", start, p)))
			return;
		e->form = MK_FORM_BELOW;
		e->address = address;
		e->absolute = e->returns = true;
		e->number = i;
	}
}

const struct mk_input mk_heap_input = {
	.name = "heap",
	.cuttable = true,
	.words = (const char *const[]){ "@ 0x", NULL },
	.read = read_line,
};

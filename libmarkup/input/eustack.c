/*
 * eu-stack -b, and what is made of it: a build ID and an address on a line of their own,
 *
 *   [93ac61ec5a8eb1396f9fbd350e3169a558528a40]@0x7f3970939000+0xd3e52
 *
 * of the call: nothing is to be subtracted.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

static void read_line(struct mk_line *l, const char *end)
{
	const char *middle = mk_find(l->p, end, "]@0x"), *start, *p;
	struct sc_str id;
	uint64_t base, rel;
	struct mk_event *e;

	start = p = middle ? memrchr(l->p, '[', (size_t)(middle - l->p)) : NULL;
	if (!p || !mk_match(&p, end, "[%b]@0x%x+0x%x", &id, &base, &rel))
		return;
	e = mk_add_frame(l, "eu-stack", start, p);
	e->build_id = e->name = id;
	e->address = base + rel;
	e->lookup = rel;
	e->reach = 2;
}

const struct mk_input mk_eustack_input = {
	.name = "eustack",
	.words = (const char *const[]){ "+0x", NULL },
	.read = read_line,
	.cuttable = true,
};

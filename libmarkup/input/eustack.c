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
	const char *middle = mk_find(l->p, end, "]@0x"), *p = middle, *id;
	uint64_t base, rel;
	struct mk_event *e;

	if (!middle)
		return;
	id = memrchr(l->p, '[', (size_t)(middle - l->p));
	if (!id || !mk_match(&p, end, "]@0x%x+0x%x", &base, &rel) ||
	    !mk_is_build_id(mk_span(id + 1, middle)) ||
	    !(e = mk_add_frame(l, "eu-stack", id, p)))
		return;
	e->build_id = e->name = mk_span(id + 1, middle);
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

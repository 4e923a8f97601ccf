/*
 * eu-stack -b, and what is made of it: a build ID and an address on a line of their own,
 *
 *   [93ac61ec5a8eb1396f9fbd350e3169a558528a40]@0x7f3970939000+0xd3e52
 *
 * of the call: nothing is to be subtracted.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + l->len, *middle = memmem(l->p, l->len, "]@0x", 4), *p, *id;
	uint64_t base, rel;
	struct mk_event *e;

	(void)dialect;
	if (!middle)
		return;
	p = middle + 2;
	id = memrchr(l->p, '[', (size_t)(middle - l->p));
	if (!id || !mk_take_hex(&p, end, &base) || !mk_take_text(&p, end, "+") ||
	    !mk_take_hex(&p, end, &rel))
		return;
	const struct markup_str hex = { id + 1, (size_t)(middle - id - 1) };
	if (hex.len % 2 || !mk_field_build_id(hex, NULL) || !(e = mk_add_event(l, MK_FRAME)))
		return;
	e->text = (struct markup_str){ id, (size_t)(p - id) };
	e->tag = (struct markup_str){ "eu-stack", strlen("eu-stack") };
	e->form = MK_FORM_BEHIND;
	e->build_id = e->name = hex;
	e->address = base + rel;
	e->in_module = true;
	e->lookup = rel;
	e->reach = 2;
}

const struct mk_input mk_eustack_input = {
	.name = "eustack",
	.words = (const char *const[]){ "+0x", NULL },
	.read = read_line,
	.cuttable = true,
};

/*
 * Stacks of valgrind:
 *
 *   ==28142==    at 0x109305: ??? (in /opt/depot/depotd)
 *   ==28142==    by 0x48531F9: ??? (in /opt/depot/libdepot.so)
 *
 * The address is that of the process, of the call. Valgrind always lays a program that can be
 * moved to one address, so those of the program are known; those of libraries are not.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

#define LINE_BYTES 8192

/* Behind "==PID==" and blanks, or NULL. */
static const char *find_text(const char *p, const char *end)
{
	uint64_t pid;

	while ((p = memmem(p, (size_t)(end - p), "==", 2))) {
		p += 2;
		if (mk_take_decimal(&p, end, &pid) && mk_take_text(&p, end, "==  ")) {
			while (p < end && *p == ' ')
				p++;
			return p;
		}
	}
	return NULL;
}

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + (l->len < LINE_BYTES ? l->len : LINE_BYTES), *p, *start, *in;
	uint64_t address;
	struct mk_event *e;

	(void)dialect;
	p = find_text(l->p, end);
	start = p;
	if (!p || (!mk_take_text(&p, end, "at ") && !mk_take_text(&p, end, "by ")))
		return;
	if (!mk_take_hex(&p, end, &address) || !mk_take_text(&p, end, ": "))
		return;
	end = mk_trimmed(p, end);
	in = mk_find_back(p, end, " (in /");
	if (!in || end[-1] != ')')
		return;
	e = mk_add_frame(l, "valgrind", start, end);
	if (!e)
		return;
	e->name = (struct markup_str){ in + 5, (size_t)(end - 1 - in - 5) };
	e->reach = 1;
	e->form = MK_FORM_VALGRIND;
	e->origin = MARKUP_FROM_VALGRIND;
	e->lookup = address;
}

const struct mk_input mk_valgrind_input = {
	.name = "valgrind",
	.words = (const char *const[]){ "==  ", NULL },
	.read = read_line,
	.cuttable = true,
};

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
#include "libmarkup/input/match.h"

/* Behind "==PID==" and blanks, or NULL. */
static const char *find_text(const char *p, const char *end)
{
	uint64_t pid;

	while ((p = mk_find(p, end, "=="))) {
		p += 2;
		if (mk_match(&p, end, "%d==  %_", &pid))
			return p;
	}
	return NULL;
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *start = find_text(l->p, end), *p = start, *in;
	uint64_t address;
	struct mk_event *e;

	if (!p || (!mk_match(&p, end, "at 0x%x: ", &address) &&
		   !mk_match(&p, end, "by 0x%x: ", &address)))
		return;
	end = mk_trimmed(p, end);
	in = mk_find_back(p, end, " (in /");
	if (!in || end[-1] != ')')
		return;
	e = mk_add_frame(l, "valgrind", start, end);
	e->name = sc_span(in + 5, end - 1);
	if (*p != '?')
		e->function = sc_span(p, in);
	e->reach = 1;
	e->form = MK_FORM_VALGRIND;
	e->origin = MARKUP_FROM_VALGRIND;
	e->lookup = address;
}

const struct mk_input mk_valgrind_input = {
	.name = "valgrind",
	.words = (const char *const[]){ "==  ", NULL },
	.longest = 8192,
	.read = read_line,
	.cuttable = true,
};

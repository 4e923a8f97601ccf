/*
 * Boost.Stacktrace and std::stacktrace, with addresses of the process alone:
 *
 *    3# 0x00007F88C21B21FA in /opt/depot/libdepot.so
 *    3#      at :0 [0x7f88c21b21fa]
 *
 * The module is in a table of the log, or they stay, as do frames with a function. All are
 * return addresses.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

static void read_line(struct mk_line *l, const char *end)
{
	const char *mark = mk_find(l->p, end, "# "), *digits, *p, *hole;
	uint64_t number, address;
	struct mk_event *e;

	p = digits = mark ? mk_back_digits(l->p, mark) : NULL;
	if (!mark || !mk_begins_word(l->p, digits) || !mk_match(&p, mark + 2, "%d# ", &number))
		return;
	end = mk_trimmed(mark, mk_end_of_text(mark, end));
	hole = p;
	if (!mk_match(&p, end, "0x%x in ", &address)) {
		hole = NULL;
		p = mk_find_back(mark + 2, end, " [0x");
		if (!p || !mk_match(&p, end, " [0x%x]", &address) || p != end)
			return;
	}
	e = mk_add_frame(l, "boost", digits, end);
	e->number = number;
	e->address = address;
	e->absolute = true;
	e->returns = MK_RETURN;
	if (hole)
		e->hole = sc_span(hole, p - strlen(" in "));
	else if ((hole = mk_find(mark, end, " in ")) || (hole = mk_find(mark, end, " at ")))
		e->function = sc_span(mark + 2, hole);
}

const struct mk_input mk_boost_input = {
	.name = "boost",
	.cuttable = true,
	.words = (const char *const[]){ "# 0x", "[0x", NULL },
	.longest = 4096,
	.read = read_line,
	.chained = true,
};

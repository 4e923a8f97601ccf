/*
 * Stacks of glog and Abseil, with addresses of the process alone:
 *
 *   PC: @     0x559468ce3421 on_crate()
 *       @     0x7fee82ce71fa  (unknown)
 *       @     0x559468ce3355   48  serve()          Abseil: with the size of the frame
 *
 * The module is in a table of the log, or they stay. All are return addresses, but for the PC.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

static void read_line(struct mk_line *l, const char *end)
{
	const char *at = mk_find(l->p, end, "@   "), *p;
	struct mk_event *e;
	uint64_t address;
	bool is_pc;

	if (!at || (at > l->p && at[-1] != ' ' && at[-1] != '"'))
		return;
	p = at + 1;
	end = mk_end_of_text(at, end);
	if (!mk_match(&p, end, "%_0x%x", &address) || (p < end && *p != ' '))
		return;
	is_pc = mk_ends_with(l->p, at, "PC: ");
	e = mk_add_frame(l, "glog", is_pc ? at - 4 : at, mk_trimmed(p, end));
	e->address = address;
	e->absolute = true;
	e->returns = is_pc ? MK_EXACT : MK_RETURN;
	if (mk_match(&p, end, "%_(unknown)"))
		e->hole = (struct sc_str){ p - 9, 9 };
	else if (mk_match(&p, end, "%_"))
		e->function = sc_span(p, mk_trimmed(p, end));
	e->reach = 2; /* a line of the signal is behind the PC */
}

const struct mk_input mk_glog_input = {
	.name = "glog",
	.cuttable = true,
	.words = (const char *const[]){ "@   ", NULL },
	.longest = 4096,
	.read = read_line,
	.chained = true,
};

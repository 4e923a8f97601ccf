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
#include "libmarkup/input/take.h"

/* A longer line is not a frame. */
#define FRAME_MAX 4096

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	static const char pc[] = "PC: ";
	const char *end = l->p + (l->len < FRAME_MAX ? l->len : FRAME_MAX);
	const char *at = memmem(l->p, (size_t)(end - l->p), "@   ", 4), *p;
	struct mk_event *e;
	uint64_t address;
	bool is_pc;

	(void)dialect;
	if (!at || (at > l->p && at[-1] != ' ' && at[-1] != '"'))
		return;
	p = at + 1;
	end = mk_end_of_text(at, end);
	while (p < end && *p == ' ')
		p++;
	if (!mk_take_hex(&p, end, &address) || (p < end && *p != ' '))
		return;
	is_pc = at - l->p >= 4 && !memcmp(at - 4, pc, 4);
	e = mk_add_frame(l, "glog", is_pc ? at - 4 : at, mk_trimmed(p, end));
	if (!e)
		return;
	e->address = address;
	e->absolute = true;
	e->returns = !is_pc;
	while (p < end && *p == ' ')
		p++;
	if (mk_take_text(&p, end, "(unknown)"))
		e->hole = (struct markup_str){ p - 9, 9 };
	e->reach = 2; /* a line of the signal is behind the PC */
}

const struct mk_input mk_glog_input = {
	.name = "glog",
	.cuttable = true,
	.words = (const char *const[]){ "@   ", NULL },
	.read = read_line,
	.chained = true,
};

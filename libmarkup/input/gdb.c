/*
 * Backtraces of gdb and eu-stack, with addresses of the process alone:
 *
 *   #3  0x00007f3970b2a1fa in ?? () from /opt/depot/libdepot.so
 *   #4  <signal handler called>
 *   #5  0x00007f3970b2a2ea - 1 main
 *
 * The module is in a table of the log ("info proc mappings", eu-unstrip -n), or they stay, as
 * do frames without an address. All are return addresses, but for frame 0 and for what a
 * signal interrupted.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

static void read_line(struct mk_line *l, const char *end)
{
	const char *start = memchr(l->p, '#', (size_t)(end - l->p)), *p, *hex, *after;
	uint64_t number, address;
	struct mk_event *e;

	if (!start || !mk_begins_word(l->p, start))
		return;
	p = start;
	if (!mk_match(&p, end, "#%d", &number))
		return;
	end = mk_trimmed(p, mk_end_of_text(p, end));
	if (mk_match(&p, end, "%_<signal handler called>")) {
		e = mk_add_event(l, MK_UNKNOWN);
		e->text = sc_span(start, p);
		e->aside = MK_INTERRUPTS;
		e->quiet = true;
		return;
	}
	mk_match(&p, end, "%_");
	hex = p;
	if (!mk_match(&p, end, "0x00%x", &address) || p - hex != 18 || (p < end && *p != ' '))
		return;
	e = mk_add_frame(l, "gdb", start, end);
	e->number = number;
	e->address = address;
	e->absolute = true;
	e->returns = number ? MK_RETURN : MK_EXACT;
	/* What has its place already stays. */
	if (!mk_match(&p, end, " in "))
		return;
	after = mk_find_back(p, end, " () from ");
	if (!after && mk_ends_with(p, end, " ()"))
		after = end - 3;
	if (after)
		e->hole = sc_span(p, after);
	after = mk_find(p, end, " (");
	if (after && *p != '?')
		e->function = sc_span(p, after);
}

const struct mk_input mk_gdb_input = {
	.name = "gdb",
	.cuttable = true,
	.words = (const char *const[]){ "0x00", "<sig", NULL },
	.longest = 8192,
	.read = read_line,
	.chained = true,
};

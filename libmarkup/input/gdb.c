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
#include "libmarkup/input/take.h"

/* A longer line is not a frame. */
#define FRAME_MAX 8192

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	static const char handler[] = "<signal handler called>";
	const char *end = l->p + (l->len < FRAME_MAX ? l->len : FRAME_MAX);
	const char *start = memchr(l->p, '#', (size_t)(end - l->p)), *p, *hex, *after;
	uint64_t number, address;
	struct mk_event *e;

	(void)dialect;
	if (!start || !mk_begins_word(l->p, start))
		return;
	p = start + 1;
	if (!mk_take_decimal(&p, end, &number))
		return;
	end = mk_trimmed(p, mk_end_of_text(p, end));
	while (p < end && *p == ' ')
		p++;
	if (mk_take_text(&p, end, handler) && (e = mk_add_event(l, MK_UNKNOWN))) {
		e->text = (struct markup_str){ start, (size_t)(p - start) };
		e->interrupts = e->quiet = true;
		return;
	}
	hex = p;
	if (!mk_take_hex(&p, end, &address) || p - hex != 18 || memcmp(hex, "0x00", 4) || (p < end && *p != ' ') ||
	    !(e = mk_add_frame(l, "gdb", start, end)))
		return;
	e->number = number;
	e->address = address;
	e->absolute = true;
	e->returns = number != 0;
	/* What has its place already stays. */
	if (!mk_take_text(&p, end, " in "))
		return;
	after = mk_find_back(p, end, " () from ");
	if (!after && end - p > 3 && !memcmp(end - 3, " ()", 3))
		after = end - 3;
	if (after)
		e->hole = (struct markup_str){ p, (size_t)(after - p) };
}

const struct mk_input mk_gdb_input = {
	.name = "gdb",
	.cuttable = true,
	.words = (const char *const[]){ "0x00", "<sig", NULL },
	.read = read_line,
	.chained = true,
};

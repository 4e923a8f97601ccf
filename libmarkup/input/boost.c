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
#include "libmarkup/input/take.h"

/* A longer line is not a frame. */
#define FRAME_MAX 4096

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + (l->len < FRAME_MAX ? l->len : FRAME_MAX);
	const char *mark = memmem(l->p, (size_t)(end - l->p), "# ", 2), *digits = mark, *p, *hole;
	uint64_t number, address;
	struct mk_event *e;

	(void)dialect;
	while (digits && digits > l->p && digits[-1] >= '0' && digits[-1] <= '9')
		digits--;
	p = digits;
	if (!mark || !mk_begins_word(l->p, digits) || !mk_take_decimal(&p, mark, &number) || p != mark)
		return;
	end = mk_trimmed(mark, mk_end_of_text(mark, end));
	p = hole = mark + 2;
	if (!mk_take_hex(&p, end, &address) || !mk_take_text(&p, end, " in ")) {
		hole = NULL;
		p = mk_find_back(mark, end, " [0x");
		p = p && p > mark + 1 ? p + 2 : NULL;
		if (!p || !mk_take_hex(&p, end, &address) || !mk_take_text(&p, end, "]") || p != end)
			return;
	}
	e = mk_add_frame(l, "boost", digits, end);
	if (!e)
		return;
	e->number = number;
	e->address = address;
	e->absolute = e->returns = true;
	if (hole)
		e->hole = (struct markup_str){ hole, (size_t)(p - 4 - hole) };
}

const struct mk_input mk_boost_input = {
	.name = "boost",
	.cuttable = true,
	.words = (const char *const[]){ "# 0x", "[0x", NULL },
	.read = read_line,
	.chained = true,
};

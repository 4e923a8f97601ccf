/*
 * Reports of AddressSanitizer and its sisters, without symbols or with some:
 *
 *   #1 0x7f926d5051f9  (/opt/depot/libdepot.so+0x11f9) (BuildId: dfe7f702…)
 *   #4 0x55c5cffbb02a in main (/opt/depot/prog+0x10e02a)
 *   #0 <null> <null> (libdepot.so+0x11f9)                          ThreadSanitizer
 *
 * The number in parentheses is an address in the file, of the call: nothing is to be
 * subtracted. Those of others are return addresses: Chromium's, on lines that begin with them,
 * LLVM's own, without "in" before a function, and bcc's, two blanks behind the number.
 *
 *   #1 0x55d0c1456a86 (/opt/chromium/chrome+0x456a86)
 *    #5 0x00007f30fbe512ea f(int) (/opt/depot/libdepot.so+0x12ea)
 *       #3  0x00007f30fbe511fa (/opt/depot/libdepot.so+0x11fa)
 *
 * But newer ones of Chromium's have subtracted already: the number ends as the address less one.
 *
 * A path may hold blanks and parentheses, so its end counts. Several frames may
 * be in one line, where a report is a JSON string.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

/* A longer line is not a frame. */
#define FRAME_MAX 4096

/* "(MODULE+0xHEX)", the last one in [p, end); its module and number. Returns what is behind
 * it, or NULL. */
static const char *find_place(const char *p, const char *end, struct sc_str *module,
			      uint64_t *rel)
{
	const char *plus = end, *after, *open;

	do {
		plus = mk_find_back(p, plus, "+0x");
		if (!plus)
			return NULL;
		after = plus;
	} while (!mk_match(&after, end, "+0x%x)", rel));
	open = mk_find_back(p, plus, " (/");
	if (!open)
		open = mk_find_back(p, plus, " (");
	if (!open || open + 2 == plus)
		return NULL;
	*module = sc_span(open + 2, plus);
	return after;
}

/* A frame whose '#' is at p: false, it is something else. */
static bool read_frame(struct mk_line *l, const char **pos, const char *end)
{
	const char *start = *pos, *p = start, *after, *name;
	uint64_t number, address = 0, rel;
	const char *digits;
	bool theirs;
	struct sc_str module, id;
	struct mk_event *e;

	if (!mk_match(&p, end, "#%d %_", &number))
		return false;
	if (end - p > 2 && p[0] == '0' && p[1] == 'x' &&
	    (!mk_match(&p, end, "0x%x", &address) || p == end || *p != ' '))
		return false;
	digits = start + 1;
	theirs = address && !mk_match(&digits, end, "%d 0x", &number); /* bcc's */
	if (address && end - p > 1 && p[1] == '(') /* one blank */
		theirs |= !mk_ends_with(l->p, start, "  ");
	else if (address && end - p > 4 && p[1] != ' ')
		theirs |= memcmp(p, " in ", 4) != 0;
	name = p;
	after = find_place(p - 1, end, &module, &rel);
	if (!after)
		return false;
	if (!mk_match(&after, end, " (BuildId: %b)", &id))
		id = (struct sc_str){ NULL, 0 };
	e = mk_add_frame(l, "sanitizer", start, after);
	e->name = module;
	e->build_id = id;
	e->form = MK_FORM_SANITIZER;
	e->number = number;
	e->address = address;
	e->lookup = rel;
	mk_match(&name, end, " in");
	if (name + 3 < module.ptr && *name == ' ')
		e->function = sc_span(name + 1, mk_trimmed(name + 1, module.ptr - 2));
	if (theirs && !id.len && !((address ^ rel) & 0xfff))
		e->returns = MK_RETURN;
	*pos = after;
	return true;
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *p = l->p, *stop, *escape = NULL, *plus = NULL;

	for (; (p = memchr(p, '#', (size_t)(end - p))); p++) {
		stop = mk_find_next(&escape, p, end, "\\n");
		stop = stop - p > FRAME_MAX ? p + FRAME_MAX : stop;
		if (mk_find_next(&plus, p, end, "+0x") < stop && mk_begins_word(l->p, p) &&
		    read_frame(l, &p, stop))
			p--;
	}
}

const struct mk_input mk_sanitizer_input = {
	.name = "sanitizer",
	.words = (const char *const[]){ "+0x", NULL },
	.read = read_line,
	.chained = true,
	.cuttable = true,
};

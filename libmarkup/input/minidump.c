/*
 * Stacks of minidumps, as minidump_stackwalk of Breakpad and of rust-minidump write them, for
 * programs (-m) and for people:
 *
 *   Module|libdepot.so||libdepot.so|02F7E7DFBFEE105BA7D32D50E980C6990|0x7f3a…|0x7f3a…|0
 *   0|2|libdepot.so||||0x11fa                    thread, frame, module, …, address
 *    2  libdepot.so + 0x12da
 *
 * An ID is the beginning of a build ID, written as a GUID. Addresses count from the first of the
 * module and are return addresses, but for frame 0. Frames that have a function stay.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

#define GUID 32u /* digits */

static const char module_word[] = "Module|";

static void read_module(struct mk_line *l, const char *start, const char *end)
{
	const char *p = start;
	struct sc_str name, version, file, id;

	if (!mk_match(&p, end, "Module|%s|%s|%s|%s|", &name, &version, &file, &id) || !name.len ||
	    id.len <= GUID || !mk_field_build_id((struct sc_str){ id.ptr, GUID }, NULL))
		return;
	mk_add_binding(l, start, p, name, id)->guid = true;
}

static void add(struct mk_line *l, const char *start, const char *end, struct sc_str module,
		uint64_t number, uint64_t address)
{
	struct mk_event *e = mk_add_frame(l, "minidump", start, end);

	e->name = module;
	e->number = number;
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = address;
	e->returns = number ? MK_RETURN : MK_EXACT;
}

/* Only blanks, or the end of a string. */
static bool is_end(const char *p, const char *end)
{
	return mk_trimmed(p, end) == p || *p == '"' || (*p == '\\' && p + 1 < end && p[1] == 'n');
}

/* THREAD|FRAME|MODULE||||0xHEX, with its "||||0x" at `bars`. */
static void read_bars(struct mk_line *l, const char *bars, const char *end)
{
	const char *p = bars, *name = bars, *start, *at;
	uint64_t address, thread, number;

	while (name > l->p && name[-1] != '|')
		name--;
	for (start = name; start > l->p && (start[-1] == '|' ||
					    (start[-1] >= '0' && start[-1] <= '9'));)
		start--;
	at = start;
	if (name < bars && mk_match(&at, name, "%d|%d|", &thread, &number) && at == name &&
	    mk_match(&p, end, "||||0x%x", &address) && is_end(p, end))
		add(l, start, p, sc_span(name, bars), number, address);
}

/* " N  MODULE + 0xHEX", with its " + 0x" at `plus`. */
static void read_words(struct mk_line *l, const char *plus, const char *end)
{
	const char *p = plus, *name = plus, *start, *at;
	uint64_t address, number;

	while (name > l->p && name[-1] != ' ')
		name--;
	if (name == plus || name - l->p < 3 || name[-2] != ' ')
		return;
	at = start = mk_back_digits(l->p, name - 2);
	if (mk_begins_word(l->p, start) && mk_match(&at, name, "%d  ", &number) && at == name &&
	    mk_match(&p, end, " + 0x%x", &address) && is_end(p, end))
		add(l, start, p, sc_span(name, plus), number, address);
}

static void read_line(struct mk_line *l, const char *end)
{
	const char *at;

	if ((at = mk_find(l->p, end, module_word)))
		read_module(l, at, end);
	else if ((at = mk_find(l->p, end, "||||0x")))
		read_bars(l, at, end);
	else if ((at = mk_find(l->p, end, " + 0x")))
		read_words(l, at, end);
}

const struct mk_input mk_minidump_input = {
	.name = "minidump",
	.words = (const char *const[]){ "||0x", "+ 0x", "ule|", NULL },
	.context_words = (const char *const[]){ module_word, NULL },
	.longest = 4096,
	.read = read_line,
	.cuttable = true,
};

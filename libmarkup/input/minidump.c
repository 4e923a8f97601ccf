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
#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

#define LINE_BYTES 4096
#define GUID      32u /* digits */

/* The field at *p, which moves behind the '|' that ends it. */
static bool take_field(const char **p, const char *end, struct markup_str *ret)
{
	const char *bar = memchr(*p, '|', (size_t)(end - *p));

	if (!bar)
		return false;
	*ret = (struct markup_str){ *p, (size_t)(bar - *p) };
	*p = bar + 1;
	return true;
}

static const char *find_module(const char *p, const char *end)
{
	return memmem(p, (size_t)(end - p), "Module|", strlen("Module|"));
}

static void read_module(struct mk_line *l, const char *start, const char *end)
{
	const char *p = start + strlen("Module|");
	struct markup_str name, version, file, id;
	struct mk_event *e;

	if (!take_field(&p, end, &name) || !take_field(&p, end, &version) ||
	    !take_field(&p, end, &file) || !take_field(&p, end, &id) || !name.len ||
	    id.len <= GUID || !mk_field_build_id((struct markup_str){ id.ptr, GUID }, NULL))
		return;
	e = mk_add_binding(l, start, p, name, id);
	if (e)
		e->guid = true;
}

static void add(struct mk_line *l, const char *start, const char *end, struct markup_str module,
		uint64_t number, uint64_t address)
{
	struct mk_event *e = mk_add_frame(l, "minidump", start, end);

	if (!e)
		return;
	e->name = module;
	e->number = number;
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = address;
	e->returns = number != 0;
}

/* Only blanks, or the end of a string. */
static bool is_end(const char *p, const char *end)
{
	return mk_trimmed(p, end) == p || *p == '"' || (*p == '\\' && p + 1 < end && p[1] == 'n');
}

/* THREAD|FRAME|MODULE||||0xHEX, with its "||||0x" at `bars`. */
static void read_bars(struct mk_line *l, const char *bars, const char *end)
{
	const char *p = bars + strlen("||||"), *name = bars, *start, *at;
	uint64_t address, thread, number;

	while (name > l->p && name[-1] != '|')
		name--;
	for (start = name; start > l->p && (start[-1] == '|' ||
					    (start[-1] >= '0' && start[-1] <= '9'));)
		start--;
	at = start;
	if (name < bars && mk_take_decimal(&at, name, &thread) && mk_take_text(&at, name, "|") &&
	    mk_take_decimal(&at, name, &number) && at + 1 == name && mk_take_hex(&p, end, &address) &&
	    is_end(p, end))
		add(l, start, p, (struct markup_str){ name, (size_t)(bars - name) }, number, address);
}

/* " N  MODULE + 0xHEX", with its " + 0x" at `plus`. */
static void read_words(struct mk_line *l, const char *plus, const char *end)
{
	const char *p = plus + 3, *name = plus, *start, *at;
	uint64_t address, number;

	while (name > l->p && name[-1] != ' ')
		name--;
	if (name == plus || name - l->p < 3 || name[-2] != ' ')
		return;
	for (start = name - 2; start > l->p && start[-1] >= '0' && start[-1] <= '9';)
		start--;
	at = start;
	if (mk_begins_word(l->p, start) && mk_take_decimal(&at, name, &number) && at + 2 == name &&
	    mk_take_hex(&p, end, &address) && is_end(p, end))
		add(l, start, p, (struct markup_str){ name, (size_t)(plus - name) }, number, address);
}

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *p = l->p, *end = p + (l->len < LINE_BYTES ? l->len : LINE_BYTES), *at;

	(void)dialect;
	if ((at = find_module(p, end)))
		read_module(l, at, end);
	else if ((at = memmem(p, (size_t)(end - p), "||||0x", 6)))
		read_bars(l, at, end);
	else if ((at = memmem(p, (size_t)(end - p), " + 0x", 5)))
		read_words(l, at, end);
}

const struct mk_input mk_minidump_input = {
	.name = "minidump",
	.words = (const char *const[]){ "||0x", "+ 0x", "ule|", NULL },
	.find_context = find_module,
	.read = read_line,
	.cuttable = true,
};

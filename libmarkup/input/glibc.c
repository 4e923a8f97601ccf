/*
 * Lines of glibc's backtrace_symbols(), which many programs print:
 *
 *   ./depotd(+0x2d8b) [0x55663d54ad8b]                 address in the file
 *   /lib/libc.so.6(__libc_start_main+0x85)[0x7f3e…]    address of the process alone
 *   ./depotd-nopie() [0x401d39]                        address in the file, not relocated
 *
 * and systemd-coredump's, which name the module behind the address:
 *
 *   #1  0x00007f067030c1fa n/a (libdepot.so + 0x11fa)
 *
 * All are return addresses, but for frame 0 of the latter, and for what a signal interrupted.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/take.h"

/* A longer line is not a frame. */
#define FRAME_MAX 4096

static struct mk_event *add(struct mk_line *l, const char *tag, const char *start, const char *end,
			    struct markup_str module)
{
	struct mk_event *e = mk_add_frame(l, tag, start, end);

	if (e) {
		e->name = module;
		e->returns = true;
	}
	return e;
}

/* ---- glibc -------------------------------------------------------------------- */

/* Where the name of a file begins that ends at `end`. */
static const char *file_begin(const char *line, const char *end)
{
	while (end > line && !strchr(" \t\"'\r\n", end[-1]))
		end--;
	return end;
}

/* "[0xADDRESS]" without "(…)": of a file that is not relocated, if a path is in front of it, or
 * of what lies in no file that glibc knew. */
static void read_alone(struct mk_line *l, const char *p, const char *bracket, const char *after,
		       const char *end, uint64_t address)
{
	const char *file = file_begin(p, bracket);
	struct mk_event *e;

	if (mk_trimmed(after, end) > after || (file < bracket && !memchr(file, '/', (size_t)(bracket - file))) ||
	    !(e = add(l, "glibc", file, after, (struct markup_str){ file, (size_t)(bracket - file) })))
		return;
	e->address = e->lookup = address;
	/* An address of a file that is not relocated is low. */
	e->absolute = file == bracket || address >> 32;
	e->reach = 1;
}

/* The line in [p, end), whose last "[0x" is at `bracket`. */
static void read_glibc(struct mk_line *l, const char *p, const char *bracket, const char *end)
{
	const char *at = bracket + 1, *close = bracket, *open, *plus, *file, *after;
	uint64_t address, rel = 0;
	struct mk_event *e;

	if (!mk_take_hex(&at, end, &address) || at == end || *at != ']')
		return;
	close -= close > p && close[-1] == ' ';
	if (close == p || close[-1] != ')') {
		read_alone(l, p, bracket, at + 1, end, address);
		return;
	}
	close--;
	open = memrchr(p, '(', (size_t)(close - p));
	if (!open)
		return;
	file = file_begin(p, open);
	plus = mk_find_back(open, close, "+0x");
	after = plus ? plus + 1 : NULL;
	if (file == open || (close != open + 1 && (!plus || !mk_take_hex(&after, close, &rel) ||
						   after != close)))
		return;
	e = add(l, "glibc", file, at + 1, (struct markup_str){ file, (size_t)(open - file) });
	if (!e)
		return;
	e->address = address;
	e->reach = 1;
	/* An address of a file that is not relocated is low. */
	e->absolute = plus && plus > open + 1;
	e->lookup = plus ? rel : address;
	if (!plus && address >> 32)
		e->absolute = true;
}

/* ---- systemd-coredump ----------------------------------------------------------- */

static bool read_systemd(struct mk_line *l, const char *start, const char *end)
{
	const char *p = start + 1, *plus, *open, *after;
	uint64_t number, address, rel;
	struct mk_event *e;

	if (!mk_take_decimal(&p, end, &number) || p == end || *p != ' ')
		return false;
	while (p < end && *p == ' ')
		p++;
	if (!mk_take_hex(&p, end, &address) || p == end || *p != ' ')
		return false;
	plus = mk_find_back(p, end, " + 0x");
	open = plus ? mk_find_back(p, plus, " (") : NULL;
	after = plus ? plus + 3 : NULL;
	if (!open || !mk_take_hex(&after, end, &rel) || after == end || *after != ')')
		return false;
	e = add(l, "systemd", start, after + 1,
		(struct markup_str){ open + 2, (size_t)(plus - open - 2) });
	if (!e)
		return false;
	e->number = number;
	e->address = address;
	e->origin = MARKUP_FROM_LOAD_BASE;
	e->lookup = rel;
	e->returns = number != 0;
	return true;
}

/* ---- lines -------------------------------------------------------------------- */

static void read_line(struct mk_line *l, enum markup_dialect dialect)
{
	const char *end = l->p + (l->len < FRAME_MAX ? l->len : FRAME_MAX);
	const char *bracket = mk_find_back(l->p, end, "[0x"), *hash;

	(void)dialect;
	if (bracket)
		read_glibc(l, l->p, bracket, end);
	for (hash = l->p; !l->num_events && (hash = memchr(hash, '#', (size_t)(end - hash)));
	     hash++)
		if (mk_begins_word(l->p, hash) && read_systemd(l, hash, end))
			return;
}

const struct mk_input mk_glibc_input = {
	.name = "glibc",
	.words = (const char *const[]){ "+0x", "[0x", "+ 0", NULL },
	.read = read_line,
	.chained = true,
	.cuttable = true,
};

/*
 * Lines of glibc's backtrace_symbols(), which many programs print:
 *
 *   ./depotd(+0x2d8b) [0x55663d54ad8b]                 address in the file
 *   /lib/libc.so.6(__libc_start_main+0x85)[0x7f3e…]    address of the process alone
 *   ./depotd-nopie() [0x401d39]                        address in the file, not relocated
 *   (OSDMap::exists(int) const+0x73) [0x55d0c3c77aa3]  Ceph's: not even the file
 *   > /lib/libc.so.6(__write+0x10) [0xf8350]           strace -k: offset in the file
 *
 * All are return addresses, but for strace's first, and for what a signal interrupted.
 */
#include "libmarkup/input/input.h"
#include "libmarkup/input/match.h"

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

	if (mk_trimmed(after, end) > after ||
	    (file < bracket && !memchr(file, '/', (size_t)(bracket - file))))
		return;
	e = mk_add_frame(l, "glibc", file, after);
	e->name = sc_span(file, bracket);
	e->returns = MK_RETURN;
	e->address = e->lookup = address;
	/* An address of a file that is not relocated is low. */
	e->absolute = file == bracket || address >> 32;
	e->reach = 1;
}

/* The parenthesis that is closed in front of `end`, or NULL. */
static const char *find_open(const char *p, const char *end)
{
	for (int depth = 0; end-- > p;) {
		depth += *end == ')';
		depth -= *end == '(';
		if (!depth)
			return end;
	}
	return NULL;
}

/* A program may have written a title over its name: "/usr/sbin/x: alerter #2(+0x12)",
 * "redis-server *:6379(+0x12)". What its name may be in [p, word), or nothing. */
static struct sc_str titled_program(const char *p, const char *word)
{
	const char *end = mk_trimmed(p, word), *path = mk_find_back(p, end, " /"), *begin;
	const char *colon = mk_find_back(p, word, ": "), *blank;

	if (path || (p < end && *p == '/')) {
		begin = path ? path + 1 : p;
		blank = memchr(begin, ' ', (size_t)(end - begin));
		end = blank ? blank : end;
		end -= end > begin && end[-1] == ':';
	} else {
		end = colon ? colon : end;
		begin = file_begin(p, end);
	}
	return sc_span(begin, end);
}

/* The line in [p, end), whose last "[0x" is at `bracket`. */
static void read_glibc(struct mk_line *l, const char *p, const char *bracket, const char *end)
{
	const char *at = bracket, *close = bracket, *open, *plus, *file, *file_end, *after;
	uint64_t address, rel = 0;
	struct mk_event *e;

	if (!mk_match(&at, end, "[0x%x]", &address))
		return;
	close -= close > p && close[-1] == ' ';
	if (close == p || close[-1] != ')') {
		read_alone(l, p, bracket, at, end, address);
		return;
	}
	open = find_open(p, close);
	if (!open)
		return;
	close--;
	file = file_end = open;
	if (open > p + 1 && open[-1] == ' ') { /* X.Org writes FILE (+0x12) */
		file = file_begin(p, open - 1);
		file_end = *file == '/' ? open - 1 : open;
	}
	file = file_begin(p, file_end);
	plus = mk_find_back(open, close, "+0x");
	after = plus;
	if ((file == file_end && !plus) ||
	    (close != open + 1 &&
	     (!plus || !mk_match(&after, close, "+0x%x", &rel) || after != close)))
		return;
	e = mk_add_frame(l, "glibc", file, at);
	e->name = sc_span(file, file_end);
	e->returns = MK_RETURN;
	e->reach = 1;
	if (mk_ends_with(p, file, "> ")) {
		e->tag = sc_str_of("strace");
		e->origin = MARKUP_FROM_FILE;
		e->lookup = address;
		e->returns = MK_RETURN_BUT_LEAD;
		return;
	}
	e->address = address;
	/* An address of a file that is not relocated is low. */
	e->absolute = (plus && plus > open + 1) || (!plus && address >> 32) || file == file_end;
	e->lookup = plus ? rel : address;
	if (plus && plus > open + 1)
		e->function = sc_span(open + 1, plus);
	if (file < file_end && plus > open + 1) {
		e->symbol = sc_span(open + 1, plus);
		e->symbol_offset = rel;
	}
	if (file < file_end && !memchr(file, '/', (size_t)(file_end - file)))
		e->other_name = titled_program(p, file);
}

/* Where the piece of the line ends that p is in, and *behind that: strings of JSON and rsyslog
 * escape the ends of lines, Gluster writes arrows. */
static const char *end_of_piece(const char *p, const char *end, const char **behind)
{
	static const char *const ends[] = { "\\n", "#012", "-->" };

	*behind = end;
	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		const char *at = mk_find(p, end, ends[i]);

		if (at) {
			end = at;
			*behind = at + strlen(ends[i]);
		}
	}
	return end;
}

static void read_line(struct mk_line *l, const char *line_end)
{
	const char *bracket, *end, *behind;

	for (const char *p = l->p; p < line_end; p = behind) {
		end = end_of_piece(p, line_end, &behind);
		bracket = mk_find_back(p, end, "[0x");
		if (bracket)
			read_glibc(l, p, bracket, end);
	}
}

const struct mk_input mk_glibc_input = {
	.name = "glibc",
	.words = (const char *const[]){ "[0x", NULL },
	.longest = 65536,
	.read = read_line,
	.chained = true,
	.cuttable = true,
};

/*
 * Lines against the rows of frames.h: one pass finds the anchors of all rows, and at each the
 * rows that have it are tried, in their order. A line may have several frames, also in several
 * texts: a JSON string's "\n" and rsyslog's "#012" end one.
 *
 * What loggers write before a text (dates, names, levels, colours, {"log":") is nowhere
 * described: a frame may begin wherever no word goes on.
 *
 * Cost: linear, by a budget of each line (pattern.h).
 */
#include "libmarkup/input/frames.h"

#include <pthread.h>

#include "libmarkup/input/pattern_parts.h"

#define STEPS_PER_BYTE 8u
#define STEPS_MIN      (64u << 10)
#define STEPS_OF_ROW   8u
#define LIST_MAX       512u /* frames of a list */
#define FRAME_MAX      4096 /* bytes before an anchor that are looked at for an arrow */

/* The rows of an input, by their anchors, and these by their first bytes; numbers are those of
 * rows, and 1; 0: no more. */
struct engine {
	struct mk_words words;
	uint8_t first[256];                 /* row with an anchor that begins so */
	uint8_t next_word[MK_FRAME_ROWS_MAX]; /* with another anchor that does */
	uint8_t next[MK_FRAME_ROWS_MAX];    /* with the same anchor */
	struct anchor {
		char word[16];
		uint8_t len, lead; /* bytes before `right` */
		char last;         /* the byte before the anchor and blanks; 0: any */
		bool numbered;     /* a '#' is before it */
		bool hex;          /* digits are behind it, and this byte behind them; 0: any */
		char behind;
	} anchors[MK_FRAME_ROWS_MAX];
};

static struct engine known, any;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool is_any(const struct mk_frame_row *row)
{
	return sc_str_is((struct sc_str){ row->name, strlen(row->name) }, mk_any_input.name);
}

static void make_anchor(const struct mk_frame_row *row, struct anchor *a)
{
	const char *mark = strchr(row->word, '^');
	size_t n = strlen(row->left);

	a->lead = mark ? (uint8_t)(mark - row->word) : 0;
	a->len = (uint8_t)(strlen(row->word) - (mark != NULL));
	memcpy(a->word, row->word, a->lead);
	memcpy(a->word + a->lead, row->word + a->lead + (mark != NULL), a->len - a->lead);
	n -= n > 1 && !strcmp(row->left + n - 2, "%_") ? 2 : n > 0 && row->left[n - 1] == ' ';
	a->last = n && (n < 2 || row->left[n - 2] != '%') ? row->left[n - 1] : 0;
	a->numbered = strchr(row->left, '#');
	n = (size_t)(a->len - a->lead);
	a->hex = !strncmp(row->right, a->word + a->lead, n) && row->right[n] == '%' &&
		 strchr("AHOLMBUXx", row->right[n + 1]);
	a->behind = a->hex && row->right[n + 2] != '%' ? row->right[n + 2] : 0;
}

static void make_engines(void)
{
	for (size_t i = 0; i < mk_num_frame_rows; i++) {
		const struct mk_frame_row *row = &mk_frame_rows[i];
		struct engine *e = is_any(row) ? &any : &known;
		struct anchor *a = &e->anchors[i];
		uint8_t *first = &e->first[(unsigned char)*row->word], *to = first;

		make_anchor(row, a);
		mk_words_add(&e->words, a->word);
		while (*to && strcmp(e->anchors[*to - 1].word, a->word))
			to = &e->next_word[*to - 1];
		if (*to)
			for (to = &e->next[*to - 1]; *to;)
				to = &e->next[*to - 1];
		*to = (uint8_t)(i + 1);
	}
}

/* ---- a line ------------------------------------------------------------------------- */

/* Stands before `start`, in a text that begins at `begin`, what the row wants there? */
static bool stands_behind(const struct mk_frame_row *row, const char *begin, const char *start)
{
	const char *blanks = start;

	while (blanks > begin && (blanks[-1] == ' ' || blanks[-1] == '\t'))
		blanks--;
	return (!row->before || mk_ends_with(begin, start, row->before)) &&
	       (!(row->flags & MK_ROW_TABBED) || memchr(blanks, '\t', (size_t)(start - blanks)));
}

/* A program may have written a title over its name: "/usr/sbin/x: alerter #2(+0x12)",
 * "redis-server *:6379(+0x12)". What its name may be in [p, word), or nothing. */
static struct sc_str titled_program(const char *p, const char *word)
{
	const char *quote = memrchr(p, '"', (size_t)(word - p));

	p = quote ? quote + 1 : p;
	const char *end = mk_trimmed(p, word), *path = mk_find_back(p, end, " /"), *begin;
	const char *colon = mk_find_back(p, word, ": "), *blank;

	if (path || (p < end && *p == '/')) {
		begin = path ? path + 1 : p;
		blank = memchr(begin, ' ', (size_t)(end - begin));
		end = blank ? blank : end;
		end -= end > begin && end[-1] == ':';
	} else {
		end = colon ? colon : end;
		begin = end;
		while (begin > p && !strchr(" \t\"'", begin[-1]))
			begin--;
	}
	return sc_span(begin, end);
}

/* The frames of a list behind p, which is the end of what names their module. */
static const char *add_list(struct mk_line *l, const struct mk_frame_row *row,
			    struct mk_matcher *m, const char *p)
{
	static const char debug[] = ".debug"; /* or "-debug" */
	struct sc_str *name = &m->parts.module;
	const char *start, *end;

	if (name->len > strlen(debug) &&
	    mk_ends_with(name->ptr, name->ptr + name->len, debug + 1) &&
	    strchr(".-", name->ptr[name->len - strlen(debug)]))
		name->len -= strlen(debug);
	for (unsigned i = 0; i < LIST_MAX && (end = mk_fit(m, row->each, p)); i++, p = end) {
		if (end < m->end && !strchr(" \t\"'\\|\033", *end))
			break;
		start = memrchr(p, ' ', (size_t)(end - p));
		start = start ? start + 1 : p;
		m->parts.values[MK_NUMBER] = i;
		m->parts.has |= 1u << MK_NUMBER;
		if (mk_has(&m->parts, MK_OFFSET)) /* as it stands there */
			m->parts.values[MK_ADDRESS] = m->parts.values[MK_OFFSET];
		if (mk_row_makes_sense(row, &m->parts))
			mk_row_frame(l, row, &m->parts, start, end);
	}
	return p;
}

struct reading {
	struct mk_line *l;
	const struct engine *engine;
	struct mk_matcher m;
	const char *newline, *octal; /* the next "\n" and "#012" */
	const char *end;             /* of the line */
};

/* The next `text`, which begins with a rare byte, or the end. */
static const char *next_end(const char *p, const char *end, const char *text)
{
	const size_t len = strlen(text);

	for (; (p = memchr(p, *text, (size_t)(end - p))); p++)
		if ((size_t)(end - p) >= len && !memcmp(p, text, len))
			return p;
	return end;
}

/* Where the text ends that begins at p; *behind: where the next one begins. */
static const char *end_of_text(struct reading *r, const char *p, const char **behind)
{
	if (!r->newline || (r->newline < p && r->newline < r->end))
		r->newline = next_end(p, r->end, "\\n");
	if (!r->octal || (r->octal < p && r->octal < r->end))
		r->octal = next_end(p, r->end, "#012");
	*behind = r->newline < r->octal ? r->newline + 2 : r->octal + 4;
	*behind = *behind > r->end ? r->end : *behind;
	while (r->octal < r->newline && r->end - *behind >= 4 && !memcmp(*behind, "#011", 4))
		*behind += 4; /* tabs */
	return r->newline < r->octal ? r->newline : r->octal;
}

/* May a frame begin at p, in a line that begins before? */
static bool begins_frame(const char *line, const char *p)
{
	return mk_begins_word(line, p) && (*p != '[' || strchr(" \t\"'>m", p[-1])) &&
	       (p[-1] != '#' || *p < '0' || *p > '9');
}

/* Tries a row whose anchor is at `at`: behind what was read, or NULL. */
static const char *try_row(struct reading *r, const struct mk_frame_row *row, const char *at)
{
	struct mk_matcher *m = &r->m;
	const char *start = at, *end;
	struct mk_event *e;

	if (m->budget < STEPS_OF_ROW)
		return NULL;
	m->budget -= STEPS_OF_ROW;
	m->parts = (struct mk_parts){ 0 };
	if (*row->left)
		start = mk_fit_back(m, row->left, at);
	start = start ? mk_skip_blanks(start, m->end) : NULL;
	if (!start || (start > m->begin && !begins_frame(r->l->p, start)) ||
	    !stands_behind(row, m->begin, start))
		return NULL;
	end = mk_fit(m, row->right, at);
	if (!end || !mk_row_makes_sense(row, &m->parts))
		return NULL;
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (row->each)
		return add_list(r->l, row, m, end);
	if (row->kind == MK_ROW_STAYS)
		return end;
	if (row->kind >= MK_ROW_BINDS) {
		mk_row_mark(r->l, row, &m->parts, start, end);
		return end;
	}
	e = mk_row_frame(r->l, row, &m->parts, start, end);
	if ((row->flags & MK_ROW_TITLED) && !memchr(e->name.ptr, '/', e->name.len))
		e->other_name = titled_program(m->begin, start);
	return end;
}

/* What is around an anchor. */
struct around {
	char before;         /* the byte in front of blanks; 0: none */
	bool numbered;       /* a '#' is before it */
	const char *hex, *p; /* behind it, and behind digits there */
};

static bool is_colour(char last)
{
	return last == 'm' || last == 'K';
}

/* May a row fit there, as far as single bytes say? */
static bool may_fit(const struct mk_matcher *m, const struct anchor *a, const struct around *s)
{
	const char behind = s->p < m->end ? *s->p : 0;

	if ((a->numbered && !s->numbered) || (a->last && s->before != a->last && !is_colour(s->before)))
		return false;
	if (!a->hex || behind == '\033')
		return true;
	return s->p > s->hex && (!a->behind || behind == a->behind || (behind == '\t' && a->behind == ' '));
}

/* What an anchor at `at` begins: behind it, or NULL. */
static const char *read_anchor(struct reading *r, const char *at)
{
	const struct engine *e = r->engine;
	const struct mk_formats *f = r->l->formats;
	const char *begin = at - r->m.begin > FRAME_MAX ? at - FRAME_MAX : r->m.begin;
	const char *blanks = at, *end = NULL;
	const size_t left = (size_t)(r->m.end - at);
	struct around s = { .numbered = memchr(begin, '#', (size_t)(at - begin)) };
	unsigned i = e->first[(unsigned char)*at];

	while (i && (left < e->anchors[i - 1].len ||
		     memcmp(at, e->anchors[i - 1].word, e->anchors[i - 1].len)))
		i = e->next_word[i - 1];
	if (!i)
		return NULL;
	while (blanks > r->m.begin && mk_is_blank(blanks[-1]))
		blanks--;
	s.before = blanks > r->m.begin ? blanks[-1] : 0;
	s.hex = s.p = at + e->anchors[i - 1].len;
	while (s.p < r->m.end && mk_digit(*s.p) < 16)
		s.p++;
	for (; i && !end; i = e->next[i - 1]) {
		const struct mk_frame_row *row = &mk_frame_rows[i - 1];
		const struct anchor *a = &e->anchors[i - 1];

		if ((f && !mk_format_has_row(f, i - 1)) || !may_fit(&r->m, a, &s) ||
		    (row->before && !memchr(begin, *row->before, (size_t)(at - begin))))
			continue;
		r->m.anchor = (struct sc_str){ a->word, a->len };
		r->m.limit = NULL;
		end = try_row(r, row, at + a->lead);
	}
	return end;
}

static void read_line(struct mk_line *l, const char *line_end, const struct engine *engine)
{
	struct reading r = { .l = l, .engine = engine, .end = mk_trimmed(l->p, line_end) };
	const char *p = l->p, *at, *behind = l->p, *done;
	uint64_t newlines = 0;

	pthread_once(&once, make_engines);
	r.m.budget = l->len * STEPS_PER_BYTE + STEPS_MIN;
	r.m.end = l->p;
	while (p < r.end && r.m.budget >= STEPS_OF_ROW &&
	       (at = mk_words_find(&engine->words, p, r.end, &newlines))) {
		while (at >= r.m.end && behind < r.end) {
			r.m.begin = behind;
			r.m.end = end_of_text(&r, behind, &behind);
		}
		done = at >= r.m.begin && at < r.m.end ? read_anchor(&r, at) : NULL;
		p = done ? done : at + 1;
		if (done)
			r.m.begin = done;
	}
}

static void read_known(struct mk_line *l, const char *end)
{
	read_line(l, end, &known);
}

static void read_any(struct mk_line *l, const char *end)
{
	read_line(l, end, &any);
}

#define COMMON "+0x", " 0x", "[0x"

const struct mk_input mk_frames_input = {
	.words = (const char *const[]){
		COMMON, "(0x", "\t0x", "t0x", "pc ", "e #", "e_#_", " Unk", "!Unk", "Back", "(Nat",
		"Host", "==  ", "\", a", "obj<", "(ip:", "ld_i", " [<", " (/", " - /", "al -", "(map", "rip=",
		"2lin", "ce: ", "+ 0x", "# 0x", "@   ", "@ 0x", "<sig", "Nati", "||0x", " ([", "MMAP",
		"d-id", "d id", "ule|", NULL },
	.context_words = (const char *const[]){
		"build-id", "build id: ", "Module|", "PERF_RECORD_MMAP2", NULL },
	.read = read_known,
	.chained = true,
	.cuttable = true,
};

const struct mk_input mk_any_input = {
	.name = "any",
	.words = (const char *const[]){ COMMON, "o:0x", NULL },
	.read = read_any,
	.cuttable = true,
};

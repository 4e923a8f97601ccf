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

/* The rows of an input, by the first byte of their anchors. */
struct engine {
	struct mk_words words;
	uint8_t first[256], next[MK_FRAME_ROWS_MAX]; /* number of the row, and 1; 0: no more */
	struct anchor {
		char word[16];
		uint8_t len, lead; /* bytes before `right` */
	} anchors[MK_FRAME_ROWS_MAX];
};

static struct engine known, any;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool is_any(const struct mk_frame_row *row)
{
	return sc_str_is((struct sc_str){ row->name, strlen(row->name) }, mk_any_input.name);
}

static void make_engines(void)
{
	for (size_t i = mk_num_frame_rows; i--;) {
		const struct mk_frame_row *row = &mk_frame_rows[i];
		struct engine *e = is_any(row) ? &any : &known;
		const char *mark = strchr(row->word, '^');
		struct anchor *a = &e->anchors[i];
		uint8_t *first = &e->first[(unsigned char)*row->word];

		a->lead = mark ? (uint8_t)(mark - row->word) : 0;
		a->len = (uint8_t)(strlen(row->word) - (mark != NULL));
		memcpy(a->word, row->word, a->lead);
		memcpy(a->word + a->lead, row->word + a->lead + (mark != NULL), a->len - a->lead);
		mk_words_add(&e->words, a->word);
		e->next[i] = *first;
		*first = (uint8_t)(i + 1);
	}
}

/* ---- a frame that was found → its event -------------------------------------------- */

static bool has(const struct mk_parts *parts, enum mk_value value)
{
	return parts->has >> value & 1;
}

static bool all_digits(struct sc_str s)
{
	size_t n = 0;

	while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
		n++;
	return n == s.len;
}

/* Stands before `start`, in a text that begins at `begin`, what the row wants there? */
static bool stands_behind(const struct mk_frame_row *row, const char *begin, const char *start)
{
	const char *blanks = start;

	while (blanks > begin && (blanks[-1] == ' ' || blanks[-1] == '\t'))
		blanks--;
	return (!row->before || mk_ends_with(begin, start, row->before)) &&
	       (!(row->flags & MK_ROW_TABBED) || memchr(blanks, '\t', (size_t)(start - blanks)));
}

/* Do the parts make sense for the row? */
static bool makes_sense(const struct mk_frame_row *row, const struct mk_parts *parts)
{
	const struct sc_str name = parts->module;
	const uint64_t *v = parts->values;

	if ((row->flags & MK_ROW_PATH) && !memchr(name.ptr, '/', name.len))
		return false;
	if ((row->flags & MK_ROW_HIGH) && !(v[MK_ADDRESS] >> 32))
		return false;
	if (!name.len && !(row->flags & MK_ROW_NULL) && has(parts, MK_ADDRESS) &&
	    !has(parts, MK_OFFSET) && v[MK_ADDRESS] < 4096)
		return false;
	/* Names that are numbers are columns of something else. */
	if (name.len && all_digits(name))
		return false;
	return !(v[MK_OFFSET] >> 40);
}

static enum mk_returns returns(const struct mk_frame_row *row, const struct mk_parts *parts)
{
	const uint64_t *v = parts->values;

	switch (row->kind) {
	case MK_ROW_EXACT:
		return MK_EXACT;
	case MK_ROW_RETURNS_1:
		return v[MK_NUMBER] ? MK_RETURN : MK_EXACT;
	case MK_ROW_FIRST:
		return MK_RETURN_BUT_FIRST;
	case MK_ROW_LEAD:
		return MK_RETURN_BUT_LEAD;
	case MK_ROW_LOW12:
		return parts->build_id.len || (v[MK_ADDRESS] ^ v[MK_OFFSET]) & 0xfff ? MK_EXACT
										     : MK_RETURN;
	default:
		return MK_RETURN;
	}
}

/* What is looked up. */
static void set_place(struct mk_event *e, const struct mk_frame_row *row,
		      const struct mk_parts *parts)
{
	const uint64_t *v = parts->values;

	e->address = v[MK_ADDRESS];
	e->origin = row->flags & (MK_ROW_VADDR | MK_ROW_LOW) ? MARKUP_FROM_ZERO :
		    row->flags & MK_ROW_FILE ? MARKUP_FROM_FILE :
		    row->form == MK_FORM_VALGRIND ? MARKUP_FROM_VALGRIND : MARKUP_FROM_LOAD_BASE;
	if (has(parts, MK_OFFSET)) {
		e->lookup = v[MK_OFFSET];
		if (has(parts, MK_BASE) && !e->address)
			e->address = v[MK_BASE] + e->lookup;
	} else if (has(parts, MK_BASE)) {
		e->lookup = e->address - v[MK_BASE];
	} else if ((row->flags & MK_ROW_LOW) && !(e->address >> 32)) {
		e->lookup = e->address;
		e->absolute = !e->name.len;
	} else if (has(parts, MK_ADDRESS)) {
		e->absolute = true;
		e->symbol = parts->symbol;
		e->symbol_offset = v[MK_SYMBOL_OFFSET];
		if (!has(parts, MK_SYMBOL_OFFSET))
			e->symbol.len = 0;
	}
}

/* The module's name; that of a program whose other names only begin with it is cut. */
static struct sc_str module_of(const struct mk_frame_row *row, const struct mk_parts *parts)
{
	const struct sc_str name = parts->module, fixed = sc_str_of(row->module);
	const char *slash = fixed.len ? memrchr(name.ptr ? name.ptr : "", '/', name.len) : NULL;

	if (fixed.len && !name.len)
		return fixed;
	if (!slash || (size_t)(name.ptr + name.len - ++slash) < fixed.len ||
	    memcmp(slash, fixed.ptr, fixed.len))
		return name;
	return sc_span(name.ptr, slash + fixed.len);
}

static struct mk_event *add_frame(struct mk_line *l, const struct mk_frame_row *row,
				  const struct mk_parts *parts, const char *start,
				  const char *end)
{
	struct mk_event *e = mk_add_frame(l, row->tag ? row->tag : row->name, start, end);

	e->form = row->form ? row->form : MK_FORM_BEHIND;
	e->name = module_of(row, parts);
	e->build_id = parts->build_id;
	if (!e->name.len)
		e->name = e->build_id;
	e->hole = parts->hole;
	e->function = parts->symbol;
	e->number = parts->values[MK_NUMBER];
	e->reach = row->reach ? row->reach : has(parts, MK_NUMBER) ? 0 :
		   has(parts, MK_BASE) || (row->flags & MK_ROW_CARRIED) ? 2 : 1;
	e->returns = returns(row, parts);
	e->known_only = row->flags & MK_ROW_KNOWN;
	e->behind_header = row->flags & MK_ROW_HEADED;
	e->carried = row->flags & MK_ROW_CARRIED;
	e->shared_object = row->flags & MK_ROW_SO;
	set_place(e, row, parts);
	return e;
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
		begin = end;
		while (begin > p && !strchr(" \t\"'", begin[-1]))
			begin--;
	}
	return sc_span(begin, end);
}

/* A line without a frame that matters to those behind it. */
static void add_mark(struct mk_line *l, const struct mk_frame_row *row,
		     const struct mk_parts *parts, const char *start, const char *end)
{
	static const enum mk_aside asides[] = {
		[MK_ROW_HEADER] = MK_BEGINS_TRACE, [MK_ROW_SIGNAL] = MK_INTERRUPTS,
		[MK_ROW_CARRIES] = MK_CARRIES, [MK_ROW_IN_TRACE] = MK_IN_TRACE,
	};
	struct mk_event *e;

	if (row->kind == MK_ROW_BINDS) {
		e = mk_add_binding(l, start, end, module_of(row, parts), parts->build_id);
		e->guid = row->flags & MK_ROW_GUID;
		return;
	}
	e = mk_add_event(l, MK_UNKNOWN);
	e->text = sc_span(start, end);
	e->quiet = true;
	e->aside = asides[row->kind];
	e->name = parts->module;
	e->build_id = parts->build_id;
	if (!e->name.len)
		e->name = e->build_id;
	e->lookup = parts->values[MK_OFFSET];
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
		if (has(&m->parts, MK_OFFSET)) /* as it stands there */
			m->parts.values[MK_ADDRESS] = m->parts.values[MK_OFFSET];
		if (makes_sense(row, &m->parts))
			add_frame(l, row, &m->parts, start, end);
	}
	return p;
}

/* ---- a line ------------------------------------------------------------------------- */

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
	return r->newline < r->octal ? r->newline : r->octal;
}

/* May a frame begin at p, in a line that begins before? */
static bool begins_frame(const char *line, const char *p)
{
	return mk_begins_word(line, p) && (*p != '[' || strchr(" \t\"'>m", p[-1])) &&
	       (p[-1] != '#' || *p < '0' || *p > '9');
}

/* Can the pattern fit, as far as its first bytes and hex numbers say? */
static bool may_fit(const struct mk_matcher *m, const char *pattern, const char *p)
{
	for (; *pattern; pattern++) {
		if (p < m->end && *p == '\033')
			return true;
		if (*pattern == '%') {
			const char *digits = p;

			if (!pattern[1] || !strchr("AHOBx", *++pattern))
				return true;
			while (p < m->end && mk_digit(*p) < 16)
				p++;
			if (p == digits)
				return false;
		} else if (*pattern == ' ' || *pattern == '"') {
			if (p == m->end || (*pattern == ' ' && *p != ' ' && *p != '\t'))
				return false;
			if (*pattern == '"')
				return true;
			while (p < m->end && (*p == ' ' || *p == '\t'))
				p++;
		} else if (p == m->end || *p++ != *pattern) {
			return false;
		}
	}
	return true;
}

/* Tries a row whose anchor is at `at`: behind what was read, or NULL. */
static const char *try_row(struct reading *r, const struct mk_frame_row *row, const char *at)
{
	struct mk_matcher *m = &r->m;
	const char *start = at, *end;
	struct mk_event *e;

	if (m->budget < STEPS_OF_ROW || !may_fit(m, row->right, at))
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
	if (!end || !makes_sense(row, &m->parts))
		return NULL;
	while (end > start && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	if (row->each)
		return add_list(r->l, row, m, end);
	if (row->kind == MK_ROW_STAYS)
		return end;
	if (row->kind >= MK_ROW_BINDS) {
		add_mark(r->l, row, &m->parts, start, end);
		return end;
	}
	e = add_frame(r->l, row, &m->parts, start, end);
	if ((row->flags & MK_ROW_TITLED) && !memchr(e->name.ptr, '/', e->name.len))
		e->other_name = titled_program(m->begin, start);
	return end;
}

/* What an anchor at `at` begins: behind it, or NULL. */
static const char *read_anchor(struct reading *r, const char *at)
{
	const struct mk_formats *f = r->l->formats;
	const char *begin = at - r->m.begin > FRAME_MAX ? at - FRAME_MAX : r->m.begin, *end = NULL;

	for (unsigned i = r->engine->first[(unsigned char)*at]; i && !end;
	     i = r->engine->next[i - 1]) {
		const struct mk_frame_row *row = &mk_frame_rows[i - 1];
		const struct anchor *a = &r->engine->anchors[i - 1];
		const size_t left = (size_t)(r->m.end - at);

		if (left < a->len || memcmp(at, a->word, a->len) ||
		    (f && !mk_format_has_row(f, i - 1)) ||
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
		COMMON, "(0x", "\t0x", "pc ", "e #", "e_#_", " Unk", "!Unk", "Back", "(Nat",
		"Host", "==  ", "\", a", "obj<", "(ip:", "ld_i", " [<", " (/", "al -", "(map", "rip=",
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

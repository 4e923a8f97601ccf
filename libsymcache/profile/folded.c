/* Stacks as lines: see folded.h. */
#include "libsymcache/profile/folded.h"

#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#include "libsymcache/base/sort.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/utf8.h"

/* A name as it stands in a line: ';' separates frames, and nothing in it may end the line or
 * reach a terminal. */
static void put_name(struct prof_bytes *to, struct sc_str name)
{
	const size_t first = to->v.len;

	if (sc_printable(name.ptr ? name.ptr : "", name.len)) {
		prof_put(to, name.ptr, name.len);
	} else if (vec_reserve(&to->v, 4 * name.len)) {
		to->v.len += sc_make_printable(name.ptr, name.len, (char *)vec_end(&to->v));
	} else {
		to->failed = true;
	}
	for (size_t i = first; i < to->v.len; i++)
		if (to->v.data[i] == ';')
			to->v.data[i] = ':';
}

/* ---- writing ---------------------------------------------------------------------------- */

struct line {
	const uint8_t *at; /* of the stack; while they are made, NULL + its offset */
	size_t len;
	int64_t value;
};

static inline bool line_before(const struct line *a, const struct line *b)
{
	const int order = memcmp(a->at, b->at, a->len < b->len ? a->len : b->len);

	return order ? order < 0 : a->len < b->len;
}

SC_SORT(sort_lines, struct line, line_before)

/* The stack of a node, outermost frame first. */
static bool put_stack(const struct prof_stacks *s, uint32_t node, struct prof_bytes *to)
{
	VEC(uint32_t) path = { 0 };
	uint32_t *frame;

	for (; node; node = s->nodes.data[node].parent) {
		frame = vec_push(&path);
		if (!frame) {
			vec_deinit(&path);
			return false;
		}
		*frame = s->nodes.data[node].frame;
	}
	for (size_t i = path.len; i--;) {
		put_name(to, prof_text_of(s->places, s->frames.data[path.data[i]].name));
		if (i)
			prof_put(to, ";", 1);
	}
	vec_deinit(&path);
	return !to->failed;
}

struct lines {
	VEC(struct line) v;
	struct prof_bytes text;
};

/* Lines of all nodes that end a stack. */
static int make_lines(const struct prof_stacks *s, size_t limit, struct lines *ret,
		      struct sc_error *err)
{
	for (uint32_t i = 1; i < s->nodes.len; i++) {
		const size_t from = ret->text.v.len;
		struct line *line;

		if (!s->nodes.data[i].value)
			continue;
		line = vec_push(&ret->v);
		if (!line || !put_stack(s, i, &ret->text))
			return sc_no_memory(err);
		line->len = ret->text.v.len - from;
		line->value = s->nodes.data[i].value;
		if (ret->text.v.len > limit)
			return sc_error_set(err, SC_ELIMIT, "the output would have more than %zu "
					    "MiB, which is 64 times the input and 64 MiB",
					    limit >> 20);
	}
	return 0;
}

static void write_lines(const struct lines *lines, struct prof_out *out)
{
	for (size_t i = 0, next; i < lines->v.len && !out->over; i = next) {
		const struct line *line = &lines->v.data[i];
		struct prof_bytes *to = prof_out_own(out);
		uint64_t sum = 0;
		char number[32];

		for (next = i; next < lines->v.len && !line_before(line, &lines->v.data[next]); next++)
			sum += (uint64_t)lines->v.data[next].value;
		if (!sum)
			continue;
		prof_put(to, line->at, line->len);
		prof_put(to, number, (size_t)snprintf(number, sizeof(number), " %" PRId64 "\n",
						      (int64_t)sum));
	}
}

int folded_write(const struct prof_stacks *s, struct prof_out *out, struct sc_error *err)
{
	struct lines lines = { 0 };
	size_t at = 0;
	int rc = make_lines(s, out->limit, &lines, err);

	for (size_t i = 0; i < lines.v.len && !rc; i++) {
		lines.v.data[i].at = lines.text.v.data + at;
		at += lines.v.data[i].len;
	}
	if (!rc && !sort_lines(lines.v.data, lines.v.len))
		rc = sc_no_memory(err);
	if (!rc) {
		write_lines(&lines, out);
		rc = prof_out_end(out, err);
	}
	vec_deinit(&lines.v);
	prof_bytes_deinit(&lines.text);
	return rc;
}

/* ---- reading ---------------------------------------------------------------------------- */

/* A frame that is a place in a module. */
struct token {
	const char *from, *to;
	struct sc_str module;
	uint64_t vaddr;
};

/* MODULE+0xADDR or MODULE!0xADDR in [p, end), with brackets around it or without. */
static bool read_token(const char *p, const char *end, struct token *ret)
{
	const char *at = end;
	uint64_t value = 0;
	unsigned digits = 0;

	*ret = (struct token){ .from = p, .to = end };
	p += p < end && *p == '[';
	at -= at > p && at[-1] == ']';
	end = at;
	while (at > p && sc_hex_digit(at[-1]) >= 0 && (at[-1] < 'A' || at[-1] > 'F'))
		at--;
	for (const char *c = at; c < end; c++, digits++)
		value = value << 4 | (uint64_t)sc_hex_digit(*c);
	if (!digits || digits > 16 || at - p < 4 || at[-1] != 'x' || at[-2] != '0' ||
	    (at[-3] != '+' && at[-3] != '!'))
		return false;
	ret->module = sc_span(p, at - 3);
	ret->vaddr = value;
	for (const char *c = p; c < at - 3; c++)
		if (strchr("; \t\r\n\v\f[]", *c)) /* and NUL */
			return false;
	return true;
}

struct module_key {
	const struct prof_places *p;
	struct sc_str name;
};

static bool module_equal(const void *ctx, uint32_t i)
{
	const struct module_key *k = ctx;

	return sc_str_same(k->p->mappings.data[i].name, k->name);
}

/* The number of the mapping that stands for a module. PROF_NONE: out of memory. */
static uint32_t mapping_of(struct prof_places *p, struct sc_intern *names, struct sc_str name)
{
	const struct module_key key = { p, name };
	uint32_t *slot = sc_intern_find(names, XXH3_64bits(name.ptr, name.len), module_equal, &key);
	struct prof_mapping *m;

	if (!slot || *slot != SC_INTERN_NEW)
		return slot ? *slot : PROF_NONE;
	m = prof_add_mapping(p);
	if (!m)
		return PROF_NONE;
	m->name = name;
	return *slot = (uint32_t)(p->mappings.len - 1);
}

struct place {
	const char *from, *to; /* in the text */
	uint32_t mapping, place;
};

struct text {
	struct prof_places *p;
	struct sc_intern names;
	VEC(struct place) places; /* of all lines */
};

/* The places in a stack, [p, end). */
static int read_stack(struct text *t, const char *p, const char *end, struct sc_error *err)
{
	while (p < end) {
		const char *semicolon = memchr(p, ';', (size_t)(end - p));
		const char *to = semicolon ? semicolon : end;
		struct token token;
		struct place *place;

		if (read_token(p, to, &token)) {
			const uint32_t mapping = mapping_of(t->p, &t->names, token.module);

			place = mapping == PROF_NONE ? NULL : vec_push(&t->places);
			if (!place)
				return sc_no_memory(err);
			*place = (struct place){ token.from, token.to, mapping, PROF_NONE };
			if (prof_ask_vaddr(t->p, mapping, token.vaddr, &place->place, err))
				return err->code;
			prof_hide(t->p, mapping);
		}
		p = to + (to < end);
	}
	return 0;
}

/* Where the stack of a line ends, in front of the last blank; NULL: it is no stack. */
static const char *end_of_stack(const char *line, const char *end)
{
	const char *p = end;

	while (p > line && p[-1] == '\r')
		p--;
	end = p;
	while (p > line && p[-1] >= '0' && p[-1] <= '9')
		p--;
	return p < end && p > line && p[-1] == ' ' ? p - 1 : NULL;
}

static int read_lines(struct text *t, const struct prof_input *in, struct sc_error *err)
{
	const char *p = (const char *)in->bytes, *end = p + in->size;
	int rc = 0;

	while (p < end && !rc) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));
		const char *to = newline ? newline : end, *stack = end_of_stack(p, to);

		if (stack) {
			rc = read_stack(t, p, stack, err);
			t->p->counts.samples++;
		}
		p = to + (to < end);
	}
	return rc;
}

static void write_place(const struct prof_places *p, const struct prof_place *place,
			struct prof_bytes *to)
{
	for (uint32_t i = place->num; i--;) {
		const struct prof_function *f =
			&p->functions.data[p->lines.data[place->first + i].function];

		put_name(to, prof_text_of(p, f->name));
		if (i)
			prof_put(to, ";", 1);
	}
}

static void write_text(const struct text *t, const struct prof_input *in, struct prof_out *out)
{
	const uint8_t *at = in->bytes;

	for (size_t i = 0; i < t->places.len && !out->over; i++) {
		const struct place *place = &t->places.data[i];
		const struct prof_place *found = place->place == PROF_NONE ? NULL :
			&t->p->places.data[place->place];

		prof_note(t->p, place->mapping, place->place);
		if (!found || !found->num)
			continue;
		prof_out_input(out, at, (const uint8_t *)place->from);
		write_place(t->p, found, prof_out_own(out));
		at = (const uint8_t *)place->to;
	}
	prof_out_input(out, at, in->bytes + in->size);
}

int folded_symbolize(struct prof_places *p, const struct prof_input *in, struct prof_out *out,
		     struct sc_error *err)
{
	struct text t = { .p = p };
	int rc;

	prof_places_clear(p);
	prof_out_begin(out, in->size);
	rc = read_lines(&t, in, err);
	rc = rc ? rc : prof_look_up(p, err);
	if (!rc) {
		write_text(&t, in, out);
		rc = prof_out_end(out, err);
	}
	vec_deinit(&t.places);
	sc_intern_deinit(&t.names);
	return rc;
}

/* Stacks as lines: see folded.h. */
#include "libsymcache/profile/folded.h"

#include <inttypes.h>
#include <stdio.h>

#include "libsymcache/base/sort.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/profile/kinds.h"

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

struct lines {
	const struct prof_stacks *s;
	VEC(struct line) v;
	struct prof_bytes text;
	struct prof_bytes names; /* of frames as they stand in lines; */
	VEC(size_t) name_at;     /* where that of each begins, and the end */
	VEC(uint32_t) path;
};

static void lines_deinit(struct lines *l)
{
	vec_deinit(&l->v);
	prof_bytes_deinit(&l->text);
	prof_bytes_deinit(&l->names);
	vec_deinit(&l->name_at);
	vec_deinit(&l->path);
}

static bool make_names(struct lines *l)
{
	const struct prof_stacks *s = l->s;

	/* All names may be empty: then there is a place to count from. */
	if (!vec_reserve(&l->name_at, s->frames.len + 1) || !vec_reserve(&l->names.v, 1))
		return false;
	for (size_t i = 0; i < s->frames.len; i++) {
		l->name_at.data[i] = l->names.v.len;
		put_name(&l->names, prof_text_of(s->places, s->frames.data[i].name));
	}
	l->name_at.data[s->frames.len] = l->names.v.len;
	return !l->names.failed;
}

/* The stack of a node, outermost frame first. */
static bool put_stack(struct lines *l, uint32_t node)
{
	const struct prof_stacks *s = l->s;

	vec_clear(&l->path);
	for (; node; node = s->nodes.data[node].parent) {
		uint32_t *frame = vec_push(&l->path);

		if (!frame)
			return false;
		*frame = s->nodes.data[node].frame;
	}
	for (size_t i = l->path.len; i--;) {
		const size_t *at = &l->name_at.data[l->path.data[i]];

		prof_put(&l->text, l->names.v.data + at[0], at[1] - at[0]);
		if (i)
			prof_put(&l->text, ";", 1);
	}
	return !l->text.failed;
}

/* Lines of all nodes that end a stack. */
static int make_lines(struct lines *l, const struct prof_out *out, struct sc_error *err)
{
	const struct prof_stacks *s = l->s;

	if (!make_names(l))
		return sc_no_memory(err);
	for (uint32_t i = 1; i < s->nodes.len; i++) {
		const size_t from = l->text.v.len;
		struct line *line;

		if (!prof_stacks_value(s, i, s->chosen))
			continue;
		line = vec_push(&l->v);
		if (!line || !put_stack(l, i))
			return sc_no_memory(err);
		line->len = l->text.v.len - from;
		line->value = prof_stacks_value(s, i, s->chosen);
		if (l->text.v.len > out->limit)
			return prof_out_too_large(out, err);
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
	struct lines lines = { .s = s };
	size_t at = 0;
	int rc = make_lines(&lines, out, err);
	/* Where all lines are empty there is no text. */
	const uint8_t *text = lines.text.v.data ? lines.text.v.data : (const uint8_t *)"";

	for (size_t i = 0; i < lines.v.len && !rc; i++) {
		lines.v.data[i].at = text + at;
		at += lines.v.data[i].len;
	}
	if (!rc && !sort_lines(lines.v.data, lines.v.len))
		rc = sc_no_memory(err);
	if (!rc) {
		write_lines(&lines, out);
		rc = prof_out_end(out, err);
	}
	lines_deinit(&lines);
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

/* The number of the mapping that stands for a module: that of its name. PROF_NONE: out of memory. */
static uint32_t mapping_of(struct prof_places *p, struct prof_texts *names, struct sc_str name)
{
	const uint32_t ret = prof_texts_add(names, name.ptr, name.len);
	struct prof_mapping *m;

	if (ret == PROF_NONE || ret < p->mappings.len)
		return ret;
	m = prof_add_mapping(p);
	if (!m)
		return PROF_NONE;
	m->name = name;
	return ret;
}

struct place {
	const char *from, *to; /* in the text */
	uint32_t mapping, place;
};

struct text {
	struct prof_places *p;
	struct prof_texts names; /* of mappings */
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

static int read_lines(struct text *t, const struct prof_input *in, struct sc_error *err)
{
	const char *p = (const char *)in->bytes, *end = p + in->size;
	struct sc_str line;
	int rc = 0;

	while (!rc && prof_next_line(&p, end, &line)) {
		const char *stack = prof_stack_end(line);

		if (stack) {
			rc = read_stack(t, line.ptr, stack, err);
			t->p->counts.samples++;
		}
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

static int look_up(struct text *t, const struct prof_input *in, struct sc_error *err)
{
	int rc;

	prof_places_clear(t->p);
	rc = read_lines(t, in, err);
	return rc ? rc : prof_look_up(t->p, err);
}

static void text_deinit(struct text *t)
{
	vec_deinit(&t->places);
	prof_texts_deinit(&t->names);
}

int folded_symbolize(struct prof_places *p, const struct prof_input *in, struct prof_out *out,
		     struct sc_error *err)
{
	struct text t = { .p = p };
	int rc = look_up(&t, in, err);

	prof_out_begin(out, in->size);
	if (!rc) {
		write_text(&t, in, out);
		rc = prof_out_end(out, err);
	}
	text_deinit(&t);
	return rc;
}

/* ---- as a tree ----------------------------------------------------------------------------- */

/* The stack of a line, [p, end), outermost first; *at: the next of t->places. */
static int add_stack(const struct text *t, struct prof_reader *r, const char *p, const char *end,
		     size_t *at, struct sc_error *err)
{
	const size_t first = r->first.len;
	int rc = 0;

	while (p < end && !rc) {
		const char *semicolon = memchr(p, ';', (size_t)(end - p));
		const char *to = semicolon ? semicolon : end;
		const struct place *place = *at < t->places.len ? &t->places.data[*at] : NULL;

		if (place && place->from == p) {
			prof_note(t->p, place->mapping, place->place);
			rc = prof_reader_location(r, NULL, &(struct prof_asked){
					0, place->mapping, place->place, false }, err);
			++*at;
		} else if (!prof_reader_name(r, sc_span(p, to))) {
			rc = sc_no_memory(err);
		}
		p = to + (to < end);
	}
	rc = rc ? rc : prof_reader_end(r, err);
	vec_clear(&r->stacks->stack);
	for (size_t i = r->first.len - 1; i-- > first && !rc;)
		rc = prof_reader_push(r, i) ? 0 : sc_no_memory(err);
	return rc ? rc : prof_stacks_add(r->stacks) ? 0 : sc_no_memory(err);
}

int folded_stacks(struct prof_places *p, const struct prof_input *in, struct prof_stacks *ret,
		  struct sc_error *err)
{
	const char *next = (const char *)in->bytes, *end = next + in->size;
	struct prof_reader r = { .stacks = ret };
	struct text t = { .p = p };
	struct sc_str line;
	size_t at = 0;
	int rc = look_up(&t, in, err);

	prof_stacks_begin(ret, p);
	rc = rc ? rc : prof_stacks_type(ret, sc_str_of("samples"), sc_str_of("count"), err);
	while (!rc && prof_next_line(&next, end, &line)) {
		const char *stack = prof_stack_end(line);
		uint64_t value = 0;

		if (!stack)
			continue;
		for (const char *c = stack + 1; c < line.ptr + line.len && *c >= '0' && *c <= '9'; c++)
			value = value * 10 + (uint64_t)(*c - '0');
		ret->values.data[0] = (int64_t)value;
		rc = add_stack(&t, &r, line.ptr, stack, &at, err);
		vec_clear(&r.first);
		vec_clear(&r.frames);
	}
	prof_reader_deinit(&r);
	text_deinit(&t);
	return rc;
}

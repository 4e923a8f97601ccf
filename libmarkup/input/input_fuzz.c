/*
 * Fuzzing of the formats. Each reads the lines of the input; besides not crashing:
 *   - the events lie in the line, in order, and do not overlap, nor do their texts leave it;
 *   - a line without any of the format's words has no events, unless a colour stands within one.
 */
#include <stdlib.h>
#include <string.h>

#include "libmarkup/input/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

static bool inside(struct sc_str s, const struct mk_line *l)
{
	return !s.ptr || (s.ptr >= l->p && s.ptr + s.len <= l->p + l->len);
}

static bool has_word(const struct mk_input *in, const struct mk_line *l)
{
	for (const char *const *word = in->words; *word; word++)
		if (memmem(l->p, l->len, *word, strlen(*word)))
			return true;
	return false;
}

static void check_line(const struct mk_input *in, struct mk_line *l)
{
	const char *at = l->p;

	struct mk_row row = { 0 };

	const char *p = l->p;

	while (in->read_row && in->read_row(&p, l->p + l->len, &row)) {
		check(row.at >= l->p && (!row.end || row.start < row.end) && row.name.len);
		check(inside(row.name, l) &&
		      (inside(row.build_id, l) || row.build_id.ptr == row.id));
		check(p >= l->p && p <= l->p + l->len);
		row = (struct mk_row){ .at = p };
	}
	l->num_events = 0;
	mk_read_line(in, l);
	check(!l->num_events || has_word(in, l) || memchr(l->p, '\033', l->len));
	for (size_t i = 0; i < l->num_events; i++) {
		const struct mk_event *e = &l->events[i];
		check(e->text.ptr >= at && inside(e->text, l));
		check(inside(e->name, l) || e->kernel || sc_str_is(e->name, "firmware") ||
		      (e->kind == MK_MODULE && e->binds)); /* a fixed name */
		check(inside(e->detail, l));
		at = e->text.ptr + e->text.len;
		if (e->kind != MK_FRAME)
			continue;
		check(inside(e->build_id, l) && inside(e->symbol, l) && inside(e->other_name, l));
		check(!e->hole.len || (e->hole.ptr >= e->text.ptr && e->hole.ptr + e->hole.len <=
				       e->text.ptr + e->text.len));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data, *end = p + size, *eol;
	struct mk_line l = { .part = MK_LINE_WHOLE, .newline = "\n" };

	for (; p < end; p = eol) {
		eol = memchr(p, '\n', (size_t)(end - p));
		eol = eol ? eol + 1 : end;
		l.p = p;
		l.len = (size_t)(eol - p);
		for (const struct mk_input *const *in = mk_inputs; *in; in++)
			check_line(*in, &l);
	}
	free(l.events);
	return 0;
}

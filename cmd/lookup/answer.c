/*
 * Query + cache → answer: see answer.h.
 *
 * Costs one look-up and, for each frame, two paths and a name, copied into the
 * answer's text; nothing is allocated once that has grown. Looking a symbol up
 * by its name reads all functions: the cache has no index by name.
 */
#include "cmd/lookup/answer.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "symcache/symcache.h"

void answer_begin(struct answer *a, const char *module)
{
	a->module = module;
	a->has_address = false;
	a->symbol.ptr = NULL;
	a->kind = QUERY_CODE;
	a->error = NULL;
	answer_forget(a);
}

void answer_forget(struct answer *a)
{
	a->num_frames = 0;
	a->name = a->file = a->line = 0;
	a->start = a->size = 0;
	a->text_len = 1; /* offset 0 means unknown */
}

void answer_deinit(struct answer *a)
{
	free(a->frames);
	free(a->text);
}

/* Room for `size` more bytes of text. */
static char *text_reserve(struct answer *a, size_t size)
{
	if (a->text_len + size > a->text_cap) {
		a->text_cap = 2 * (a->text_len + size);
		a->text = must_realloc(a->text, a->text_cap);
	}
	return a->text + a->text_len;
}

static text_offset text_add(struct answer *a, struct symcache_str s)
{
	text_offset offset = (text_offset)a->text_len;
	char *to;

	if (!s.ptr)
		return 0;
	to = text_reserve(a, s.len + 1);
	memcpy(to, s.ptr, s.len);
	to[s.len] = 0;
	a->text_len += s.len + 1;
	return offset;
}

static void add_frame(struct answer *a, struct symcache_symbolizer *s,
		      const struct symcache_answer *found, size_t i)
{
	const struct symcache_shown_frame *from = &found->frames[i];
	const struct symcache_start start = symcache_symbolize_start(s, found, i);

	a->frames = must_grow(a->frames, a->num_frames, &a->cap_frames, sizeof(*a->frames));
	a->frames[a->num_frames++] = (struct answer_frame){
		.function = text_add(a, from->function),
		.file = text_add(a, from->file),
		.start_file = text_add(a, start.file),
		.line = from->line,
		.column = from->column,
		.start_line = start.line,
		.has_start_address = start.known,
		.start_address = start.vaddr,
	};
}

static void add_frames(struct answer *a, struct symcache_symbolizer *s,
		       const struct symcache_answer *found)
{
	for (size_t i = 0; i < found->num_frames; i++)
		add_frame(a, s, found, i);
}

static enum symcache_inlines one_frame(const struct answer_options *options)
{
	return options->name_of_location ? SYMCACHE_INNERMOST : SYMCACHE_ONE_FRAME;
}

/* A location for each function of this name. */
static void answer_symbol(struct answer *a, struct symcache_symbolizer *s,
			  struct symcache_module *m, const struct query *q,
			  const struct answer_options *options)
{
	struct symcache_answer found;
	uint32_t at = 0;
	uint64_t vaddr;

	while (symcache_symbolize_name(s, m, q->symbol, &at, &vaddr)) {
		symcache_symbolize_as(s, m, vaddr + q->offset, one_frame(options),
				      SYMCACHE_TABLE_NEVER, &found);
		add_frames(a, s, &found);
	}
}

static void answer_data(struct answer *a, struct symcache_symbolizer *s,
			struct symcache_module *m, uint64_t vaddr)
{
	struct symcache_shown_data data;

	if (!symcache_symbolize_data(s, m, vaddr, &data))
		return;
	a->name = text_add(a, data.name);
	a->start = data.vaddr;
	a->size = data.size;
	a->file = text_add(a, data.file);
	a->line = data.line;
}

bool answer_query(struct answer *a, struct symcache_symbolizer *s, struct symcache_module *m,
		  const struct query *q, const struct answer_options *options)
{
	const uint64_t vaddr = answer_address(q, options);
	struct symcache_answer found;

	if (q->kind == QUERY_DATA && !q->symbol.ptr)
		answer_data(a, s, m, vaddr);
	else if (q->kind == QUERY_CODE && q->symbol.ptr)
		answer_symbol(a, s, m, q, options);
	else if (q->kind == QUERY_CODE) {
		symcache_symbolize_as(s, m, vaddr,
				      options->inlines ? SYMCACHE_INLINES : one_frame(options),
				      SYMCACHE_TABLE_OUTERMOST, &found);
		add_frames(a, s, &found);
	}
	return a->num_frames || a->name;
}

/* trace_summary.c: frames by tracepoint and by source line: see symtrace_summary. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "symcache/trace.h"

struct symtrace_summary *symtrace_summary_create(void)
{
	return calloc(1, sizeof(struct symtrace_summary));
}

void symtrace_summary_destroy(struct symtrace_summary *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->num_lines; i++) {
		free(s->lines[i].function);
		free(s->lines[i].path);
	}
	free(s->lines);
	free(s->chains);
	free(s);
}

static uint64_t hash_line(const char *function, const char *path, uint32_t line)
{
	return XXH3_64bits_withSeed(path, strlen(path),
				    XXH3_64bits_withSeed(function, strlen(function), line));
}

static void add_to_chain(struct symtrace_summary *s, size_t i)
{
	struct symtrace_line *l = &s->lines[i];
	size_t *chain = &s->chains[hash_line(l->function, l->path, l->line) % s->num_chains];

	l->next = *chain;
	*chain = i + 1;
}

/* Room for one more line, and for it in the chains. */
static bool reserve(struct symtrace_summary *s)
{
	size_t cap = s->cap_lines * 2 + 64;
	struct symtrace_line *lines;
	size_t *chains;

	if (s->num_lines < s->cap_lines)
		return true;
	chains = calloc(2 * cap, sizeof(*chains));
	lines = chains ? reallocarray(s->lines, cap, sizeof(*lines)) : NULL;
	if (!lines) {
		free(chains);
		return false;
	}
	free(s->chains);
	s->lines = lines;
	s->cap_lines = cap;
	s->chains = chains;
	s->num_chains = 2 * cap;
	for (size_t i = 0; i < s->num_lines; i++)
		add_to_chain(s, i);
	return true;
}

int symtrace_summary_line(struct symtrace_summary *s, const char *function, const char *path,
			  uint32_t line, size_t *ret, struct sc_error *err)
{
	struct symtrace_line l = { .line = line };

	for (size_t i = s->num_chains ?
	     s->chains[hash_line(function, path, line) % s->num_chains] : 0;
	     i; i = s->lines[i - 1].next) {
		const struct symtrace_line *there = &s->lines[i - 1];

		if (there->line == line && !strcmp(there->function, function) &&
		    !strcmp(there->path, path)) {
			*ret = i - 1;
			return 0;
		}
	}
	l.function = strdup(function);
	l.path = strdup(path);
	if (!l.function || !l.path || !reserve(s)) {
		free(l.function);
		free(l.path);
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	}
	*ret = s->num_lines++;
	s->lines[*ret] = l;
	add_to_chain(s, *ret);
	return 0;
}

void symtrace_summary_add(struct symtrace_summary *s, const struct symtrace_frame *frame,
			  struct symtrace_pc pc, size_t line)
{
	s->frames++;
	s->by_tracepoint[(uint16_t)frame->tracepoint]++;
	s->by_pc[pc.kind]++;
	if (symtrace_pc_known(pc))
		s->lines[line].frames++;
}

static int by_frames(const void *a, const void *b)
{
	const struct symtrace_line *x = a, *y = b;
	int order;

	if (x->frames != y->frames)
		return x->frames > y->frames ? -1 : 1;
	order = strcmp(x->path, y->path);
	if (!order)
		order = strcmp(x->function, y->function);
	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

void symtrace_summary_sort(struct symtrace_summary *s)
{
	if (s->num_lines)
		qsort(s->lines, s->num_lines, sizeof(*s->lines), by_frames);
}

/* trace_summary.c: frames by tracepoint and by source line: see symtrace_summary. */
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/trace/trace.h"

struct symtrace_summary *symtrace_summary_create(void)
{
	return calloc(1, sizeof(struct symtrace_summary));
}

static void free_line(void *line)
{
	struct symtrace_line *l = line;

	free(l->function);
	free(l->path);
	free(l);
}

void symtrace_summary_destroy(struct symtrace_summary *s)
{
	if (!s)
		return;
	tdestroy(s->tree, free_line);
	free(s->lines);
	free(s);
}

static int by_place(const void *a, const void *b)
{
	const struct symtrace_line *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	if (!order)
		order = strcmp(x->function, y->function);
	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* A line of its own of what is there in `l`; NULL: out of memory. */
static struct symtrace_line *add_line(struct symtrace_summary *s, const struct symtrace_line *l)
{
	struct symtrace_line **list = reallocarray(s->lines, s->num_lines + 1, sizeof(*list));
	struct symtrace_line *ret = list ? malloc(sizeof(*ret)) : NULL;

	s->lines = list ? list : s->lines;
	if (!ret)
		return NULL;
	*ret = (struct symtrace_line){ strdup(l->function), strdup(l->path), l->line, 0 };
	if (!ret->function || !ret->path) {
		free_line(ret);
		return NULL;
	}
	return s->lines[s->num_lines++] = ret;
}

struct symtrace_line *symtrace_summary_line(struct symtrace_summary *s, const char *function,
					    const char *path, uint32_t line)
{
	struct symtrace_line wanted = { (char *)function, (char *)path, line, 0 };
	struct symtrace_line **node = tsearch(&wanted, &s->tree, by_place), *ret;

	if (!node || *node != &wanted)
		return node ? *node : NULL;
	ret = add_line(s, &wanted);
	if (ret)
		*node = ret;
	else
		tdelete(&wanted, &s->tree, by_place);
	return ret;
}

void symtrace_summary_add(struct symtrace_summary *s, const struct symtrace_frame *frame,
			  struct symtrace_pc pc, struct symtrace_line *line)
{
	s->frames++;
	s->by_tracepoint[(uint16_t)frame->tracepoint]++;
	s->by_pc[pc.kind]++;
	if (symtrace_pc_known(pc))
		line->frames++;
}

static int by_frames(const void *a, const void *b)
{
	const struct symtrace_line *x = *(struct symtrace_line *const *)a;
	const struct symtrace_line *y = *(struct symtrace_line *const *)b;

	return x->frames == y->frames ? by_place(x, y) : x->frames > y->frames ? -1 : 1;
}

void symtrace_summary_sort(struct symtrace_summary *s)
{
	if (s->num_lines)
		qsort(s->lines, s->num_lines, sizeof(*s->lines), by_frames);
}

/*
 * trace_summary.c: long recordings in short: frames by tracepoint and by source
 * line. Memory grows with the source lines that occur, not with the frames.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/trace/trace.h"
#include "symcache/symcache.h"

struct summary *summary_create(void)
{
	return must_calloc(1, sizeof(struct summary));
}

void summary_destroy(struct summary *s)
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

/* FNV-1a */
static uint64_t hash(uint64_t h, const char *text)
{
	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 0x100000001b3u;
	return h;
}

static uint64_t hash_line(const struct summary_line *l)
{
	return hash(hash(0xcbf29ce484222325u, l->function), l->path) ^
	       l->line * UINT64_C(0x9e3779b97f4a7c15);
}

static void add_to_chain(struct summary *s, size_t i)
{
	size_t *chain = &s->chains[hash_line(&s->lines[i]) % s->num_chains];

	s->lines[i].next = *chain;
	*chain = i + 1;
}

/* Takes over the strings of `line`; returns its index plus 1. */
static size_t find_line(struct summary *s, struct summary_line line)
{
	struct summary_line *slot;

	for (size_t i = s->num_chains ? s->chains[hash_line(&line) % s->num_chains] : 0; i;
	     i = s->lines[i - 1].next) {
		slot = &s->lines[i - 1];
		if (slot->line == line.line && !strcmp(slot->function, line.function) &&
		    !strcmp(slot->path, line.path)) {
			free(line.function);
			free(line.path);
			return i;
		}
	}
	if (s->num_lines == s->cap_lines) {
		s->cap_lines = s->cap_lines * 2 + 64;
		s->lines = must_realloc(s->lines, s->cap_lines * sizeof(*s->lines));
	}
	s->lines[s->num_lines++] = line;
	if (s->num_lines <= s->num_chains) {
		add_to_chain(s, s->num_lines - 1);
	} else {
		free(s->chains);
		s->num_chains = s->num_lines * 2 + 61;
		s->chains = must_calloc(s->num_chains, sizeof(*s->chains));
		for (size_t i = 0; i < s->num_lines; i++)
			add_to_chain(s, i);
	}
	return s->num_lines;
}

void summary_add(struct summary *s, struct places *places, const struct tfile_frame *frame,
		 struct tfile_pc pc)
{
	struct place *place;

	s->frames++;
	s->by_tracepoint[(uint16_t)frame->tracepoint]++;
	s->by_pc[pc.kind]++;
	if (!tfile_pc_known(pc))
		return;
	place = places_code(places, pc.address);
	if (!place->line) {
		const struct symcache_frame *inner = place->num_frames ? place->frames : NULL;
		struct summary_line line = { 0 };

		if (inner) {
			struct symcache_str name = places_function(places, inner);

			line.function = must_asprintf("%.*s", (int)name.len, name.ptr);
			line.line = inner->line;
		} else {
			line.function = must_asprintf("??%s%s", place->image ? " in " : "",
						      place->image ? place->image->name : "");
		}
		line.path = must_asprintf("%s", inner ? places_path(places, inner) : "");
		place->line = find_line(s, line);
	}
	s->lines[place->line - 1].frames++;
}

static int by_frames(const void *a, const void *b)
{
	const struct summary_line *x = a, *y = b;
	int order;

	if (x->frames != y->frames)
		return x->frames > y->frames ? -1 : 1;
	order = strcmp(x->path, y->path);
	if (!order)
		order = strcmp(x->function, y->function);
	return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

void summary_finish(struct summary *s)
{
	if (s->num_lines)
		qsort(s->lines, s->num_lines, sizeof(*s->lines), by_frames);
}

void summary_print_text(const struct summary *s, const struct trace_file *f)
{
	printf("%" PRIu64 " frames\n", s->frames);
	for (size_t i = 0; i < TRACE_TRACEPOINTS; i++) {
		const struct tfile_tracepoint *tp;
		size_t n = tfile_find_tracepoint(&f->tfile, (int16_t)i, &tp);

		if (!s->by_tracepoint[i])
			continue;
		printf("%10" PRIu64 "  tracepoint %d", s->by_tracepoint[i], (int16_t)i);
		if (n == 1)
			printf(" at 0x%" PRIx64, tp->address);
		else
			printf(n ? ", %zu locations" : ", not defined", n);
		putchar('\n');
	}
	for (size_t i = 0; i < s->num_lines; i++) {
		const struct summary_line *l = &s->lines[i];

		printf("%10" PRIu64 "  ", l->frames);
		words_escaped(stdout, l->function, strlen(l->function));
		if (*l->path) {
			fputs(" at ", stdout);
			words_escaped(stdout, l->path, strlen(l->path));
			printf(":%" PRIu32, l->line);
		}
		putchar('\n');
	}
	for (size_t kind = TFILE_PC_NO_LAYOUT; kind <= TFILE_PC_DAMAGED; kind++)
		if (s->by_pc[kind])
			printf("%10" PRIu64 "  pc unavailable: %s\n", s->by_pc[kind],
			       words_pc((enum tfile_pc_kind)kind));
}

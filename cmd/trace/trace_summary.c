/* trace_summary.c: long recordings in short: frames by tracepoint and by source line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/trace/trace.h"
#include "symcache/symcache.h"

/* The summary's line of a place: of its innermost function. */
static size_t find_line(struct symtrace_summary *s, const struct place *place)
{
	const struct place_frame *inner = place->num_frames ? place->frames : NULL;
	struct symcache_str name = { 0 };
	struct sc_error err;
	char *function;
	size_t ret;

	if (inner)
		name = inner->function;
	function = inner ? must_asprintf("%.*s", (int)name.len, name.ptr) :
		   must_asprintf("??%s%s", place->image ? " in " : "",
				 place->image ? place->image->name : "");
	if (symtrace_summary_line(s, function, inner ? inner->path : "",
				  inner ? inner->line : 0, &ret, &err)) {
		cmd_error("%s", err.msg);
		exit(STATUS_ERROR);
	}
	free(function);
	return ret;
}

void summary_add(struct symtrace_summary *s, struct places *places,
		 const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	struct place *place = NULL;

	if (symtrace_pc_known(pc)) {
		place = places_code(places, pc.address);
		if (!place->line)
			place->line = 1 + find_line(s, place);
	}
	symtrace_summary_add(s, frame, pc, place ? place->line - 1 : 0);
}

void summary_print_text(const struct symtrace_summary *s, const struct trace_file *f)
{
	printf("%" PRIu64 " frames\n", s->frames);
	for (size_t i = 0; i < SYMTRACE_TRACEPOINTS; i++) {
		const struct symtrace_tracepoint *tp;
		size_t n = symtrace_find_tracepoint(&f->trace, (int16_t)i, &tp);

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
		const struct symtrace_line *l = &s->lines[i];

		printf("%10" PRIu64 "  ", l->frames);
		words_escaped(stdout, l->function, strlen(l->function));
		if (*l->path) {
			fputs(" at ", stdout);
			words_escaped(stdout, l->path, strlen(l->path));
			printf(":%" PRIu32, l->line);
		}
		putchar('\n');
	}
	for (size_t kind = SYMTRACE_PC_NO_LAYOUT; kind <= SYMTRACE_PC_DAMAGED; kind++)
		if (s->by_pc[kind])
			printf("%10" PRIu64 "  pc unavailable: %s\n", s->by_pc[kind],
			       words_pc((enum symtrace_pc_kind)kind));
}

/* trace_stack.c: the stack of a trace frame as text; see trace.h. */
#include <inttypes.h>

#include "cmd/cli/frame_line.h"
#include "cmd/trace/trace.h"

static void put_stop(const struct symtrace_stack *of)
{
	const struct symcache_stack *s = &of->stack;
	const bool memory = s->stop == SYMCACHE_STOP_MEMORY;

	fputs("  ", stdout);
	if (memory && of->collected_end && s->address + of->word > of->collected_end)
		printf("the stack was collected up to 0x%" PRIx64, of->collected_end);
	else if (memory)
		printf("no memory was collected at 0x%" PRIx64, s->address);
	else
		fputs(symcache_stop_text(s->stop), stdout);
	if (s->stop == SYMCACHE_STOP_NO_MODULE)
		fputs(": name it with --module", stdout);
	if (s->lacks) {
		fputs(": ", stdout);
		put_shown(((const struct symcache_image *)s->lacks)->name);
	}
	putchar('\n');
}

/* frames[1] and so on, and why there are no more. */
void trace_stack_put(const struct trace_file *f, const struct places *places,
		     struct symtrace_stack *s, const struct symtrace_frame *frame,
		     struct symtrace_pc pc)
{
	struct sc_error err;

	if (symtrace_walk(&f->trace, frame, pc, places->images, s, &err)) {
		printf("  no stack: %s\n", err.msg);
		return;
	}
	for (size_t i = 1; i < s->stack.num_frames; i++) {
		const struct symcache_walked_frame *of = &s->stack.frames[i];
		const struct place place = places_code(places, of->lookup_pc);

		frame_lines_put(&(struct frame_line){
			.number = i, .word = s->word, .frame = of, .place = place.at,
			.module = place.image ? place.image->name : NULL, .has_offset = place.image,
			.offset = place.image ? of->pc - place.image->bias : 0,
		});
	}
	put_stop(s);
}

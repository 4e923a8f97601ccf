/*
 * trace_stack.c: the stack of a trace frame, from the registers and the memory that it
 * collected; see trace.h.
 *
 * Code that no --module names may be code all the same: of libraries. So stacks go on behind
 * it by frame pointers and scanning, which say so.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/frame_line.h"
#include "cmd/cli/memory.h"
#include "cmd/trace/trace.h"

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	return symtrace_collected_read(&((struct trace_stack *)ctx)->collected, address, to, bytes);
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_module *ret)
{
	const struct image *image = images_find(((struct trace_stack *)ctx)->images, address);
	struct symcache_frames frames;
	struct symcache_row row;

	*ret = (struct symcache_unwind_module){
		image ? image->cache : NULL, image ? image->begin : 0, (void *)image };
	/* Its data are not code. */
	return image && (symcache_find_row(image->cache, address - image->begin, &row) ||
			 symcache_lookup(image->cache, address - image->begin, &frames));
}

static void add_frame(struct trace_stack *s, const struct symcache_unwind_frame *f)
{
	s->frames = must_grow(s->frames, s->num_frames, &s->cap_frames, sizeof(*s->frames));
	s->frames[s->num_frames++] = (struct trace_stack_frame){
		.pc = f->pc, .lookup_pc = f->lookup_pc, .trust = f->trust, .signal = f->signal,
		.stack_pointer = f->stack_pointer };
}

void trace_stack_deinit(struct trace_stack *s)
{
	symtrace_collected_deinit(&s->collected);
	free(s->frames);
}

void trace_stack_walk(struct trace_stack *s, const struct trace_file *f,
		      const struct symtrace_frame *frame, struct symtrace_pc pc)
{
	const struct symtrace_target target = trace_target(s->images);
	struct symcache_unwind_source source = {
		.machine = target.machine, .read = read_memory, .module = find_module,
		.ctx = s,
	};
	struct symcache_unwinder u;
	struct symcache_unwind_frame next;
	int rc;

	s->num_frames = 0;
	s->word = target.is64 ? 8 : 4;
	s->lacks = NULL;
	if (f->trace.big_endian)
		rc = sc_error_set(&s->err, SC_EUNSUPPORTED, "stacks of big-endian machines are not read");
	else
		rc = symtrace_collect(&f->trace, frame, pc, target.machine, &s->collected, &s->err);
	if (!rc)
		rc = symcache_unwind_begin(&u, &source, &s->collected.registers, &s->err);
	s->err.code = rc;
	if (rc)
		return;
	while (symcache_unwind_next(&u, &next))
		add_frame(s, &next);
	s->stop = u.stop;
	if (u.stop == SYMCACHE_STOP_NO_ROW || u.stop == SYMCACHE_STOP_NO_UNWIND)
		s->lacks = ((const struct image *)u.module.owner)->name;
	s->address = u.address;
	s->collected_end = symtrace_collected_end(&s->collected, s->frames[0].stack_pointer);
}

/* ---- as text ------------------------------------------------------------------------------- */

static void put_stop(const struct trace_stack *s)
{
	const bool memory = s->stop == SYMCACHE_STOP_MEMORY;

	fputs("  ", stdout);
	if (memory && s->collected_end && s->address + s->word > s->collected_end)
		printf("the stack was collected up to 0x%" PRIx64, s->collected_end);
	else if (memory)
		printf("no memory was collected at 0x%" PRIx64, s->address);
	else
		fputs(symcache_stop_text(s->stop), stdout);
	if (s->stop == SYMCACHE_STOP_NO_MODULE)
		fputs(": name it with --module", stdout);
	if (s->lacks) {
		fputs(": ", stdout);
		put_shown(s->lacks);
	}
	putchar('\n');
}

void trace_stack_put(const struct trace_stack *s, struct places *places)
{
	if (s->err.code) {
		printf("  no stack: %s\n", s->err.msg);
		return;
	}
	for (size_t i = 1; i < s->num_frames; i++) {
		const struct trace_stack_frame *f = &s->frames[i];
		const struct place *place = places_code(places, f->lookup_pc);
		struct frame_line line = {
			.number = i, .word = s->word, .pc = f->pc, .trust = f->trust, .signal = f->signal,
			.file = "", .module = place->image ? place->image->name : NULL,
			.has_offset = place->image, .offset = place->image ? f->pc - place->image->bias : 0,
		};

		for (size_t k = 0; k < place->num_frames; k++) {
			const struct place_frame *of = &place->frames[k];

			line.inlined = k + 1 < place->num_frames ? k + 1 : 0;
			line.function = strcmp(of->function.ptr, "?") ? of->function.ptr : NULL;
			line.file = of->path;
			line.line = of->line;
			line.column = of->column;
			frame_line_put(&line);
		}
		if (!place->num_frames)
			frame_line_put(&line);
	}
	put_stop(s);
}

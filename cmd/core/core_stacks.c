/* core_stacks.c: stacks of threads as lists of frames; see core.h. */
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cmd/cli/memory.h"
#include "cmd/core/core.h"

static void add_frame(struct core_stack *s, const struct symcache_unwind_frame *f)
{
	struct core_frame *frame;

	s->frames = must_grow(s->frames, s->num_frames, &s->cap_frames, sizeof(*s->frames));
	frame = &s->frames[s->num_frames++];
	*frame = (struct core_frame){
		.pc = f->pc, .rel_pc = f->has_module && f->module.cache ? f->rel_pc : f->lookup_pc,
		.known = f->known, .module = f->has_module ? f->module.owner : NULL,
		.trust = (uint8_t)f->trust, .signal = f->signal,
	};
	if (frame->module)
		frame->module->frames++;
}

void core_stack_walk(struct symcache_core *core, struct core_modules *modules,
		     const struct symcache_core_thread *thread, bool registers,
		     struct core_stack *ret)
{
	const struct symcache_unwind_source source = {
		.machine = core->machine, .signature = core->signature,
		.read = core_modules_read, .module = core_modules_find,
		.executable = core_modules_executable, .ctx = modules,
	};
	struct symcache_unwinder u;
	struct symcache_unwind_frame f;
	struct symcache_registers now = thread->registers;

	ret->num_frames = 0;
	ret->lacks = NULL;
	/* The core would not have been opened, were it of another machine. */
	if (symcache_unwind_begin(&u, &source, &thread->registers, NULL))
		u.stop = SYMCACHE_STOP_LOST;
	while (symcache_unwind_next(&u, &f)) {
		if (registers) {
			ret->registers = must_grow(ret->registers, ret->num_frames, &ret->cap_registers,
						   sizeof(*ret->registers));
			ret->registers[ret->num_frames] = now;
			now = u.registers;
		}
		add_frame(ret, &f);
	}
	ret->stop = u.stop;
	ret->address = u.address;
	if (u.stop == SYMCACHE_STOP_NO_ROW || u.stop == SYMCACHE_STOP_NO_UNWIND ||
	    u.stop == SYMCACHE_STOP_NO_CACHE)
		ret->lacks = u.module.owner;
	if (ret->lacks && u.stop != SYMCACHE_STOP_NO_ROW)
		ret->lacks->lost++;
}

bool core_stack_equal(const struct core_stack *a, const struct core_stack *b)
{
	if (a->num_frames != b->num_frames || a->stop != b->stop)
		return false;
	for (size_t i = 0; i < a->num_frames; i++)
		if (a->frames[i].pc != b->frames[i].pc || a->frames[i].trust != b->frames[i].trust)
			return false;
	return true;
}

uint64_t core_stack_hash(const struct core_stack *s)
{
	uint64_t hash = s->num_frames * 16 + s->stop;

	for (size_t i = 0; i < s->num_frames; i++)
		hash = XXH3_64bits_withSeed(&s->frames[i].pc, sizeof(s->frames[i].pc), hash);
	return hash;
}

void core_stack_deinit(struct core_stack *s)
{
	free(s->frames);
	free(s->registers);
	*s = (struct core_stack){ 0 };
}

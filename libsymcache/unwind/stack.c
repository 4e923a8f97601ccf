/* Stacks as lists of frames: see unwind.h. */
#include <xxhash.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/unwind/unwind.h"

static bool reserve(struct symcache_stack *s, bool registers)
{
	return vec_reserve_((void **)&s->frames, &s->cap_frames, s->num_frames, 1,
			    sizeof(*s->frames)) &&
	       (!registers || vec_reserve_((void **)&s->registers, &s->cap_registers, s->num_frames,
					   1, sizeof(*s->registers)));
}

int symcache_stack_walk(const struct symcache_unwind_source *source,
			const struct symcache_registers *of, bool registers,
			struct symcache_stack *ret, struct sc_error *err)
{
	struct symcache_registers now = *of;
	struct symcache_unwind_frame f;
	struct symcache_unwinder u;
	int rc = symcache_unwind_begin(&u, source, of, err);

	ret->num_frames = 0;
	ret->lacks = NULL;
	while (!rc && symcache_unwind_next(&u, &f)) {
		if (!reserve(ret, registers))
			return sc_no_memory(err);
		if (registers)
			ret->registers[ret->num_frames] = now, now = u.registers;
		ret->frames[ret->num_frames++] = f;
	}
	if (rc)
		return rc;
	ret->stop = u.stop;
	ret->address = u.address;
	if (u.stop == SYMCACHE_STOP_NO_ROW || u.stop == SYMCACHE_STOP_NO_UNWIND ||
	    u.stop == SYMCACHE_STOP_NO_CACHE)
		ret->lacks = u.lacks;
	return 0;
}

bool symcache_stack_equal(const struct symcache_stack *a, const struct symcache_stack *b)
{
	if (a->num_frames != b->num_frames || a->stop != b->stop)
		return false;
	for (size_t i = 0; i < a->num_frames; i++)
		if (a->frames[i].pc != b->frames[i].pc || a->frames[i].trust != b->frames[i].trust)
			return false;
	return true;
}

uint64_t symcache_stack_hash(const struct symcache_stack *s)
{
	uint64_t hash = s->num_frames * 16 + s->stop;

	for (size_t i = 0; i < s->num_frames; i++)
		hash = XXH3_64bits_withSeed(&s->frames[i].pc, sizeof(s->frames[i].pc), hash);
	return hash;
}

void symcache_stack_deinit(struct symcache_stack *s)
{
	sc_big_free(s->frames, s->cap_frames * sizeof(*s->frames));
	sc_big_free(s->registers, s->cap_registers * sizeof(*s->registers));
	*s = (struct symcache_stack){ 0 };
}

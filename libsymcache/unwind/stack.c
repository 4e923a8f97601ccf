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

struct symcache_stack_id symcache_stack_id(const struct symcache_stack *s)
{
	XXH128_hash_t hash = { s->num_frames, s->stop };
	uint64_t frames[2 * 32];
	size_t n = 0;

	for (size_t i = 0; i < s->num_frames; i++) {
		frames[n++] = s->frames[i].pc;
		frames[n++] = s->frames[i].trust;
		if (n < sizeof(frames) / sizeof(*frames) - 2 && i + 1 < s->num_frames)
			continue;
		frames[n++] = hash.low64;
		frames[n++] = hash.high64;
		hash = XXH3_128bits(frames, n * sizeof(*frames));
		n = 0;
	}
	return (struct symcache_stack_id){ hash.low64, hash.high64 };
}

void symcache_stack_deinit(struct symcache_stack *s)
{
	sc_big_free(s->frames, s->cap_frames * sizeof(*s->frames));
	sc_big_free(s->registers, s->cap_registers * sizeof(*s->registers));
	*s = (struct symcache_stack){ 0 };
}

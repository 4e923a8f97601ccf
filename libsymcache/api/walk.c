/* Stacks: see <symcache-stack.h>. */
#include <symcache-stack.h>

#include "libsymcache/api/api.h"
#include "libsymcache/unwind/unwind.h"


static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct symcache_walk_options *o = ctx;

	return o->read(o->ctx, address, to, bytes);
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	const struct symcache_walk_options *o = ctx;
	uint64_t bias = 0;
	struct symcache_cache *c = o->module(o->ctx, address, &bias);

	if (!c)
		return false;
	ret->cache = &c->cache;
	ret->base = bias + symcache_load_base(&c->cache);
	ret->owner = c;
	return true;
}

static bool is_executable(void *ctx, uint64_t address)
{
	const struct symcache_walk_options *o = ctx;

	return o->executable(o->ctx, address);
}

_Static_assert((int)SYMCACHE_WALK_CONTEXT == (int)SYMCACHE_TRUST_CONTEXT &&
	       (int)SYMCACHE_WALK_SIGNAL == (int)SYMCACHE_TRUST_SIGNAL &&
	       (int)SYMCACHE_WALK_CFI == (int)SYMCACHE_TRUST_CFI &&
	       (int)SYMCACHE_WALK_CALL == (int)SYMCACHE_TRUST_CALL &&
	       (int)SYMCACHE_WALK_POINTER == (int)SYMCACHE_TRUST_FRAME_POINTER &&
	       (int)SYMCACHE_WALK_SCAN == (int)SYMCACHE_TRUST_SCAN, "they are handed on");

int symcache_walk(const struct symcache_walk_options *options,
		  const struct symcache_thread *registers,
		  int (*fn)(void *ctx, const struct symcache_stack_frame *frame), void *ctx,
		  const char **why, struct symcache_error *err)
{
	struct symcache_unwind_frame f;
	struct symcache_unwinder u;
	struct symcache_registers regs;
	struct sc_error e;
	int rc = 0;

	if (!registers || !fn || !options || !api_fits(options) || !options->read || !options->module ||
	    !options->executable || options->machine > UINT16_MAX)
		return api_error(err, SC_EINVAL, "incomplete options, no registers or no function");
	const struct symcache_unwind_source source = {
		.machine = (uint16_t)options->machine, .signature = options->signature,
		.max_frames = options->max_frames, .read = read_memory, .module = find_module,
		.executable = is_executable, .ctx = (void *)options, .modules = (void *)options,
	};
	regs.known = registers->known;
	regs.pc = registers->pc;
	memcpy(regs.value, registers->value, sizeof(regs.value));
	if (symcache_unwind_begin(&u, &source, &regs, &e))
		return api_fail(err, &e);
	while (!rc && symcache_unwind_next(&u, &f)) {
		struct symcache_cache *c = f.owner;
		const struct symcache_stack_frame frame = {
			.pc = f.pc, .lookup_pc = f.lookup_pc, .stack_pointer = f.stack_pointer,
			.cache = c, .vaddr = c ? f.rel_pc + symcache_load_base(&c->cache) : 0,
			.how = f.trust, .flags = f.signal,
		};

		rc = fn(ctx, &frame);
	}
	if (why)
		*why = symcache_stop_text(u.stop);
	return rc;
}

/* Memory of a process: addresses → bytes of the core file; see symcache/core.h. */
#include <elf.h>

#include "libsymcache/core/parts.h"

const struct segment *sc_core_segment(const struct symcache_core *core, uint64_t address)
{
	const struct symcache_core_private *p = core->private;
	size_t low = 0, high = p->segments.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->segments.data[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && address < p->segments.data[low - 1].end ? &p->segments.data[low - 1] : NULL;
}

uint64_t symcache_core_dumped(const struct symcache_core *core, uint64_t address)
{
	const struct segment *s = sc_core_segment(core, address);

	return s && address - s->start < s->size ? s->size - (address - s->start) : 0;
}

/* Reads bytes that a compressed file has, but which were not kept. */
static bool read_again(struct symcache_core *core, const struct segment *s, uint64_t offset, void *to,
		       size_t bytes)
{
	uint64_t end = s->offset + s->size;
	struct range range = { offset & ~(uint64_t)(BLOCK - 1),
			       end - offset < MAX_STACK ? end : offset + MAX_STACK };

	return core->private->compressed && !sc_core_keep(core, &range, 1, NULL) &&
	       sc_core_file(core, offset, to, bytes);
}

bool symcache_core_read(void *ctx, uint64_t address, void *to, size_t bytes)
{
	struct symcache_core *core = ctx;
	uint8_t *at = to;

	while (bytes) {
		const struct segment *s = sc_core_segment(core, address);
		uint64_t inside = s ? address - s->start : 0;
		size_t n;

		if (!s || inside >= s->size)
			return false;
		n = s->size - inside < bytes ? (size_t)(s->size - inside) : bytes;
		if (!sc_core_file(core, s->offset + inside, at, n) &&
		    !read_again(core, s, s->offset + inside, at, n))
			return false;
		at += n;
		address += n;
		bytes -= n;
	}
	return true;
}

bool symcache_core_executable(void *core, uint64_t address)
{
	const struct segment *s = sc_core_segment(core, address);

	return s && s->flags & PF_X;
}

const struct symcache_core_module *symcache_core_module_at(const struct symcache_core *core,
							    uint64_t address)
{
	size_t low = 0, high = core->num_modules;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (core->modules[mid].start <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && address < core->modules[low - 1].end ? &core->modules[low - 1] : NULL;
}

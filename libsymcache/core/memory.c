/* Memory of a process: addresses → bytes of the core file; see parts.h. */
#include <elf.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/core/parts.h"

bool sc_core_add_memory(struct symcache_core *core, struct segment s)
{
	struct symcache_core_private *p = core->private;
	const uint64_t have = s.offset < p->file_size ? p->file_size - s.offset : 0;
	struct segment *added = vec_push(&p->memory.list);

	if (!p->compressed && s.size > have) {
		core->missing += s.size - have;
		s.size = have;
	}
	if (p->minidump) /* it has nothing but bytes */
		s.end = s.start + s.size;
	if (added)
		*added = s;
	return added;
}

static bool starts_before(const struct segment *a, const struct segment *b)
{
	return a->start < b->start;
}

SC_SORT(sort_segments, struct segment, starts_before)

bool sc_core_order(struct segments *s)
{
	uint64_t end = 0;
	size_t n = 0;

	if (!sort_segments(s->list.data, s->list.len))
		return false;
	for (size_t i = 0; i < s->list.len; i++) {
		struct segment of = s->list.data[i];
		const uint64_t skip = n && of.start < end ? end - of.start : 0;

		if (skip >= of.end - of.start)
			continue;
		of.start += skip;
		of.offset += skip;
		of.size -= skip < of.size ? skip : of.size;
		if (of.size > of.end - of.start)
			of.size = of.end - of.start;
		end = of.end;
		s->list.data[n++] = of;
	}
	s->list.len = n;
	return true;
}

const struct segment *sc_core_find(const struct segments *s, uint64_t address)
{
	const size_t n = SC_SEARCH(i, s->list.len, s->list.data[i].start <= address);

	return n && address < s->list.data[n - 1].end ? &s->list.data[n - 1] : NULL;
}

/* Reads bytes that a compressed file has, but which were not kept. */
static bool read_again(struct symcache_core *core, const struct segment *s, uint64_t offset,
		       void *to, size_t bytes)
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
		const struct segment *s = sc_core_find(&core->private->memory, address);
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

bool symcache_core_executable(void *ctx, uint64_t address)
{
	const struct symcache_core_private *p = ((struct symcache_core *)ctx)->private;
	const struct segment *s = sc_core_find(p->minidump ? &p->code : &p->memory, address);

	return s && (p->minidump || s->flags & PF_X);
}

bool sc_core_step(struct symcache_core *core)
{
	return core->private->steps_left && core->private->steps_left--;
}

/*
 * Modules and maps: see context.h.
 *
 * Both are mostly announced in ascending order, which costs an append; in the
 * worst order an insertion moves 12 bytes for each of the 65,536 maps there may
 * be. Pointers to modules move when more are added: keep indices.
 */
#include "libmarkup/resolve/context.h"

#include <stdlib.h>
#include <string.h>

#include "libmarkup/bytes/fields.h"
#include "libsymcache/base/error.h"

#define BLOCK (64u << 10)

void mk_context_changed(struct mk_context *c)
{
	c->generation = ++*c->generations;
}

void mk_context_init(struct mk_context *c, enum markup_dialect dialect, uint64_t *generations)
{
	*c = (struct mk_context){ .dialect = dialect, .generations = generations };
	mk_context_changed(c);
}

void mk_context_reset(struct mk_context *c)
{
	while (c->num_blocks)
		free(c->blocks[--c->num_blocks]);
	c->block_used = c->block_size = c->name_bytes = 0;
	c->num_modules = c->num_maps = c->last = 0;
	if (c->generations)
		mk_context_changed(c);
}

void mk_context_deinit(struct mk_context *c)
{
	mk_context_reset(c);
	free(c->blocks);
	free(c->modules);
	free(c->by_id);
	free(c->maps);
	free(c->starts);
	free(c->order);
	free(c->by_base);
	*c = (struct mk_context){ .dialect = c->dialect, .fixes_base = c->fixes_base,
				  .generations = c->generations };
}

static bool resize(void *array, size_t cap, size_t size)
{
	void *p = realloc(*(void **)array, cap * size);

	if (p)
		*(void **)array = p;
	else
		sc_memory_refused();
	return p;
}

/* Room for `n` bytes that stay until the reset, or NULL. */
static char *keep(struct mk_context *c, size_t n)
{
	if (n > MARKUP_NAMES_MAX - c->name_bytes)
		return NULL;
	if (!c->num_blocks || n > c->block_size - c->block_used) {
		size_t size = n > BLOCK ? n : BLOCK;
		if (!resize(&c->blocks, c->num_blocks + 1, sizeof(*c->blocks)))
			return NULL;
		c->blocks[c->num_blocks] = malloc(size);
		if (!c->blocks[c->num_blocks]) {
			sc_memory_refused();
			return NULL;
		}
		c->num_blocks++;
		c->block_size = size;
		c->block_used = 0;
	}
	c->name_bytes += n;
	c->block_used += n;
	return c->blocks[c->num_blocks - 1] + c->block_used - n;
}

/* Gives `*array` room for *cap elements of `size` bytes. */
size_t mk_context_bytes(const struct mk_context *c)
{
	return c->name_bytes + c->num_modules * (sizeof(*c->modules) + sizeof(*c->by_id)) +
	       c->num_maps * (sizeof(*c->maps) + sizeof(*c->starts) + sizeof(*c->order));
}

static void *copy_array(const void *from, size_t n, size_t size)
{
	void *p = malloc(n * size + 1);

	if (!p)
		sc_memory_refused();
	return p && n ? memcpy(p, from, n * size) : p;
}

bool mk_context_copy(struct mk_context *to, const struct mk_context *from)
{
	struct mk_context c = *from;

	mk_context_deinit(to);
	c.generations = to->generations;
	mk_context_changed(&c);
	c.blocks = NULL;
	c.by_base = NULL;
	c.num_blocks = c.block_used = c.block_size = c.name_bytes = 0;
	c.cap_modules = c.num_modules;
	c.cap_maps = c.num_maps;
	c.modules = copy_array(from->modules, c.num_modules, sizeof(*c.modules));
	c.by_id = copy_array(from->by_id, c.num_modules, sizeof(*c.by_id));
	c.maps = copy_array(from->maps, c.num_maps, sizeof(*c.maps));
	c.starts = copy_array(from->starts, c.num_maps, sizeof(*c.starts));
	c.order = copy_array(from->order, c.num_maps, sizeof(*c.order));
	*to = c;
	if (!c.modules || !c.by_id || !c.maps || !c.starts || !c.order) {
		to->num_modules = to->num_maps = 0;
		return false;
	}
	for (uint32_t i = 0; i < c.num_modules; i++) {
		struct mk_module *m = &to->modules[i];
		size_t len = m->name.len + m->build_id_len + m->build_text.len;
		char *kept = keep(to, len); /* they lie together: see name_module() */
		if (!kept) {
			to->num_modules = to->num_maps = 0;
			return false;
		}
		memcpy(kept, m->name.ptr, len);
		m->name.ptr = kept;
		m->build_id = (const uint8_t *)kept + m->name.len;
		if (m->build_text.ptr)
			m->build_text.ptr = kept + m->name.len + m->build_id_len;
		m->asked = false;
		m->handle = m->missing = NULL;
	}
	to->name_bytes = from->name_bytes; /* with the names that Fuchsia's modules had before */
	return true;
}

/* Position of the first of c->by_id whose ID is not below `id`. */
static uint32_t id_position(const struct mk_context *c, uint64_t id)
{
	uint32_t low = 0, high = c->num_modules;

	if (high && c->by_id[high - 1].id < id)
		return high;
	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (c->by_id[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct mk_module *mk_context_module(const struct mk_context *c, uint64_t id)
{
	uint32_t at = id_position(c, id);
	if (at == c->num_modules || c->by_id[at].id != id)
		return NULL;
	return &c->modules[c->by_id[at].module];
}

/* Gives `m` its strings. False: no room. */
static bool name_module(struct mk_context *c, struct mk_module *m,
			struct sc_str name, struct sc_str build_id)
{
	const bool fuchsia = c->dialect == MARKUP_FUCHSIA;
	size_t id_len = mk_field_build_id(build_id, NULL) ? (build_id.len + 1) / 2 : 0;
	char *kept = keep(c, name.len + id_len + (fuchsia ? build_id.len : 0));

	if (!kept)
		return false;
	m->name = (struct sc_str){ kept, name.len };
	m->build_id = (const uint8_t *)kept + name.len;
	m->build_id_len = id_len;
	if (name.len)
		memcpy(kept, name.ptr, name.len);
	if (id_len)
		mk_field_build_id(build_id, (uint8_t *)kept + name.len);
	if (fuchsia) {
		kept += name.len + id_len;
		m->build_text = (struct sc_str){ kept, build_id.len };
		if (build_id.len)
			memcpy(kept, build_id.ptr, build_id.len);
	}
	return true;
}

static bool same_module(const struct mk_module *m, struct sc_str name,
			struct sc_str build_id)
{
	return m->name.len == name.len && !memcmp(m->name.ptr, name.ptr, name.len) &&
	       mk_field_build_id_is(build_id, m->build_id, m->build_id_len);
}

/* The module becomes another one. */
static enum mk_context_result replace(struct mk_context *c, struct mk_module *m,
				      struct sc_str name, struct sc_str build_id)
{
	m->asked = false;
	m->handle = m->missing = NULL;
	mk_context_changed(c);
	return name_module(c, m, name, build_id) ? MK_CTX_OK : MK_CTX_FULL;
}

enum mk_context_result mk_context_bind(struct mk_context *c, uint64_t id, struct sc_str name,
				       struct sc_str build_id, uint32_t *index)
{
	struct mk_module *m = mk_context_module(c, id);

	if (!m || same_module(m, name, build_id))
		return mk_context_add_module(c, id, name, build_id, index);
	*index = (uint32_t)(m - c->modules);
	return replace(c, m, name, build_id);
}

enum mk_context_result mk_context_add_module(struct mk_context *c, uint64_t id,
						 struct sc_str name,
						 struct sc_str build_id, uint32_t *index)
{
	struct mk_module *m = mk_context_module(c, id), fresh = { .id = id };
	uint32_t at = id_position(c, id);

	if (m) {
		*index = (uint32_t)(m - c->modules);
		if (same_module(m, name, build_id))
			return MK_CTX_SAME;
		if (c->dialect != MARKUP_FUCHSIA)
			return MK_CTX_DUPLICATE;
		return replace(c, m, name, build_id);
	}
	if (c->num_modules == MARKUP_MODULES_MAX || !name_module(c, &fresh, name, build_id))
		return MK_CTX_FULL;
	if (c->num_modules == c->cap_modules) {
		uint32_t cap = c->cap_modules * 2 + 16;
		if (!resize(&c->modules, cap, sizeof(*c->modules)) ||
		    !resize(&c->by_id, cap, sizeof(*c->by_id)))
			return MK_CTX_FULL;
		c->cap_modules = cap;
	}
	*index = c->num_modules;
	c->modules[*index] = fresh;
	memmove(c->by_id + at + 1, c->by_id + at, (c->num_modules - at) * sizeof(*c->by_id));
	c->by_id[at] = (struct mk_module_id){ id, *index };
	c->num_modules++;
	mk_context_changed(c);
	return MK_CTX_OK;
}

static bool covers(const struct mk_context *c, const struct mk_map *m, uint64_t address)
{
	if (c->dialect == MARKUP_LLVM) /* a map that ends at 2^64 covers nothing */
		return m->address <= address && address < m->address + m->size;
	return m->address <= address && address - m->address < m->size;
}

/* Number of maps that start at or below `address`. Without a branch on what it
 * reads: that would be guessed wrongly half of the time; and with three reads at a
 * time, which wait for memory together. */
static uint32_t maps_up_to(const struct mk_context *c, uint64_t address)
{
	const uint64_t *base = c->starts;
	uint32_t n = c->num_maps;

	if (!n || *base > address)
		return 0;
	if (base[n - 1] <= address)
		return n;
	while (n >= 4) {
		uint32_t quarter = n / 4;
		uint32_t below = (base[quarter] <= address) + (base[2 * quarter] <= address) +
				 (base[3 * quarter] <= address);

		base += (size_t)below * quarter;
		n -= 3 * quarter;
	}
	while (n > 1) {
		uint32_t half = n / 2;

		base += half & -(uint32_t)(base[half] <= address);
		n -= half;
	}
	return (uint32_t)(base - c->starts) + 1;
}

static bool same_map(const struct mk_map *a, const struct mk_map *b)
{
	return a->address == b->address && a->size == b->size && a->vaddr == b->vaddr &&
	       a->module == b->module && !strcmp(a->mode, b->mode);
}

static bool room_for_map(struct mk_context *c)
{
	uint32_t cap = c->cap_maps * 2 + 64;

	if (c->num_maps == MARKUP_MMAPS_MAX)
		return false;
	if (c->num_maps < c->cap_maps)
		return true;
	if (!resize(&c->maps, cap, sizeof(*c->maps)) ||
	    !resize(&c->starts, cap, sizeof(*c->starts)) ||
	    !resize(&c->order, cap, sizeof(*c->order)))
		return false;
	c->cap_maps = cap;
	return true;
}

void mk_context_note_map(struct mk_context *c, const struct mk_map *map,
			 struct sc_str mode)
{
	struct mk_map *m;

	if (!room_for_map(c))
		return;
	m = &c->maps[c->num_maps++];
	*m = *map;
	if (!mk_field_mode(mode, m->mode))
		m->mode[0] = 0;
}

enum mk_context_result mk_context_add_map(struct mk_context *c,
					      const struct mk_map *map, uint32_t *index)
{
	uint32_t at = maps_up_to(c, map->address);

	if (at < c->num_maps && covers(c, map, c->starts[at])) {
		*index = c->order[at];
		return MK_CTX_OVERLAP;
	}
	if (at) {
		const struct mk_map *before = &c->maps[c->order[at - 1]];
		*index = c->order[at - 1];
		if (covers(c, before, map->address))
			return c->dialect != MARKUP_LLVM && same_map(before, map)
				       ? MK_CTX_SAME : MK_CTX_OVERLAP;
		/* LLVM keeps one map for each address; the empty one stands. */
		if (c->dialect == MARKUP_LLVM && before->address == map->address)
			return MK_CTX_SAME;
	}
	if (!room_for_map(c))
		return MK_CTX_FULL;
	*index = c->num_maps;
	c->maps[*index] = *map;
	memmove(c->starts + at + 1, c->starts + at, (c->num_maps - at) * sizeof(*c->starts));
	memmove(c->order + at + 1, c->order + at, (c->num_maps - at) * sizeof(*c->order));
	c->starts[at] = map->address;
	c->order[at] = *index;
	c->num_maps++;
	mk_context_changed(c);
	return MK_CTX_OK;
}

const struct mk_map *mk_context_find(struct mk_context *c, uint64_t address)
{
	const struct mk_map *m;
	uint32_t at;

	if (c->last < c->num_maps && c->starts[c->last] <= address) {
		m = &c->maps[c->order[c->last]];
		if (covers(c, m, address))
			return m;
	}
	at = maps_up_to(c, address);
	if (!at)
		return NULL;
	m = &c->maps[c->order[at - 1]];
	if (!covers(c, m, address))
		return NULL;
	c->last = at - 1;
	return m;
}

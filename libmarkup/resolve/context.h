/*
 * context.h: the modules and maps a log has announced since its last reset.
 *
 *   modules   0     1     2       in the order of arrival; index = identity
 *   maps      [..)  [..)  [..)    the same
 *   starts    ascending addresses of the maps, with `order` giving the map
 *
 * Maps never overlap, so an address lies in one at most: a binary search, after
 * a look at the map that was found last. What is announced is bounded by the
 * MARKUP_…_MAX of markup.h; more is refused.
 */
#ifndef MARKUP_CONTEXT_H
#define MARKUP_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmarkup/markup.h"

struct mk_module {
	uint64_t id;
	struct sc_str name;
	const uint8_t *build_id;
	size_t build_id_len;

	/* For the look-up: */
	uint64_t generation; /* of those in r->named: what is remembered of it */
	bool kernel;         /* of those: its name is "RELEASE/NAME" or "NAME" */
	bool noted;          /* in r->lines */
	bool asked;       /* the resolver was asked for it */
	bool tried;       /* the same, and nothing was said if it has none */
	void *handle;     /* what it said */
	bool table_only;  /* of the handle: see struct markup_module */
	struct markup_module *missing; /* where misses are counted, or NULL */

	/* For the Fuchsia dialect, which places modules instead of maps: see place.c. */
	struct sc_str build_text;     /* the ID as it was written, hex digits or not */
	uint64_t base, size, negative_base;
	bool base_fixed;  /* the base does not change any more */
};

struct mk_map {
	uint64_t address, size, vaddr;
	uint32_t module; /* index */
	char mode[4];    /* "r", "rx", …, NUL-terminated */
};

struct mk_context {
	struct mk_module *modules;
	uint32_t num_modules, cap_modules;
	struct mk_module_id { uint64_t id; uint32_t module; } *by_id; /* ascending */

	struct mk_map *maps;
	uint32_t num_maps, cap_maps;
	uint64_t *starts;
	uint32_t *order;
	uint32_t last; /* position in starts that was found last */

	char **blocks; /* memory of names and build IDs */
	size_t num_blocks, block_used, block_size, name_bytes;

	uint64_t generation;   /* another one after each change */
	uint64_t *generations; /* all that were given out, to all contexts of a filter */

	uint32_t *by_base;     /* modules, ascending by base; Fuchsia only */
	uint64_t by_base_generation;
	bool fixes_base;       /* a module's first map gives its base, for good */

	enum markup_dialect dialect; /* LLVM: sums wrap around; Fuchsia: a module
	                              * that is announced again is another one */
};

enum mk_context_result {
	MK_CTX_OK,
	MK_CTX_SAME,      /* was announced before, in the same words */
	MK_CTX_DUPLICATE, /* the module ID stands for another module */
	MK_CTX_OVERLAP,   /* the map overlaps the one at *index */
	MK_CTX_FULL,      /* a MARKUP_…_MAX was reached, or no memory */
};

/* `generations` outlives it. */
void mk_context_init(struct mk_context *c, enum markup_dialect dialect,
		     uint64_t *generations);
void mk_context_deinit(struct mk_context *c);

/* Makes `to` a copy of `from`; the handles are not copied. False: no memory. */
bool mk_context_copy(struct mk_context *to, const struct mk_context *from);

/* Forgets all; keeps the memory of the tables. */
void mk_context_reset(struct mk_context *c);

/* About how much memory what is in it takes; a copy takes as much. */
size_t mk_context_bytes(const struct mk_context *c);

static inline bool mk_context_empty(const struct mk_context *c)
{
	return !c->num_modules && !c->num_maps;
}

/* Adds a module, copying its strings; build_id is in hex digits that were checked
 * (Fuchsia: or is anything). *index: the module. */
enum mk_context_result mk_context_add_module(struct mk_context *c, uint64_t id,
						 struct sc_str name,
						 struct sc_str build_id, uint32_t *index);

/* The same for a name that stands for a build ID, or for none, from now on. */
enum mk_context_result mk_context_bind(struct mk_context *c, uint64_t id, struct sc_str name,
				       struct sc_str build_id, uint32_t *index);

/* The module with this ID, or NULL. */
struct mk_module *mk_context_module(const struct mk_context *c, uint64_t id);

/* Adds a map. *index: where it is, or with which it collides. */
enum mk_context_result mk_context_add_map(struct mk_context *c,
					      const struct mk_map *map, uint32_t *index);

/* Adds a map for the record alone, whatever it collides with. */
void mk_context_note_map(struct mk_context *c, const struct mk_map *map,
			 struct sc_str mode);

/* Another generation begins. */
void mk_context_changed(struct mk_context *c);

/* ---- place.c: Fuchsia's modules as a whole -------------------------------- */

/* Takes a map into its module. MK_CTX_OK: it is the first one, and fixes the base;
 * MK_CTX_OVERLAP: it contradicts that; else MK_CTX_SAME. */
enum mk_context_result mk_context_place(struct mk_context *c, struct mk_module *m,
					uint64_t address, uint64_t size, uint64_t offset);

/* The module that lies at `address`, or NULL; *error: -ENOMEM if so. */
struct mk_module *mk_context_module_at(struct mk_context *c, uint64_t address, int *error);

/* The map that covers `address`, or NULL. */
const struct mk_map *mk_context_find(struct mk_context *c, uint64_t address);

/* The address of the ELF file that lies at `address` of this map. */
static inline uint64_t mk_map_vaddr(const struct mk_map *m, uint64_t address)
{
	return address - m->address + m->vaddr;
}

#endif

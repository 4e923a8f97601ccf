/*
 * core.h: what the files of `symcache core` share: how stacks are printed.
 */
#ifndef CMD_CORE_H
#define CMD_CORE_H

#include "cmd/cli/memory.h"
#include "cmd/cli/output.h"
#include "symcache/core.h"
#include "symcache/places.h"

/* An open core file. */
struct core_run {
	const char *path;
	struct symcache_core *core;
	struct symcache_core_images *images;
	struct symcache_names *names;
	struct symcache_places *places;
};

/* What is at a frame. */
static inline struct symcache_code_place *core_place(const struct core_run *r,
						     const struct symcache_walked_frame *f)
{
	const struct symcache_core_image *image = f->owner;
	const bool cached = image && image->cache;

	return must(symcache_places_get(r->places, image, cached ? image->source : NULL, f->rel_pc +
					(cached ? symcache_load_base(image->cache) : 0)));
}

void core_text_head(const struct core_run *r);
/* The heading of `threads`, indices of all that have this stack, and its frames. */
void core_text_stack(const struct core_run *r, const struct symcache_stack *stack,
		     const size_t *threads, size_t num_threads);
void core_json_stack(const struct core_run *r, const struct symcache_stack *stack, size_t thread);

/* --summary: the modules, and what they lack. */
void core_text_summary(const struct core_run *r);
void core_json_summary(const struct core_run *r);

#endif

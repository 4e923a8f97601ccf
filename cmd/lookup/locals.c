/* Local variables: see locals.h. */
#include "cmd/lookup/locals.h"

#include "symcache/debug_files.h"

/* Those of a cache that has them. */
static bool answer_of_cache(struct worker *w, const struct request *r,
			    const struct symcache *cache, uint64_t vaddr)
{
	struct symcache_local local;
	uint32_t first = 0, n = symcache_locals_of(cache, vaddr - symcache_load_base(cache), &first);

	for (uint32_t i = 0; i < n; i++) /* are they sound? */
		symcache_local(cache, first + i, &local);
	if (!symcache_module_sound(r->module, cache))
		return false;
	style_begin(w, r);
	for (uint32_t i = 0; i < n; i++)
		if (symcache_local(cache, first + i, &local))
			style_local(w, r, &local);
	if (!n)
		style_nothing(w, r, false);
	style_end(w, r);
	w->partly |= !n;
	return true;
}

/* False: it is not here. */
static bool answer_of_file(struct worker *w, const struct request *r, uint64_t vaddr)
{
	struct symcache_locals *locals = symcache_debug_files_locals(w->options->files, r->module);
	const struct symcache_local *list = NULL;
	struct sc_error err;
	size_t n = 0;

	if (locals && symcache_locals_at(locals, vaddr, &list, &n, &err))
		n = 0;
	style_begin(w, r);
	for (size_t i = 0; i < n; i++)
		style_local(w, r, &list[i]);
	if (!n)
		style_nothing(w, r, false);
	style_end(w, r);
	symcache_debug_files_end(w->options->files);
	w->partly |= !n;
	return locals;
}

bool answer_locals(struct worker *w, const struct request *r, const struct symcache *cache,
		   uint64_t vaddr, bool *nowhere)
{
	*nowhere = false;
	if (cache->locals.ranges)
		return answer_of_cache(w, r, cache, vaddr);
	*nowhere = !answer_of_file(w, r, vaddr);
	return true;
}

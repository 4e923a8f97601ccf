/* Who still needs a snapshot or a cache: see api.h. */
#include <stdlib.h>

#include "libsymcache/api/api.h"

void api_snapshot_leave(struct api_snapshot *snapshot)
{
	if (atomic_fetch_sub(&snapshot->users, 1) > 1)
		return;
	for (struct symcache_cache *c = snapshot->caches, *next; c; c = next) {
		next = c->next;
		api_cache_destroy(c);
	}
	sc_name_list_deinit(&snapshot->names);
	if (symstore_is_ours(snapshot->file)) {
		symstore_read_end(snapshot->reader);
		symstore_close(snapshot->file);
	}
	free(snapshot);
}

struct symcache_cache *symcache_cache_ref(struct symcache_cache *c)
{
	atomic_fetch_add(c->snapshot ? &c->snapshot->users : &c->users, 1);
	return c;
}

void symcache_cache_unref(struct symcache_cache *c)
{
	if (!c)
		return;
	if (c->snapshot)
		api_snapshot_leave(c->snapshot);
	else if (atomic_fetch_sub(&c->users, 1) == 1)
		api_cache_destroy(c);
}

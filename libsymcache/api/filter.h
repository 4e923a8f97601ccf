/* filter.h: what stands behind a struct symcache_filter: see <symcache.h>, <symcache-filter.h>. */
#ifndef SC_API_FILTER_H
#define SC_API_FILTER_H

#include "libsymcache/api/space.h"
#include "libsymcache/logs/resolver.h"

/* Texts of settings, with a NULL behind them. */
struct api_texts {
	VEC(char *) list;
};

struct symcache_filter {
	struct symcache_store *store;
	struct markup_options how;
	struct markup_sink sink;             /* of the caller */
	unsigned threads;
	struct sc_log_resolvers *resolvers;
	struct markup_filter *filter;        /* NULL: nothing was asked yet, settings may come */
	struct markup_groups *groups;        /* NULL: they are not wanted */
	struct api_texts modules, path_maps; /* settings */
	char *inputs, *demux, *link;
	bool open; /* a log was begun and not finished */
	pthread_mutex_t lock;
	VEC(struct symcache_cache *) caches; /* references, one for each snapshot and more */
};

/* The settings go. */
void api_filter_settings_deinit(struct symcache_filter *f);

#endif

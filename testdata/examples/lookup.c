#include <stdio.h>
#include <stdlib.h>
#include <symcache.h>

/* lookup BUILD-ID ADDRESS */
int main(int argc, char **argv)
{
	struct symcache_store *store;
	struct symcache_cache *cache;
	struct symcache_resolver *resolver;
	const struct symcache_frame *f;
	struct symcache_error err;
	size_t n, i;

	if (argc < 3 || symcache_store_open(NULL, 0, &store, &err) ||
	    symcache_store_find(store, argv[1], &cache, &err) ||
	    symcache_resolver_create(NULL, &resolver, &err))
		return fprintf(stderr, "%s\n", argc < 3 ? "which?" : err.msg), 2;
	n = symcache_frames(resolver, cache, strtoull(argv[2], NULL, 0), &f);
	for (i = 0; i < n; i++)
		printf("%s at %s:%u\n", f[i].function ? f[i].function : "??",
		       f[i].file ? f[i].file : "??", f[i].line);
	return n == 0;
}

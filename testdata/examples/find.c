/* Where is a name, or the code of a line?  find MODULE NAME|FILE:LINE... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symcache-find.h>

static int definition(void *ctx, const struct symcache_definition *d)
{
	(void)ctx;
	printf("0x%" PRIx64 " %s, declared at %s:%u\n", d->vaddr, d->name, d->file, d->line);
	return 0;
}

static int range(void *ctx, const struct symcache_line_range *r)
{
	(void)ctx;
	printf("0x%" PRIx64 "-0x%" PRIx64 " %s%s\n", r->vaddr, r->end, r->function,
	       r->flags & SYMCACHE_FRAME_INLINED ? ", inlined" : "");
	return 0;
}

int main(int argc, char **argv)
{
	struct symcache_error err = { 0, "usage: find MODULE NAME|FILE:LINE..." };
	struct symcache_resolver *resolver;
	struct symcache_store *store;
	struct symcache_cache *cache;

	if (argc < 3 || symcache_store_open(NULL, 0, &store, &err) ||
	    symcache_store_find(store, argv[1], &cache, &err) ||
	    symcache_resolver_create(NULL, &resolver, &err))
		return fprintf(stderr, "%s\n", err.msg), 1;
	for (int i = 2; i < argc; i++) {
		const char *colon = strrchr(argv[i], ':');
		int failed;

		if (colon && atoi(colon + 1) > 0)
			failed = symcache_each_line_range(resolver, cache, argv[i], range, NULL, &err);
		else if (strchr(argv[i], '*'))
			failed = symcache_each_match(resolver, cache, argv[i], definition, NULL, &err);
		else
			failed = symcache_each_definition(resolver, cache, argv[i], definition, NULL, &err);
		if (failed)
			fprintf(stderr, "%s\n", err.msg);
	}
	symcache_resolver_destroy(resolver);
	symcache_cache_unref(cache);
	symcache_store_close(store);
}

/* index STORE PATH...: an indexer: ELF files, folders and packages into a store. */
#include <stdio.h>
#include <symcache-build.h>

static void report(void *ctx, const char *path, int code, const char *message)
{
	(void)ctx;
	if (code < 0)
		fprintf(stderr, "%s: %s\n", path, *message ? message : symcache_strerror(code));
}

int main(int argc, char **argv)
{
	struct symcache_make_options options = { sizeof(options), NULL, 2, 0, 0, NULL, report, NULL };
	struct symcache_counts counts = { sizeof(counts), 0, 0, 0, 0 };
	struct symcache_store *store;
	struct symcache_error err;
	int failed;

	if (argc < 3) {
		fprintf(stderr, "usage: index STORE PATH...\n");
		return 2;
	}
	failed = symcache_store_open(argv[1], SYMCACHE_STORE_WRITE, &store, &err);
	if (!failed) {
		failed = symcache_store_index(store, (const char *const *)argv + 2,
					      (size_t)argc - 2, &options, &counts, &err);
		symcache_store_close(store);
	}
	if (failed)
		fprintf(stderr, "%s\n", err.msg);
	printf("%lu indexed, %lu stayed, %lu without symbols, %lu failed\n",
	       (unsigned long)counts.done, (unsigned long)counts.stayed,
	       (unsigned long)counts.none, (unsigned long)counts.failed);
	return failed ? 2 : counts.failed != 0;
}

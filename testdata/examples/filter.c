/* filter STORE < LOG: a log with addresses becomes one with functions, files and lines. */
#include <stdio.h>
#include <symcache.h>

static int write_out(void *ctx, const char *data, size_t len)
{
	return fwrite(data, 1, len, (FILE *)ctx) != len;
}

int main(int argc, char **argv)
{
	struct symcache_filter_options options = { sizeof(options), SYMCACHE_FILTER_TEXT, 0,
						   write_out, NULL, NULL };
	struct symcache_filter *filter;
	struct symcache_store *store;
	struct symcache_error err;
	char buf[65536];
	size_t n;
	int failed;

	options.ctx = stdout;
	if (argc != 2) {
		fprintf(stderr, "usage: filter STORE < LOG\n");
		return 2;
	}
	if (symcache_store_open(argv[1], 0, &store, &err) ||
	    symcache_filter_create(store, &options, &filter, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	for (failed = 0; !failed && (n = fread(buf, 1, sizeof(buf), stdin)); )
		failed = symcache_filter_feed(filter, buf, n, &err);
	failed = failed || symcache_filter_finish(filter, &err) ||
		 symcache_filter_end(filter, &err);
	if (failed)
		fprintf(stderr, "%s\n", err.msg);
	symcache_filter_destroy(filter);
	symcache_store_close(store);
	return failed;
}

/*
 * Look-ups through libsymcache.so: nanoseconds for each address.
 *
 *   lib_bench STORE FILE-NAME N
 *
 * Addresses of random functions' code, the median of several passes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <symcache.h>
#include <time.h>

enum { PASSES = 7 };

static struct symcache_cache *cache;
static struct symcache_resolver *resolver;
static uint64_t *vaddr, *first;
static struct symcache_ids *ids;
static size_t n, num_frames;

static void batch(void)
{
	num_frames = symcache_frame_ids_batch(cache, vaddr, n, first, ids, 4 * n);
}

static void singly(void)
{
	num_frames = 0;
	for (size_t i = 0; i < n; i++)
		num_frames += symcache_frame_ids(cache, vaddr[i], ids, 4);
}

static void texts(void)
{
	const struct symcache_frame *f;

	num_frames = 0;
	for (size_t i = 0; i < n; i++)
		num_frames += symcache_frames(resolver, cache, vaddr[i], &f);
}

static void texts_ahead(void)
{
	const struct symcache_frame *f;

	num_frames = 0;
	for (size_t i = 0; i < n; i++) {
		if (i % 16 == 0)
			symcache_frames_ahead(resolver, cache, vaddr + i, n - i < 16 ? n - i : 16);
		num_frames += symcache_frames(resolver, cache, vaddr[i], &f);
	}
}

static char id_text[129];

static void by_id(void)
{
	const struct symcache_frame *f;

	num_frames = 0;
	for (size_t i = 0; i < n; i++) {
		const int found = symcache_resolve(resolver, id_text, vaddr[i], &f, NULL);

		num_frames += found > 0 ? (size_t)found : 0;
	}
}

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void measure(const char *name, void (*pass)(void))
{
	double ns[PASSES];

	for (int i = 0; i < PASSES; i++) {
		struct timespec a, b;

		clock_gettime(CLOCK_MONOTONIC, &a);
		pass();
		clock_gettime(CLOCK_MONOTONIC, &b);
		ns[i] = ((double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec)) /
			(double)n;
	}
	qsort(ns, PASSES, sizeof(*ns), by_value);
	printf("%s\t%.0f\t%.2f\n", name, ns[PASSES / 2], (double)num_frames / (double)n);
}

int main(int argc, char **argv)
{
	struct symcache_resolver_options options = { sizeof(options), 0, NULL };
	struct symcache_error err;
	const uint8_t *id;
	uint32_t functions;
	size_t len;

	if (argc < 4 || symcache_store_open(argv[1], 0, &options.store, &err) ||
	    symcache_store_find(options.store, argv[2], &cache, &err) ||
	    symcache_resolver_create(&options, &resolver, &err))
		return fprintf(stderr, "%s\n", argc < 4 ? "lib_bench STORE NAME N" : err.msg), 1;
	n = strtoull(argv[3], NULL, 0);
	vaddr = calloc(n, sizeof(*vaddr));
	first = calloc(n + 1, sizeof(*first));
	ids = calloc(4 * n, sizeof(*ids));
	functions = symcache_cache_num_functions(cache);
	id = symcache_cache_build_id(cache, &len);
	for (size_t i = 0; i < len; i++)
		snprintf(id_text + 2 * i, 3, "%02x", id[i]);
	if (!vaddr || !first || !ids || !functions)
		return 1;
	srand(1);
	for (size_t i = 0; i < n; ) {
		const uint64_t entry =
			symcache_function_entry(cache, (uint32_t)((unsigned)rand() % functions));

		if (entry != UINT64_MAX)
			vaddr[i++] = entry + (unsigned)rand() % 64;
	}
	measure("library, numbers in a batch", batch);
	measure("library, numbers one by one", singly);
	measure("library, texts one by one", texts);
	measure("library, texts announced by 16", texts_ahead);
	measure("library, texts by build ID", by_id);
	return 0;
}

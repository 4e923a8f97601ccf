/*
 * lookup_bench.c: how long a look-up takes, in nanoseconds.
 *
 *   lookup_bench CACHE [LOOKUPS]        a SymCache file
 *   lookup_bench =RANGES [LOOKUPS]      a synthetic one with so many ranges
 *
 * Addresses are drawn before the clock starts: a range uniformly, then a byte
 * in it, so that every part of the file is asked for alike. A first round over
 * the same addresses warms the caches. One thread, its processor time, the best of
 * five rounds: what else the machine does should not be in the number.
 * A file without the section INDX is measured as it is, then with one added.
 */
#include "format/symcache_index.h"
#include "libsymcache/symcache.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static void *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	void *data;
	long end;

	if (!f || fseek(f, 0, SEEK_END) || (end = ftell(f)) < 0) {
		perror(path);
		exit(2);
	}
	rewind(f);
	*size = (size_t)end;
	data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, f) != *size) {
		perror(path);
		exit(2);
	}
	fclose(f);
	return data;
}

/* Ranges of 1 to 32 bytes, a location each, a function for every 38, a file for
 * every 1,900: the shape of a large C++ program. No inlining. */
static void *make_cache(uint32_t ranges, size_t *size)
{
	struct symcache_header h = {
		.magic = SYMCACHE_MAGIC,
		.version = 9,
		.num_files = ranges / 1900 + 1,
		.num_functions = ranges / 38 + 1,
		.num_source_locations = ranges,
		.num_ranges = ranges,
	};
	size_t functions = sizeof(h) + (size_t)h.num_files * sizeof(struct symcache_file_v9);
	size_t locations = functions + (size_t)h.num_functions * sizeof(struct symcache_function);
	size_t starts = locations + (size_t)ranges * sizeof(struct symcache_source_location);
	size_t strings = (starts + (size_t)ranges * 4 + 7) & ~(size_t)7;
	size_t names = (size_t)h.num_files + h.num_functions;
	uint64_t state = 88172645463325252u;
	uint32_t pc = 0;
	uint8_t *data;

	h.string_bytes = (uint32_t)names * 33;
	*size = strings + h.string_bytes;
	data = calloc(1, *size);
	if (!data) {
		perror("lookup_bench");
		exit(2);
	}
	memcpy(data, &h, sizeof(h));
	for (uint32_t i = 0; i < h.num_files; i++) {
		struct symcache_file_v9 f = { SYMCACHE_NONE, 0, i * 33, SYMCACHE_NONE,
					      SYMCACHE_NONE, SYMCACHE_NONE };
		memcpy(data + sizeof(h) + i * sizeof(f), &f, sizeof(f));
	}
	for (uint32_t i = 0; i < h.num_functions; i++) {
		struct symcache_function f = { (h.num_files + i) * 33, SYMCACHE_NONE, 0, 2 };
		memcpy(data + functions + i * sizeof(f), &f, sizeof(f));
	}
	for (uint32_t i = 0; i < ranges; i++) {
		struct symcache_source_location l = { i / 1900, i % 5000, i / 38, SYMCACHE_NONE };
		memcpy(data + locations + i * sizeof(l), &l, sizeof(l));
		memcpy(data + starts + i * sizeof(pc), &pc, sizeof(pc));
		pc += 1 + next_random(&state) % 32;
	}
	for (size_t i = 0; i < names; i++) {
		data[strings + i * 33] = 32;
		memset(data + strings + i * 33 + 1, 'a' + i % 26, 32);
	}
	return data;
}

/* The base of `cache` with an extension area that holds INDX alone. */
static void *with_index(const struct symcache *cache, size_t *size)
{
	uint32_t n = cache->header->num_ranges, last = cache->ranges[n - 1];
	uint32_t shift = symcache_index_shift(n, last);
	struct symcache_ext_section section = {
		.tag = SYMCACHE_EXT_TAG_INDEX,
		.entry_size = 4,
		.offset = (cache->base_size + 7) & ~(size_t)7,
		.size = 4 * (symcache_index_buckets(shift, last) + 2ull),
	};
	struct symcache_ext_footer footer = {
		.table_offset = (section.offset + section.size + 7) & ~7ull,
		.num_sections = 1,
		.version = SYMCACHE_EXT_VERSION,
		.magic = SYMCACHE_EXT_MAGIC, /* no hash: nobody verifies this */
	};
	uint32_t *index;
	uint8_t *data;

	*size = footer.file_size = footer.table_offset + sizeof(section) + sizeof(footer);
	data = calloc(1, *size);
	if (!data) {
		perror("lookup_bench");
		exit(2);
	}
	memcpy(data, cache->data, cache->base_size);
	index = (uint32_t *)(data + section.offset);
	index[0] = shift;
	symcache_index_fill(index + 1, shift, cache->ranges, n);
	memcpy(data + footer.table_offset, &section, sizeof(section));
	memcpy(data + *size - sizeof(footer), &footer, sizeof(footer));
	return data;
}

static double seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

enum what { LOOKUP, FIRST, ALL, ALL_WITH_PATH };

static uint64_t frames_seen, sink; /* keep the work from being optimized away */

static void look_up_all(const struct symcache *cache, const uint32_t *pcs, size_t n,
			enum what what)
{
	for (size_t i = 0; i < n; i++) {
		struct symcache_frames frames;
		struct symcache_frame frame;
		char path[512];

		if (!symcache_lookup(cache, pcs[i], &frames))
			continue;
		if (what == LOOKUP) {
			sink += frames.location;
			continue;
		}
		while (symcache_next_frame(&frames, &frame)) {
			frames_seen++;
			sink += frame.function.len + (uint8_t)*frame.function.ptr + frame.line;
			if (what == ALL_WITH_PATH)
				sink += symcache_path(&frame.file, SYMCACHE_PATH_CLEAN, path,
						      sizeof(path));
			if (what == FIRST)
				break;
		}
	}
}

static void measure(const struct symcache *cache, const uint32_t *pcs, size_t n,
		    enum what what, const char *label)
{
	double best = 1e9;

	look_up_all(cache, pcs, n, what);
	for (int round = 0; round < 5; round++) {
		double start = seconds(), took;

		frames_seen = 0;
		look_up_all(cache, pcs, n, what);
		took = seconds() - start;
		if (took < best)
			best = took;
	}
	printf("%-36s %7.1f ns", label, best * 1e9 / (double)n);
	if (frames_seen)
		printf("   %.2f frames", (double)frames_seen / (double)n);
	printf("\n");
}

static void measure_all(const void *data, size_t size, const uint32_t *pcs, size_t n)
{
	struct symcache cache;

	if (symcache_open(&cache, data, size, NULL))
		exit(2);
	printf("%zu look-ups in %u ranges, %zu bytes, base %zu, %s\n", n,
	       cache.header->num_ranges, size, cache.base_size,
	       cache.index ? "with INDX" : "without INDX");
	measure(&cache, pcs, n, LOOKUP, "look-up alone");
	measure(&cache, pcs, n, FIRST, "first frame with its names");
	measure(&cache, pcs, n, ALL, "all frames with their names");
	measure(&cache, pcs, n, ALL_WITH_PATH, "all frames with names and clean paths");
}

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 0) : 5000000, size;
	uint64_t state = 0x9e3779b97f4a7c15u;
	struct symcache cache;
	struct sc_error err;
	uint32_t *pcs, ranges;
	void *data;

	if (argc < 2 || argc > 3 || !n) {
		fprintf(stderr, "usage: lookup_bench CACHE|=RANGES [LOOKUPS]\n");
		return 2;
	}
	data = argv[1][0] == '=' ? make_cache((uint32_t)strtoul(argv[1] + 1, NULL, 0), &size) :
				   read_file(argv[1], &size);
	if (symcache_open(&cache, data, size, &err)) {
		fprintf(stderr, "%s: %s\n", argv[1], err.msg);
		return 2;
	}
	ranges = cache.header->num_ranges;
	pcs = malloc(n * sizeof(*pcs));
	if (!pcs || !ranges) {
		fprintf(stderr, "%s: no ranges, or no memory\n", argv[1]);
		return 2;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t r = (uint32_t)(next_random(&state) % ranges);
		uint32_t width = r + 1 < ranges ? cache.ranges[r + 1] - cache.ranges[r] : 1;

		pcs[i] = cache.ranges[r] + (uint32_t)(next_random(&state) % (width ? width : 1));
	}
	measure_all(data, size, pcs, n);
	if (!cache.index) {
		void *indexed = with_index(&cache, &size);

		measure_all(indexed, size, pcs, n);
		free(indexed);
	}
	free(pcs);
	free(data);
	return sink == 1; /* practically never */
}

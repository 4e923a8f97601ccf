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
 * A file without the section INDX is measured as it is, then with one added; both in
 * pages of 4 KiB, then in pages of 2 MiB.
 *
 * The first frame "by numbers" is its line, its column, and the numbers of its function
 * and file. That is what the first frame of `symbolic` is, whose figures our aims were
 * set by: it reads the source location, and the names when they are asked for.
 */
#include "format/symcache_index.h"
#include "libsymcache/read/read.h"
#include "scripts/bench.h"

#include <string.h>
#include <sys/mman.h>

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
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
		.magic = SYMCACHE_EXT_MAGIC, /* no hash: this is not verified */
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

enum { FRAMES = 8 }; /* of an address, in a batch */

static uint64_t frames_seen, sink; /* keep the work from being optimized away */

static void use_ids(const struct symcache_frame_ids *ids)
{
	frames_seen++;
	sink += ids->function + ids->file + ids->line + ids->column;
}

static void use_frame(const struct symcache_raw_frame *frame)
{
	frames_seen++;
	sink += frame->function.len + (uint8_t)*frame->function.ptr + frame->line;
}

/* The ways to look n addresses up. */
typedef void look_up_fn(const struct symcache *cache, const uint32_t *pcs, size_t n);

static void range_alone(const struct symcache *cache, const uint32_t *pcs, size_t n)
{
	struct symcache_frames frames;

	for (size_t i = 0; i < n; i++)
		if (symcache_lookup(cache, pcs[i], &frames))
			sink += frames.location;
}

static void first_ids(const struct symcache *cache, const uint32_t *pcs, size_t n)
{
	struct symcache_frames frames;
	struct symcache_frame_ids ids;

	for (size_t i = 0; i < n; i++)
		if (symcache_lookup(cache, pcs[i], &frames) && symcache_next_ids(&frames, &ids))
			use_ids(&ids);
}

static void first_frame(const struct symcache *cache, const uint32_t *pcs, size_t n)
{
	struct symcache_frames frames;
	struct symcache_raw_frame frame;

	for (size_t i = 0; i < n; i++)
		if (symcache_lookup(cache, pcs[i], &frames) && symcache_next_frame(&frames, &frame))
			use_frame(&frame);
}

static void all_frames(const struct symcache *cache, const uint32_t *pcs, size_t n)
{
	struct symcache_frames frames;
	struct symcache_raw_frame frame;

	for (size_t i = 0; i < n; i++)
		if (symcache_lookup(cache, pcs[i], &frames))
			while (symcache_next_frame(&frames, &frame))
				use_frame(&frame);
}

static void all_paths(const struct symcache *cache, const uint32_t *pcs, size_t n)
{
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	char path[512];

	for (size_t i = 0; i < n; i++) {
		if (!symcache_lookup(cache, pcs[i], &frames))
			continue;
		while (symcache_next_frame(&frames, &frame)) {
			use_frame(&frame);
			sink += symcache_path(&frame.file, SYMCACHE_PATH_CLEAN, path, sizeof(path));
		}
	}
}

/* The next of n addresses, looked up; returns how many. */
static size_t next_batch(const struct symcache *cache, const uint32_t *pcs, size_t n,
			 struct symcache_query q[SYMCACHE_BATCH])
{
	const size_t batch = n < SYMCACHE_BATCH ? n : SYMCACHE_BATCH;

	for (size_t i = 0; i < batch; i++)
		q[i] = (struct symcache_query){ .cache = cache, .rel_pc = pcs[i] };
	symcache_lookup_batch(q, batch);
	return batch;
}

static void first_ids_batch(const struct symcache *cache, const uint32_t *pcs, size_t n)
{
	struct symcache_frame_ids ids[SYMCACHE_BATCH];
	struct symcache_query q[SYMCACHE_BATCH];

	for (size_t i = 0, batch; i < n; i += batch) {
		batch = next_batch(cache, pcs + i, n - i, q);
		symcache_ids_batch(q, batch, ids, 1);
		for (size_t k = 0; k < batch; k++)
			if (q[k].num_frames)
				use_ids(&ids[k]);
	}
}

static void all_frames_batch(const struct symcache *cache, const uint32_t *pcs, size_t n)
{
	struct symcache_raw_frame frames[SYMCACHE_BATCH * FRAMES], frame;
	struct symcache_query q[SYMCACHE_BATCH];

	for (size_t i = 0, batch; i < n; i += batch) {
		batch = next_batch(cache, pcs + i, n - i, q);
		symcache_frames_batch(q, batch, frames, FRAMES);
		for (size_t k = 0; k < batch; k++) {
			for (uint32_t f = 0; f < q[k].num_frames; f++)
				use_frame(&frames[k * FRAMES + f]);
			while (symcache_next_frame(&q[k].frames, &frame))
				use_frame(&frame);
		}
	}
}

static void measure(look_up_fn *look_up, const struct symcache *cache, const uint32_t *pcs,
		    size_t n, const char *label)
{
	double best = 1e9;

	look_up(cache, pcs, n);
	for (int round = 0; round < 5; round++) {
		double start = bench_seconds(), took;

		frames_seen = 0;
		look_up(cache, pcs, n);
		took = bench_seconds() - start;
		if (took < best)
			best = took;
	}
	printf("%-38s %7.1f ns", label, best * 1e9 / (double)n);
	if (frames_seen)
		printf("   %.2f frames", (double)frames_seen / (double)n);
	printf("\n");
}

/* Of this process's memory, what is in pages of 2 MiB. */
static size_t huge_kib(void)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	size_t kib = 0;
	char line[200];

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "AnonHugePages: %zu", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

/* In a copy of the bytes on pages of one kind: MADV_HUGEPAGE or MADV_NOHUGEPAGE. */
static void measure_on(int pages, const void *data, size_t size, const uint32_t *pcs, size_t n)
{
	const size_t huge = (size_t)2 << 20, room = (size + huge - 1) & ~(huge - 1);
	void *copy = aligned_alloc(huge, room);
	struct symcache cache;

	if (!copy || madvise(copy, room, pages) || symcache_open(&cache, memcpy(copy, data, size),
								 size, NULL)) {
		printf("no such pages\n");
		free(copy);
		return;
	}
	printf("%zu look-ups in %u ranges, %zu bytes, base %zu, %s, %zu KiB in pages of 2 MiB\n", n,
	       cache.header->num_ranges, size, cache.base_size,
	       cache.index ? "with INDX" : "without INDX", huge_kib());
	measure(range_alone, &cache, pcs, n, "range alone");
	measure(first_ids, &cache, pcs, n, "first frame by numbers");
	measure(first_ids_batch, &cache, pcs, n, "first frame by numbers, in batches");
	measure(first_frame, &cache, pcs, n, "first frame with names");
	measure(all_frames, &cache, pcs, n, "all frames with names");
	measure(all_frames_batch, &cache, pcs, n, "all frames with names, in batches");
	measure(all_paths, &cache, pcs, n, "all frames with names and clean paths");
	free(copy);
}

static void measure_all(const void *data, size_t size, const uint32_t *pcs, size_t n)
{
	measure_on(MADV_NOHUGEPAGE, data, size, pcs, n);
	measure_on(MADV_HUGEPAGE, data, size, pcs, n);
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
				   bench_read_file(argv[1], &size);
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

/* Guards: whatever block of a cache is overwritten, a look-up gives what it gave before,
 * or it says that the cache is damaged. The cache is that of this program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "libsymcache/base/process.h"
#include "libsymcache/read/batch_check.h"
#include "libsymcache/read/guard_test.h"

enum { ADDRESSES = 60, TEXT = 1 << 16, FRAMES = 4 };

static void nothing(void)
{
}

/* The same hashes as those that are made together with the hash of the whole, in slices of any
 * number of threads. */
static void blocks_alone(void **state)
{
	enum { SLICE = 4 << 20, BYTES = 2 * SLICE + 5000 };
	static const size_t sizes[] = { 0, 1, SYMCACHE_GUARD_BLOCK, SLICE, SLICE + 1, BYTES };
	static const struct sc_process ours = { .heap = nothing, .descriptors = nothing };
	const struct sc_process *const before = sc_process;
	uint8_t *of_both = malloc(symcache_guard_table_size(BYTES));
	uint8_t *alone = malloc(symcache_guard_table_size(BYTES)), *memory = malloc(BYTES);

	(void)state;
	for (size_t i = 0; i < BYTES; i++)
		memory[i] = (uint8_t)(i * i >> 8);
	for (size_t i = 0; i < 2 * sizeof(sizes) / sizeof(*sizes); i++) {
		const size_t n = sizes[i / 2], table_size = symcache_guard_table_size(n);

		sc_process = i % 2 ? &ours : NULL;
		memset(alone, 0, table_size);
		symcache_guard_hash(memory, n, of_both);
		symcache_guard_blocks(memory, n, alone);
		assert_memory_equal(alone, of_both, table_size);
	}
	sc_process = before;
	free(of_both);
	free(alone);
	free(memory);
}

static int add(char *text, struct sc_str s)
{
	return sprintf(text, "%.*s|", (int)s.len, s.ptr ? s.ptr : "");
}

static int add_file(char *text, const struct symcache_file *f)
{
	int n = add(text, f->comp_dir);

	n += add(text + n, f->directory);
	return n + add(text + n, f->name);
}

static int add_frame(char *text, const struct symcache *cache, const struct symcache_raw_frame *f)
{
	const struct symcache_file decl_file = symcache_file(cache, f->decl_file_idx);
	int n = add(text, f->function);

	n += add_file(text + n, &f->file);
	n += add_file(text + n, &decl_file);
	return n + sprintf(text + n, "%u %u %u %u %u\n", f->lang, f->entry_pc, f->line, f->column,
			   f->decl_line);
}

/* All that can be asked about an address, as a text. */
static void ask(const struct symcache *cache, uint64_t pc, char *text)
{
	struct symcache_query query = { .cache = cache, .rel_pc = pc };
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	struct symcache_raw_frame in_batch[FRAMES];
	struct symcache_frame_ids ids;
	struct symcache_symbol symbol;
	struct symcache_data data;
	int n = sprintf(text, "%#zx ", (size_t)symcache_load_base(cache));

	if (symcache_lookup(cache, pc, &frames))
		while (symcache_next_frame(&frames, &frame))
			n += add_frame(text + n, cache, &frame);
	if (symcache_lookup(cache, pc, &frames))
		while (symcache_next_ids(&frames, &ids))
			n += sprintf(text + n, "%u %u %u %u\n", ids.function, ids.file, ids.line,
				     ids.column);
	symcache_lookup_batch(&query, 1);
	n += sprintf(text + n, "%u\n", query.frames.location);
	symcache_frames_batch(&query, 1, in_batch, FRAMES);
	for (uint32_t i = 0; i < query.num_frames; i++)
		n += add_frame(text + n, cache, &in_batch[i]);
	if (symcache_lookup_symbol(cache, pc, &symbol)) {
		n += add(text + n, symbol.name);
		n += add(text + n, symbol.file);
		n += sprintf(text + n, "%zu %zu\n", (size_t)symbol.rel_address,
			     (size_t)symbol.size);
	}
	if (symcache_lookup_data(cache, pc, &data)) {
		n += add(text + n, data.name);
		n += add_file(text + n, &data.file);
		n += sprintf(text + n, "%zu %zu %u", (size_t)data.rel_address, (size_t)data.size,
			     data.line);
	}
	for (size_t offset = 0x1000; offset < 1 << 20; offset += 1 << 19) {
		uint64_t vaddr = 0, of_code = 0;
		const bool in_file = symcache_vaddr_of_offset(cache, offset, &vaddr),
			   in_code = symcache_vaddr_of_code(cache, offset, &of_code);

		n += sprintf(text + n, "\n%d %zx %d %zx %d %d", in_file, (size_t)vaddr, in_code, (size_t)of_code,
			     symcache_may_be_code(cache, offset), symcache_has_offsets(cache));
	}
	assert_true(n < TEXT);
}

/* False: the guard found damage. */
static bool ask_guarded(uint64_t pc, char *text, size_t *tested)
{
	struct symcache_guard guard;
	struct symcache cache;
	bool valid;

	assert_true(symcache_guard_init(&guard, bytes, size, table));
	text[0] = 0;
	valid = !symcache_open_guarded(&cache, bytes, size, &guard, NULL);
	if (valid)
		ask(&cache, pc, text);
	valid = valid && !symcache_damaged(&cache);
	if (tested)
		*tested += guard.tested;
	symcache_guard_deinit(&guard);
	return valid;
}

static void no_damaged_byte_is_used(void **state)
{
	static char want[ADDRESSES][TEXT], got[TEXT];
	uint8_t kept[SYMCACHE_GUARD_BLOCK];
	const size_t blocks = symcache_guard_table_size(size) / 8;
	size_t found = 0, same = 0, tested = 0;

	(void)state;
	for (size_t a = 0; a < ADDRESSES; a++)
		assert_true(ask_guarded(last_pc * a / ADDRESSES, want[a], &tested));
	/* One look-up tests few of them. */
	assert_true(blocks > 50);
	assert_true(tested / ADDRESSES < blocks / 3);
	for (size_t b = 0; b < blocks; b++) {
		uint8_t *at = bytes + b * SYMCACHE_GUARD_BLOCK;
		size_t n = size - b * SYMCACHE_GUARD_BLOCK;

		n = n < SYMCACHE_GUARD_BLOCK ? n : SYMCACHE_GUARD_BLOCK;
		memcpy(kept, at, n);
		for (size_t i = 0; i < n; i++)
			at[i] ^= (uint8_t)(i * 7 + b + 1);
		for (size_t a = 0; a < ADDRESSES; a++) {
			bool valid = ask_guarded(last_pc * a / ADDRESSES, got, NULL);

			if (valid && strcmp(got, want[a]))
				fail_msg("block %zu of %zu, address %zu: %s", b, blocks, a, got);
			found += !valid;
			same += valid;
		}
		memcpy(at, kept, n);
	}
	assert_true(found > blocks);
	assert_true(same > blocks);
}

/* Whatever is asked before: also where so much was tested that the rest is, too. */
static void answers_stay(void **state)
{
	static char want[TEXT], got[TEXT];
	struct symcache_guard guard;
	struct symcache caches[2];

	(void)state;
	assert_int_equal(symcache_open(&caches[0], bytes, size, NULL), 0);
	for (int way = 0; way < 3; way++) { /* one by one, every 7th, from the end */
		assert_true(symcache_guard_init(&guard, bytes, size, table));
		assert_int_equal(symcache_open_guarded(&caches[1], bytes, size, &guard, NULL), 0);
		for (uint32_t i = 0; i < caches[0].header->num_ranges; i += 3) {
			const uint32_t n = caches[0].header->num_ranges, at = way == 2 ? n - 1 - i : i * (way ? 7 : 1) % n;

			ask(&caches[0], caches[0].ranges[at], want);
			ask(&caches[1], caches[0].ranges[at], got);
			if (strcmp(got, want))
				fail_msg("way %d, range %u: %s\nnot %s", way, at, got, want);
		}
		assert_true(guard.whole && !guard.damaged);
		symcache_guard_deinit(&guard);
	}
}

/* Batches find what single look-ups find, behind a guard and without one. */
static void batches(void **state)
{
	struct symcache_guard guard;
	struct symcache caches[2];
	uint64_t random = 1;

	(void)state;
	assert_true(symcache_guard_init(&guard, bytes, size, table));
	assert_int_equal(symcache_open(&caches[0], bytes, size, NULL), 0);
	assert_int_equal(symcache_open_guarded(&caches[1], bytes, size, &guard, NULL), 0);
	for (uint32_t r = 0; r < caches[0].header->num_ranges; r += BATCH_CHECK_MAX) {
		uint64_t pcs[BATCH_CHECK_MAX];

		for (uint32_t i = 0; i < BATCH_CHECK_MAX; i++) {
			const uint32_t at = (r + i) % caches[0].header->num_ranges;

			random = random * 6364136223846793005u + 1442695040888963407u;
			pcs[i] = i % 2 ? caches[0].ranges[at] + i % 3 - 1 :
					 (random >> 33) % last_pc;
		}
		for (int k = 0; k < 2; k++)
			assert_true(batch_is_same(&caches[k], pcs, BATCH_CHECK_MAX,
						  r / BATCH_CHECK_MAX % (BATCH_CHECK_FRAMES + 1),
						  UINT32_MAX));
	}
	assert_false(guard.damaged);
	symcache_guard_deinit(&guard);
}

/* Locations in batches are those that are found one by one; what is behind the queries is not touched. */
static void locations(void **state)
{
	enum { N = SYMCACHE_BATCH + 5, MOST = 4, ROOM = N + SYMCACHE_BATCH };
	static struct symcache_query q[ROOM];
	static uint32_t got[ROOM * MOST];
	struct symcache_frames frames;
	struct symcache cache;

	(void)state;
	assert_int_equal(symcache_open(&cache, bytes, size, NULL), 0);
	for (size_t i = 0; i < ROOM; i++)
		q[i] = (struct symcache_query){ .cache = &cache, .rel_pc = last_pc * (i % N) / N, .num_frames = 77 };
	symcache_locations_batch(q, N, got, MOST);
	for (size_t i = 0; i < ROOM; i++) {
		if (i >= N) {
			assert_int_equal(q[i].num_frames, 77);
			continue;
		}
		symcache_lookup(&cache, q[i].rel_pc, &frames);
		for (uint32_t k = 0; k < q[i].num_frames; k++)
			assert_int_equal(got[i * MOST + k], symcache_next_location(&frames));
		if (q[i].num_frames < MOST)
			assert_int_equal(symcache_next_location(&frames), SYMCACHE_NONE);
	}
}

/* What is asked often enough is tested as a whole, and asked no more. */
static void all_of_it(void **state)
{
	struct symcache_guard guard;
	struct symcache cache;
	uint64_t vaddr;

	(void)state;
	assert_true(symcache_guard_init(&guard, bytes, size, table));
	assert_int_equal(symcache_open_guarded(&cache, bytes, size, &guard, NULL), 0);
	assert_false(guard.whole);
	assert_true(symcache_valid(&cache, bytes, size * 2 / 3));
	assert_true(guard.whole);
	symcache_guard_deinit(&guard);
	/* A bit behind the part that is asked for. */
	assert_true(symcache_guard_init(&guard, bytes, size, table));
	bytes[size - 1] ^= 4;
	assert_false(symcache_guard_check(&guard, bytes, size * 2 / 3));
	bytes[size - 1] ^= 4;
	assert_true(guard.damaged);
	assert_false(symcache_guard_check(&guard, bytes, 1)); /* it stays so */
	assert_false(symcache_guard_check(&guard, bytes + size, 1));
	symcache_guard_deinit(&guard);
	/* Nothing is in order; and no address is that of an offset, once there is damage. */
	assert_true(symcache_guard_init(&guard, bytes, size, table));
	assert_true(symcache_guard_check(&guard, bytes, 0));
	assert_int_equal(symcache_open_guarded(&cache, bytes, size, &guard, NULL), 0);
	assert_true(cache.num_segments);
	assert_true(symcache_vaddr_of_offset(&cache, cache.segments[0].offset, &vaddr));
	assert_true(symcache_has_offsets(&cache));
	guard.damaged = true;
	assert_false(symcache_vaddr_of_offset(&cache, cache.segments[0].offset, &vaddr));
	assert_false(symcache_has_offsets(&cache));
	symcache_guard_deinit(&guard);
	/* What is expected to be read often is tested at once. */
	assert_true(symcache_guard_init(&guard, bytes, size, table));
	symcache_guard_expect(&guard, guard.blocks);
	assert_int_equal(guard.tested, 0);
	symcache_guard_expect(&guard, 1000 * guard.blocks);
	assert_true(guard.whole);
	symcache_guard_deinit(&guard);
	assert_true(symcache_guard_init(&guard, bytes, size, table));
	bytes[size - 1] ^= 4;
	symcache_guard_expect(&guard, SIZE_MAX);
	bytes[size - 1] ^= 4;
	assert_true(guard.damaged && !guard.whole);
	symcache_guard_deinit(&guard);
}

/* KiB of the map at `at`, which may have parts, that this process has in its page table. */
static size_t resident(const void *at, size_t span)
{
	const size_t begin = (size_t)at;
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[1000];
	size_t kib = 0, from = 0, part;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%zx-%zx ", &part, &(size_t){ 0 }) == 2)
			from = part;
		else if (from >= begin && from < begin + span && sscanf(line, "Rss: %zu", &part) == 1)
			kib += part;
	}
	fclose(f);
	return kib;
}

/* Of a large cache in a file few pages stay mapped; what is in other memory stays. */
static void pages_are_given_back(void **state)
{
	enum { BLOCKS = 8000, KEPT = 384, BYTES = BLOCKS * SYMCACHE_GUARD_BLOCK };
	uint8_t *hashes = malloc(symcache_guard_table_size(BYTES)), *memory = malloc(BYTES), *map;
	FILE *f = tmpfile();

	(void)state;
	assert_non_null(f);
	for (size_t i = 0; i < BYTES; i++)
		memory[i] = (uint8_t)(i * i >> 8);
	symcache_guard_hash(memory, BYTES, hashes);
	assert_int_equal(fwrite(memory, 1, BYTES, f), BYTES);
	assert_int_equal(fflush(f), 0);
	map = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fileno(f), 0);
	assert_ptr_not_equal(map, MAP_FAILED);
	for (int mapped = 0; mapped < 2; mapped++) {
		const uint8_t *at = mapped ? map : memory;
		struct symcache_guard guard;

		assert_true(symcache_guard_init(&guard, at, BYTES, hashes));
		guard.mapped = mapped;
		for (size_t i = 0; i < 2 * KEPT; i++) {
			assert_true(symcache_guard_check(&guard, at + i * 10 * SYMCACHE_GUARD_BLOCK,
							 1));
			if (mapped && i + 1 == KEPT)
				assert_int_equal(resident(map, BYTES), 0);
		}
		assert_int_equal(guard.tested, 2 * KEPT);
		if (mapped) /* the log is not short */
			assert_int_not_equal(resident(map, BYTES), 0);
		/* What was given back is there when it is asked for. */
		assert_true(symcache_guard_check(&guard, at, BYTES));
		assert_true(guard.whole);
		symcache_guard_deinit(&guard);
		assert_memory_equal(map, memory, BYTES);
		/* Where many reads are expected, that goes on for longer. */
		assert_true(symcache_guard_init(&guard, at, BYTES, hashes));
		guard.mapped = mapped;
		symcache_guard_expect(&guard, BLOCKS);
		for (size_t i = 0; i < 2 * KEPT; i++)
			assert_true(symcache_guard_check(&guard, at + i * 10 * SYMCACHE_GUARD_BLOCK,
							 1));
		if (mapped)
			assert_int_equal(resident(map, BYTES), 0);
		symcache_guard_deinit(&guard);
	}
	munmap(map, BYTES);
	fclose(f);
	free(memory);
	free(hashes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_damaged_byte_is_used), cmocka_unit_test(batches), cmocka_unit_test(answers_stay),
		cmocka_unit_test(locations),
		cmocka_unit_test(all_of_it), cmocka_unit_test(blocks_alone),
		cmocka_unit_test(pages_are_given_back),
	};

	return cmocka_run_group_tests_name("guard", tests, setup, teardown);
}

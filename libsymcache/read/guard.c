/*
 * Blocks against their hashes: see guard.h.
 *
 * A block costs 0.4 µs once, and a byte of memory. XXH3 finds accidents, not malice:
 * whoever can change a store can change its hashes as well.
 */
#include "libsymcache/read/guard.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include <xxhash.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/process.h"

/*
 * When the pages of a map are given back. A fault maps the 16 pages around it, and more where the
 * page cache has large folios, two megabytes after indexing, if the map is not parted. Each time
 * costs some 40 µs, for mapping again what is needed again; SHARE bounds what that is in all.
 */
enum {
	LARGE = 16 << 20, /* bytes of a map that is parted, and … */
	PARTED = 4,       /* … blocks that are tested before */
	KEPT = 384,       /* before pages are given back, and again */
	SHARE = 20,       /* it ends when 1/SHARE of them are: the log is not short */
	MANY_SHARE = 4,   /* the same where many reads are expected */
};

enum { READS_OF_A_TEST = 64 }; /* of a block that was tested cost what testing one costs */

static size_t block_size(size_t size, size_t block)
{
	size_t left = size - block * SYMCACHE_GUARD_BLOCK;

	return left < SYMCACHE_GUARD_BLOCK ? left : SYMCACHE_GUARD_BLOCK;
}

struct hashing {
	const uint8_t *data;
	size_t size;
	uint8_t *table;
};

static void hash_block(const struct hashing *h, size_t i)
{
	const uint64_t hash = htole64(XXH3_64bits(h->data + i * SYMCACHE_GUARD_BLOCK,
						  block_size(h->size, i)));

	memcpy(h->table + i * sizeof(hash), &hash, sizeof(hash));
}

enum { SLICE = (4 << 20) / SYMCACHE_GUARD_BLOCK }; /* blocks of a job */

static void hash_slice(void *ctx, unsigned worker, size_t job)
{
	const struct hashing *h = ctx;
	const size_t blocks = symcache_guard_table_size(h->size) / sizeof(uint64_t);

	(void)worker;
	for (size_t i = job * SLICE; i < blocks && i < (job + 1) * SLICE; i++)
		hash_block(h, i);
}

void symcache_guard_blocks(const void *data, size_t size, uint8_t *table)
{
	const size_t blocks = symcache_guard_table_size(size) / sizeof(uint64_t);

	sc_parallel(blocks > SLICE && sc_process_is_ours() ? sc_cores() : 1,
		    (blocks + SLICE - 1) / SLICE, hash_slice,
		    &(struct hashing){ data, size, table });
}

uint64_t symcache_guard_hash(const void *data, size_t size, uint8_t *table)
{
	const struct hashing h = { data, size, table };
	const size_t blocks = symcache_guard_table_size(size) / sizeof(uint64_t);
	XXH3_state_t whole;

	XXH3_64bits_reset(&whole);
	for (size_t i = 0; i < blocks; i++) {
		hash_block(&h, i);
		XXH3_64bits_update(&whole, h.data + i * SYMCACHE_GUARD_BLOCK, block_size(size, i));
	}
	return XXH3_64bits_digest(&whole);
}

bool symcache_guard_init(struct symcache_guard *guard, const void *data, size_t size,
			 const void *hashes)
{
	const size_t blocks = symcache_guard_table_size(size) / sizeof(uint64_t);

	*guard = (struct symcache_guard){
		.data = data, .size = size, .hashes = hashes, .blocks = blocks,
		.valid = calloc(blocks + 1, sizeof(*guard->valid)),
	};
	return guard->valid;
}

void symcache_guard_deinit(struct symcache_guard *guard)
{
	free((void *)guard->valid);
	*guard = (struct symcache_guard){ 0 };
}

/* A fault maps a folio of the page cache as a whole only where that does not leave the map's part:
 * so parts alternate in a flag that matters to core dumps alone. */
static void part_map(const struct symcache_guard *guard)
{
	const uintptr_t part = 512 << 10;
	const uintptr_t from = (uintptr_t)guard->data / part + 1,
			end = ((uintptr_t)guard->data + guard->size) / part;

	for (uintptr_t i = from; i < end; i += 2)
		madvise((void *)(i * part), part, MADV_DONTDUMP);
}

/* Another block is valid. */
static void count_block(struct symcache_guard *guard)
{
	const size_t tested = atomic_fetch_add(&guard->tested, 1) + 1;

	if (guard->mapped && tested == PARTED && guard->size >= LARGE)
		part_map(guard);
	if (guard->mapped && tested % KEPT == 0 &&
	    tested <= guard->blocks / (guard->many ? MANY_SHARE : SHARE))
		sc_big_drop(guard->data, guard->size);
}

static bool test_block(struct symcache_guard *guard, size_t block)
{
	uint64_t want;

	if (atomic_load_explicit(&guard->valid[block], memory_order_relaxed))
		return true;
	memcpy(&want, guard->hashes + block * sizeof(want), sizeof(want));
	if (XXH3_64bits(guard->data + block * SYMCACHE_GUARD_BLOCK,
			block_size(guard->size, block)) != le64toh(want)) {
		guard->damaged = true;
		return false;
	}
	if (!atomic_exchange(&guard->valid[block], 1))
		count_block(guard);
	return true;
}

static bool test_all(struct symcache_guard *guard)
{
	for (size_t i = 0; i < guard->blocks; i++)
		if (!test_block(guard, i))
			return false;
	guard->whole = true;
	return true;
}

void symcache_guard_expect(struct symcache_guard *guard, size_t reads)
{
	if (reads >= guard->blocks / MANY_SHARE)
		guard->many = true;
	if (!guard->whole && !guard->damaged && reads / READS_OF_A_TEST >= guard->blocks)
		test_all(guard);
}

bool symcache_guard_check(struct symcache_guard *guard, const void *at, size_t bytes)
{
	size_t offset = (size_t)((const uint8_t *)at - guard->data), last;

	if (guard->damaged)
		return false;
	if (!bytes)
		return true;
	last = (offset + bytes - 1) / SYMCACHE_GUARD_BLOCK;
	for (size_t i = offset / SYMCACHE_GUARD_BLOCK; i <= last; i++)
		if (i >= guard->blocks || !test_block(guard, i))
			return false;
	return guard->tested <= guard->blocks / 2 || test_all(guard);
}

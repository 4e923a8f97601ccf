/*
 * guard.h: checks the bytes of a cache before they are read.
 *
 * A cache may be kept for years on disks that lose bits, so the store keeps a hash of
 * each of its blocks. A guard compares a block with its hash when a look-up first
 * needs it, so that a look-up in 80 MB reads some pages, not all of them. A damaged
 * block is not used: the look-up finds nothing, and symcache_damaged() is true.
 *
 * The kernel maps many pages around each one that is touched. While few blocks of a
 * mapped file were needed, the guard unmaps them now and then: they stay in the page
 * cache, and a short log does not take memory for the whole cache.
 *
 * A guard may be used by any number of threads; at worst two hash the same block.
 */
#ifndef SYMCACHE_GUARD_H
#define SYMCACHE_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SYMCACHE_GUARD_BLOCK = 4096 }; /* bytes; the last block may be shorter */

struct symcache_guard {
	const uint8_t *data;        /* the cache */
	size_t size;
	const uint8_t *hashes;      /* XXH3-64 of each block, little-endian; trusted */
	uint64_t identity;          /* the owner's: tells one cache from another */
	bool mapped;                /* set by the owner: `data` is a shared map of a file */
	_Atomic uint8_t *valid;     /* by block: 1: checked, and as it was written */
	size_t blocks;
	atomic_size_t tested;       /* number of blocks that were checked */
	atomic_bool whole;          /* all blocks are valid */
	atomic_bool many;           /* symcache_guard_expect() announced many reads */
	atomic_bool damaged;        /* a block is damaged: from now on none may be read */
};

/* Bytes that the hashes of a cache of `size` bytes take. */
static inline size_t symcache_guard_table_size(size_t size)
{
	return (size / SYMCACHE_GUARD_BLOCK + (size % SYMCACHE_GUARD_BLOCK != 0)) *
	       sizeof(uint64_t);
}

/* Writes the hashes of the blocks to `table`; of large caches on all cores, if the process is ours. */
void symcache_guard_blocks(const void *data, size_t size, uint8_t *table);

/* The same, and returns the XXH3-64 of the whole cache. */
uint64_t symcache_guard_hash(const void *data, size_t size, uint8_t *table);

/* A guard that has checked nothing yet. `data` and `hashes` must live as long as it is
 * used. False: out of memory. */
bool symcache_guard_init(struct symcache_guard *guard, const void *data, size_t size,
			 const void *hashes);
void symcache_guard_deinit(struct symcache_guard *guard); /* all zero is fine */

/* Are the blocks of at[0, bytes) valid? Once half of all blocks are, it checks the others,
 * too, and sets `whole`. Call symcache_valid() instead, which is faster then. */
bool symcache_guard_check(struct symcache_guard *guard, const void *at, size_t bytes);

/* Is at[0, bytes) in one block that was found valid before? False: symcache_guard_check() knows. */
static inline bool symcache_guard_knows(const struct symcache_guard *guard, const void *at,
					size_t bytes)
{
	const size_t begin = (size_t)((const uint8_t *)at - guard->data),
		     block = begin / SYMCACHE_GUARD_BLOCK;

	return (begin + bytes - 1) / SYMCACHE_GUARD_BLOCK == block && block < guard->blocks &&
	       atomic_load_explicit(&guard->valid[block], memory_order_relaxed) &&
	       !atomic_load_explicit(&guard->damaged, memory_order_relaxed);
}

/* Announces a number of reads: checks all blocks now if that is cheaper than checking at each read;
 * if there are many, pages are unmapped for longer. */
void symcache_guard_expect(struct symcache_guard *guard, size_t reads);

#endif

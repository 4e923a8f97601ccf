/*
 * guard.h: tests the bytes of a cache before they are read.
 *
 * A cache may lie for years, and disks forget. Whoever keeps one also keeps a hash
 * of each of its blocks; a guard compares a block with its hash when a look-up first
 * needs it, so that one look-up in 80 MB reads some pages, not all of them. What is
 * not as it was written is not read: the look-up finds nothing, and
 * symcache_damaged() says why.
 *
 * The kernel maps many pages around each one that is touched. Of a cache in a map of a
 * file the guard gives them back now and then, as long as few blocks were needed: they
 * stay in the page cache, and a short log does not take the memory of the whole.
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
	uint64_t identity;          /* for the owner: what the bytes are */
	bool mapped;                /* for the owner to set: a shared map of a file */
	_Atomic uint8_t *valid;     /* by block: 1: tested and as it was written */
	size_t blocks;
	atomic_size_t tested;       /* blocks */
	atomic_bool whole;          /* all are valid */
	atomic_bool many;           /* reads were expected */
	atomic_bool damaged;        /* one is not: none is given out from now on */
};

/* Bytes that the hashes of a cache of `size` bytes take. */
static inline size_t symcache_guard_table_size(size_t size)
{
	return (size / SYMCACHE_GUARD_BLOCK + (size % SYMCACHE_GUARD_BLOCK != 0)) *
	       sizeof(uint64_t);
}

/* Writes them to `table`, and returns the XXH3-64 of the cache as a whole. */
uint64_t symcache_guard_hash(const void *data, size_t size, uint8_t *table);

/* Begins with nothing tested. `data` and `hashes` must live as long as the guard is
 * used. false: out of memory. */
bool symcache_guard_init(struct symcache_guard *guard, const void *data, size_t size,
			 const void *hashes);
void symcache_guard_deinit(struct symcache_guard *guard); /* all zero is fine */

/* Are the blocks of at[0, bytes) valid? Once half of all are, it tests the others,
 * too, and is asked no more. Use symcache_valid(). */
bool symcache_guard_check(struct symcache_guard *guard, const void *at, size_t bytes);

/* So many reads are to come: tests all blocks if that is cheaper than asking each time; if they
 * are many, pages are given back less often. */
void symcache_guard_expect(struct symcache_guard *guard, size_t reads);

#endif

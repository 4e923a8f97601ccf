/*
 * The two meta pages of an LMDB 0.9 file: see pages.h.
 *
 * Page 0 and 1 are meta pages, each a snapshot; a commit writes new pages, then
 * the older of the two. Integers are the writer's own; size_t is the page number.
 *
 * Linux lets a reader see a write() half done: of two commits that happen during a read,
 * the second changes the page that is read. So they are read until they stay as they are.
 */
#include <byteswap.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libsymcache/store/pages.h"

enum {
	MAGIC = (int)0xbeefc0de, DATA_VERSION = 1,
	MIN_PAGE = 512, MAX_PAGE = 0x10000,
	TRIES = 50, /* a millisecond each: a writer may be interrupted, too */
};

/* LMDB's own struct, for its layout. */
struct meta {
	uint32_t magic, version;
	void *address;
	size_t map_size;
	struct symstore_tree trees[2]; /* trees[0].pad is the page size */
	size_t last_page, txn;
};

static int meta_read(int fd, off_t offset, struct meta *ret, struct sc_error *err)
{
	struct { struct symstore_page header; struct meta meta; } page;
	uint32_t words[2 * sizeof(size_t)];
	ssize_t n = pread(fd, &page, sizeof(page), offset);

	if (n < 0)
		return sc_error_sys(err, "cannot read");
	memset((uint8_t *)&page + n, 0, sizeof(page) - (size_t)n);
	*ret = page.meta;
	if (ret->magic != (uint32_t)MAGIC || !(page.header.flags & SYMSTORE_PAGE_META)) {
		/* The headers of 32-bit and 64-bit machines are 12 and 16 bytes. */
		memcpy(words, &page, sizeof(words));
		for (size_t i = 3; i <= 4 && ret->magic != (uint32_t)MAGIC; i++)
			if (words[i] == (uint32_t)MAGIC || words[i] == bswap_32((uint32_t)MAGIC))
				return sc_error_set(err, SC_EUNSUPPORTED,
						    "damaged, or written on a "
						    "machine of another word size or byte order");
		return sc_error_set(err, SC_EFORMAT, offset ? "damaged: no meta page at offset %lld" :
				    "not a store: no LMDB meta page at offset %lld", (long long)offset);
	}
	if (ret->version != DATA_VERSION)
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "LMDB data version %u; this program knows %d", ret->version,
				    DATA_VERSION);
	return 0;
}

static int page_size_check(size_t page_size, struct sc_error *err)
{
	return page_size >= MIN_PAGE && page_size <= MAX_PAGE && !(page_size & (page_size - 1)) ?
		0 : sc_error_set(err, SC_EFORMAT, "damaged: a page size of %zu", page_size);
}

static int meta_check(const struct meta *m, size_t page_size, struct sc_error *err)
{
	if (m->trees[0].pad != page_size) /* LMDB goes by that of the page it chooses */
		return sc_error_set(err, SC_EFORMAT, "damaged: a page size of %u, and of %zu",
				    (unsigned)m->trees[0].pad, page_size);
	if (m->last_page < 1 || m->last_page >= SIZE_MAX / page_size)
		return sc_error_set(err, SC_EFORMAT, "damaged: %zu as the last page", m->last_page);
	for (int i = 0; i < 2; i++) {
		const struct symstore_tree *t = &m->trees[i];

		if (t->root != SIZE_MAX && (t->root < 2 || t->root > m->last_page ||
					    !t->depth || t->depth > SYMSTORE_MAX_DEPTH))
			return sc_error_set(err, SC_EFORMAT, "damaged: tree %d has root page %zu of %zu "
					    "and depth %u", i, t->root, m->last_page, t->depth);
	}
	return 0;
}

/* Both meta pages, and which of them is the snapshot asked for. Only that one is judged:
 * after a commit whose meta page could not be written LMDB puts old numbers into the page, not
 * all, so that it is not chosen. *final: an error will not go away. */
static int metas_read(int fd, size_t txn, struct meta metas[2], int *chosen, bool *final,
		      struct sc_error *err)
{
	size_t page_size;
	int rc;

	memset(metas, 0, 2 * sizeof(*metas));
	*final = true;
	if ((rc = meta_read(fd, 0, &metas[0], err)))
		return rc;
	page_size = metas[0].trees[0].pad;
	*final = false;
	if ((rc = page_size_check(page_size, err)) ||
	    (rc = meta_read(fd, (off_t)page_size, &metas[1], err)))
		return rc;
	*chosen = metas[0].txn < metas[1].txn;
	if (txn != SYMSTORE_ANY_TXN && metas[*chosen].txn != txn)
		*chosen = !*chosen;
	if (txn != SYMSTORE_ANY_TXN && metas[*chosen].txn != txn)
		return sc_error_set(err, SC_ENOTFOUND, "transaction %zu is no longer there", txn);
	return meta_check(&metas[*chosen], page_size, err);
}

static int metas_read_whole(int fd, size_t txn, struct meta metas[2], int *chosen,
			    struct sc_error *err)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct meta before[2];
	bool final;
	int rc = metas_read(fd, txn, metas, chosen, &final, err);

	for (int i = 0; i < TRIES && !final; i++) {
		memcpy(before, metas, sizeof(before));
		if (rc && rc != SC_ENOTFOUND)
			nanosleep(&pause, NULL);
		rc = metas_read(fd, txn, metas, chosen, &final, err);
		final |= (!rc || rc == SC_ENOTFOUND) && !memcmp(before, metas, sizeof(before));
	}
	return rc;
}

int symstore_snapshot_read(int fd, size_t txn, struct symstore_snapshot *ret,
			   struct sc_error *err)
{
	struct meta metas[2];
	const struct meta *m;
	struct stat st;
	size_t page_size;
	int chosen = 0, rc = metas_read_whole(fd, txn, metas, &chosen, err);

	if (rc)
		return rc;
	m = &metas[chosen];
	page_size = metas[0].trees[0].pad;
	/* A file may be shorter than its last page: LMDB does not write pages that
	 * it took and freed in one transaction. But not by gigabytes. */
	if (fstat(fd, &st))
		return sc_error_sys(err, "cannot read");
	if (m->last_page > (size_t)st.st_size / page_size + (1u << 20))
		return sc_error_set(err, SC_EFORMAT,
				    "damaged: cut off at %lld bytes, it has %zu pages",
				    (long long)st.st_size, m->last_page + 1);
	*ret = (struct symstore_snapshot){
		.page_size = page_size,
		.last_page = m->last_page,
		.txn = m->txn,
		.file_size = (uint64_t)st.st_size,
		.trees = { m->trees[0], m->trees[1] },
	};
	return 0;
}

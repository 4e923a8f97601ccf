/*
 * The memory map: how large it is, and when it may be moved.
 *
 * A map costs address space only, so it is made far larger than the file: then
 * readers, of this and of other processes, go on undisturbed while the store
 * grows. Where address space is limited (32 bits, ulimit -v), the map is as
 * large as can be had, and moves when the file outgrows it. LMDB unmaps before
 * it maps: that must not happen under a reader of this process, and must not
 * fail half-way. So a remap waits for the readers, and tries first whether the
 * address space is there. LMDB does not say where its map is, and we read without
 * it: so there is a second one.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libsymcache/store/parts.h"

/* Enough for every store that fits on a disk of today; addresses have 47 bits. */
#define MAP_ROOMY (sizeof(size_t) > 4 ? (uint64_t)1 << 40 : (uint64_t)1 << 28)

static bool address_space(size_t size)
{
	void *p = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return p != MAP_FAILED && !munmap(p, size);
}

size_t symstore_map_size(uint64_t used, uint64_t roomy)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), size = roomy ? roomy : MAP_ROOMY;

	used = (used + page - 1) / page * page;
	while (size / 4 < used && size <= SIZE_MAX / 8)
		size *= 2;
	/* It is mapped twice, and as much again stays free for the rest of the process. */
	while (size > used && (size > SIZE_MAX / 3 || !address_space((size_t)size * 3)))
		size = size / 2 / page * page;
	if (size > used)
		return (size_t)size;
	return used <= SIZE_MAX / 2 && address_space((size_t)used * 2) ? (size_t)used : 0;
}

int symstore_map(struct symstore *store, struct sc_error *err)
{
	MDB_envinfo info;
	void *map;
	int fd;

	symstore_unmap(store);
	mdb_env_info(store->env, &info);
	mdb_env_get_fd(store->env, &fd);
	map = mmap(NULL, info.me_mapsize, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return sc_error_sys(err, "store %s: cannot map %zu bytes", store->path,
				    info.me_mapsize);
	store->map = map;
	store->map_size = info.me_mapsize;
	return 0;
}

void symstore_unmap(struct symstore *store)
{
	if (store->map)
		munmap((void *)store->map, store->map_size);
	store->map = NULL;
}

void symstore_release_pages(struct symstore *store)
{
	pthread_mutex_lock(&store->lock);
	if (store->map)
		madvise((void *)store->map, store->map_size, MADV_DONTNEED);
	pthread_mutex_unlock(&store->lock);
}

static bool reads_here(const struct symstore *store)
{
	for (struct symstore_reader *r = store->readers; r; r = r->next)
		if (pthread_equal(r->owner, pthread_self()))
			return true;
	return false;
}

int symstore_remap(struct symstore *store, uint64_t size, struct sc_error *err)
{
	MDB_envinfo info;
	size_t map;
	int rc = 0;

	pthread_mutex_lock(&store->lock);
	if (reads_here(store)) {
		pthread_mutex_unlock(&store->lock);
		return sc_error_set(err, SC_EINVAL, "store %s: the map must grow, but this thread "
				    "has a reader open", store->path);
	}
	store->remapping = true;
	while (store->readers)
		pthread_cond_wait(&store->changed, &store->lock);
	mdb_env_info(store->env, &info);
	if (size < ((uint64_t)info.me_last_pgno + 1) * store->page_size)
		size = ((uint64_t)info.me_last_pgno + 1) * store->page_size;
	if (size > info.me_mapsize) {
		symstore_unmap(store);
		map = symstore_map_size(size, store->roomy);
		rc = map ? mdb_env_set_mapsize(store->env, map) : ENOMEM;
		store->lost = (map && rc) || symstore_map(store, err);
		if (!rc && store->lost)
			rc = SC_ENOMEM;
		else if (rc)
			rc = symstore_fail(store, rc, err, "cannot map %llu bytes",
					   (unsigned long long)size);
	}
	store->remapping = false;
	pthread_cond_broadcast(&store->changed);
	pthread_mutex_unlock(&store->lock);
	return rc;
}

int symstore_txn_begin(struct symstore *store, unsigned flags, MDB_txn **ret,
		       struct sc_error *err)
{
	int rc;

	*ret = NULL;
	while (!store->lost &&
	       (rc = mdb_txn_begin(store->env, NULL, flags, ret)) == MDB_MAP_RESIZED)
		if ((rc = symstore_remap(store, 0, err)))
			return rc;
	if (store->lost)
		return sc_error_set(err, SC_ENOMEM, "store %s has lost its map", store->path);
	return rc ? symstore_fail(store, rc, err, "cannot begin") : 0;
}

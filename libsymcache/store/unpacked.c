/*
 * Caches of packed entries, unpacked when they are first needed.
 *
 * All readers of a store share them. A reader has what it asked for until it ends, or lets go of
 * it; what no one has stays in memory, as the next log asks for the same modules, but for what was
 * not needed for longest once there are more than store->unpacked_most bytes. What must be there
 * beyond that lies in a file without a name in $TMPDIR, else /var/tmp, which the kernel can write
 * out. One thread unpacks at a time; another that wants the same entry waits, and finds it.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/file.h"
#include "libsymcache/packed/packed.h"
#include "libsymcache/store/parts.h"

struct symstore_unpacked {
	struct symstore_unpacked *next; /* the one before was asked for later */
	uint64_t packed_size, packed_hash, cache_size; /* by which it is known */
	struct packed_caches heap;      /* of one cache; or */
	void *file;                     /* a map of a file without a name */
	const void *data;
	unsigned readers;
};

struct symstore_held {
	struct symstore_held *next;
	struct symstore_unpacked *what;
};

static void destroy(struct symstore_unpacked *u)
{
	if (u->file)
		munmap(u->file, u->cache_size);
	packed_caches_deinit(&u->heap);
	free(u);
}

/* Frees what no one has and was not asked for for longest, until no more than so many bytes in
 * memory are left, or all is in use. Returns how many are left. */
static uint64_t shrink(struct symstore *store, uint64_t most)
{
	uint64_t kept = 0;

	for (const struct symstore_unpacked *u = store->unpacked; u; u = u->next)
		kept += u->readers && !u->file ? u->cache_size : 0;
	for (struct symstore_unpacked **at = &store->unpacked, *u; (u = *at);) {
		if (!u->readers && (u->file || kept + u->cache_size > most)) {
			*at = u->next;
			destroy(u);
			continue;
		}
		kept += u->readers ? 0 : u->cache_size;
		at = &u->next;
	}
	return kept;
}

/* Moves it into a file; where there is none to be had, it stays in memory. */
static void move_out(struct symstore_unpacked *u)
{
	int fd __attribute__((cleanup(sc_close_fd))) = sc_nameless_file(sc_temp_folder());
	void *map;

	if (fd < 0 || sc_write_all(fd, u->data, u->cache_size))
		return;
	map = mmap(NULL, u->cache_size, PROT_READ, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return;
	u->data = u->file = map;
	packed_caches_deinit(&u->heap);
}

static int unpack(struct symstore *store, const struct symstore_entry *entry, const uint8_t *value,
		  struct symstore_unpacked **ret, struct sc_error *err)
{
	const uint64_t size = entry->cache_size, most = store->unpacked_most;
	const uint64_t kept = shrink(store, size < most ? most - size : 0);
	struct symstore_unpacked *u = calloc(1, sizeof(*u));
	int rc;

	if (!u)
		return sc_no_memory(err);
	rc = symstore_unpack(entry, value, &u->heap, err);
	if (rc) {
		free(u);
		return rc;
	}
	u->data = u->heap.caches->data;
	u->packed_size = entry->packed_size;
	u->packed_hash = entry->packed_hash;
	u->cache_size = size;
	if (kept && kept + size > most)
		move_out(u);
	*ret = u;
	return 0;
}

/* Takes it out of the list. NULL: it is not unpacked. */
static struct symstore_unpacked *take(struct symstore *store, const struct symstore_entry *entry)
{
	struct symstore_unpacked **at = &store->unpacked, *u;

	while ((u = *at) &&
	       (u->packed_hash != entry->packed_hash || u->cache_size != entry->cache_size ||
		u->packed_size != entry->packed_size))
		at = &u->next;
	if (u)
		*at = u->next;
	return u;
}

static int get_locked(struct symstore_reader *reader, const struct symstore_entry *entry,
		      const uint8_t *value, const void **data, struct sc_error *err)
{
	struct symstore *store = reader->store;
	struct symstore_unpacked *u = take(store, entry);
	struct symstore_held *held = reader->held;
	int rc = u ? 0 : unpack(store, entry, value, &u, err);

	if (rc)
		return rc;
	u->next = store->unpacked;
	store->unpacked = u;
	while (held && held->what != u)
		held = held->next;
	if (!held) {
		if (!(held = malloc(sizeof(*held))))
			return sc_no_memory(err);
		*held = (struct symstore_held){ reader->held, u };
		reader->held = held;
		u->readers++;
	}
	*data = u->data;
	return 0;
}

int symstore_get_unpacked(struct symstore_reader *reader, const struct symstore_entry *entry,
			  const uint8_t *value, const void **data, struct sc_error *err)
{
	int rc;

	pthread_mutex_lock(&reader->store->unpacked_lock);
	rc = get_locked(reader, entry, value, data, err);
	pthread_mutex_unlock(&reader->store->unpacked_lock);
	return rc;
}

void symstore_let_go(struct symstore_reader *reader)
{
	struct symstore *store = reader->store;

	if (!reader->held)
		return;
	pthread_mutex_lock(&store->unpacked_lock);
	for (struct symstore_held *held; (held = reader->held);) {
		reader->held = held->next;
		held->what->readers--;
		free(held);
	}
	shrink(store, store->unpacked_most);
	pthread_mutex_unlock(&store->unpacked_lock);
}

void symstore_drop_unpacked(struct symstore *store)
{
	shrink(store, 0);
}

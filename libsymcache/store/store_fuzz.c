/*
 * Fuzz target: a file as a store, as those who only read it see it: its entries, their caches,
 * packed or not, and what belongs to it. Its mutator knows pages and records.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/read/read.h"
#include "libsymcache/store/lmdb_fields.h"
#include "libsymcache/store/store.h"
#include "libsymcache/store/upkeep.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In place of libc's: see pages_fuzz.c. */
int nanosleep(const struct timespec *request, struct timespec *left)
{
	(void)request;
	(void)left;
	return 0;
}

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* Looks up where ranges begin. */
static void use(const struct symcache *cache)
{
	struct symcache_raw_frame frame;
	struct symcache_frames frames;

	for (uint32_t i = 0; i < cache->header->num_ranges && i < 20; i++) {
		unsigned n = 0;

		if (!symcache_valid(cache, &cache->ranges[i], sizeof(*cache->ranges)) ||
		    !symcache_lookup(cache, cache->ranges[i], &frames))
			continue;
		while (symcache_next_frame(&frames, &frame))
			must(n++ <= cache->header->num_source_locations);
	}
}

static bool on_entry(void *ctx, const struct symstore_entry *entry)
{
	struct symstore_reader *reader = ctx;
	struct symcache_guard guard = { 0 };
	struct sc_error err = { 0 };
	struct symcache cache;
	int rc;

	must(entry->build_id_len && entry->build_id_len <= sizeof(entry->build_id));
	must(entry->source_path && (!entry->tags || strlen(entry->tags) < SIZE_MAX));
	rc = symstore_get_guarded(reader, entry->build_id, entry->build_id_len, &guard, &cache,
				  &err);
	if (!rc)
		use(&cache);
	else
		must(err.code && err.msg[0]);
	symcache_guard_deinit(&guard);
	symstore_let_go(reader);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[32], identity[SC_HASH_TEXT];
	struct symstore_reader *reader;
	struct symstore_totals totals;
	struct symstore *store;
	struct sc_error err = { 0 };
	int fd = testing_memfd(data, size, path);

	if (symstore_open(path, SYMSTORE_FROZEN, &store, &err)) {
		must(err.code && err.msg[0]);
		close(fd);
		return 0;
	}
	if (!symstore_read_begin(store, &reader, &err)) {
		symstore_each(reader, NULL, 0, on_entry, reader, &err);
		symstore_count(reader, &totals, &err);
		symstore_identity(reader, identity, &err);
		symstore_read_end(reader);
	}
	symstore_close(store);
	close(fd);
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct fields fields = { .data = data, .size = size };

	lmdb_fields(&fields);
	return fields_mutate(&fields, max, seed);
}

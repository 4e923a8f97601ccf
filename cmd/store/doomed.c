/* Entries that are to be removed: see doomed.h. */
#include "cmd/store/doomed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/json_gen.h"
#include "cmd/cli/memory.h"
#include "symcache/build_id.h"

void doomed_add(struct doomed *d, const struct symstore_entry *entry)
{
	struct doomed_entry *e;

	d->entries = must_grow(d->entries, d->num, &d->cap, sizeof(*d->entries));
	e = &d->entries[d->num++];
	*e = (struct doomed_entry){
		.id_len = entry->build_id_len, .time = entry->time, .size = entry->cache_size,
		.source = must_asprintf("%s", entry->source_path),
	};
	memcpy(e->id, entry->build_id, sizeof(e->id));
}

void doomed_deinit(struct doomed *d)
{
	for (size_t i = 0; i < d->num; i++)
		free(d->entries[i].source);
	free(d->entries);
}

int doomed_remove(struct doomed *d, struct symstore *store, struct sc_error *err)
{
	struct symstore_writer *writer;
	int rc = symstore_write_begin(store, &writer, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < d->num && !rc; i++)
		rc = symstore_remove(writer, d->entries[i].id, d->entries[i].id_len,
				     &d->entries[i].removed, err);
	if (!rc)
		return symstore_commit(writer, err);
	symstore_abort(writer);
	return rc;
}

void doomed_print(const struct doomed *d, bool planned, bool json, bool quiet)
{
	struct json_gen *j = json ? json_gen_create(false) : NULL;
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1];
	unsigned long long count = 0, bytes = 0;

	if (j) {
		json_gen_open_map(j, NULL);
		json_gen_bool(j, "dry_run", planned);
		json_gen_open_array(j, "removed");
	}
	for (size_t i = 0; i < d->num; i++) {
		const struct doomed_entry *e = &d->entries[i];

		if (!e->removed && !planned)
			continue;
		count++;
		bytes += e->size;
		symcache_build_id_text(id, e->id, e->id_len);
		if (j) {
			json_gen_open_map(j, NULL);
			json_gen_text(j, "build_id", id);
			json_gen_number(j, "cache_size", e->size);
			json_gen_text(j, "source", e->source);
			json_gen_close_map(j);
		} else if (!quiet) {
			printf("%-40s %10llu %s\n", id, (unsigned long long)e->size, e->source);
		}
	}
	if (j) {
		json_gen_close_array(j);
		json_gen_number(j, "entries", count);
		json_gen_number(j, "bytes", bytes);
		json_gen_close_map(j);
		json_gen_end(j);
	} else if (!quiet) {
		printf("%llu %s, %llu bytes\n", count, planned ? "would be removed" : "removed", bytes);
	}
	json_gen_destroy(j);
}

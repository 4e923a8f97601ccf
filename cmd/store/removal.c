/* Taking entries out of a store: see removal.h. */
#include "cmd/cli/output.h"
#include "cmd/store/removal.h"

#include <stdio.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/shown.h"

static void print(const struct symstore_removals *list, const struct removal_options *o)
{
	struct mk_gen *j = o->json ? out_json_open(false) : NULL;
	unsigned long long count = 0, bytes = 0;

	if (j) {
		mk_gen_bool(j, "dry_run", o->dry_run);
		mk_gen_open_array(j, "removed");
	}
	for (size_t i = 0; i < list->len; i++) {
		const struct symstore_removal *e = &list->data[i];

		if (!e->removed && !o->dry_run)
			continue;
		count++;
		bytes += e->stored_size;
		if (j) {
			mk_gen_open_map(j, NULL);
			mk_gen_bytes(j, "build_id", e->id.bytes, e->id.len);
			mk_gen_number(j, "cache_size", e->cache_size);
			mk_gen_text(j, "source", e->source_path);
			mk_gen_close_map(j);
		} else if (!o->quiet) {
			printf("%-40s %10llu %s\n", shown_id(e->id.bytes, e->id.len),
			       (unsigned long long)e->cache_size, shown(e->source_path));
		}
	}
	if (j) {
		mk_gen_close_array(j);
		mk_gen_number(j, "entries", count);
		mk_gen_number(j, "bytes", bytes);
		out_json_close(j);
	} else if (!o->quiet) {
		printf("%llu %s, %llu bytes\n", count, o->dry_run ? "would be removed" : "removed",
		       bytes);
	}
}

int remove_entries(const struct removal_options *o, gather_fn *gather, void *ctx,
		   struct sc_error *err)
{
	struct symstore_removals list __attribute__((cleanup(symstore_removals_deinit))) = { 0 };
	struct symstore *store __attribute__((cleanup(close_store))) = NULL;
	int rc = open_store(o->store, o->dry_run ? SYMSTORE_READ : SYMSTORE_WRITE, &store, err);

	if (!rc)
		rc = gather(store, ctx, &list, err);
	if (!rc && !o->dry_run)
		rc = symstore_remove_all(store, &list, err);
	if (!rc)
		print(&list, o);
	return rc == SC_ENOTFOUND && store ? cmd_absent(err) : rc;
}

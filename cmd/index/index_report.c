/* Progress and faults of symcache index: see index_report.h. */
#include "cmd/index/index_report.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"

static void add_failure(struct index_report *r, const char *path, const char *reason)
{
	reason = sc_error_behind(reason, path);
	cmd_error("%s: %s", path, reason);
	r->failures = must_grow(r->failures, r->num_failures, &r->cap_failures,
				sizeof(*r->failures));
	r->failures[r->num_failures].path = must_asprintf("%s", path);
	r->failures[r->num_failures++].reason = must_asprintf("%s", reason);
}

/* Of an archive that is unchanged, this is the archive, once. */
static void add_without_symbols(struct index_report *r, const char *path)
{
	if (r->num_without && !strcmp(r->without_symbols[r->num_without - 1], path))
		return;
	r->without_symbols = must_grow(r->without_symbols, r->num_without, &r->cap_without,
				       sizeof(*r->without_symbols));
	r->without_symbols[r->num_without++] = must_asprintf("%s", path);
}

static void on_file(void *ctx, const struct symcache_index_file *file)
{
	struct index_report *r = ctx;

	if (file->reason)
		add_failure(r, file->path, file->reason);
	if (file->result == SYMCACHE_INDEX_NO_SYMBOLS)
		add_without_symbols(r, file->path);
	if (file->info)
		warn_of_gaps(file->path, file->info);
	if (file->result == SYMCACHE_INDEX_BUILT)
		index_stats_add(&r->stats, file);
}

static void on_kept(void *ctx, const char *path, const struct symstore_entry *old)
{
	(void)ctx;
	if (symstore_tags_have(old->tags, SYMSTORE_PINNED))
		cmd_error("%s: not taken: the store's entry of its build ID is pinned: %s", path,
			  old->source_path);
	else
		cmd_error("%s: not taken: it has the build ID of %s, but other content; --again takes "
			  "it", path, old->source_path);
}

static void on_progress(void *ctx, enum symcache_index_phase phase, uint64_t done, uint64_t total,
			const char *path)
{
	static const char *const verbs[] = {
		[SYMCACHE_INDEX_FETCHING] = "fetching",
		[SYMCACHE_INDEX_SEARCHING] = "looking for ELF files:",
		[SYMCACHE_INDEX_INDEXING] = "indexing",
	};

	progress_begin(verbs[phase], PROGRESS_ITEMS, ((struct index_report *)ctx)->quiet);
	progress_update(NULL, done, total, path);
}

struct symcache_index_events index_report_events(struct index_report *r)
{
	return (struct symcache_index_events){
		.file = on_file, .kept = on_kept, .progress = on_progress, .ctx = r,
	};
}

void index_report_deinit(struct index_report *r)
{
	for (size_t i = 0; i < r->num_failures; i++) {
		free(r->failures[i].path);
		free(r->failures[i].reason);
	}
	free(r->failures);
	for (size_t i = 0; i < r->num_without; i++)
		free(r->without_symbols[i]);
	free(r->without_symbols);
}

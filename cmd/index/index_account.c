/* What came of each file, and the summary: see index.h. */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/index/index.h"

void index_failed(void *ctx, const char *path, const char *reason)
{
	struct index_account *a = ctx;

	reason = without_path(reason, path);
	progress_erase(&a->progress);
	cmd_error("%s: %s", path, reason);
	a->failures = must_grow(a->failures, a->num_failures, &a->cap_failures,
				sizeof(*a->failures));
	a->failures[a->num_failures].path = must_asprintf("%s", path);
	a->failures[a->num_failures++].reason = must_asprintf("%s", reason);
}

void index_committed(void *ctx, const struct index_job *job)
{
	struct index_account *a = ctx;

	if (job->result == INDEX_ARCHIVE)
		return;
	if (job->result == INDEX_UNCHANGED)
		a->unchanged++;
	else if (job->result != INDEX_BUILT)
		a->no_symbols++;
	else if (job->stored)
		a->indexed++;
	else
		a->better_known++;
	a->broken += job->entry.bad_units > 0;
}

int index_take(void *ctx, struct index_job *job, struct sc_error *err)
{
	struct index_account *a = ctx;
	struct index_batch *batch = &a->batch;

	switch (job->result) {
	case INDEX_NO_SYMBOLS:
		if (!job->known)
			return index_batch_add(batch, job, err);
		a->no_symbols++;
		break;
	case INDEX_BUILT:
		warn_of_gaps(job->file->path, &job->info);
		index_stats_add(&a->stats, job);
		return index_batch_add(batch, job, err);
	case INDEX_UNCHANGED:
		if (job->entry.tags)
			return index_batch_add(batch, job, err);
		a->unchanged++;
		break;
	case INDEX_UNSUPPORTED:
		a->unsupported++;
		break;
	case INDEX_ARCHIVE:
		return index_batch_add(batch, job, err);
	case INDEX_FAILED:
		index_failed(a, job->file->path, job->err.msg);
		break;
	}
	index_job_destroy(job);
	return 0;
}

/* ---- the summary ------------------------------------------------------------- */

static void count(const char *what, uint64_t n)
{
	if (n)
		printf(", %llu %s", (unsigned long long)n, what);
}

void index_summary_print(const struct index_account *a)
{
	printf("%llu indexed, %llu unchanged, %llu without symbols, %llu failed",
	       (unsigned long long)a->indexed, (unsigned long long)a->unchanged,
	       (unsigned long long)a->no_symbols, (unsigned long long)a->num_failures);
	count("with better symbols in the store", a->better_known);
	count("with broken debug information", a->broken);
	count("object files not linked yet", a->unsupported);
	count("links to folders not followed", a->scan.links);
	count("archives", a->archives);
	count("of them unchanged", a->archives_unchanged);
	count("of them on no server", a->not_fetched);
	count("folder loops", a->scan.loops);
	count("pipes, sockets and devices left out", a->scan.special);
	putchar('\n');
}

void index_summary_json(const struct index_account *a, bool stats)
{
	struct json_gen *j = json_gen_create(false);

	json_gen_open_map(j, NULL);
	json_gen_number(j, "indexed", a->indexed);
	json_gen_number(j, "unchanged", a->unchanged);
	json_gen_number(j, "without_symbols", a->no_symbols);
	json_gen_number(j, "better_in_store", a->better_known);
	json_gen_number(j, "broken_debug_info", a->broken);
	json_gen_number(j, "unsupported", a->unsupported);
	json_gen_number(j, "not_elf", a->scan.other);
	json_gen_number(j, "special_files", a->scan.special);
	json_gen_number(j, "links_not_followed", a->scan.links);
	json_gen_number(j, "folder_loops", a->scan.loops);
	json_gen_number(j, "archives", a->archives);
	json_gen_number(j, "archives_unchanged", a->archives_unchanged);
	if (a->fetched)
		json_gen_number(j, "not_on_servers", a->not_fetched);
	json_gen_open_array(j, "failed");
	for (size_t i = 0; i < a->num_failures; i++) {
		json_gen_open_map(j, NULL);
		json_gen_text(j, "file", a->failures[i].path);
		json_gen_text(j, "reason", a->failures[i].reason);
		json_gen_close_map(j);
	}
	json_gen_close_array(j);
	if (stats)
		index_stats_json(&a->stats, j);
	json_gen_close_map(j);
	json_gen_end(j);
	json_gen_destroy(j);
}

void index_account_deinit(struct index_account *a)
{
	for (size_t i = 0; i < a->num_failures; i++) {
		free(a->failures[i].path);
		free(a->failures[i].reason);
	}
	free(a->failures);
	index_batch_deinit(&a->batch);
	scan_deinit(&a->scan);
}

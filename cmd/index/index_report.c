/* What symcache index says, as text or JSON: see index_report.h. */
#include "cmd/index/index_report.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"

/* ---- what it took: the sums of what the builds say ---------------------------------- */

static const char *const stages[SYMCACHE_STAGES] = {
	[SYMCACHE_STAGE_OPEN] = "open",
	[SYMCACHE_STAGE_INFLATE] = "inflate",
	[SYMCACHE_STAGE_HEADERS] = "headers",
	[SYMCACHE_STAGE_UNITS] = "units",
	[SYMCACHE_STAGE_ASSEMBLE] = "assemble",
	[SYMCACHE_STAGE_LAYOUT] = "layout",
};

/* The sums, in the order they are printed. */
#define FOR_EACH_SUM(X) \
	X(units) \
	X(entries) \
	X(rows) \
	X(functions) \
	X(files) \
	X(ranges) \
	X(merged_ranges) \
	X(source_locations) \
	X(data_symbols) \
	X(string_bytes) \
	X(section_bytes)

static void add_stats(struct index_stats *s, const struct symcache_index_file *file)
{
	for (int i = 0; i < SYMCACHE_STAGES; i++)
		s->sum.seconds[i] += file->info->seconds[i];
#define ADD(name) s->sum.name += file->info->name;
	FOR_EACH_SUM(ADD)
#undef ADD
	s->source_bytes += file->size;
	s->cache_bytes += file->cache_size;
}

static uint64_t peak_memory(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (uint64_t)usage.ru_maxrss * 1024;
}

static void print_stats(const struct index_stats *s, double store_seconds)
{
	printf("seconds by stage (of all files):");
	for (int i = 0; i < SYMCACHE_STAGES; i++)
		printf(" %s %.3f", stages[i], s->sum.seconds[i]);
	printf(" store %.3f\n", store_seconds);
	printf("bytes: files %llu, sections %llu, caches %llu, peak memory %llu\n",
	       (unsigned long long)s->source_bytes, (unsigned long long)s->sum.section_bytes,
	       (unsigned long long)s->cache_bytes, (unsigned long long)peak_memory());
#define PRINT(name) printf("%s %llu\n", #name, (unsigned long long)s->sum.name);
	FOR_EACH_SUM(PRINT)
#undef PRINT
}

static void stats_json(const struct index_stats *s, double store_seconds, struct mk_gen *j)
{
	mk_gen_open_map(j, "stats");
	mk_gen_open_map(j, "milliseconds");
	for (int i = 0; i < SYMCACHE_STAGES; i++)
		mk_gen_number(j, stages[i], (uint64_t)(s->sum.seconds[i] * 1e3));
	mk_gen_number(j, "store", (uint64_t)(store_seconds * 1e3));
	mk_gen_close_map(j);
#define FIELD(name) mk_gen_number(j, #name, s->sum.name);
	FOR_EACH_SUM(FIELD)
#undef FIELD
	mk_gen_number(j, "source_bytes", s->source_bytes);
	mk_gen_number(j, "cache_bytes", s->cache_bytes);
	mk_gen_number(j, "peak_memory", peak_memory());
	mk_gen_close_map(j);
}

/* ---- events ------------------------------------------------------------------------------ */

static void add_failure(struct index_report *r, const char *path, const char *reason)
{
	reason = sc_error_behind(reason, path);
	cmd_error("%s: %s", path, reason);
	*must_push(&r->failures) = (struct index_failure){ must_asprintf("%s", path),
							   must_asprintf("%s", reason) };
}

/* Of an archive that is unchanged, this is the archive, once. */
static void add_without_symbols(struct index_report *r, const char *path)
{
	if (!r->without.len || strcmp(r->without.data[r->without.len - 1], path))
		*must_push(&r->without) = must_asprintf("%s", path);
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
		add_stats(&r->stats, file);
}

static void on_kept(void *ctx, const char *path, const struct symstore_entry *old)
{
	(void)ctx;
	if (symstore_tags_have(old->tags, SYMSTORE_PINNED))
		cmd_error("%s: skipped: the store's entry with its build ID is pinned: %s", path,
			  old->source_path);
	else
		cmd_error("%s: skipped: same build ID as %s, but different content; --again indexes "
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

	progress_begin(verbs[phase],
		       phase == SYMCACHE_INDEX_INDEXING ? PROGRESS_BYTES : PROGRESS_ITEMS,
		       ((struct index_report *)ctx)->quiet);
	progress_update(NULL, done, total, path);
}

struct symcache_index_events index_report_events(struct index_report *r)
{
	return (struct symcache_index_events){
		.file = on_file, .kept = on_kept, .progress = on_progress, .ctx = r,
	};
}

/* ---- what came of it ----------------------------------------------------------------- */

static void count(const char *what, uint64_t n)
{
	if (n)
		printf(", %llu %s", (unsigned long long)n, what);
}

enum { NAMED = 10 }; /* files without symbols, in text */

static void print_summary(const struct index_report *r, const struct symcache_index_account *a)
{
	printf("%llu indexed, %llu unchanged, %llu without symbols, %llu failed",
	       (unsigned long long)a->indexed, (unsigned long long)a->unchanged,
	       (unsigned long long)a->without_symbols, (unsigned long long)a->failed);
	count("with better symbols in the store", a->better_in_store);
	count("with the build ID of another file", a->other_in_store);
	count("with broken debug information", a->broken);
	count(a->links == 1 ? "link to a folder not followed" : "links to folders not followed", a->links);
	count(a->archives == 1 ? "archive" : "archives", a->archives);
	count("of them unchanged", a->archives_unchanged);
	count("of them on no server", a->not_on_servers);
	count(a->loops == 1 ? "folder loop" : "folder loops", a->loops);
	count("pipes, sockets and devices left out", a->special);
	putchar('\n');
	for (size_t i = 0; i < r->without.len && i < NAMED; i++)
		printf("without symbols: %s\n", r->without.data[i]);
	if (r->without.len > NAMED)
		printf("without symbols: %zu more, named with --json\n", r->without.len - NAMED);
}

static void summary_json(const struct index_report *r, const struct symcache_index_account *a)
{
	struct mk_gen *j = out_json_open(false);

	mk_gen_number(j, "indexed", a->indexed);
	mk_gen_number(j, "unchanged", a->unchanged);
	mk_gen_number(j, "without_symbols", a->without_symbols);
	mk_gen_number(j, "better_in_store", a->better_in_store);
	mk_gen_number(j, "other_in_store", a->other_in_store);
	mk_gen_number(j, "broken_debug_info", a->broken);
	mk_gen_number(j, "unsupported", a->unsupported);
	mk_gen_number(j, "not_elf", a->other);
	mk_gen_number(j, "special_files", a->special);
	mk_gen_number(j, "links_not_followed", a->links);
	mk_gen_number(j, "folder_loops", a->loops);
	mk_gen_number(j, "archives", a->archives);
	mk_gen_number(j, "archives_unchanged", a->archives_unchanged);
	if (r->fetched)
		mk_gen_number(j, "not_on_servers", a->not_on_servers);
	mk_gen_open_array(j, "failed");
	for (size_t i = 0; i < r->failures.len; i++) {
		mk_gen_open_map(j, NULL);
		mk_gen_text(j, "file", r->failures.data[i].path);
		mk_gen_text(j, "reason", r->failures.data[i].reason);
		mk_gen_close_map(j);
	}
	mk_gen_close_array(j);
	mk_gen_open_array(j, "files_without_symbols");
	for (size_t i = 0; i < r->without.len; i++)
		mk_gen_text(j, NULL, r->without.data[i]);
	mk_gen_close_array(j);
	if (r->show_stats)
		stats_json(&r->stats, a->store_seconds, j);
	out_json_close(j);
}

void index_report_end(const struct index_report *r, const struct symcache_index_account *a)
{
	if (r->json)
		summary_json(r, a);
	else if (!r->quiet)
		print_summary(r, a);
	if (r->show_stats && !r->json)
		print_stats(&r->stats, a->store_seconds);
}

/*
 * symcache check: do the files that are shipped have symbols? A gate for CI.
 *
 * Files, folders and archives are built as for the store, and given up; bundles and the
 * store say themselves what they hold. What is wrong with each is a list of findings, and
 * one that --require forbids is a breach.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/json_gen.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/entry.h"
#include "cmd/store/select.h"
#include "symcache/build_id.h"
#include "symcache/bundle.h"
#include "symcache/index.h"

/* Each includes those before it. */
enum level { LEVEL_ID, LEVEL_SYMBOLS, LEVEL_LINES };
static const char *const levels[] = { "id", "symbols", "lines", NULL };

static struct {
	const char *store;
	struct opt_list allow, debug_dirs;
	uint64_t threads;
	int require;
	bool follow, json, quiet;
} o = { .require = LEVEL_LINES };

static const struct opt opts[] = {
	{ "require", 0, OPT_ENUM, &o.require, "WHAT",
	  "what each file must have: id: a build ID; symbols: that and a table of functions; lines "
	  "(default): that and debug information, all of it", .choices = levels },
	{ "allow", 0, OPT_LIST, &o.allow, "PATTERN",
	  "files that need not have it: a shell pattern for the file name, or for the whole "
	  "path if it has a '/'; may be repeated" },
	OPT_STORE(&o.store),
	OPT_DEBUG_DIRS(&o.debug_dirs),
	{ "follow", 'L', OPT_FLAG, &o.follow, NULL, "go into folders that links lead to" },
	{ "threads", 'j', OPT_NUMBER, &o.threads, "N", "use N threads (default: all cores)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write all files and findings as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress, and nothing if there is no breach" },
	{ 0 },
};

enum { FINDINGS_MAX = 4 };

/* A file, or an entry of a bundle or store. */
struct subject {
	const char *path;
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX];
	size_t build_id_len;       /* 0: not known */
	bool derived;              /* it has none of its own */
	uint32_t sources;
	uint64_t units, bad_units; /* units 0: not known */
	const char *first_fault, *debug_link;
	uint64_t code_bytes, line_bytes;
	bool entry;                /* of a bundle or store: no file was looked for */
	const char *unreadable;    /* why; or NULL */
};

struct check {
	struct progress progress;
	struct json_gen *json;     /* NULL: text */
	uint64_t checked, breaches, allowed;
	uint64_t code_bytes, line_bytes;
	/* Of the current subject: */
	struct { enum level level; char *text; } findings[FINDINGS_MAX];
	size_t num_findings;
};

static void find(struct check *c, enum level level, char *text)
{
	c->findings[c->num_findings].level = level;
	c->findings[c->num_findings++].text = text;
}

/* The names under which a debug file was looked for. */
static char *names_sought(const struct subject *s)
{
	char by_id[sizeof("/.build-id/xx/.debug") + SYMCACHE_BUILD_ID_TEXT] = "";
	const char *link = s->debug_link && *s->debug_link ? s->debug_link : NULL;

	if (!s->derived)
		symcache_build_id_path(by_id, sizeof(by_id), "", s->build_id, s->build_id_len);
	if (!*by_id && !link)
		return must_asprintf(", and the file names no debug file");
	return must_asprintf(", and there is no %s%s%s", *by_id ? by_id + 1 : "",
			     *by_id && link ? " or " : "", link ? link : "");
}

static void find_missing_lines(struct check *c, const struct subject *s)
{
	char kinds[SOURCES_TEXT], *sought;

	if (!(s->sources & SYMCACHE_FROM_DWARF)) {
		sought = s->entry ? must_asprintf("%s", "") : names_sought(s);
		find(c, LEVEL_LINES, must_asprintf("no debug information, only %s%s",
						   sources_text(s->sources & ~(uint32_t)SYMCACHE_FROM_CFI, kinds),
						   sought));
		free(sought);
	} else if (!s->line_bytes) {
		find(c, LEVEL_LINES, must_asprintf("debug information without lines of its code"));
	}
	if (s->bad_units && s->units)
		find(c, LEVEL_LINES,
		     must_asprintf("%llu of %llu units of debug information are missing or broken: %s",
				   (unsigned long long)s->bad_units, (unsigned long long)s->units,
				   s->first_fault));
	else if (s->bad_units)
		find(c, LEVEL_LINES,
		     must_asprintf("units of debug information are missing or broken: %llu",
				   (unsigned long long)s->bad_units));
}

static void judge(struct check *c, const struct subject *s)
{
	char *sought;

	if (s->unreadable) {
		find(c, LEVEL_ID, must_asprintf("%s", without_path(s->unreadable, s->path)));
		return;
	}
	if (s->derived)
		find(c, LEVEL_ID, must_asprintf("no build ID"));
	if (s->sources & ~(uint32_t)SYMCACHE_FROM_CFI) {
		find_missing_lines(c, s);
		return;
	}
	sought = names_sought(s);
	find(c, LEVEL_SYMBOLS, must_asprintf("no symbols%s", sought));
	free(sought);
}

static bool is_allowed(const char *path)
{
	for (size_t i = 0; i < o.allow.len; i++)
		if (name_matches(o.allow.items[i], path))
			return true;
	return false;
}

static void write_json(struct check *c, const struct subject *s, bool breach, bool allowed)
{
	char id[SYMCACHE_BUILD_ID_TEXT];
	struct json_gen *j = c->json;

	symcache_build_id_text(id, s->build_id, s->derived ? 0 : s->build_id_len);
	json_gen_open_map(j, NULL);
	json_gen_text(j, "file", s->path);
	json_gen_text(j, "build_id", id);
	sources_json(j, "symbols", s->sources);
	json_gen_number(j, "broken_units", s->bad_units);
	json_gen_number(j, "code_bytes", s->code_bytes);
	json_gen_number(j, "code_bytes_with_lines", s->line_bytes);
	json_gen_open_array(j, "findings");
	for (size_t i = 0; i < c->num_findings; i++) {
		json_gen_open_map(j, NULL);
		json_gen_text(j, "lacks", levels[c->findings[i].level]);
		json_gen_text(j, "finding", c->findings[i].text);
		json_gen_close_map(j);
	}
	json_gen_close_array(j);
	json_gen_bool(j, "breach", breach && !allowed);
	json_gen_bool(j, "allowed", breach && allowed);
	json_gen_close_map(j);
}

static void check_subject(struct check *c, const struct subject *s)
{
	const bool allowed = is_allowed(s->path);
	bool breach = false;

	c->checked++;
	c->num_findings = 0;
	judge(c, s);
	for (size_t i = 0; i < c->num_findings; i++)
		breach |= c->findings[i].level <= (enum level)o.require;
	c->breaches += breach && !allowed;
	c->allowed += breach && allowed;
	c->code_bytes += s->code_bytes;
	c->line_bytes += s->line_bytes;
	if (c->json)
		write_json(c, s, breach, allowed);
	if (breach && !allowed)
		progress_erase(&c->progress);
	for (size_t i = 0; i < c->num_findings; i++) {
		if (!c->json && !allowed && c->findings[i].level <= (enum level)o.require)
			printf("%s: %s\n", s->path, c->findings[i].text);
		free(c->findings[i].text);
	}
}

/* ---- files ------------------------------------------------------------------------ */

static void on_file(void *ctx, const struct symcache_index_file *file)
{
	const struct symcache_build_info *info = file->info;
	struct subject s = { .path = file->path, .unreadable = file->reason };

	/* An object file is not shipped as it is; a kernel's module has a build ID. */
	if (file->result == SYMCACHE_INDEX_UNSUPPORTED ||
	    (info && info->relocatable && info->build_id_derived))
		return;
	if (info) {
		memcpy(s.build_id, info->build_id, sizeof(s.build_id));
		s.build_id_len = info->build_id_len;
		s.derived = info->build_id_derived;
		s.sources = info->sources;
		s.units = info->units;
		s.bad_units = info->bad_units;
		s.first_fault = info->first_fault;
		s.debug_link = info->debug_link;
		s.code_bytes = file->code_bytes;
		s.line_bytes = file->line_bytes;
	}
	check_subject(ctx, &s);
}

static void on_progress(void *ctx, enum symcache_index_phase phase, uint64_t done, uint64_t total,
			const char *path)
{
	(void)phase;
	progress_update(&((struct check *)ctx)->progress, done, total, path);
}

static int check_path(struct check *c, const char *path, struct sc_error *err)
{
	const struct symcache_index_options options = {
		.build.debug_dirs = o.debug_dirs.items, .build.threads = (unsigned)o.threads,
		.follow = o.follow, .events = {
			.file = on_file, .progress = on_progress, .ctx = c,
		},
	};
	struct symcache_index_account account;

	return symcache_index(NULL, &path, 1, &options, &account, err);
}

/* ---- bundles and the store -------------------------------------------------------- */

/* How much of the code that has functions has lines. */
static void count_lines(const struct symcache *cache, struct subject *s)
{
	for (uint32_t i = 0; i + 1 < cache->header->num_ranges; i++) {
		const uint64_t size = cache->ranges[i + 1] - cache->ranges[i];
		struct symcache_frames frames;
		struct symcache_raw_frame frame;

		if (!symcache_lookup(cache, cache->ranges[i], &frames) ||
		    !symcache_next_frame(&frames, &frame))
			continue;
		s->code_bytes += size;
		s->line_bytes += frame.line ? size : 0;
	}
}

static int on_entry(void *ctx, const struct symstore_entry *entry, const void *bytes, size_t size,
		    struct sc_error *err)
{
	struct subject s = {
		.path = entry->source_path, .build_id_len = entry->build_id_len,
		.derived = entry->build_id_derived, .sources = entry->sources,
		.bad_units = entry->bad_units, .entry = true,
	};
	char id[SYMCACHE_BUILD_ID_TEXT];
	struct symcache cache;
	int rc = symcache_open(&cache, bytes, size, err);

	if (rc)
		return rc;
	memcpy(s.build_id, entry->build_id, sizeof(s.build_id));
	symcache_build_id_text(id, entry->build_id, entry->build_id_len);
	if (!s.path || !*s.path)
		s.path = id;
	count_lines(&cache, &s);
	check_subject(ctx, &s);
	return 0;
}

static void on_fault(void *ctx, const char *name, const char *why)
{
	check_subject(ctx, &(struct subject){ .path = name, .unreadable = why, .entry = true });
}

static void on_bundle_progress(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	progress_update(&((struct check *)ctx)->progress, done, total, item);
}

static int check_bundle(struct check *c, const char *path, struct sc_error *err)
{
	const struct symbundle_reader reader = {
		.entry = on_entry, .fault = on_fault, .progress = on_bundle_progress, .ctx = c,
	};

	return symbundle_read(path, &reader, err);
}

static int check_store(struct check *c, struct sc_error *err)
{
	struct symstore *store;
	char *path = NULL;
	int rc = open_store(o.store, SYMSTORE_READ, &store, err);

	symstore_close(store);
	if (!rc && !(rc = store_path(o.store, &path, err)))
		rc = check_bundle(c, path, err);
	free(path);
	return rc;
}

/* ---- all of it -------------------------------------------------------------------- */

static void summarize(struct check *c, bool whole)
{
	if (c->json) {
		json_gen_close_array(c->json);
		json_gen_text(c->json, "required", levels[o.require]);
		json_gen_number(c->json, "checked", c->checked);
		json_gen_number(c->json, "breaches", c->breaches);
		json_gen_number(c->json, "allowed", c->allowed);
		json_gen_number(c->json, "code_bytes", c->code_bytes);
		json_gen_number(c->json, "code_bytes_with_lines", c->line_bytes);
		json_gen_end_report(c->json);
	} else if (whole && (!o.quiet || c->breaches)) {
		printf("%llu checked, %llu lack what --require %s asks for",
		       (unsigned long long)c->checked, (unsigned long long)c->breaches,
		       levels[o.require]);
		if (c->allowed)
			printf(", %llu allowed", (unsigned long long)c->allowed);
		if (c->code_bytes)
			printf("; %.1f %% of the code has lines",
			       100.0 * (double)c->line_bytes / (double)c->code_bytes);
		putchar('\n');
	}
}

static int run(int argc, char **argv)
{
	struct check c = { .json = o.json ? json_gen_begin_report(true) : NULL };
	struct sc_error err;
	int rc = 0;

	progress_init(&c.progress, "checking", o.quiet);
	if (c.json)
		json_gen_open_array(c.json, "files");
	if (!argc)
		rc = check_store(&c, &err);
	for (int i = 0; i < argc && !rc; i++)
		rc = symbundle_is_one(argv[i]) ? check_bundle(&c, argv[i], &err) :
						 check_path(&c, argv[i], &err);
	progress_erase(&c.progress);
	summarize(&c, !rc && c.checked);
	if (rc)
		cmd_error("%s", err.msg);
	else if (!c.checked)
		cmd_error("there is nothing to check: no ELF file%s", argc ? "" : " in the store");
	return rc ? STATUS_ERROR : c.breaches || !c.checked ? STATUS_PARTLY : STATUS_OK;
}

const struct command check_command = {
	.name = "check",
	.operands = "[PATH|BUNDLE...]",
	.summary = "say which files lack symbols, and fail if any does: a gate for CI",
	.description =
		"Reads ELF files, folders, packages and archives as 'index' does, without a "
		"store, or bundles; without operands the store. What a file lacks is a line: no "
		"build ID, no symbols, symbol tables alone, a debug file, .dwo or dwz's file that "
		"is missing, with the name that was looked for, broken units; then how much of "
		"the code has lines. Object files are left out.",
	.opts = opts,
	.partly = "a file lacks what --require names and is not allowed to, or cannot be read, or "
		  "there is none at all",
	.see_also = "symcache-index(1) symcache-verify(1)",
	.examples =
		"  symcache check --debug-file-directory out/debug out/bin\n"
		"  symcache check --require symbols --allow 'libvendor*.so*' release.deb\n"
		"  symcache check --json release.tar.zst\n",
	.run = run,
};

/*
 * symcache check: do the files that are shipped have symbols? A gate for CI: what
 * libsymcache/index/check.h finds that --require forbids is a breach.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/bundle/bundle.h"
#include "libsymcache/index/check.h"
#include "libsymcache/report/report.h"

/* By enum symcache_lack. */
static const char *const levels[] = { "id", "symbols", "lines", NULL };

/* What a file lacks then, for people. */
static const char *const lacked[] = { "a build ID", "symbols", "line information" };

static struct {
	const char *store;
	struct opt_list allow, debug_dirs;
	uint64_t threads;
	int require;
	bool follow, json, quiet;
} o = { .require = SYMCACHE_LACKS_LINES };

static const struct opt opts[] = {
	{ "require", 0, OPT_ENUM, &o.require, "WHAT",
	  "what each file must have: lines (default), complete debug information; symbols, a table "
	  "of functions; or id, a build ID; each includes the ones after it", .choices = levels },
	{ "allow", 0, OPT_LIST, &o.allow, "PATTERN",
	  "do not require it of these files: a shell pattern for the file name, or for the whole "
	  "path if it has a '/'; may be repeated" },
	OPT_STORE(&o.store),
	OPT_DEBUG_DIRS(&o.debug_dirs),
	{ "follow", 'L', OPT_FLAG, &o.follow, NULL, "follow links to folders" },
	{ "threads", 'j', OPT_COUNT, &o.threads, "N", "use N threads (default: all cores)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write all files and findings as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress, and no output if all is well" },
	{ 0 },
};

struct check {
	struct mk_gen *json;     /* NULL: text */
	struct symcache_check_sums sums;
	struct symstore *store; /* that bundles are against */
	bool looked;            /* for it */
};

static void write_json(struct mk_gen *j, const struct symcache_checked *s)
{
	mk_gen_open_map(j, NULL);
	mk_gen_text(j, "file", s->path);
	mk_gen_bytes(j, "build_id", s->build_id, s->derived ? 0 : s->build_id_len);
	symstore_kinds_json(j, "symbols", s->sources);
	mk_gen_number(j, "broken_units", s->bad_units);
	mk_gen_number(j, "code_bytes", s->code_bytes);
	mk_gen_number(j, "code_bytes_with_lines", s->line_bytes);
	mk_gen_open_array(j, "findings");
	for (size_t i = 0; i < s->num_findings; i++) {
		mk_gen_open_map(j, NULL);
		mk_gen_text(j, "lacks", levels[s->findings[i].lacks]);
		mk_gen_text(j, "finding", s->findings[i].text);
		mk_gen_close_map(j);
	}
	mk_gen_close_array(j);
	mk_gen_bool(j, "breach", s->breach && !s->allowed);
	mk_gen_bool(j, "allowed", s->allowed);
	mk_gen_close_map(j);
}

static void on_file(void *ctx, const struct symcache_checked *s)
{
	struct check *c = ctx;

	if (c->json) {
		write_json(c->json, s);
		return;
	}
	if (s->breach && !s->allowed)
		progress_erase();
	for (size_t i = 0; i < s->num_findings; i++)
		if (!s->allowed && s->findings[i].lacks <= (enum symcache_lack)o.require)
			printf("%s: %s\n", s->path, s->findings[i].text);
}

static int check_store(const struct symcache_check_options *options, struct sc_error *err)
{
	struct symstore *store __attribute__((cleanup(close_store))) = NULL;
	char *path __attribute__((cleanup(sc_free_text))) = NULL;

	if (open_store(o.store, SYMSTORE_READ, &store, err) || store_path(o.store, &path, err))
		return err->code;
	return symcache_check_bundle(path, options, err);
}

/* Of bundles with what changed since entries of the store. */
static struct symstore *old_store(void *ctx)
{
	struct check *c = ctx;

	if (!c->store && !c->looked)
		open_store(o.store, SYMSTORE_READ, &c->store, NULL);
	c->looked = true;
	return c->store;
}

static void summarize(struct check *c, bool whole)
{
	if (c->json) {
		mk_gen_close_array(c->json);
		mk_gen_text(c->json, "required", levels[o.require]);
		mk_gen_number(c->json, "checked", c->sums.checked);
		mk_gen_number(c->json, "breaches", c->sums.breaches);
		mk_gen_number(c->json, "allowed", c->sums.allowed);
		mk_gen_number(c->json, "code_bytes", c->sums.code_bytes);
		mk_gen_number(c->json, "code_bytes_with_lines", c->sums.line_bytes);
		out_json_close(c->json);
	} else if (whole && (!o.quiet || c->sums.breaches)) {
		printf("%llu of %llu file%s lack%s %s", (unsigned long long)c->sums.breaches,
		       (unsigned long long)c->sums.checked, c->sums.checked == 1 && c->sums.breaches ? "" : "s",
		       c->sums.breaches == 1 ? "s" : "", lacked[o.require]);
		if (c->sums.allowed)
			printf(", %llu allowed", (unsigned long long)c->sums.allowed);
		if (c->sums.code_bytes)
			printf("; %.1f %% of the code has lines",
			       100.0 * (double)c->sums.line_bytes / (double)c->sums.code_bytes);
		putchar('\n');
	}
}

static void free_paths(const char ***paths)
{
	free(*paths);
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct check c = { .json = o.json ? out_json_open(true) : NULL };
	const struct symcache_check_options options = {
		.build.debug_dirs = o.debug_dirs.items, .build.threads = (unsigned)o.threads,
		.follow = o.follow, .require = (enum symcache_lack)o.require,
		.allow = o.allow.items, .sums = &c.sums, .file = on_file,
		.old_store = old_store, .progress = progress_update, .ctx = &c,
	};
	const char **paths __attribute__((cleanup(free_paths))) = must_calloc((size_t)argc + 1,
									      sizeof(*paths));
	enum symbundle_shape shape;
	size_t files = 0;
	int rc = 0;

	if (c.json)
		mk_gen_open_array(c.json, "files");
	progress_begin("checking", PROGRESS_ITEMS, o.quiet);
	if (!argc)
		rc = check_store(&options, err);
	for (int i = 0; i < argc && !rc; i++) {
		if (symbundle_is_one(argv[i], &shape))
			rc = symcache_check_bundle(argv[i], &options, err);
		else
			paths[files++] = argv[i];
	}
	if (files && !rc) {
		progress_begin("checking", PROGRESS_BYTES, o.quiet);
		rc = symcache_check_files(paths, files, &options, err);
	}
	symstore_close(c.store);
	progress_erase();
	summarize(&c, !rc && c.sums.checked);
	if (!rc && !c.sums.checked)
		cmd_error("nothing to check: no ELF file%s", argc ? "" : " in the store");
	return rc ? rc : c.sums.breaches || !c.sums.checked ? STATUS_PARTLY : STATUS_OK;
}

const struct command check_command = {
	.name = "check",
	.operands = "[PATH|BUNDLE...]",
	.summary = "list files that lack symbols, and fail if there are any: for CI",
	.description =
		"Reads ELF files, folders, packages and archives as 'index' does, without a store, "
		"or bundles; without arguments it checks the store. Prints a line for everything "
		"that a file lacks: no build ID, no symbols, only symbol tables, broken units, or a "
		"missing debug file, .dwo or dwz file, with the name that was looked for; then how "
		"much of the code has lines. Any other file that is given counts as the debug file "
		"if it has the build ID. Object files are skipped.",
	.opts = opts,
	.partly = "a file lacks what --require asks for and --allow does not excuse it, or it cannot be "
		  "read, or there is no file",
	.see_also = "symcache-index(1) symcache-verify(1)",
	.examples =
		"  symcache check --debug-file-directory out/debug out/bin\n"
		"  symcache check --require symbols --allow 'libvendor*.so*' release.deb\n"
		"  symcache check --json release.tar.zst\n",
	.run = run,
};

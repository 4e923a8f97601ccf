/*
 * symcache core: the stacks of core files, from a store of caches: neither the programs
 * nor their debug files need to be there.
 */
#include "cmd/core/core.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/opt.h"
#include "cmd/cli/store.h"

enum { TEXT, JSON };

static struct {
	const char *store;
	struct opt_list debug_dirs, modules, threads;
	struct fetch_options fetch;
	bool all, registers, summary;
	int format;
} o;

static const char *const formats[] = { "text", "json", NULL };

static const struct opt opts[] = {
	OPTS_STORE_READ(&o.store),
	{ "all", 0, OPT_FLAG, &o.all, NULL, "each thread's stack, also where several are equal" },
	{ "thread", 0, OPT_LIST, &o.threads, "TID", "the stack of this thread only; may be repeated" },
	{ "registers", 0, OPT_FLAG, &o.registers, NULL,
	  "the registers of each frame, as far as they are known" },
	{ "format", 0, OPT_ENUM, &o.format, "FORM",
	  "text, or json: one object for each thread, one a line", formats },
	{ "module", 0, OPT_LIST, &o.modules, "PATH=ID|FILE",
	  "which build ID or ELF file the module PATH (or its last part) of the core is, where "
	  "the core does not have it; may be repeated" },
	{ "summary", 0, OPT_FLAG, &o.summary, NULL,
	  "the modules in place of the stacks: frames in each, and what it lacks" },
	OPT_DEBUG_DIRS(&o.debug_dirs),
	OPT_FETCH(&o.fetch, "ask the servers in $DEBUGINFOD_URLS for what the store lacks, programs and "
		  "debug files"),
	{ 0 },
};

/* Threads with one stack. */
struct group {
	struct symcache_stack stack;
	uint64_t hash;
	size_t *threads; /* their indices */
	size_t num_threads, cap_threads;
};

struct run {
	struct core_run r;
	struct cmd_caches caches;
	struct group *groups;
	size_t num_groups, cap_groups;
	bool partly; /* something is missing */
};

static bool is_wanted(uint32_t tid, bool *valid)
{
	*valid = true;
	for (size_t i = 0; i < o.threads.len; i++) {
		char *end;
		unsigned long n = strtoul(o.threads.items[i], &end, 10);

		if (!*o.threads.items[i] || *end) {
			cmd_error("--thread '%s': not a thread ID", o.threads.items[i]);
			*valid = false;
			return false;
		}
		if (n == tid)
			return true;
	}
	return !o.threads.len;
}

/* Puts the stack into its group, or makes a new one; what it has is the group's then. */
static void group_stack(struct run *r, struct symcache_stack *stack, size_t thread)
{
	const uint64_t hash = symcache_stack_hash(stack);
	struct group *g = NULL;

	for (size_t i = 0; i < r->num_groups && !g && !o.all && !o.registers; i++)
		if (r->groups[i].hash == hash && symcache_stack_equal(&r->groups[i].stack, stack))
			g = &r->groups[i];
	if (!g) {
		r->groups = must_grow(r->groups, r->num_groups, &r->cap_groups, sizeof(*r->groups));
		g = &r->groups[r->num_groups++];
		*g = (struct group){ .stack = *stack, .hash = hash };
		*stack = (struct symcache_stack){ 0 };
	}
	g->threads = must_grow(g->threads, g->num_threads, &g->cap_threads, sizeof(*g->threads));
	g->threads[g->num_threads++] = thread;
}

static bool is_complete(const struct symcache_stack *s)
{
	return s->stop == SYMCACHE_STOP_END || s->stop == SYMCACHE_STOP_NO_MODULE;
}

/* Walks all stacks; JSON is printed at once, text in groups behind its heading. */
static int walk_threads(struct run *r)
{
	struct symcache_stack stack = { 0 };
	size_t found = 0;
	bool valid;

	for (size_t i = 0; i < r->r.core->num_threads; i++) {
		const struct symcache_core_thread *t = &r->r.core->threads[i];

		if (!is_wanted(t->tid, &valid)) {
			if (!valid)
				return STATUS_ERROR;
			continue;
		}
		found++;
		if (symcache_core_walk(r->r.images, t, o.registers, &stack, NULL))
			must(NULL);
		r->partly |= !is_complete(&stack);
		if (o.summary)
			continue;
		if (o.format == JSON)
			core_json_stack(&r->r, &stack, i);
		else
			group_stack(r, &stack, i);
	}
	symcache_stack_deinit(&stack);
	if (!found)
		cmd_error("the core has no such thread");
	return found ? STATUS_OK : STATUS_PARTLY;
}

static void print(const struct run *r)
{
	if (o.format == JSON) {
		if (o.summary)
			core_json_summary(&r->r);
		return;
	}
	core_text_head(&r->r);
	for (size_t i = 0; i < r->num_groups; i++)
		core_text_stack(&r->r, &r->groups[i].stack, r->groups[i].threads,
				r->groups[i].num_threads);
	if (o.summary)
		core_text_summary(&r->r);
}

/* What the stacks needed and did not have, once for each module. */
static void report_missing(struct run *r)
{
	size_t n;
	const struct symcache_core_image *list = symcache_core_images_list(r->r.images, &n);

	for (size_t i = 0; i < n; i++) {
		if (!list[i].frames || list[i].cache)
			continue;
		r->partly = true;
		if (!o.summary)
			cmd_error("%s: %s", list[i].name, list[i].why.msg);
	}
	if (r->r.core->missing)
		cmd_error("the file is cut off: %s%" PRIu64 " bytes of memory are missing",
			  r->r.core->missing == 1 ? "at least " : "", r->r.core->missing);
	r->partly |= r->r.core->missing > 0;
}

static void run_deinit(struct run *r)
{
	for (size_t i = 0; i < r->num_groups; i++) {
		symcache_stack_deinit(&r->groups[i].stack);
		free(r->groups[i].threads);
	}
	free(r->groups);
	symcache_places_destroy(r->r.places);
	symcache_names_destroy(r->r.names);
	symcache_core_images_destroy(r->r.images);
	cmd_caches_deinit(&r->caches);
	symcache_core_close(r->r.core);
}

/* The modules of the core, and what --module says of them. */
static bool find_modules(struct run *r, struct symcache_debuginfod *debuginfod)
{
	struct sc_error err;

	cmd_caches_init(&r->caches, o.store, (struct symcache_caches_options){
		.debug_dirs = o.debug_dirs.items, .debuginfod = debuginfod, .without_symbols = true });
	r->r.images = must(symcache_core_images_create(r->r.core, r->caches.caches, "--module"));
	r->r.names = must(symcache_names_create(NULL));
	r->r.places = must(symcache_places_create(r->caches.caches, r->r.names, true));
	for (size_t i = 0; i < o.modules.len; i++)
		if (symcache_core_images_bind(r->r.images, o.modules.items[i], &err)) {
			cmd_error("--module %s%s", err.msg, err.code == SC_ENOTFOUND ?
				  "; --summary lists them" : "");
			return false;
		}
	return true;
}

static int run_file(const char *path, struct symcache_debuginfod *debuginfod)
{
	struct run r = { .r.path = path };
	struct sc_error err;
	int status = STATUS_ERROR;

	if (symcache_core_open(path, &r.r.core, &err)) {
		cmd_error("%s", err.msg);
	} else if (find_modules(&r, debuginfod)) {
		status = walk_threads(&r);
		if (status == STATUS_OK) {
			print(&r);
			report_missing(&r);
			status = r.partly ? STATUS_PARTLY : STATUS_OK;
		}
	}
	run_deinit(&r);
	return status;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct symcache_debuginfod *debuginfod;
	int status = STATUS_OK;

	if (!argc)
		return sc_error_set(err, SC_EINVAL, "name a core file");
	if (named_store_missing(o.store))
		return STATUS_ERROR;
	if (fetch_create(&o.fetch, &debuginfod, err))
		return err->code;
	for (int i = 0; i < argc; i++) {
		int of = run_file(argv[i], debuginfod);

		if (i + 1 < argc && o.format == TEXT)
			putchar('\n');
		status = of > status ? of : status;
	}
	symcache_debuginfod_destroy(debuginfod);
	return status;
}

const struct command core_command = {
	.name = "core",
	.operands = "FILE...",
	.summary = "show the stacks of a core file or minidump",
	.description =
		"Shows the stacks of all threads of core files and minidumps, inlined functions "
		"included, the thread that died first. The programs and libraries need not be "
		"there: their unwind information and symbols come from the store, by the build IDs "
		"in the core. Core files of x86-64, i386, AArch64 and RISC-V are read, also "
		"compressed with zstd, xz, lz4, gzip or bzip2, and cut off ones as far as they go; "
		"minidumps of Linux and Android (Breakpad's and Crashpad's) of the first three "
		"machines, too.\n\n"
		"A frame that was not found by unwind information is marked with '?' and how it "
		"was found: call (a call through a bad pointer), frame pointer, or scan (a word of "
		"the stack that looks like a return address). Below the last frame stands why "
		"there are no more. Threads with equal stacks are shown together.\n\n"
		"Unwind information is in stripped programs and libraries, not in their debug "
		"files: index both.",
	.opts = opts,
	.examples =
		"  symcache index /usr/bin/server /usr/lib/debug\n"
		"  symcache core core.4242\n"
		"  symcache core 5f3c1a2e.dmp\n"
		"  symcache core --format json --thread 4242 core.server.zst\n",
	.partly = "a module is not in the store, the file is cut off, or a stack ends early",
	.see_also = "symcache-index(1) symcache-export(1) gdb(1) core(5)",
	.run = run,
};

/* Recorded core files by the public names: as address spaces, and as trace files that are made of them,
 * compared with the stacks of the core itself. */
#include <stdbool.h>

#include "libsymcache/api/testing.h"

#include "libsymcache/base/seeds_test.h"

#define CORES "../shared/data/cores"
#define TRACES "../shared/data/tfile"

enum { MAX = 400 };

/* What the stacks of a core, or of a trace, have. */
struct rows {
	struct row {
		uint64_t pc, vaddr;
		uint32_t how;
		char function[64], path[128];
	} list[MAX];
	size_t n;
	size_t threads;
	char name[32]; /* of the last thread */
};

static int on_frame(void *ctx, const struct symcache_walked_thread *thread,
		    const struct symcache_walked_frame *frame)
{
	struct rows *rows = ctx;
	struct row *row = &rows->list[rows->n];

	rows->threads += !frame;
	snprintf(rows->name, sizeof(rows->name), "%s", thread->name);
	if (!frame || rows->n == MAX)
		return 0;
	row->pc = frame->pc;
	row->vaddr = frame->vaddr;
	row->how = frame->how;
	snprintf(row->function, sizeof(row->function), "%s",
		 frame->num_frames ? frame->frames[0].function : "");
	snprintf(row->path, sizeof(row->path), "%s", frame->path);
	rows->n++;
	return 0;
}

/* The core and its program, unpacked; false: they are not there. */
static bool unpack(const char *name)
{
	char command[400];

	snprintf(command, sizeof(command), "xz -dc " CORES "/%s.core.xz > %s", name, in_dir("core"));
	if (access(CORES, F_OK) || system(command)) {
		print_message("skipped: there is no %s\n", CORES);
		return false;
	}
	return true;
}

static struct symcache_store *store_of(const char *name)
{
	struct symcache_counts counts = { sizeof(counts), 0, 0, 0, 0 };
	char program[100], library[100];
	const char *paths[] = { program, library };
	struct symcache_store *s;

	snprintf(program, sizeof(program), CORES "/bin/%s.debug", name);
	snprintf(library, sizeof(library), CORES "/bin/libshared.so.debug");
	ok(symcache_store_open(in_dir("cores.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	ok(symcache_store_index(s, paths, 2, NULL, &counts, NULL));
	return s;
}

struct compared {
	const struct rows *rows;
	uint32_t flags;
	size_t found;
};

static int on_located(void *ctx, size_t i, const struct symcache_located *l)
{
	struct compared *c = ctx;
	const struct row *row = &c->rows->list[i];
	const bool exact = row->how <= SYMCACHE_WALK_SIGNAL;

	if (exact == !!(c->flags & SYMCACHE_RETURN_ADDRESSES))
		return 0;
	assert_int_equal(l->address, row->pc);
	if (!*row->function || !row->vaddr)
		return 0;
	if (l->num_frames) { /* else it is of this machine's files */
		assert_string_equal(l->path, row->path);
		assert_string_equal(l->frames[0].function, row->function);
		assert_int_equal(l->vaddr, row->vaddr);
		c->found++;
	}
	return 0;
}

/* What is looked up in the space of a core is what its stacks have. */
static void cores_are_spaces(void **state)
{
	static struct rows rows;
	uint64_t list[MAX];
	struct symcache_addresses at = { sizeof(at), list, 0, 0 };
	struct compared c = { .rows = &rows };
	struct symcache_space_options options = { sizeof(options), NULL, 1, 0 };
	struct symcache_stack_options of = { sizeof(of), NULL, NULL };
	struct symcache_space *space;
	struct symcache_error err;

	(void)state;
	if (!unpack("shared"))
		skip();
	of.store = store_of("shared");
	options.stores = &of.store;
	ok(symcache_core_stacks(in_dir("core"), &of, on_frame, &rows, NULL));
	ok(symcache_space_create(&options, &space, NULL));
	ok(symcache_space_add_core(space, in_dir("core"), NULL));
	for (; at.num < rows.n; at.num++)
		list[at.num] = rows.list[at.num].pc;
	for (c.flags = 0; c.flags <= SYMCACHE_RETURN_ADDRESSES; c.flags++) {
		at.flags = c.flags;
		ok(symcache_space_symbolize(space, &at, on_located, &c, NULL));
	}
	assert_true(c.found >= 3);
	assert_int_equal(symcache_space_add_core(space, "/proc/self/exe", &err), SYMCACHE_EFORMAT);
	assert_int_equal(symcache_space_add_core(space, NULL, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_space_add_core(space, "/nonexistent", &err), SYMCACHE_ESYS);
	symcache_space_destroy(space);
	symcache_store_close(of.store);
}

/* Makes run.tf of the core: a trace frame for each thread. Fills `words` with the modules. */
static uint32_t make_trace(const char *name, char *line, size_t size, const char *words[], uint32_t max)
{
	char command[400];
	uint32_t n = 0;
	FILE *said;

	snprintf(command, sizeof(command), "scripts/from_core.py trace %s %s --stack 1000000 --elf "
		 CORES "/bin/%s", in_dir("core"), in_dir("run.tf"), name);
	said = popen(command, "r");
	assert_non_null(said);
	assert_non_null(fgets(line, (int)size, said));
	while (fgetc(said) != EOF)
		;
	ok(pclose(said));
	for (char *word = strtok(line, " \n"); word && n < max; word = strtok(NULL, " \n"))
		if (strcmp(word, "--module"))
			words[n++] = word;
	return n;
}

/* Is "BUILDID@BIAS" of the store? */
static bool is_in(struct symcache_store *s, const char *module)
{
	struct symcache_cache *c = NULL;
	char hex[100];

	snprintf(hex, sizeof(hex), "%.*s", (int)strcspn(module, "@"), module);
	symcache_store_find_build_id(s, hex, &c, NULL);
	symcache_cache_unref(c);
	return c;
}

static void traces_have_stacks(void **state)
{
	static struct rows core, trace;
	const char *modules[16], *known[16];
	char line[4000];
	struct symcache_trace_options options = { .size = sizeof(options), .modules = known };
	struct symcache_stack_options of = { sizeof(of), NULL, NULL };
	struct symcache_error err;
	size_t named = 0;
	uint32_t n;

	(void)state;
	if (!unpack("throwing"))
		skip();
	of.store = options.store = store_of("throwing");
	ok(symcache_core_stacks(in_dir("core"), &of, on_frame, &core, NULL));
	n = make_trace("throwing", line, sizeof(line), modules, 16);
	for (uint32_t i = 0; i < n; i++)
		if (is_in(of.store, modules[i]))
			known[options.num_modules++] = modules[i];
	assert_true(options.num_modules);
	ok(symcache_trace_stacks(in_dir("run.tf"), &options, on_frame, &trace, NULL));
	assert_int_equal(trace.threads, core.threads);
	assert_string_equal(trace.name, "tracepoint 1");
	assert_true(trace.n >= core.threads);
	assert_int_equal(trace.list[0].pc, core.list[0].pc);
	for (size_t i = 0; i < trace.n; i++)
		named += strstr(trace.list[i].function, "guarded") != NULL;
	assert_int_equal(named, 2); /* of the thread that threw, and of one more */
	options.num_modules = 0;
	assert_int_equal(symcache_trace_stacks(in_dir("run.tf"), &options, on_frame, &trace, &err),
			 SYMCACHE_EINVAL);
	options.num_modules = 1;
	known[0] = "/nonexistent";
	assert_int_equal(symcache_trace_stacks(in_dir("run.tf"), &options, on_frame, &trace, &err),
			 SYMCACHE_EINVAL);
	symcache_store_close(of.store);
}

static int put_frame(void *ctx, const struct symcache_walked_thread *t, const struct symcache_walked_frame *f)
{
	if (!f) {
		fprintf(ctx, "thread %u%s [%s] ends: %s\n", t->tid, t->died ? " died" : "", t->name, t->end);
		return 0;
	}
	assert_null(t->end);
	fprintf(ctx, "%" PRIx64 " is %" PRIx64 " in [%s] ", f->pc, f->vaddr, f->path);
	for (size_t i = 0; i < f->build_id_len; i++)
		fprintf(ctx, "%02x", f->build_id[i]);
	fprintf(ctx, " how %u flags %u", f->how, f->flags);
	for (size_t i = 0; i < f->num_frames; i++) {
		const struct symcache_frame *of = &f->frames[i];

		fprintf(ctx, "; %s %s:%u:%u id %d flags %u", of->function, of->file, of->line, of->column,
			(int)of->function_id, of->flags);
	}
	assert_null(f->frames[f->num_frames].function);
	fputc('\n', ctx);
	return 0;
}

/* All that is said of each frame of recorded cores, whose libc is nowhere. */
static void stacks_have_all(void **state)
{
	static const char *const names[] = { "altstack", "asmcfi", "nocfi", "shared", "spie", "tail", "threads" };
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct symcache_stack_options of = { sizeof(of), NULL, NULL };
		struct symcache_counts counts = { sizeof(counts), 0, 0, 0, 0 };
		char command[400];
		const char *bin = in_dir("bin");

		snprintf(command, sizeof(command), "cd %s && rm -rf bin core && mkdir bin && cp \"$OLDPWD\"/" CORES "/bin/* bin && "
			 "chmod u+w bin/* && unxz bin/*.xz && xz -dc \"$OLDPWD\"/" CORES "/%s.core.xz | "
			 "perl -0777 -pe 's{/lib/}{/gon/}g' > core", dir, names[i]);
		if (access(CORES, F_OK) || system(command)) {
			print_message("skipped: there is no %s\n", CORES);
			skip();
		}
		ok(symcache_store_open(in_dir("all.store"), SYMCACHE_STORE_WRITE, &of.store, NULL));
		ok(symcache_store_index(of.store, &bin, 1, NULL, &counts, NULL));
		fprintf(to, "== %s\n", names[i]);
		ok(symcache_core_stacks(in_dir("core"), &of, put_frame, to, NULL));
		symcache_store_close(of.store);
	}
	fclose(to);
	expect_recorded("core_stacks", got, len);
}

/* All that is said of the frames of recorded trace files, also where the program counter was not collected, and
 * where a stack cannot be walked. */
static void traces_have_all(void **state)
{
	static const struct { const char *name, *module; } of[] = {
		{ "c02-mem", TRACES "/programs/prog1" }, { "c04-step", TRACES "/programs/prog1" },
		{ "c16-multi", TRACES "/programs/prog1" }, { "c06-pie", TRACES "/programs/prog1pie@555555554000" },
	};
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		const struct symcache_trace_options options = { .size = sizeof(options), .modules = &of[i].module,
			.num_modules = 1 };
		struct symcache_error err = { .msg = "" };
		char path[200];

		snprintf(path, sizeof(path), TRACES "/real/%s.tf", of[i].name);
		if (access(path, F_OK)) {
			print_message("skipped: there is no %s\n", path);
			skip();
		}
		fprintf(to, "== %s\n", of[i].name);
		fprintf(to, "%d %s\n", symcache_trace_stacks(path, &options, put_frame, to, &err), err.msg);
	}
	fclose(to);
	expect_recorded("trace_stacks", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cores_are_spaces), cmocka_unit_test(traces_have_stacks),
		cmocka_unit_test(stacks_have_all), cmocka_unit_test(traces_have_all),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * What becomes of a log, and what is said of it: of one that is cut off, damaged or misnamed, by each
 * way to say it; and of an output that cannot be written.
 */
#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include "libsymcache/read/tiny_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/wait.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/logs/logs.h"

/* What becomes of "markup" and "other". */
#define A_SHOWN "[[[ELF module #0x0 \"a\033.so\"; BuildID=aabb [0x1000-0x1fff](rx)]]]\n" \
	"0x0000000000001010 (a\033.so+0x10)     #0    0x0000000000001011 (a\033.so+0x11)\n" \
	"{{{module:x}}}\n0x0000000000001012 (a\033.so+0x12)\n"
#define B_SHOWN "[[[ELF module #0x1 \"b.so\"; BuildID=cc [0x1000-0x1fff](rx)]]]\n0x0000000000001010 (b.so+0x10)\n"
#define NO_A(name) "markup:3: no symbols for module \"" name "\" (build ID aabb): there is no store\n"
#define NO_B "other:3: no symbols for module \"b.so\" (build ID cc): there is no store\n"
#define FEW "markup:4: expected at least 3 field(s); found 1: {{{module:x}}}\n"
#define LLVM_SHOWN "[[[ELF module #0x0 \"a\033.so\"; BuildID=aabb [0x1000-0x1fff](rx)]]]\n" \
	"[[[pc:0x1010]]] [[[bt:0:0x1011]]]\n[[[pc:0x1012]]]\n"
#define LLVM_SAYS "error: could not find build ID\nerror: could not find build ID\n" \
	"error: expected at least 3 field(s); found 1\n{{{module:x}}}\n         ^\nerror: could not find build ID\n"

/* The table of modules behind the addresses is read first, the log again. */
#define HEAP "heap profile: 1: 2 [3: 4] @ heap_v2/1\n1: 2 [3: 4] @ 0x401010\nMAPPED_LIBRARIES:\n" \
	"00400000-00500000 r-xp 00000000 00:00 0 /bin/a\n"

static char *said;
static size_t said_len;
static FILE *saying;

/* Each call in brackets. */
static void say(void *ctx, const struct markup_module *warns_of, const char *text, size_t len)
{
	fprintf(saying, "%s%s[%.*s]", (const char *)ctx, warns_of ? "!" : "", (int)len, text);
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(testing_dir) || chdir(testing_dir) ||
	       testing_run("echo one > plain && echo two > two && echo plain > named.gz && echo packed | gzip > packed.gz && "
			   "(echo packed; seq 20000) | gzip | head -c 2000 > cut.gz && (echo one | gzip; echo more) > more.gz && "
			   "printf 'one\\ntwo\\nthree\\n' > lines && mkdir folder && "
			   "printf '{{{module:0:a\\033.so:elf:aabb}}}\\n{{{mmap:0x1000:0x1000:load:0:rx:0}}}\\n"
			   "{{{pc:0x1010}}} {{{bt:0:0x1011}}}\\n{{{module:x}}}\\n{{{pc:0x1012}}}\\n' > markup && "
			   "printf '{{{module:\033[31m}}}\\n{{{pc:x\377}}}\\n' > odd && "
			   "printf '{{{module:1:b.so:elf:cc}}}\\n{{{mmap:0x1000:0x1000:load:1:rx:0}}}\\n{{{pc:0x1010}}}\\n' > other && "
			   "printf '" HEAP "' > heap");
}

static int tear_down(void **state)
{
	(void)state;
	return chdir("/") || testing_run("rm -r %s", testing_dir);
}

struct run {
	enum markup_dialect dialect;
	enum markup_format format;
	struct symlog_filter_options options;
	struct symlog log;
	const char *logs[3];
};

/* "RESULT", what is written, and what is said; on the heap. */
static char *run(const struct run *r)
{
	const struct markup_options markup = { .dialect = r->dialect, .format = r->format };
	struct symlog_filter_options options = r->options;
	struct symcache_caches *caches = symcache_caches_create(&(struct symcache_caches_options){
		.store_optional = true });
	FILE *out = tmpfile(), *to;
	struct symlog_filter *f;
	char *ret, text[8192];
	struct sc_error err = { .msg = "" };
	size_t len;

	saying = open_memstream(&said, &said_len);
	to = open_memstream(&ret, &len);
	options.markup = &markup;
	options.threads = 1;
	options.say = say;
	options.from.find.caches = caches;
	assert_int_equal(symlog_filter_create(&options, &f, &err), 0);
	for (size_t i = 0; r->logs[i]; i++) {
		struct symlog log = r->log;

		log.path = r->logs[i];
		log.output = (struct symlog_output){ .fd = fileno(out), .name = "out", .say_ctx = i ? (char *)"2" : (char *)"" };
		fprintf(to, "%d", symlog_filter_run(f, &log, &err));
		fprintf(to, "%s%s %d ", log.opened ? "" : " not opened", err.msg, (int)log.read);
	}
	symlog_filter_end(f, &err);
	rewind(out);
	len = fread(text, 1, sizeof(text), out);
	fprintf(to, "%.*s", (int)len, text);
	symlog_filter_destroy(f);
	symcache_caches_destroy(caches);
	fclose(out);
	fclose(saying);
	fprintf(to, "%s", said);
	free(said);
	fclose(to);
	return ret;
}

static const struct { struct run run; const char *want; } cases[] = {
	{ { .logs = { "plain" } }, "0 4 one\n" },
	{ { .logs = { "plain", "two" } }, "0 4 0 4 one\ntwo\n" },
	{ { .logs = { "packed.gz" } }, "0 7 packed\n" },
	{ { .logs = { "heap" } }, "0 126 " HEAP "[heap:2: no symbols for module \"/bin/a\"\n]" },
	/* What cannot be read is said, under the name of the command, if it has one; the next is read. */
	{ { .logs = { "none", "plain" } }, "2 not opened 0 0 4 one\n[none: No such file or directory\n]" },
	{ { .logs = { "none" }, .options.name = "filter" }, "2 not opened 0 [filter: none: No such file or directory\n]" },
	{ { .logs = { "folder" }, .options.quiet = true }, "2 not opened 0 [folder: is a directory\n]" },
	{ { .logs = { "none\033[31m" } }, "2 not opened 0 [none\\x1b[31m: No such file or directory\n]" },
	{ { .logs = { "named.gz" } }, "0 6 plain\n[named.gz: not compressed, in spite of its name; read as it is\n]" },
	{ { .logs = { "named.gz", "plain" }, .options.quiet = true },
	  "0 6 0 4 plain\none\n[named.gz: not compressed, in spite of its name; read as it is\n]" },
	{ { .logs = { "more.gz" } }, "1 4 one\n[more.gz: after 24 bytes: gzip: damaged\n]" },
	/* A part of a log; what it has before and behind is not read. */
	{ { .logs = { "lines" }, .log = { .part = true, .from = 4, .to = 8 } }, "0 4 two\n" },
	{ { .logs = { "lines" }, .log = { .part = true, .from = 4, .to = 6, .goes_on = true } }, "0 2 " },
	{ { .logs = { "none" }, .log = { .part = true, .to = 6 } }, "2 not opened 0 [none: No such file or directory\n]" },
	{ { .logs = { "lines" }, .log = { .part = true, .from = 4, .to = 8, .lines = 1, .saved = "damaged", .saved_len = 7 } },
	  "3out: the saved state at the beginning of its part is damaged 0 " },
	{ { .logs = { "named.gz" }, .log = { .part = true, .to = 6, .shown = "shown" } },
	  "0 6 plain\n[shown: not compressed, in spite of its name; read as it is\n]" },
	/* Complaints: together, one by one, not at all; a module is warned of once. */
	{ { .logs = { "markup", "other" } }, "0 132 0 80 " A_SHOWN B_SHOWN "[" NO_A("a\\x1b.so") FEW "]2[" NO_B "]" },
	{ { .logs = { "markup", "other" }, .options.each = true, .options.name = "filter" }, "0 132 0 80 " A_SHOWN B_SHOWN "![filter: " NO_A("a\\x1b.so") "][filter: " FEW "]2![filter: " NO_B "]" },
	{ { .logs = { "markup", "other" }, .options.quiet = true }, "0 132 0 80 " A_SHOWN B_SHOWN },
	{ { .logs = { "markup", "other" }, .options.no_output = true }, "0 132 0 80 " },
	{ { .logs = { "markup" }, .options.each = true, .options.from.raw = true }, "0 132 " A_SHOWN "![" NO_A("a\033.so") "][" FEW "]" },
	{ { .logs = { "markup" }, .dialect = MARKUP_LLVM, .options.name = "filter", .options.terminal = true }, "0 132 " LLVM_SHOWN "[" LLVM_SAYS "]" },
	{ { .logs = { "odd" }, .dialect = MARKUP_LLVM, .options.terminal = true }, "0 31 \n[error: expected at least 3 field(s); found 1\n{{{module:\\x1b[31m}}}\n         ^\nerror: expected address; found 'x\\xff'\n{{{pc:x\\xff}}}\n      ^\n]" },
	{ { .logs = { "odd" }, .dialect = MARKUP_LLVM }, "0 31 \n[error: expected at least 3 field(s); found 1\n{{{module:\033[31m}}}\n         ^\nerror: expected address; found 'x\377'\n{{{pc:x\377}}}\n      ^\n]" },
	{ { .logs = { "markup" }, .dialect = MARKUP_LLVM, .options.name = "filter" }, "0 132 " LLVM_SHOWN "[" LLVM_SAYS "]" },
};

static void test_runs(void **state)
{
	const unsigned files = testing_open_files();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *got = run(&cases[i].run);

		if (strcmp(got, cases[i].want))
			fail_msg("case %zu (%s): %s\nnot %s\n", i, cases[i].run.logs[0], got, cases[i].want);
		free(got);
	}
	assert_int_equal(testing_open_files(), files);
}

/* A full disk, what was not written, and a hash of all that was. */
static void test_output(void **state)
{
	const struct markup_options markup = { .dialect = MARKUP_DEFAULT };
	struct symcache_caches *caches = symcache_caches_create(NULL);
	const struct symlog_filter_options options = { .markup = &markup, .threads = 1, .say = say,
						       .from.find.caches = caches };
	static const char *const to[] = { "/dev/full", "/dev/null" };

	(void)state;
	saying = open_memstream(&said, &said_len);
	for (int i = 0; i < 2; i++) {
		const int fd = open(to[i], O_WRONLY);
		XXH3_state_t in, out;
		struct symlog log = { .path = "packed.gz", .hash = &in,
				      .output = { .fd = fd, .name = "the output", .hash = &out, .say_ctx = (char *)"" } };
		struct symlog_filter *f;
		struct sc_error err = { .msg = "" };

		XXH3_128bits_reset(&in);
		XXH3_128bits_reset(&out);
		assert_int_equal(symlog_filter_create(&options, &f, &err), 0);
		assert_int_equal(symlog_filter_run(f, &log, &err), i ? SYMLOG_OK : SYMLOG_FAILED);
		if (i) {
			char packed[100];
			FILE *file = fopen("packed.gz", "r");
			const size_t size = fread(packed, 1, sizeof(packed), file);

			fclose(file);
			assert_int_equal(log.taken, size);
			assert_true(XXH128_isEqual(XXH3_128bits_digest(&in), XXH3_128bits(packed, size)));
			assert_true(XXH128_isEqual(XXH3_128bits_digest(&out), XXH3_128bits("packed\n", 7)));
			assert_int_equal(symlog_filter_end(f, &err), 0);
		} else {
			assert_int_equal(err.code, SC_ESYS);
			assert_string_equal(err.msg, "cannot write to the output: No space left on device");
		}
		symlog_filter_destroy(f);
		close(fd);
	}
	fclose(saying);
	assert_string_equal(said, "");
	free(said);
	symcache_caches_destroy(caches);
}

/* ---- a log that is being written ----------------------------------------------------------- */

static uint64_t copy_cache(void *ctx, void *to)
{
	const struct tiny *t = ctx;
	uint8_t *bytes = tiny_bytes((struct tiny *)t);

	memcpy(to, bytes, t->size);
	free(bytes);
	return XXH3_64bits(to, t->size);
}

/* Puts a cache with build ID aabb into the store; by another process, as LMDB asks for. */
static void store_put(void)
{
	struct tiny t = tiny_example_ext(9);
	struct symstore_entry e = { .build_id = { 0xaa, 0xbb }, .build_id_len = 2, .source_path = "/bin/a",
				    .tool_version = "test" };
	struct symstore_writer *writer;
	struct symstore *store;
	const pid_t pid = fork();
	int status;

	free(tiny_bytes(&t)); /* for its size */
	e.cache_size = t.size;
	if (!pid)
		_exit(symstore_open("live.store", SYMSTORE_WRITE, &store, NULL) ||
		      symstore_write_begin(store, &writer, NULL) ||
		      symstore_put(writer, &e, copy_cache, &t, NULL, NULL) || symstore_commit(writer, NULL));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static const char modules[] = "{{{module:0:a.so:elf:aabb}}}\n{{{mmap:0x400000:0x1000:load:0:rx:0x400000}}}\n",
		  frame[] = "{{{pc:0x400010}}}\n";

/* A frame; then the store gets the program, and after a pause the same again, and the end. */
static void *write_log(void *ctx)
{
	const int to = *(const int *)ctx;

	dprintf(to, "%s%s", modules, frame);
	usleep(200000);
	store_put();
	usleep(1300000);
	dprintf(to, "{{{reset}}}\n%s%s", modules, frame);
	close(to);
	return ctx;
}

/* What comes is written at once; and where a log that is alone pauses, the store is looked at again. */
static void test_live(void **state)
{
	const struct markup_options markup = { .dialect = MARKUP_DEFAULT };

	(void)state;
	for (int alone = 0; alone < 2; alone++) {
		struct symcache_caches *caches = symcache_caches_create(&(struct symcache_caches_options){
			.store = "live.store" });
		const struct symlog_filter_options options = { .markup = &markup, .threads = 1, .say = say, .quiet = true,
							       .from.find.caches = caches };
		int pipes[2];
		char path[40], text[1000];
		FILE *out = tmpfile();
		struct symlog log = { .path = path, .alone = alone,
				      .output = { .fd = fileno(out), .name = "out", .say_ctx = (char *)"" } };
		struct symlog_filter *f;
		struct sc_error err;
		pthread_t thread;
		const char *second;
		size_t n;

		assert_int_equal(pipe(pipes), 0);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", pipes[0]);
		assert_int_equal(symlog_filter_create(&options, &f, &err), 0);
		assert_int_equal(pthread_create(&thread, NULL, write_log, &pipes[1]), 0);
		assert_int_equal(symlog_filter_run(f, &log, &err), SYMLOG_OK);
		pthread_join(thread, NULL);
		symlog_filter_end(f, &err);
		symlog_filter_destroy(f);
		symcache_caches_destroy(caches);
		close(pipes[0]);
		rewind(out);
		n = fread(text, 1, sizeof(text) - 1, out);
		text[n] = 0;
		fclose(out);
		second = strstr(text, "[[[reset]]]");
		if (!second)
			fail_msg("%s", text);
		assert_null(memmem(text, (size_t)(second - text), "main", 4));
		assert_int_equal(strstr(second, "main") != NULL, alone);
		unlink("live.store");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_runs), cmocka_unit_test(test_output),
		cmocka_unit_test(test_live) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

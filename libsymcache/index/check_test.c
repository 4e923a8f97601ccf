/* What the files of a release lack: a table of folders at the room's face. $F has files to take:
 * a.so with lines, a.debug and a.stripped of it, symbols.so without lines, none.so with neither and
 * no build ID. */
#include "libsymcache/index/check.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/bundle/bundle.h"
#include "libsymcache/index/index.h"
#include "libsymcache/index/testing_folder.h"

static char top[] = "/tmp/check_test.XXXXXX";

static const char files[] =
	"mkdir F && cd F && printf 'int f(int x) { return 2 * x; }\n' > a.c && "
	"cc() { gcc -O1 -shared -fPIC -nostdlib \"$@\" a.c; } && cc -g -Wl,--build-id=0xaa -o a.so && "
	"cc -Wl,--build-id=0xbb -o symbols.so && cc -s -Wl,--build-id=none -o none.so && "
	"cc -s -Wl,--build-id=0xcc -o stripped.so && gcc -g -c -o a.o a.c && "
	"printf 'void _start(void) { } ' > b.c && gcc -nostdlib -static -s -Wl,--build-id=0xdd -o bare b.c && "
	"objcopy --only-keep-debug a.so a.debug && objcopy --strip-all a.so a.stripped && "
	"cp a.stripped linked && objcopy --add-gnu-debuglink=a.debug linked && printf 'text\n' > text";

#define ONLY(table) " (2: no debug information, only " table ", and the file names no debug file)"
#define NO_SYMBOLS " (1: no symbols, and the file names no debug file)"

static const struct {
	const char *before;
	enum symcache_lack require;
	const char *allow;
	bool follow;
	const char *said; /* FILE (WHAT IT LACKS) breach, …: checked, breaches, allowed; lines of
			     code */
} cases[] = {
	{ "true", SYMCACHE_LACKS_LINES, NULL, false, ": 0 0 0, none" },
	{ "cp $F/a.so .", SYMCACHE_LACKS_LINES, NULL, false, "a.so aa: 1 0 0, all" },
	{ "cp $F/a.so $F/text $F/a.o .", SYMCACHE_LACKS_LINES, NULL, false, "a.so aa: 1 0 0, all" },
	{ "cp $F/symbols.so .", SYMCACHE_LACKS_LINES, NULL, false,
	  "symbols.so bb" ONLY("symtab") " breach: 1 1 0, none" },
	{ "cp $F/symbols.so .", SYMCACHE_LACKS_SYMBOLS, NULL, false,
	  "symbols.so bb" ONLY("symtab") ": 1 0 0, none" },
	{ "cp $F/symbols.so .", SYMCACHE_LACKS_LINES, "sym*", false,
	  "symbols.so bb" ONLY("symtab") " breach allowed: 1 0 1, none" },
	{ "cp $F/symbols.so .", SYMCACHE_LACKS_LINES, "a*", false,
	  "symbols.so bb" ONLY("symtab") " breach: 1 1 0, none" },
	{ "cp $F/a.stripped .", SYMCACHE_LACKS_LINES, NULL, false,
	  "a.stripped aa" ONLY("dynsym") " breach: 1 1 0, none" },
	{ "cp $F/a.stripped $F/a.debug .", SYMCACHE_LACKS_LINES, NULL, false,
	  "a.debug aa, a.stripped aa: 2 0 0, all" },
	{ "cp $F/none.so .", SYMCACHE_LACKS_ID, NULL, false,
	  "none.so derived (0: no build ID)" ONLY("dynsym") " breach: 1 1 0, none" },
	{ "cp $F/bare .", SYMCACHE_LACKS_ID, NULL, false, "bare dd" NO_SYMBOLS ": 1 0 0, none" },
	{ "cp $F/bare .", SYMCACHE_LACKS_SYMBOLS, NULL, false,
	  "bare dd" NO_SYMBOLS " breach: 1 1 0, none" },
	{ "cp $F/symbols.so $F/a.so .", SYMCACHE_LACKS_LINES, NULL, false,
	  "a.so aa, symbols.so bb" ONLY("symtab") " breach: 2 1 0, some" },
	{ "cp $F/linked .", SYMCACHE_LACKS_LINES, NULL, false,
	  "linked aa (2: no debug information, only dynsym, and there is no a.debug) breach: 1 1 0, none" },
	{ "tar cf a.tar -C $F a.so symbols.so text", SYMCACHE_LACKS_LINES, NULL, false,
	  "a.tar!a.so aa, a.tar!symbols.so bb" ONLY("symtab") " breach: 2 1 0, some" },
	{ "tar cf a.tar -C $F a.debug; cp $F/a.stripped .", SYMCACHE_LACKS_LINES, NULL, false,
	  "a.stripped aa, a.tar!a.debug aa: 2 0 0, all" },
	{ "mkdir ../d; cp $F/a.so ../d; ln -s ../d d", SYMCACHE_LACKS_LINES, NULL, false,
	  ": 0 0 0, none" },
	{ "mkdir -p ../d; cp $F/a.so ../d; ln -s ../d d", SYMCACHE_LACKS_LINES, NULL, true,
	  "d/a.so aa: 1 0 0, all" },
};

static void on_file(void *ctx, const struct symcache_checked *f)
{
	char **said = ctx, id[SYMCACHE_BUILD_ID_TEXT], lacks[400] = "", *more;
	const char *name =
		!strncmp(f->path, top, strlen(top)) ? f->path + strlen(top) + 4 : f->path;

	symcache_build_id_text(id, f->build_id, f->build_id_len);
	for (size_t i = 0; i < f->num_findings; i++) {
		assert_non_null(f->findings[i].text);
		assert_null(strchr(f->findings[i].text, '\n'));
		snprintf(lacks + strlen(lacks), sizeof(lacks) - strlen(lacks), " (%d: %s)",
			 f->findings[i].lacks, f->findings[i].text);
	}
	assert_true(f->line_bytes <= f->code_bytes);
	more = sc_text("%s%s%s %s%s%s%s", *said, **said ? ", " : "", name,
		       f->derived ? "derived" : id, lacks, f->breach ? " breach" : "",
		       f->allowed ? " allowed" : "");
	free(*said);
	*said = more;
}

static void on_progress(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	(void)ctx;
	assert_true(item && (!total || done <= total));
}

static void run(const char *command)
{
	char *text = sc_text("cd %s/in && F=../F && %s", top, command);

	assert_int_equal(system(text), 0);
	free(text);
}

static char *with_sums(char *said, const struct symcache_check_sums *s)
{
	char *ret = sc_text("%s: %" PRIu64 " %" PRIu64 " %" PRIu64 ", %s", said, s->checked,
			    s->breaches, s->allowed,
			    !s->line_bytes		     ? "none"
			    : s->line_bytes == s->code_bytes ? "all"
							     : "some");

	free(said);
	return ret;
}

static void test_files(void **state)
{
	char *path = sc_text("%s/in", top);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *said = strdup("");
		const char *const allow[] = { cases[i].allow, NULL };
		struct symcache_check_sums sums = { 0 };
		const struct symcache_check_options o = {
			.build.threads = 1,
			.require = cases[i].require,
			.follow = cases[i].follow,
			.allow = cases[i].allow ? allow : NULL,
			.sums = &sums,
			.file = on_file,
			.progress = on_progress,
			.ctx = &said,
		};
		struct sc_error err;

		run("cd .. && rm -rf in d && mkdir in");
		run(cases[i].before);
		if (symcache_check_files((const char *const[]){ path }, 1, &o, &err))
			fail_msg("%s", err.msg);
		said = with_sums(said, &sums);
		if (strcmp(said, cases[i].said))
			fail_msg("%s:\n  %s\nwanted\n  %s", cases[i].before, said, cases[i].said);
		free(said);
	}
	free(path);
}

/* The entries of a store, and of a bundle of it. */
static void test_bundles(void **state)
{
	static const char *const names[] = { "check.store", "tree", "check.tar.zst" };
	const struct symcache_index_options how = { .time = 1700000000 };
	char *in = sc_text("%s/in", top), *store_path = sc_text("%s/check.store", top);
	struct symcache_index_account account;
	struct symbundle_exported exported;
	struct symstore_reader *reader;
	struct symstore *store;
	struct sc_error err;

	(void)state;
	run("cd .. && rm -rf in && mkdir in && cp F/a.so F/symbols.so in");
	assert_int_equal(symstore_open(store_path, SYMSTORE_WRITE, &store, &err), 0);
	assert_int_equal(
		symcache_index(store, (const char *const[]){ in }, 1, &how, &account, &err), 0);
	struct symcache_check_sums of_files = { 0 };
	char *ignored = strdup("");
	const struct symcache_check_options files_alone = { .sums = &of_files, .file = on_file, .progress = on_progress,
							    .ctx = &ignored };
	assert_int_equal(symcache_check_files((const char *const[]){ in }, 1, &files_alone, &err), 0);
	free(ignored);
	for (size_t i = 0; i < 3; i++) {
		char *path = sc_text("%s/%s", top, names[i]), *said = strdup("");
		const struct symbundle_export_options o = { 0 };
		struct symcache_check_sums sums = { 0 };
		const struct symcache_check_options check = { .require = SYMCACHE_LACKS_LINES,
							      .sums = &sums,
							      .file = on_file,
							      .progress = on_progress,
							      .ctx = &said };

		assert_int_equal(symstore_read_begin(store, &reader, &err), 0);
		if (i)
			assert_int_equal(symbundle_export(reader, path, symbundle_shape_of(path),
							  &o, &exported, &err),
					 0);
		symstore_read_end(reader);
		if (symcache_check_bundle(path, &check, &err))
			fail_msg("%s", err.msg);
		/* As much code as the files say. */
		assert_int_equal(sums.code_bytes, of_files.code_bytes);
		assert_int_equal(sums.line_bytes, of_files.line_bytes);
		said = with_sums(said, &sums);
		if (!strstr(said, "a.so aa, ") ||
		    !strstr(said,
			    "symbols.so bb (2: no debug information, only symtab) breach: 2 1 0, some"))
			fail_msg("%s: %s", names[i], said);
		free(said);
		free(path);
	}
	symstore_close(store);
	free(in);
	free(store_path);
}

static int set_up(void **state)
{
	(void)state;
	return make_folder(top, files);
}

static int tear_down(void **state)
{
	(void)state;
	return remove_folder(top);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_files),
					    cmocka_unit_test(test_bundles) };

	return cmocka_run_group_tests_name("check", tests, set_up, tear_down);
}

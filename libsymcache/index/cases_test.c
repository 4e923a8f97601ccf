/*
 * What a folder gives: a table of cases at the room's face. Each begins with an empty folder and an
 * empty store; `before` fills the folder, it is indexed, `then` changes it, it is indexed again, and
 * that is compared.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "libsymcache/index/folder_test.h"

/* A folder of this run, in memory. */
#define OTHER_DEVICE "/dev/shm/$(basename $(dirname $PWD))"

#define COMES "mkdir -p ../debug/.build-id/ab && cp $F/bare.debug ../debug/.build-id/ab/cd.debug"

static const struct {
	const char *before, *then;
	int options;      /* of the second time */
	const char *said; /* FILE RESULT, …: as it was reported; then what was counted */
} cases[] = {
	/* Files. */
	{ NULL, "true", 0, ":" },
	{ NULL, "cp $F/a.so .", 0, "a.so built: indexed 1" },
	{ NULL, "cp $F/a.so $F/b.so $F/text .", 0, "a.so built, b.so built: indexed 2 other 1" },
	{ NULL, "cp $F/broken .", 0, "broken failed (cut off): failed 1" },
	{ NULL, "cp $F/bare.o .", 0, "bare.o no symbols: without 1" },
	{ NULL, "cp $F/a.o .", 0, "a.o built: indexed 1" },
	{ NULL, "mkfifo pipe", 0, ": special 1" },
	{ NULL, "cp $F/a.so a; cp a b", 0, "a built, b built: indexed 2" },
	{ NULL, "cp $F/a.so a; ln a b; ln -s a c", 0, "a built: indexed 1" },
	{ NULL, "mkdir d; cp $F/a.so d; ln -s d e", 0, "d/a.so built: indexed 1 links 1" },
	{ NULL, "mkdir d; cp $F/a.so d; ln -s d e", FOLLOW, "d/a.so built: indexed 1" },
	{ NULL, "mkdir d; cp $F/a.so d; ln -s . d/e", FOLLOW, "d/a.so built: indexed 1 loops 1" },
	/* Other file systems are entered, but not the kernel's own. */
	{ NULL, "ln -s /proc/sys/kernel/random d; cp $F/a.so .", FOLLOW, "a.so built: indexed 1" },
	{ NULL, "mkdir -p " OTHER_DEVICE " && cp $F/a.so " OTHER_DEVICE "; ln -s " OTHER_DEVICE " d", FOLLOW, "d/a.so built: indexed 1" },
	{ NULL, "ln -s nowhere a", 0, ": other 1" },
	{ NULL, "mkdir d; ln -s nowhere d/a; ln -s d e", FOLLOW, ": other 1" },
	{ NULL, "cp $F/a.o $F/a.so .", LIBDW, "a.o unsupported, a.so built: indexed 1 unsupported 1" },
	{ NULL, "tar cf a.tar -C $F a.o a.so", LIBDW, "a.tar!a.o unsupported, a.tar!a.so built: indexed 1 unsupported 1 archives 1" },
	/* The same once more. */
	{ "cp $F/a.so .", "true", 0, "a.so unchanged: unchanged 1" },
	{ "cp $F/a.so .", "true", AGAIN, "a.so built: indexed 1" },
	{ "cp $F/a.so .", "touch a.so; mv a.so b", 0, "b unchanged: unchanged 1" },
	{ "cp $F/a.so .", "cp $F/b.so a.so", 0, "a.so built: indexed 1" },
	{ "cp $F/bare.o .", "true", 0, "bare.o no symbols: without 1" },
	{ "cp $F/broken .", "true", 0, "broken failed (cut off): failed 1" },
	{ "cp $F/a.so .", "true", TAGGED, "a.so unchanged: unchanged 1" },
	{ "cp $F/a.so .", "true", LOCALS, "a.so built: indexed 1" },
	/* A debug file that comes is looked for: of a file without symbols, and of one with few. */
	{ "cp $F/bare .", "true", 0, "bare no symbols: without 1" },
	{ "cp $F/bare .", COMES, 0, "bare built: indexed 1" },
	{ "tar cf a.tar -C $F bare", COMES, 0, "a.tar!bare built: indexed 1 archives 1" },
	{ "gzip < $F/bare > bare.ko.gz", COMES, 0, "bare.ko.gz built: indexed 1 archives 1" },
	{ COMES "; cp $F/bare .", "true", 0, "bare unchanged: unchanged 1" },
	{ COMES "; tar cf a.tar -C $F bare", "true", 0, "a.tar unchanged: unchanged 1 archives 1 same 1" },
	/* One build ID in several files: the best symbols stay, whatever comes first. */
	{ "cp $F/a.stripped .", "cp $F/a.so .", 0, "a.so built, a.stripped unchanged: indexed 1 unchanged 1" },
	{ "cp $F/a.so .", "rm a.so; cp $F/a.stripped .", 0, "a.stripped built: better 1" },
	{ "cp $F/a.debug .", "cp $F/a.so .", 0, "a.debug unchanged, a.so built: indexed 1 unchanged 1" },
	{ "cp $F/a.debug .", "rm a.debug; cp $F/a.stripped .", 0, "a.stripped built: indexed 1" },
	{ "cp $F/a.debug .", "rm a.debug; cp $F/other.so .", 0, "other.so built, other.so kept: others 1" },
	{ "cp $F/a.so .", "rm a.so; cp $F/a.debug .", 0, "a.debug built: others 1" },
	{ "cp $F/a.so .", "cp $F/other.so a.so", 0, "a.so built: indexed 1" },
	{ "cp $F/a.so .", "rm a.so; cp $F/other.so .", 0, "other.so built, other.so kept: others 1" },
	{ "cp $F/a.so .", "rm a.so; cp $F/other.so .", AGAIN, "other.so built: indexed 1" },
	{ "cp $F/a.so .", "cp $F/other.so a.so", PINNED | AGAIN, "a.so built, a.so kept: others 1" },
	/* Archives: what is in one is known by the archive's bytes. */
	{ NULL, "tar cf a.tar -C $F a.so b.so text", 0, "a.tar!a.so built, a.tar!b.so built: indexed 2 archives 1" },
	{ "tar cf a.tar -C $F a.so bare.o", "true", 0,
	  "a.tar unchanged, a.tar no symbols: unchanged 1 without 1 archives 1 same 1" },
	{ "tar cf a.tar -C $F a.so", "true", AGAIN, "a.tar!a.so built: indexed 1 archives 1" },
	{ "tar cf a.tar -C $F a.so", "mv a.tar b.tar", 0, "b.tar unchanged: unchanged 1 archives 1 same 1" },
	{ "tar cf a.tar -C $F a.so", "tar cf a.tar -C $F a.so text", 0,
	  "a.tar!a.so unchanged: unchanged 1 archives 1" },
	{ "tar cf a.tar -C $F a.so", "true", LOCALS, "a.tar!a.so built: indexed 1 archives 1" },
	{ NULL, "tar czf a.tgz -C $F a.stripped a.debug", 0,
	  "a.tgz!a.debug built, a.tgz!a.stripped built: indexed 2 archives 1" },
	{ NULL, "tar cf in.tar -C $F a.so; tar cf out.tar in.tar; rm in.tar", 0,
	  "out.tar!in.tar!a.so built: indexed 1 archives 1" },
	{ NULL, "tar cf a.tar -C $F a.so; head -c 3000 a.tar > b.tar; rm a.tar", 0,
	  "b.tar!a.so failed (runcated), b.tar failed (runcated): failed 2 archives 1" },
	{ NULL, "tar cf a.tar -C $F broken b.so", 0,
	  "a.tar!broken failed (cut off), a.tar!b.so built: indexed 1 failed 1 archives 1" },
	{ "tar cf a.tar -C $F broken b.so", "true", 0,
	  "a.tar!broken failed (cut off), a.tar!b.so unchanged: unchanged 1 failed 1 archives 1" },
	/* What dwz has taken out of files, here strings alone, is found next to them, also in an archive. */
	{ NULL, "cp $F/z1 $F/all.debug .", 0, "all.debug no symbols, z1 built: indexed 1 without 1" },
	{ NULL, "cp $F/z1 .", 0, "z1 built: indexed 1 broken 1" },
	{ NULL, "cp $F/z1 .", NO_STORE, "z1 built: indexed 1 broken 1" },
	{ NULL, "tar cf a.tar -C $F z1 z2 all.debug", 0,
	  "a.tar!all.debug no symbols, a.tar!z1 built, a.tar!z2 built: indexed 2 without 1 archives 1" },
	{ NULL, "tar cf a.tar -C $F all.debug a.so z2", 0,
	  "a.tar!all.debug no symbols, a.tar!a.so built, a.tar!z2 built: indexed 2 without 1 archives 1" },
	{ NULL, "tar cf a.tar -C $F z1 text a.debug a.stripped z2 all.debug", 0,
	  "a.tar!a.debug built, a.tar!all.debug no symbols, a.tar!z1 built, a.tar!z2 built, a.tar!a.stripped built: "
	  "indexed 4 without 1 archives 1" },
	{ NULL, "tar cf a.tar -C $F z1 z2", 0, "a.tar!z1 built, a.tar!z2 built: indexed 2 broken 2 archives 1" },
	{ "tar cf a.tar -C $F z1 z2 all.debug", "true", 0,
	  "a.tar unchanged, a.tar unchanged, a.tar no symbols: unchanged 2 without 1 archives 1 same 1" },
	/* Limits, no store, threads. */
	{ NULL, "cp $F/a.so .", TIGHT, "a.so failed (it takes more): failed 1" },
	{ NULL, "cp $F/a.so $F/bare.o .", NO_STORE, "a.so built, bare.o no symbols: indexed 1 without 1" },
	{ NULL, "cp $F/a.o $F/broken .", NO_STORE | LIBDW, "a.o unsupported, broken failed (cut off): unsupported 1 failed 1" },
	{ NULL, "for i in 1 2 3 4 5 6 7 8; do cp $F/a.so $i; done", MANY, "1 built, 2 built, 3 built, 4 built, 5 built, 6 built, 7 built, 8 built: indexed 8" },
};

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *said;

		if (strstr(cases[i].said, "z1") && system("command -v dwz > /dev/null")) {
			printf("skipped: there is no dwz: %s\n", cases[i].said);
			continue;
		}
		run("cd .. && rm -rf in store* debug && mkdir in");
		if (cases[i].before) {
			run(cases[i].before);
			free(index_folder(cases[i].options & PINNED));
		}
		run(cases[i].then);
		said = index_folder(cases[i].options);
		if (strcmp(said, cases[i].said))
			fail_msg("%s; %s:\n  %s\nwanted\n  %s", cases[i].before ? cases[i].before : "-",
				 cases[i].then, said, cases[i].said);
		free(said);
	}
}

/* Paths that the user names: what is not indexed is said. */
static void test_named(void **state)
{
	static const struct { const char *command, *said; } paths[] = {
		{ "cp $F/a.so x", "x built: indexed 1" }, { "echo > x", "x failed (not an ELF file): failed 1" },
		{ ": > x", "x failed (empty file): failed 1" }, { "mkfifo x", "x failed (not a regular file): failed 1" },
		{ "ln -s nowhere x", "x failed (No such file or directory): failed 1" },
		{ "true", "x failed (No such file or directory): failed 1" }, { "cp $F/a.so y; ln -s y x", "x built: indexed 1" },
		{ "mkdir y; cp $F/a.so y; ln -s y x", "x/a.so built: indexed 1" },
		{ "tar cf x -C $F text", "x failed (no ELF file in it): failed 1 archives 1" },
		{ "tar cf x -C $F a.so", "x!a.so built: indexed 1 archives 1" },
		{ "gzip < $F/a.so > x", "x built: indexed 1 archives 1" },
		{ "mkdir x; gzip < $F/a.so > x/a; gzip < $F/b.so > x/b.ko.gz; tar cf x/t -C $F a.so", "x/b.ko.gz built: indexed 1 archives 1 other 2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		char *said;

		run("cd .. && rm -rf in store* debug && mkdir in");
		run(paths[i].command);
		said = index_path("in/x", 0);
		if (strcmp(said, paths[i].said))
			fail_msg("%s:\n  %s\nwanted\n  %s", paths[i].command, said, paths[i].said);
		free(said);
	}
}

enum { BATCH = 1000 }; /* files that are written together */

static void limit_files(rlim_t bytes)
{
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &(struct rlimit){ bytes, RLIM_INFINITY }), 0);
}

static void fill_disk(void *taken, const struct symcache_index_file *f)
{
	(void)f;
	if (++*(int *)taken == BATCH)
		limit_files(0);
}

static void empty_disk(void *taken, enum symcache_index_phase phase, uint64_t done, uint64_t total, const char *path)
{
	(void)taken, (void)phase, (void)done, (void)total;
	if (strstr(path, "b.so"))
		limit_files(RLIM_INFINITY);
}

/* A store that could not be written is an error, also if it could be soon after: of an archive, whose files
 * without symbols wait. */
static void test_disk_full(void **state)
{
	int taken = 0;
	const struct symcache_index_options o = {
		.build.threads = 1, .events = { .file = fill_disk, .progress = empty_disk, .ctx = &taken },
	};
	char *paths[] = { sc_text("%s/in/a.tar", top), sc_text("%s/in/b.so", top) }, *place = sc_text("%s/full", top);
	struct symcache_index_account a;
	struct symstore *store;
	struct sc_error err;

	(void)state;
	run("cd .. && rm -rf in && mkdir in && cd in && cp ../F/b.so . && tar cf a.tar --hard-dereference -C ../F $(yes bare.o | head -n 1001)");
	assert_int_equal(symstore_open(place, SYMSTORE_WRITE, &store, &err), 0);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(symcache_index(store, (const char *const *)paths, 2, &o, &a, &err), SC_EFULL);
	limit_files(RLIM_INFINITY);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(taken, BATCH);
	symstore_close(store);
	free(paths[0]);
	free(paths[1]);
	free(place);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases), cmocka_unit_test(test_named), cmocka_unit_test(test_disk_full),
	};

	return cmocka_run_group_tests_name("index cases", tests, set_up, tear_down);
}

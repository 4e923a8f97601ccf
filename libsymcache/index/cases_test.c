/*
 * What a folder gives: a table of cases at the room's face. Each begins with an empty folder and an
 * empty store; `before` fills the folder, it is indexed, `then` changes it, it is indexed again, and
 * that is compared. $F has files to take: a.so and b.so, a.debug and a.stripped of a.so, other.so with
 * a.so's build ID and more code, a.o without one.
 */
#include "libsymcache/index/index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/index/content.h"

static char top[] = "/tmp/index_cases.XXXXXX";

static const char files[] =
	"mkdir F && cd F && printf 'int f(int x) { return 2 * x; }\n' > a.c && "
	"cc() { gcc -g -O1 -shared -fPIC -nostdlib \"$@\"; } && cc -Wl,--build-id=0xaa -o a.so a.c && "
	"cc -Wl,--build-id=0xbb -o b.so a.c && printf 'int g(void) { return 1; }\n' | cat a.c - > b.c && cc -Wl,--build-id=0xaa -o other.so b.c && "
	"objcopy --only-keep-debug a.so a.debug && objcopy --strip-all a.so a.stripped && "
	"gcc -g -c -o a.o a.c && gcc -c -o bare.o -x assembler /dev/null && "
	"printf '\\177ELF\\2\\1\\1 not one' > broken && printf 'text\n' > text && "
	"cc -Wl,--build-id=0x11 -o z1 b.c && cc -Wl,--build-id=0x22 -o z2 b.c && "
	"(! command -v dwz > /dev/null || dwz -m all.debug z1 z2) && rm ?.c";

/* A folder of this run, in memory. */
#define OTHER_DEVICE "/dev/shm/$(basename $(dirname $PWD))"

enum { AGAIN = 1, FOLLOW = 2, PINNED = 4, TIGHT = 8, NO_STORE = 16, TAGGED = 32, MANY = 64, LOCALS = 128, LIBDW = 256 };

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

struct seen {
	char *text;
	int options;
};

static void add(struct seen *s, const char *path, const char *what, const char *reason)
{
	static const char *const short_reasons[] = { "cut off", "runcated", "it takes more" };
	const char *name = !strncmp(path, top, strlen(top)) ? path + strlen(top) + 4 : path;
	char *text;

	for (size_t i = 0; reason && i < 3; i++)
		if (strstr(reason, short_reasons[i])) {
			reason = short_reasons[i];
			break;
		}
	text = sc_text("%s%s%s %s%s%s%s", s->text ? s->text : "", s->text ? ", " : "", name, what,
		       reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
	free(s->text);
	s->text = text;
}

static void on_file(void *ctx, const struct symcache_index_file *f)
{
	static const char *const results[] = { "built", "unchanged", "no symbols", "unsupported", "failed" };
	struct seen *s = ctx;

	if (!(s->options & MANY) || f->result == SYMCACHE_INDEX_BUILT)
		add(s, f->path, results[f->result], f->reason);
}

static void on_kept(void *ctx, const char *path, const struct symstore_entry *old)
{
	assert_non_null(old->source_path);
	add(ctx, path, "kept", NULL);
}

/* `name`: in the folder of the tests. */
static char *index_path(const char *name, int options)
{
	struct symcache_index_options o = { .time = 1700000000, .build.threads = options & MANY ? 4 : 1 };
	struct symcache_index_account a;
	char *path = sc_text("%s/%s", top, name), *store_path = sc_text("%s/store", top), *ret;
	struct seen seen = { NULL, options };
	struct symstore *store = NULL;
	struct sc_error err;

	o.events = (struct symcache_index_events){ .file = on_file, .kept = on_kept, .ctx = &seen };
	o.again = options & AGAIN;
	o.follow = options & FOLLOW;
	o.tags = options & TAGGED ? "release=2" : options & PINNED ? "pinned" : NULL;
	o.memory = options & TIGHT ? 1000 : 0;
	o.build.locals = options & LOCALS;
	o.build.reader = options & LIBDW ? SYMCACHE_READER_LIBDW : SYMCACHE_READER_FAST;
	if (!(options & NO_STORE))
		assert_int_equal(symstore_open(store_path, SYMSTORE_WRITE, &store, &err), 0);
	if (symcache_index(store, (const char *const[]){ path }, 1, &o, &a, &err))
		fail_msg("%s", err.msg);
	symstore_close(store);
	const struct { const char *name; uint64_t n; } counts[] = {
		{ "indexed", a.indexed }, { "better", a.better_in_store }, { "others", a.other_in_store },
		{ "unchanged", a.unchanged }, { "without", a.without_symbols },
		{ "unsupported", a.unsupported }, { "failed", a.failed }, { "broken", a.broken },
		{ "archives", a.archives }, { "same", a.archives_unchanged }, { "other", a.other },
		{ "special", a.special }, { "links", a.links }, { "loops", a.loops },
	};
	ret = sc_text("%s:", seen.text ? seen.text : "");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		char *more = counts[i].n ? sc_text("%s %s %llu", ret, counts[i].name,
						   (unsigned long long)counts[i].n) : NULL;
		if (more) {
			free(ret);
			ret = more;
		}
	}
	free(seen.text);
	free(path);
	free(store_path);
	return ret;
}

static char *index_folder(int options)
{
	return index_path("in", options);
}

static void run(const char *command)
{
	char *text = sc_text("cd %s/in && F=../F && %s", top, command);

	assert_int_equal(system(text), 0);
	free(text);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *said;

		if (strstr(cases[i].said, "z1") && system("command -v dwz > /dev/null")) {
			printf("skipped: there is no dwz: %s\n", cases[i].said);
			continue;
		}
		run("cd .. && rm -rf in store* && mkdir in");
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

/* ---- what the store then has ---------------------------------------------------------------- */

static bool add_entry(void *ctx, const struct symstore_entry *e)
{
	static const struct { unsigned bit; const char *what; } sources[] = {
		{ SYMCACHE_FROM_DWARF, "dwarf" }, { SYMCACHE_FROM_SYMTAB, "symtab" }, { SYMCACHE_FROM_DYNSYM, "dynsym" },
		{ SYMCACHE_FROM_CFI, "cfi" }, { SYMCACHE_FROM_LOCALS, "locals" },
	};
	char **text = ctx, id[SYMCACHE_BUILD_ID_TEXT], *more;

	symcache_build_id_text(id, e->build_id, e->build_id_len);
	more = sc_text("%s%s", *text, id);
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (e->sources & sources[i].bit) {
			char *longer = sc_text("%s %s", more, sources[i].what);

			free(more);
			more = longer;
		}
	free(*text);
	*text = sc_text("%s; ", more);
	free(more);
	return true;
}

/* What a store has after a folder was indexed, changed, and indexed again with `options`. */
struct one_store {
	const char *before, *then;
	int options;
	const char *has;
};

static void expect_store(const struct one_store *of, int first_options, symstore_each_fn *fn)
{
	char *path = sc_text("%s/store", top), *has = strdup("");
	struct symstore_reader *reader;
	struct symstore *store;
	struct sc_error err;

	run("cd .. && rm -rf in store* && mkdir in");
	run(of->before);
	free(index_folder(first_options));
	run(of->then);
	free(index_folder(of->options));
	assert_int_equal(symstore_open(path, SYMSTORE_READ, &store, &err), 0);
	assert_int_equal(symstore_read_begin(store, &reader, &err), 0);
	assert_int_equal(symstore_each(reader, NULL, 0, fn, &has, &err), 0);
	symstore_read_end(reader);
	symstore_close(store);
	if (strcmp(has, of->has))
		fail_msg("%s; %s:\n  %s\nwanted\n  %s", of->before, of->then, has, of->has);
	free(has);
	free(path);
}

/* A stripped file has its unwind rows, its debug file what it is called: where both are known, the entry
 * has all, whichever comes first, also out of one archive. */
static void test_symbols(void **state)
{
	static const struct one_store stores[] = {
		{ "true", "cp $F/a.so .", 0, "aa dwarf symtab cfi; " },
		{ "true", "cp $F/a.so .", LOCALS, "aa dwarf symtab cfi locals; " },
		{ "true", "cp $F/a.debug .", 0, "aa dwarf symtab; " },
		{ "true", "cp $F/a.stripped .", 0, "aa dynsym cfi; " },
		{ "true", "cp $F/a.stripped $F/a.debug .", 0, "aa dwarf symtab cfi; " },
		{ "cp $F/a.stripped .", "rm *; cp $F/a.debug .", 0, "aa dwarf symtab cfi; " },
		{ "cp $F/a.debug .", "rm *; cp $F/a.stripped .", 0, "aa dwarf symtab cfi; " },
		{ "true", "tar czf a.tgz -C $F a.stripped a.debug", 0, "aa dwarf symtab cfi; " },
		{ "true", "tar czf a.tgz -C $F a.debug a.stripped", 0, "aa dwarf symtab cfi; " },
		{ "tar cf a.tar -C $F a.debug", "tar cf b.tar -C $F a.stripped", 0, "aa dwarf symtab cfi; " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
		expect_store(&stores[i], stores[i].options, add_entry);
}

/* The file of $F that has this size. */
static const char *of_size(uint64_t size)
{
	static const char *const names[] = { "a.so", "a.debug", "a.stripped" };
	struct stat st;

	for (size_t i = 0; i < 3; i++) {
		char *path = sc_text("%s/F/%s", top, names[i]);
		const bool same = !stat(path, &st) && (uint64_t)st.st_size == size;

		free(path);
		if (same)
			return names[i];
	}
	return "another file";
}

/* All that is recorded of an entry, but for what its cache is; $T is the folder of the tests. */
static bool add_record(void *ctx, const struct symstore_entry *e)
{
	char **text = ctx, *at, *more = sc_text("%s%02x%s %s, debug %s, names %s, tags %s, of %llu, as large as %s; ", *text,
		e->build_id[0], e->build_id_derived ? " derived" : "", e->source_path, e->debug_path, e->names, e->tags,
		(unsigned long long)e->time, of_size(e->source_size));
	struct sc_hash content;
	uint64_t size;

	sc_content_hash_file(e->source_path, &content, &size);
	assert_true(!size || (size == e->source_size && sc_hash_same(content, e->source_hash)));
	while ((at = strstr(more, top))) {
		memcpy(at, "$T", 2);
		memmove(at + 2, at + strlen(top), strlen(at + strlen(top)) + 1);
	}
	for (at = more; (at = strchr(at, '\n'));)
		*at = '+';
	free(*text);
	*text = more;
	return true;
}

/* What is recorded: paths without links and out of archives, names of each file that was seen. Of
 * several files with one build ID the best is the source. */
static void test_records(void **state)
{
	static const struct one_store stores[] = {
		{ "true", "cp $F/a.so .; ln -s a.so b; ln -s . c", 0, "aa $T/in/a.so, debug , names a.so, tags , of 1700000000, as large as a.so; " },
		{ "true", "mkdir d; cp $F/a.so d/x; ln -s d/x b", TAGGED,
		  "aa $T/in/d/x, debug , names x, tags release=2, of 1700000000, as large as a.so; " },
		{ "cp $F/a.so .", "mv a.so b.so", TAGGED,
		  "aa $T/in/a.so, debug , names a.so+b.so, tags release=2, of 1700000000, as large as a.so; " },
		{ "true", "cp $F/a.debug $F/a.stripped .", 0,
		  "aa $T/in/a.debug, debug , names a+a.stripped, tags , of 1700000000, as large as a.debug; " },
		{ "true", "tar cf a.tar -C $F a.so b.so", 0,
		  "aa $T/in/a.tar!a.so, debug , names a.so, tags , of 1700000000, as large as a.so; "
		  "bb $T/in/a.tar!b.so, debug , names b.so, tags , of 1700000000, as large as a.so; " },
		{ "tar cf a.tar -C $F a.so", "true", TAGGED,
		  "aa $T/in/a.tar!a.so, debug , names a.so, tags release=2, of 1700000000, as large as a.so; " },
		{ "true", "mkdir d; tar cf d/a.tar -C $F a.stripped a.debug; ln -s d/a.tar .", 0,
		  "aa $T/in/d/a.tar!a.stripped, debug $T/in/d/a.tar!a.debug, names a+a.stripped, tags , of 1700000000, "
		  "as large as a.stripped; " },
		{ "true", "head -c 9M /dev/zero > pad && objcopy --add-section pad=pad $F/a.so x && rm pad", MANY,
		  "aa $T/in/x, debug , names x, tags , of 1700000000, as large as another file; " },
		{ "true", "gcc -shared -fPIC -nostdlib -Wl,-soname,libx.so.1 -Wl,--build-id=0xdd -x c -o x /dev/null", 0,
		  "dd $T/in/x, debug , names libx.so.1+x, tags , of 1700000000, as large as another file; " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
		expect_store(&stores[i], 0, add_record);
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

		run("cd .. && rm -rf in store* && mkdir in");
		run(paths[i].command);
		said = index_path("in/x", 0);
		if (strcmp(said, paths[i].said))
			fail_msg("%s:\n  %s\nwanted\n  %s", paths[i].command, said, paths[i].said);
		free(said);
	}
}

static int set_up(void **state)
{
	char *command;
	int rc;

	(void)state;
	if (!mkdtemp(top))
		return -1;
	command = sc_text("cd %s && mkdir in && %s", top, files);
	rc = system(command);
	free(command);
	return rc;
}

static int tear_down(void **state)
{
	char *command = sc_text("rm -rf %s /dev/shm/%s", top, strrchr(top, '/') + 1);
	const int rc = system(command);

	(void)state;
	free(command);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases), cmocka_unit_test(test_symbols), cmocka_unit_test(test_records),
		cmocka_unit_test(test_named),
	};

	return cmocka_run_group_tests_name("index cases", tests, set_up, tear_down);
}

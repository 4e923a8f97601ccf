/*
 * ELF files by the public names: what is said of each file that is indexed, with each option, what is counted,
 * and what the store has then; what is made of one file, and its build ID;
 * what address spaces find in files.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <symcache-find.h>
#include <symcache-process.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "libsymcache/api/api.h"
#include "libsymcache/api/testing.h"

static const char files[] =
	"mkdir F && cd F && printf 'int f(int x) { int y = 2 * x; return y; }\n' > a.c && "
	"cc() { gcc -g -O1 -shared -fPIC -nostdlib \"$@\"; } && cc -Wl,--build-id=0xaabbcc -o a.so a.c && "
	"cc -Wl,--build-id=0xbb -o b.so a.c && "
	"cc -Wl,--build-id=0x$(yes abcd | head -n 32 | tr -d '\\n') -o longest.so a.c && "
	"objcopy --only-keep-debug a.so a.debug && objcopy --strip-all a.so a.stripped && "
	"printf 'int g(void) { return 1; }\n' | cat a.c - > b.c && cc -Wl,--build-id=0xaabbcc -o other.so b.c && "
	"gcc -g -c -o a.o a.c && gcc -c -o bare.o -x assembler /dev/null && printf '\\177ELF\\2\\1\\1 not one' > broken && "
	"mkdir -p debug/.build-id/aa && cp a.debug debug/.build-id/aa/bbcc.debug && rm ?.c";

/* In a folder of its own, with the files in ../F. */
static const struct {
	const char *before; /* what is indexed first, without options; NULL: nothing */
	const char *then;
	uint32_t flags;
	const char *tags;
	const char *said; /* of each file, sorted; counts; entries */
} cases[] = {
	{ NULL, "cp ../F/a.so .", 0, NULL, "a.so 0 | done 1 stayed 0 none 0 failed 0 | aabbcc a.so [] " },
	{ NULL, "cp ../F/a.so .", 0, "n\nr=2", "a.so 0 | done 1 stayed 0 none 0 failed 0 | aabbcc a.so [n,r=2] " },
	{ NULL, "cp ../F/a.so ../F/b.so ../F/bare.o ../F/broken .", 0, NULL,
	  "a.so 0, b.so 0, bare.o -7, broken -5 (why) | done 2 stayed 0 none 1 failed 1 | aabbcc a.so [] bb b.so [] " },
	{ "cp ../F/a.so .", "cp ../F/b.so .", 0, "t", "a.so 1, b.so 0 | done 1 stayed 1 none 0 failed 0 | aabbcc a.so [t] bb b.so [t] " },
	{ "cp ../F/a.so .", "true", SYMCACHE_MAKE_AGAIN, NULL, "a.so 0 | done 1 stayed 0 none 0 failed 0 | aabbcc a.so [] " },
	{ "cp ../F/a.so .", "true", SYMCACHE_MAKE_LOCALS, NULL, "a.so 0 | done 1 stayed 0 none 0 failed 0 | aabbcc a.so [] " },
	{ "cp ../F/a.so .", "rm a.so; cp ../F/a.stripped .", 0, NULL,
	  "a.stripped 0 | done 0 stayed 1 none 0 failed 0 | aabbcc a.so [] " },
	{ "cp ../F/a.so .", "rm a.so; cp ../F/other.so .", 0, NULL,
	  "other.so 0, other.so 1 (the store has another file's entry) | done 0 stayed 1 none 0 failed 0 | aabbcc a.so [] " },
	{ NULL, "mkdir ../d; cp ../F/b.so ../d; ln -s ../d e", 0, NULL, " | done 0 stayed 0 none 0 failed 0 | " },
	{ NULL, "ln -s ../d e", SYMCACHE_MAKE_FOLLOW, NULL,
	  "e/b.so 0 | done 1 stayed 0 none 0 failed 0 | bb DIR/d/b.so [] " },
	{ NULL, "tar cf a.tar -C ../F a.so bare.o", 0, NULL,
	  "a.tar!a.so 0, a.tar!bare.o -7 | done 1 stayed 0 none 1 failed 0 | aabbcc a.tar!a.so [] " },
};

struct said {
	char lines[16][200];
	size_t n;
	const char *folder;
};

static void on_file(void *ctx, const char *path, int result, const char *reason)
{
	struct said *s = ctx;
	const size_t skip = strncmp(path, s->folder, strlen(s->folder)) ? 0 : strlen(s->folder) + 1;

	assert_true(s->n < 16);
	snprintf(s->lines[s->n++], sizeof(s->lines[0]), "%s %d%s%.100s%s", path + skip, result,
		 result && *reason ? " (" : "", result == SYMCACHE_EFORMAT ? "why" : result == 1 ? reason : "",
		 result && *reason ? ")" : "");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

struct entries {
	char *text;
	const char *folder;
	bool timed;
};

static int add_entry(void *ctx, const struct symcache_entry *e)
{
	struct entries *all = ctx;
	const char *path = symcache_entry_source_path(e), *tags = symcache_entry_tags(e);
	size_t len;
	const uint8_t *bytes = symcache_entry_build_id(e, &len);
	char *to = all->text + strlen(all->text);

	for (size_t i = 0; i < len; i++)
		to += sprintf(to, "%02x", bytes[i]);
	if (!strncmp(path, all->folder, strlen(all->folder)))
		to += sprintf(to, " %s [", path + strlen(all->folder) + 1);
	else
		to += sprintf(to, " DIR%s [", path + strlen(dir));
	for (; *tags; tags++)
		*to++ = *tags == '\n' ? ',' : *tags;
	strcpy(to, "] ");
	all->timed &= symcache_entry_time(e) > 1700000000;
	return 0;
}

static void run(const char *folder, const char *command)
{
	char whole[1000];

	snprintf(whole, sizeof(whole), "cd %s && %s", folder, command);
	ok(system(whole));
}

static void indexes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char folder[100], name[16], got[2000];
		const char *const paths[] = { folder };
		struct said said = { .n = 0, .folder = folder };
		const struct symcache_make_options options = { sizeof(options), .tags = cases[i].tags,
			.flags = cases[i].flags, .file = on_file, .ctx = &said };
		struct symcache_counts n = { .size = sizeof(n) };
		struct entries entries = { .folder = folder, .timed = true };
		struct symcache_store *s;

		snprintf(name, sizeof(name), "case%zu", i);
		snprintf(folder, sizeof(folder), "%s", in_dir(name));
		ok(mkdir(folder, 0700));
		snprintf(name, sizeof(name), "store%zu", i);
		ok(symcache_store_open(in_dir(name), SYMCACHE_STORE_WRITE, &s, NULL));
		if (cases[i].before) {
			run(folder, cases[i].before);
			ok(symcache_store_index(s, paths, 1, NULL, NULL, NULL));
		}
		run(folder, cases[i].then);
		ok(symcache_store_index(s, paths, 1, &options, &n, NULL));
		qsort(said.lines, said.n, sizeof(said.lines[0]), by_text);
		*got = 0;
		for (size_t k = 0; k < said.n; k++)
			sprintf(got + strlen(got), "%s%s", k ? ", " : "", said.lines[k]);
		sprintf(got + strlen(got), " | done %d stayed %d none %d failed %d | ", (int)n.done, (int)n.stayed,
			(int)n.none, (int)n.failed);
		entries.text = got;
		ok(symcache_store_each(s, NULL, add_entry, &entries, NULL));
		assert_string_equal(got, cases[i].said);
		assert_true(entries.timed);
		symcache_store_close(s);
	}
}

static int on_local(void *ctx, const struct symcache_local_variable *v)
{
	static const char *const names[] = { "x", "y" };

	assert_string_equal(v->name, names[*(int *)ctx]);
	++*(int *)ctx;
	return 0;
}

/* Does the cache that is made of a file know the line of f, and its local variables? */
static void makes_one(void **state)
{
	char debug[100];
	const char *const with[] = { debug, NULL }, *const without[] = { "/nonexistent", NULL };
	const struct {
		const char *file;
		struct symcache_make_options o;
		int rc, line, locals;
	} files_of[] = {
		{ "a.so", { .flags = 0 }, 0, 1, SYMCACHE_EUNSUPPORTED },
		{ "a.so", { .flags = SYMCACHE_MAKE_LOCALS, .threads = 2 }, 0, 1, 0 },
		{ "a.stripped", { .debug_dirs = with }, 0, 1, SYMCACHE_EUNSUPPORTED },
		{ "a.stripped", { .debug_dirs = with, .flags = SYMCACHE_MAKE_NO_SEARCH }, 0, 0, SYMCACHE_EUNSUPPORTED },
		{ "a.stripped", { .debug_dirs = without }, 0, 0, SYMCACHE_EUNSUPPORTED },
		{ "a.so", { .memory = 1 }, SYMCACHE_ELIMIT, 0, 0 }, { "bare.o", { .flags = 0 }, SYMCACHE_ENOSYMBOLS, 0, 0 },
		{ "broken", { .flags = 0 }, SYMCACHE_EFORMAT, 0, 0 }, { "none", { .flags = 0 }, SYMCACHE_ESYS, 0, 0 },
	};
	struct symcache_resolver *r = resolver(0);

	(void)state;
	snprintf(debug, sizeof(debug), "%s", in_dir("F/debug"));
	for (size_t i = 0; i < sizeof(files_of) / sizeof(*files_of); i++) {
		struct symcache_make_options o = files_of[i].o;
		const struct symcache_frame *f;
		struct symcache_error err;
		struct symcache_cache *c;
		char path[100], name[40];
		uint64_t vaddr;
		size_t len;
		int rc;

		snprintf(name, sizeof(name), "F/%s", files_of[i].file);
		snprintf(path, sizeof(path), "%s", in_dir(name));
		o.size = sizeof(o);
		rc = symcache_make(path, &o, &c, &err);
		if (rc != files_of[i].rc)
			fail_msg("%zu, %s: %d, %s", i, path, rc, rc ? err.msg : "");
		if (rc) {
			assert_true(!c && strstr(err.msg, files_of[i].file));
			continue;
		}
		assert_int_equal(symcache_addresses_of(r, c, "f", &vaddr, 1), 1);
		assert_int_equal(symcache_frames(r, c, vaddr, &f), 1);
		assert_int_equal(f->line, files_of[i].line);
		assert_int_equal(symcache_each_local(r, c, vaddr, on_local, &(int){ 0 }, NULL), files_of[i].locals);
		symcache_cache_build_id(c, &len);
		assert_int_equal(len, 0); /* it is of no store */
		symcache_cache_unref(c);
	}
	symcache_resolver_destroy(r);
}

static void knows_build_ids(void **state)
{
	static const struct { const char *file; int rc, derived; size_t len; } cases_of[] = {
		{ "F/a.so", 0, 0, 3 }, { "F/a.debug", 0, 0, 3 }, { "F/a.o", 0, 1, 16 }, { "F/broken", SYMCACHE_EFORMAT, 7, 0 },
		{ "F/none", SYMCACHE_ESYS, 7, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases_of) / sizeof(*cases_of); i++) {
		uint8_t of[SYMCACHE_ID_MAX];
		int derived = 7;
		size_t len = 0;

		assert_int_equal(symcache_file_build_id(in_dir(cases_of[i].file), of, &len, &derived, NULL), cases_of[i].rc);
		assert_int_equal(derived, cases_of[i].derived);
		assert_int_equal(len, cases_of[i].len);
		if (len == 3)
			assert_memory_equal(of, "\xaa\xbb\xcc", 3);
	}
}

static int keep_line(void *ctx, size_t i, const struct symcache_located *l)
{
	(void)i;
	*(int *)ctx = l->num_frames && !strcmp(l->frames->function, "f") ? (int)l->frames->line : -l->reason;
	assert_true(!*l->path || !strcmp(l->path, in_dir("F/a.stripped")));
	assert_true(!l->cache && l->build_id_len == 3);
	return 0;
}

/* What no store has: its file, and its debug file in the folders that are named. */
static void spaces_use_files(void **state)
{
	char debug[100];
	const char *const with[] = { "/nonexistent", debug, NULL }, *const without[] = { "/nonexistent", NULL };
	static const uint8_t build_id[] = { 0xaa, 0xbb, 0xcc };
	struct symcache_mapped m = { sizeof(m), 0x10000, 0x20000, 0, in_dir("F/a.stripped"), build_id, 3,
				     SYMCACHE_OFFSET_IN_IMAGE, 0 };
	struct symcache_resolver *r = resolver(0);
	struct symcache_store *s;
	struct symcache_cache *c;
	uint64_t vaddr;

	(void)state;
	snprintf(debug, sizeof(debug), "%s", in_dir("F/debug"));
	ok(symcache_store_open(in_dir("empty.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	ok(symcache_make(in_dir("F/a.so"), NULL, &c, NULL));
	assert_int_equal(symcache_addresses_of(r, c, "f", &vaddr, 1), 1);
	vaddr += 0x10000;
	for (int i = 0; i < 6; i++) { /* the last ones without a path */
		const struct symcache_space_options options = { sizeof(options), &s, 1, 0 };
		const struct symcache_space_files files_of = { .size = sizeof(files_of),
			.debug_dirs = i < 2 ? NULL : i % 2 ? with : without };
		const struct symcache_addresses at = { sizeof(at), &vaddr, 1, 0 };
		static const int lines[] = { -SYMCACHE_REASON_NO_CACHE, 0, 0, 1,
						     -SYMCACHE_REASON_NO_CACHE, 1 };
		struct symcache_space *space;
		int line = -99;

		m.path = i < 4 ? m.path : NULL;
		ok(symcache_space_create(&options, &space, NULL));
		ok(symcache_space_add(space, &m, NULL));
		if (i)
			ok(symcache_space_use_files(space, &files_of, NULL));
		ok(symcache_space_symbolize(space, &at, keep_line, &line, NULL));
		assert_int_equal(line, lines[i]);
		symcache_space_destroy(space);
	}
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

static int keep_id(void *ctx, size_t i, const struct symcache_located *l)
{
	(void)i;
	if (l->build_id_len)
		snprintf(ctx, 100, "%zu of %02x%02x", l->build_id_len, l->build_id[0], l->build_id[l->build_id_len - 1]);
	return 0;
}

/* Of a process the build ID is that of the file which it has mapped, also the longest. */
static void spaces_give_build_ids(void **state)
{
	static const struct { const char *file, *want; } of[] = { { "F/a.so", "3 of aacc" }, { "F/longest.so", "64 of abcd" } };

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		const int fd = open(in_dir(of[i].file), O_RDONLY | O_CLOEXEC);
		char *image = mmap(NULL, 0x2000, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0), got[100] = "";
		const uint64_t address = (uintptr_t)image + 0x1000;
		const struct symcache_addresses at = { sizeof(at), &address, 1, 0 };
		struct symcache_store *s;
		struct symcache_space *space;

		assert_true(fd >= 0 && image != MAP_FAILED);
		ok(symcache_store_open(in_dir("none.store"), SYMCACHE_STORE_WRITE, &s, NULL));
		ok(symcache_space_create(&(struct symcache_space_options){ sizeof(struct symcache_space_options), &s, 1, 0 },
					 &space, NULL));
		ok(symcache_space_add_process(space, 0, NULL));
		ok(symcache_space_use_files(space, NULL, NULL));
		ok(symcache_space_symbolize(space, &at, keep_id, got, NULL));
		assert_string_equal(got, of[i].want);
		symcache_space_destroy(space);
		symcache_store_close(s);
		munmap(image, 0x2000);
		close(fd);
	}
}

static void index_one(struct symcache_store *s, const char *name, const char *tags)
{
	const struct symcache_make_options options = { sizeof(options), .tags = tags };
	const char *path = in_dir(name);

	ok(symcache_store_index(s, &path, 1, &options, NULL, NULL));
}

/* What becomes of an entry that is imported, where there is one of its build ID. */
static void imports(void **state)
{
	static const struct { const char *has, *tags, *comes; int done, stayed; } imported[] = {
		{ "F/b.so", NULL, "F/a.so", 1, 0 }, { "F/a.so", NULL, "F/a.so", 0, 1 }, { "F/a.so", NULL, "F/a.stripped", 0, 1 },
		{ "F/a.so", NULL, "F/other.so", 1, 0 }, /* as good, and not older */ { "F/a.stripped", "pinned", "F/a.so", 0, 1 },
		{ "F/a.stripped", NULL, "F/a.so", 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(imported) / sizeof(*imported); i++) {
		struct symcache_counts n = { .size = sizeof(n), .none = 7 };
		struct symcache_store *into, *from;

		run(dir, "rm -rf into* from* bundle");
		ok(symcache_store_open(in_dir("into"), SYMCACHE_STORE_WRITE, &into, NULL));
		ok(symcache_store_open(in_dir("from"), SYMCACHE_STORE_WRITE, &from, NULL));
		index_one(into, imported[i].has, imported[i].tags);
		index_one(from, imported[i].comes, "new");
		ok(symcache_store_export(from, in_dir("bundle"), "new", &n, NULL));
		assert_true(n.done == 1 && !n.stayed && !n.none && !n.failed);
		ok(symcache_store_import(into, in_dir("bundle"), NULL, &n, NULL));
		if ((int)n.done != imported[i].done || (int)n.stayed != imported[i].stayed || n.none || n.failed)
			fail_msg("%zu: done %d, stayed %d, failed %d", i, (int)n.done, (int)n.stayed, (int)n.failed);
		symcache_store_close(into);
		symcache_store_close(from);
	}
}

/* An entry that is damaged, of the store or of the bundle, is counted as failed, and the others are taken. */
static void counts_damage(void **state)
{
	struct symcache_counts n = { .size = sizeof(n) };
	struct symcache_store *into, *from;

	(void)state;
	run(dir, "rm -rf into* from* bundle");
	ok(symcache_store_open(in_dir("from"), SYMCACHE_STORE_WRITE, &from, NULL));
	index_one(from, "F/a.so", NULL);
	index_one(from, "F/b.so", NULL);
	ok(symcache_store_export(from, in_dir("bundle"), NULL, &n, NULL));
	assert_true(n.done == 2 && !n.stayed && !n.none && !n.failed);
	symcache_store_close(from);
	/* Where it stands first in the store, and in one file of the bundle. */
	run(dir, "perl -0777pi -e 's/a\\.c/x.c/' from && printf x | "
	    "dd of=$(ls -d bundle/*/.*.packed | head -n 1) bs=1 seek=100 conv=notrunc status=none");
	ok(symcache_store_open(in_dir("from"), 0, &from, NULL));
	ok(symcache_store_open(in_dir("into"), SYMCACHE_STORE_WRITE, &into, NULL));
	ok(symcache_store_import(into, in_dir("bundle"), NULL, &n, NULL));
	assert_true(n.done == 1 && !n.stayed && !n.none && n.failed == 1);
	ok(symcache_store_export(from, in_dir("rest"), NULL, &n, NULL));
	assert_true(n.done == 1 && !n.stayed && !n.none && n.failed == 1);
	symcache_store_close(into);
	symcache_store_close(from);
}

/* Symbolizers have a row for each number of a cache: those of caches that are gone are given again, and no two
 * have the same. */
static void numbers_caches(void **state)
{
	struct symcache_cache *c[6];

	(void)state;
	for (int round = 0; round < 3; round++) {
		bool has[6] = { false };

		for (int i = 0; i < 6; i++)
			if (!round || i % 3 == 1)
				ok(symcache_make(in_dir("F/a.so"), NULL, &c[i], NULL));
		for (int i = 0; i < 6; i++) {
			assert_true(c[i]->module.number < 6 && !has[c[i]->module.number]);
			has[c[i]->module.number] = true;
		}
		for (int i = 0; i < 6; i++)
			if (round == 2 || i % 3 == 1)
				symcache_cache_unref(c[i]);
	}
}

/* The folders of the default store are made when it is written; those of another one are the caller's. */
static void makes_default_store(void **state)
{
	struct symcache_store *s;

	(void)state;
	unsetenv("SYMCACHE_STORE");
	setenv("XDG_CACHE_HOME", in_dir("caches"), 1);
	assert_int_equal(symcache_store_open(NULL, 0, &s, NULL), SYMCACHE_ENOTFOUND);
	assert_int_not_equal(access(in_dir("caches"), F_OK), 0);
	ok(symcache_store_open(NULL, SYMCACHE_STORE_WRITE, &s, NULL));
	assert_string_equal(symcache_store_path(s), in_dir("caches/symcache/symcache.store"));
	symcache_store_close(s);
	assert_int_equal(symcache_store_open(in_dir("none/x.store"), SYMCACHE_STORE_WRITE, &s, NULL), SYMCACHE_ESYS);
	assert_int_not_equal(access(in_dir("none"), F_OK), 0);
}

static int set_up_files(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(dir));
	run(dir, files);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(indexes), cmocka_unit_test(makes_one), cmocka_unit_test(knows_build_ids),
		cmocka_unit_test(spaces_use_files), cmocka_unit_test(spaces_give_build_ids), cmocka_unit_test(imports), cmocka_unit_test(counts_damage),
		cmocka_unit_test(makes_default_store), cmocka_unit_test(numbers_caches),
	};

	return cmocka_run_group_tests(tests, set_up_files, tear_down);
}

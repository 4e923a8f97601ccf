/*
 * Sources and their lines as they are shown: which file a path means, what is refused, and what reaches
 * a terminal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>
#include <sys/stat.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/symbolize/debug_files.h"

static char dir[] = "/tmp/symcache-sources-XXXXXX", below[80], map[120];
static const char *folders[] = { NULL, below, NULL }, *maps[] = { map, NULL };
static struct symcache_source_search search;

static const char *in_dir(const char *name)
{
	static char path[2][300];
	static unsigned n;

	snprintf(path[++n % 2], sizeof(*path), "%s/%s", dir, name);
	return path[n % 2];
}

static void write_file(const char *name, const char *text)
{
	FILE *f = fopen(in_dir(name), "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0 && !fclose(f));
}

static int set_up(void **state)
{
	static const char *const made[] = { "", "/below", "/below/src", "/include", "/map", "/folder.c", "/other" };
	static char other[80];
	struct sc_error err;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	for (size_t i = 1; i < sizeof(made) / sizeof(*made); i++)
		if (mkdir(in_dir(made[i]), 0700))
			return -1;
	snprintf(below, sizeof(below), "%s/below/", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	folders[0] = other;
	snprintf(map, sizeof(map), "/old=%s/map", dir);
	write_file("a.c", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\n");
	write_file("odd.c", "a\tb\033[31m\x7f\r\xc3\xa9\xff\n\nlast, without an end");
	write_file("secret", "secret\n");
	write_file("secret.key", "secret\n");
	write_file("include/vector", "a header\n");
	write_file("caf\xe9.c", "latin\n");
	write_file("empty.c", "");
	write_file("map/m.txt", "mapped\n");
	write_file("below/src/c.txt", "below src\n");
	write_file("below/c.txt", "below\n");
	write_file("below/b.txt", "below\n");
	write_file("other/b.txt", "other\n");
	write_file("below/a.c", "not this one\n");
	if (symlink(in_dir("secret"), in_dir("link.c")) || symlink(in_dir("a.c"), in_dir("link")) ||
	    mkfifo(in_dir("fifo.c"), 0600))
		return -1;
	return symcache_transforms_init(&search.maps, &(struct symcache_maps){ .path_maps = maps }, &err);
}

static int tear_down(void **state)
{
	(void)state;
	symcache_transforms_deinit(&search.maps);
	return testing_run("rm -r %s", dir);
}

/* `want` NULL: no text; "refused": there is one that is not shown. */
static const struct { const char *path; const char *want, *with_folders; } files[] = {
	{ "DIR/a.c", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\n" },
	{ "DIR/include/vector", "a header\n" },
	{ "DIR/empty.c", "" },
	{ "DIR/caf%E9.c", "latin\n" },
	{ "DIR/none.c", NULL }, { "DIR/folder.c", NULL }, { "DIR/fifo.c", NULL }, { "", NULL },
	{ "DIR/secret", "refused" }, { "DIR/secret.key", "refused" }, { "DIR/link.c", "refused" },
	{ "DIR/link", "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\neleven\n" },
	{ "/old/m.txt", "mapped\n" }, { "/old/n.txt", NULL }, { "/older/m.txt", NULL },
	{ "/gone/src/b.txt", NULL, "other\n" },       /* in the first folder that has it, */
	{ "/gone/src/c.txt", NULL, "below src\n" },   /* the longest end */
	{ "/gone/b.txt", NULL, "other\n" }, { "b.txt", NULL, "other\n" },
	{ "/gone//src///c.txt", NULL, "below src\n" }, { "/gone/../b.txt", NULL, "other\n" },
	{ "/gone/below/../../a.c", NULL, "not this one\n" }, { "../below/b..txt", NULL },
	{ "/gone/src", NULL }, { "/gone/", NULL },
};

static void finds_files(void **state)
{
	(void)state;
	for (int with = 0; with < 2; with++) {
		struct symcache_source_files s = { .search = &search };

		search.folders = with ? folders : NULL;
		for (int again = 0; again < 2; again++) /* they are remembered */
			for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
				const char *want = with && files[i].with_folders ? files[i].with_folders : files[i].want;
				const bool ours = !strncmp(files[i].path, "DIR", 3), refused = want && !strcmp(want, "refused");
				const char *path = ours ? in_dir(files[i].path + 4) : files[i].path;
				const struct symcache_source_file *f =
					symcache_source_files_get(&s, NULL, sc_str_of(path));

				assert_string_equal(f->path, path);
				if (!f->bytes != (!want || refused) || (f->bytes && strcmp(f->bytes, want)) ||
				    f->size != (f->bytes ? strlen(want) : 0) || (refused && !f->refused))
					fail_msg("%s%s: %s", path, with ? ", with folders" : "",
						 f->bytes ? f->bytes : f->refused ? "refused" : "none");
			}
		symcache_source_files_deinit(&s);
	}
}

static void shows_lines(void **state)
{
	static const struct { const char *name; uint32_t line; uint64_t n; const char *want; } cases[] = {
		{ "a.c", 1, 1, "1 >: one\n" },
		{ "a.c", 1, 2, "1 >: one\n2  : two\n" },
		{ "a.c", 2, 3, "1  : one\n2 >: two\n3  : three\n" },
		{ "a.c", 3, 2, "2  : two\n3 >: three\n" },
		{ "a.c", 3, 7, "1  : one\n2  : two\n3 >: three\n4  : four\n5  : five\n6  : six\n7  : seven\n" },
		{ "a.c", 10, 3, "9   : nine\n10 >: ten\n11  : eleven\n" },
		{ "a.c", 10, 2, "9  : nine\n10 >: ten\n" },
		{ "a.c", 11, 5, "9   : nine\n10  : ten\n11 >: eleven\n" },
		{ "a.c", 12, 4, "10  : ten\n11  : eleven\n" },
		{ "a.c", 14, 4, "" }, { "a.c", 4000000000, 2, "" },
		{ "a.c", 0, 3, "" }, { "a.c", 3, 0, "" },
		{ "a.c", 1, UINT32_MAX + 1ull, "" },
		{ "a.c", 11, 1, "11 >: eleven\n" },
		{ "odd.c", 1, 1, "1 >: a\tb[31m\xc3\xa9\n" },
		{ "odd.c", 2, 5, "1  : a\tb[31m\xc3\xa9\n2 >: \n3  : last, without an end\n" },
		{ "empty.c", 1, 3, "" }, { "none.c", 1, 3, "" },
	};
	struct symcache_source_files s = { .search = &search };
	char want[300];
	struct sc_str got;

	(void)state;
	search.folders = NULL;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		got = symcache_source_lines(&s, NULL, sc_str_of(in_dir(cases[i].name)), cases[i].line, cases[i].n);
		if (!sc_str_same(got, sc_str_of(cases[i].want)))
			fail_msg("%s:%u %u: %.*s", cases[i].name, cases[i].line, (unsigned)cases[i].n, (int)got.len, got.ptr);
	}
	got = symcache_source_lines(&s, NULL, (struct sc_str){ NULL, 0 }, 1, 1);
	assert_null(got.ptr);
	got = symcache_source_lines(&s, NULL, sc_str_of(in_dir("secret")), 1, 1);
	snprintf(want, sizeof(want), "not shown: %s/secret does not have the name of a source file, and is below no "
		 "--source-directory\n", dir);
	assert_true(sc_str_same(got, sc_str_of(want)));
	symcache_source_files_deinit(&s);
}

/* Of very many lines about a mebibyte, and of files those that were asked for last, up to a number and a
 * size: they are read once. */
static void is_bounded(void **state)
{
	enum { MANY = SYMCACHE_SOURCES_KEPT + 1, LARGE = SYMCACHE_SOURCE_MAX / 2 + 1 };
	struct symcache_source_files s = { .search = &search };
	FILE *f = fopen(in_dir("long.c"), "w");
	const struct symcache_source_file *file;
	struct sc_str got;
	char name[32];

	(void)state;
	for (int i = 0; i < 400000; i++)
		fputs("1234\n", f);
	assert_false(fclose(f));
	got = symcache_source_lines(&s, NULL, sc_str_of(in_dir("long.c")), 1, 1000000);
	assert_in_range(got.len, 1 << 20, (1 << 20) + 20);
	f = fopen(in_dir("exact.c"), "w"); /* its first line is a mebibyte with "1 >: " */
	fprintf(f, "%*s\ntwo\n", (1 << 20) - 6, "one");
	assert_false(fclose(f));
	got = symcache_source_lines(&s, NULL, sc_str_of(in_dir("exact.c")), 1, 2);
	assert_int_equal(got.len, 1 << 20);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "n%d.c", i);
		write_file(name, "before");
		assert_string_equal(symcache_source_files_get(&s, NULL, sc_str_of(in_dir(name)))->bytes, "before");
		write_file(name, "behind");
	}
	for (int i = MANY; i-- > 0;) { /* the first one was driven out by the last */
		snprintf(name, sizeof(name), "n%d.c", i);
		assert_string_equal(symcache_source_files_get(&s, NULL, sc_str_of(in_dir(name)))->bytes,
				    i ? "before" : "behind");
	}
	symcache_source_files_deinit(&s);
	s = (struct symcache_source_files){ .search = &search };
	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "n%d.c", i);
		if (i)
			assert_false(truncate(in_dir(name), LARGE));
		file = symcache_source_files_get(&s, NULL, sc_str_of(in_dir(name)));
		assert_int_equal(file->size, i ? LARGE : 6);
		assert_true(s.bytes <= SYMCACHE_SOURCES_KEPT_MAX);
	}
	assert_int_equal(s.bytes, LARGE); /* both would be too much: the older ones went */
	assert_false(truncate(in_dir("n3.c"), SYMCACHE_SOURCE_MAX + 1));
	file = symcache_source_files_get(&s, NULL, sc_str_of(in_dir("n3.c")));
	assert_true(!file->bytes && !file->size && !file->refused);
	symcache_source_files_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_files), cmocka_unit_test(shows_lines), cmocka_unit_test(is_bounded),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

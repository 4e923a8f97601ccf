/* Unit tests of embedded sources, in line tables written here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/dwarf/line_writer.h"
#include "libsymcache/write/sources.h"
#include "libsymcache/write/synthetic_test.h"

/* /comp/a.c, of DWARF 5, without its source. */
static void put_without_source(struct bytes *out)
{
	static const struct line_shape shape = { 5, 4, false, 1, 1, 14, 13 };
	struct line_table t;

	line_begin(&t, &shape);
	for (int file = 0; file < 2; file++) { /* or a folder */
		put(&t.line, 1, 1);
		put_uleb(&t.line, DW_LNCT_path);
		put_uleb(&t.line, DW_FORM_string);
		put_uleb(&t.line, 1);
		put_str(&t.line, file ? "a.c" : "/comp");
	}
	line_program_begins(&t);
	line_end(&t);
	put_block(out, t.line.b.data, t.line.b.len);
	bytes_deinit(&t.line);
}

/* A file with tables of lines: of DWARF 4, which has no sources, and of DWARF 5 without and with them. */
static struct symcache_sources *open_file(bool with_sources, bool broken)
{
	static const struct line_shape shape = { 5, 4, false, 1, 1, 14, 13 };
	const struct symcache_build_options options = { .no_debug_search = true };
	struct symcache_sources *ret;
	struct line_table t;
	struct bytes file = {0};
	struct sc_error err;
	struct dwarf w;
	char path[32];
	int fd;

	begin(&w);
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	line_end(&t);
	put_block(&w.line, t.line.b.data, t.line.b.len);
	bytes_deinit(&t.line);
	put_without_source(&w.line);
	if (with_sources) {
		line_begin(&t, &shape);
		line_standard_files(&t);
		line_end(&t);
		if (broken)
			t.line.b.data[t.line.b.len - 30] ^= 0xff;
		put_block(&w.line, t.line.b.data, t.line.b.len);
		put_block(&w.line_str, t.line_str.b.data, t.line_str.b.len);
		bytes_deinit(&w.str);
		w.str = t.str;
		bytes_deinit(&t.line);
		bytes_deinit(&t.line_str);
	}
	dwarf_file(&w, &file);
	dwarf_deinit(&w);
	fd = testing_memfd(file.b.data, file.b.len, path);
	assert_int_equal(symcache_sources_open(path, &options, &ret, &err), 0);
	close(fd);
	bytes_deinit(&file);
	return ret;
}

static bool has(const struct symcache_sources *s, const char *path)
{
	const struct sc_str text =
		symcache_sources_find(s, sc_str_of(path));

	return text.ptr && text.len == 6 && !memcmp(text.ptr, "int x;", 6);
}

static void test_sources(void **state)
{
	struct symcache_sources *s = open_file(true, false);

	(void)state;
	assert_non_null(s);
	assert_true(has(s, "/comp/a.c"));
	assert_true(has(s, "/comp/./x/../inc/b.h"));
	assert_true(has(s, "/abs/c.h"));
	assert_true(has(s, "inc/b.h"));
	assert_true(has(s, "c.h"));
	assert_false(has(s, "/c.h"));
	assert_false(has(s, "/comp/a.h"));
	assert_false(has(s, "/comp/a.cc"));
	assert_false(has(s, "/comp/a."));
	assert_false(has(s, "inc/b.c"));
	assert_false(has(s, "bs/c.h"));
	assert_false(has(s, ""));
	symcache_sources_close(s);
	assert_null(open_file(false, false));
	symcache_sources_close(open_file(true, true));
}

/* Each length that a path may have. */
static void test_lengths(void **state)
{
	struct symcache_sources *s = open_file(true, false);
	char path[200];

	(void)state;
	assert_non_null(s);
	memset(path, 'x', sizeof(path));
	for (size_t len = 1; len < sizeof(path) - 1; len++) {
		const struct sc_str text = symcache_sources_find(s, (struct sc_str){ path, len });

		assert_null(text.ptr);
	}
	assert_true(has(s, "/comp/a.c"));
	symcache_sources_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sources), cmocka_unit_test(test_lengths) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

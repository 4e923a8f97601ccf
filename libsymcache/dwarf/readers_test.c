/* Unit tests of the readers: of each unit, the fast one finds the facts that libdw finds, whatever
 * the compiler, the version of DWARF and the way in which it was linked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/dwarf/dwarf_writer.h"
#include "libsymcache/dwarf/readers_test.h"

/* Variables of facts.cc by the ends of their names, with their sizes and lines. */
enum { FIRST_OTHER = 4 }; /* than those of classes and the like */
static const struct variable {
	const char *name;
	unsigned size, line;
} variables[] = {
	{ "color", 4, 29 }, { "word", 8, 30 }, { "items", 96, 58 }, { "longs", 32, 80 },
	{ "plain", 4, 24 }, { "hidden", 8, 25 }, { "names", 32, 26 }, { "board", 60, 27 }, { "boards", 16, 28 },
	{ "seen_by_c", 14, 31 }, { "counted", 8, 36 },
	{ "method", 16, 47 }, { "member", 8, 48 }, { "calls", 4, 62 }, { "reference", 8, 85 },
	{ "kept", 8, 114 },
};

/* The line "variable PREFIXnameSUFFIX vaddr, 4 bytes at /src||facts.cc:24". NULL: it was optimised
 * away. */
static const char *find_variable(const char *text, const char *name)
{
	for (const char *at = text; (at = strstr(at, "\nvariable ")); at++) {
		const size_t n = strcspn(at + 10, " ");
		const char *found = strstr(at + 10, name);

		if (found && found < at + 10 + n && strchr(" EI", found[strlen(name)]))
			return at + 1;
	}
	return NULL;
}

static void expect_variables(const char *path, const char *text)
{
	size_t found = 0;
	/* A class that stands in a type unit is declared with its signature, which is not followed. */
	const size_t first = strstr(path, "types") ? FIRST_OTHER : 0;

	for (size_t i = first; i < sizeof(variables) / sizeof(*variables); i++) {
		const struct variable *v = &variables[i];
		const char *line = find_variable(text, v->name);
		char size[32], place[32];
		const char *end, *at;

		if (!line)
			continue;
		end = line + strcspn(line, "\n");
		at = end - snprintf(place, sizeof(place), "|facts.cc:%u", v->line);
		snprintf(size, sizeof(size), ", %u bytes at ", v->size);
		if (strncmp(strchr(line, ','), size, strlen(size)) || strncmp(at, place, (size_t)(end - at)))
			fail_msg("%s: \"%.*s\" is not \"%s…%s\"", path, (int)(end - line), line, size, place);
		found++;
	}
	if (found < 8)
		fail_msg("%s: %zu variables alone", path, found);
}

static void test_programs(void **state)
{
	static const char *const suffixes[] = {
		".gcc2", ".gcc3", ".gcc4", ".gcc5", ".types4", ".types5", ".split4", ".split5",
		".clang2", ".clang3", ".clang4", ".clang5", ".clang-types5", ".clang-split4",
		".clang-split5", ".lto", ".dwz5",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		char path[64];
		struct facts_text t;

		snprintf(path, sizeof(path), "build/testprogs/facts%s", suffixes[i]);
		if (access(path, R_OK)) {
			printf("skipped: there is no %s\n", path);
			continue;
		}
		t = compare_readers(path);
		expect_variables(path, t.text);
		free(t.text);
	}
}

/* A .dwo file of another build: its unit has another id, and nothing of it is taken. */
static void test_other_dwo(void **state)
{
	static const char *const others[] = { "facts.split4-facts.dwo", "facts.split5-facts.dwo", "none.dwo" };

	(void)state;
	for (unsigned version = 4; version <= 5; version++)
		for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
			char path[64];
			struct dwarf_of_file f;
			struct dw_sections s;
			struct facts_text t;
			bool own = version == 4 + i;

			snprintf(path, sizeof(path), "build/testprogs/facts.split%u", version);
			f = dwarf_of_path(path);
			assert_non_null(f.dbg);
			s = sections_of(f.dbg, "");
			t = facts_by_us(path, &s, others[i]);
			assert_int_equal(strstr(t.text, "variable plain ") != NULL, own);
			assert_int_equal(strstr(t.text, "no unit 0x") != NULL, !own && i < 2);
			assert_int_equal(strstr(t.text, "none.dwo is not there") != NULL, i == 2);
			assert_non_null(strstr(t.text, " rows ["));
			free(t.text);
			dwarf_of_file_close(&f);
		}
}

/* What both readers say of the file has this in it. */
static void expect_of_both(struct dwarf *w, const char *want)
{
	struct bytes file = {0};
	struct facts_text t;
	char path[32];
	int fd;

	dwarf_file(w, &file);
	fd = testing_memfd(file.b.data, file.b.len, path);
	t = compare_readers(path);
	if (!strstr(t.text, want))
		fail_msg("%s", t.text);
	free(t.text);
	close(fd);
	bytes_deinit(&file);
	dwarf_deinit(w);
}

/* An unnamed class is that of a lambda if the operator stands in it itself. */
static void test_unnamed_scopes(void **state)
{
	struct dwarf w;

	(void)state;
	dwarf_init(&w, &(struct dwarf_shape){ .version = 4 });
	unit_begin(&w);
	entry(&w, DW_TAG_compile_unit, true);
	attr(&w, DW_AT_language, DW_FORM_data1, DW_LANG_C_plus_plus);
	entry(&w, DW_TAG_structure_type, true);
	entry(&w, DW_TAG_class_type, true);
	attr_str(&w, DW_AT_name, "Item");
	function(&w, "operator()", DWARF_TEXT, DWARF_TEXT + 0x10);
	children_end(&w);
	children_end(&w);
	children_end(&w);
	unit_end(&w);
	expect_of_both(&w, " qualified (anonymous struct)::Item::operator() ");
}

/* A unit of DWARF 2 does not say all that it covers, unless it has a list of ranges; later ones do. */
static void test_covers(void **state)
{
	(void)state;
	for (unsigned version = 2; version < 5; version++)
		for (int list = 0; list < 2; list++) {
			struct dwarf w;

			dwarf_init(&w, &(struct dwarf_shape){ .version = version });
			range_pair(&w, DWARF_TEXT, DWARF_TEXT + 0x10);
			range_pair(&w, 0, 0);
			unit_begin(&w);
			compile_unit(&w, "a.c");
			if (list)
				attr_offset(&w, DW_AT_ranges, 0);
			else
				attr_pcs(&w, DWARF_TEXT, DWARF_TEXT + 0x10);
			function(&w, "f", DWARF_TEXT + 0x20, DWARF_TEXT + 0x30);
			children_end(&w);
			unit_end(&w);
			expect_of_both(&w, version == 2 && !list ? "covers\n" : "covers [1000 1010)\n");
		}
}

/* Behind a unit of an unknown version libdw finds no more units: that is said once. */
static void test_no_header(void **state)
{
	struct dw_libdw_reader *r;
	struct dw_facts u = {0};
	struct bytes file = {0};
	struct dwarf_of_file f;
	struct dw_sections s;
	struct sc_error err;
	struct dwarf w;
	char path[32];
	int fd;

	(void)state;
	dwarf_init(&w, &(struct dwarf_shape){ .version = 4 });
	for (int i = 0; i < 2; i++) {
		unit_begin(&w);
		compile_unit(&w, "a.c");
		children_end(&w);
		unit_end(&w);
	}
	patch(&w.info, w.unit + 4, 2, 9);
	dwarf_file(&w, &file);
	fd = testing_memfd(file.b.data, file.b.len, path);
	f = dwarf_of_path(path);
	assert_non_null(f.dbg);
	s = sections_of(f.dbg, "");
	assert_int_equal(dw_libdw_open(fd, -1, &s, &r, &err), 0);
	assert_int_equal(dw_libdw_next(r, &u, &err), 0);
	assert_int_equal(dw_libdw_next(r, &u, &err), SC_EFORMAT);
	assert_non_null(strstr(err.msg, "version"));
	assert_int_equal(dw_libdw_next(r, &u, &err), SC_ENOTFOUND);
	dw_libdw_close(r);
	dw_facts_deinit(&u);
	dwarf_of_file_close(&f);
	close(fd);
	bytes_deinit(&file);
	dwarf_deinit(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_other_dwo),
		cmocka_unit_test(test_unnamed_scopes),
		cmocka_unit_test(test_covers),
		cmocka_unit_test(test_no_header),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}

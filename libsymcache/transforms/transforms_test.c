/* Unit tests of the maps: what fits, which of several counts, what is refused. The
 * expectations of BCSymbolMap and il2cpp maps are what Sentry's symbolic does. */
#include "libsymcache/transforms/maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void check_place(const struct symcache_place *p, const char *comp_dir, const char *dir,
			const char *name, uint32_t line)
{
	assert_string_equal(p->comp_dir ? p->comp_dir : "", comp_dir);
	assert_string_equal(p->dir ? p->dir : "", dir);
	assert_string_equal(p->name, name);
	assert_int_equal(p->line, line);
}

static bool place(const struct sc_map *m, struct symcache_place *p)
{
	return m->transform.place(m->transform.ctx, p);
}

static const char *name_in(const struct sc_map *m, const char *name)
{
	return m->transform.name(m->transform.ctx, name);
}

static void paths(void **state)
{
	static const char *const rules[] = { "/build=/src", "/builder/=/b/", "rel=", "/top=/", NULL };
	static const struct {
		struct symcache_place from, to;
		bool same;
	} cases[] = {
		/* The first part changes, the others stay. */
		{ { "/build/x", "sub", "a.c", 5 }, { "/src/x", "sub", "a.c", 5 } },
		{ { "/build", "sub", "a.c", 5 }, { "/src", "sub", "a.c", 5 } },
		{ { "/build/x", "/build/inc", "a.h", 0 }, { "", "/src/inc", "a.h", 0 } },
		{ { "/build/x", "d", "/build/a.h", 0 }, { "", "", "/src/a.h", 0 } },
		{ { "/builder/x", NULL, "a.c", 1 }, { "/b/x", "", "a.c", 1 } },
		/* FROM spans several parts. */
		{ { "/", "build", "a.c", 1 }, { "", "/src", "a.c", 1 } },
		{ { NULL, "rel", "a.c", 1 }, { "", "", "a.c", 1 } },
		{ { "/top/x", NULL, "a.c", 1 }, { "/x", "", "a.c", 1 } },
		/* Whole components only; others stay. */
		{ { "/buildx", "sub", "a.c", 5 }, .same = true },
		{ { "/x/build", "sub", "a.c", 5 }, .same = true },
		{ { "/x", "/home", "a.c", 5 }, .same = true },
		{ { NULL, NULL, "a.c", 5 }, .same = true },
	};
	struct sc_map m;

	(void)state;
	assert_int_equal(sc_path_map(rules, &m, NULL), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_place p = cases[i].from;
		const struct symcache_place *to = &cases[i].to;

		assert_int_equal(place(&m, &p), !cases[i].same);
		if (!cases[i].same)
			check_place(&p, to->comp_dir, to->dir, to->name, to->line);
		else
			assert_memory_equal(&p, &cases[i].from, sizeof(p));
	}
	m.destroy(m.transform.ctx);
	assert_int_equal(sc_path_map((const char *const[]){ "=b", NULL }, &m, NULL), SC_EINVAL);
	assert_int_equal(sc_path_map((const char *const[]){ "ab", NULL }, &m, NULL), SC_EINVAL);
}

static struct sc_map symbols(const char *text)
{
	struct sc_map m;

	assert_int_equal(sc_symbol_map(text, strlen(text), &m, NULL), 0);
	return m;
}

static void bitcode_names(void **state)
{
	struct sc_map m = symbols("BCSymbolMap Version: 2.0\n-[A b:]\n/src\r\n\na b\n");
	struct symcache_place p = { "__hidden#1_", NULL, "__hidden#0_", 9 };

	(void)state;
	assert_string_equal(name_in(&m, "__hidden#0_"), "-[A b:]");
	assert_string_equal(name_in(&m, "__hidden#3_"), "a b");
	for (size_t i = 0; i < 8; i++) {
		static const char *const same[] = {
			"__hidden#2_", /* an empty line */ "__hidden#4_", "__hidden#0", "__hidden#_",
			"__hidden#-1_", "hidden#0_", "main", "__hidden#99999999999999999999999_",
		};

		assert_ptr_equal(name_in(&m, same[i]), same[i]);
	}
	assert_true(place(&m, &p));
	check_place(&p, "/src", "", "-[A b:]", 9);
	assert_false(place(&m, &p));
	m.destroy(m.transform.ctx);
}

static void two_columns(void **state)
{
	struct sc_map m = symbols("b  two words \r\n\n# c x\na\tone\nb three\n  z\t\tend");
	struct symcache_place p = { NULL, NULL, "a", 9 };

	(void)state;
	assert_string_equal(name_in(&m, "a"), "one");
	assert_string_equal(name_in(&m, "b"), "three");
	assert_string_equal(name_in(&m, "z"), "end");
	assert_string_equal(name_in(&m, "c"), "c");
	assert_string_equal(name_in(&m, ""), "");
	assert_false(place(&m, &p));
	m.destroy(m.transform.ctx);
	assert_int_equal(sc_symbol_map("a b\nc \n", 7, &m, NULL), SC_EFORMAT);
	assert_int_equal(sc_symbol_map("a b\0", 4, &m, NULL), SC_EFORMAT);
	m = symbols("");
	m.destroy(m.transform.ctx);
}

static void csharp_lines(void **state)
{
	static const char text[] =
		"{\"__debug-id__\": \"x\", \"n\": null, \"l\": [{\"a\": {\"b\": 1}}],"
		" \"/gen/g.cpp\": {\"C:/a.cs\": {\"10\": 1, \"30\": 3}, \"no\": 7,"
		" \"/b/b.cs\": {\"20\": 2, \"30\": 33}},"
		" \"g.cpp\": {\"old.cs\": {\"1\": 1}}, \"g.cpp\": {\"new.cs\": {\"1\": 5}}}";
	static const struct {
		uint32_t line;
		const char *dir, *name;
		uint32_t to;
	} rows[] = {
		{ 10, "C:", "a.cs", 1 }, { 19, "C:", "a.cs", 1 }, { 20, "/b", "b.cs", 2 },
		{ 29, "/b", "b.cs", 2 }, { 30, "/b", "b.cs", 33 }, { UINT32_MAX, "/b", "b.cs", 33 },
	};
	struct symcache_place p;
	struct sc_map m;

	(void)state;
	assert_int_equal(sc_line_map(text, sizeof(text) - 1, &m, NULL), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		p = (struct symcache_place){ "/gen", NULL, "g.cpp", rows[i].line };
		assert_true(place(&m, &p));
		check_place(&p, "", rows[i].dir, rows[i].name, rows[i].to);
	}
	p = (struct symcache_place){ "/gen", NULL, "g.cpp", 9 };
	assert_false(place(&m, &p));
	p = (struct symcache_place){ "/gen", NULL, "h.cpp", 10 };
	assert_false(place(&m, &p));
	p = (struct symcache_place){ NULL, NULL, "g.cpp", 1 };
	assert_true(place(&m, &p));
	check_place(&p, "", "", "new.cs", 5);
	m.destroy(m.transform.ctx);
}

static void bad_lines(void **state)
{
	static const char *const texts[] = {
		"", "[]", "1", "{", "{}}", "{\"a\":{\"b\":{\"1\":-1}}}", "{\"a\":{\"b\":{\"1\":1.5}}}",
		"{\"a\":{\"b\":{\"1\":4294967296}}}", "{\"a\":{\"b\":{\"4294967296\":1}}}",
		"{\"a\":{\"b\":{\"\":1}}}", "{\"a\":{\"b\":{\"1\":[]}}}", "{\"a\":{\"b\":{\"1\":{}}}}",
		"{\"a\":{\"b\":{\"1\":99999999999999999999}}}",
	};
	struct sc_map m;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (sc_line_map(texts[i], strlen(texts[i]), &m, NULL) != SC_EFORMAT)
			fail_msg("'%s' was taken", texts[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(bitcode_names),
		cmocka_unit_test(two_columns),
		cmocka_unit_test(csharp_lines),
		cmocka_unit_test(bad_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

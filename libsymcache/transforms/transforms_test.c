/* Unit tests of the maps: what fits, which of several counts, what is refused. The
 * expectations of BCSymbolMap and il2cpp maps are what Sentry's symbolic does. */
#include "libsymcache/transforms/maps.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/transforms/transforms.h"

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
	static const char *const rules[] = { "/build=/src", "/builder/=/b/", "rel=", "/top=/", "C:/w=/src", "r=/s", NULL };
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
		{ { NULL, "rel", "sub/a.c", 1 }, { "", "sub", "a.c", 1 } },
		{ { "/", "top", "a.c", 1 }, { "", "", "/a.c", 1 } },
		{ { "/", "build", "d/", 1 }, { "", "", "/src/d/", 1 } },
		/* What the path begins with is a later part, or one that is not empty. */
		{ { "", "r/x", "sub/a.c", 1 }, { "", "/s/x", "sub/a.c", 1 } },
		{ { "/x", "C:/w", "sub/a.c", 1 }, { "", "/src", "sub/a.c", 1 } },
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

/* Which rule fits, and what becomes of a path, joined. */
static void rules(void **state)
{
	static char deep[4200];
	static const struct { const char *rules[4]; struct symcache_place from; const char *to; } cases[] = {
		{ { "/a=/1", "/a/b=/2" }, { "/a/b", NULL, "c.c" }, "/1/b/c.c" },
		{ { "/a/b=/2", "/a=/1" }, { "/a/b", NULL, "c.c" }, "/2/c.c" },
		{ { "/a//=/b//" }, { "/a", "x", "c.c" }, "/b/x/c.c" }, { { "/=/r" }, { "/a", NULL, "c.c" }, "/r/a/c.c" },
		{ { "/=/r" }, { NULL, "a", "c.c" }, NULL }, { { "/a=" }, { "/a/b", NULL, "c.c" }, "b/c.c" },
		{ { "/a=/" }, { "/a/b", NULL, "c.c" }, "/b/c.c" }, { { "/a=//" }, { "/a/b", NULL, "c.c" }, "b/c.c" },
		{ { "/a/b/c.c=/x/y.c" }, { "/a", "b", "c.c" }, "/x/y.c" }, { { "/a/b/c.c=" }, { "/a", "b", "c.c" }, NULL },
		{ { "C:/b=/src" }, { "/x", "C:/b", "a.c" }, "/src/a.c" }, { { "/x=/y" }, { "/x", "C:/b", "a.c" }, NULL },
		{ { "q:x=/t" }, { "q:x/1", "q:x/2", "c.c" }, "/t/1/q:x/2/c.c" },
		{ { "x=y" }, { NULL, NULL, "x" }, "y" }, { { "a=b=c" }, { NULL, "a", "x.c" }, "b=c/x.c" },
		/* Too long is left as it is. */
		{ { deep }, { "/a", NULL, "c.c" }, NULL },
	};
	struct sc_error err;
	struct sc_map m;
	char got[5000];

	(void)state;
	memset(deep, 'd', sizeof(deep) - 1);
	memcpy(deep, "/a=/", 4);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_place p = cases[i].from;

		assert_int_equal(sc_path_map(cases[i].rules, &m, NULL), 0);
		if (place(&m, &p) != !!cases[i].to)
			fail_msg("case %zu", i);
		assert_true(sc_place_path(&p, got, sizeof(got)));
		if (cases[i].to)
			assert_string_equal(got, cases[i].to);
		m.destroy(m.transform.ctx);
	}
	/* As long as a path gets: 4095 bytes. */
	for (size_t len = 4095; len <= 4096; len++) {
		struct symcache_place p = { "/a", NULL, "c.c" };

		deep[3 + len - strlen("/c.c")] = 0; /* behind "/a=" */
		assert_int_equal(sc_path_map((const char *const[]){ deep, NULL }, &m, NULL), 0);
		assert_int_equal(place(&m, &p), len < 4096);
		m.destroy(m.transform.ctx);
		deep[3 + len - strlen("/c.c")] = 'd';
	}
	assert_int_equal(sc_path_map((const char *const[]){ "/a=/", NULL }, &m, NULL), 0);
	for (size_t len = 4095; len <= 4096; len++) {
		struct symcache_place p = { "/a", NULL, deep };

		memset(deep, 'd', sizeof(deep) - 1);
		deep[len - strlen("/a/")] = 0;
		assert_int_equal(place(&m, &p), len < 4096);
	}
	m.destroy(m.transform.ctx);
	assert_int_equal(sc_path_map((const char *const[]){ "a=b", "a\nb=c", NULL }, &m, &err), SC_EINVAL);
	assert_string_equal(err.msg, "'a\nb=c' is not FROM=TO");
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
	m = symbols(" a\tb \tc\t \n#a x\n a  d\n\r\n\t\nx#  #y");
	assert_string_equal(name_in(&m, "a"), "d");
	assert_string_equal(name_in(&m, "x#"), "#y");
	assert_string_equal(name_in(&m, "#a"), "#a");
	m.destroy(m.transform.ctx);
}

/* What is wrong with a map of names, and where. */
static void bad_names(void **state)
{
	static const struct { const char *text; size_t len; const char *says; } cases[] = {
		{ "a b\n\n# c\nc \n", 0, "line 4: one name alone" }, { "a\r\n", 0, "line 1: one name alone" },
		{ "a b\0", 4, "not a text: there is a NUL in it" }, { "a b\n\0c", 6, "not a text: there is a NUL in it" },
		{ "BCSymbolMap Version: 2.0.1\nx", 0, "a BCSymbolMap of version 2.0.1, not 2.0" },
		{ "BCSymbolMap Version: \n", 0, "a BCSymbolMap of version , not 2.0" },
		{ "BCSymbolMap Version: 2.0\n", 0, NULL }, { "BCSymbolMap Version: 2.0\r\nx", 0, NULL },
		{ "BCSymbolMap version: 3", 0, NULL }, /* two columns */
	};
	struct sc_error err;
	struct sc_map m;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const size_t len = cases[i].len ? cases[i].len : strlen(cases[i].text);
		const int rc = sc_symbol_map(cases[i].text, len, &m, &err);

		assert_int_equal(rc, cases[i].says ? SC_EFORMAT : 0);
		if (rc)
			assert_string_equal(err.msg, cases[i].says);
		else
			m.destroy(m.transform.ctx);
	}
}

static void save(const char *name, const char *text)
{
	char path[300];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", testing_dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

#define LINES "{\"/a/x\": {\"/b/y\": {\"3\": 4}}}"

/* Maps of files: in which order they count, what is recorded of them, what is wrong with them. */
static void files(void **state)
{
	const char *const symbols[] = { "n/names", "n/new\nline", NULL }, *const lines[] = { "n/lines", NULL };
	const char *const rules[] = { "/a=/b", "c=d", NULL }, *const bad_rules[] = { "x", NULL };
	const struct { struct symcache_maps maps; int rc; const char *says; } bad[] = {
		{ { .symbol_maps = (const char *const[]){ "n/names", "n/none", NULL } }, SC_ESYS, "n/none: No such file or directory" },
		{ { .line_maps = (const char *const[]){ "n", NULL } }, SC_EINVAL, "n: not a regular file" },
		{ { .symbol_maps = (const char *const[]){ "n/alone", NULL } }, SC_EFORMAT, "n/alone: line 1: one name alone" },
		{ { .line_maps = (const char *const[]){ "n/lines", "n/names", NULL } }, SC_EFORMAT,
		  "n/names: byte 1: not a JSON text" },
		{ { .symbol_maps = symbols, .path_maps = bad_rules }, SC_EINVAL, "'x' is not FROM=TO" },
	};
	struct symcache_transforms t;
	struct symcache_place p = { "/a", NULL, "x", 7 };
	struct sc_error err;
	char want[400], here[400];

	(void)state;
	assert_non_null(getcwd(here, sizeof(here)));
	assert_non_null(mkdtemp(testing_dir));
	assert_int_equal(testing_run("mkdir %s/n", testing_dir), 0);
	save("n/names", "a b\n");
	save("n/new\nline", "b c\n");
	save("n/lines", LINES);
	save("n/alone", "a");
	assert_int_equal(chdir(testing_dir), 0);
	assert_int_equal(symcache_transforms_init(&t, &(struct symcache_maps){ NULL, NULL, NULL }, &err), 0);
	assert_true(t.n == 0 && !*t.text);
	symcache_transforms_deinit(&t);
	assert_int_equal(symcache_transforms_init(&t, &(struct symcache_maps){ symbols, lines, rules }, &err), 0);
	assert_int_equal(t.n, 4);
	snprintf(want, sizeof(want), "symbol-map names %016llx\nsymbol-map new?line %016llx\nline-map lines %016llx\n"
		 "map-path /a=/b\nmap-path c=d", (unsigned long long)XXH3_64bits("a b\n", 4),
		 (unsigned long long)XXH3_64bits("b c\n", 4),
		 (unsigned long long)XXH3_64bits(LINES, strlen(LINES)));
	assert_string_equal(t.text, want);
	assert_string_equal(t.list[0].name(t.list[0].ctx, "a"), "b");
	assert_string_equal(t.list[1].name(t.list[1].ctx, "b"), "c");
	assert_true(t.list[2].place(t.list[2].ctx, &p));
	check_place(&p, "", "/b", "y", 4);
	p = (struct symcache_place){ "/a", NULL, "x", 7 };
	assert_true(t.list[3].place(t.list[3].ctx, &p));
	check_place(&p, "/b", "", "x", 7);
	symcache_transforms_deinit(&t);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		assert_int_equal(symcache_transforms_init(&t, &bad[i].maps, &err), bad[i].rc);
		assert_string_equal(err.msg, bad[i].says);
		assert_true(!t.n && !t.text && !t.list);
	}
	assert_int_equal(chdir(here), 0);
	assert_int_equal(testing_run("rm -r %s", testing_dir), 0);
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

/* Which lines a map has: nested where it has nothing to say, twice, and at the ends of what fits. */
static void which_lines(void **state)
{
	static const struct { const char *text; uint32_t line; const char *to; } cases[] = {
		{ "{\"x\":{\"y\":{\"0\":4294967295}}}", 0, "y:4294967295" },
		{ "{\"x\":{\"y\":{\"4294967295\":0}}}", UINT32_MAX, "y:0" },
		{ "{\"x\":{\"y\":{\"4294967295\":0}}}", UINT32_MAX - 1, NULL },
		{ "{\"x\":{\"y\":{\"5\":1,\"5\":2}}}", 5, "y:2" }, { "{\"x\":{\"y\":{\"5\":1},\"z\":{\"5\":2}}}", 6, "z:2" },
		{ "{\"x\":{\"y\":{\"7\":1,\"5\":2,\"6\":3}}}", 5, "y:2" }, { "{\"x\":{\"y\":{\"7\":1,\"5\":2,\"6\":3}}}", 6, "y:3" },
		{ "{\"x\":{\"y\":{\"7\":1,\"5\":2,\"6\":3}}}", 8, "y:1" }, { "{\"x\":{\"y\":{\"005\":1}}}", 5, "y:1" },
		{ "{\"x\":{\"y\":{}}}", 5, NULL }, { "{\"x\":{}}", 5, NULL }, { "{}", 5, NULL }, { "{\"x\":7}", 5, NULL },
		{ "{\"x\":{\"y\":7}}", 5, NULL }, { "{\"x\":[{\"y\":{\"1\":1}}]}", 5, NULL },
		{ "{\"x\":{\"a\":[{\"b\":{\"c\":{\"x\":[null,true,1.5,\"s\"]}}}],\"y\":{\"1\":1}}}", 5, "y:1" },
		{ "{\"a\":[[[1]],{\"x\":{\"1\":-1}}],\"x\":{\"y\":{\"1\":1}}}", 5, "y:1" },
		{ "{\"a\":true,\"b\":1.5,\"c\":-1,\"x\":{\"a\":false,\"b\":null,\"c\":-1,\"d\":\"\",\"y\":{\"1\":1}}}", 5, "y:1" },
		{ "{\"x\":{\"y\":{\"1\":1}},\"x\":{\"z\":{\"2\":2}}}", 1, NULL },
		{ "{\"x\":{\"y\":{\"1\":1}},\"a\":{\"z\":{\"2\":2}}}", 2, "y:1" },
		{ "{\"b\":{\"y\":{\"1\":1}},\"x\":{\"z\":{\"2\":2}},\"a\":{\"w\":{\"3\":3}}}", 9, "z:2" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_place p = { NULL, NULL, "x", cases[i].line };
		struct sc_map m;
		char got[100];

		assert_int_equal(sc_line_map(cases[i].text, strlen(cases[i].text), &m, NULL), 0);
		if (place(&m, &p) != !!cases[i].to)
			fail_msg("%s", cases[i].text);
		snprintf(got, sizeof(got), "%s:%u", p.name, p.line);
		if (cases[i].to)
			assert_string_equal(got, cases[i].to);
		assert_int_equal(p.no_column, cases[i].to != NULL);
		m.destroy(m.transform.ctx);
	}
	/* A C# file of a path that is too long counts for nothing. */
	for (size_t len = 4095; len <= 4096; len++) {
		struct symcache_place p = { NULL, NULL, "x", 1 };
		char text[5000];
		struct sc_map m;
		size_t n = (size_t)snprintf(text, sizeof(text), "{\"x\":{\"%0*d\":{\"1\":1}}}", (int)len, 0);

		assert_int_equal(sc_line_map(text, n, &m, NULL), 0);
		assert_int_equal(place(&m, &p), len < 4096);
		m.destroy(m.transform.ctx);
	}
}

static void bad_lines(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "", "byte 0: not a JSON text" }, { "[]", "byte 1: not a JSON object" },
		{ "1", "byte 1: not a JSON object" }, { "null", "byte 4: not a JSON object" },
		{ "\"x\"", "byte 3: not a JSON object" }, { "{", "byte 1: not a JSON text" },
		{ "{}}", "byte 3: not a JSON text" },
		{ "{\"a\":{\"b\":{\"1\":-1}}}", "byte 17: the C# line is out of range" },
		{ "{\"a\":{\"b\":{\"1\":1.5}}}", "byte 18: the C# line is not a number" },
		{ "{\"a\":{\"b\":{\"1\":4294967296}}}", "byte 25: the C# line is out of range" },
		{ "{\"a\":{\"b\":{\"4294967296\":1}}}", "byte 23: a C++ line is out of range" },
		{ "{\"a\":{\"b\":{\"\":1}}}", "byte 13: a C++ line is not a number" },
		{ "{\"a\":{\"b\":{\"1x\":1}}}", "byte 15: a C++ line is not a number" },
		{ "{\"a\":{\"b\":{\"/1\":1}}}", "byte 15: a C++ line is not a number" },
		{ "{\"a\":{\"b\":{\":\":1}}}", "byte 14: a C++ line is not a number" },
		{ "{\"a\":{\"b\":{\"1\":[]}}}", "byte 16: the C# line is not a number" },
		{ "{\"a\":{\"b\":{\"1\":{}}}}", "byte 16: the C# line is not a number" },
		{ "{\"a\":{\"b\":{\"1\":null}}}", "byte 19: the C# line is not a number" },
		{ "{\"a\":{\"b\":{\"1\":\"1\"}}}", "byte 18: the C# line is not a number" },
		{ "{\"a\":{\"b\":{\"1\":99999999999999999999}}}", "byte 15: not a JSON text" },
		{ "{\"l\":[1],\"a\":{\"b\":{\"1\":true}}}", "byte 27: the C# line is not a number" },
	};
	struct sc_map m;
	struct sc_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(sc_line_map(cases[i].text, strlen(cases[i].text), &m, &err), SC_EFORMAT);
		if (strcmp(err.msg, cases[i].says))
			fail_msg("%s: %s", cases[i].text, err.msg);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths),
		cmocka_unit_test(bitcode_names),
		cmocka_unit_test(two_columns),
		cmocka_unit_test(csharp_lines),
		cmocka_unit_test(bad_lines),
		cmocka_unit_test(rules),
		cmocka_unit_test(bad_names),
		cmocka_unit_test(files),
		cmocka_unit_test(which_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

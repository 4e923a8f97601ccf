/* What each seed of the fuzz targets, and damaged ones, make of names and lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/transforms/maps.h"

static void put_place(FILE *to, bool changed, const struct symcache_place *p)
{
	fprintf(to, "%d %s|%s|%s:%" PRIu32 "%s\n", changed, p->comp_dir ? p->comp_dir : "-",
		p->dir ? p->dir : "-", p->name ? p->name : "-", p->line,
		p->no_column ? " without columns" : "");
}

static void lines_of(const uint8_t *bytes, size_t size, FILE *to)
{
	struct sc_map m;
	struct sc_error err;

	if (sc_line_map((const char *)bytes, size, &m, &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	for (uint32_t line = 0; line < 40; line++) {
		struct symcache_place place = { "/c", "d", "a", line };

		put_place(to, m.transform.place(m.transform.ctx, &place), &place);
	}
	m.destroy(m.transform.ctx);
}

static void symbols_of(const uint8_t *bytes, size_t size, FILE *to)
{
	static const char *const names[] = {
		"__hidden#0_", "__hidden#1_",  "__hidden#2_", "__hidden#12_",
		"__hidden#_",  "___hidden#1_", "plain",
	};
	struct sc_map m;
	struct sc_error err;

	if (sc_symbol_map((const char *)bytes, size, &m, &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct symcache_place place = { names[i], NULL, "a", 1 };

		fprintf(to, "%s is %s ", names[i], m.transform.name(m.transform.ctx, names[i]));
		put_place(to, m.transform.place(m.transform.ctx, &place), &place);
	}
	m.destroy(m.transform.ctx);
}

static void test_lines(void **state)
{
	static const char *const seeds[] = { "line_map", NULL };

	(void)state;
	expect_answers("line_map", seeds, 48, lines_of);
}

static void test_symbols(void **state)
{
	static const char *const seeds[] = { "symbol_map", NULL };

	(void)state;
	expect_answers("symbol_map", seeds, 48, symbols_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

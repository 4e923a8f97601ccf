/* Maps with many lines: each one is found, and of those with the same name the last counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/transforms/maps.h"
#include "libsymcache/transforms/transforms.h"

enum { NAMES = 300, SOURCES = 50 };

static struct sc_map map_of(FILE *file, char **text, const size_t *size,
			    int (*read)(const char *text, size_t size, struct sc_map *ret, struct sc_error *err))
{
	struct sc_map m;

	fclose(file);
	assert_int_equal(read(*text, *size, &m, NULL), 0);
	free(*text);
	return m;
}

static void check_name(const struct sc_map *m, const char *name, const char *want)
{
	assert_string_equal(m->transform.name(m->transform.ctx, name), want);
}

/* Each name comes three times. */
static void columns(void **state)
{
	char *text, name[20], real[20];
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct sc_map m;

	(void)state;
	for (unsigned time = 0; time < 3; time++)
		for (unsigned i = 0; i < NAMES; i++)
			fprintf(file, "n%u real%u.%u\n", i * 77 % NAMES, i * 77 % NAMES, time);
	m = map_of(file, &text, &size, sc_symbol_map);
	for (unsigned i = 0; i <= NAMES; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		snprintf(real, sizeof(real), "real%u.2", i);
		check_name(&m, name, i < NAMES ? real : name);
	}
	m.destroy(m.transform.ctx);
}

static void bitcode(void **state)
{
	char *text, name[20], real[20];
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct sc_map m;

	(void)state;
	fprintf(file, "BCSymbolMap Version: 2.0\n");
	for (unsigned i = 0; i < NAMES; i++)
		fprintf(file, "real%u\n", i);
	m = map_of(file, &text, &size, sc_symbol_map);
	for (unsigned i = 0; i <= NAMES; i++) {
		snprintf(name, sizeof(name), "__hidden#%u_", i);
		snprintf(real, sizeof(real), "real%u", i);
		check_name(&m, name, i < NAMES ? real : name);
	}
	check_name(&m, "__hidden#1/_", "__hidden#1/_"); /* next to the digits */
	check_name(&m, "__hidden#1:_", "__hidden#1:_");
	check_name(&m, "__hidden#:_", "__hidden#:_");
	m.destroy(m.transform.ctx);
}

/* Each file comes twice, and its lines in no order, one of them twice. */
static void lines(void **state)
{
	static const struct { uint32_t line, to; } rows[] = {
		{ 9, 0 }, { 10, 4 }, { 19, 4 }, { 20, 3 }, { 29, 3 }, { 30, 1 }, { 99, 1 },
	};
	char *text, name[20], want[20];
	size_t size;
	FILE *file = open_memstream(&text, &size);
	struct sc_map m;

	(void)state;
	for (unsigned i = 0; i < 2 * SOURCES; i++)
		fprintf(file, "%s\"s%u\": {\"t%u\": {\"30\": %u1, \"10\": %u2, \"20\": %u3, \"10\": %u4}}", i ? ", " : "{",
			i * 17 % SOURCES, i, i + 1, i + 1, i + 1, i + 1);
	fprintf(file, "}");
	m = map_of(file, &text, &size, sc_line_map);
	for (unsigned i = SOURCES; i < 2 * SOURCES; i++)
		for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++) {
			struct symcache_place p = { .name = name, .line = rows[k].line };

			snprintf(name, sizeof(name), "s%u", i * 17 % SOURCES);
			snprintf(want, sizeof(want), "t%u", i);
			assert_int_equal(m.transform.place(m.transform.ctx, &p), rows[k].to != 0);
			assert_string_equal(p.name, rows[k].to ? want : name);
			assert_int_equal(p.line, rows[k].to ? (i + 1) * 10 + rows[k].to : rows[k].line);
		}
	m.destroy(m.transform.ctx);
}

/* A file may have fewer bytes than it says, as those of /sys have. */
static void shorter(void **state)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	const char *const maps[] = { path, NULL };
	struct symcache_transforms t;
	struct sc_error err;

	(void)state;
	if (access(path, R_OK)) {
		print_message("skipped: there is no %s\n", path);
		skip();
	}
	assert_int_equal(symcache_transforms_init(&t, &(struct symcache_maps){ .symbol_maps = maps }, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "/sys/devices/system/cpu/online: line 1: one name alone");
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(columns), cmocka_unit_test(bitcode),
		cmocka_unit_test(lines), cmocka_unit_test(shorter) };

	return cmocka_run_group_tests_name("large maps", tests, NULL, NULL);
}

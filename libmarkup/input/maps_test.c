/* Lines of tables of modules → rows, as "START-END OFFSET FLAGS NAME <BUILD ID>": c: it may hold code;
 * p: the name is a path, of /proc's; w: it is the whole image; l: up to the next one; f: from its code. Where one is
 * read wrongly all addresses in it get names of somewhere else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libmarkup/input/maps.h"

#define ID "3b43fad5c0c38faed8b0a5d27d6bcb9e33b5ffab"

static const struct {
	const char *line, *row; /* "": there is none */
} cases[] = {
	/* /proc/PID/maps */
	{ "7f10-8f10 r-xp 00002000 fe:00 77 /opt/a.so", "7f10-8f10 2000 cp /opt/a.so" },
	{ "7f10-8f10 r--p 0 fe:00 77 /opt/a.so", "7f10-8f10 0 p /opt/a.so" },
	{ "7f10-8f10 rwxs 0 fe:00 77 /opt/a b (deleted)", "7f10-8f10 0 cp /opt/a b" },
	{ "host x[1]: 7f10-8f10 --xp 0 00:00 0    /opt/a.so \r", "7f10-8f10 0 cp /opt/a.so" },
	{ "{\"m\":\"7f10-8f10 r-xp 0 fe:00 77 /opt/a.so\\n\"}", "7f10-8f10 0 cp /opt/a.so" },
	{ "7f10-8f10 r-xp 0 fe:00 77 /opt/a.so\033[0m", "7f10-8f10 0 cp /opt/a.so" },
	{ "7f10-8f10 r-xp 0 fe:00 12345678901234567890 /opt/a.so", "7f10-8f10 0 cp /opt/a.so" },
	{ "1-2 r-xp 0 fe:00 77 /a", "" }, /* too short for one */
	{ "7f10-8f10 r-xp 0 fe:00 77 [vdso]", "" },
	{ "7f10-8f10 r-xp 0 fe:00 77", "" },
	{ "7f10-8f10 r-xp 0 fe:00 x /opt/a.so", "" },
	{ "7f10-8f10 r-xp 0 fe:00 ", "" },
	{ "7f10-7f10 r-xp 0 fe:00 77 /opt/a.so", "" },
	{ "8f10-7f10 r-xp 0 fe:00 77 /opt/a.so", "" },
	{ "7f10-8f10 x-xp 0 fe:00 77 /opt/a.so", "" },
	{ "7f10-8f10 rrxp 0 fe:00 77 /opt/a.so", "" },
	{ "7f10-8f10 r-rp 0 fe:00 77 /opt/a.so", "" },
	{ "7f10-8f10 r-xx 0 fe:00 77 /opt/a.so", "" },
	{ "7f10 8f10 r-xp 0 fe:00 77 /opt/a.so", "" },
	/* gdb's */
	{ "      0x7f10  0x8f10  0x1000  0x2000  /opt/a.so", "7f10-8f10 2000 c /opt/a.so" },
	{ "      0x7f10  0x8f10  0x1000  0x2000  r-xp  /opt/a.so", "7f10-8f10 2000 c /opt/a.so" },
	{ "      0x7f10  0x8f10  0x1000  0x2000  r--p  /opt/a.so", "7f10-8f10 2000  /opt/a.so" },
	{ "      0x7f10  0x8f10  0x1001  0x2000  /opt/a.so", "" },
	{ "      0x8f10  0x7f10  0x1000  0x2000  /opt/a.so", "" },
	{ "      0x7f10  0x7f10  0x0  0x2000  /opt/a.so", "" },
	{ "      0x7f10  0x8f10  0x1000  0x2000  [stack]", "" },
	/* eu-unstrip -n */
	{ "0x7f10+0x1000 " ID "@0x7f20 /opt/a.so /usr/lib/debug/a.debug a.so", "7f10-8f10 0 cw /opt/a.so <" ID ">" },
	{ "0x7f10+0x1000 " ID "@0x7f20 /opt/a.so", "7f10-8f10 0 cw /opt/a.so <" ID ">" },
	{ "0x7f10+0x0 " ID "@0x7f20 /opt/a.so - a.so", "" },
	{ "0xfffffffffffff000+0xfff " ID "@0x1 /opt/a.so", "fffffffffffff000-ffffffffffffffff 0 cw /opt/a.so <" ID ">" },
	{ "0xfffffffffffff000+0x1000 " ID "@0x1 /opt/a.so", "" },
	{ "0x7f10+0x1000 -@0x7f20 /opt/a.so", "" },
	/* image list of lldb */
	{ "[  0] 6BBE35AB-DD38-6A1A-E1D1-0A88-71F3 0x0000000000007f10 /opt/a.so",
	  "7f10-0 0 cwl /opt/a.so <6BBE35ABDD386A1AE1D10A8871F3>" },
	{ "[ 10] 6BBE35ABDD386A1A 0x7f10 /opt/a.so ", "7f10-0 0 cwl /opt/a.so <6BBE35ABDD386A1A>" },
	{ "[  0] 6BBE35ABDD386A1 0x7f10 /opt/a.so", "" },
	{ "[  0] 6BBE35ABDD386A1AB 0x7f10 /opt/a.so", "" },
	{ "[  0] 6BBE35ABDD386A1A 0x7f10 a.so", "" },
	/* Envoy's */
	{ "Address mapping: 7f10-8f10 /opt/a", "7f10-8f10 0 cf /opt/a" },
	{ "[x] Address mapping: 7f10-8f10 /opt/a", "7f10-8f10 0 cf /opt/a" },
	{ "Address mapping: 8f10-8f10 /opt/a", "" },
	{ "Address mapping: 7f10-8f10 a", "" },
	{ "plain text 0x7f10 of a line [x] 0x", "" },
};

static void test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *p = cases[i].line, *end = p + strlen(p);
		struct mk_row r = { 0 };
		char got[256] = "";

		if (mk_maps_input.read_row(&p, end, &r)) {
			snprintf(got, sizeof(got), "%llx-%llx %llx %s%s%s%s%s %.*s%s%.*s%s", (unsigned long long)r.start,
				 (unsigned long long)r.end, (unsigned long long)(r.whole || r.from_code ? 0 : r.offset),
				 r.code ? "c" : "", r.path ? "p" : "", r.whole ? "w" : "", r.listed ? "l" : "",
				 r.from_code ? "f" : "", (int)r.name.len, r.name.ptr, r.build_id.len ? " <" : "",
				 (int)r.build_id.len, r.build_id.ptr ? r.build_id.ptr : "", r.build_id.len ? ">" : "");
			assert_in_range(r.at, cases[i].line, end);
			/* One in a line. */
			assert_false(mk_maps_input.read_row(&p, end, &r));
		}
		if (strcmp(got, cases[i].row))
			fail_msg("%s\n  is %s\n not %s\n", cases[i].line, got, cases[i].row);
	}
}

/* A name that is no path, as profiles take it. */
static void test_names(void **state)
{
	static const struct { const char *line, *name; } names[] = {
		{ "7f10-8f10 r-xp 00002000 fe:00 77 [vdso]", "[vdso]" }, { "7f10-8f10 r-xp 00002000 fe:00 77", "" },
		{ "7f10-8f10 r-xp 00002000 fe:00 77 /opt/a", "/opt/a" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct mk_row r = { 0 };

		assert_true(mk_read_maps_row(names[i].line, names[i].line + strlen(names[i].line), &r));
		assert_int_equal(r.path, names[i].name[0] == '/');
		assert_int_equal(r.name.len, strlen(names[i].name));
		assert_memory_equal(r.name.ptr ? r.name.ptr : "", names[i].name, r.name.len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

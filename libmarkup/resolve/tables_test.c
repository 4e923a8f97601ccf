/* Tables in logs: which of them a frame gets, however the bytes come. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"

static const char log_text[] =
	"1000-2000 r--p 00000000 fe:00 7 /lib/a.so\n"                /* line 0 */
	"2000-3000 r-xp 00001000 fe:00 7 /lib/a.so\n"
	"8000-9000 r-xp 00003000 fe:00 7 /lib/b.so (deleted)\n"
	"text\n"
	"2000-3000 rw-p 00000000 fe:00 7 /lib/data\n"                /* line 4: another table */
	"3000-4000 r-xp 00000000 fe:00 7 /lib/c.so\n"
	"host p[7]: 2000-3000 r-xp 00000000 fe:00 7 /lib/d.so\n"     /* line 6: another process */
	"{\"somap\":[{\"b\":\"9000\",\"path\":\"/m1\",\"buildId\":\"aa01\"},"
	"{\"b\":\"5000\",\"path\":\"/m2\",\"buildId\":\"aa02\"}]}\n" /* line 7 */
	"text\ntext\n"
	"2000-3000 r-xp 00000000 fe:00 7 /lib/e.so\n";               /* line 10 */

static size_t given; /* bytes, by read_log() */

static size_t read_log(void *ctx, char *buf, size_t size)
{
	const size_t left = sizeof(log_text) - 1 - given, *piece = ctx;
	size_t len = *piece < size ? *piece : size;

	len = len < left ? len : left;
	memcpy(buf, log_text + given, len);
	given += len;
	return len;
}

/* What the frame in `line` gets: "NAME FROM ORIGIN FIRST_PAGE BUILDID", or "none". */
static void expect(struct mk_tables *t, const char *process, uint64_t line, uint64_t address,
		   const char *want)
{
	const struct sc_str key = { process, strlen(process) };
	struct mk_table_row row;
	char got[128] = "none";

	if (mk_tables_find(t, key, line, address, &row))
		snprintf(got, sizeof(got), "%.*s %llx %s %llx%s%.*s", (int)row.name.len, row.name.ptr,
			 (unsigned long long)(address - row.start + row.from),
			 row.origin == MARKUP_FROM_FILE ? "file" : "base",
			 (unsigned long long)row.first_page, row.build_id.len ? " " : "",
			 (int)row.build_id.len, row.build_id.len ? row.build_id.ptr : "");
	assert_string_equal(got, want);
}

static void test_file(void **state)
{
	struct mk_tables t = { 0 };
	struct mk_demux demux = { 0 };
	struct mk_formats formats;

	(void)state;
	assert_true(mk_formats_init(&formats, NULL));
	mk_tables_init(&t, formats.inputs, &demux);
	for (size_t piece = 1; piece < 4096; piece = piece * 7 + 1) {
		given = 0;
		mk_tables_reset(&t);
		t.again = read_log;
		t.again_ctx = &piece;
		expect(&t, "", 3, 0x2010, "/lib/a.so 1010 file 1000");
		expect(&t, "", 3, 0x8010, "/lib/b.so 3010 file 0");
		expect(&t, "", 3, 0x1010, "none"); /* no code */
		expect(&t, "", 3, 0x2fff, "/lib/a.so 1fff file 1000");
		expect(&t, "", 3, 0x3000, "/lib/c.so 0 file 3000");
		expect(&t, "7", 0, 0x2010, "/lib/d.so 10 file 2000");
		expect(&t, "8", 0, 0x2010, "none");
		/* The nearest that covers it, before or behind. */
		expect(&t, "", 0, 0x2010, "/lib/a.so 1010 file 1000");
		expect(&t, "", 9, 0x2010, "/lib/e.so 10 file 2000");
		expect(&t, "", 11, 0x2010, "/lib/e.so 10 file 2000");
		expect(&t, "", 11, 0x8010, "/m2 3010 base 0 aa02"); /* up to the next one */
		expect(&t, "", 8, 0x9010, "/m1 10 base 0 aa01");
		expect(&t, "", 8, 0x10, "none");
	}
	mk_tables_deinit(&t);
	mk_formats_deinit(&formats);
}

/* Of a pipe, tables behind an address come too late, which is counted: at the end alone, and not for
 * what is in none. */
static void test_late(void **state)
{
	static const char text[] = "2000-3000 r-xp 00000000 fe:00 7 /lib/e.so\n";
	struct mk_tables t = { 0 };
	struct mk_demux demux = { 0 };
	struct mk_formats formats;

	(void)state;
	assert_true(mk_formats_init(&formats, "maps"));
	mk_tables_init(&t, formats.inputs, &demux);
	for (size_t i = 0; i < 1000; i++)
		expect(&t, "", 3, 0x2010, "none");
	expect(&t, "", 4, 0x5010, "none");
	assert_int_equal(mk_tables_late(&t), 0);
	mk_tables_take(&t, text, sizeof(text) - 1, 9, false);
	assert_int_equal(mk_tables_late(&t), 256);
	mk_tables_reset(&t);
	assert_int_equal(mk_tables_late(&t), 0);
	/* What is found before it is not late. */
	mk_tables_take(&t, text, sizeof(text) - 1, 0, false);
	expect(&t, "", 3, 0x2010, "/lib/e.so 10 file 2000");
	expect(&t, "", 3, 0x5010, "none");
	assert_int_equal(mk_tables_late(&t), 0);
	mk_tables_deinit(&t);
	mk_formats_deinit(&formats);
}

/* The linkers lld and mold put the headers and the first code into one page of the file. */
static void test_first_page(void **state)
{
	static const char text[] =
		"7000-8000 r--p 00000000 fe:00 7 /lib/a.so\n"
		"8000-9000 r-xp 00000000 fe:00 7 /lib/a.so\n"
		"9000-a000 rw-p 00000000 fe:00 7 /lib/a.so\n"
		"a000-b000 r--p 00001000 fe:00 7 /lib/a.so\n"
		"b000-c000 r-xp 00000000 fe:00 7 /lib/a.so\n"  /* mapped once more */
		"c000-d000 r-xp 00002000 fe:00 7 /lib/a.so\n"
		"d000-e000 r-xp 00000000 fe:00 7 /lib/b.so\n";
	struct mk_tables t = { 0 };
	struct mk_demux demux = { 0 };
	struct mk_formats formats;

	(void)state;
	assert_true(mk_formats_init(&formats, "maps"));
	mk_tables_init(&t, formats.inputs, &demux);
	mk_tables_take(&t, text, sizeof(text) - 1, 0, false);
	expect(&t, "", 9, 0x7010, "none"); /* no code */
	expect(&t, "", 9, 0x8010, "/lib/a.so 10 file 7000");
	expect(&t, "", 9, 0xb010, "/lib/a.so 10 file b000");
	expect(&t, "", 9, 0xc010, "/lib/a.so 2010 file b000");
	expect(&t, "", 9, 0xd010, "/lib/b.so 10 file d000");
	mk_tables_deinit(&t);
	mk_formats_deinit(&formats);
}

static void test_pipe(void **state)
{
	struct mk_tables t = { 0 };
	struct mk_demux demux = { 0 };
	struct mk_formats formats;

	(void)state;
	assert_true(mk_formats_init(&formats, "maps"));
	mk_tables_init(&t, formats.inputs, &demux);
	for (size_t piece = 1; piece < 4096; piece = piece * 7 + 1) {
		uint64_t lines = 0;

		mk_tables_reset(&t);
		for (size_t at = 0, len; at < sizeof(log_text) - 1; at += len) {
			len = sizeof(log_text) - 1 - at < piece ? sizeof(log_text) - 1 - at : piece;
			mk_tables_take(&t, log_text + at, len, lines, false);
			lines += mk_count_newlines(log_text + at, log_text + at + len);
		}
		/* Nothing from behind the frame, whatever has come already. */
		expect(&t, "", 0, 0x2010, "none");
		expect(&t, "", 3, 0x2010, "/lib/a.so 1010 file 1000");
		expect(&t, "", 9, 0x2010, "/lib/a.so 1010 file 1000");
		expect(&t, "", 11, 0x2010, "/lib/e.so 10 file 2000");
		expect(&t, "", 8, 0x9010, "none"); /* another format */
	}
	mk_tables_deinit(&t);
	mk_formats_deinit(&formats);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_first_page), cmocka_unit_test(test_late),
	};
	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}

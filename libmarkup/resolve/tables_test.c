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

static char *put_row(char *to, unsigned start, const char *name)
{
	return to + sprintf(to, "%x000-%x000 r-xp 00000000 fe:00 7 /lib/%s\n", start, start + 1, name);
}

static char *put_lines(char *to, size_t n)
{
	memset(to, '\n', n);
	to[n] = 0;
	return to + n;
}

static void begin(struct mk_tables *t, struct mk_formats *formats, const char *inputs)
{
	static const struct mk_demux demux = { 0 };

	assert_true(mk_formats_init(formats, inputs));
	*t = (struct mk_tables){ 0 };
	mk_tables_init(t, formats->inputs, &demux);
}

static struct sc_str again; /* what is read */

static size_t read_text(void *ctx, char *buf, size_t size)
{
	const size_t len = again.len < size ? again.len : size;

	(void)ctx;
	memcpy(buf, again.ptr, len);
	again = (struct sc_str){ again.ptr + len, again.len - len };
	return len;
}

static void end(struct mk_tables *t, struct mk_formats *formats)
{
	mk_tables_deinit(t);
	mk_formats_deinit(formats);
}

/* Up to 64 lines may stand between two rows of a table: the distance to it is that to its last
 * row. */
static void test_between(void **state)
{
	char *text = malloc(1000000), *p;
	struct mk_formats formats;
	struct mk_tables t;

	(void)state;
	for (unsigned gap = 62; gap < 67; gap++) {
		p = put_row(text, 0x10, "a");
		p = put_lines(p, gap - 1);
		p = put_row(p, 0x20, "b");
		p = put_lines(p, 29);
		put_row(p, 0x10, "c");
		begin(&t, &formats, "maps");
		again = sc_str_of(text);
		t.again = read_text;
		expect(&t, "", gap + 10, 0x10010, gap <= 64 ? "/lib/a 10 file 10000" : "/lib/c 10 file 10000");
		end(&t, &formats);
	}
	/* Of two that are as near the one before the frame counts. */
	for (unsigned line = 9; line < 12; line++) {
		p = put_row(text, 0x10, "a");
		p = put_lines(p, 19);
		put_row(p, 0x10, "c");
		begin(&t, &formats, "maps");
		again = sc_str_of(text);
		t.again = read_text;
		expect(&t, "", line, 0x10010, line <= 10 ? "/lib/a 10 file 10000" : "/lib/c 10 file 10000");
		end(&t, &formats);
	}
	/* Of 64 tables before a frame, and of 64 behind it, one may cover it. The first row has one with
	 * the second, or is not behind the frame; each other row has its own, as its address is lower. */
	for (unsigned rows = 63; rows < 68; rows++) {
		for (int behind = 0; behind < 2; behind++) {
			p = behind ? text : put_row(text, 0x10, "a");
			for (unsigned i = 1; i < rows; i++)
				p = put_row(p, 0x2000 - i, "b");
			if (behind)
				put_row(p, 0x10, "a");
			begin(&t, &formats, "maps");
			again = sc_str_of(text);
			t.again = read_text;
			expect(&t, "", behind ? 0 : 1000, 0x10010,
			       rows <= 65 ? "/lib/a 10 file 10000" : "none");
			end(&t, &formats);
		}
	}
	free(text);
}

/* A row is read in lines of up to 256 KiB, and of a line 1,024 that are not in order. */
static void test_large(void **state)
{
	char *text = malloc(1000000), *p;
	struct mk_formats formats;
	struct mk_tables t;
	uint64_t lines = 0;

	(void)state;
	for (size_t len = (256 << 10) - 2; len < (256 << 10) + 3; len++) {
		char row[100];

		put_row(row, 0x10, "a");
		memset(text, ' ', len);
		strcpy(text + len - strlen(row) + 1, row); /* with its newline it has a byte more */
		strcat(text, "\n");
		for (size_t piece = 1000; piece < 1000000; piece *= 20) {
			begin(&t, &formats, "maps");
			for (size_t at = 0, all = strlen(text), n; at < all; at += n) {
				n = all - at < piece ? all - at : piece;
				mk_tables_take(&t, text + at, n, 0, false);
			}
			expect(&t, "", 3, 0x10010, len < 256 << 10 ? "/lib/a 10 file 10000" : "none");
			end(&t, &formats);
		}
	}
	p = stpcpy(text, "{\"somap\":[");
	for (unsigned i = 0; i < 1026; i++)
		p += sprintf(p, "%s{\"b\":\"%X0000\",\"path\":\"/m%u\",\"buildId\":\"aa01\"}", i ? "," : "", 5000 - i, i);
	strcpy(p, "]}\n");
	begin(&t, &formats, NULL);
	mk_tables_take(&t, text, strlen(text), lines, false);
	expect(&t, "", 3, (5000 - 1022) * 0x10000ull + 0x10, "/m1022 10 base 0 aa01");
	expect(&t, "", 3, (5000 - 1023) * 0x10000ull + 0x10, "/m1023 10 base 0 aa01");
	expect(&t, "", 3, (5000 - 1024) * 0x10000ull + 0x10, "none");
	expect(&t, "", 3, 5000 * 0x10000ull + 0x10, "/m0 10 base 0 aa01");
	end(&t, &formats);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file),
		cmocka_unit_test(test_pipe),
		cmocka_unit_test(test_first_page), cmocka_unit_test(test_late),
		cmocka_unit_test(test_between), cmocka_unit_test(test_large),
	};
	return cmocka_run_group_tests_name("tables", tests, NULL, NULL);
}

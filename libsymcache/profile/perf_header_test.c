/* What a header of perf.data, or the records of a pipe in its place, say of events and of files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/profile/perf_file.h"

enum { FREQ = 1 << 10, BUILD_ID = 2, ARCH = 6, EVENT_DESC = 12 };

static void fill(struct bytes *b, size_t n)
{
	while (n--)
		put(b, 1, 0x77);
}

/* A struct perf_event_attr as long as it is today, 136 bytes. */
static void put_attr(struct bytes *b, uint32_t type, uint64_t config, uint64_t period, uint64_t flags)
{
	const size_t at = put(b, 4, type);

	put(b, 4, 136);
	put(b, 8, config);
	put(b, 8, period);
	put(b, 8, PERF_IP | PERF_READ);
	put(b, 8, 12);
	put(b, 8, flags);
	fill(b, 24);
	put(b, 8, 1 << 17); /* of branches */
	put(b, 8, 0x1ff);   /* registers */
	fill(b, 136 - (b->b.len - at));
}

static int add(struct perf_file *f, const struct bytes *b, size_t size, struct sc_error *err)
{
	static const uint8_t ids[] = { 5, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 0 };

	return perf_add_event(f, b->b.data, size, perf_cursor_of(ids, sizeof(ids), 0), err);
}

static void test_events(void **state)
{
	static const struct { uint32_t type; uint64_t config, period, flags, counts; const char *name; } cases[] = {
		{ 0, 0, 4000, 0, 4000, "cycles" }, { 0, 1, 0, 0, 1, "instructions" }, { 0, 6, 99, FREQ, 1, "bus-cycles" },
		{ 0, 7, 1, 0, 1, "event" }, { 0, 4, 2, FREQ - 1, 2, "branches" }, { 0, 5, 3, FREQ << 1, 3, "branch-misses" },
		{ 1, 0, 9, 0, 9, "cpu-clock" }, { 1, 1, 9, 0, 9, "task-clock" }, { 1, 6, 9, 0, 9, "major-faults" },
		{ 1, 7, 9, 0, 9, "event" }, { 2, 0, 9, 0, 9, "event" }, { 0, UINT64_MAX, 9, 0, 9, "event" },
	};
	struct sc_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes b = { 0 };
		struct perf_file f = { 0 };
		const struct perf_event *e;

		put_attr(&b, cases[i].type, cases[i].config, cases[i].period, cases[i].flags);
		/* Older ones are shorter: without what branches and registers are like. */
		assert_int_equal(add(&f, &b, 72, &err), 0);
		assert_int_equal(add(&f, &b, 136, &err), 0);
		for (int k = 0; k < 2; k++) {
			e = &f.events.data[k];
			assert_true(e->type == cases[i].type && e->config == cases[i].config && e->period == cases[i].counts);
			assert_true(e->sample_type == (PERF_IP | PERF_READ) && e->read_format == 12 && e->flags == cases[i].flags);
			assert_string_equal(e->name, cases[i].name);
			assert_int_equal(e->branch_type, k ? 1 << 17 : 0);
			assert_int_equal(e->regs, k ? 0x1ff : 0);
		}
		assert_true(f.event_of.len == 4 && f.event_of.data[1] == 0 && f.event_of.data[2] == 1);
		assert_int_equal(add(&f, &b, 47, &err), SC_EFORMAT);
		perf_file_deinit(&f);
		bytes_deinit(&b);
	}
}

static void test_many_events(void **state)
{
	struct bytes b = { 0 };
	struct perf_file f = { 0 };
	struct sc_error err;

	(void)state;
	put_attr(&b, 0, 0, 1, 0);
	for (int i = 0; i < PERF_EVENTS_MAX; i++)
		assert_int_equal(add(&f, &b, 136, &err), 0);
	assert_int_equal(add(&f, &b, 136, &err), SC_ELIMIT);
	assert_string_equal(err.msg, "it has more than 256 events");
	perf_file_deinit(&f);
	bytes_deinit(&b);
}

/* Names of events: of a file in a list, of a pipe one by one. */
static void test_names(void **state)
{
	struct bytes b = { 0 }, list = { 0 }, update = { 0 };
	struct perf_file f = { 0 };
	struct sc_error err;

	(void)state;
	put_attr(&b, 0, 0, 1, 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(add(&f, &b, 136, &err), 0);
	put(&list, 4, 4); /* one more than there are */
	put(&list, 4, 16);
	for (unsigned i = 0; i < 4; i++) {
		fill(&list, 16);
		put(&list, 4, i); /* so many ids */
		put(&list, 4, 8);
		put_block(&list, i == 1 ? "\0\0\0\0\0\0\0" : "name:u\0", 8);
		fill(&list, 8 * i);
	}
	list.b.data[8 + 24] = 'N';
	assert_int_equal(perf_read_feature(&f, EVENT_DESC, perf_cursor_of(list.b.data, list.b.len, 0), &err), 0);
	assert_string_equal(f.events.data[0].name, "Name:u");
	assert_string_equal(f.events.data[1].name, "cycles"); /* "" is no name */
	assert_string_equal(f.events.data[2].name, "name:u");
	/* Cut off, it names the ones in front. */
	f.events.data[0].name[0] = f.events.data[2].name[0] = 'x';
	assert_int_equal(perf_read_feature(&f, EVENT_DESC, perf_cursor_of(list.b.data, 8 + 32 + 40, 0), &err), 0);
	assert_string_equal(f.events.data[0].name, "Name:u");
	assert_string_equal(f.events.data[2].name, "xame:u");
	perf_file_deinit(&f);

	f = (struct perf_file){ 0 };
	assert_int_equal(add(&f, &b, 136, &err), 0);
	for (unsigned kind = 0; kind < 4; kind++)
		for (unsigned id = 5; id < 8; id++) {
			update.b.len = 0;
			put(&update, 8, 0);
			put(&update, 8, kind);
			put(&update, 8, id);
			put_str(&update, "new");
			strcpy(f.events.data[0].name, "old");
			perf_read_update(&f, update.b.data, update.b.len);
			assert_string_equal(f.events.data[0].name, kind == 2 && id < 7 ? "new" : "old");
		}
	perf_file_deinit(&f);
	bytes_deinit(&b);
	bytes_deinit(&list);
	bytes_deinit(&update);
}

/* A record of a build ID of `len` bytes; 0: whose length is not said. */
static void put_id(struct bytes *b, unsigned len, unsigned filled, const char *name)
{
	const size_t at = put(b, 4, 0);

	put(b, 2, len ? 1 << 15 : 0);
	put(b, 2, 0);
	put(b, 4, 7); /* pid */
	for (unsigned i = 0; i < 20; i++)
		put(b, 1, i < filled ? i + 1 : 0);
	put(b, 1, len);
	put(b, 3, 0);
	put_str(b, name);
	patch(b, at + 6, 2, b->b.len - at);
}

static void test_ids(void **state)
{
	static const struct { unsigned len, filled; size_t want; } cases[] = {
		{ 20, 20, 20 }, { 16, 16, 16 }, { 16, 14, 14 }, { 0, 20, 20 }, { 0, 16, 16 }, { 0, 8, 8 }, { 0, 3, 8 }, { 3, 3, 3 },
		{ 21, 20, 20 }, { 8, 0, 8 }, { 9, 0, 8 },
	};
	struct perf_file f = { 0 };
	struct bytes b = { 0 };
	struct sc_error err;
	char name[20];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		snprintf(name, sizeof(name), "/lib/%zu", i);
		put_id(&b, cases[i].len, cases[i].filled, name);
	}
	put_id(&b, 20, 20, ""); /* no name */
	put_id(&b, 4, 4, "/lib/0"); /* the last counts */
	assert_int_equal(perf_read_feature(&f, BUILD_ID, perf_cursor_of(b.b.data, b.b.len, 0), &err), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct perf_id *id;

		snprintf(name, sizeof(name), "/lib/%zu", i);
		id = perf_file_id(&f, sc_str_of(name));
		assert_non_null(id);
		assert_int_equal(id->len, i ? cases[i].want : 4);
		for (size_t k = 0; k < id->len; k++)
			assert_int_equal(id->bytes[k], k < cases[i].filled ? k + 1 : 0);
	}
	assert_null(perf_file_id(&f, sc_str_of("")));
	assert_null(perf_file_id(&f, sc_str_of("/lib")));
	perf_file_deinit(&f);
	/* One that is cut off. */
	f = (struct perf_file){ 0 };
	b.b.len = 0;
	put_id(&b, 20, 20, "/a");
	assert_int_equal(perf_read_feature(&f, BUILD_ID, perf_cursor_of(b.b.data, b.b.len - 1, 0), &err), SC_EFORMAT);
	assert_non_null(strstr(err.msg, "a build ID is cut off"));
	assert_int_equal(perf_read_feature(&f, BUILD_ID, perf_cursor_of(b.b.data, 7, 0), &err), 0);
	patch(&b, 6, 2, 7);
	assert_int_equal(perf_read_feature(&f, BUILD_ID, perf_cursor_of(b.b.data, b.b.len, 0), &err), SC_EFORMAT);
	patch(&b, 6, 2, 36);
	for (size_t size = 12; size < 36; size++)
		assert_int_equal(perf_read_id(&f, b.b.data, size, &err), SC_EFORMAT);
	assert_int_equal(perf_read_id(&f, b.b.data, 36, &err), 0); /* no name */
	perf_file_deinit(&f);
	bytes_deinit(&b);
}

static void test_arch(void **state)
{
	static const struct { unsigned len; const char *text, *want; } cases[] = {
		{ 8, "x86_64\0", "x86_64" }, { 3, "x86_64\0", "x86" }, { 100, "aarch64", "aarch64" }, { 0, "aarch64", "" },
		{ 15, "0123456789abcdef", "0123456789abcde" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes b = { 0 };
		struct perf_file f = { 0 };
		struct sc_error err;

		put(&b, 4, cases[i].len);
		put_block(&b, cases[i].text, strlen(cases[i].text) + (cases[i].len == 8));
		assert_int_equal(perf_read_feature(&f, ARCH, perf_cursor_of(b.b.data, b.b.len, 0), &err), 0);
		assert_string_equal(f.arch, cases[i].want);
		assert_int_equal(perf_read_feature(&f, ARCH + 1, perf_cursor_of(b.b.data, b.b.len, 0), &err), 0);
		assert_string_equal(f.arch, cases[i].want);
		perf_file_deinit(&f);
		bytes_deinit(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events), cmocka_unit_test(test_many_events), cmocka_unit_test(test_names),
		cmocka_unit_test(test_ids), cmocka_unit_test(test_arch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

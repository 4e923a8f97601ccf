/* perf.data with build IDs, and what is cut off, malformed or too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/profile/perf_file_test.h"

/* A build ID of a file counts for all that is mapped of it: in MMAP2 for another mapping that has none,
 * in a table or a record for all. Shorter ones are filled up with zeros. */
static void test_build_ids(void **state)
{
	static const uint64_t chain[] = { USER, 0x7110, 0x9110 };
	static const uint8_t id[20] = { 0xaa, 0xbb, 0xcc, 0xdd, 1, 2, 3, 4, 5 };

	(void)state;
	for (unsigned n = 0; n < 4; n++) {
		struct symprofiler *p = prof_profiler((struct symprofile_options){ .count = true });
		const struct symprofile_missing *missing;
		struct bytes b = { 0 }, file = { 0 };
		struct symprofile_output out;
		struct sc_error err;
		size_t at, count;

		put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/gone");
		put_mmap(&b, PID, 2, 0x9000, 0x1000, 0, "/opt/gone");
		if (n == 1) { /* of the first mapping */
			b.b.data[5] |= 1 << 6;
			memcpy(b.b.data + 40, "\x09\0\0\0", 4);
			memcpy(b.b.data + 44, id, 20);
		} else if (n) {
			at = begin_record(&b, 67, n == 3 ? 1 << 15 : 0);
			put(&b, 4, PID);
			put_block(&b, id, 20);
			put(&b, 4, n == 3 ? 4 : 77); /* its length, if that is there */
			put_padded(&b, "/opt/gone");
			end_record(&b, at);
		}
		put_sample(&b, PID, 100, 3, chain, 3, NULL, 0);
		wrap(&file, &b, true);
		assert_int_equal(symprofiler_run(p, file.b.data, file.b.len, &out, &err), 0);
		missing = symprofiler_missing(p, &count);
		assert_int_equal(count, 1);
		assert_string_equal(missing->name, "/opt/gone");
		assert_string_equal(missing->id, !n ? "" : n == 3 ? "aabbccdd" : "aabbccdd0102030405");
		assert_int_equal(missing->samples, 1);
		assert_int_equal(missing->locations, 2);
		symprofiler_destroy(p);
		bytes_deinit(&b);
		bytes_deinit(&file);
	}
}

/* Small records could map so much that moving it around takes for ever. The next file may map as much as
 * any. */
static void test_many_mappings(void **state)
{
	struct symprofiler *p = prof_profiler((struct symprofile_options){ 0 });
	struct symprofile_output out;
	struct bytes b = { 0 }, many = { 0 }, one = { 0 };
	struct sc_error err;

	(void)state;
	put_mmap(&b, PID, 0, 0x10000, 0x1000, 0, "/opt/prog");
	wrap(&one, &b, false);
	for (unsigned i = 1; i < 26000; i++)
		put_mmap(&b, PID, i, 0x10000 + 0x2000ull * i, 0x1000, 0, "/opt/prog");
	wrap(&many, &b, false);
	assert_int_equal(symprofiler_run(p, many.b.data, many.b.len, &out, &err), SC_ELIMIT);
	assert_string_equal(err.msg, "it maps more than any real program");
	assert_int_equal(symprofiler_run(p, one.b.data, one.b.len, &out, &err), 0);
	symprofiler_destroy(p);
	bytes_deinit(&b);
	bytes_deinit(&many);
	bytes_deinit(&one);
}

/* What is malformed is said, with its offset in the file or in the pipe. */
static void test_malformed(void **state)
{
	static const uint64_t chain[] = { USER, 0x7110 };
	static const struct { const char *what; size_t at; unsigned size; uint64_t value; const char *pipe; } cases[] = {
		{ "a size of 7", 6, 2, 7, "a record is shorter than its header" },
		{ "a size past the end", 6, 2, 0x7fff, "a record goes past the end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes b = { 0 }, file = { 0 };
		struct sc_error err;
		size_t len;

		put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
		put_sample(&b, PID, 100, 2, chain, 2, NULL, 0);
		patch(&b, cases[i].at, cases[i].size, cases[i].value);
		wrap(&file, &b, true);
		assert_null(prof_symbolized((struct symprofile_options){ 0 }, file.b.data, file.b.len, &len, &err));
		if (!strstr(err.msg, cases[i].pipe))
			fail_msg("%s: %s", cases[i].what, err.msg);
		assert_memory_equal(err.msg, "perf.data: at 0x", 16);
		bytes_deinit(&b);
		bytes_deinit(&file);
	}
}

/* A pipe that is cut off behind a record is shorter; else it is refused. */
static void test_cut_pipe(void **state)
{
	static const uint64_t chain[] = { USER, 0x7110 };
	struct bytes b = { 0 }, file = { 0 };
	size_t whole = 0, records = 2;

	(void)state;
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_sample(&b, PID, 100, 2, chain, 2, NULL, 0);
	wrap(&file, &b, true);
	for (size_t n = 17; n < file.b.len; n++) {
		uint8_t *bytes = malloc(n);
		struct sc_error err;
		size_t len;
		char *out;

		memcpy(bytes, file.b.data, n);
		out = prof_symbolized((struct symprofile_options){ 0 }, bytes, n, &len, &err);
		if (!out)
			assert_int_equal(err.code, SC_EFORMAT);
		whole += out != NULL;
		free(out);
		free(bytes);
	}
	/* Behind the first event, the second, the machine, and the mapping. */
	assert_int_equal(whole, records + 2);
	bytes_deinit(&b);
	bytes_deinit(&file);
}

/* Cut off anywhere, it is refused; nothing is read behind the end. */
static void test_cut(void **state)
{
	static const uint64_t chain[] = { USER, 0x7110 };
	struct symprofiler *p = prof_profiler((struct symprofile_options){ 0 });
	struct bytes b = { 0 }, file = { 0 };
	struct symprofile_output out;
	struct sc_error err;

	(void)state;
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_sample(&b, PID, 100, 2, chain, 2, NULL, 0);
	wrap(&file, &b, false);
	for (size_t n = 8; n < file.b.len; n++) {
		uint8_t *bytes = malloc(n);
		int rc;

		memcpy(bytes, file.b.data, n);
		rc = symprofiler_run(p, bytes, n, &out, &err);
		assert_int_equal(rc, SC_EFORMAT);
		free(bytes);
	}
	symprofiler_destroy(p);
	bytes_deinit(&b);
	bytes_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build_ids), cmocka_unit_test(test_many_mappings),
		cmocka_unit_test(test_malformed), cmocka_unit_test(test_cut_pipe),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}

/* Sections that are inflated while they are read: what is there is right at each step, and damage is
 * noticed wherever it is. */
#include <elf.h>
#include <libdeflate.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/elf/stream.h"

enum { LARGE = 7 << 20, SIZE = LARGE + 12345, SMALL = 300000, PAGE = 4096 };

static uint8_t content[SIZE];
static struct bytes deflated[2]; /* of all of it; of SMALL bytes */

static int set_up(void **state)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(1);
	uint8_t *out = malloc(SIZE);
	uint64_t random = 3;

	(void)state;
	for (size_t i = 0; i < SIZE; i++) /* strings, some of which are longer than a page */
		content[i] = i % 8 ? content[i - 1] : (uint8_t)testing_below(&random, 40);
	memset(content + 10 * PAGE + 100, 'x', 2 * PAGE);
	for (int i = 0; i < 2; i++)
		put_block(&deflated[i], out,
			  libdeflate_zlib_compress(c, content, i ? SMALL : SIZE, out, SIZE));
	free(out);
	libdeflate_free_compressor(c);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	bytes_deinit(&deflated[0]);
	bytes_deinit(&deflated[1]);
	return 0;
}

/* A file whose .debug_str is compressed, and is said to be `size` bytes long. NULL: it is no stream. */
static struct sc_elf_stream *open_stream(const struct bytes *compressed, uint64_t size,
					 size_t worth, struct sc_elf **e, const uint8_t **data)
{
	const struct elf_shape shape = { .is_64 = true, .machine = EM_X86_64, .type = ET_DYN };
	struct bytes bytes = { 0 }, file = { 0 };
	const struct elf_section s = {
		".debug_str", SHT_PROGBITS, SHF_COMPRESSED, 0, &bytes, 0, 0, 0 };
	struct sc_elf_stream *ret;
	struct sc_error err;
	size_t opened = 0;
	uint8_t *own;

	put(&bytes, 4, ELFCOMPRESS_ZLIB), put(&bytes, 4, 0), put(&bytes, 8, size),
		put(&bytes, 8, 1);
	put_block(&bytes, compressed->b.data, compressed->b.len);
	put_elf(&file, &shape, &s, 1);
	own = malloc(file.b.len);
	assert_int_equal(sc_elf_open_memory(memcpy(own, file.b.data, file.b.len), file.b.len,
					    "file", e, &err),
			 0);
	if (!sc_elf_stream_open(*e, ".debug_str", worth, &ret, data, &opened))
		assert_int_equal(opened, size);
	bytes_deinit(&bytes);
	bytes_deinit(&file);
	return ret;
}

/* There are no streams where the library is not built with that which inflates them. */
static void without_library(void)
{
#if defined(SC_PORTABLE) || !__has_include(<isa-l/igzip_lib.h>)
	skip();
#else
	fail_msg("it is no stream");
#endif
}

/* Step by step; of what was read the reader needs the last `kept` bytes. */
static void test_steps(void **state)
{
	static const struct {
		int small;
		size_t kept;
	} cases[] = {
		{ 0, SIZE }, { 0, 1 << 20 }, { 0, 0 }, { 1, SMALL }, { 1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const size_t size = cases[i].small ? SMALL : SIZE;
		struct sc_elf *e;
		const uint8_t *data;
		struct sc_elf_stream *s =
			open_stream(&deflated[cases[i].small], size, size, &e, &data);
		size_t ready = 0, before, steps = 0;
		struct sc_error err;

		if (!s)
			without_library();
		do {
			const size_t done = ready > cases[i].kept ? ready - cases[i].kept : 0;

			before = ready;
			ready = sc_elf_stream_more(s, done);
			assert_true(ready > before);
			assert_memory_equal(data + done, content + done, ready - done);
			steps++;
		} while (ready < size);
		assert_true(steps > 2);
		assert_int_equal(sc_elf_stream_more(s, 0), size); /* it is all */
		assert_int_equal(sc_elf_stream_finish(s, &err), 0);
		sc_elf_stream_close(s);
		sc_elf_close(e);
	}
	assert_int_equal(sc_elf_stream_finish(NULL, NULL), 0);
}

/* What is not worth it is no stream. */
static void test_worth(void **state)
{
	const uint8_t *data;
	struct sc_elf *e;

	(void)state;
	assert_null(open_stream(&deflated[1], SMALL, SMALL + 1, &e, &data));
	sc_elf_close(e);
}

static void expect_damaged(const struct bytes *compressed, uint64_t size, const char *what)
{
	struct sc_elf *e;
	const uint8_t *data;
	struct sc_elf_stream *s = open_stream(compressed, size, 0, &e, &data);
	struct sc_error err = { .msg = "" };
	uint8_t *wanted = calloc(1, SIZE / PAGE + 2);
	size_t ready, before = 0;

	if (!s)
		without_library();
	while ((ready = sc_elf_stream_more(s, 0)) > before && ready < size)
		before = ready;
	if (ready || sc_elf_stream_finish(s, &err) != SC_EFORMAT)
		fail_msg("%s: %zu bytes, %s", what, ready, err.msg);
	assert_string_equal(err.msg, "compressed data is damaged");
	assert_int_equal(sc_elf_stream_more(s, 0), 0);
	sc_elf_stream_close(s);
	sc_elf_close(e);
	s = open_stream(compressed, size, 0, &e, &data);
	assert_int_equal(sc_elf_stream_pages(s, PAGE, wanted), SC_EFORMAT);
	sc_elf_stream_close(s);
	sc_elf_close(e);
	free(wanted);
}

static void test_damaged(void **state)
{
	const size_t n = deflated[1].b.len;
	struct bytes b = { 0 };

	(void)state;
	expect_damaged(&deflated[1], SMALL + 1, "shorter than it is said to be");
	expect_damaged(&deflated[1], SMALL - 1, "longer");
	expect_damaged(&deflated[1], 1, "much longer");
	for (size_t cut = 1; cut < n; cut += 1 + n / 7) {
		b.b.len = 0;
		put_block(&b, deflated[1].b.data, n - cut);
		expect_damaged(&b, SMALL, "cut off");
	}
	b.b.len = 0;
	put_block(&b, deflated[1].b.data, n);
	b.b.data[n - 1] ^= 1;
	expect_damaged(&b, SMALL, "another checksum");
	b.b.data[n - 1] ^= 1;
	b.b.data[0] ^= 0x0f;
	expect_damaged(&b, SMALL, "another kind");
	bytes_deinit(&b);
}

/* Of pages those that are wanted, and what goes on behind them. */
static void test_pages(void **state)
{
	static const size_t sizes[] = { SIZE, SMALL };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		const size_t size = sizes[i], pages = size / PAGE + 1;
		struct sc_elf *e;
		const uint8_t *data;
		struct sc_elf_stream *s = open_stream(&deflated[i], size, 0, &e, &data);
		uint8_t *wanted = calloc(1, pages);
		uint64_t random = 7;
		bool goes_on = false;

		if (!s)
			without_library();
		for (size_t k = 0; k < pages; k++)
			wanted[k] = !testing_below(&random, 3);
		wanted[10] = 1;
		wanted[11] = wanted[12] = wanted[13] = 0;
		assert_int_equal(sc_elf_stream_pages(s, PAGE, wanted), 0);
		for (size_t k = 0; k < pages; k++) {
			const size_t n = k + 1 < pages ? PAGE : size - k * PAGE;
			static const uint8_t zero[PAGE];
			const bool there = wanted[k] || goes_on;

			assert_memory_equal(data + k * PAGE, there ? content + k * PAGE : zero,
					    n);
			goes_on = there ? content[k * PAGE + n - 1] : goes_on;
		}
		assert_memory_equal(data + 11 * PAGE, content + 11 * PAGE, 2 * PAGE);
		free(wanted);
		sc_elf_stream_close(s);
		sc_elf_close(e);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_worth),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_pages),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

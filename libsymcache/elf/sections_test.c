/* Unit tests of sections as bytes: plain and compressed in each way, whole and damaged. */
#include <elf.h>
#include <libdeflate.h>
#include <setjmp.h>
#include <stdarg.h>
#include <zstd.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/elf/elf.h"

#define ZLIB 1u
#define ZSTD 2u

static char content[20000];

/* Something that compresses well, but not to nothing. */
static void make_content(void)
{
	for (size_t i = 0; i < sizeof(content); i++)
		content[i] = (char)(i * i % 97 + i / 1000);
}

static void put_deflated(struct bytes *o)
{
	struct libdeflate_compressor *c = libdeflate_alloc_compressor(6);
	char out[sizeof(content)];
	size_t n = libdeflate_zlib_compress(c, content, sizeof(content), out, sizeof(out));

	assert_true(n > 0);
	put_block(o, out, n);
	libdeflate_free_compressor(c);
}

static void put_zstd(struct bytes *o)
{
	char out[2 * sizeof(content)];
	size_t n = ZSTD_compress(out, sizeof(out), content, sizeof(content), 3);

	assert_false(ZSTD_isError(n));
	put_block(o, out, n);
}

/* A compression header and what it announces. */
static void put_compressed(struct bytes *o, bool is_64, uint32_t how, uint64_t size)
{
	put(o, 4, how);
	if (is_64)
		put(o, 4, 0);
	put(o, is_64 ? 8 : 4, size);
	put(o, is_64 ? 8 : 4, 1);
	if (how == ZLIB)
		put_deflated(o);
	else
		put_zstd(o);
}

/* A file with one section; it is asked for as `name`. */
static int read_section(const struct elf_shape *shape, const char *stored, uint64_t flags,
			const struct bytes *bytes, const char *name, struct sc_elf **e,
			const uint8_t **data, size_t *size, struct sc_error *err)
{
	struct elf_section s = { stored, SHT_PROGBITS, flags, 0, bytes, 0, 0, 0 };
	struct bytes file = {0};
	char path[32];
	int fd;

	put_elf(&file, shape, &s, 1);
	fd = testing_memfd(file.b.data, file.b.len, path);
	assert_int_equal(sc_elf_open(path, e, err), 0);
	close(fd);
	bytes_deinit(&file);
	assert_true(sc_elf_has(*e, name));
	return sc_elf_section(*e, name, data, size, err);
}

static const struct elf_shape shape_64 = { .is_64 = true, .machine = EM_X86_64, .type = ET_DYN };

static void must_be_content(const struct elf_shape *shape, const char *stored, uint64_t flags,
			    struct bytes *bytes)
{
	struct sc_error err = { .msg = "" };
	const uint8_t *data;
	struct sc_elf *e;
	size_t size;

	assert_int_equal(read_section(shape, stored, flags, bytes, ".debug_info", &e, &data,
				      &size, &err), 0);
	assert_int_equal(size, sizeof(content));
	assert_memory_equal(data, content, size);
	sc_elf_close(e);
	bytes_deinit(bytes);
}

static void must_fail(const char *stored, uint64_t flags, struct bytes *bytes, int code,
		      const char *why)
{
	struct sc_error err = { .msg = "" };
	const uint8_t *data;
	struct sc_elf *e;
	size_t size;

	assert_int_equal(read_section(&shape_64, stored, flags, bytes, ".debug_info", &e, &data,
				      &size, &err), code);
	assert_null(data);
	assert_int_equal(size, 0);
	if (!strstr(err.msg, why) || !strstr(err.msg, "debug_info"))
		fail_msg("'%s' does not say '%s'", err.msg, why);
	sc_elf_close(e);
	bytes_deinit(bytes);
}

static void test_all_ways(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct elf_shape shape = shape_64;
		struct bytes b = {0};

		shape.is_64 = i & 1;
		shape.big_endian = b.big_endian = i & 2;
		put_block(&b, content, sizeof(content));
		must_be_content(&shape, ".debug_info", 0, &b);
		put_compressed(&b, shape.is_64, ZLIB, sizeof(content));
		must_be_content(&shape, ".debug_info", SHF_COMPRESSED, &b);
		put_compressed(&b, shape.is_64, ZSTD, sizeof(content));
		must_be_content(&shape, ".debug_info", SHF_COMPRESSED, &b);
		put_block(&b, "ZLIB\0\0\0\0", 8);
		b.big_endian = true; /* in this header it always is */
		put(&b, 4, sizeof(content));
		put_deflated(&b);
		must_be_content(&shape, ".zdebug_info", 0, &b);
	}
}

/* Several sections of one name are one, in the order of the file, however each is compressed. */
static void test_parts(void **state)
{
	static const struct { char kinds[5]; size_t size; } cases[] = { /* t: a text, c: content, z: the same, compressed */
		{ "t", 4 }, { "tt", 8 }, { "tc", 4 + sizeof(content) }, { "ctt", 8 + sizeof(content) },
		{ "z", sizeof(content) }, { "ztz", 4 + 2 * sizeof(content) }, { "tzct", 8 + 2 * sizeof(content) },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const char *kinds = cases[i / 2].kinds;
		struct bytes parts[4] = {0}, file = {0};
		struct elf_section sections[4];
		struct elf_shape shape = shape_64;
		size_t n = 0, size, at = 0;
		const uint8_t *data;
		struct sc_error err;
		struct sc_elf *e;
		char path[32];
		int fd;

		shape.type = i % 2 ? ET_REL : ET_DYN;
		for (; kinds[n]; n++) {
			if (kinds[n] == 'z')
				put_compressed(&parts[n], true, n % 2 ? ZSTD : ZLIB, sizeof(content));
			else
				put_block(&parts[n], kinds[n] == 't' ? "abcd" : content, kinds[n] == 't' ? 4 : sizeof(content));
			sections[n] = (struct elf_section){ ".debug_info", SHT_PROGBITS, kinds[n] == 'z' ? SHF_COMPRESSED : 0, 0,
							    &parts[n], 0, 0, 0 };
		}
		put_elf(&file, &shape, sections, n);
		fd = testing_memfd(file.b.data, file.b.len, path);
		assert_int_equal(sc_elf_open(path, &e, &err), 0);
		assert_int_equal(sc_elf_section(e, ".debug_info", &data, &size, &err), 0);
		assert_int_equal(size, cases[i / 2].size);
		for (size_t k = 0; k < n; k++) {
			const size_t len = kinds[k] == 't' ? 4 : sizeof(content);

			assert_memory_equal(data + at, kinds[k] == 't' ? "abcd" : content, len);
			at += len;
			bytes_deinit(&parts[k]);
		}
		sc_elf_close(e);
		close(fd);
		bytes_deinit(&file);
	}
}

/* What is damaged, lies, or is of an unknown kind. */
static void test_faults(void **state)
{
	struct bytes b = {0};

	(void)state;
	put_compressed(&b, true, ZLIB, sizeof(content) + 1);
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EFORMAT, "damaged");
	put_compressed(&b, true, ZLIB, sizeof(content) - 1);
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EFORMAT, "damaged");
	put_compressed(&b, true, ZSTD, sizeof(content) + 1);
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EFORMAT, "damaged");
	put_compressed(&b, true, ZSTD, sizeof(content) - 1);
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EFORMAT, "damaged");
	put_compressed(&b, true, ZLIB, 0);
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EFORMAT, "damaged");
	/* Sizes that nothing so small can have: no memory is asked for. */
	put_compressed(&b, true, ZLIB, 1ull << 40);
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EFORMAT, "cannot inflate");
	put_compressed(&b, true, ZSTD, UINT64_MAX);
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EFORMAT, "cannot inflate");
	put_compressed(&b, true, 77, sizeof(content));
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EUNSUPPORTED, "unknown compression 77");
	put(&b, 4, ZLIB);
	must_fail(".debug_info", SHF_COMPRESSED, &b, SC_EFORMAT, "no whole compression header");
	put_block(&b, "ZLIB\0\0\0\0\0\0", 11);
	must_fail(".zdebug_info", 0, &b, SC_EFORMAT, "no ZLIB header");
	put_block(&b, "ZLUB\0\0\0\0\0\0\0\0", 12);
	must_fail(".zdebug_info", 0, &b, SC_EFORMAT, "no ZLIB header");
	put_block(&b, "ZLIB\377\0\0\0\0\0\0\0", 12);
	must_fail(".zdebug_info", 0, &b, SC_EFORMAT, "cannot inflate");
}

/* Cut off or with a wrong byte anywhere: an error, or bytes of the right size. */
static void test_damage(void **state)
{
	(void)state;
	for (unsigned how = ZLIB; how <= ZSTD; how++) {
		struct bytes b = {0}, damaged = {0};
		struct sc_error err;
		const uint8_t *data;
		struct sc_elf *e;
		size_t size;

		put_compressed(&b, true, how, sizeof(content));
		for (size_t n = 24; n < b.b.len; n += 5) {
			put_block(&damaged, b.b.data, n);
			must_fail(".debug_info", SHF_COMPRESSED, &damaged, SC_EFORMAT,
				  n < 64 ? "" : "damaged");
			put_block(&damaged, b.b.data, b.b.len);
			damaged.b.data[n] ^= (uint8_t)(1 + n % 255);
			if (!read_section(&shape_64, ".debug_info", SHF_COMPRESSED, &damaged,
					  ".debug_info", &e, &data, &size, &err))
				assert_int_equal(size, sizeof(content));
			sc_elf_close(e);
			bytes_deinit(&damaged);
		}
		bytes_deinit(&b);
	}
}

/* The old name counts for .debug_ sections alone, and the new one comes first. */
static void test_names(void **state)
{
	struct bytes b = {0}, file = {0};
	struct elf_section s[] = {
		{ ".zdebug_str", SHT_PROGBITS, 0, 0, &b, 0, 0, 0 },
		{ ".zother", SHT_PROGBITS, 0, 0, &b, 0, 0, 0 },
		{ ".debug_str", SHT_PROGBITS, 0, 0, &b, 0, 0, 0 },
		{ ".debug_line", SHT_NOBITS, 0, 0, NULL, 100, 0, 0 },
	};
	char path[32], long_name[200] = ".debug_";
	const uint8_t *data;
	struct sc_elf *e;
	size_t size;
	int fd;

	(void)state;
	put_str(&b, "plain");
	put_elf(&file, &shape_64, s, 4);
	fd = testing_memfd(file.b.data, file.b.len, path);
	assert_int_equal(sc_elf_open(path, &e, NULL), 0);
	close(fd);
	assert_int_equal(sc_elf_section(e, ".debug_str", &data, &size, NULL), 0);
	assert_string_equal((const char *)data, "plain");
	assert_false(sc_elf_has(e, ".other"));
	assert_false(sc_elf_has(e, ".debug_line")); /* its bytes are elsewhere */
	assert_int_equal(sc_elf_section(e, ".debug_line", &data, &size, NULL), SC_ENOTFOUND);
	memset(long_name + 7, 'x', 150);
	assert_false(sc_elf_has(e, long_name));
	sc_elf_close(e);
	bytes_deinit(&b);
	bytes_deinit(&file);
}

/* What compilers and objcopy compress inflates to what they did not. */
static void test_tools(void **state)
{
	static const char *const suffixes[] = { "zlib", "zlib-gnu", "zstd" };
	static const char *const names[] = { ".debug_info", ".debug_line", ".debug_str" };
	struct sc_elf *plain;

	(void)state;
	assert_int_equal(testing_run("scripts/testprogs.sh build/testprogs"), 0);
	assert_int_equal(sc_elf_open("build/testprogs/layouts", &plain, NULL), 0);
	for (size_t i = 0; i < 3; i++) {
		char path[64];
		struct sc_elf *e;

		snprintf(path, sizeof(path), "build/testprogs/layouts.%s", suffixes[i]);
		if (sc_elf_open(path, &e, NULL)) {
			printf("skipped: no %s\n", path);
			continue;
		}
		for (size_t k = 0; k < 3; k++) {
			const uint8_t *a, *b;
			size_t n, m;

			assert_int_equal(sc_elf_section(plain, names[k], &a, &n, NULL), 0);
			assert_int_equal(sc_elf_section(e, names[k], &b, &m, NULL), 0);
			assert_int_equal(n, m);
			assert_memory_equal(a, b, n);
		}
		sc_elf_close(e);
	}
	sc_elf_close(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_ways),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_tools),
	};

	make_content();
	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * What is packed comes back, whatever the cache: of real programs in all versions, of other
 * writers, damaged, and no cache at all. What is unpacked may be damaged anywhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/packed/squeeze.h"
#include "libsymcache/packed/testing.h"
#include "libsymcache/read/read.h"

static void test_programs(void **state)
{
	static const char *const programs[] = {
		"inlines", "shapes", "shapes.o", "threads", "units", "layouts.clang5", "layouts.gcc2",
	};
	char path[100];

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		for (uint32_t version = 7; version <= 9; version++)
			for (int locals = 0; locals < 2; locals++) {
				struct cache c;

				snprintf(path, sizeof(path), "build/testprogs/%s", programs[i]);
				c = build_cache(path, version, locals);
				come_back(c.bytes, c.size, 0);
				come_back(c.bytes, c.size, 1);
				assert_true(come_back(c.bytes, c.size, 19) < c.size * 2 / 3);
				if (version != 8)
					testing_seed(c.bytes, c.size);
				free(c.bytes);
			}
}

/* This program has some thousand functions: it is modelled, or it would not be so small. */
static void test_small(void **state)
{
	struct cache c = build_cache("/proc/self/exe", 0, false), l = build_cache("/proc/self/exe", 0, true);
	const size_t packed = come_back(c.bytes, c.size, 19);

	(void)state;
	if (c.size > 200000) /* with symbols */
		assert_in_range(packed, c.size / 40, c.size / 9);
	assert_true(come_back(l.bytes, l.size, PACKED_LEVEL) > packed);
	free(c.bytes);
	free(l.bytes);
}

static void test_recorded(void **state)
{
	static const int versions[] = { 7, 8, 9 };
	char command[200];

	(void)state;
	if (access("../shared/data/symcache", R_OK)) {
		puts("skipped: there is no ../shared/data/symcache");
		skip();
	}
	for (int i = 0; i < 3; i++) {
		const size_t room = 8 << 20;
		void *bytes = malloc(room);
		size_t size;
		FILE *f;

		snprintf(command, sizeof(command),
			 "xz -dc ../shared/data/symcache/libc-2.36-v%d.symc.xz", versions[i]);
		f = popen(command, "r");
		assert_non_null(f);
		size = fread(bytes, 1, room, f);
		assert_int_equal(pclose(f), 0);
		assert_in_range(come_back(bytes, size, PACKED_LEVEL), size / 30, size / 12);
		free(bytes);
	}
}

/* Each byte changed, and each length: caches that are in order no more. */
static void test_any_bytes(void **state)
{
	struct cache c = build_cache("build/testprogs/inlines", 0, true);
	uint64_t seed = 1;

	(void)state;
	for (size_t i = 0; i < c.size; i += i < 400 || i + 600 > c.size ? 1 : 7) {
		const uint8_t was = c.bytes[i];

		c.bytes[i] ^= (uint8_t)(1 + testing_below(&seed, 255));
		come_back(c.bytes, c.size, 0);
		c.bytes[i] = was;
	}
	for (size_t size = 0; size < c.size; size += 1 + size / 50)
		come_back(c.bytes, size, 0);
	free(c.bytes);
	c = (struct cache){ calloc(1, 50 << 20), 50 << 20 }; /* compressed it would not be believed */
	assert_in_range(come_back(c.bytes, c.size, 19), c.size, c.size + 1000);
	free(c.bytes);
}

/* Several in one file: no larger than the one and the differences. */
static void test_joined(void **state)
{
	struct cache a = build_cache("build/testprogs/layouts.gcc4", 0, false);
	struct cache b = build_cache("build/testprogs/layouts.gcc5", 0, false);
	const struct packed_bytes caches[] = {
		{ a.bytes, a.size }, { "no cache", 8 }, { b.bytes, b.size }, { "", 0 },
	};
	struct packed_caches back;
	void *packed;
	size_t size;

	(void)state;
	assert_int_equal(packed_pack(caches, 4, 19, &packed, &size, &err), 0);
	testing_seed(packed, size);
	assert_true(size < come_back(a.bytes, a.size, 19) + come_back(b.bytes, b.size, 19));
	assert_int_equal(packed_unpack(packed, size, &back, &err), 0);
	assert_int_equal(back.num, 4);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(back.caches[i].size, caches[i].size);
		assert_memory_equal(back.caches[i].data, caches[i].data, caches[i].size);
		assert_int_equal((uintptr_t)back.caches[i].data % 8, 0);
	}
	packed_caches_deinit(&back);
	free(packed);
	free(a.bytes);
	free(b.bytes);
}

static void refuse(const void *packed, size_t size, int code, const char *message)
{
	struct packed_caches back;

	assert_int_equal(packed_unpack(packed, size, &back, &err), code);
	assert_string_equal(err.msg, message);
	assert_null(back.bytes);
	assert_null(back.caches);
}

static void test_damaged(void **state)
{
	struct cache c = build_cache("build/testprogs/inlines", 0, true);
	const struct packed_bytes cache = { c.bytes, c.size };
	struct packed_caches back;
	uint64_t seed = 2;
	uint8_t *packed;
	size_t size;

	(void)state;
	for (int level = 0; level < 2; level++) {
		assert_int_equal(packed_pack(&cache, 1, level, (void **)&packed, &size, &err), 0);
		testing_seed(packed, size);
		for (size_t i = 0; i < size; i++) {
			const uint8_t was = packed[i];

			packed[i] ^= (uint8_t)(1 + testing_below(&seed, 255));
			if (packed_unpack(packed, size, &back, &err))
				assert_true(err.code && *err.msg);
			else /* what zstd does not look at */
				assert_memory_equal(back.caches[0].data, c.bytes, c.size);
			packed_caches_deinit(&back);
			packed[i] = was;
		}
		for (size_t cut = 0; cut < size; cut++)
			assert_int_not_equal(packed_unpack(packed, cut, &back, &err), 0);
		free(packed);
	}
	free(c.bytes);
}

static void test_hostile(void **state)
{
	static const char far[] = "\xff\xff\xff\xff\xff\xff\xff\xff\x01";
	static uint8_t file[1 << 20];
	size_t n;

	(void)state;
	assert_int_equal(packed_total(file, 0), 0);
	refuse("", 0, SC_EFORMAT, "not a packed SymCache");
	refuse("SYMPACK\2............", 20, SC_EUNSUPPORTED, "packed by a later version");
	n = file_of(file, 3, 80, "", 0);
	refuse(file, n, SC_EUNSUPPORTED, "packed by a later version");
	n = file_of(file, 2, 80, "", 0);
	refuse(file, n, SC_EINVAL, "a delta against another cache, without which it cannot be used");
	n = file_of(file, 1, (uint64_t)PACKED_SIZE_MAX + 1, "", 0);
	refuse(file, n, SC_EFORMAT, "header: a file of 28 bytes cannot have such large caches");
	refuse(file, sizeof(file), SC_EFORMAT, "header: a file of 1048576 bytes cannot have such large caches");
	n = file_of(file, 1, 100 << 20, "", 0);
	refuse(file, n, SC_EFORMAT, "header: a file of 28 bytes cannot have such large caches");
	n = file_of(file, 1, 80, "", 0);
	assert_int_equal(packed_total(file, n), 80);
	assert_int_equal(packed_total(file, n - 9), 0);
	refuse(file, n, SC_EFORMAT, "stream HEAD, at 28: it is longer than the file");
	n = file_of(file, 1, 80, far, sizeof(far));
	refuse(file, n, SC_EFORMAT, "stream HEAD, at 28: it is longer than the file");
	n = file_of(file, 1, 80, "\x80\x80\x80\x80\x04\x01z", 7);
	refuse(file, n, SC_EFORMAT, "stream HEAD, at 28: it takes more than 64 MiB");
	n = file_of(file, 1, 80, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01z", 11); /* a length without an end */
	refuse(file, n, SC_EFORMAT, "stream HEAD, at 28: it is longer than the file");
	n = file_of(file, 1, 80, "\x03\x01z", 3);
	refuse(file, n, SC_EFORMAT, "stream HEAD, at 28: Src size is incorrect");
	n = file_of(file, 1, 80, "\x01\x00\x01", 3);
	memset(file + n, 0, 100);
	refuse(file, n + 3, SC_EFORMAT, "stream TEXT, at 34: it is longer than the file");
	n = file_of(file, 0, 80, "\x05\x00" "12345", 7);
	refuse(file, n, SC_EFORMAT, "at 28: not 80 bytes");
}

/* The size of a cache is larger than that of all may be, and the file large enough for that. */
static void test_large(void **state)
{
	const size_t size = 9 << 20;
	uint8_t *file = calloc(1, size);

	(void)state;
	file_of(file, 1, 1ull << 46, "", 0);
	refuse(file, size, SC_EFORMAT, "header: a file of 9437184 bytes cannot have such large caches");
	free(file);
}

/* Ends a cache with its table of sections, and tells its size. */
static size_t put_table(uint8_t *c, size_t at, struct symcache_ext_section s, uint32_t n)
{
	const struct symcache_ext_footer footer = {
		.table_offset = at, .file_size = at + n * sizeof(s) + sizeof(footer), .num_sections = n,
		.version = SYMCACHE_EXT_VERSION, .magic = SYMCACHE_EXT_MAGIC,
	};

	for (uint32_t i = 0; i < n; i++)
		memcpy(c + at + i * sizeof(s), &s, sizeof(s));
	memcpy(c + at + n * sizeof(s), &footer, sizeof(footer));
	return footer.file_size;
}

/* Sections without records, whose records are large. */
static void test_no_records(void **state)
{
	struct symcache_header header = { .magic = SYMCACHE_MAGIC, .version = 8 };
	uint8_t *c = calloc(1, 4096);
	size_t size;

	(void)state;
	memcpy(c, &header, sizeof(header));
	size = put_table(c, sizeof(header), (struct symcache_ext_section){
		.tag = 0x5a5a5a5a, .entry_size = 0xfffffffc, .offset = sizeof(header) }, 64);
	come_back(c, size, 1);
	free(c);
}

/* Ranges that go to and fro between two chains of calls. Is it packed by the model? */
static bool go_to_and_fro(uint32_t chain, uint32_t n)
{
	const uint32_t locations = 2 * chain + n;
	const struct symcache_header header = { .magic = SYMCACHE_MAGIC, .version = 8, .num_ranges = n,
						.num_source_locations = locations };
	const size_t ranges = sizeof(header) + 16ul * locations, calls = (ranges + 4ul * n + 7) & ~7ul;
	uint8_t *c = calloc(1, calls + 4ul * 2 * chain + 4096);
	struct symcache_source_location *l = (void *)(c + sizeof(header));
	size_t size;
	bool ret;

	memcpy(c, &header, sizeof(header));
	for (uint32_t i = 0; i < locations; i++) {
		const uint32_t range = i - 2 * chain;

		l[i] = (struct symcache_source_location){ UINT32_MAX, 1, UINT32_MAX,
			i >= 2 * chain ? (range % 2 ? 2 * chain - 1 : chain - 1) :
			i % chain ? i - 1 : UINT32_MAX };
		if (i >= 2 * chain)
			memcpy(c + ranges + 4ul * range, &range, 4);
	}
	memset(c + calls, 0xff, 4ul * 2 * chain);
	size = put_table(c, (calls + 4ul * 2 * chain + 7) & ~7ul, (struct symcache_ext_section){
		.tag = SYMCACHE_EXT_TAG_INLINED, .entry_size = 4, .offset = calls,
		.size = 4ul * 2 * chain }, 1);
	ret = come_back(c, size, 0) < size;
	free(c);
	return ret;
}

/* Chains as deep as may be, and as often: they cost no time that grows with more than the cache. */
static void test_chains(void **state)
{
	(void)state;
	assert_true(go_to_and_fro(4096, 2));
	assert_false(go_to_and_fro(4097, 2));
	assert_true(go_to_and_fro(100, 31));
	assert_false(go_to_and_fro(100, 33));
	assert_false(go_to_and_fro(4095, 1 << 18));
}

/* Caches that the model does not know, of more than the streams of one file may take: they are compressed. */
static void test_many_unknown(void **state)
{
	enum { N = 5, EACH = 20 << 20 };
	struct packed_bytes caches[N];
	uint32_t *bytes = malloc(EACH);
	uint64_t seed = 3;
	struct packed_caches back;
	void *packed;
	size_t size;

	(void)state;
	for (size_t i = 0; i < EACH / sizeof(*bytes); i++)
		bytes[i] = testing_below(&seed, UINT32_MAX) & 0x0f0f0f0f; /* half of the bits */
	for (size_t i = 0; i < N; i++)
		caches[i] = (struct packed_bytes){ bytes, EACH - 8 * i };
	assert_int_equal(packed_pack(caches, N, 1, &packed, &size, &err), 0);
	assert_true(size < N * EACH / 5 * 3);
	assert_int_equal(packed_unpack(packed, size, &back, &err), 0);
	assert_int_equal(back.num, N);
	for (size_t i = 0; i < N; i++) {
		assert_int_equal(back.caches[i].size, caches[i].size);
		assert_int_equal(memcmp(back.caches[i].data, bytes, caches[i].size), 0);
	}
	packed_caches_deinit(&back);
	free(packed);
	free(bytes);
}

/* Streams are compressed with as large a window as there is something to look back at, but for a quick
 * level; no larger than what zstd takes without being asked to. */
static void test_windows(void **state)
{
	static const struct { size_t len, before; int level, window; } cases[] = {
		{ 100, 0, 10, 10 }, { 1024, 0, 10, 10 }, { 1025, 0, 10, 11 }, { 600, 600, 3, 11 },
		{ 5 << 20, 0, 10, 23 }, { 5 << 20, 0, 9, 22 }, { 5 << 20, 9 << 20, 3, 24 },
		{ 100, 0, 0, 0 }, { 1 << 20, 1 << 27, 1, 27 },
	};
	const size_t most = 1 << 27;
	uint8_t *zeros = mmap(NULL, most, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_ptr_not_equal(zeros, MAP_FAILED);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const size_t len = cases[i].len;
		uint8_t *ret = malloc(squeeze_most(len));
		const uint8_t *at = ret;
		const size_t n = squeeze(zeros, len, (struct squeeze_prefix){ zeros, cases[i].before },
					 cases[i].level, ret);
		const struct squeezed s = squeezed_next(&at, ret + n);

		assert_ptr_equal(at, ret + n);
		assert_int_equal(s.len, len);
		/* Behind magic and descriptor, as there is no size of the content. */
		assert_int_equal(s.size ? 10 + (s.data[5] >> 3) : 0, cases[i].window);
		free(ret);
	}
	munmap(zeros, most);
}

static void test_counts(void **state)
{
	struct cache c = build_cache("build/testprogs/inlines", 0, false);
	const struct packed_bytes cache = { c.bytes, c.size };
	uint8_t *packed, *header;
	struct packed_caches back;
	size_t size;

	(void)state;
	assert_int_equal(packed_pack(&cache, 1, 0, (void **)&packed, &size, &err), 0);
	header = memmem(packed, size, "SYMC", 4);
	assert_non_null(header);
	for (size_t at = 44; at < 64; at += 4) {
		uint32_t was, more = UINT32_MAX;

		memcpy(&was, header + at, 4);
		memcpy(header + at, &more, 4);
		refuse(packed, size, SC_EFORMAT, "stream HEAD at 81: sections beyond the end");
		more = was + 1;
		memcpy(header + at, &more, 4);
		assert_int_equal(packed_unpack(packed, size, &back, &err), SC_EFORMAT);
		memcpy(header + at, &was, 4);
	}
	assert_int_equal(packed_unpack(packed, size, &back, &err), 0);
	packed_caches_deinit(&back);
	free(packed);
	free(c.bytes);
}

static void test_arguments(void **state)
{
	const struct packed_bytes cache = { "12345678", 8 }, large = { "12345678", (size_t)PACKED_SIZE_MAX + 1 };
	void *packed = (void *)1;
	size_t size;

	(void)state;
	assert_int_equal(packed_pack(&cache, 1, 20, &packed, &size, &err), SC_EINVAL);
	assert_null(packed);
	assert_string_equal(err.msg, "levels are 1 to 19");
	assert_int_equal(packed_pack(&cache, 1, -1, &packed, &size, NULL), SC_EINVAL);
	assert_int_equal(packed_pack(&cache, 0, 3, &packed, &size, &err), SC_EINVAL);
	assert_int_equal(packed_pack(&large, 1, 3, &packed, &size, &err), SC_EINVAL);
	assert_string_equal(err.msg, "too large to be packed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs), cmocka_unit_test(test_small),
		cmocka_unit_test(test_recorded), cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_joined), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_hostile), cmocka_unit_test(test_large),
		cmocka_unit_test(test_no_records), cmocka_unit_test(test_chains), cmocka_unit_test(test_counts),
		cmocka_unit_test(test_arguments), cmocka_unit_test(test_many_unknown),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}

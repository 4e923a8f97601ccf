/* Records: the bytes of format/store.md, written out; what versions to come may
 * append, what a damaged file may say. */
#include "libsymcache/store/testing.h"

#include <endian.h>
#include <xxhash.h>

#include "libmarkup/bytes/json.h"
#include "libsymcache/store/misses.h"
#include "libsymcache/store/record.h"

/* The example of format/store.md, field by field. */
static uint8_t entry_bytes[] = {
	1, 0,                                   /* version */
	80, 0,                                  /* bytes of the fixed part */
	3, 0, 0, 0,                             /* sources: DWARF and .symtab */
	0x10, 0x27, 0, 0, 0, 0, 0, 0,           /* cache: 10000 bytes */
	0x40, 0x42, 0x0f, 0, 0, 0, 0, 0,        /* source: 1000000 bytes */
	8, 7, 6, 5, 4, 3, 2, 1,                 /* hash of the source, low */
	0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11, /* high */
	0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, /* hash of the cache */
	0x00, 0xf1, 0x53, 0x65, 0, 0, 0, 0,     /* time: 2023-11-14 22:13:20 */
	1, 0, 0, 0,                             /* flags: the build ID is derived */
	2, 0, 0, 0,                             /* broken units */
	0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* hash of the blocks' hashes */
	0, 0, 0, 0, 0, 0, 0, 0,                 /* set_check() */
	'/', 'b', 'i', 'n', '/', 'l', 's', 0,   /* source */
	's', 'y', 'm', 'c', 'a', 'c', 'h', 'e', ' ', '1', 0, /* tool */
	'/', 'd', 0,                            /* debug file */
	'n', '\n', 'v', '=', '2', 0,            /* tags */
	'm', 'a', 'p', '-', 'p', 'a', 't', 'h', ' ', '/', 'a', '=', '/', 'b', 0, /* transforms */
	'l', 's', '\n', 'v', 'd', 'i', 'r', 0, /* names */
};

static const struct symstore_entry entry = {
	.build_id = { 0xab, 0xcd }, .build_id_len = 2, .build_id_derived = true,
	.sources = SYMCACHE_FROM_DWARF | SYMCACHE_FROM_SYMTAB, .bad_units = 2,
	.cache_size = 10000, .source_size = 1000000,
	.source_hash = { 0x0102030405060708, 0x1112131415161718 },
	.cache_hash = 0x0123456789abcdef, .time = 1700000000,
	.source_path = "/bin/ls", .tool_version = "symcache 1", .debug_path = "/d",
	.tags = "n\nv=2", .transforms = "map-path /a=/b", .names = "ls\nvdir",
	 .table_hash = 0x1122334455667788,
};

/* What protects the record: computed again here, as format/store.md has it. */
static void set_check(uint8_t *bytes, size_t size)
{
	uint64_t hash = XXH3_64bits(entry.build_id, entry.build_id_len);

	hash = XXH3_64bits_withSeed(bytes, 72, hash);
	hash = htole64(XXH3_64bits_withSeed(bytes + 80, size - 80, hash));
	memcpy(bytes + 72, &hash, sizeof(hash));
}

static int setup(void **state)
{
	(void)state;
	set_check(entry_bytes, sizeof(entry_bytes));
	return 0;
}

static void same(const struct symstore_entry *a, const struct symstore_entry *b)
{
	assert_int_equal(a->build_id_len, b->build_id_len);
	assert_memory_equal(a->build_id, b->build_id, SYMCACHE_BUILD_ID_MAX);
	assert_int_equal(a->build_id_derived, b->build_id_derived);
	assert_int_equal(a->sources, b->sources);
	assert_int_equal(a->bad_units, b->bad_units);
	assert_int_equal(a->cache_size, b->cache_size);
	assert_int_equal(a->source_size, b->source_size);
	assert_true(a->source_hash.low64 == b->source_hash.low64);
	assert_true(a->source_hash.high64 == b->source_hash.high64);
	assert_true(a->cache_hash == b->cache_hash);
	assert_true(a->table_hash == b->table_hash);
	assert_true(a->time == b->time);
	assert_string_equal(a->source_path, b->source_path);
	assert_string_equal(a->tool_version, b->tool_version);
	assert_string_equal(a->debug_path, b->debug_path);
	assert_string_equal(a->tags, b->tags);
	assert_string_equal(a->transforms, b->transforms);
	assert_string_equal(a->names, b->names);
}

static void entry_layout(void **state)
{
	struct symstore_entry got;
	size_t size;
	uint8_t *bytes = symstore_entry_encode(&entry, &size);

	(void)state;
	assert_int_equal(size, sizeof(entry_bytes));
	assert_memory_equal(bytes, entry_bytes, size);
	assert_true(symstore_entry_decode(entry.build_id, 2, bytes, size, &got));
	same(&got, &entry);
	free(bytes);
}

/* Of a packed entry, sizes and hashes in the first 80 bytes are those of what is stored. */
static void packed(void **state)
{
	static const uint8_t plain[] = {
		0x10, 0x27, 0, 0, 0, 0, 0, 0,                   /* cache: 10000 bytes */
		0xef, 0xcd, 0xab, 0x89, 0x67, 0x45, 0x23, 0x01, /* its hash */
		0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, /* hash of the blocks' hashes */
	};
	uint8_t want[sizeof(entry_bytes) + sizeof(plain)];
	struct symstore_entry e = entry, got;
	uint8_t *bytes;
	size_t size;

	(void)state;
	e.packed_size = 0x0321;
	e.packed_hash = 0x8877665544332211;
	memcpy(want, entry_bytes, 80);
	want[2] = 104;
	memcpy(want + 8, (uint8_t[8]){ 0x21, 3 }, 8);
	memcpy(want + 40, (uint8_t[8]){ 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88 }, 8);
	memset(want + 64, 0, 8);
	memcpy(want + 80, plain, sizeof(plain));
	memcpy(want + 80 + sizeof(plain), entry_bytes + 80, sizeof(entry_bytes) - 80);
	set_check(want, sizeof(want));
	bytes = symstore_entry_encode(&e, &size);
	assert_int_equal(size, sizeof(want));
	assert_memory_equal(bytes, want, size);
	assert_true(symstore_entry_decode(e.build_id, 2, bytes, size, &got));
	same(&got, &e);
	assert_int_equal(got.packed_size, e.packed_size);
	assert_true(got.packed_hash == e.packed_hash);
	free(bytes);
}

/* A later version: 8 more bytes in the fixed part, a further string, and
 * something behind it without an end. */
static void later_version(void **state)
{
	uint8_t later[sizeof(entry_bytes) + 24 + 8 + 6];
	struct symstore_entry got;

	(void)state;
	memcpy(later, entry_bytes, 80);
	memset(later + 80, 0, 24); /* it is not packed */
	memset(later + 104, 0xee, 8);
	memcpy(later + 112, entry_bytes + 80, sizeof(entry_bytes) - 80);
	memcpy(later + sizeof(later) - 6, "v1\0tag", 6);
	later[0] = 9;
	later[2] = 112;
	set_check(later, sizeof(later));
	assert_true(symstore_entry_decode(entry.build_id, 2, later, sizeof(later), &got));
	same(&got, &entry);
}

/* An earlier version: shorter, without the last four strings. */
static void earlier_version(void **state)
{
	uint8_t earlier[sizeof(entry_bytes)];
	struct symstore_entry got, want = entry;
	size_t strings = sizeof(entry_bytes) - 80 - 3 - 6 - 15 - 8;

	(void)state;
	memcpy(earlier, entry_bytes, 56);
	memcpy(earlier + 56, entry_bytes + 80, strings);
	earlier[2] = 56;
	want.build_id_derived = false;
	want.bad_units = 0;
	want.table_hash = 0;
	want.debug_path = want.tags = want.transforms = want.names = "";
	assert_true(symstore_entry_decode(entry.build_id, 2, earlier, 56 + strings, &got));
	same(&got, &want);
}

/* Any bit that turns over is noticed. */
static void damaged(void **state)
{
	uint8_t bytes[sizeof(entry_bytes)];
	struct symstore_entry got;

	(void)state;
	for (size_t bit = 0; bit < 8 * sizeof(bytes); bit++) {
		memcpy(bytes, entry_bytes, sizeof(bytes));
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		/* A shorter fixed part is an earlier version's, which has no check. */
		if (bit / 8 != 2 || bytes[2] > 72)
			assert_false(symstore_entry_decode(entry.build_id, 2, bytes, sizeof(bytes),
							   &got));
	}
	assert_false(symstore_entry_decode((uint8_t[]){ 0xab, 0xce }, 2, entry_bytes,
					   sizeof(entry_bytes), &got));
}

/* Cut off anywhere: refused. */
static void cut_off(void **state)
{
	struct symstore_entry got;

	(void)state;
	for (size_t size = 0; size < sizeof(entry_bytes); size++) {
		uint8_t *exact = malloc(size ? size : 1);

		memcpy(exact, entry_bytes, size);
		assert_false(symstore_entry_decode(entry.build_id, 2, exact, size, &got));
		free(exact);
	}
	assert_false(symstore_entry_decode(entry.build_id, 0, entry_bytes, sizeof(entry_bytes), &got));
	assert_false(symstore_entry_decode(entry.build_id, SYMCACHE_BUILD_ID_MAX + 1, entry_bytes,
					   sizeof(entry_bytes), &got));
}

static void outcome(void **state)
{
	struct symstore_outcome want = { SC_ENOSYMBOLS, 1700000000, { 1, 2, 3 }, 3 }, got;
	const char *tool;
	size_t size;
	uint8_t *bytes = symstore_outcome_encode(&want, "symcache 1", &size);

	(void)state;
	assert_true(symstore_outcome_decode(bytes, size, &got, &tool));
	assert_int_equal(got.code, SC_ENOSYMBOLS);
	assert_int_equal(got.time, 1700000000);
	assert_int_equal(got.build_id_len, 3);
	assert_memory_equal(got.build_id, want.build_id, SYMCACHE_BUILD_ID_MAX);
	assert_string_equal(tool, "symcache 1");
	bytes[16] = SYMCACHE_BUILD_ID_MAX;
	assert_true(symstore_outcome_decode(bytes, size, &got, &tool));
	assert_int_equal(got.build_id_len, SYMCACHE_BUILD_ID_MAX);
	bytes[16] = SYMCACHE_BUILD_ID_MAX + 1;
	assert_false(symstore_outcome_decode(bytes, size, &got, &tool));
	free(bytes);
}

static void content_key(void **state)
{
	struct sc_hash hash = { 0x1112131415161718, 0x0102030405060708 };
	uint8_t key[SYMSTORE_CONTENT_KEY];

	(void)state;
	/* As xxhsum -H128 prints it. */
	symstore_content_key(&hash, key);
	assert_memory_equal(key, "\1\2\3\4\5\6\7\10\x11\x12\x13\x14\x15\x16\x17\x18", 16);
}

/* An ID is found as a whole, also where one is the beginning of another. */
static void ids_found(void **state)
{
	struct symstore_id ids[] = { { { 0xab, 0xcd }, 2 }, { { 0xab }, 1 }, { { 0xab, 0, 1 }, 3 },
				     { { 0xab }, 1 }, { { 1 }, 20 } };
	const size_t n = symstore_ids_sort(ids, 5);
	const struct symstore_id from_aa = { { 0xaa }, 0 };

	assert_int_equal(n, 4);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(symstore_ids_find(ids, n, ids[i].bytes, ids[i].len), i);
	assert_int_equal(symstore_ids_find(ids, n, (uint8_t[]){ 0xab, 0xcd, 0 }, 3), n);
	assert_int_equal(symstore_ids_find(ids, n, (uint8_t[]){ 1 }, 1), n);
	assert_int_equal(symstore_ids_find(ids, 0, (uint8_t[]){ 1 }, 1), 0);
	assert_int_equal(ids[symstore_ids_from(ids, n, &from_aa)].len, 1);
	(void)state;
}

/* A miss counts for its key alone. */
static void misses(void **state)
{
	struct symstore_misses m = { 0 };

	for (uint64_t i = 0; i < 1000; i++)
		symstore_misses_add(&m, &(struct sc_hash){ i / 2, i % 2 });
	symstore_misses_add(&m, &(struct sc_hash){ 0, 0 });
	assert_int_equal(m.list.len, 1000);
	for (uint64_t i = 0; i < 1000; i++)
		assert_true(symstore_misses_have(&m, &(struct sc_hash){ i / 2, i % 2 }));
	assert_false(symstore_misses_have(&m, &(struct sc_hash){ 0, 2 }));
	symstore_misses_deinit(&m);
	(void)state;
}

static void assert_json(const struct symstore_entry *e, const char *want)
{
	struct mk_out out = { 0 };
	char *text;

	symstore_entry_json(&(struct mk_gen){ .to = &out, .depth = 1 }, e);
	mk_out_char(&out, 0);
	text = mk_out_take(&out);
	assert_string_equal(text, want);
	free(text);
}

/* What `list --json` and manifests say of an entry: each field, under its name, in this order. */
static void in_words(void **state)
{
	#define FIELDS "\"build_id\":\"abcd\",\"build_id_derived\":true," \
		"\"symbols\":[\"dwarf\",\"symtab\"],\"broken_units\":2,\"cache_size\":10000," \
		"\"cache_xxh3\":\"0123456789abcdef\",\"source\":\"/bin/ls\",\"source_size\":1000000," \
		"\"source_xxh128\":\"11121314151617180102030405060708\",\"debug_file\":\"/d\"," \
		"\"indexed\":\"2023-11-14T22:13:20Z\",\"tool\":\"symcache 1\",\"tags\":[\"n\",\"v=2\"]"
	struct symstore_entry bare = entry;
	char text[SYMSTORE_KINDS_TEXT];

	assert_json(&entry, FIELDS ",\"names\":[\"ls\",\"vdir\"],\"transforms\":[\"map-path /a=/b\"]");
	bare.names = bare.transforms = "";
	assert_json(&bare, FIELDS);
	assert_string_equal(symstore_kinds_text(0xff, text), "names,cfi,locals");
	assert_string_equal(symstore_kinds_text(0xbf, text), "dwarf,gopclntab,symtab,minidebuginfo,dynsym,cfi,locals");
	assert_string_equal(symstore_kinds_text(0, text), "none");
	(void)state;
}

static void times(void **state)
{
	static const struct { int64_t time; const char *text; } cases[] = {
		{ 0, "1970-01-01T00:00:00Z" }, { -1, "1969-12-31T23:59:59Z" }, { 1709251199, "2024-02-29T23:59:59Z" },
		{ 253402300799, "9999-12-31T23:59:59Z" }, { 253402300800, "10000-01-01T00:00:00Z" },
		/* Of a year that does not fit, the number. */
		{ INT64_MAX, "9223372036854775807" }, { INT64_MIN, "-9223372036854775808" },
	};
	char text[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(symstore_time_text(cases[i].time, text), cases[i].text);
	(void)state;
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_words), cmocka_unit_test(entry_layout),	   cmocka_unit_test(later_version),
		cmocka_unit_test(earlier_version), cmocka_unit_test(packed), cmocka_unit_test(damaged),
		cmocka_unit_test(cut_off),	   cmocka_unit_test(outcome),
		cmocka_unit_test(content_key),  cmocka_unit_test(ids_found),
		cmocka_unit_test(misses), cmocka_unit_test(times),
	};

	return cmocka_run_group_tests_name("record", tests, setup, NULL);
}

/* Manifests and signatures: what is written is read again; what lies is refused. */
#include "libsymcache/bundle/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/bundle/sign.h"

static const char cache[] = "the bytes of a cache";

static struct symstore_entry make_entry(uint8_t first)
{
	return (struct symstore_entry){
		.build_id = { first, 0xcd, 0xef }, .build_id_len = 3, .build_id_derived = true,
		.sources = SYMCACHE_FROM_DWARF | SYMCACHE_FROM_DYNSYM, .bad_units = 4,
		.cache_size = sizeof(cache), .source_size = 1000, .source_hash = { 0x1234, 0xabcd },
		.time = 1700000000, .source_path = "/a \"b\"\n\xc3\xa4", .tool_version = "symcache 1",
		.tags = "nightly\nrelease=1",
	};
}

static void round_trip(void **state)
{
	const struct symstore_entry first = make_entry(2), second = make_entry(1);
	struct manifest m = { 0 }, got;
	const struct manifest_entry *e;
	char name[BUNDLE_NAME], *text;
	struct sc_error err;
	size_t len;

	(void)state;
	assert_int_equal(manifest_add(&m, &first, cache, true, &err), 0);
	assert_int_equal(manifest_add(&m, &second, cache, false, &err), 0);
	m.packed = true;
	m.data[0].old = (struct symstore_id){ { 7, 8 }, SYMCACHE_BUILD_ID_MAX };
	m.data[0].old_hash = (struct sc_hash){ 0x123456789abcdef0, 0xf };
	assert_int_equal(manifest_write(&m, &text, &len, &err), 0);
	assert_int_equal(len, strlen(text));
	assert_non_null(strstr(text, "\"version\":3"));
	assert_non_null(strstr(text, "\"old_cache_xxh128\":\"000000000000000f123456789abcdef0\""));
	assert_int_equal(manifest_read(&got, text, len, &err), 0);
	assert_int_equal(got.len, 2);
	manifest_sort(&got);
	e = manifest_find(&got, first.build_id, 3);
	assert_ptr_equal(e, &got.data[1]);
	assert_null(manifest_find(&got, first.build_id, 2));
	assert_int_equal(e->old.len, SYMCACHE_BUILD_ID_MAX);
	assert_memory_equal(e->old.bytes, m.data[0].old.bytes, SYMCACHE_BUILD_ID_MAX);
	assert_int_equal(e->old_hash.low64, m.data[0].old_hash.low64);
	assert_int_equal(e->old_hash.high64, 0xf);
	assert_int_equal(got.data[0].old.len, 0);
	assert_true(e->has_sha256);
	assert_false(got.data[0].has_sha256);
	assert_true(e->entry.build_id_derived);
	assert_int_equal(e->entry.sources, first.sources);
	assert_int_equal(e->entry.bad_units, 4);
	assert_int_equal(e->entry.source_size, 1000);
	assert_true(e->entry.source_hash.low64 == 0x1234 && e->entry.source_hash.high64 == 0xabcd);
	assert_true(e->entry.time == 1700000000);
	assert_string_equal(e->entry.source_path, first.source_path);
	assert_string_equal(e->entry.debug_path, "");
	assert_string_equal(e->entry.tags, "nightly\nrelease=1");
	assert_string_equal(bundle_name(&e->entry, name), "02/cdef.symcache");
	/* The bytes it speaks of, and others. */
	assert_int_equal(manifest_check(e, cache, sizeof(cache), &err), 0);
	assert_int_equal(manifest_check(e, cache, sizeof(cache) - 1, &err), SC_EFORMAT);
	assert_int_equal(manifest_check(e, "the bytes of a cachE", sizeof(cache), &err),
			 SC_EFORMAT);
	got.data[1].sha256[31] ^= 1;
	assert_int_equal(manifest_check(e, cache, sizeof(cache), &err), SC_EFORMAT);
	assert_non_null(strstr(err.msg, "SHA-256"));
	manifest_deinit(&got);
	manifest_deinit(&m);
	free(text);
}

#define HASH "\"cache_xxh128\":\"00112233445566778899aabbccddeeff\""
#define BUNDLE "{\"format\":\"symcache bundle\",\"version\":1,\"entries\":"

static void hostile(void **state)
{
	static const struct { const char *text, *why; } cases[] = {
		{ "", "not JSON" },
		{ "[", "not JSON" },
		{ "{}", "not that of a bundle" },
		{ "{\"format\":\"other\"}", "not that of a bundle" },
		{ "{\"format\":\"symcache bundle\",\"version\":4}", "version 4; this program knows 1 to 3" },
		{ BUNDLE "[{}]}", "entry 1 has no build ID" },
		{ BUNDLE "[{\"build_id\":\"11\"}]}", "entry 1 has no hash" },
		{ BUNDLE "[{" HASH "}]}", "no build ID" },
		{ BUNDLE "[{\"build_id\":\"11\"," HASH "},{}]}", "entry 2" },
		{ BUNDLE "[{\"build_id\":\"111\"}]}", "build_id" },
		{ BUNDLE "[{\"build_id\":\"../../etc\"}]}", "build_id" },
		{ BUNDLE "[{\"build_id\":\"\"}]}", "build_id" },
		{ BUNDLE "[{\"cache_size\":-1}]}", "cache_size" },
		{ BUNDLE "[{\"file\":\"../../etc/passwd.packed\"}]}", "file" },
		{ BUNDLE "[{\"cache_size\":99999999999999999999}]}", "not JSON" },
		{ BUNDLE "[{\"tags\":[\"=x\"]}]}", "tags" },
		{ BUNDLE "[{\"cache_sha256\":\"11\"}]}", "cache_sha256" },
		{ BUNDLE "[{\"source\":\"a\\u0000b\"}]}", "NUL" },
		{ BUNDLE "[[[[[[[[[[]]]]]]]]]]}", "levels" },
	};
	struct manifest m;
	struct sc_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_true(manifest_read(&m, cases[i].text, strlen(cases[i].text), &err) < 0);
		if (!strstr(err.msg, cases[i].why))
			fail_msg("%s: %s", cases[i].text, err.msg);
	}
}

/* What a later version may add is skipped, wherever it stands. */
static void unknown_things(void **state)
{
	static const char text[] =
		"{\"x\":{\"y\":{\"build_id\":7}},\"z\":[[1],{\"build_id\":2}],"
		"\"format\":\"symcache bundle\",\"version\":1,\"entries\":[{\"build_id\":\"AB\"," HASH
		",\"new\":{\"source\":\"no\",\"version\":8,\"cache_size\":-1,\"time\":7},\"source\":\"yes\",\"version\":9,"
		"\"cache_sizes\":[-1],\"build_id_derived\":0}],\"more\":{\"a\":{\"b\":1},\"version\":9}}";
	struct manifest m;
	struct sc_error err;
	char *again;
	size_t len;

	(void)state;
	if (manifest_read(&m, text, strlen(text), &err))
		fail_msg("%s", err.msg);
	assert_int_equal(m.len, 1);
	assert_string_equal(m.data[0].entry.source_path, "yes");
	assert_int_equal(m.data[0].entry.build_id[0], 0xab);
	assert_true(m.data[0].entry.time == 0 && !m.data[0].entry.build_id_derived);
	/* What is not there is empty: it can be written as it is. */
	assert_string_equal(m.data[0].entry.tags, "");
	assert_string_equal(m.data[0].entry.transforms, "");
	assert_int_equal(manifest_write(&m, &again, &len, &err), 0);
	free(again);
	manifest_deinit(&m);
}

static void save(char *path, const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
}

/* The first example of RFC 8032, 7.1, in PEM. */
static void signatures(void **state)
{
	char private[] = "/tmp/sign.XXXXXX", public[] = "/tmp/sign.XXXXXX",
	     bad[] = "/tmp/sign.XXXXXX";
	static const uint8_t want[4] = { 0xe5, 0x56, 0x43, 0x00 };
	uint8_t signature[SIGNATURE_SIZE];
	struct sc_error err;

	(void)state;
	save(private, "-----BEGIN PRIVATE KEY-----\n"
	     "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMc\n"
	     "rn9g\n-----END PRIVATE KEY-----\n");
	save(public,
	     "-----BEGIN PUBLIC KEY-----\n"
	     "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n");
	save(bad, "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA11qY\n");
	if (sign_bytes(private, "", 0, signature, &err))
		fail_msg("%s", err.msg);
	assert_memory_equal(signature, want, sizeof(want));
	assert_int_equal(sign_verify(public, "", 0, signature, sizeof(signature), &err), 0);
	assert_int_equal(sign_verify(public, "x", 1, signature, sizeof(signature), &err),
			 SC_EFORMAT);
	assert_int_equal(sign_verify(public, "", 0, signature, 63, &err), SC_EFORMAT);
	signature[63] ^= 1;
	assert_int_equal(sign_verify(public, "", 0, signature, sizeof(signature), &err),
			 SC_EFORMAT);
	assert_int_equal(sign_verify(bad, "", 0, signature, sizeof(signature), &err), SC_EINVAL);
	assert_int_equal(sign_bytes(public, "", 0, signature, &err), SC_EINVAL);
	assert_int_equal(sign_bytes("/nonexistent", "", 0, signature, &err), SC_ESYS);
	unlink(private);
	unlink(public);
	unlink(bad);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip), cmocka_unit_test(hostile), cmocka_unit_test(unknown_things),
		cmocka_unit_test(signatures),
	};

	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}

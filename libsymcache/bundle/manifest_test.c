/* Manifests and signatures: what is written is read again; what lies is refused. */
#include "libsymcache/bundle/manifest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/bundle/groups.h"
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
#define ID62 "0102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f2021" \
	"22232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"
#define ID64 "00" ID62
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
		{ "{\"x\":[[[[[[[[]]]]]]]],\"format\":\"symcache bundle\",\"version\":1}", "levels" },
		{ BUNDLE "[{\"build_id\":\"" ID64 "00\"}]}", "build_id" },
		{ BUNDLE "[{\"cache_xxh128\":\"0011223344556677\"}]}", "cache_xxh128" },
		{ BUNDLE "[{\"cache_xxh3\":\"00112233445566778899aabbccddeeff\"}]}", "cache_xxh3" },
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

/* All that an entry may say, and the least, and what is written of it again. */
static void written_again(void **state)
{
	static const char all[] =
		"{\"x\":[[[[[[[]]]]]]],\"format\":\"symcache bundle\",\"version\":3,\"entries\":["
		"{\"build_id\":\"" ID64 "\"," HASH ",\"file\":\"00/01.packed\",\"old_build_id\":\"ff\","
		"\"old_cache_xxh128\":\"0123456789abcdef00112233445566ff\",\"cache_sha256\":\""
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"build_id_derived\":true,"
		"\"symbols\":[\"symtab\",\"dwarf\",\"new\",\"cfi\"],\"broken_units\":7,\"cache_size\":4294967296,"
		"\"cache_xxh3\":\"fedcba9876543210\",\"source\":\"/s\",\"source_size\":12,\"source_xxh128\":"
		"\"ffeeddccbbaa99887766554433221100\",\"debug_file\":\"/d\",\"tool\":\"t\",\"tags\":[\"b\",\"a\",\"b\"],"
		"\"names\":[\"z\",\"y\"],\"transforms\":[\"2\",\"1\"],\"time\":-1,\"others\":[\"a\"]},"
		"{\"build_id\":\"0A0b\"," HASH "}]}";
	static const char want[] =
		"{\"format\":\"symcache bundle\",\"version\":3,\"entries\":[{\"file\":\"00/01.packed\"," HASH
		",\"old_build_id\":\"ff\",\"old_cache_xxh128\":\"0123456789abcdef00112233445566ff\",\"cache_sha256\":\""
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\",\"build_id\":\"" ID64 "\","
		"\"build_id_derived\":true,\"symbols\":[\"dwarf\",\"symtab\",\"cfi\"],\"broken_units\":7,"
		"\"cache_size\":4294967296,\"cache_xxh3\":\"fedcba9876543210\",\"source\":\"/s\",\"source_size\":12,"
		"\"source_xxh128\":\"ffeeddccbbaa99887766554433221100\",\"debug_file\":\"/d\","
		"\"indexed\":\"1969-12-31T23:59:59Z\",\"tool\":\"t\",\"tags\":[\"a\",\"b\"],\"names\":[\"y\",\"z\"],"
		"\"transforms\":[\"2\",\"1\"],\"time\":-1},"
		"{\"file\":\"0a/0b.symcache\"," HASH ",\"build_id\":\"0a0b\",\"build_id_derived\":false,\"symbols\":[],"
		"\"broken_units\":0,\"cache_size\":0,\"cache_xxh3\":\"0000000000000000\",\"source\":\"\",\"source_size\":0,"
		"\"source_xxh128\":\"00000000000000000000000000000000\",\"debug_file\":\"\","
		"\"indexed\":\"1970-01-01T00:00:00Z\",\"tool\":\"\",\"tags\":[],\"time\":0}]}";
	struct manifest m;
	struct sc_error err;
	char *again;
	size_t len;

	(void)state;
	if (manifest_read(&m, all, strlen(all), &err))
		fail_msg("%s", err.msg);
	assert_int_equal(manifest_write(&m, &again, &len, &err), 0);
	assert_string_equal(again, want);
	assert_int_equal(len, strlen(want));
	free(again);
	manifest_deinit(&m);
}

/* Files by build IDs, and back. */
static void names_of_files(void **state)
{
	static const struct { const char *name, *id; } cases[] = {
		{ "ab/cdef.symcache", "abcdef" }, { "x/ab/cd.packed", "abcd" }, { "b/cd.packed", NULL }, { "ab/.packed", "ab" },
		{ "xab/cd", "abcd" }, { "abcd.packed", NULL }, { "ab/cde.packed", NULL }, { "ag/cd.packed", NULL },
		{ "ab/cd.00112233445566778899aabbccddeeff-ffee.packed", "abcd" }, { "/ab.packed", NULL },
		{ "00/" ID62 ".packed", "00" ID62 }, { "00/" ID62 "00.packed", NULL },
	};
	struct manifest_entry e = { .hash = { 0x8899aabbccddeeff, 0x0011223344556677 }, .old_hash = { 1, 2 } };
	char name[BUNDLE_NAME], id[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct symstore_id got;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (bundle_id_of_name(cases[i].name, &got) != !!cases[i].id)
			fail_msg("%s", cases[i].name);
		if (cases[i].id)
			assert_string_equal(symcache_build_id_text(id, got.bytes, got.len), cases[i].id);
	}
	e.entry = make_entry(0xab);
	assert_string_equal(bundle_hashed_name(&e, name), "ab/cdef.00112233445566778899aabbccddeeff.packed");
	e.old.len = 1;
	assert_string_equal(bundle_hashed_name(&e, name), "ab/cdef.00112233445566778899aabbccddeeff-"
			    "00000000000000020000000000000001.packed");
	assert_string_equal(bundle_packed_name(&(struct symstore_id){ { 0xab }, 1 }, name), "ab/.packed");
	/* As long as it gets. */
	assert_true(bundle_id_of_name("00/" ID62 ".x", &got));
	memcpy(e.entry.build_id, got.bytes, got.len);
	e.entry.build_id_len = got.len;
	assert_string_equal(bundle_hashed_name(&e, name), "00/" ID62 ".00112233445566778899aabbccddeeff-"
			    "00000000000000020000000000000001.packed");
}

/* Entries of these sizes, and which of them begin a file, and how many are in it. */
static void groups(void **state)
{
	static const struct { uint64_t most; const char *sizes, *want; } cases[] = {
		{ 10, "4 4 4 4 ", "2 . 2 . " }, { 10, "5 5 5 ", "2 . 1 " }, { 10, "5 6 4 1 ", "1 2 . 1 " },
		{ 10, "11 1 9 1 ", "1 2 . 1 " }, { 10, "1 11 1 ", "1 1 1 " }, { 10, "10 1 ", "1 1 " }, { 0, "0 1 1 ", "1 1 1 " },
		{ 10, "1 1 1d 1 1 ", "2 . 1 2 . " }, { 10, "1d 1 1 ", "1 2 . " }, { 10, "1 1d 1d ", "1 1 1 " }, { 10, "", "" },
		{ UINT64_MAX, "1 2 3 ", "3 . . " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct manifest m = { 0 };
		char got[100] = "";
		struct sc_error err;

		for (const char *at = cases[i].sizes; *at; at = strchr(at, ' ') + 1) {
			struct manifest_entry e = { .entry = { .build_id = { (uint8_t)m.len + 1 }, .build_id_len = 1 } };

			e.entry.cache_size = strtoull(at, (char **)&at, 10);
			e.old.len = *at == 'd';
			assert_int_equal(manifest_add_copy(&m, &e, &err), 0);
		}
		if (m.len) { /* so that it is not sorted */
			const struct manifest_entry first = m.data[0];

			m.data[0] = m.data[m.len - 1];
			m.data[m.len - 1] = first;
		}
		groups_make(&m, cases[i].most);
		assert_true(m.packed);
		for (size_t k = 0; k < m.len; k++) {
			const size_t n = groups_at(&m, k);

			snprintf(got + strlen(got), sizeof(got) - strlen(got), n ? "%zu " : ". ", n);
			assert_int_equal(m.data[k].entry.build_id[0], k + 1);
		}
		if (strcmp(got, cases[i].want))
			fail_msg("%s: %s", cases[i].sizes, got);
		manifest_deinit(&m);
	}
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
	assert_string_equal(err.msg, "there is no key /nonexistent: 'openssl genpkey -algorithm ed25519 -out key.pem' makes one");
	assert_int_equal(sign_verify("/nonexistent", "", 0, signature, 64, &err), SC_ESYS);
	assert_string_equal(err.msg, "cannot open the key /nonexistent: No such file or directory");
	assert_int_equal(sign_bytes("/dev/null", "", 0, signature, &err), SC_EINVAL);
	assert_string_equal(err.msg, "/dev/null has no Ed25519 private key in PEM; 'openssl genpkey -algorithm ed25519 "
			    "-out key.pem' makes one");
	assert_int_equal(sign_verify("/dev/null", "", 0, signature, 64, &err), SC_EINVAL);
	assert_string_equal(err.msg, "/dev/null has no Ed25519 public key in PEM; 'openssl pkey -in key.pem -pubout "
			    "-out public.pem' makes it from the private one");
	unlink(private);
	unlink(public);
	unlink(bad);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip), cmocka_unit_test(hostile), cmocka_unit_test(unknown_things),
		cmocka_unit_test(signatures), cmocka_unit_test(written_again), cmocka_unit_test(names_of_files),
		cmocka_unit_test(groups),
	};

	return cmocka_run_group_tests_name("manifest", tests, NULL, NULL);
}

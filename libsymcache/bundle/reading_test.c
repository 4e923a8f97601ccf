/* What reading a bundle of any shape shares: files that can be read, and caches as they describe
 * themselves, whatever a manifest says of them. */
#include "libsymcache/bundle/testing.h"

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/reading.h"

static void files(void **state)
{
	testing_run("cd %s && printf 12345678 > eight && : > empty && mkfifo pipe", testing_dir);
	const struct { const char *path; size_t max; int rc; const char *says; } cases[] = {
		{ in_dir("eight"), 8, 0, "12345678" }, { in_dir("eight"), 7, SC_EFORMAT, "it is larger than 7 bytes" },
		{ in_dir("eight"), SIZE_MAX, 0, "12345678" }, { in_dir("empty"), 0, 0, "" },
		{ in_dir("none"), 100, SC_ESYS, "cannot open: No such file or directory" },
		{ in_dir(""), 100, SC_EINVAL, "not a regular file" }, { in_dir("pipe"), 100, SC_EINVAL, "not a regular file" },
		{ "/proc/self/mem", 100, SC_ESYS, "cannot read: Input/output error" },
		{ "/proc/self/statm", 0, 0, NULL }, /* which has no size, but bytes */
	};
	struct bundle_file f = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int rc = bundle_read_file(cases[i].path, cases[i].max, &f, &err);

		if (rc != cases[i].rc)
			fail_msg("%s: %d, %s", cases[i].path, rc, rc ? err.msg : "");
		if (rc)
			assert_string_equal(err.msg, cases[i].says);
		else if (cases[i].says)
			assert_true(f.len == strlen(cases[i].says) && !memcmp(f.data, cases[i].says, f.len));
		else
			assert_true(f.len > 0);
	}
	vec_deinit(&f);
}

#define ID64 "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f" \
	"202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f"

/* A cache that no manifest lists is of the build ID that it has, else of that in its name. */
static void unlisted(void **state)
{
	static const struct { const char *id, *name, *want; } cases[] = {
		{ "ab", "x", "ab" }, { ID64, "x", ID64 }, { "abcd", "12/34.symcache", "abcd" }, { "", "12/34.symcache", "1234" }, { "", "x", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct own o = own_entry("inlines", cases[i].id);
		struct bundle_checked c;
		char got[SYMCACHE_BUILD_ID_TEXT];

		bundle_check(NULL, cases[i].name, (struct bundle_bytes){ o.cache, o.size }, &c);
		if (!cases[i].want) {
			assert_string_equal(c.why.msg, "no SymCache file, or without a build ID");
		} else {
			assert_int_equal(c.why.code, 0);
			assert_string_equal(symcache_build_id_text(got, c.entry.build_id, c.entry.build_id_len), cases[i].want);
			assert_string_equal(c.entry.source_path, cases[i].name);
			assert_int_equal(c.entry.cache_size, o.size);
			assert_int_equal(c.entry.sources, own_image(&o)->sources);
		}
		free(o.cache);
	}
}

/* What a manifest claims of a cache is replaced by what the cache says. */
static void claims(void **state)
{
	struct own o = own_entry("inlines", "abcd"), other = own_entry("inlines", "abce"), longest = own_entry("inlines", ID64);
	struct symcache_ext_image *image = own_image(&o);
	struct manifest m = { 0 };
	struct bundle_checked c;

	(void)state;
	image->broken_units = 5;
	image->build_id_derived = 1;
	own_rehash(&o);
	for (uint32_t bad = 4; bad <= 6; bad++) {
		o.entry.bad_units = bad;
		o.entry.sources = SYMCACHE_FROM_DYNSYM;
		o.entry.build_id_derived = false;
		assert_ok(manifest_add(&m, &o.entry, o.cache, true, &err));
		bundle_check(m.data, "x", (struct bundle_bytes){ o.cache, o.size }, &c);
		assert_int_equal(c.why.code, 0);
		assert_int_equal(c.entry.bad_units, bad < 5 ? 5 : bad);
		assert_int_equal(c.entry.sources, image->sources);
		assert_true(c.entry.build_id_derived);
		manifest_deinit(&m);
	}
	/* Of another build ID, of other bytes, and of another size. */
	memcpy(other.entry.build_id, o.entry.build_id, 2);
	assert_ok(manifest_add(&m, &other.entry, other.cache, true, &err));
	bundle_check(m.data, "x", (struct bundle_bytes){ other.cache, other.size }, &c);
	assert_string_equal(c.why.msg, "the cache is of build ID abce");
	bundle_check(m.data, "x", (struct bundle_bytes){ o.cache, o.size }, &c);
	assert_string_equal(c.why.msg, "its hash is not that of the manifest");
	bundle_check(m.data, "x", (struct bundle_bytes){ other.cache, 8 }, &c);
	snprintf(err.msg, sizeof(err.msg), "8 bytes, the manifest says %zu", other.size);
	assert_string_equal(c.why.msg, err.msg);
	m.data->sha256[0] ^= 1;
	bundle_check(m.data, "x", (struct bundle_bytes){ other.cache, other.size }, &c);
	assert_string_equal(c.why.msg, "its SHA-256 is not that of the manifest");
	manifest_deinit(&m);
	longest.entry.build_id[0] ^= 1;
	assert_ok(manifest_add(&m, &longest.entry, longest.cache, true, &err));
	bundle_check(m.data, "x", (struct bundle_bytes){ longest.cache, longest.size }, &c);
	assert_string_equal(c.why.msg, "the cache is of build ID " ID64);
	manifest_deinit(&m);
	free(longest.cache);
	free(o.cache);
	free(other.cache);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(files), cmocka_unit_test(unlisted), cmocka_unit_test(claims),
	};

	return cmocka_run_group_tests_name("reading", tests, testing_set_up, testing_tear_down);
}

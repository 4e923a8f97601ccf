/* What comes of each seed of the fuzz targets, and of damaged ones: the bytes of packed files,
 * without compression, which is zstd's, and the messages for those that cannot be unpacked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/packed/packed.h"

static void put_unpacked(FILE *to, int rc, struct packed_caches *c, const struct sc_error *err)
{
	if (rc)
		fprintf(to, "%d %s", err->code, err->msg);
	for (size_t i = 0; !rc && i < c->num; i++) {
		fputs(i ? ", " : "caches ", to);
		put_digest(to, c->caches[i].data, c->caches[i].size);
	}
	fputc('\n', to);
	if (!rc)
		packed_caches_deinit(c);
}

/* Streams that are not compressed are unpacked: what becomes of damaged ones that are depends on the
 * version of zstd. */
static void unpacked_of(const uint8_t *bytes, size_t size, FILE *to)
{
	static const uint8_t zstd_magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
	struct packed_caches c;
	struct packed_old old = { 0 };
	struct sc_error err;
	const bool delta = packed_is_delta(bytes, size, &old);
	int rc;

	fprintf(to, "%d total %" PRIu64 " delta %d %" PRIu64 " %" PRIx64 " ",
		packed_begins(bytes, size), packed_total(bytes, size), delta, old.size, old.hash);
	if (memmem(bytes, size, zstd_magic, sizeof(zstd_magic))) {
		fputs("compressed\n", to);
		return;
	}
	rc = packed_unpack(bytes, size, &c, &err);
	put_unpacked(to, rc, &c, &err);
}

/* Packs, and unpacks again. */
static void put_packed(FILE *to, struct packed_bytes cache, const struct packed_bytes *old,
		       int level)
{
	struct packed_caches back;
	struct sc_error err;
	void *packed;
	size_t size;
	int rc = old ? packed_pack_delta(cache, *old, level, &packed, &size, &err)
		     : packed_pack(&cache, 1, level, &packed, &size, &err);

	if (rc) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	if (!level) {
		put_digest(to, packed, size);
		fprintf(to, " total %" PRIu64 " ", packed_total(packed, size));
	}
	rc = old ? packed_unpack_delta(packed, size, *old, &back, &err)
		 : packed_unpack(packed, size, &back, &err);
	put_unpacked(to, rc, &back, &err);
	free(packed);
}

static void packed_of(const uint8_t *bytes, size_t size, FILE *to)
{
	put_packed(to, (struct packed_bytes){ bytes, size }, NULL, 0);
	put_packed(to, (struct packed_bytes){ bytes, size }, NULL, PACKED_LEVEL);
}

/* As delta_fuzz.c: how many bytes the cache has, these, and the cache of a later build. */
static void delta_of(const uint8_t *bytes, size_t size, FILE *to)
{
	const size_t said = size < 2 ? 0 : bytes[0] | (size_t)bytes[1] << 8,
		     left = size < 2 ? 0 : size - 2, n = said < left ? said : left;
	uint8_t *old = malloc(n + 1), *file = malloc(left - n + 1);
	const struct packed_bytes a = { memcpy(old, bytes + size - left, n), n },
				  b = { memcpy(file, bytes + size - left + n, left - n), left - n };

	put_packed(to, b, &a, 0);
	put_packed(to, a, &b, 0);
	free(old);
	free(file);
}

static void test_unpack(void **state)
{
	static const char *const seeds[] = { "unpack", NULL };

	(void)state;
	expect_answers("unpack", seeds, 64, unpacked_of);
}

static void test_pack(void **state)
{
	static const char *const seeds[] = { "pack", "read", NULL };

	(void)state;
	expect_answers("pack", seeds, 12, packed_of);
}

static void test_deltas(void **state)
{
	static const char *const seeds[] = { "delta", NULL };

	(void)state;
	expect_answers("delta", seeds, 16, delta_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unpack),
		cmocka_unit_test(test_pack),
		cmocka_unit_test(test_deltas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

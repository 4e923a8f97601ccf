/*
 * What the caches of files say whose units are made at random (dwarf/made_units_test.h), with symbols
 * and call frame information, recorded; one thread and three make the same cache.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/read/cache_text_test.h"
#include "libsymcache/write/info_test.h"
#include "libsymcache/write/made_more_test.h"

enum { FILES = 300, WHOLE = 8, DAMAGED = 200, DAMAGED_WHOLE = 3 };

/* ---- caches ----------------------------------------------------------------------------------- */

/* The bytes of its cache, all of which are written; NULL: there is none, and *err says why. */
static uint8_t *cache_of(const char *path, unsigned threads, FILE *info, size_t *size, struct sc_error *err)
{
	const struct symcache_build_options options = {
		.no_debug_search = true, .threads = threads, .locals = true };
	struct symcache_build *b;
	uint8_t *bytes;

	if (symcache_build_create(path, &options, &b, err))
		return NULL;
	*size = symcache_build_size(b);
	bytes = memset(malloc(*size), (int)threads, *size);
	symcache_build_write(b, bytes);
	if (info)
		put_info(info, b);
	symcache_build_destroy(b);
	return bytes;
}

static void put_file(FILE *to, const struct bytes *file, FILE *caches)
{
	char path[32];
	const int fd = testing_memfd(file->b.data, file->b.len, path);
	struct symcache cache;
	struct sc_error err;
	size_t size, other_size = 0;
	uint8_t *bytes = cache_of(path, 1, to, &size, &err), *other;

	if (!bytes) {
		fprintf(to, "%d%s\n", err.code, strchr(err.msg, ':')); /* behind the path */
	} else {
		other = cache_of(path, 3, NULL, &other_size, &err);
		assert_int_equal(other_size, size);
		assert_memory_equal(other, bytes, size);
		assert_int_equal(symcache_open(&cache, bytes, size, &err), 0);
		put_cache(to, &cache);
		assert_int_equal(fwrite(bytes, 1, size, caches), size);
		free(other);
	}
	free(bytes);
	close(fd);
}

/* The first ones are kept as they are, the others as hashes. */
static void put_made(FILE *to, uint64_t number, bool damaged, FILE *caches)
{
	struct bytes file = { 0 };
	struct made m;
	char *text;
	size_t size;
	FILE *all = open_memstream(&text, &size);

	made_file(&m, number);
	make_more(&m);
	if (damaged)
		damage_sections(&m);
	dwarf_file(&m.w, &file);
	put_file(all, &file, caches);
	fclose(all);
	fprintf(to, "== DWARF %u, %" PRIu64 "\n", m.w.shape.version, number);
	if (number < (damaged ? DAMAGED_WHOLE : WHOLE))
		fputs(text, to);
	else
		put_digest(to, text, size), fputc('\n', to);
	free(text);
	bytes_deinit(&file);
	dwarf_deinit(&m.w);
}

static void record(const char *name, uint64_t files, bool damaged)
{
	char *got, *bytes;
	size_t len, size;
	FILE *to = open_memstream(&got, &len), *caches = open_memstream(&bytes, &size);

	for (uint64_t i = 0; i < files; i++)
		put_made(to, i, damaged, caches);
	fclose(caches);
	fprintf(to, "== all caches\n");
	put_digest(to, bytes, size);
	fputc('\n', to);
	free(bytes);
	fclose(to);
	expect_recorded(name, got, len);
}

static void test_caches(void **state)
{
	(void)state;
	record("made", FILES, false);
}

/* Their debug information is damaged. */
static void test_damaged(void **state)
{
	(void)state;
	record("made_damaged", DAMAGED, true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_caches),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

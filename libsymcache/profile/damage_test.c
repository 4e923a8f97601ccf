/* An entry of the store that is damaged where one place of a profile needs it: the same bytes come
 * out with one thread and with two, without names of that module. */
#include "libsymcache/symbolize/testing.h"

#include "libsymcache/base/process.h"
#include "libsymcache/profile/profile.h"
#include "libsymcache/profile/wire.h"

enum { LOCATIONS = 2100 }; /* enough for a second thread */

/* Places in ranges of the cache, the last one in this. */
static void make_profile(struct prof_bytes *to, const struct symcache *cache, uint64_t last)
{
	struct prof_bytes b = { 0 };

	prof_put_number(&b, 1, 1);
	prof_put_number(&b, 6, 1);
	prof_put_bytes(to, 3, b.v.data, b.v.len);
	for (uint64_t i = 1; i <= LOCATIONS; i++) {
		vec_clear(&b.v);
		prof_put_number(&b, 1, i);
		prof_put_number(&b, 2, 1);
		prof_put_number(&b, 3, symcache_load_base(cache) + cache->ranges[last * i / LOCATIONS]);
		prof_put_bytes(to, 4, b.v.data, b.v.len);
	}
	prof_put_bytes(to, 6, "", 0);
	prof_put_bytes(to, 6, text_id, strlen(text_id));
	assert_false(b.failed || to->failed);
	prof_bytes_deinit(&b);
}

/* With caches that nothing was read from; how many of its places were found. */
static uint64_t found(const struct prof_bytes *in, bool two_threads)
{
	const struct symcache_names_options how = symprofile_names_options();
	struct symprofile_options options = {
		.caches = open_caches((struct symcache_caches_options){ .store = store_file }),
		.names = symcache_names_create(&how), .two_threads = two_threads,
	};
	struct symprofile_counts counts;
	struct symprofile_output out;
	struct symprofiler *p;

	assert_int_equal(symprofiler_create(&options, &p, NULL), 0);
	assert_int_equal(symprofiler_run(p, in->v.data, in->v.len, &out, NULL), 0);
	symprofiler_counts(p, &counts);
	if (!counts.found) { /* what came in came out */
		assert_int_equal(out.size, in->v.len);
		assert_memory_equal(out.pieces->iov_base, in->v.data, in->v.len);
	}
	symprofiler_destroy(p);
	symcache_names_destroy(options.names);
	symcache_caches_destroy(options.caches);
	return counts.found;
}

/* Changes a byte of the stored cache. */
static void damage_at(size_t offset)
{
	FILE *f = fopen(store_file, "r+");
	struct stat st;
	char *bytes;
	const char *at;

	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	at = memmem(bytes, (size_t)st.st_size, self_cache, 4096);
	assert_non_null(at);
	fseek(f, (long)(at - bytes) + (long)offset, SEEK_SET);
	fputc(at[offset] ^ 1, f);
	fclose(f);
	free(bytes);
}

static void test_damage(void **state)
{
	struct prof_bytes in = { 0 };
	struct symcache cache;
	uint32_t range;

	(void)state;
	assert_int_equal(symcache_open(&cache, self_cache, self_size, NULL), 0);
	range = cache.header->num_ranges / 10 * 9;
	make_profile(&in, &cache, range);
	store_put(self_id, self_id_len);
	assert_true(found(&in, false) > LOCATIONS / 4);
	assert_int_equal(found(&in, true), found(&in, false));
	damage_at((size_t)((const char *)&cache.ranges[range] - (const char *)self_cache));
	assert_int_equal(found(&in, false), 0);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(found(&in, true), 0);
	assert_int_equal(notices[SYMCACHE_NOTICE_DAMAGED], 1);
	prof_bytes_deinit(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_damage) };

	sc_own_process(); /* else there is no second thread */
	return cmocka_run_group_tests_name("damage", tests, setup, teardown);
}

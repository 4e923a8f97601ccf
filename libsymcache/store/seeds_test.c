/* What is read of each seed of the fuzz targets, and of damaged ones: records, and files as stores.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "libmarkup/bytes/json.h"
#include "libsymcache/base/str.h"
#include "libsymcache/base/seeds_test.h"
#include "libsymcache/read/cache_text_test.h"
#include "libsymcache/store/record.h"
#include "libsymcache/store/upkeep.h"

/* In place of libc's: damaged meta pages are read again for 50 ms, since a writer may be at work.
 */
int nanosleep(const struct timespec *request, struct timespec *left)
{
	(void)request;
	(void)left;
	return 0;
}

static void put_entry(FILE *to, const struct symstore_entry *entry)
{
	struct symstore_entry shown = *entry;
	struct mk_out out = { 0 };
	char *text;

	/* Of the folders of the machine on which the seed was made a hash. */
	shown.source_path = sc_last_part(sc_str_of(entry->source_path)).ptr;
	symstore_entry_json(&(struct mk_gen){ .to = &out, .depth = 1 }, &shown);
	mk_out_char(&out, 0);
	text = mk_out_take(&out);
	fprintf(to, "%s, ", text);
	free(text);
	put_digest(to, entry->source_path, strlen(entry->source_path));
	fprintf(to, ", tables %" PRIx64 ", packed %" PRIu64 " %" PRIx64 "\n", entry->table_hash,
		entry->packed_size, entry->packed_hash);
}

static void records_of(const uint8_t *bytes, size_t size, FILE *to)
{
	struct symstore_format format;
	struct symstore_entry entry;
	struct symstore_outcome outcome;
	const char *tool;
	uint8_t *again;
	size_t n;

	if (symstore_format_decode(bytes, size, &format)) {
		again = symstore_format_encode(&format, &n);
		fprintf(to, "format %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRId64 " ",
			format.format, format.read_since, format.write_since, format.created);
		put_digest(to, again, n);
		fputc('\n', to);
		free(again);
	}
	if (symstore_entry_decode("key", 3, bytes, size, &entry)) {
		again = symstore_entry_encode(&entry, &n);
		put_entry(to, &entry);
		put_digest(to, again, n);
		fputc('\n', to);
		free(again);
	}
	if (symstore_outcome_decode(bytes, size, &outcome, &tool)) {
		again = symstore_outcome_encode(&outcome, tool, &n);
		fprintf(to, "outcome %d %zu %s ", outcome.code, outcome.build_id_len, tool);
		put_digest(to, again, n);
		fputc('\n', to);
		free(again);
	}
}

struct walk {
	struct symstore_reader *reader;
	FILE *to;
};

static bool on_entry(void *ctx, const struct symstore_entry *entry)
{
	const struct walk *w = ctx;
	struct symcache_guard guard = { 0 };
	struct sc_error err = { .msg = "" };
	struct symcache cache;
	int rc;

	put_entry(w->to, entry);
	rc = symstore_get_guarded(w->reader, entry->build_id, entry->build_id_len, &guard, &cache,
				  &err);
	if (rc)
		fprintf(w->to, "%d %s\n", rc, err.msg);
	else
		put_frames(w->to, &cache, cache.header->num_ranges ? cache.ranges[0] : 0);
	if (!rc && symcache_damaged(&cache))
		fprintf(w->to, "damaged\n");
	symcache_guard_deinit(&guard);
	symstore_let_go(w->reader);
	return true;
}

/* Without the name of the file, which is another each time. */
static void put_error(FILE *to, const struct sc_error *err, const char *path)
{
	const char *at = strstr(err->msg, path);

	fprintf(to, "%d %s\n", err->code, at ? at + strlen(path) : err->msg);
}

static void store_of(const uint8_t *bytes, size_t size, FILE *to)
{
	char path[32], identity[SC_HASH_TEXT] = "";
	struct sc_error err = { .msg = "" };
	int fd = testing_memfd(bytes, size, path);
	struct symstore_totals totals = { 0 };
	struct symstore_info info = { 0 };
	struct symstore *store;
	struct walk w = { .to = to };

	if (symstore_open(path, SYMSTORE_FROZEN, &store, &err)) {
		put_error(to, &err, path);
		close(fd);
		return;
	}
	if (symstore_read_begin(store, &w.reader, &err)) {
		put_error(to, &err, path);
	} else {
		if (symstore_each(w.reader, NULL, 0, on_entry, &w, &err))
			put_error(to, &err, path);
		if (symstore_count(w.reader, &totals, &err))
			put_error(to, &err, path);
		if (symstore_identity(w.reader, identity, &err))
			put_error(to, &err, path);
		if (symstore_info(w.reader, &info, &err))
			put_error(to, &err, path);
		fprintf(to,
			"%s, %" PRIu64 " entries, %" PRIu64 " free of %" PRIu64 ", seen %" PRIu64
			"\n",
			identity, info.entries, info.free_bytes, info.used_bytes, info.seen);
		symstore_read_end(w.reader);
	}
	symstore_close(store);
	close(fd);
}

static void test_records(void **state)
{
	static const char *const seeds[] = { "record", NULL };

	(void)state;
	expect_answers("record", seeds, 64, records_of);
}

static void test_stores(void **state)
{
	static const char *const seeds[] = { "pages", "store", NULL };

	(void)state;
	expect_answers("store", seeds, 64, store_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_records),
		cmocka_unit_test(test_stores),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Many units: however many threads read them, and be they compressed, the cache is the same, and so is
 * what is said of them; a cache for some addresses says the same of these.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/dwarf/made_units_test.h"
#include "libsymcache/write/first_check.h"
#include "libsymcache/write/info_test.h"

enum { UNITS_MADE = 400 };

/* A file of as many units, one in 50 of an unknown version: enough for several threads. */
static void make_file(uint64_t number, struct bytes *ret)
{
	struct made m;

	made_file(&m, number);
	m.alone = number % 2;
	if (m.alone) /* whose units are read while the rest is inflated */
		m.w.info.b.len = m.w.abbrev.b.len = m.num_entries = m.num_types = 0;
	for (unsigned i = 0; i < UNITS_MADE; i++) {
		const size_t at = m.w.info.b.len;

		m.num_entries = m.num_types = 0;
		put_unit(&m);
		if (!below(&m, 50))
			patch(&m.w.info, at + (m.w.shape.offset_size == 8 ? 12 : 4), 2, 9);
	}
	dwarf_file(&m.w, ret);
	dwarf_deinit(&m.w);
}

/* What is said of a build, and the hash of its cache. */
static char *text_of(const char *path, unsigned threads)
{
	const struct symcache_build_options options = { .no_debug_search = true, .threads = threads };
	struct symcache_build *b;
	struct sc_error err;
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (symcache_build_create(path, &options, &b, &err)) {
		fprintf(to, "%d%s\n", err.code, strchr(err.msg, ':')); /* behind the path */
	} else {
		const size_t size = symcache_build_size(b);
		uint8_t *bytes = malloc(size);

		symcache_build_write(b, bytes);
		put_info(to, b);
		fprintf(to, "cache ");
		put_digest(to, bytes, size);
		fputc('\n', to);
		free(bytes);
		symcache_build_destroy(b);
	}
	fclose(to);
	return text;
}

/* That of one thread, which more threads give, too. */
static char *text_of_all(const struct bytes *file)
{
	char path[32], *one;
	const int fd = testing_memfd(file->b.data, file->b.len, path);

	one = text_of(path, 1);
	for (unsigned threads = 2; threads < 4; threads++) {
		char *more = text_of(path, threads);

		assert_string_equal(more, one);
		free(more);
	}
	close(fd);
	return one;
}

/* What is said of some addresses is what the whole cache says. */
static void check_first(const struct bytes *file, const struct bytes *as)
{
	const struct symcache_build_options options = { .no_debug_search = true };
	char paths[2][32];
	const int fds[] = { testing_memfd(file->b.data, file->b.len, paths[0]),
			    testing_memfd(as->b.data, as->b.len, paths[1]) };
	struct built whole;
	struct sc_error err;

	assert_int_equal(first_build(paths[0], &options, &whole, &err), 0);
	for (uint64_t i = 0; i < 3; i++) {
		const uint64_t vaddrs[] = { DWARF_TEXT + 161 * i, DWARF_TEXT + 17 * i + 1 };
		char *fault = first_differs(paths[1], &options, &whole.cache, vaddrs, 1 + i % 2);

		if (fault)
			fail_msg("%s", fault);
	}
	free(whole.bytes);
	for (int i = 0; i < 2; i++)
		close(fds[i]);
}

static void test_threads(void **state)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (uint64_t number = 2; number < 6; number++) {
		struct bytes file = { 0 }, packed = { 0 };
		char *text, *other;

		make_file(number, &file);
		packed.b.data = first_compressed(file.b.data, file.b.len, &packed.b.len);
		fprintf(to, "== file %" PRIu64 "%s\n%s", number, packed.b.data ? ", and compressed" : "",
			text = text_of_all(&file));
		check_first(&file, &file);
		if (packed.b.data) {
			other = text_of_all(&packed);
			assert_string_equal(strstr(other, "cache "), strstr(text, "cache "));
			fputs(other, to);
			check_first(&file, &packed);
			free(other);
		}
		free(text);
		free(packed.b.data);
		bytes_deinit(&file);
	}
	fclose(to);
	expect_recorded("many_units", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

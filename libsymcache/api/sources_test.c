/* The text of sources by the public names. */
#include <sys/stat.h>

#include "libsymcache/api/testing.h"

static struct symcache_source_reader *reader_of(const struct symcache_source_options *options)
{
	struct symcache_source_reader *s;

	ok(symcache_source_reader_create(options, &s, NULL));
	return s;
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	ok(fclose(f));
}

static void expect(struct symcache_source_reader *s, const char *path, const char *expected)
{
	const char *text;
	size_t size;

	ok(symcache_source_text(s, NULL, path, &text, &size, NULL));
	assert_int_equal(size, strlen(expected));
	assert_memory_equal(text, expected, size + 1);
}

/* A frame's line of the text says what it is. */
static void check_own(struct symcache_source_reader *s, struct symcache_resolver *r,
		      struct symcache_cache *c)
{
	const struct symcache_frame *f;
	const char *text;
	size_t size;

	assert_true(symcache_frames(r, c, address_of_known(r, c), &f) >= 1);
	ok(symcache_source_text(s, c, f->file, &text, &size, NULL));
	assert_int_equal(strlen(text), size);
	for (int line = 1; line < KNOWN_LINE; line++)
		text = strchr(text, '\n') + 1;
	assert_memory_equal(text, "static __attribute__((noinline, used)) int known_function(int n)\n", 65);
}

static void finds_its_own(void **state)
{
	struct symcache_store *store = open_a(0);
	const struct symcache_source_options options = { .size = sizeof(options), .store = store };
	struct symcache_source_reader *plain = reader_of(NULL), *with_store = reader_of(&options);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(store);

	(void)state;
	symcache_store_close(store); /* the reader has a reference */
	check_own(plain, r, c);
	check_own(with_store, r, c);
	check_own(with_store, r, c);
	symcache_source_reader_destroy(plain);
	symcache_source_reader_destroy(with_store);
	symcache_source_reader_destroy(NULL);
	symcache_cache_unref(c);
	symcache_resolver_destroy(r);
}

static void finds_others(void **state)
{
	char map[120], there[100];
	const char *maps[] = { map, NULL }, *folders[] = { there, NULL };
	struct symcache_source_options options = { .size = sizeof(options) };
	struct symcache_source_reader *s;

	(void)state;
	strcpy(there, in_dir("there"));
	ok(mkdir(there, 0700));
	ok(mkdir(in_dir("there/src"), 0700));
	write_file(in_dir("there/src/a.c"), "int a;\n");
	write_file(in_dir("there/empty.c"), "");
	write_file(in_dir("there/notes"), "no source\n");
	snprintf(map, sizeof(map), "/build=%s", there);
	options.path_maps = maps;
	s = reader_of(&options);
	expect(s, "/build/src/a.c", "int a;\n");
	expect(s, "/build/empty.c", "");
	expect(s, "/build/notes", "no source\n"); /* the caller's folder */
	symcache_source_reader_destroy(s);
	options.path_maps = NULL;
	options.folders = folders;
	s = reader_of(&options);
	folders[0] = "/gone";
	expect(s, "/elsewhere/src/a.c", "int a;\n");
	expect(s, "/elsewhere/src/a.c", "int a;\n");
	symcache_source_reader_destroy(s);
}

/* ---- in debug information ---------------------------------------------------------------- */

/* Two programs of one path, with their sources in their debug files alone. */
static const char embedded[] =
	"mkdir E && cd E && for n in 1 2; do printf \"int f(int x) { return $n * x; }\\n\" > e.c && "
	"clang -gdwarf-5 -gembed-source -shared -fPIC -nostdlib -Wl,--build-id=0xe${n}00 -o $n.so e.c && "
	"mkdir -p debug/.build-id/e$n && objcopy --only-keep-debug $n.so debug/.build-id/e$n/00.debug && "
	"strip $n.so; done && rm e.c";

/* The text of the source, or the error. */
static void expect_embedded(const struct symcache_source_options *options, const struct symcache_cache *c,
			    const char *wants)
{
	struct symcache_source_reader *s = reader_of(options);
	struct symcache_error err = { .msg = "" };
	const char *text;
	char path[120];
	size_t size;

	snprintf(path, sizeof(path), "%s/E/e.c", dir);
	for (int again = 0; again < 2; again++) {
		const int rc = symcache_source_text(s, c, path, &text, &size, &err);

		assert_string_equal(rc ? err.msg + strlen(path) : text, wants);
		assert_int_equal(size, rc ? 0 : strlen(wants));
	}
	symcache_source_reader_destroy(s);
}

static void finds_embedded(void **state)
{
	static const char none[] = ": there is no such source";
	char debug[100], command[900];
	const char *dirs[] = { debug, NULL }, *const paths[] = { in_dir("E/1.so"), in_dir("E/2.so") };
	const struct symcache_make_options make = { .size = sizeof(make), .debug_dirs = dirs };
	struct symcache_source_options options = { .size = sizeof(options), .debug_dirs = dirs };
	struct symcache_cache *c[2];
	struct symcache_store *store;

	(void)state;
	if (system("clang --version >/dev/null 2>&1")) {
		printf("skipped: there is no clang\n");
		skip();
	}
	snprintf(command, sizeof(command), "cd %s && %s", dir, embedded);
	ok(system(command));
	snprintf(debug, sizeof(debug), "%s/E/debug", dir);
	ok(symcache_store_open(in_dir("e.store"), SYMCACHE_STORE_WRITE, &store, NULL));
	ok(symcache_store_index(store, paths, 2, &make, NULL, NULL));
	ok(symcache_store_find(store, "e100", &c[0], NULL));
	ok(symcache_store_find(store, "e200", &c[1], NULL));
	expect_embedded(&options, c[0], none);
	options.store = store;
	expect_embedded(&options, c[0], "int f(int x) { return 1 * x; }\n");
	expect_embedded(&options, c[1], "int f(int x) { return 2 * x; }\n");
	expect_embedded(&options, NULL, none);
	options.debug_dirs = NULL;
	expect_embedded(&options, c[0], none);
	symcache_cache_unref(c[0]);
	symcache_cache_unref(c[1]);
	symcache_store_close(store);
}

static void refuses(void **state)
{
	static const char *const no_map[] = { "/build", NULL };
	struct symcache_source_options options = { .size = sizeof(options), .path_maps = no_map };
	struct symcache_source_reader *s;
	struct symcache_error err;
	const char *text = "";
	size_t size = 1;

	(void)state;
	assert_int_equal(symcache_source_reader_create(&options, &s, &err), SYMCACHE_EINVAL);
	assert_null(s);
	options.path_maps = NULL;
	options.size--;
	assert_int_equal(symcache_source_reader_create(&options, &s, &err), SYMCACHE_EINVAL);
	s = reader_of(NULL);
	assert_int_equal(symcache_source_text(s, NULL, NULL, &text, &size, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_source_text(s, NULL, "/none.c", &text, &size, &err), SYMCACHE_ENOTFOUND);
	assert_true(!text && !size);
	assert_int_equal(symcache_source_text(s, NULL, "/etc/passwd", &text, &size, &err),
			 SYMCACHE_EUNSUPPORTED);
	assert_null(text);
	symcache_source_reader_destroy(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_its_own), cmocka_unit_test(finds_others),
		cmocka_unit_test(finds_embedded), cmocka_unit_test(refuses),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

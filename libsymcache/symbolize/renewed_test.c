/*
 * A program that is indexed again while its cache is in use: what is remembered of the old one (names,
 * lines, indexes of them) is not said of the new one.
 */
#include "libsymcache/read/tiny_test.h"

#include <sys/wait.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/symbolize/reverse.h"
#include "libsymcache/symbolize/symbolizer.h"

static char store_file[64];

/* A cache of which all functions and files are called so, 4 letters, whose lines have `more` added. */
static struct tiny example(const char *name, const char *file, uint32_t more)
{
	struct tiny t = tiny_example_ext(9);
	const struct symcache_ext_symbol symbols[] = { { 0x10, 0x18, tiny_string(&t, name), SYMCACHE_NONE } };

	for (uint32_t i = 0; i < t.h.num_functions; i++)
		t.functions[i].name = symbols[0].name;
	t.files[0].name = t.files[1].name = tiny_string(&t, file);
	for (uint32_t i = 0; i < t.h.num_source_locations; i++)
		if (t.locations[i].line != SYMCACHE_NONE)
			t.locations[i].line += more;
	t.num_symbols = 1;
	t.symbols[0] = symbols[0];
	return t;
}

/* By another process, as LMDB asks for. */
static void store_put(struct tiny t)
{
	uint8_t *bytes = tiny_bytes(&t);
	struct symstore_entry e = { .build_id = { 0xaa }, .build_id_len = 20, .cache_size = t.size,
				    .source_path = "/bin/a", .tool_version = "test" };
	struct symstore_writer *writer;
	struct symstore *store;
	const pid_t pid = fork();
	int status;

	if (!pid)
		_exit(symstore_open(store_file, SYMSTORE_WRITE, &store, NULL) ||
		      symstore_write_begin(store, &writer, NULL) ||
		      symstore_put(writer, &e, NULL, bytes, NULL, NULL) ||
		      symstore_commit(writer, NULL));
	free(bytes);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static int on_name(void *ctx, const struct symcache_found_name *f)
{
	fprintf(ctx, " %llx %.*s %.*s:%u", (unsigned long long)f->vaddr, (int)f->name.len, f->name.ptr,
		(int)f->file.len, f->file.ptr ? f->file.ptr : "", f->line);
	return 0;
}

static int on_line(void *ctx, const struct symcache_found_line *f)
{
	fprintf(ctx, " %llx %.*s %.*s:%u", (unsigned long long)f->vaddr, (int)f->frame->function.len,
		f->frame->function.ptr, (int)f->frame->file.len, f->frame->file.ptr, f->frame->line);
	return 0;
}

/* All that is said of both caches. */
static char *ask(struct symcache_symbolizer *s, struct symcache_module *m)
{
	static const char *const names[] = { "main", "mine" }, *const files[] = { "a.cc", "b.cc" };
	struct symcache_answer a;
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	fprintf(to, "%d", symcache_symbolize(s, m, 0x400020, &a));
	for (size_t i = 0; i < a.num_frames; i++)
		fprintf(to, " %.*s %.*s:%u", (int)a.frames[i].function.len, a.frames[i].function.ptr,
			(int)a.frames[i].file.len, a.frames[i].file.ptr, a.frames[i].line);
	for (size_t i = 0; i < 2; i++) {
		const struct sc_str name = sc_str_of(names[i]);
		uint64_t vaddr = 0;
		uint32_t at = 0;

		fprintf(to, "\n%s:", names[i]);
		symcache_find_names(s, m, name, false, on_name, to);
		fprintf(to, " %d", symcache_symbolize_name(s, m, name, &at, &vaddr));
		fprintf(to, " %d", sc_symbolize_shown(s, m, name, 0x13, 3, &vaddr));
		for (uint32_t line = 0; line < 32; line++)
			symcache_find_line(s, m, sc_str_of(files[i]), line, on_line, to);
	}
	fclose(to);
	return text;
}

/* As a symbolizer says that knows nothing else. */
static char *ask_anew(struct symcache_caches *c, struct symcache_module *m,
		      const struct symcache_names_options *options)
{
	struct symcache_names *names = symcache_names_create(options);
	struct symcache_symbolizer *s = symcache_symbolizer_create(c, names);
	char *ret = ask(s, m);

	symcache_symbolizer_destroy(s);
	symcache_names_destroy(names);
	return ret;
}

static void test_renewed(void **state)
{
	const struct symcache_names_options options = { .table = SYMCACHE_TABLE_OUTERMOST };
	struct symcache_names *names = symcache_names_create(&options);
	struct symcache_caches *c;
	struct symcache_symbolizer *s;
	struct symcache_module *m;
	char *before = NULL;

	(void)state;
	assert_non_null(mkdtemp(testing_dir));
	snprintf(store_file, sizeof(store_file), "%s/test.store", testing_dir);
	store_put(example("main", "a.cc", 0));
	c = symcache_caches_create(&(struct symcache_caches_options){ .store = store_file });
	s = symcache_symbolizer_create(c, names);
	m = symcache_caches_module(c, SYMCACHE_MODULE_BUILD_ID, "aa");
	for (int i = 0; i < 4; i++) {
		char *text = ask(s, m), *want = ask_anew(c, m, &options);

		assert_string_equal(text, want);
		assert_non_null(strstr(text, i % 2 ? " mine /" : " main /"));
		if (before)
			assert_string_not_equal(text, before);
		free(want);
		free(before);
		before = text;
		store_put(i % 2 ? example("main", "a.cc", (uint32_t)i) : example("mine", "b.cc", (uint32_t)i));
		symcache_caches_update(c);
	}
	free(before);
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(c);
	symcache_names_destroy(names);
	assert_int_equal(testing_run("rm -r %s", testing_dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_renewed) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

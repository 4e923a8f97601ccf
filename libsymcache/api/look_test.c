/* Look-ups by the public names: frames as texts and numbers, caches in memory, logs. */
#include <stdbool.h>

#include "libsymcache/api/testing.h"
#include "libsymcache/read/tiny_test.h"

static void finds_frames(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s), *same = get(s);
	const struct symcache_frame *f;
	size_t len;

	(void)state;
	known_function(1);
	assert_ptr_equal(c, same);
	symcache_cache_unref(same);
	check_known(r, c);
	assert_memory_equal(symcache_cache_build_id(c, &len), id, id_len);
	assert_int_equal(len, id_len);
	assert_int_equal(symcache_frames(r, c, UINT64_MAX, &f), 0);
	assert_int_equal(symcache_reason(r), SYMCACHE_REASON_OUTSIDE);
	assert_int_equal(symcache_frames(r, c, 0, &f), 0);
	assert_int_not_equal(symcache_reason(r), SYMCACHE_REASON_FOUND);
	symcache_store_close(s); /* the cache stays */
	check_known(r, c);
	symcache_cache_unref(c);
	symcache_resolver_destroy(r);
}

/* Code that DWARF does not know: the symbol table names it, and the file of local symbols. */
static void finds_symbols(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(SYMCACHE_SYMBOL_NAMES);
	struct symcache_cache *c = get(s);
	const struct symcache_frame *f;
	uint64_t vaddr;

	(void)state;
	if (symcache_addresses_of(r, c, "frame_dummy", &vaddr, 1) != 1) {
		print_message("skipped: the C compiler's files have no frame_dummy\n");
		skip();
	}
	assert_int_equal(symcache_frames(r, c, vaddr, &f), 1);
	assert_string_equal(f[0].function, "frame_dummy");
	assert_string_equal(f[0].file, "crtstuff.c");
	assert_int_equal(f[0].flags, SYMCACHE_FRAME_SYMBOL);
	assert_int_equal(f[0].line, 0);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

/* In one call, of the store by default, or of one's own, which is refreshed. */
static void resolves(void **state)
{
	struct symcache_store *s = open_a(0), *writer;
	const struct symcache_resolver_options options = { sizeof(options), 0, s };
	struct symcache_resolver *r = resolver(0), *own;
	const struct symcache_put_options put = { sizeof(put), (const uint8_t *)"\1\2", 2, "/x", NULL, 1 };
	struct symcache_cache *c = get(s);
	const uint64_t vaddr = address_of_known(r, c);
	const struct symcache_frame *f;
	struct symcache_error err;

	(void)state;
	ok(symcache_resolver_create(&options, &own, NULL));
	setenv("SYMCACHE_STORE", in_dir("none"), 1);
	assert_int_equal(symcache_resolve(r, "look_test", vaddr, &f, &err), SYMCACHE_ENOTFOUND);
	assert_null(f->function);
	setenv("SYMCACHE_STORE", in_dir("a.store"), 1);
	assert_true(symcache_resolve(r, "look_test", vaddr, &f, &err) >= 1);
	assert_string_equal(f->function, "known_function");
	setenv("SYMCACHE_STORE", in_dir("none"), 1); /* it is open */
	assert_true(symcache_resolve(r, "look_test", vaddr, &f, NULL) >= 1);
	assert_int_equal(symcache_resolve(r, "look_test", UINT64_MAX, &f, &err),
			 SYMCACHE_ENOTFOUND);
	assert_null(f->function);
	assert_string_equal(err.msg, "look_test: 0xffffffffffffffff is outside of its code");
	assert_int_equal(symcache_resolve(r, "no such", vaddr, &f, &err), SYMCACHE_ENOTFOUND);
	assert_int_equal(symcache_resolve(r, "", vaddr, &f, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_resolve(r, NULL, vaddr, &f, &err), SYMCACHE_EINVAL);
	assert_null(f->function);
	ok(symcache_store_open(in_dir("a.store"), SYMCACHE_STORE_WRITE, &writer, NULL));
	ok(symcache_store_put(writer, c, &put, NULL));
	symcache_cache_unref(c);
	assert_int_equal(symcache_resolve(own, "0102", vaddr, &f, NULL), SYMCACHE_ENOTFOUND);
	symcache_store_refresh(s);
	assert_true(symcache_resolve(own, "0102", vaddr, &f, NULL) >= 1);
	symcache_store_close(s); /* the resolver has a reference */
	assert_true(symcache_resolve(own, "0102", vaddr, &f, NULL) >= 1);
	assert_string_equal(f->function, "known_function");
	ok(symcache_store_remove(writer, put.build_id, 2, NULL));
	symcache_store_close(writer);
	symcache_resolver_destroy(r);
	symcache_resolver_destroy(own);
}

/* Of functions as numbers: the same as texts, one by one as in batches. */
static void numbers_are_texts(void **state)
{
	enum { N = 5000, MOST = 4 };
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0), *ahead = resolver(SYMCACHE_SYMBOL_NAMES),
		*plain = resolver(SYMCACHE_SYMBOL_NAMES);
	struct symcache_cache *c = get(s);
	uint64_t *vaddr = calloc(N, sizeof(*vaddr)), *first = calloc(N + 1, sizeof(*first));
	struct symcache_ids *ids = calloc(N * MOST, sizeof(*ids)), one[64];
	const uint64_t start = address_of_known(r, c);
	const struct symcache_frame *f, *g;
	size_t total;

	(void)state;
	for (size_t i = 0; i < N; i++)
		vaddr[i] = !i ? start : i % 50 ? start + i * 37 % 60000 - 30000 : i << 40;
	assert_null(symcache_function_name(r, c, symcache_cache_num_functions(c)));
	assert_null(symcache_file_path(r, c, symcache_cache_num_files(c)));
	assert_int_equal(symcache_function_entry(c, symcache_cache_num_functions(c)), UINT64_MAX);
	total = symcache_frame_ids_batch(c, vaddr, N, first, ids, N * MOST);
	assert_int_equal(first[N], total);
	for (size_t i = 0; i < N; i++) {
		const size_t n = symcache_frame_ids(c, vaddr[i], one, 64), k = i % 16;
		size_t m;

		assert_int_equal(n, first[i + 1] - first[i]);
		if (first[i + 1] <= N * MOST)
			assert_memory_equal(one, ids + first[i], n * sizeof(*ids));
		assert_int_equal(symcache_frames(r, c, vaddr[i], &f), n);
		for (size_t j = 0; j < n; j++) {
			assert_int_equal(f[j].line, one[j].line);
			assert_int_equal(f[j].column, one[j].column);
			assert_int_equal(f[j].function_id, one[j].function);
			assert_int_equal(!!(f[j].flags & SYMCACHE_FRAME_INLINED), j + 1 < n);
		}
		assert_null(f[n].function);
		if (n && !(f[0].flags & SYMCACHE_FRAME_NO_FUNCTION)) {
			char *name = strdup(f[0].function);

			assert_string_equal(symcache_function_name(r, c, one[0].function), name);
			free(name);
		}
		if (!k)
			symcache_frames_ahead(ahead, c, vaddr + i, N - i < 16 ? N - i : 16);
		m = symcache_frames(ahead, c, vaddr[i], &f);
		assert_int_equal(m, symcache_frames(plain, c, vaddr[i], &g));
		for (size_t j = 0; j < m; j++) {
			assert_string_equal(f[j].function, g[j].function);
			assert_string_equal(f[j].file, g[j].file);
			assert_int_equal(f[j].flags, g[j].flags);
			assert_int_equal(f[j].line, g[j].line);
		}
	}
	/* What does not fit is counted, not written. */
	memset(ids, 0xaa, N * MOST * sizeof(*ids));
	assert_int_equal(symcache_frame_ids_batch(c, vaddr, N, first, ids, 7), total);
	assert_int_equal(ids[7].line, 0xaaaaaaaa);
	assert_int_equal(symcache_frame_ids_batch(c, vaddr, 0, first, NULL, 0), 0);
	free(vaddr);
	free(first);
	free(ids);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
	symcache_resolver_destroy(ahead);
	symcache_resolver_destroy(plain);
}

static void memory_is_released(void *ctx)
{
	++*(int *)ctx;
}

static void caches_in_memory(void **state)
{
	struct symcache_resolver *r = resolver(SYMCACHE_SHORT_NAMES);
	struct symcache_cache *made, *c;
	const void *bytes;
	int released = 0;
	size_t size, n;
	FILE *f;

	(void)state;
	ok(symcache_make("/proc/self/exe", NULL, &made, NULL));
	check_known(r, made);
	bytes = symcache_cache_bytes(made, &size);
	ok(symcache_cache_open_memory(bytes, size, memory_is_released, &released, &c, NULL));
	check_known(r, c);
	assert_ptr_equal(symcache_cache_ref(c), c);
	symcache_cache_unref(c);
	assert_int_equal(released, 0);
	symcache_cache_unref(c);
	assert_int_equal(released, 1);
	f = fopen(in_dir("self.symcache"), "w");
	n = fwrite(bytes, 1, size, f);
	assert_int_equal(n, size);
	fclose(f);
	ok(symcache_cache_open(in_dir("self.symcache"), &c, NULL));
	check_known(r, c);
	symcache_cache_build_id(c, &n);
	assert_int_equal(n, 0);
	symcache_cache_unref(c);
	symcache_cache_unref(made);
	symcache_resolver_destroy(r);
}

/* Code may begin at the load base; nothing is below it. */
static void begins_with_code(void **state)
{
	struct tiny t = tiny_example_ext(9);
	struct symcache_resolver *r = resolver(0);
	const struct symcache_frame *f;
	struct symcache_ids one;
	struct symcache_cache *c;
	uint8_t *bytes;
	uint64_t vaddr, first[2];

	(void)state;
	t.ranges[0] = t.functions[0].entry_pc = 0;
	bytes = tiny_bytes(&t);
	ok(symcache_cache_open_memory(bytes, t.size, free, bytes, &c, NULL));
	vaddr = symcache_cache_load_base(c);
	for (uint64_t below = 0; below < 2; below++) {
		const uint64_t at = vaddr - below;

		assert_int_equal(symcache_frame_ids(c, at, &one, 1), !below);
		assert_int_equal(symcache_frame_ids_batch(c, &at, 1, first, &one, 1), !below);
		assert_int_equal(symcache_frames(r, c, at, &f), !below);
	}
	assert_int_equal(one.line, 10);
	symcache_cache_unref(c);
	symcache_resolver_destroy(r);
}

static void demangles(void **state)
{
	struct symcache_resolver *r = resolver(0);

	(void)state;
	assert_string_equal(symcache_demangled(r, "_ZN3foo3barEi"), "foo::bar(int)");
	assert_string_equal(symcache_demangled(r, "main"), "main");
	symcache_resolver_destroy(r);
}

struct text {
	char bytes[10000];
	size_t len;
};

/* A file may be named as a build ID begins: "0102" is both here. */
static void finds_explicitly(void **state)
{
	static const uint8_t build_id[] = { 1, 2, 3 }, other[] = { 4, 5, 6 };
	struct symcache_put_options put = { sizeof(put), build_id, 3, "/bin/x", NULL, 1 };
	struct symcache_store *s;
	struct symcache_store *from = open_a(0);
	struct symcache_cache *c = get(from), *found;
	const struct symcache_frame *f;
	struct symcache_resolver *names = resolver(0), *r;
	struct symcache_resolver_options options = { sizeof(options), 0, NULL };
	const uint64_t vaddr = address_of_known(names, c);
	struct symcache_error err;
	size_t len;

	(void)state;
	ok(symcache_store_open(in_dir("both.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	ok(symcache_store_put(s, c, &put, NULL));
	put.build_id = other;
	put.source_path = "/bin/0102";
	ok(symcache_store_put(s, c, &put, NULL));
	ok(symcache_store_find(s, "0102", &found, NULL));
	assert_memory_equal(symcache_cache_build_id(found, &len), build_id, 3);
	symcache_cache_unref(found);
	ok(symcache_store_find_build_id(s, "0102", &found, NULL));
	assert_memory_equal(symcache_cache_build_id(found, &len), build_id, 3);
	symcache_cache_unref(found);
	ok(symcache_store_find_name(s, "0102", &found, NULL));
	assert_memory_equal(symcache_cache_build_id(found, &len), other, 3);
	symcache_cache_unref(found);
	assert_int_equal(symcache_store_find_build_id(s, "x", &found, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_find_name(s, "010203", &found, &err), SYMCACHE_ENOTFOUND);
	assert_int_equal(symcache_store_find(s, NULL, &found, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_find_build_id(s, NULL, &found, &err), SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_find_name(s, NULL, &found, &err), SYMCACHE_EINVAL);
	assert_null(found);

	options.store = s;
	ok(symcache_resolver_create(&options, &r, NULL));
	assert_true(symcache_resolve_name(r, "0102", vaddr, &f, &err) >= 1);
	assert_string_equal(f->function, "known_function");
	assert_true(symcache_resolve_build_id(r, "0102", vaddr, &f, &err) >= 1);
	assert_int_equal(symcache_resolve_name(r, "010203", vaddr, &f, &err), SYMCACHE_ENOTFOUND);
	assert_null(f->function);
	assert_int_equal(symcache_resolve_build_id(r, "x", vaddr, &f, &err), SYMCACHE_EINVAL);
	symcache_resolver_destroy(r);
	symcache_resolver_destroy(names);
	symcache_cache_unref(c);
	symcache_store_close(from);
	symcache_store_close(s);
}

static int add_text(void *ctx, const char *data, size_t len)
{
	struct text *t = ctx;

	if (len > sizeof(t->bytes) - t->len - 1)
		return 1;
	memcpy(t->bytes + t->len, data, len);
	t->len += len;
	return 0;
}

static void filters(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	struct text out = { .len = 0 };
	const struct symcache_filter_options options = {
		sizeof(options), SYMCACHE_FILTER_TEXT, 2, add_text, NULL, &out,
	};
	struct symcache_filter *f;
	char log[1000], hex[2 * SYMCACHE_ID_MAX + 1];

	(void)state;
	for (size_t i = 0; i < id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", id[i]);
	snprintf(log, sizeof(log), "{{{reset}}}\n{{{module:0:self:elf:%s}}}\n"
		 "{{{mmap:0x10000000:0x40000000:load:0:rx:0x0}}}\nat {{{pc:0x%llx}}}\n", hex,
		 0x10000000ull + address_of_known(r, c));
	ok(symcache_filter_create(s, &options, &f, NULL));
	ok(symcache_filter_feed(f, log, 30, NULL));
	symcache_store_refresh(s);
	ok(symcache_filter_feed(f, log + 30, strlen(log) - 30, NULL));
	ok(symcache_filter_flush(f, NULL));
	assert_non_null(strstr(out.bytes, "known_function"));
	ok(symcache_filter_finish(f, NULL));
	ok(symcache_filter_end(f, NULL));
	symcache_filter_destroy(f);
	out.len = 0; /* a last line without newline, and no symcache_filter_finish() */
	ok(symcache_filter_create(s, &options, &f, NULL));
	ok(symcache_filter_feed(f, log, strlen(log) - 1, NULL));
	ok(symcache_filter_end(f, NULL));
	out.bytes[out.len] = 0;
	assert_non_null(strstr(out.bytes, "known_function"));
	symcache_filter_destroy(f);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

/* Is the function of a kernel's module found whose file is of a release, in a log of release
 * `said`? Its size is in the line: one of the first thousand is right. */
static int finds_kernel_module(struct symcache_store *s, const char *said)
{
	int found = 0;

	for (unsigned size = 2; size < 1000 && !found; size++) {
		struct text out = { .len = 0 };
		const struct symcache_filter_options options = {
			sizeof(options), SYMCACHE_FILTER_TEXT, 1, add_text, NULL, &out,
		};
		struct symcache_filter *f;
		char log[300];

		snprintf(log, sizeof(log), "CPU: 1 PID: 42 Comm: a Not tainted %s #1\n"
			 " known_function+0x2/0x%x [api_made]\n", said, size);
		ok(symcache_filter_create(s, &options, &f, NULL));
		ok(symcache_filter_feed(f, log, strlen(log), NULL));
		ok(symcache_filter_end(f, NULL));
		found = memmem(out.bytes, out.len, "testing.h", 9) != NULL;
		symcache_filter_destroy(f);
	}
	return found;
}

static void filters_kernel(void **state)
{
	static const uint8_t build_id[] = { 1, 2, 3 };
	const struct symcache_put_options put = { sizeof(put), build_id, 3,
		"/lib/modules/6.1.0-1-amd64/kernel/api-made.ko", NULL, 1 };
	struct symcache_store *from = open_a(0), *s;
	struct symcache_cache *c = get(from);

	(void)state;
	ok(symcache_store_open(in_dir("kernel.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	ok(symcache_store_put(s, c, &put, NULL));
	assert_true(finds_kernel_module(s, "6.1.0-1-amd64"));
	assert_false(finds_kernel_module(s, "6.1.0-2-amd64"));
	symcache_cache_unref(c);
	symcache_store_close(from);
	symcache_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_frames), cmocka_unit_test(finds_symbols),
		cmocka_unit_test(resolves),
		cmocka_unit_test(finds_explicitly),
		cmocka_unit_test(numbers_are_texts),
		cmocka_unit_test(caches_in_memory),
		cmocka_unit_test(begins_with_code),
		cmocka_unit_test(demangles),
		cmocka_unit_test(filters),
		cmocka_unit_test(filters_kernel),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* Structs of options: what their bounds are, what a program that was built with an older or a later header
 * gets; and that what cannot be written is said. */
#include <signal.h>
#include <stdbool.h>
#include <symcache-filter.h>
#include <symcache-process.h>
#include <sys/resource.h>

#include "libsymcache/api/testing.h"

static struct symcache_store *store;
static struct symcache_space *space;

static int write_nothing(void *ctx, const char *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
	return 0;
}

static int put_nothing(void *ctx, const void *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
	return 0;
}

static int on_located(void *ctx, size_t i, const struct symcache_located *l)
{
	(void)ctx, (void)i, (void)l;
	return 0;
}

static int on_frame(void *ctx, const struct symcache_walked_thread *t, const struct symcache_walked_frame *f)
{
	(void)ctx, (void)t, (void)f;
	return 0;
}

/* ---- calls: SYMCACHE_EINVAL, or anything else ---- */

static int make_resolver(const void *o)
{
	struct symcache_resolver *r;
	const int rc = symcache_resolver_create(o, &r, NULL);

	symcache_resolver_destroy(r);
	return rc;
}

static int make_space(const void *o)
{
	struct symcache_space *s;
	const int rc = symcache_space_create(o, &s, NULL);

	symcache_space_destroy(s);
	return rc;
}

static int make_filter(const void *o)
{
	struct symcache_filter *f;
	const int rc = symcache_filter_create(NULL, o, &f, NULL);

	symcache_filter_destroy(f);
	return rc;
}

static int make_cache(const void *o)
{
	struct symcache_cache *c;
	const int rc = symcache_make("/proc/self/exe", o, &c, NULL);

	symcache_cache_unref(c);
	return rc;
}

static int map(const void *o) { return symcache_space_add(space, o, NULL); }

static int symbolize(const void *o)
{
	return symcache_space_symbolize(space, o, on_located, NULL, NULL);
}

static int export(const void *o)
{
	return symcache_store_export_bundle(store, in_dir("o.tar.zst"), o, NULL, NULL);
}

static int profile(const void *o)
{
	return symcache_profile(store, "main;f 1\n", 9, o, NULL);
}

static int core(const void *o)
{
	return symcache_core_stacks("/proc/self/exe", o, on_frame, NULL, NULL);
}

static int trace(const void *o)
{
	return symcache_trace_stacks("/proc/self/exe", o, on_frame, NULL, NULL);
}

static int make_reader(const void *o)
{
	struct symcache_source_reader *r;
	const int rc = symcache_source_reader_create(o, &r, NULL);

	symcache_source_reader_destroy(r);
	return rc;
}

static int put(const void *o)
{
	struct symcache_cache *c = get(store);
	const int rc = symcache_store_put(store, c, o, NULL);

	symcache_cache_unref(c);
	return rc;
}

/* The largest value of fields that is known, one after the other. */
static const struct {
	const char *what;
	int (*call)(const void *options);
	size_t size;
	bool needed; /* NULL is refused */
	struct { size_t at, size; uint64_t most; } fields[2];
} structs[] = {
	{ "resolver", make_resolver, sizeof(struct symcache_resolver_options), false, {
		{ offsetof(struct symcache_resolver_options, flags), 4, 31 } } },
	{ "space", make_space, sizeof(struct symcache_space_options), false, {
		{ offsetof(struct symcache_space_options, flags), 4, 31 } } },
	{ "filter", make_filter, sizeof(struct symcache_filter_options), true, {
		{ offsetof(struct symcache_filter_options, format), 4, SYMCACHE_FILTER_LLVM },
		{ offsetof(struct symcache_filter_options, threads), 4, 256 } } },
	{ "make", make_cache, sizeof(struct symcache_make_options), false, {
		{ offsetof(struct symcache_make_options, flags), 4, 2 * SYMCACHE_MAKE_LOCALS - 1 } } },
	{ "mapped", map, sizeof(struct symcache_mapped), true, {
		{ offsetof(struct symcache_mapped, from), 4, SYMCACHE_OFFSET_VADDR },
		{ offsetof(struct symcache_mapped, build_id_len), 8, SYMCACHE_ID_MAX } } },
	{ "addresses", symbolize, sizeof(struct symcache_addresses), true, {
		{ offsetof(struct symcache_addresses, flags), 4, 1 } } },
	{ "export", export, sizeof(struct symcache_export_options), false, {
		{ offsetof(struct symcache_export_options, level), 4, 19 },
		{ offsetof(struct symcache_export_options, flags), 4, 1 } } },
	{ "profile", profile, sizeof(struct symcache_profile_options), true, {
		{ offsetof(struct symcache_profile_options, form), 4, SYMCACHE_PROFILE_HTML },
		{ offsetof(struct symcache_profile_options, flags), 4, 3 } } },
	{ "stacks", core, sizeof(struct symcache_stack_options), false, { { 0, 0, 0 } } },
	{ "trace", trace, sizeof(struct symcache_trace_options), true, { { 0, 0, 0 } } },
	{ "sources", make_reader, sizeof(struct symcache_source_options), false, { { 0, 0, 0 } } },
	{ "put", put, sizeof(struct symcache_put_options), true, {
		{ offsetof(struct symcache_put_options, build_id_len), 8, SYMCACHE_ID_MAX } } },
};

union options {
	size_t size;
	struct symcache_resolver_options resolver;
	struct symcache_space_options space;
	struct symcache_filter_options filter;
	struct symcache_make_options make;
	struct symcache_mapped mapped;
	struct symcache_addresses addresses;
	struct symcache_export_options export;
	struct symcache_profile_options profile;
	struct symcache_stack_options stacks;
	struct symcache_trace_options trace;
	struct symcache_put_options put;
	char bytes[256];
};

/* What is valid, and needed. */
static union options valid(int (*call)(const void *))
{
	static const uint64_t address = 1;
	static const uint8_t id_bytes[SYMCACHE_ID_MAX + 1] = { 1 };
	static const char *const module = "/proc/self/exe";
	union options o = { .bytes = { 0 } };

	if (call == make_filter)
		o.filter.write = write_nothing;
	else if (call == profile)
		o.profile.write = put_nothing;
	else if (call == map)
		o.mapped = (struct symcache_mapped){ .start = 1, .end = 2, .build_id = id_bytes };
	else if (call == trace)
		o.trace = (struct symcache_trace_options){ .modules = &module, .num_modules = 1 };
	else if (call == put)
		o.put = (struct symcache_put_options){ .build_id = id_bytes, .build_id_len = 2 };
	else if (call == symbolize)
		o.addresses = (struct symcache_addresses){ .list = &address, .num = 1 };
	return o;
}

static void bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(structs) / sizeof(*structs); i++) {
		int (*const call)(const void *) = structs[i].call;
		union options o = valid(call);

		print_message("%s\n", structs[i].what);
		assert_int_equal(call(NULL) == SYMCACHE_EINVAL, structs[i].needed);
		o.size = structs[i].size - 1;
		assert_int_equal(call(&o), SYMCACHE_EINVAL);
		o.size = structs[i].size;
		assert_int_not_equal(call(&o), SYMCACHE_EINVAL);
		o.size += 8; /* a later one, of which nothing new is used; something is */
		assert_int_not_equal(call(&o), SYMCACHE_EINVAL);
		o.bytes[structs[i].size + 7] = 1;
		assert_int_equal(call(&o), SYMCACHE_EINVAL);
		o.bytes[structs[i].size + 7] = 0;
		o.size -= 8;
		for (int k = 0; k < 2 && structs[i].fields[k].size; k++) {
			char *at = o.bytes + structs[i].fields[k].at;
			uint64_t value = structs[i].fields[k].most, was = 0;

			memcpy(&was, at, structs[i].fields[k].size);
			memcpy(at, &value, structs[i].fields[k].size);
			assert_int_not_equal(call(&o), SYMCACHE_EINVAL);
			value++;
			memcpy(at, &value, structs[i].fields[k].size);
			assert_int_equal(call(&o), SYMCACHE_EINVAL);
			memcpy(at, &was, structs[i].fields[k].size);
		}
		if (structs[i].needed) { /* without what is needed */
			memset(o.bytes + sizeof(size_t), 0, sizeof(o.bytes) - sizeof(size_t));
			assert_int_equal(call(&o) == SYMCACHE_EINVAL, call != symbolize);
		}
	}
}

/* Counts of a shorter struct are not written to. */
static void counts(void **state)
{
	struct symcache_counts n = { .size = sizeof(n) - 1, .done = 7 };
	const char *self = "/proc/self/exe";

	(void)state;
	assert_int_equal(symcache_store_index(store, &self, 1, NULL, &n, NULL), SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_export(store, in_dir("n"), NULL, &n, NULL), SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_import(store, in_dir("n"), NULL, &n, NULL), SYMCACHE_EINVAL);
	assert_int_equal(n.done, 7);
}

/* A store that cannot become larger: whoever writes learns it, and what was there stays. */
static void full(void **state)
{
	struct symcache_put_options put = { sizeof(put), (const uint8_t *)"\1\2", 2, "/x", NULL, 1 };
	struct symcache_counts n = { .size = sizeof(n) };
	const char *self = "/proc/self/exe";
	struct rlimit was, limit = { 1 << 20, 1 << 20 };
	struct symcache_store *s;
	struct symcache_cache *c = get(store);
	struct symcache_error err = { 0 };

	(void)state;
	ok(symcache_store_export(store, in_dir("all.tar.zst"), NULL, NULL, NULL));
	ok(symcache_store_open(in_dir("small.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &was);
	limit.rlim_max = was.rlim_max;
	limit.rlim_cur = 16 << 10;
	setrlimit(RLIMIT_FSIZE, &limit);
	assert_int_equal(symcache_store_index(s, &self, 1, NULL, &n, &err), SYMCACHE_EFULL);
	assert_int_equal(err.code, SYMCACHE_EFULL);
	assert_non_null(strstr(err.msg, "small.store"));
	assert_int_equal(n.done, 0);
	assert_int_equal(symcache_store_import(s, in_dir("all.tar.zst"), NULL, &n, &err), SYMCACHE_EFULL);
	assert_int_equal(n.done, 0);
	assert_int_equal(symcache_store_put(s, c, &put, &err), SYMCACHE_EFULL);
	assert_int_not_equal(symcache_store_export(store, in_dir("full.tar.zst"), NULL, &n, &err), 0);
	setrlimit(RLIMIT_FSIZE, &was);
	assert_int_not_equal(access(in_dir("full.tar.zst"), F_OK), 0);
	ok(symcache_store_put(s, c, &put, &err));
	symcache_cache_unref(c);
	symcache_store_close(s);
}

static int begin(void **state)
{
	if (set_up(state))
		return -1;
	store = open_a(SYMCACHE_STORE_WRITE);
	ok(symcache_space_create(NULL, &space, NULL));
	return 0;
}

static int finish(void **state)
{
	symcache_space_destroy(space);
	symcache_store_close(store);
	return tear_down(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds), cmocka_unit_test(counts), cmocka_unit_test(full),
	};

	return cmocka_run_group_tests(tests, begin, finish);
}

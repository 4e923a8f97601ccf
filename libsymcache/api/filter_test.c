/* Settings of filters, and what they found, by the public names. */
#include <symcache-filter.h>

#include "libsymcache/api/testing.h"

struct out {
	char text[1 << 16];
	size_t len;
};

static int write_out(void *ctx, const char *data, size_t len)
{
	struct out *o = ctx;

	assert_true(o->len + len < sizeof(o->text));
	memcpy(o->text + o->len, data, len);
	o->len += len;
	o->text[o->len] = 0;
	return 0;
}

static struct symcache_filter *filter(struct symcache_store *s, uint32_t format, struct out *o)
{
	const struct symcache_filter_options options = { sizeof(options), format, 0, write_out, NULL, o };
	struct symcache_filter *f;

	*o = (struct out){ .len = 0 };
	ok(symcache_filter_create(s, &options, &f, NULL));
	return f;
}

/* A stack of backtrace(): known_function in a module, and one that is nowhere. */
static const char *log_of(struct symcache_store *s, const char *module)
{
	static char log[512];
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	const unsigned long long at = address_of_known(r, c) - symcache_cache_load_base(c) + 2;

	snprintf(log, sizeof(log), "/x/%s(+0x%llx) [0x%llx]\n/x/none(+0x10) [0x7f0000000010]\n", module, at,
		 0x550000000000 + at);
	symcache_cache_unref(c);
	symcache_resolver_destroy(r);
	return log;
}

static void set_module(struct symcache_filter *f, const char *name)
{
	char text[2 * SYMCACHE_ID_MAX + 64];
	int n = snprintf(text, sizeof(text), "%s=", name);

	for (size_t i = 0; i < id_len; i++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%02x", id[i]);
	ok(symcache_filter_set(f, "module", text, NULL));
}

struct seen {
	size_t n;
	char name[64];
	uint32_t flags;
};

static void on_missing(void *ctx, const struct symcache_missing *m)
{
	struct seen *seen = ctx;

	seen->n++;
	seen->flags = m->flags;
	assert_true(m->frames >= 1 && m->name_len < sizeof(seen->name));
	memcpy(seen->name, m->name, m->name_len);
}

static void binds_modules(void **state)
{
	static struct out o;
	struct symcache_store *s = open_a(0);
	struct symcache_filter *f = filter(s, SYMCACHE_FILTER_TEXT, &o);
	struct symcache_filter_stats stats = { .size = 1 };
	struct seen seen = { 0 };
	const char *log = log_of(s, "other");

	(void)state;
	set_module(f, "else");
	set_module(f, "other");
	assert_int_equal(symcache_filter_get_stats(f, &stats, NULL), SYMCACHE_EINVAL);
	stats.size = sizeof(stats);
	ok(symcache_filter_get_stats(f, &stats, NULL));
	assert_int_equal(stats.bytes, 0);
	ok(symcache_filter_each_missing(f, on_missing, &seen, NULL));
	assert_int_equal(seen.n, 0);
	ok(symcache_filter_feed(f, log, strlen(log), NULL));
	ok(symcache_filter_end(f, NULL));
	assert_non_null(strstr(o.text, "known_function"));
	ok(symcache_filter_get_stats(f, &stats, NULL));
	assert_int_equal(stats.bytes, strlen(log));
	assert_true(stats.frames == 2 && stats.found == 1);
	ok(symcache_filter_each_missing(f, on_missing, &seen, NULL));
	assert_int_equal(seen.n, 1);
	assert_int_equal(symcache_filter_each_missing(f, NULL, NULL, NULL), SYMCACHE_EINVAL);
	assert_non_null(strstr(seen.name, "none"));
	assert_true(seen.flags & SYMCACHE_MISSING_MODULE);
	symcache_filter_destroy(f);
	f = filter(s, SYMCACHE_FILTER_TEXT, &o); /* without the setting */
	ok(symcache_filter_feed(f, log, strlen(log), NULL));
	ok(symcache_filter_end(f, NULL));
	assert_null(strstr(o.text, "known_function"));
	symcache_filter_destroy(f);
	symcache_store_close(s);
}

/* What was found stays, however often the store is refreshed meanwhile. */
static void keeps_what_it_found(void **state)
{
	static struct out o;
	const struct symcache_put_options put = { sizeof(put), (const uint8_t *)"\1\2\3", 3, "/x", NULL, 1 };
	struct symcache_store *from = open_a(0), *s;
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(from);
	const unsigned long long at = address_of_known(r, c);
	struct symcache_filter *f;
	size_t found = 0;
	char log[300];

	(void)state;
	make_store(in_dir("refreshed.store"));
	ok(symcache_store_open(in_dir("refreshed.store"), SYMCACHE_STORE_WRITE, &s, NULL));
	ok(symcache_store_put(s, c, &put, NULL));
	f = filter(s, SYMCACHE_FILTER_TEXT, &o);
	for (unsigned i = 0; i < 4; i++) {
		const unsigned long long begin = i % 2 ? 0x90000000 : 0x10000000;
		int n = 0;

		if (i < 2) {
			n = snprintf(log, sizeof(log), "{{{module:%u:m%u:elf:", i, i);
			for (size_t k = 0; k < (i ? put.build_id_len : id_len); k++)
				n += snprintf(log + n, sizeof(log) - (size_t)n, "%02x",
					      (i ? put.build_id : id)[k]);
			n += snprintf(log + n, sizeof(log) - (size_t)n,
				      "}}}\n{{{mmap:0x%llx:0x40000000:load:%u:rx:0x0}}}\n", begin, i);
		}
		snprintf(log + n, sizeof(log) - (size_t)n, "at {{{pc:0x%llx}}}\n", begin + at + i / 2);
		ok(symcache_filter_feed(f, log, strlen(log), NULL));
		ok(symcache_filter_flush(f, NULL));
		symcache_store_refresh(s);
		c = (symcache_cache_unref(c), get(s));
	}
	ok(symcache_filter_end(f, NULL));
	for (const char *p = o.text; (p = strstr(p, "known_function")); p++)
		found++;
	assert_int_equal(found, 4);
	symcache_filter_destroy(f);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_store_close(from);
	symcache_resolver_destroy(r);
}

static void counts_groups(void **state)
{
	static struct out o;
	struct symcache_store *s = open_a(0);
	struct symcache_filter *f = filter(s, SYMCACHE_FILTER_TEXT, &o);
	const char *log = log_of(s, "filter_test");

	(void)state;
	ok(symcache_filter_set(f, "group", "yes", NULL));
	for (size_t i = 0; i < 3; i++) { /* in pieces a stack goes on, but not to the next log */
		const size_t first = i * strlen(log) / 3;

		ok(symcache_filter_feed(f, log, first, NULL));
		ok(symcache_filter_feed(f, log + first, strlen(log) - first, NULL));
		ok(symcache_filter_finish(f, NULL));
	}
	assert_int_equal(o.len, 0);
	ok(symcache_filter_end(f, NULL));
	assert_non_null(strstr(o.text, "3 stacks in 1 group"));
	assert_non_null(strstr(o.text, "known_function"));
	symcache_filter_destroy(f);
	symcache_store_close(s);
}

static void takes_settings(void **state)
{
	static struct out o;
	static const struct { const char *name, *value; int rc; } cases[] = {
		{ "dialect", "llvm", 0 }, { "dialect", "fuchsia", 0 }, { "dialect", "default", 0 },
		{ "dialect", "x", SYMCACHE_EINVAL }, { "input", "sanitizer", 0 },
		{ "input", "no such", SYMCACHE_EINVAL }, { "demux", "", 0 }, { "demux", "^([0-9]+) ", 0 },
		{ "demux", "(", SYMCACHE_EINVAL }, { "module", "a=0123", 0 },
		{ "module", "a=012", SYMCACHE_EINVAL }, { "module", "a=xy", SYMCACHE_EINVAL },
		{ "module", "=0123", SYMCACHE_EINVAL }, { "map-path", "/a=/b", 0 },
		{ "map-path", "/a", SYMCACHE_EINVAL }, { "link", "x://{path}", 0 },
		{ "group", "no", SYMCACHE_EINVAL }, { "none", "", SYMCACHE_EINVAL },
		{ NULL, "", SYMCACHE_EINVAL }, { "link", NULL, SYMCACHE_EINVAL },
	};
	struct symcache_filter *f = filter(NULL, SYMCACHE_FILTER_TEXT, &o);
	struct symcache_error err;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(symcache_filter_set(f, cases[i].name, cases[i].value, &err), cases[i].rc);
	ok(symcache_filter_feed(f, "x\n", 2, NULL));
	assert_int_equal(symcache_filter_set(f, "demux", "", &err), SYMCACHE_EINVAL);
	ok(symcache_filter_end(f, NULL));
	assert_string_equal(o.text, "x\n");
	symcache_filter_destroy(f);
	f = filter(NULL, SYMCACHE_FILTER_JSON, &o);
	assert_int_equal(symcache_filter_set(f, "dialect", "llvm", &err), SYMCACHE_EINVAL);
	ok(symcache_filter_set(f, "dialect", "default", &err));
	symcache_filter_destroy(f);
}

static int add_to_page(void *ctx, const char *data, size_t len)
{
	strncat(ctx, data, len);
	return 0;
}

/* A page has the frames, and what they link to. */
static void writes_pages(void **state)
{
	static char page[1 << 20];
	struct symcache_store *s = open_a(0);
	const struct symcache_filter_options options = { sizeof(options), SYMCACHE_FILTER_HTML, 0, add_to_page, NULL, page };
	const char *log = log_of(s, "filter_test");
	struct symcache_filter *f;

	(void)state;
	for (int with = 0; with < 2; with++) {
		*page = 0;
		ok(symcache_filter_create(s, &options, &f, NULL));
		if (with) {
			ok(symcache_filter_set(f, "link", "x://{path}#{line}", NULL));
			ok(symcache_filter_set(f, "map-path", "/one=/two", NULL));
			ok(symcache_filter_set(f, "map-path", "/three=/four", NULL));
		}
		ok(symcache_filter_feed(f, log, strlen(log), NULL));
		ok(symcache_filter_end(f, NULL));
		assert_non_null(strstr(page, "known_function"));
		assert_int_equal(!!strstr(page, "x://{path}#{line}"), with);
		assert_int_equal(!!strstr(page, "/two"), with);
		assert_int_equal(!!strstr(page, "/four"), with);
		symcache_filter_destroy(f);
	}
	symcache_store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(binds_modules), cmocka_unit_test(counts_groups),
		cmocka_unit_test(keeps_what_it_found),
		cmocka_unit_test(takes_settings), cmocka_unit_test(writes_pages),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

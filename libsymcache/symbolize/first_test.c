/*
 * First answers of a file that is not in the store: this test program itself. When they are
 * given, that they are those of the whole cache, and when that is made and stored.
 */
#include "libsymcache/symbolize/symbolize.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

static const char self[] = "/proc/self/exe";
static uint64_t code[64]; /* addresses in it */

struct asking {
	struct symcache_caches *caches;
	struct symcache_names *names;
	struct symcache_symbolizer *s;
	struct symcache_module *m;
};

static struct asking begin(struct symcache_caches_options options)
{
	static const struct symcache_names_options outermost = {
		.table = SYMCACHE_TABLE_OUTERMOST };
	struct asking a = { symcache_caches_create(&options), symcache_names_create(&outermost) };

	a.s = symcache_symbolizer_create(a.caches, a.names);
	a.m = symcache_caches_module(a.caches, SYMCACHE_MODULE_FILE, self);
	return a;
}

static void end(struct asking *a)
{
	symcache_symbolizer_destroy(a->s);
	symcache_names_destroy(a->names);
	symcache_caches_destroy(a->caches);
}

/* All that is said about the code at `vaddr`. */
static char *ask(struct asking *q, uint64_t vaddr)
{
	struct symcache_answer a;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "%d", symcache_symbolize(q->s, q->m, vaddr, &a));
	for (size_t i = 0; i < a.num_frames; i++) {
		const struct sc_frame *f = &a.frames[i];
		const struct symcache_start start = symcache_symbolize_start(q->s, &a, i);

		fprintf(out, "\n%.*s %.*s:%u:%u %u %llx %u", (int)f->function.len,
			f->function.ptr ? f->function.ptr : "", (int)f->file.len,
			f->file.ptr ? f->file.ptr : "", f->line, f->column,
			symcache_symbolize_discriminator(q->s, &a, i),
			(unsigned long long)start.vaddr, start.line);
	}
	fclose(out);
	return text;
}

static void open_for(struct asking *q, const uint64_t *vaddrs, size_t n)
{
	const struct symcache *cache;
	struct sc_error err;

	if (symcache_module_cache_at(q->m, vaddrs, n, &cache, NULL, &err))
		fail_msg("%s", err.msg);
	assert_true(!n || cache);
}

static void expect_same(struct asking *first, struct asking *whole, uint64_t vaddr)
{
	char *a = ask(first, vaddr), *b = ask(whole, vaddr);

	assert_string_equal(a, b);
	free(a);
	free(b);
}

static int setup(void **state)
{
	struct asking whole = begin((struct symcache_caches_options){ 0 });
	const struct symcache *cache;
	struct sc_error err;
	uint32_t n;

	(void)state;
	if (symcache_module_cache(whole.m, &cache, NULL, &err))
		return -1;
	n = cache->header->num_ranges;
	for (size_t i = 0; i < 64; i++)
		code[i] = symcache_load_base(cache) + cache->ranges[n / 64 * i];
	end(&whole);
	return 0;
}

/* One by one, some at once, some again; then the whole cache is there, and right, too. */
static void test_answers(void **state)
{
	struct asking first = begin((struct symcache_caches_options){ 0 }),
		      whole = begin((struct symcache_caches_options){ 0 });
	size_t asked = 0;

	(void)state;
	open_for(&first, NULL, 0);
	assert_false(symcache_module_is_open(first.m));
	open_for(&first, code, 1);
	open_for(&first, code, 3);
	open_for(&first, code, 3); /* costs nothing */
	assert_false(symcache_module_is_open(first.m));
	for (size_t i = 0; i < 3; i++)
		expect_same(&first, &whole, code[i]);
	assert_false(symcache_module_is_open(first.m));
	for (; !symcache_module_is_open(first.m) && asked < 64; asked++) {
		open_for(&first, &code[asked], 1);
		expect_same(&first, &whole, code[asked]);
	}
	assert_in_range(asked, 4, 16);
	for (size_t i = 0; i < 64; i++)
		expect_same(&first, &whole, code[i]);
	end(&first);
	end(&whole);
}

/* Many at once, another address than was announced, another question: the whole cache. */
static void test_whole(void **state)
{
	for (int how = 0; how < 3; how++) {
		struct asking q = begin((struct symcache_caches_options){ 0 });
		struct symcache_shown_data data;

		open_for(&q, code, how ? 1 : 40);
		assert_int_equal(symcache_module_is_open(q.m), !how);
		if (how == 1)
			free(ask(&q, code[20]));
		else if (how == 2)
			symcache_symbolize_data(q.s, q.m, (uint64_t)(uintptr_t)code, &data);
		assert_true(symcache_module_is_open(q.m));
		end(&q);
	}
	(void)state;
}

/* How many addresses have a first answer: those that are the same count once, and those that have one not at
 * all. */
static void test_limits(void **state)
{
	static const struct { size_t first, n; bool doubled, whole; } cases[] = {
		{ 0, 32, false, false }, { 0, 33, false, true }, { 0, 32, true, false }, { 20, 52, false, false },
		{ 20, 53, false, true }, { 1, 0, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct asking q = begin((struct symcache_caches_options){ 0 });
		uint64_t list[128];
		size_t n = 0;

		for (int again = 0; again <= cases[i].doubled; again++)
			for (size_t k = 0; k < cases[i].n; k++)
				list[n++] = code[k];
		if (cases[i].first)
			open_for(&q, list, cases[i].first);
		if (n)
			open_for(&q, list, n);
		if (symcache_module_is_open(q.m) != cases[i].whole || symcache_module_is_first(q.m) == cases[i].whole)
			fail_msg("case %zu", i);
		end(&q);
	}
}

static unsigned open_files(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 200; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* A log may name more files than a process may have open. */
static void test_closed(void **state)
{
	const unsigned before = open_files();

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct asking q = begin((struct symcache_caches_options){ 0 });

		open_for(&q, code, 1);
		end(&q);
		assert_int_equal(open_files(), before);
	}
}

/* Where files are to be stored, the whole cache is, when nobody waits. */
static void test_stored(void **state)
{
	char dir[] = "/tmp/symcache-first-XXXXXX", store[64], rm[64];
	struct symcache_caches_options options = { .store = store, .store_files = true };
	struct asking q;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(store, sizeof(store), "%s/a.store", dir);
	q = begin(options);
	open_for(&q, code, 1);
	assert_false(symcache_module_is_open(q.m));
	assert_int_not_equal(access(store, F_OK), 0);
	symcache_caches_update(q.caches);
	assert_true(symcache_module_is_open(q.m));
	end(&q);
	assert_int_equal(access(store, F_OK), 0);
	q = begin(options);
	open_for(&q, code, 1);
	assert_true(symcache_module_is_open(q.m)); /* the store's */
	end(&q);
	/* Not of a file that was asked for nothing, nor where nothing is to be stored. */
	for (int how = 0; how < 3; how++) {
		unlink(store);
		options.memory_only = how == 1;
		options.store_files = how < 2;
		q = begin(options);
		open_for(&q, code, how ? 1 : 0);
		symcache_caches_update(q.caches);
		assert_false(symcache_module_is_open(q.m));
		end(&q);
		assert_int_not_equal(access(store, F_OK), 0);
	}
	snprintf(rm, sizeof(rm), "rm -r %s", dir);
	assert_int_equal(system(rm), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_whole), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_closed), cmocka_unit_test(test_stored),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}

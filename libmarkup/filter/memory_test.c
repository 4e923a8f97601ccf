/*
 * Filters that run out of memory: each allocation fails once. Then an error comes, or the refusal
 * is counted, or the output is what it would have been.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"
#include "libsymcache/base/error.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
int main(void)
{
	printf("skipped: sanitizers have allocations of their own\n");
	return 0;
}
#else

static _Atomic long left = -1; /* allocations until one fails; negative: none does */

static bool is_refused(void)
{
	return left >= 0 && left-- == 0;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

void *malloc(size_t size)
{
	return is_refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return is_refused() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return is_refused() ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	return realloc(p, n * size);
}

struct form { struct markup_options options; unsigned threads; };

/* What the tests keep does not count as memory of the filter. */
static int keep(void *ctx, const char *data, size_t len)
{
	const long before = left;

	left = -1;
	fake_append(ctx, data, len);
	left = before;
	return 0;
}

/* Runs a filter with the allocation `fails` failing; returns whether that was reported. *ran: so
 * many allocations came before the end. */
static bool run(const struct form *form, const struct fake_text *log, long fails,
		struct fake_text *out, long *ran)
{
	const struct markup_resolver resolver = case_resolver(false);
	const struct markup_resolver resolvers[] = { resolver, resolver, resolver };
	struct markup_groups *g = NULL;
	const unsigned long refusals = sc_memory_refusals();
	struct markup_filter *f = NULL;
	int rc;

	left = fails;
	rc = form->options.group ? markup_groups_create(&g) : 0;
	const struct markup_sink sink = { g ? (void *)g : out, g ? markup_groups_take : keep };
	if (!rc)
		rc = markup_filter_create(&form->options, resolvers, form->threads, &sink, &f);
	if (!rc) {
		markup_filter_input(f, "log");
		rc = markup_filter_feed(f, log->buf, log->len);
	}
	if (!rc)
		rc = markup_filter_finish(f);
	if (!rc)
		rc = markup_filter_end(f);
	if (!rc && g)
		rc = markup_groups_write(g, form->options.format, false, keep, out);
	*ran = fails - left;
	left = -1;
	markup_filter_destroy(f);
	markup_groups_destroy(g);
	return rc || sc_memory_refusals() != refusals;
}

static void check(const struct form *form, const struct fake_text *log)
{
	struct fake_text want = { 0 };
	long ran, all, refused = 0;

	assert_false(run(form, log, 1 << 30, &want, &all));
	assert_in_range(all, 10, 5000);
	for (long fails = 0; fails < all; fails++) {
		struct fake_text got = { 0 };
		const bool reported = run(form, log, fails, &got, &ran);

		if (!reported && (got.len != want.len || memcmp(got.buf, want.buf, got.len)))
			fail_msg("allocation %ld of %ld: output is lost, and nothing is said", fails, all);
		refused += reported;
		free(got.buf);
	}
	assert_true(refused);
	free(want.buf);
}

static void test_forms(void **state)
{
	static const struct form forms[] = {
		{ { .dialect = MARKUP_DEFAULT }, 1 }, { { .color = MARKUP_COLOR_ON, .demux = "" }, 1 },
		{ { .dialect = MARKUP_LLVM }, 1 }, { { .dialect = MARKUP_FUCHSIA }, 1 },
		{ { .format = MARKUP_JSON, .collect_dumpfiles = true }, 1 }, { { .format = MARKUP_HTML, .title = "t" }, 1 },
		{ { .group = true }, 1 }, { { .group = true, .format = MARKUP_HTML }, 1 },
	};
	static const char *const logs[] = { "page", "every-format", "elements" };

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++) {
		struct fake_text log = { 0 };

		read_case("logs", logs[i], ".log", &log);
		for (size_t k = 0; k < sizeof(forms) / sizeof(*forms); k++)
			check(&forms[k], &log);
		free(log.buf);
	}
}

/* Of several threads some output waits for its turn. */
static void test_threads(void **state)
{
	static const struct form form = { { .dialect = MARKUP_DEFAULT }, 3 };
	struct fake_text log = { 0 };
	char line[100];

	(void)state;
	fake_append(&log, line, (size_t)sprintf(line, "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0x1000}}}\n"));
	for (int i = 0; i < 8000; i++)
		fake_append(&log, line, (size_t)sprintf(line, "[1] {{{bt:1:0x10501:pc:msg}}} x\n"));
	check(&form, &log);
	free(log.buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_forms), cmocka_unit_test(test_threads) };

	return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
#endif

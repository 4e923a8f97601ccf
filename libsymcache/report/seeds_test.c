/* What is shown of each seed of the fuzz targets, and of damaged ones: trace files, with a module at
 * the addresses of their frames, and caches; in all forms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/report/testing.h"
#include "libsymcache/report/report.h"

enum { FILE_NUMBER = 99 };

static void put_out(FILE *to, struct mk_out *out)
{
	assert_int_equal(out->error, 0);
	if (out->len)
		fwrite(out->buf, 1, out->len, to);
	mk_out_deinit(out);
}

/* ---- trace files -------------------------------------------------------------------------- */

/* Without the name of the file, which is another one each time. */
static void complain(void *ctx, const char *message)
{
	fprintf(ctx, "%s\n", strchr(message, ' ') + 1);
}

static void put_trace(FILE *to, const char *path, const char *module, struct markup_trace_options o)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_process *images = symcache_process_create(
		&(struct symcache_finder){ .find = find_cache, .caches = caches });
	struct mk_out out = { 0 };
	struct markup_traced done;
	struct sc_error err;

	if (symcache_process_load(images, module, &err))
		fail_msg("%s", err.msg);
	o.images = images;
	o.caches = caches;
	o.names = names;
	o.complain = complain;
	o.ctx = to;
	if (markup_trace_report(path, &o, &out, &done, &err))
		fprintf(to, "%d %s\n", err.code, err.msg);
	put_out(to, &out);
	fprintf(to, "%" PRIu64 " frames, %u faults, unplaced %zu %d, pc %" PRIx64 "\n", done.frames,
		done.faults, done.unplaced, done.by_gdb, done.first_pc);
	symcache_process_destroy(images);
	symcache_names_destroy(names);
	symcache_caches_destroy(caches);
}

/* As tfile_fuzz.c: the first byte is not part of the file. */
static void trace_of(const uint8_t *bytes, size_t size, FILE *to)
{
	const struct symtrace_select all = { 0 };
	struct symtrace_select some = { 0 };
	char path[32];
	const int fd = testing_memfd(bytes + !!size, size - !!size, path);

	/* The number is shown. */
	assert_int_equal(dup2(fd, FILE_NUMBER), FILE_NUMBER);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", FILE_NUMBER);
	assert_int_equal(symtrace_select_add(&some, SYMTRACE_BY_LINE, "main.c:10", NULL), 0);
	put_trace(to, path, "/proc/self/exe",
		  (struct markup_trace_options){ .select = &all, .backtrace = true });
	put_trace(to, path, "/proc/self/exe@1000",
		  (struct markup_trace_options){ .select = &all,
						 .registers = true,
						 .hexdump = true,
						 .order = SYMTRACE_ORDER_BIG });
	put_trace(to, path, "/proc/self/exe@5555000",
		  (struct markup_trace_options){ .select = &all,
						 .json = true,
						 .registers = true,
						 .hexdump = true,
						 .backtrace = true });
	put_trace(to, path, "/proc/self/exe@1000",
		  (struct markup_trace_options){ .select = &all, .summary = true });
	put_trace(to, path, "/proc/self/exe",
		  (struct markup_trace_options){
			  .select = &all, .json = true, .summary = true, .named = true });
	put_trace(to, path, "/proc/self/exe",
		  (struct markup_trace_options){ .select = &some, .named = true });
	symtrace_select_deinit(&some);
	close(FILE_NUMBER);
	close(fd);
}

/* ---- caches --------------------------------------------------------------------------------- */

static bool not_valid(void *ctx, const char *fault)
{
	(void)fault;
	*(bool *)ctx = false;
	return false;
}

static void cache_of(const uint8_t *bytes, size_t size, FILE *to)
{
	void *aligned = aligned_alloc(8, (size + 8) & ~(size_t)7);
	struct symcache cache;
	struct sc_error err;
	bool ok = true;

	memcpy(aligned, bytes, size);
	if (symcache_open(&cache, aligned, size, &err))
		fprintf(to, "%d %s\n", err.code, err.msg);
	else if (symcache_verify(&cache, not_valid, &ok), !ok)
		fprintf(to, "not valid\n");
	else
		for (unsigned lists = 0; lists < 2 * MARKUP_CACHE_UNWIND;
		     lists = lists ? lists * 2 : 1)
			for (unsigned form = 0; form < 3; form++) {
				struct mk_out out = { 0 };

				markup_cache_report(
					&cache,
					&(struct markup_cache_options){ .json = form == 1,
									.raw = form == 2,
									.lists = lists },
					&out, &err);
				put_out(to, &out);
			}
	free(aligned);
}

static void test_traces(void **state)
{
	static const char *const seeds[] = { "tfile", NULL };

	(void)state;
	expect_answers("trace_shown", seeds, 24, trace_of);
}

static void test_caches(void **state)
{
	static const char *const seeds[] = { "read", NULL };

	(void)state;
	expect_answers("cache_shown", seeds, 0, cache_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traces),
		cmocka_unit_test(test_caches),
	};

	return cmocka_run_group_tests(tests, set_up_cache, tear_down_cache);
}

/* What comes out of each seed of the fuzz targets, in each form, and out of damaged ones: the
 * texts, and the messages of what is malformed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/profile/testing.h"

static void put_counts(const struct symprofiler *p, FILE *to)
{
	struct symprofile_counts c;

	symprofiler_counts(p, &c);
	fprintf(to,
		"; %" PRIu64 " samples, %" PRIu64 " locations, %" PRIu64 " of %" PRIu64
		" found, %" PRIu64 " named, %" PRIu64 " nowhere",
		c.samples, c.locations, c.found, c.looked_up, c.named, c.nowhere);
}

static void put_missing(struct symprofiler *p, FILE *to)
{
	size_t n;
	const struct symprofile_missing *m = symprofiler_missing(p, &n);

	for (size_t i = 0; i < n; i++)
		fprintf(to, "; %s %s is missing: %" PRIu64 " samples, %" PRIu64 " locations",
			m[i].name, m[i].id, m[i].samples, m[i].locations);
}

/* In one form. False: an error, which is the same in all of them. */
static bool put_form(const struct symprofile_options *options, const char *what,
		     const uint8_t *bytes, size_t size, FILE *to)
{
	struct symprofiler *p = prof_profiler(*options);
	struct symprofile_output out;
	struct sc_error err;
	const bool ok = !symprofiler_run(p, bytes, size, &out, &err);
	char *joined = ok ? prof_joined(&out) : NULL;

	if (!ok) {
		fprintf(to, "%s: %d %s\n", what, err.code, err.msg);
	} else {
		const bool page = options->form == SYMPROFILE_HTML;
		const char *body = page ? strstr(joined, "<section class=head") : joined;

		/* Of a page what is neither its style nor its script. */
		fprintf(to, "%s: %s ", what, out.text ? "text" : "binary");
		put_digest(to, body,
			   page ? strlen(body) - strlen(strstr(body, "</script>")) : out.size);
		put_counts(p, to);
		put_missing(p, to);
		if (options->form == SYMPROFILE_FOLDED)
			fprintf(to, "\n%s", joined);
		fputc('\n', to);
	}
	free(joined);
	symprofiler_destroy(p);
	return ok || err.code != SC_EFORMAT;
}

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	static const char *const own[] = { "prog", NULL }, *const maps[] = { "/opt=/src", NULL };
	static const struct {
		const char *what;
		struct symprofile_options options;
	} forms[] = {
		{ "folded", { .form = SYMPROFILE_FOLDED, .count = true } },
		{ "own", { .form = SYMPROFILE_OWN } },
		{ "pprof", { .form = SYMPROFILE_PPROF, .force = true } },
		{ "jeprof",
		  { .form = SYMPROFILE_JEPROF, .how = SYMPROFILE_LINKAGE, .count = true } },
		{ "page",
		  { .form = SYMPROFILE_HTML,
		    .own = own,
		    .link = "vscode://file/%f:%l",
		    .path_maps = maps } },
		{ "behind calls",
		  { .form = SYMPROFILE_FOLDED,
		    .return_addresses = true,
		    .how = SYMPROFILE_SHORT } },
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (!put_form(&forms[i].options, forms[i].what, bytes, size, to))
			break;
}

static void test_answers(void **state)
{
	static const char *const seeds[] = { "folded", "legacy", "otlp", "perf", "pprof", NULL };

	(void)state;
	expect_answers("profile", seeds, 48, answer);
}

/* What a profiler puts out or says. */
static char *run_by(struct symprofiler *p, const uint8_t *bytes, size_t size, size_t *len)
{
	struct symprofile_output out;
	struct sc_error err;
	char *ret, *joined;
	FILE *to = open_memstream(&ret, len);

	if (symprofiler_run(p, bytes, size, &out, &err)) {
		fprintf(to, "%d %s", err.code, err.msg);
	} else {
		joined = prof_joined(&out);
		fwrite(joined, 1, out.size, to);
		free(joined);
	}
	fclose(to);
	return ret;
}

static struct symprofiler *kept[3];

static void run_again(const uint8_t *bytes, size_t size, FILE *to)
{
	(void)to;
	for (int form = 0; form < 3; form++) {
		static const enum symprofile_form forms[] = { SYMPROFILE_OWN, SYMPROFILE_FOLDED, SYMPROFILE_JEPROF };
		const struct symprofile_options options = { .form = forms[form], .count = true };
		struct symprofiler *fresh = prof_profiler(options);
		size_t len, fresh_len;

		if (!kept[form])
			kept[form] = prof_profiler(options);
		char *got = run_by(kept[form], bytes, size, &len), *want = run_by(fresh, bytes, size, &fresh_len);

		assert_int_equal(len, fresh_len);
		assert_memory_equal(got, want, len);
		free(got);
		free(want);
		symprofiler_destroy(fresh);
	}
}

/* A profiler that has read others before gives what a fresh one does; counts alone add up. */
static void test_one_after_another(void **state)
{
	static const char *const seeds[] = { "perf", "folded", "legacy", "otlp", "pprof", "perf" };
	char *text;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(seeds) / sizeof(*seeds); i++)
		put_seeds(to, seeds[i], &(struct damages){ 8, NULL }, run_again);
	for (int form = 0; form < 3; form++)
		symprofiler_destroy(kept[form]);
	fclose(to);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_one_after_another),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}

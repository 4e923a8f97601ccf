/*
 * What each format finds in the lines of logs, of samples and of the seeds of the fuzz targets, and in
 * damaged ones: see testing.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"

#include "libmarkup/input/frames_samples.h"
#include "libmarkup/input/testing.h"

/* Of each line what the formats find, one after the other. */
static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	const char *p = (const char *)bytes, *end = p + size, *eol;
	struct mk_line l = { .part = MK_LINE_WHOLE, .newline = "\n" };

	for (; p < end; p = eol) {
		const char *newline = memchr(p, '\n', (size_t)(end - p));

		eol = newline ? newline + 1 : end;
		l.p = p;
		l.len = (size_t)(eol - p);
		put_line(to, &l, newline ? newline : end);
	}
	fputc('\n', to);
	free(l.events);
}

static void test_answers(void **state)
{
	static const struct { const char *corpus; unsigned damages; } corpora[] = {
		{ "../logs", 64 }, { "input", 32 }, { "parse", 8 },
	};
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(corpora) / sizeof(*corpora); i++)
		put_seeds(to, corpora[i].corpus, &(struct damages){ corpora[i].damages, NULL }, answer);
	for (size_t i = 0; i < sizeof(frame_samples) / sizeof(*frame_samples); i++) {
		fprintf(to, "== %s\n", frame_samples[i].line);
		put_answers(to, (const uint8_t *)frame_samples[i].line, strlen(frame_samples[i].line),
			    &(struct damages){ 32, NULL }, answer);
	}
	fclose(to);
	expect_recorded("input", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

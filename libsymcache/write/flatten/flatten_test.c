/* Unit tests of flattening: the cases of flatten_cases_test.h. */
#include "libsymcache/write/flatten/flatten.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "libsymcache/write/flatten/flat_check.h"
#include "libsymcache/write/flatten/flatten_cases_test.h"
#include "libsymcache/write/flatten/scene.h"

/* A result in the notation of the cases. */
static char *show(const struct scene *s, const struct sc_flat *flat)
{
	static const char *const kinds[] = { "lines", "stray", "function" };
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	for (size_t i = 0; i < flat->pieces.len; i++) {
		const struct sc_piece *p = &flat->pieces.data[i];

		fprintf(out, "%s %" PRIx64 "-%" PRIx64 "\n", kinds[p->kind], p->start, p->end);
		for (size_t k = 0; k < p->num_ranges; k++) {
			const struct sc_flat_range *r = &flat->ranges.data[p->first_range + k];
			fprintf(out, "  %" PRIx64 " ", s->base + r->start);
			scene_location(s, &r->loc, out);
			fprintf(out, "\n");
		}
	}
	if (flat->merged)
		fprintf(out, "merged %" PRIu64 "\n", flat->merged);
	if (flat->too_far)
		fprintf(out, "too far %" PRIu64 "\n", flat->too_far);
	fclose(out);
	return text;
}

static void test_case(void **state)
{
	const struct flatten_case *c = *state;
	struct sc_flat flat = {0};
	struct scene s;
	char *got;

	scene_init(&s, c->in);
	assert_true(scene_flatten(&s, &flat));
	if (s.num_units == 1)
		check_flat(&flat, s.base, 0, 0);
	got = show(&s, &flat);
	assert_string_equal(got, c->out);
	free(got);
	sc_flat_deinit(&flat);
	scene_deinit(&s);
}

int main(void)
{
	const size_t n = sizeof(cases) / sizeof(*cases);
	struct CMUnitTest tests[sizeof(cases) / sizeof(*cases)];

	for (size_t i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){ cases[i].name, test_case, NULL, NULL,
						(void *)(uintptr_t)&cases[i] };
	return cmocka_run_group_tests(tests, NULL, NULL);
}

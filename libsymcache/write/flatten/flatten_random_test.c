/* Random scenes are flattened and compared with the definition, address by address. */
#include "libsymcache/write/flatten/flatten.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/write/flatten/flat_check.h"
#include "libsymcache/write/flatten/scene.h"

#define LOW 0x100u
#define HIGH 0x160u

static struct dw_range random_range(uint64_t *seed)
{
	uint32_t start = LOW + testing_below(seed, HIGH - LOW - 1);

	return (struct dw_range){ start, start + 1 + testing_below(seed, HIGH - start) };
}

static void random_unit(uint64_t *seed, struct dw_facts *u)
{
	static const char *const names[] = { "f", "g", "h", "i", "j", "k", "l", "m" };
	uint32_t scopes = testing_below(seed, 9), sequences = testing_below(seed, 4);

	for (int i = 0; i < 3; i++)
		vec_push(&u->files)->name = names[i];
	for (uint32_t i = 0; i < scopes; i++) {
		struct dw_scope *s = vec_push(&u->scopes);

		s->name = names[i % 8];
		s->parent = i && testing_below(seed, 3) ? testing_below(seed, i) : DW_NONE;
		s->call_file = testing_below(seed, 3);
		s->call_line = testing_below(seed, 3);
		s->decl_file = DW_NONE;
		s->first_range = (uint32_t)u->ranges.len;
		s->num_ranges = 1 + testing_below(seed, 3);
		for (uint32_t k = 0; k < s->num_ranges; k++)
			*vec_push(&u->ranges) = random_range(seed);
		s->entry_vaddr = i;
	}
	for (uint32_t i = 0; i < sequences; i++) {
		struct dw_range r = random_range(seed);
		struct dw_sequence *q = vec_push(&u->sequences);

		*q = (struct dw_sequence){ r.start, r.end, (uint32_t)u->rows.len, 0 };
		for (uint64_t at = r.start; at < r.end; at += testing_below(seed, 8)) {
			*vec_push(&u->rows) = (struct dw_row){
				at, testing_below(seed, 4), testing_below(seed, 3), 0
			};
			q->num_rows++;
		}
	}
}

/* The function around scope i. */
static uint32_t function_of(const struct dw_facts *u, uint32_t i)
{
	while (u->scopes.data[i].parent < i)
		i = u->scopes.data[i].parent;
	return i;
}

/* The range of scope i that covers vaddr and starts last, of these the shortest. */
static const struct dw_range *covering(const struct dw_facts *u, uint32_t i, uint64_t vaddr)
{
	const struct dw_scope *s = &u->scopes.data[i];
	const struct dw_range *best = NULL;

	for (uint32_t k = 0; k < s->num_ranges; k++) {
		const struct dw_range *r = &u->ranges.data[s->first_range + k];
		if (r->start <= vaddr && vaddr < r->end &&
		    (!best || r->start > best->start ||
		     (r->start == best->start && r->end < best->end)))
			best = r;
	}
	return best;
}

/* The scope that flatten.h promises for vaddr, or DW_NONE. */
static uint32_t scope_by_definition(const struct dw_facts *u, uint64_t vaddr)
{
	uint32_t function = DW_NONE, scope = DW_NONE;
	const struct dw_range *best = NULL;

	for (uint32_t i = 0; i < u->scopes.len; i++) {
		const struct dw_range *r = covering(u, i, vaddr);
		if (function_of(u, i) != i || !r)
			continue;
		if (!best || r->start > best->start ||
		    (r->start == best->start && r->end <= best->end)) {
			best = r;
			function = i;
		}
	}
	for (uint32_t i = 0; i < u->scopes.len; i++)
		if (covering(u, i, vaddr) &&
		    (function == DW_NONE || function_of(u, i) == function))
			scope = i; /* the last one wins */
	return scope;
}

static const struct dw_row *row_by_definition(const struct dw_facts *u, uint64_t vaddr)
{
	const struct dw_sequence *best = NULL;
	const struct dw_row *row = NULL;

	for (uint32_t i = 0; i < u->sequences.len; i++) {
		const struct dw_sequence *q = &u->sequences.data[i];
		if (q->start <= vaddr && vaddr < q->end &&
		    (!best || q->start > best->start ||
		     (q->start == best->start && q->end < best->end)))
			best = q;
	}
	for (uint32_t k = 0; best && k < best->num_rows; k++)
		if (u->rows.data[best->first_row + k].vaddr <= vaddr)
			row = &u->rows.data[best->first_row + k];
	return row;
}

static char *expected(const struct dw_facts *u, uint64_t vaddr)
{
	uint32_t scope = scope_by_definition(u, vaddr);
	const struct dw_row *row = row_by_definition(u, vaddr);
	uint32_t file = row ? row->file : DW_NONE, line = row ? row->line : 0;
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (scope == DW_NONE && row)
		fprintf(out, "- %s:%u", file < 3 ? u->files.data[file].name : "-", line);
	while (scope != DW_NONE) {
		const struct dw_scope *s = &u->scopes.data[scope];

		fprintf(out, "%s %s:%u", s->name, file < 3 ? u->files.data[file].name : "-", line);
		if (s->parent >= scope)
			break;
		fprintf(out, " < ");
		file = s->call_file;
		line = s->call_line;
		scope = s->parent;
	}
	fclose(out);
	return text;
}

static char *at(const struct scene *s, const struct sc_flat *flat, uint64_t vaddr)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	const struct sc_flat_range *found = NULL;

	for (size_t i = 0; i < flat->pieces.len; i++) {
		const struct sc_piece *p = &flat->pieces.data[i];
		for (size_t k = 0; k < p->num_ranges; k++)
			if (p->start <= vaddr && vaddr < p->end &&
			    s->base + flat->ranges.data[p->first_range + k].start <= vaddr)
				found = &flat->ranges.data[p->first_range + k];
	}
	if (found)
		scene_location(s, &found->loc, out);
	fclose(out);
	return text;
}

static void test_random(void **state)
{
	(void)state;
	for (uint32_t run = 0; run < 3000; run++) {
		uint64_t seed = run;
		struct sc_flat flat = {0};
		struct scene s;

		scene_init(&s, "");
		random_unit(&seed, &s.units[0]);
		assert_true(scene_flatten(&s, &flat));
		check_flat(&flat, s.base, 0, 0);
		for (uint64_t vaddr = LOW - 1; vaddr < HIGH + 2; vaddr++) {
			char *want = expected(&s.units[0], vaddr), *got = at(&s, &flat, vaddr);

			if (strcmp(want, got))
				fail_msg("scene %u at 0x%" PRIx64 ": '%s', not '%s'", run, vaddr,
					 got, want);
			free(want);
			free(got);
		}
		sc_flat_deinit(&flat);
		scene_deinit(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_random) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

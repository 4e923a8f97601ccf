/* What two threads found, put together: units_add.c. */
#include "libsymcache/write/units.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/write/flatten/scene.h"

struct giving {
	struct scene *scene;
	size_t at;
	const char *const *faults; /* of each unit; NULL: none */
};

/* The units of a scene, one by one. */
static int give(void *ctx, struct dw_facts *ret, struct sc_error *err)
{
	struct giving *g = ctx;
	const size_t i = g->at++;

	dw_facts_deinit(ret);
	memset(ret, 0, sizeof(*ret));
	if (i == g->scene->num_units)
		return SC_ENOTFOUND;
	*ret = g->scene->units[i];
	memset(&g->scene->units[i], 0, sizeof(*ret));
	ret->entries = 10 + i;
	return g->faults[i] ? sc_error_set(err, SC_EFORMAT, "%s", g->faults[i]) : 0;
}

static void read_scene(struct scene *s, const char *text, const char *const *faults, struct sc_units *ret)
{
	const struct sc_flatten_env env = { NULL, 0, scene_code_end, scene_symbol_at, s };
	struct giving g = { s, 0, faults };
	struct dw_facts *u;

	scene_init(s, text);
	u = &s->units[s->num_units - 1];
	*vec_push(&u->variables) = (struct dw_variable){ s->names.data[0], 0x5000 + s->names.len, 4, 0, 77 };
	*vec_push(&u->variables) = (struct dw_variable){ "v\xe9", 0x6000, 8, DW_NONE, 0 };
	assert_int_equal(sc_units_each(give, &g, &env, ret, NULL), 0);
}

static const char *named(const struct sc_tables *t, uint32_t name)
{
	return name == SC_NONE ? "-" : t->strings.data[name].ptr;
}

static void put_units(FILE *to, const struct sc_units *u)
{
	const struct sc_tables *t = &u->tables;
	const struct scene shown = { .tables = (struct sc_tables *)t };

	fprintf(to, "%" PRIu64 " units, %" PRIu64 " bad, number %zu: %s; %" PRIu64 " entries, %" PRIu64 " rows, %" PRIu64
		" facts, %" PRIu64 " merged, %" PRIu64 " too far, not UTF-8 %d\n", u->count, u->bad, u->first_bad,
		u->first_fault.msg, u->entries, u->rows, u->facts, u->flat.merged, u->flat.too_far, t->not_utf8);
	for (size_t i = 0; i < u->flat.ranges.len; i++) {
		fprintf(to, "%" PRIx32 " ", u->flat.ranges.data[i].start);
		scene_location(&shown, &u->flat.ranges.data[i].loc, to);
		fputc('\n', to);
	}
	for (size_t k = 0; k < u->flat.more.len; k++)
		for (size_t i = 0; i < u->flat.more.data[k].ranges.len; i++) {
			struct sc_flat_range r = u->flat.more.data[k].ranges.data[i];

			sc_location_move(&r.loc, &u->flat.more.data[k].maps);
			fprintf(to, "part %zu: %" PRIx32 " ", k + 1, r.start);
			scene_location(&shown, &r.loc, to);
			fputc('\n', to);
		}
	for (size_t i = 0; i < u->data.variables.len; i++) {
		const struct sc_data_variable *v = &u->data.variables.data[i];

		fprintf(to, "variable %s %" PRIx64 " %" PRIu64 " of unit %" PRIu32 ", %s:%" PRIu32 "\n", named(t, v->name),
			v->vaddr, v->size, v->unit, v->decl_file == SC_NONE ? "-" :
			named(t, t->files.data[v->decl_file].name), v->decl_line);
	}
	for (size_t i = 0; i < u->flat.inlined.len; i++) {
		const struct sc_inlined *in = &u->flat.inlined.data[i];

		fprintf(to, "call ");
		scene_location(&shown, &t->calls.data[in->call], to);
		fprintf(to, " from %" PRIx32 " starts %" PRIx32 "\n", in->from, in->start);
	}
}

static const char one[] =
	"code 100-10000\ncode 180000000-180001000\nfn far 180000010-180000020\nfn f 100-200\n  in g 120-140 a.c:3\n    in h 120-130 b.h:9:2\nseq 100 a.c:1, 120 b.h:2, 130 b.h:2, 150 a.c:4, 200 end\n"
	"unit\nfn k 300-320\nseq 300 c.c:1, 310 c.c:1, 320 end\n";
static const char other[] =
	"code 100-10000\ncode 180000000-180001000\nfn far 180000030-180000040\nfn x 400-500\n  in g 420-440 a.c:3\n  in y 460-470 z.h:5\nseq 400 z.h:1, 440 a.c:2, 500 end\n"
	"unit\nfn f 600-610 a.c:1\n  in h 600-604 q.c:8\nunit\nfn w 700-708\nseq 700 w.c:5, 704 w.c:5, 708 end\n";

static void test_add(void **state)
{
	static const char *const faults[][2][3] = {
		{ { NULL, NULL }, { NULL, NULL, NULL } }, { { NULL, "one 1" }, { "other 0", NULL, "other 2" } },
		{ { "one 0", "one 1" }, { NULL, "other 1" } }, { { NULL, NULL }, { NULL, "other 1" } },
		{ { NULL, NULL }, { NULL, "other 1" } }, { { NULL, "one 1" }, { NULL, NULL } },
	};
	size_t len;
	char *got;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
		struct scene scenes[2];
		struct sc_units units[2];

		read_scene(&scenes[0], one, faults[i][0], &units[0]);
		read_scene(&scenes[1], other, faults[i][1], &units[1]);
		assert_true(sc_units_add(&units[i % 2], &units[1 - i % 2]));
		fprintf(to, "== %zu\n", i);
		put_units(to, &units[i % 2]);
		for (int k = 0; k < 2; k++) {
			sc_units_deinit(&units[k]);
			scene_deinit(&scenes[k]);
		}
	}
	fclose(to);
	expect_recorded("units_added", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

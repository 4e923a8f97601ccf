/* What was found in profiles, and what the store lacks: see summary.h. */
#include "cmd/profile/summary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cli/shown.h"

static int by_name(const void *a, const void *b)
{
	const struct symprofile_missing *x = a, *y = b;
	const int order = strcmp(x->name, y->name);

	return order ? order : strcmp(x->id, y->id);
}

/* Those that hide most come first. */
static int by_samples(const void *a, const void *b)
{
	const struct symprofile_missing *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	if (x->locations != y->locations)
		return x->locations < y->locations ? 1 : -1;
	return by_name(a, b);
}

typedef VEC(struct symprofile_missing) missing_list;

/* Equal ones of several profilers become one. */
static void add_up(missing_list *list)
{
	size_t kept = 0;

	if (!list->len)
		return;
	qsort(list->data, list->len, sizeof(*list->data), by_name);
	for (size_t i = 1; i < list->len; i++) {
		if (by_name(&list->data[kept], &list->data[i])) {
			list->data[++kept] = list->data[i];
			continue;
		}
		list->data[kept].samples += list->data[i].samples;
		list->data[kept].locations += list->data[i].locations;
	}
	list->len = kept + 1;
	qsort(list->data, list->len, sizeof(*list->data), by_samples);
}

static void gather(struct symprofiler *const profilers[], size_t n,
		   struct symprofile_counts *sum, missing_list *missing)
{
	for (size_t i = 0; i < n; i++) {
		const struct symprofile_missing *list;
		struct symprofile_counts c;
		size_t num;

		if (!profilers[i])
			continue;
		symprofiler_counts(profilers[i], &c);
		sum->samples += c.samples;
		sum->locations += c.locations;
		sum->looked_up += c.looked_up;
		sum->found += c.found;
		sum->named += c.named;
		sum->nowhere += c.nowhere;
		list = symprofiler_missing(profilers[i], &num);
		for (size_t k = 0; k < num; k++)
			*must_push(missing) = list[k];
	}
	add_up(missing);
}

static void print_json(const struct symprofile_counts *c, const missing_list *missing)
{
	struct mk_gen *j = out_json_open(false);

	mk_gen_number(j, "samples", c->samples);
	mk_gen_number(j, "locations", c->locations);
	mk_gen_number(j, "looked_up", c->looked_up);
	mk_gen_number(j, "found", c->found);
	mk_gen_number(j, "named_already", c->named);
	mk_gen_number(j, "in_no_mapping", c->nowhere);
	mk_gen_open_array(j, "missing");
	for (size_t i = 0; i < missing->len; i++) {
		const struct symprofile_missing *m = &missing->data[i];

		mk_gen_open_map(j, NULL);
		mk_gen_number(j, "samples", m->samples);
		mk_gen_number(j, "locations", m->locations);
		mk_gen_text(j, "build_id", m->id);
		mk_gen_text(j, "name", m->name);
		mk_gen_close_map(j);
	}
	mk_gen_close_array(j);
	out_json_close(j);
}

static void print_text(const struct symprofile_counts *c, const missing_list *missing)
{
	cmd_error("%llu sample%s, %llu location%s: %llu looked up, %llu found, %llu named already, "
		  "%llu in no mapping%s", (unsigned long long)c->samples, c->samples == 1 ? "" : "s",
		  (unsigned long long)c->locations, c->locations == 1 ? "" : "s",
		  (unsigned long long)c->looked_up, (unsigned long long)c->found,
		  (unsigned long long)c->named, (unsigned long long)c->nowhere,
		  missing->len ? "; not in the store, by samples:" : "");
	for (size_t i = 0; i < missing->len; i++)
		fprintf(stderr, "%8llu  %-40s  %s\n",
			(unsigned long long)missing->data[i].samples,
			*missing->data[i].id ? shown(missing->data[i].id) : "no build ID",
			*missing->data[i].name ? shown(missing->data[i].name) : "(no name)");
}

void print_profile_summary(struct symprofiler *const profilers[], size_t n, bool json)
{
	struct symprofile_counts c = { 0 };
	missing_list missing = { 0 };

	gather(profilers, n, &c, &missing);
	(json ? print_json : print_text)(&c, &missing);
	vec_deinit(&missing);
}

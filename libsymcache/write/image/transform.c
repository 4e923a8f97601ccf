/*
 * Names and places → what the caller makes of them: see transform.h.
 *
 * A callback is asked once for each name and for each pair of a file and a line;
 * answers are kept by the numbers of the tables. Records change in place. Ranges
 * that have become equal to the one before them go, as in flatten/assemble.c.
 */
#include "libsymcache/write/image/transform.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#define UNASKED 0xfffffffeu

struct spot {
	uint32_t file, line;         /* the question */
	uint32_t new_file, new_line; /* the answer */
	bool no_column;
};

struct pass {
	const struct symcache_transform *list;
	size_t n;
	struct sc_tables *t;
	uint32_t *names;   /* of each string that there was: its new number, or UNASKED */
	VEC(struct spot) spots;
	struct sc_intern spot_set;
};

static void pass_deinit(struct pass *p)
{
	free(p->names);
	vec_deinit(&p->spots);
	sc_intern_deinit(&p->spot_set);
}

static const char *string(const struct sc_tables *t, uint32_t number)
{
	return number == SC_NONE ? NULL : t->strings.data[number].ptr;
}

static bool change_name(struct pass *p, uint32_t *name)
{
	const char *old = string(p->t, *name), *new = old;
	uint32_t *memo;

	if (!old)
		return true;
	memo = &p->names[*name];
	if (*memo == UNASKED) {
		for (size_t i = 0; i < p->n; i++)
			if (p->list[i].name)
				new = p->list[i].name(p->list[i].ctx, new);
		*memo = *name;
		/* A name is never lost: an empty answer does not count. */
		if (new && *new && new != old && !sc_table_passing_string(p->t, new, memo))
			return false;
	}
	*name = *memo;
	return true;
}

/* True: changed. */
static bool ask(const struct pass *p, struct symcache_place *place)
{
	bool changed = false;

	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].place)
			changed |= p->list[i].place(p->list[i].ctx, place);
	return changed && place->name && *place->name;
}

static bool new_spot(struct pass *p, struct spot *s)
{
	const struct sc_file *old = &p->t->files.data[s->file];
	struct symcache_place place = {
		string(p->t, old->comp_dir), string(p->t, old->dir), string(p->t, old->name),
		.line = s->line,
	};
	struct sc_file file;

	s->new_file = s->file;
	s->new_line = s->line;
	if (!ask(p, &place))
		return true;
	s->new_line = place.line;
	s->no_column = place.no_column;
	return sc_table_passing_string(p->t, place.comp_dir, &file.comp_dir) &&
	       sc_table_passing_string(p->t, place.dir, &file.dir) &&
	       sc_table_passing_string(p->t, place.name, &file.name) &&
	       sc_table_file_record(p->t, &file, &s->new_file);
}

struct spot_key {
	const struct pass *p;
	uint32_t file, line;
};

static bool same_spot(const void *ctx, uint32_t i)
{
	const struct spot_key *k = ctx;
	const struct spot *s = &k->p->spots.data[i];

	return s->file == k->file && s->line == k->line;
}

/* `column` may be NULL. */
static bool change_place(struct pass *p, uint32_t *file, uint32_t *line, uint32_t *column)
{
	struct spot_key key = { p, *file, *line };
	uint32_t question[2] = { *file, *line }, *slot;
	struct spot *s;

	if (*file == SC_NONE)
		return true;
	slot = sc_intern_find(&p->spot_set, XXH3_64bits(question, sizeof(question)), same_spot,
			      &key);
	if (!slot)
		return false;
	if (*slot == SC_INTERN_NEW) {
		s = vec_push(&p->spots);
		if (!s)
			return false;
		*slot = (uint32_t)p->spots.len - 1;
		s->file = *file;
		s->line = *line;
		if (!new_spot(p, s))
			return false;
	}
	s = &p->spots.data[*slot];
	*file = s->new_file;
	*line = s->new_line;
	if (column && s->no_column)
		*column = 0;
	return true;
}

/* The file of a symbol is a name alone. */
static bool change_symbol_file(struct pass *p, uint32_t *file)
{
	struct symcache_place place = { .name = string(p->t, *file) };

	return !place.name || !ask(p, &place) || place.comp_dir || place.dir ||
	       sc_table_passing_string(p->t, place.name, file);
}

/* Ranges that become equal become one. */
static bool change_ranges(struct pass *p, struct sc_final *from)
{
	__attribute__((cleanup(sc_final_deinit))) struct sc_final to = { 0 };
	const struct sc_discriminator *d = from->discriminators.data;
	const struct sc_discriminator *end = vec_end(&from->discriminators);

	if (!vec_reserve(&to.ranges, from->ranges.len))
		return false;
	for (size_t i = 0; i < from->ranges.len; i++) {
		struct sc_final_range r = from->ranges.data[i];
		const bool more = i + 1 < from->ranges.len;

		if (!change_place(p, &r.loc.file, &r.loc.line, &r.loc.column))
			return false;
		if (!to.ranges.len ||
		    !sc_same_place(&to.ranges.data[to.ranges.len - 1].loc, &r.loc))
			to.ranges.data[to.ranges.len++] = r;
		else if (!sc_final_discriminate(&to, r.start, r.loc.discriminator))
			return false;
		for (; d < end && (!more || d->start < from->ranges.data[i + 1].start); d++)
			if (!sc_final_discriminate(&to, d->start, d->value))
				return false;
	}
	const struct sc_final old = *from;
	*from = to;
	to = old;
	return true;
}

bool sc_transform(const struct symcache_transform *list, size_t n, struct sc_tables *t,
		  struct sc_final *ranges, struct sc_data *data, struct sc_locals *locals)
{
	__attribute__((cleanup(pass_deinit))) struct pass p = { .list = list, .n = n, .t = t };
	size_t num_names = t->strings.len;
	bool ok = true;

	p.names = malloc((num_names + 1) * sizeof(*p.names));
	if (!p.names)
		return false;
	for (size_t i = 0; i < num_names; i++)
		p.names[i] = UNASKED;
	for (size_t i = 0; ok && i < t->functions.len; i++) {
		struct sc_function *f = &t->functions.data[i];

		ok = change_name(&p, &f->name) && change_name(&p, &f->qualified) &&
		     change_place(&p, &f->decl_file, &f->decl_line, NULL);
	}
	for (size_t i = 0; ok && i < t->calls.len; i++) {
		struct sc_location *l = &t->calls.data[i];

		ok = change_place(&p, &l->file, &l->line, &l->column);
	}
	for (size_t i = 0; ok && i < data->symbols.list.len; i++) {
		struct sc_data_symbol *s = &data->symbols.list.data[i];

		ok = change_name(&p, &s->name) &&
		     change_place(&p, &s->decl_file, &s->decl_line, NULL);
	}
	for (size_t i = 0; ok && i < data->table.list.len; i++) {
		struct sc_table_symbol *s = &data->table.list.data[i];

		ok = change_name(&p, &s->name) && change_symbol_file(&p, &s->file);
	}
	for (size_t i = 0; ok && i < data->aliases.list.len; i++)
		ok = change_name(&p, &data->aliases.list.data[i].name);
	for (size_t i = 0; ok && i < locals->list.len; i++) {
		struct symcache_ext_local *l = &locals->list.data[i];

		ok = change_place(&p, &l->file_idx, &l->line, NULL);
	}
	return ok && change_ranges(&p, ranges);
}

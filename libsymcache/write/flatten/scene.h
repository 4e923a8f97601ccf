/*
 * Scenes: facts written in a compact text, for the tests of flattening and
 * assembling. Included by tests only.
 *
 *   code 100-1000             where code can be (default: 100-10000)
 *   base 0                    the load base (default: 0)
 *   fn f 100-200,300-340      a function and its ranges; "-": no name
 *     in g 120-180 a:12:3     inlined into what stands one level further out
 *     fn nested 190-1a0       a function within a function
 *   seq 100 a:1, 110 a:2:7, 200 end
 *   sym 400-440 label         a symbol
 *   unit                      what follows belongs to a further unit
 *
 * One fact a line, two spaces of indent a level; numbers in hexadecimal but for
 * lines and columns. A place is FILE:LINE[:COLUMN], "?" an unknown file, and a
 * call site that is left out is unknown. Two names may be equal.
 *
 * What comes out is written in the same way, see scene_location().
 */
#ifndef SC_SCENE_H
#define SC_SCENE_H

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format/symcache_format.h"
#include "libsymcache/write/flatten/assemble.h"

#define SCENE_UNITS 4
#define SCENE_DEPTH 64

struct scene {
	struct dw_facts units[SCENE_UNITS];
	size_t num_units;
	VEC(struct dw_range) code;
	VEC(struct sc_code_symbol) symbols;
	VEC(char *) names; /* each name once: facts borrow their strings */
	uint64_t base;
	struct sc_tables *tables;
};

static inline const char *scene_name(struct scene *s, const char *name)
{
	char **slot;

	for (size_t i = 0; i < s->names.len; i++)
		if (!strcmp(s->names.data[i], name))
			return s->names.data[i];
	slot = vec_push(&s->names);
	*slot = strdup(name);
	return *slot;
}

/* "a:12:3" → file, line, column; NULL is unknown. */
static inline void scene_place(struct scene *s, struct dw_facts *u, const char *text,
			       uint32_t *file, uint32_t *line, uint32_t *column)
{
	char name[64];
	const char *known;
	int n;

	*file = DW_NONE;
	*line = *column = 0;
	if (!text)
		return;
	n = sscanf(text, "%63[^:]:%" SCNu32 ":%" SCNu32, name, line, column);
	assert(n >= 2);
	if (!strcmp(name, "?"))
		return;
	known = scene_name(s, name);
	for (*file = 0; *file < u->files.len; ++*file)
		if (u->files.data[*file].name == known)
			return;
	vec_push(&u->files)->name = known;
}

static inline void scene_range(const char *text, uint64_t *start, uint64_t *end)
{
	int n = sscanf(text, "%" SCNx64 "-%" SCNx64, start, end);

	assert(n == 2);
}

static inline void scene_scope(struct scene *s, struct dw_facts *u, bool inlined, uint32_t parent,
			       char *words)
{
	char *rest, *name = strtok_r(words, " ", &rest), *ranges = strtok_r(NULL, " ", &rest);
	struct dw_scope *scope = vec_push(&u->scopes);

	scope->name = strcmp(name, "-") ? scene_name(s, name) : NULL;
	scope->parent = inlined ? parent : DW_NONE;
	scope->first_range = (uint32_t)u->ranges.len;
	scope->lang = 0x0c; /* DW_LANG_C99 */
	scope->decl_file = DW_NONE;
	scene_place(s, u, strtok_r(NULL, " ", &rest), &scope->call_file, &scope->call_line,
		    &scope->call_column);
	for (char *r = strtok_r(ranges, ",", &rest); r && *r != '-';
	     r = strtok_r(NULL, ",", &rest)) {
		struct dw_range *range = vec_push(&u->ranges);
		scene_range(r, &range->start, &range->end);
		scope->num_ranges++;
	}
	if (scope->num_ranges)
		scope->entry_vaddr = u->ranges.data[scope->first_range].start;
}

static inline void scene_sequence(struct scene *s, struct dw_facts *u, char *rows)
{
	struct dw_sequence *seq = vec_push(&u->sequences);
	char *rest;

	seq->first_row = (uint32_t)u->rows.len;
	for (char *r = strtok_r(rows, ",", &rest); r; r = strtok_r(NULL, ",", &rest)) {
		char place[64];
		struct dw_row row = {0};
		int n = sscanf(r, "%" SCNx64 " %63s", &row.vaddr, place);

		assert(n == 2);
		if (!strcmp(place, "end")) {
			seq->end = row.vaddr;
			continue;
		}
		scene_place(s, u, place, &row.file, &row.line, &row.column);
		*vec_push(&u->rows) = row;
		seq->num_rows++;
	}
	seq->start = u->rows.data[seq->first_row].vaddr;
}

static inline void scene_init(struct scene *s, const char *text)
{
	uint32_t around[SCENE_DEPTH] = {0}; /* the scope last seen at each level */
	char *copy = strdup(text), *rest;

	memset(s, 0, sizeof(*s));
	s->num_units = 1;
	s->tables = calloc(1, sizeof(*s->tables));
	for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		struct dw_facts *u = &s->units[s->num_units - 1];
		size_t level = strspn(line, " ") / 2;
		char *what = line + strspn(line, " "), *words = what + strcspn(what, " ");

		if (*words)
			*words++ = 0;
		assert(level < SCENE_DEPTH);
		if (!strcmp(what, "fn") || !strcmp(what, "in")) {
			scene_scope(s, u, *what == 'i', level ? around[level - 1] : DW_NONE,
				    words);
			around[level] = (uint32_t)u->scopes.len - 1;
		} else if (!strcmp(what, "own")) {
			struct dw_range *r = vec_push(&u->ranges);
			scene_range(words, &r->start, &r->end);
			u->num_covers++;
		} else if (!strcmp(what, "seq")) {
			scene_sequence(s, u, words);
		} else if (!strcmp(what, "code")) {
			struct dw_range *r = vec_push(&s->code);
			scene_range(words, &r->start, &r->end);
		} else if (!strcmp(what, "sym")) {
			struct sc_code_symbol *sym = vec_push(&s->symbols);
			scene_range(words, &sym->start, &sym->end);
			sym->name = scene_name(s, strchr(words, ' ') + 1);
		} else if (!strcmp(what, "base")) {
			s->base = strtoull(words, NULL, 16);
		} else {
			assert(!strcmp(what, "unit") && s->num_units < SCENE_UNITS);
			s->num_units++;
		}
	}
	if (!s->code.len)
		*vec_push(&s->code) = (struct dw_range){ 0x100, 0x10000 };
	free(copy);
}

static inline void scene_deinit(struct scene *s)
{
	for (size_t i = 0; i < s->num_units; i++)
		dw_facts_deinit(&s->units[i]);
	for (size_t i = 0; i < s->names.len; i++)
		free(s->names.data[i]);
	vec_deinit(&s->names);
	vec_deinit(&s->code);
	vec_deinit(&s->symbols);
	sc_tables_deinit(s->tables);
	free(s->tables);
}

static inline uint64_t scene_code_end(const void *ctx, uint64_t vaddr)
{
	const struct scene *s = ctx;

	for (size_t i = 0; i < s->code.len; i++)
		if (vaddr >= s->code.data[i].start && vaddr < s->code.data[i].end)
			return s->code.data[i].end;
	return 0;
}

static inline const char *scene_symbol_at(const void *ctx, uint64_t vaddr)
{
	const struct scene *s = ctx;

	for (size_t i = 0; i < s->symbols.len; i++)
		if (s->symbols.data[i].start == vaddr)
			return s->symbols.data[i].name;
	return NULL;
}

/* Flattens all units of the scene into `flat`. */
static inline bool scene_flatten(struct scene *s, struct sc_flat *flat)
{
	struct sc_flatten_env env = { s->tables, s->base, scene_code_end, scene_symbol_at, s };
	struct sc_flattener *f = sc_flattener_create(&env);
	bool ok = f;

	for (size_t i = 0; ok && i < s->num_units; i++)
		ok = sc_flatten(f, &s->units[i], flat);
	sc_flattener_destroy(f);
	return ok;
}

/* "g a:2:7 < f a:12:3": innermost first; a function or file that is not there
 * is "-", a function without a name "?", no source location at all ".". */
static inline void scene_location(const struct scene *s, const struct sc_location *l, FILE *out)
{
	const struct sc_tables *t = s->tables;

	for (;; l = &t->calls.data[l->inlined_into]) {
		uint32_t name = l->function == SC_NONE ? SC_NONE :
						t->functions.data[l->function].name;

		if (l->line == SC_NONE) {
			fprintf(out, ".");
			return;
		}
		fprintf(out, "%s %s:%" PRIu32, l->function == SC_NONE ? "-" :
			name == SC_NONE ? "?" : t->strings.data[name].ptr,
			l->file == SC_NONE ? "-" :
			t->strings.data[t->files.data[l->file].name].ptr, l->line);
		if (l->column)
			fprintf(out, ":%" PRIu32, l->column);
		if (l->inlined_into == SC_NONE)
			return;
		fprintf(out, " < ");
	}
}

#endif

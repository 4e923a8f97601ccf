/*
 * core_places.c: what is at an address, as text; see core.h. The stacks of a thousand
 * threads are made of a few hundred places: each is looked up, demangled and escaped once.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/core/core.h"

struct core_places {
	struct symcache_names *names;
	struct symcache_symbolizer *symbolizer;
	struct core_place **slots; /* open addressing, at most half full */
	size_t size, used;
};

struct core_places *core_places_create(struct core_modules *modules)
{
	struct core_places *p = must_calloc(1, sizeof(*p));

	p->names = must(symcache_names_create(NULL));
	p->symbolizer = must(symcache_symbolizer_create(core_modules_caches(modules), p->names));
	p->size = 1024;
	p->slots = must_calloc(p->size, sizeof(*p->slots));
	return p;
}

void core_places_destroy(struct core_places *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->size; i++) {
		struct core_place *place = p->slots[i];

		for (size_t k = 0; place && k < place->num_rows; k++) {
			free(place->rows[k].function);
			free(place->rows[k].file);
			free(place->rows[k].json);
		}
		free(place ? place->rows : NULL);
		free(place);
	}
	free(p->slots);
	symcache_symbolizer_destroy(p->symbolizer);
	symcache_names_destroy(p->names);
	free(p);
}

static char *text_of(struct symcache_str s, const char *unknown)
{
	return s.ptr ? must_asprintf("%.*s", (int)s.len, s.ptr) : unknown ? must_asprintf("%s", unknown) : NULL;
}

static void add_row(struct core_place *place, const struct symcache_shown_frame *f)
{
	struct core_row *row;

	place->rows = must_realloc(place->rows, (place->num_rows + 1) * sizeof(*place->rows));
	row = &place->rows[place->num_rows++];
	*row = (struct core_row){ .function = text_of(f->function, NULL), .file = text_of(f->file, ""),
				  .line = f->line, .column = f->column };
}

/* The members of a JSON object, with a comma in front. */
static void describe_row(const struct core_place *place, struct core_row *row)
{
	struct json_gen *j = json_gen_create_memory();
	const struct core_module *module = place->module;

	json_gen_open_map(j, NULL);
	if (module) {
		json_gen_text(j, "module", module->name);
		json_gen_text(j, "build_id", module->id);
		if (module->cache)
			json_gen_hex(j, "address", place->rel_pc + symcache_load_base(module->cache));
	}
	if (row->function)
		json_gen_text(j, "function", row->function);
	if (*row->file) {
		json_gen_text(j, "file", row->file);
		json_gen_number(j, "line", row->line);
		json_gen_number(j, "column", row->column);
	}
	json_gen_bool(j, "inlined", row + 1 < place->rows + place->num_rows);
	json_gen_close_map(j);
	row->json = json_gen_take(j);
	row->json[0] = ',';
	row->json_len = strlen(row->json) - 1;
}

static struct core_place *make_place(struct core_places *p, const struct core_frame *frame)
{
	struct core_place *place = must_calloc(1, sizeof(*place));
	const struct symcache *cache = frame->module ? frame->module->cache : NULL;
	struct symcache_shown_frame only = { 0 };
	struct symcache_answer answer = { 0 };
	struct symcache_symbol symbol;

	place->module = frame->module;
	place->rel_pc = frame->rel_pc;
	if (cache)
		symcache_symbolize(p->symbolizer, frame->module->source,
				   frame->rel_pc + symcache_load_base(cache), &answer);
	for (size_t i = 0; i < answer.num_frames; i++)
		add_row(place, &answer.frames[i]);
	if (!place->num_rows && cache && symcache_lookup_symbol(cache, frame->rel_pc, &symbol) && symbol.size)
		only.function = symcache_show_name(p->symbolizer, symbol.name, SYMCACHE_LANG_SYMTAB);
	if (!place->num_rows)
		add_row(place, &only);
	for (size_t i = 0; i < place->num_rows; i++)
		describe_row(place, &place->rows[i]);
	return place;
}

/* Where a place is, or belongs. */
static struct core_place **find_slot(const struct core_places *p, const struct core_module *module,
				     uint64_t rel_pc)
{
	size_t at = (rel_pc ^ (uintptr_t)module) * 0x9e3779b97f4a7c15u >> 20;

	for (at &= p->size - 1; p->slots[at] && (p->slots[at]->rel_pc != rel_pc ||
	     p->slots[at]->module != module); at = (at + 1) & (p->size - 1))
		;
	return &p->slots[at];
}

const struct core_place *core_places_get(struct core_places *p, const struct core_frame *frame)
{
	struct core_place **slot = find_slot(p, frame->module, frame->rel_pc);

	if (*slot)
		return *slot;
	if (p->used++ * 2 >= p->size) {
		struct core_places larger = { .size = p->size * 2 };

		larger.slots = must_calloc(larger.size, sizeof(*larger.slots));
		for (size_t i = 0; i < p->size; i++)
			if (p->slots[i])
				*find_slot(&larger, p->slots[i]->module, p->slots[i]->rel_pc) = p->slots[i];
		free(p->slots);
		p->slots = larger.slots;
		p->size = larger.size;
		slot = find_slot(p, frame->module, frame->rel_pc);
	}
	*slot = make_place(p, frame);
	return *slot;
}

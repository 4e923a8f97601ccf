/*
 * Places, remembered: see places.h. A table in which a place has one slot and drives
 * out what was there; it is emptied when it holds very many inlined functions.
 */
#include "libsymcache/symbolize/places.h"

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/text.h"

#define SLOT_BITS 13
#define SLOTS (1u << SLOT_BITS)
#define FRAMES_HELD_MAX 200000 /* of all; with their texts some 50 MB */

struct symcache_places {
	struct symcache_symbolizer *symbolizer;
	bool symbols;
	size_t frames_held;
	struct symcache_code_place code[SLOTS];
	struct symcache_data_place data[SLOTS];
};

struct symcache_places *symcache_places_create(struct symcache_caches *caches,
					       struct symcache_names *names, bool symbols)
{
	struct symcache_places *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->symbols = symbols;
	p->symbolizer = symcache_symbolizer_create(caches, names);
	if (p->symbolizer)
		return p;
	symcache_places_destroy(p);
	return NULL;
}

static void forget(struct symcache_places *p, struct symcache_code_place *place)
{
	p->frames_held -= place->num_frames;
	free((void *)place->frames);
	free(place->text);
	*place = (struct symcache_code_place){ 0 };
}

static void forget_all(struct symcache_places *p)
{
	for (size_t i = 0; i < SLOTS; i++)
		forget(p, &p->code[i]);
}

void symcache_places_destroy(struct symcache_places *p)
{
	if (!p)
		return;
	forget_all(p);
	for (size_t i = 0; i < SLOTS; i++)
		free(p->data[i].name);
	symcache_symbolizer_destroy(p->symbolizer);
	free(p);
}

static size_t slot_of(const void *owner, uint64_t vaddr)
{
	return (vaddr ^ (uintptr_t)owner) * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS);
}

/* Copies a text to *to, with a NUL, and moves *to behind it. */
static const char *put_text(char **to, struct sc_str text)
{
	const char *ret = *to;

	if (text.len)
		memcpy(*to, text.ptr, text.len);
	(*to)[text.len] = '\0';
	*to += text.len + 1;
	return ret;
}

/* The frames with their texts behind them, in one block. False: out of memory. */
static bool keep_frames(struct symcache_places *p, struct symcache_code_place *place,
			const struct symcache_answer *a)
{
	struct sc_frame *frames;
	size_t size = a->num_frames * sizeof(*frames);
	char *text;

	for (size_t i = 0; i < a->num_frames; i++)
		size += a->frames[i].function.len + a->frames[i].file.len + 2;
	place->frames = frames = malloc(size);
	if (!frames)
		return false;
	text = (char *)&frames[a->num_frames];
	for (size_t i = 0; i < a->num_frames; i++) {
		const struct sc_frame *f = &a->frames[i];
		const char *name = put_text(&text, f->function);

		frames[i] = *f;
		frames[i].function.ptr = f->function.ptr ? name : NULL;
		frames[i].file.ptr = put_text(&text, f->file);
		frames[i].padded = false;
		frames[i].inlined = a->cache && symcache_symbolize_start(p->symbolizer, a, i).inlined;
	}
	place->num_frames = a->num_frames;
	p->frames_held += a->num_frames;
	return true;
}

/* What the symbol table has there, as a frame. */
static void find_symbol(struct symcache_places *p, uint64_t vaddr, struct symcache_answer *a,
			struct sc_frame *only)
{
	struct symcache_symbol symbol;

	if (!a->cache ||
	    !symcache_lookup_symbol(a->cache, vaddr - symcache_load_base(a->cache), &symbol) ||
	    !symbol.size)
		return;
	*only = (struct sc_frame){ .of_table = true, .function_idx = SYMCACHE_NONE,
		.location_idx = SYMCACHE_NONE,
		.function = symcache_show_name(p->symbolizer, symbol.name, SYMCACHE_LANG_SYMTAB) };
	*a = (struct symcache_answer){ .frames = only, .num_frames = 1 };
}

struct symcache_code_place *symcache_places_get(struct symcache_places *p, const void *owner,
					   struct symcache_module *module, uint64_t vaddr)
{
	struct symcache_code_place *place = &p->code[slot_of(owner, vaddr)];
	struct sc_frame only;
	struct symcache_answer a = { 0 };

	if (place->used && place->vaddr == vaddr && place->owner == owner)
		return place;
	forget(p, place);
	if (p->frames_held > FRAMES_HELD_MAX)
		forget_all(p);
	if (module)
		symcache_symbolize(p->symbolizer, module, vaddr, &a);
	if (!a.num_frames && p->symbols)
		find_symbol(p, vaddr, &a, &only);
	if (a.num_frames && !keep_frames(p, place, &a))
		return NULL;
	place->used = true;
	place->owner = owner;
	place->vaddr = vaddr;
	return place;
}

const struct symcache_data_place *symcache_places_data(struct symcache_places *p, const void *owner,
						       struct symcache_module *module,
						       uint64_t vaddr)
{
	struct symcache_data_place *place = &p->data[slot_of(owner, vaddr)];
	struct symcache_shown_data data;

	if (place->used && place->vaddr == vaddr && place->owner == owner)
		return place;
	free(place->name);
	*place = (struct symcache_data_place){ .owner = owner, .vaddr = vaddr };
	if (module && symcache_symbolize_data(p->symbolizer, module, vaddr, &data)) {
		place->name = sc_text("%.*s", (int)data.name.len,
				      data.name.ptr ? data.name.ptr : "");
		if (!place->name)
			return NULL;
		place->found = true;
		place->offset = vaddr - data.vaddr;
		place->size = data.size;
	}
	place->used = true;
	return place;
}

/*
 * trace_place.c: what is at an address, remembered.
 *
 * A recording has millions of frames at a few places, so each address is looked up
 * once. The memory is a table in which an address has one slot and drives out what
 * was there; and it is emptied when it holds very many inlined functions. So it is
 * bounded, whatever the file and the caches hold.
 */
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/caches.h"
#include "cmd/cli/memory.h"
#include "cmd/trace/trace.h"
#include "symcache/symcache.h"

#define SLOT_BITS 13
#define SLOTS (1u << SLOT_BITS)
#define FRAMES_HELD_MAX 200000 /* of all; with their texts some 50 MB */

struct places {
	const struct images *images;
	struct symcache_names *names;
	struct symcache_symbolizer *symbolizer;
	struct place code[SLOTS];
	struct data_place data[SLOTS];
	bool code_used[SLOTS], data_used[SLOTS];
	size_t frames_held;
};

struct places *places_create(const struct images *images, bool demangled)
{
	struct places *p = must_calloc(1, sizeof(*p));

	p->images = images;
	p->names = must(symcache_names_create(&(struct symcache_names_options){
		.mangled = !demangled }));
	p->symbolizer = must(symcache_symbolizer_create(images_caches(images), p->names));
	return p;
}

static void place_deinit(struct place *place)
{
	free(place->frames);
	free(place->text);
	*place = (struct place){ 0 };
}

static void forget_code(struct places *p)
{
	for (size_t i = 0; i < SLOTS; i++)
		place_deinit(&p->code[i]);
	memset(p->code_used, 0, sizeof(p->code_used));
	p->frames_held = 0;
}

void places_destroy(struct places *p)
{
	if (!p)
		return;
	forget_code(p);
	for (size_t i = 0; i < SLOTS; i++)
		free(p->data[i].name);
	symcache_symbolizer_destroy(p->symbolizer);
	symcache_names_destroy(p->names);
	free(p);
}

static size_t slot_of(uint64_t address)
{
	return address * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS);
}

/* Copies a text to *to, with a NUL, and moves *to behind it. */
static const char *put_text(char **to, struct symcache_str text)
{
	const char *ret = *to;

	memcpy(*to, text.ptr, text.len);
	(*to)[text.len] = '\0';
	*to += text.len + 1;
	return ret;
}

static struct symcache_str or(struct symcache_str text, const char *unknown)
{
	return text.ptr ? text : (struct symcache_str){ unknown, strlen(unknown) };
}

/* The frames with their texts behind them, in one block. */
static void keep_frames(struct places *p, struct place *place, const struct symcache_answer *a)
{
	size_t size = a->num_frames * sizeof(*place->frames);
	char *text;

	for (size_t i = 0; i < a->num_frames; i++)
		size += or(a->frames[i].function, "?").len + a->frames[i].file.len + 2;
	place->frames = must_realloc(NULL, size);
	text = (char *)&place->frames[a->num_frames];
	for (size_t i = 0; i < a->num_frames; i++) {
		const struct symcache_shown_frame *f = &a->frames[i];
		const struct symcache_str name = or(f->function, "?");

		place->frames[i] = (struct place_frame){
			.function = { put_text(&text, name), name.len },
			.path = put_text(&text, or(f->file, "")),
			.line = f->line,
			.column = f->column,
			.inlined = symcache_symbolize_start(p->symbolizer, a, i).inlined,
		};
	}
	place->num_frames = a->num_frames;
}

struct place *places_code(struct places *p, uint64_t address)
{
	size_t slot = slot_of(address);
	struct place *place = &p->code[slot];
	struct symcache_answer a;

	if (p->code_used[slot] && place->address == address)
		return place;
	p->frames_held -= place->num_frames;
	place_deinit(place);
	if (p->frames_held > FRAMES_HELD_MAX)
		forget_code(p);
	p->code_used[slot] = true;
	*place = (struct place){ .address = address, .wanted = -1 };
	place->image = images_find(p->images, address);
	if (!place->image || symcache_symbolize(p->symbolizer, place->image->module,
						address - place->image->bias, &a))
		return place;
	keep_frames(p, place, &a);
	p->frames_held += place->num_frames;
	return place;
}

const struct data_place *places_data(struct places *p, uint64_t address)
{
	size_t slot = slot_of(address);
	struct data_place *place = &p->data[slot];
	struct symcache_shown_data data;

	if (p->data_used[slot] && place->address == address)
		return place;
	p->data_used[slot] = true;
	free(place->name);
	*place = (struct data_place){ .address = address };
	place->image = images_find(p->images, address);
	if (!place->image || !symcache_symbolize_data(p->symbolizer, place->image->module,
						      address - place->image->bias, &data))
		return place;
	place->found = true;
	place->offset = address - place->image->bias - data.vaddr;
	place->size = data.size;
	place->name = must_asprintf("%.*s", (int)data.name.len, data.name.ptr);
	return place;
}

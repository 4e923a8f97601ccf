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

#include "cmd/cli/memory.h"
#include "cmd/lookup/modules.h"
#include "cmd/trace/trace.h"
#include "symcache/symcache.h"

#define SLOT_BITS 13
#define SLOTS (1u << SLOT_BITS)
#define FRAMES_MAX 4096        /* of one address; caches of hostile depth end there */
#define FRAMES_HELD_MAX 200000 /* of all; with their texts some 50 MB */

struct places {
	const struct images *images;
	struct demangler *demangler; /* NULL: names as they are */
	struct place code[SLOTS];
	struct data_place data[SLOTS];
	bool code_used[SLOTS], data_used[SLOTS];
	size_t frames_held;
	char path[8192];
};

struct places *places_create(const struct images *images, bool demangled)
{
	struct places *p = must_calloc(1, sizeof(*p));

	p->images = images;
	p->demangler = demangled ? demangler_create() : NULL;
	return p;
}

static void place_deinit(struct place *place)
{
	free(place->frames);
	free(place->text);
	free(place->json);
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
	demangler_destroy(p->demangler);
	free(p);
}

static size_t slot_of(uint64_t address)
{
	return address * 0x9e3779b97f4a7c15u >> (64 - SLOT_BITS);
}

struct place *places_code(struct places *p, uint64_t address)
{
	size_t slot = slot_of(address);
	struct place *place = &p->code[slot];
	struct symcache_frames walk;
	size_t cap = 0;

	if (p->code_used[slot] && place->address == address)
		return place;
	p->frames_held -= place->num_frames;
	place_deinit(place);
	if (p->frames_held > FRAMES_HELD_MAX)
		forget_code(p);
	p->code_used[slot] = true;
	*place = (struct place){ .address = address, .wanted = -1 };
	place->image = images_find(p->images, address, &place->rel);
	if (!place->image || !symcache_lookup(place->image->cache, place->rel, &walk))
		return place;
	for (struct symcache_frame frame;
	     place->num_frames < FRAMES_MAX && symcache_next_frame(&walk, &frame); ) {
		if (place->num_frames == cap) {
			cap = cap * 2 + 4;
			place->frames = must_realloc(place->frames, cap * sizeof(frame));
		}
		place->frames[place->num_frames++] = frame;
	}
	if (!modules_sound(place->image->cache))
		place->num_frames = 0;
	p->frames_held += place->num_frames;
	return place;
}

struct symcache_str places_function(struct places *p, const struct symcache_frame *frame)
{
	return p->demangler ? demangle(p->demangler, frame->function, frame->lang) :
	       frame->function;
}

const char *places_path(struct places *p, const struct symcache_frame *frame)
{
	p->path[0] = '\0';
	if (frame->file.name.ptr)
		symcache_path(&frame->file, SYMCACHE_PATH_CLEAN, p->path, sizeof(p->path));
	return p->path;
}

const struct data_place *places_data(struct places *p, uint64_t address)
{
	size_t slot = slot_of(address);
	struct data_place *place = &p->data[slot];
	struct symcache_data data;
	struct symcache_str name;
	uint64_t rel;

	if (p->data_used[slot] && place->address == address)
		return place;
	p->data_used[slot] = true;
	free(place->name);
	*place = (struct data_place){ .address = address };
	place->image = images_find(p->images, address, &rel);
	if (!place->image || !symcache_lookup_data(place->image->cache, rel, &data) ||
	    !modules_sound(place->image->cache))
		return place;
	name = p->demangler ? demangle(p->demangler, data.name, SYMCACHE_LANG_SYMTAB) : data.name;
	place->found = true;
	place->offset = rel - data.rel_address;
	place->size = data.size;
	place->name = must_asprintf("%.*s", (int)name.len, name.ptr);
	return place;
}

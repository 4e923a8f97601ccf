/*
 * What binutils' addr2line says where the DWARF has no function, or nothing: names by the nearest
 * symbol, places of variables.
 */
#include "libsymcache/answers/parts.h"

/* Has the DWARF a function there? The cache has symbols, too, where it has none. */
static bool has_function(const struct symcache_answer *a)
{
	const struct sc_frame *f = a->frames;

	return a->num_frames && f->function.ptr && f->function_idx != SYMCACHE_NONE &&
	       symcache_valid(a->cache, &a->cache->functions[f->function_idx],
			      sizeof(*a->cache->functions)) &&
	       a->cache->functions[f->function_idx].lang != SYMCACHE_LANG_SYMTAB;
}

/* As -s wants it. */
static struct sc_str named_file(const struct mk_worker *w, struct sc_str path)
{
	return w->answerer->options.basenames ? sc_last_part(path) : path;
}

/* Where a variable is declared that begins there. */
static bool declare(struct mk_worker *w, const struct mk_request *r, uint64_t vaddr,
		    struct sc_frame *frame)
{
	struct symcache_shown_data data;

	if (!symcache_symbolize_data(w->symbolizer, r->module, vaddr, &data) || !data.line ||
	    data.vaddr != vaddr)
		return false;
	frame->file = named_file(w, data.file);
	frame->line = data.line;
	return true;
}

void mk_binutils_complete(struct mk_worker *w, const struct mk_request *r, uint64_t vaddr,
		       struct symcache_answer *a, struct sc_frame *room)
{
	const struct symcache_nearest *nearest;
	struct symcache_named_symbol symbol;
	bool loaded, placed;

	if (has_function(a))
		return;
	*room = (struct sc_frame){ .function_idx = SYMCACHE_NONE,
		.location_idx = a->num_frames ? a->frames->location_idx : SYMCACHE_NONE };
	nearest = symcache_debug_files_nearest(w->answerer->options.search.files, r->module);
	loaded = nearest && symcache_nearest_find(nearest, vaddr, &symbol);
	placed = a->num_frames && a->frames->file.ptr && a->frames->line;
	if (placed) {
		*room = *a->frames;
		room->padded = false;
		room->function = (struct sc_str){ NULL, 0 };
	} else {
		a->num_frames = 0;
		placed = loaded && declare(w, r, vaddr, room);
	}
	if (!loaded || (!placed && !symbol.name))
		return;
	if (symbol.name)
		room->function = symcache_show_name(w->symbolizer, sc_str_of(symbol.name),
						    SYMCACHE_LANG_SYMTAB);
	if (!placed && symbol.file)
		room->file = named_file(w, sc_str_of(symbol.file));
	a->frames = room;
	a->num_frames = 1;
}

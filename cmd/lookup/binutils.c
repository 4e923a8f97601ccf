/* Names by the nearest symbol: see binutils.h. */
#include "cmd/lookup/binutils.h"

#include <string.h>

#include "symcache/debug_files.h"

/* Has the DWARF a function there? The cache has symbols, too, where it has none. */
static bool has_function(const struct symcache_answer *a)
{
	const struct symcache_shown_frame *f = a->frames;

	return a->num_frames && f->function.ptr && f->function_idx != SYMCACHE_NONE &&
	       symcache_sound(a->cache, &a->cache->functions[f->function_idx],
			      sizeof(*a->cache->functions)) &&
	       a->cache->functions[f->function_idx].lang != SYMCACHE_LANG_SYMTAB;
}

static struct symcache_str str(const char *text)
{
	return (struct symcache_str){ text, text ? strlen(text) : 0 };
}

/* As -s wants it. */
static struct symcache_str named_file(const struct worker *w, struct symcache_str path)
{
	const char *slash = w->options->basenames && path.len ? memrchr(path.ptr, '/', path.len) :
								NULL;

	return slash ? (struct symcache_str){ slash + 1, (size_t)(path.ptr + path.len - slash - 1) } : path;
}

/* Where a variable is declared that begins there. */
static bool declare(struct worker *w, const struct request *r, uint64_t vaddr,
		    struct symcache_shown_frame *frame)
{
	struct symcache_shown_data data;

	if (!symcache_symbolize_data(w->symbolizer, r->module, vaddr, &data) || !data.line ||
	    data.vaddr != vaddr)
		return false;
	frame->file = named_file(w, data.file);
	frame->line = data.line;
	return true;
}

void binutils_complete(struct worker *w, const struct request *r, uint64_t vaddr,
		       struct symcache_answer *a, struct symcache_shown_frame *room)
{
	const struct symcache_nearest *nearest;
	struct symcache_named_symbol symbol;
	bool loaded, placed;

	if (has_function(a))
		return;
	*room = (struct symcache_shown_frame){ .function_idx = SYMCACHE_NONE,
		.location_idx = a->num_frames ? a->frames->location_idx : SYMCACHE_NONE };
	nearest = symcache_debug_files_nearest(w->options->files, r->module);
	loaded = nearest && symcache_nearest_find(nearest, vaddr, &symbol);
	placed = a->num_frames && a->frames->file.ptr && a->frames->line;
	if (placed) {
		*room = *a->frames;
		room->padded = false;
		room->function = str(NULL);
	} else {
		a->num_frames = 0;
		placed = loaded && declare(w, r, vaddr, room);
	}
	if (!loaded || (!placed && !symbol.name))
		return;
	if (symbol.name)
		room->function = symcache_show_name(w->symbolizer, str(symbol.name),
						    SYMCACHE_LANG_SYMTAB);
	if (!placed && symbol.file)
		room->file = named_file(w, str(symbol.file));
	a->frames = room;
	a->num_frames = 1;
}

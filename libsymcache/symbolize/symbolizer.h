/*
 * symbolizer.h: what a symbolizer, of one thread, remembers.
 */
#ifndef SC_SYMBOLIZER_H
#define SC_SYMBOLIZER_H

#include <string.h>

#include "libsymcache/symbolize/line_index.h"
#include "libsymcache/symbolize/module.h"
#include "libsymcache/symbolize/name_index.h"
#include "libsymcache/symbolize/names.h"

/* A module as this thread sees it. */
struct sc_seen {
	const struct symcache *cache;
	const struct symcache_module *module;
	const struct symcache_symbol_table *own; /* of the module */
	uint64_t load_base;
	struct sc_texts *texts;
	uint64_t epoch;       /* that they are in; 0: none yet */
	unsigned generation; /* of the module then */
	struct sc_name_index *index; /* of its names; NULL: none was asked for */
	struct sc_line_index *lines; /* of its lines; the same */
};

/* The index of the names of a module; NULL: out of memory. */
struct sc_name_index *sc_seen_names(struct sc_seen *seen);

/* What sc_symbolize_shown() said. */
struct sc_shown_start {
	uint64_t hash;       /* of what was asked */
	const struct symcache *cache;
	unsigned generation; /* of the module */
	uint64_t vaddr;
	bool found;
};

#define SC_SHOWN_STARTS 1024u

struct symcache_symbolizer {
	struct sc_shown_start *starts; /* SC_SHOWN_STARTS of them, by hash; NULL: none was asked for */
	struct symcache_caches *caches;
	struct sc_names_reader *names;
	const struct symcache_names_options *options;
	VEC(struct sc_frame) frames;
	VEC(char) path;   /* of what is not a frame */
	VEC(struct sc_seen) seen; /* by the module's number */
	uint64_t epoch;    /* sc_names_epoch() when it was asked last */
	const struct sc_seen *answered; /* the module of the last answer */
	uint64_t answered_rel;
	bool details; /* discriminators are asked for, and starts: they are fetched ahead, too */
	/* Addresses that were looked up ahead; their frames are the first of `frames`, those of
	 * address i from ahead_first[i] on. */
	struct symcache_query ahead[SYMCACHE_BATCH];
	const struct sc_seen *ahead_seen[SYMCACHE_BATCH];
	size_t ahead_first[SYMCACHE_BATCH];
	uint32_t ahead_symbols[SYMCACHE_BATCH]; /* if the symbol table has a say */
	size_t num_ahead, next_ahead, ahead_frames;
	uint64_t ahead_epoch, ahead_snapshot;
};

/* The module for a single look-up: its cache and texts, ready to be asked. NULL: there is no
 * cache, or no memory. What was found before may be gone. */
struct sc_seen *sc_symbolizer_begin(struct symcache_symbolizer *s, struct symcache_module *m);

/* The same behind sc_names_epoch(), which s->epoch is, without asking it. */
struct sc_seen *sc_symbolizer_begin_in_epoch(struct symcache_symbolizer *s,
					    struct symcache_module *m);

/* The whole path of a file as it is shown, valid until the next one; ptr NULL: unknown, or out of
 * memory. */
struct sc_str sc_symbolizer_path(struct symcache_symbolizer *s, const struct symcache_file *file);

/* The address of the file that is `offset` behind the start of a function or symbol of code and,
 * in a process, at `address`. It is named by its linkage name or as it is shown, blanks left out;
 * false: none is called so and begins at this place in a page, or more than one. The names of all
 * that begin there are made; answers are remembered. */
bool sc_symbolize_shown(struct symcache_symbolizer *s, struct symcache_module *m,
			struct sc_str name, uint64_t address, uint64_t offset, uint64_t *vaddr);

/* Room for the module of this number; what was found before may move. NULL: out of memory. */
struct sc_seen *sc_symbolizer_add(struct symcache_symbolizer *s, uint32_t number);

/* Does the symbol table, of which this is the symbol, name an outermost frame? Then its name in
 * the DWARF is not needed. */
static inline bool sc_named_by_table(const struct symcache_symbolizer *s, const struct sc_seen *m,
				  uint32_t symbol)
{
	return symbol != SYMCACHE_NONE && !m->own &&
	       s->options->functions == SYMCACHE_FUNCTIONS_WHOLE;
}

/* The symbol that the symbol table has at an address. */
static inline bool sc_find_symbol(const struct sc_seen *seen, uint64_t rel,
				  struct symcache_symbol *ret)
{
	struct symcache_named_symbol s;

	if (__builtin_expect(!seen->own, 1))
		return symcache_lookup_symbol(seen->cache, rel, ret);
	if (rel == UINT64_MAX ||
	    !seen->module->find_own(seen->own, rel + seen->load_base, &s))
		return false;
	*ret = (struct symcache_symbol){
		.name = { s.name, strlen(s.name) },
		.rel_address = s.vaddr - seen->load_base,
		.size = s.size,
		.file = { s.file, s.file ? strlen(s.file) : 0 },
	};
	return true;
}

/* Adds the frame of a source location. Its texts are not read yet, so that they can be fetched:
 * until then `ptr` is that of the struct sc_text. `named`: its function's name is wanted. NULL:
 * out of memory. */
static inline struct sc_frame *
sc_add_frame(struct symcache_symbolizer *s, const struct sc_seen *m, uint32_t location, bool named)
{
	const struct sc_text *function = NULL, *file = NULL;
	struct symcache_frame_ids ids;
	struct sc_frame *f;

	if (__builtin_expect(!vec_reserve(&s->frames, 1), 0))
		return NULL;
	symcache_location_ids(m->cache, location, &ids);
	if (named && ids.function != SYMCACHE_NONE)
		function = sc_names_function(s->names, m->texts, ids.function);
	if (ids.file != SYMCACHE_NONE)
		file = sc_names_file(s->names, m->texts, ids.file);
	f = &s->frames.data[s->frames.len++];
	f->function = (struct sc_str){ (const char *)function, 0 };
	f->file = (struct sc_str){ (const char *)file, 0 };
	f->line = ids.line;
	f->column = ids.column;
	f->padded = true;
	f->of_table = false;
	f->function_idx = ids.function;
	f->location_idx = location;
	f->scopes = 0;
	return f;
}

/* What lies below the base is not in the cache: it must not wrap around. */
static inline uint64_t sc_relative(const struct sc_seen *seen, uint64_t vaddr)
{
	return vaddr < seen->load_base ? UINT64_MAX : vaddr - seen->load_base;
}

#endif

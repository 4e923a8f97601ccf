/*
 * Declarations, data symbols, and functions by name: see symbolize.h.
 */
#include <string.h>

#include "libsymcache/symbolize/symbolizer.h"

/* The path of a file, valid until the next one; ptr NULL: unknown, or out of memory. */
static struct sc_str path_of(struct symcache_symbolizer *s, const struct symcache_file *file,
			     enum symcache_paths paths)
{
	const size_t room = sc_path_room(file);

	vec_clear(&s->path);
	if (!file->name.ptr || !vec_reserve(&s->path, room))
		return (struct sc_str){ NULL, 0 };
	return sc_names_printable(s->names, (struct sc_str){
		s->path.data, sc_write_path(file, paths, s->path.data, room) }, SC_SHOWN_PATH);
}

/* Where function `idx` begins, relative; SYMCACHE_NONE: it is inlined, or there is none. */
static uint32_t entry_of(const struct symcache *c, uint32_t idx)
{
	return idx != SYMCACHE_NONE &&
	       symcache_valid(c, &c->functions[idx], sizeof(*c->functions)) ?
		c->functions[idx].entry_pc : SYMCACHE_NONE;
}

struct symcache_start symcache_symbolize_start(struct symcache_symbolizer *s,
					       const struct symcache_answer *a, size_t frame)
{
	const struct sc_frame *f = &a->frames[frame];
	const struct symcache *c = a->cache;
	const struct symcache_ext_decl *d = c->decls && f->function_idx != SYMCACHE_NONE ?
		&c->decls[f->function_idx] : NULL;
	uint32_t entry = entry_of(c, a->one_frame ? a->code_idx : f->function_idx);
	const bool inlined = !f->of_table && entry == SYMCACHE_NONE;
	struct symcache_start ret;

	if (entry == SYMCACHE_NONE)
		entry = symcache_inlined_start(c, f->location_idx, s->answered_rel);
	ret = (struct symcache_start){ .known = f->of_table || entry != SYMCACHE_NONE,
				       .inlined = inlined };
	if (ret.known)
		ret.vaddr = f->of_table ? a->symbol_vaddr : symcache_load_base(c) + entry;
	if (d && symcache_valid(c, d, sizeof(*d))) {
		if (d->file_idx < c->header->num_files)
			ret.file = sc_text_str(sc_names_file(s->names, s->answered->texts,
							     d->file_idx));
		ret.line = d->line;
	}
	return ret;
}

uint32_t symcache_symbolize_discriminator(struct symcache_symbolizer *s,
					  const struct symcache_answer *a, size_t frame)
{
	s->details = true;
	return !a->cache ? 0 : symcache_discriminator(a->cache, a->frames[frame].location_idx, s->answered_rel);
}

struct sc_str sc_symbolizer_path(struct symcache_symbolizer *s, const struct symcache_file *file)
{
	return path_of(s, file, s->options->paths == SYMCACHE_PATHS_CLEAN ?
			SYMCACHE_PATHS_CLEAN : SYMCACHE_PATHS_RAW);
}

bool symcache_symbolize_data(struct symcache_symbolizer *s, struct symcache_module *m,
			     uint64_t vaddr, struct symcache_shown_data *ret)
{
	const struct sc_seen *seen = sc_symbolizer_begin(s, m);
	struct symcache_data data = { 0 };
	struct symcache_symbol symbol;
	bool of_table;
	uint64_t rel;

	if (!seen)
		return false;
	rel = sc_relative(seen, vaddr);
	symcache_lookup_data(seen->cache, rel, &data);
	of_table = s->options->table != SYMCACHE_TABLE_NEVER &&
		   sc_find_symbol(seen, rel, &symbol);
	if (of_table) {
		/* The table's view of what is where; the DWARF says whence. */
		data.name = symbol.name;
		data.rel_address = symbol.rel_address;
		data.size = symbol.size;
		if (!data.line)
			data.file = (struct symcache_file){ .name = symbol.file };
	}
	if (!data.name.ptr || !symcache_module_valid(m, seen->cache))
		return false;
	*ret = (struct symcache_shown_data){
		.name = sc_names_printable(s->names,
			sc_names_show(s->names, data.name, SYMCACHE_LANG_SYMTAB), SC_SHOWN_NAME),
		.vaddr = seen->load_base + data.rel_address,
		.size = data.size,
		.file = sc_symbolizer_path(s, &data.file),
		.line = data.line,
		.of_table = of_table,
	};
	return ret->name.ptr;
}

bool symcache_symbolize_function(struct symcache_symbolizer *s, struct symcache_module *m,
				 uint64_t vaddr, struct symcache_shown_data *ret)
{
	const struct sc_seen *seen = sc_symbolizer_begin(s, m);
	struct symcache_frames frames;
	struct symcache_raw_frame frame = { .entry_pc = SYMCACHE_NONE };
	struct symcache_file file;

	if (!seen || !symcache_lookup(seen->cache, sc_relative(seen, vaddr), &frames))
		return false;
	while (symcache_next_frame(&frames, &frame))
		;
	if (frame.entry_pc == SYMCACHE_NONE)
		return false;
	file = symcache_file(seen->cache, frame.decl_file_idx);
	*ret = (struct symcache_shown_data){
		.name = sc_names_printable(s->names,
			sc_names_show(s->names, frame.function, frame.lang), SC_SHOWN_NAME),
		.vaddr = seen->load_base + frame.entry_pc,
		.file = sc_symbolizer_path(s, &file),
		.line = frame.decl_line,
	};
	return ret->name.ptr && symcache_module_valid(m, seen->cache);
}

/* ---- by name ----------------------------------------------------------------------- */

enum {
	NAMESAKES_MAX = 1024, /* functions of one name that are tried */
	UNSIZED_MAX = 4096,   /* symbols without a size in a row */
};

struct sc_name_index *sc_seen_names(struct sc_seen *seen)
{
	if (seen->index && (seen->index->cache != seen->cache ||
			    seen->index->generation != seen->generation)) {
		sc_name_index_destroy(seen->index);
		seen->index = NULL;
	}
	if (!seen->index)
		seen->index = sc_name_index_create(seen->cache, seen->generation);
	if (!seen->index)
		sc_memory_refused();
	return seen->index;
}

/* Function `idx`, if it is not inlined and has this name. */
static bool is_function(const struct symcache *c, uint32_t idx, struct sc_str name,
			uint64_t *rel)
{
	const struct symcache_function *f = &c->functions[idx];

	if (!symcache_valid(c, f, sizeof(*f)) || f->entry_pc == SYMCACHE_NONE ||
	    !sc_str_same(symcache_string(c, f->name), name))
		return false;
	*rel = f->entry_pc;
	return true;
}

/* Symbol `idx`, if it has this name and is in code that no function of the name begins with:
 * foo.cold, which the DWARF does not know. */
static bool is_symbol_alone(const struct symcache *c, uint32_t idx, struct sc_str name,
			    uint64_t *rel)
{
	struct symcache_raw_frame outermost = { .entry_pc = SYMCACHE_NONE };
	struct symcache_frames frames;
	struct symcache_symbol symbol;

	if (!symcache_symbol(c, idx, &symbol) || !sc_str_same(symbol.name, name) ||
	    !symcache_lookup(c, symbol.rel_address, &frames))
		return false;
	while (symcache_next_frame(&frames, &outermost))
		;
	*rel = symbol.rel_address;
	return outermost.entry_pc != symbol.rel_address || !sc_str_same(outermost.function, name);
}

/* Does symbol `idx` stand where function `of` begins? */
static bool is_symbol_of(const struct symcache *c, uint32_t idx, uint32_t of)
{
	const struct symcache_ext_symbol *s = &c->symbols[idx];

	return symcache_valid(c, s, sizeof(*s)) && s->address == c->functions[of].entry_pc;
}

/* Item `idx`, if it is an alias of this name, and of code. */
static bool is_alias(const struct sc_name_index *x, uint32_t idx, struct sc_str name,
		     uint64_t *rel)
{
	const struct symcache *c = x->cache;
	const uint32_t first = sc_name_index_items(x) - (uint32_t)c->num_aliases;
	struct symcache_frames frames;

	if (idx < first || !sc_str_same(sc_name_index_name(x, idx), name))
		return false;
	*rel = c->aliases[idx - first].address;
	return symcache_lookup(c, *rel, &frames);
}

bool symcache_symbolize_name(struct symcache_symbolizer *s, struct symcache_module *m,
			     struct sc_str name, uint32_t *at, uint64_t *vaddr)
{
	struct sc_seen *seen = sc_symbolizer_begin(s, m);
	const struct sc_name_index *x = seen ? sc_seen_names(seen) : NULL;
	const struct sc_name_key *keys = x ? x->linkage.keys : NULL, *end, *k;
	const uint32_t functions = x ? x->cache->header->num_functions : 0,
		       aliases = x ? sc_name_index_items(x) - (uint32_t)x->cache->num_aliases : 0;
	/* It was given: mostly the function, whose symbol comes next. */
	const uint32_t last = x && *at ? keys[*at - 1].item : SYMCACHE_NONE;
	const uint32_t hash = !x ? 0 : *at ? keys[*at - 1].hash : sc_name_hash(x, name);
	/* Aliases stand behind the others: they count if nothing else is called so. */
	const bool others = last < aliases;
	uint64_t rel;

	if (!x)
		return false;
	k = sc_name_keys(&x->linkage, hash, &end);
	for (k = *at ? keys + *at : k; k < end; k++) {
		const uint32_t i = k->item;

		if (k->hash != hash)
			continue;
		if (i >= aliases && (others || s->options->llvm))
			return false;
		if (last < functions && i >= functions && i < aliases &&
		    is_symbol_of(x->cache, i - functions, last))
			continue;
		if (i < functions ? is_function(x->cache, i, name, &rel) :
		    i < aliases ? is_symbol_alone(x->cache, i - functions, name, &rel) :
				  is_alias(x, i, name, &rel)) {
			*at = (uint32_t)(k - keys) + 1;
			*vaddr = seen->load_base + rel;
			return symcache_module_valid(m, x->cache);
		}
	}
	return false;
}

/* Can the symbol at `rel` have this offset and size, as a kernel counts it? Sets *has to its size
 * in the symbol table; 0: unknown, which fits. */
static bool fits(const struct symcache *c, uint64_t rel, uint64_t offset, uint64_t size,
		 uint64_t *has)
{
	const uint32_t at = symcache_symbol_at(c, rel);
	struct symcache_symbol symbol;

	*has = 0;
	if (at == SYMCACHE_NONE || !symcache_symbol(c, at, &symbol) || symbol.rel_address != rel ||
	    !symbol.size)
		return true;
	*has = symbol.size;
	if (offset > symbol.size) /* a return address may be behind the last byte */
		return false;
	if (!size)
		return true;
	if (size < symbol.size)
		return false;
	for (uint32_t i = at + 1; i - at <= UNSIZED_MAX && symcache_symbol(c, i, &symbol); i++)
		if (symbol.size)
			return size <= symbol.rel_address - rel;
	return true;
}

bool symcache_symbolize_fits(struct symcache_symbolizer *s, struct symcache_module *m,
			     uint64_t start, const struct symcache_named *named, uint64_t *has)
{
	const struct sc_seen *seen = sc_symbolizer_begin(s, m);

	*has = 0;
	return seen && fits(seen->cache, sc_relative(seen, start), named->offset, named->size, has);
}

bool symcache_symbolize_offset(struct symcache_symbolizer *s, struct symcache_module *m,
			       const struct symcache_named *named, uint64_t *vaddr, uint64_t *has)
{
	uint32_t at = 0, n = 0, fitting = 0;
	uint64_t start, size;

	*has = 0;
	while (symcache_symbolize_name(s, m, named->name, &at, &start) && n++ < NAMESAKES_MAX) {
		if (symcache_symbolize_fits(s, m, start, named, &size)) {
			*vaddr = start + named->offset;
			fitting++;
		} else {
			*has = size;
		}
	}
	if (fitting)
		*has = 0;
	return fitting == 1 && n <= NAMESAKES_MAX && *vaddr >= named->offset;
}

struct sc_str symcache_show_name(struct symcache_symbolizer *s, struct sc_str name,
				 uint32_t lang)
{
	return sc_names_show(s->names, name, lang);
}

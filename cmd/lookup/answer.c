/*
 * Query + cache → answer: see answer.h.
 *
 * Costs one look-up and, for each frame, two paths and a name, copied into the
 * answer's text; nothing is allocated once that has grown. Looking a symbol up
 * by its name reads all functions: the cache has no index by name.
 */
#include "cmd/lookup/answer.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "symcache/symcache.h"

void answer_begin(struct answer *a, const char *module)
{
	a->module = module;
	a->has_address = false;
	a->symbol.ptr = NULL;
	a->kind = QUERY_CODE;
	a->error = NULL;
	answer_forget(a);
}

void answer_forget(struct answer *a)
{
	a->num_frames = 0;
	a->name = a->file = a->line = 0;
	a->start = a->size = 0;
	a->text_len = 1; /* offset 0 means unknown */
}

void answer_deinit(struct answer *a)
{
	free(a->frames);
	free(a->text);
}

/* Room for `size` more bytes of text. */
static char *text_reserve(struct answer *a, size_t size)
{
	if (a->text_len + size > a->text_cap) {
		a->text_cap = 2 * (a->text_len + size);
		a->text = must_realloc(a->text, a->text_cap);
	}
	return a->text + a->text_len;
}

static text_offset text_add(struct answer *a, struct symcache_str s)
{
	text_offset offset = (text_offset)a->text_len;
	char *to = text_reserve(a, s.len + 1);

	memcpy(to, s.ptr, s.len);
	to[s.len] = 0;
	a->text_len += s.len + 1;
	return offset;
}

/* Everything behind the last slash. */
static struct symcache_str basename_of(struct symcache_str path)
{
	const char *slash = path.len ? memrchr(path.ptr, '/', path.len) : NULL;

	if (!slash || slash + 1 == path.ptr + path.len)
		return path;
	return (struct symcache_str){ slash + 1, (size_t)(path.ptr + path.len - slash - 1) };
}

static text_offset add_path(struct answer *a, const struct symcache_file *file,
			    enum path_style style)
{
	struct symcache_file parts = *file;
	text_offset offset = (text_offset)a->text_len;
	size_t len, room;

	if (!parts.name.ptr)
		return 0;
	if (style == PATHS_BASENAME)
		return text_add(a, basename_of(parts.name));
	if (style == PATHS_RELATIVE)
		parts.comp_dir = (struct symcache_str){ NULL, 0 };
	room = parts.comp_dir.len + parts.directory.len + parts.name.len + 3;
	text_reserve(a, room);
	len = symcache_path(&parts, SYMCACHE_PATH_RAW, a->text + offset, room);
	a->text_len += len + 1;
	return offset;
}

static text_offset add_name(struct answer *a, struct symcache_str name, uint32_t lang,
			    const struct answer_options *options, struct demangler *d)
{
	struct symcache_str text = name;

	if (!name.len || (name.len == 1 && *name.ptr == '?') || options->functions == FUNCTIONS_NONE)
		return 0;
	if (options->functions == FUNCTIONS_SHORT) {
		text = demangle(d, name, lang);
		if (text.ptr != name.ptr)
			text = short_name(text);
	} else if (options->demangle) {
		text = demangle(d, name, lang);
	}
	return text_add(a, text);
}

static struct answer_frame *add_frame(struct answer *a, const struct symcache *cache,
				      const struct symcache_frame *frame,
				      const struct answer_options *options, struct demangler *d)
{
	const struct symcache_file start_file = symcache_file(cache, frame->decl_file_idx);
	struct answer_frame *f;

	if (a->num_frames == a->cap_frames) {
		a->cap_frames = 2 * a->cap_frames + 8;
		a->frames = must_realloc(a->frames, a->cap_frames * sizeof(*a->frames));
	}
	f = &a->frames[a->num_frames++];
	*f = (struct answer_frame){
		.function = add_name(a, frame->function, frame->lang, options, d),
		.file = add_path(a, &frame->file, options->paths),
		.start_file = add_path(a, &start_file, options->paths),
		.line = frame->line,
		.column = frame->column,
		.start_line = frame->decl_line,
		.has_start_address = frame->entry_pc != SYMCACHE_NONE,
	};
	if (f->has_start_address)
		f->start_address = symcache_load_base(cache) + frame->entry_pc;
	return f;
}

/* All frames at rel_pc, or one: see answer_query(). */
static void answer_code(struct answer *a, const struct symcache *cache, uint64_t rel_pc,
			bool inlines, const struct answer_options *options, struct demangler *d)
{
	struct answer_options first = *options;
	struct symcache_frames frames;
	struct symcache_frame frame;
	struct answer_frame *f = NULL;

	if (!symcache_lookup(cache, rel_pc, &frames))
		return;
	if (!inlines && !options->name_of_location)
		first.functions = FUNCTIONS_NONE; /* the outermost frame's comes */
	while (symcache_next_frame(&frames, &frame)) {
		if (inlines) {
			add_frame(a, cache, &frame, options, d);
			continue;
		}
		if (!f)
			f = add_frame(a, cache, &frame, &first, d);
		if (options->name_of_location)
			return;
	}
	if (!f)
		return;
	f->function = add_name(a, frame.function, frame.lang, options, d);
	f->has_start_address = frame.entry_pc != SYMCACHE_NONE;
	f->start_address = symcache_load_base(cache) + frame.entry_pc;
}

/*
 * What the symbol table adds, as llvm-symbolizer has it: the name of the function
 * that has the code (foo.cold, the alias that is last), and the source file of a
 * local symbol where the DWARF names none: both for the outermost frame.
 */
static void add_symbol(struct answer *a, const struct symcache *cache, uint64_t rel_pc,
		       const struct answer_options *options, struct demangler *d)
{
	const struct symcache_frame unknown = { .lang = SYMCACHE_LANG_SYMTAB,
						.entry_pc = SYMCACHE_NONE,
						.decl_file_idx = SYMCACHE_NONE };
	struct symcache_symbol symbol;
	struct symcache_file file = { 0 };
	struct answer_frame *outermost;

	if (options->functions != FUNCTIONS_LINKAGE ||
	    !symcache_lookup_symbol(cache, rel_pc, &symbol))
		return;
	if (a->num_frames && !options->inlines && options->name_of_location)
		return; /* the one frame is that of the innermost function */
	if (!a->num_frames)
		add_frame(a, cache, &unknown, options, d);
	outermost = &a->frames[a->num_frames - 1];
	outermost->function = add_name(a, symbol.name, SYMCACHE_LANG_SYMTAB, options, d);
	outermost->has_start_address = true;
	outermost->start_address = symcache_load_base(cache) + symbol.rel_address;
	file.name = symbol.file;
	if (!outermost->file)
		outermost->file = add_path(a, &file, options->paths);
}

/* A location for each function of this name. */
static void answer_symbol(struct answer *a, const struct symcache *cache, const struct query *q,
			  const struct answer_options *options, struct demangler *d)
{
	for (uint32_t i = 0; i < cache->header->num_functions; i++) {
		const struct symcache_function *function = &cache->functions[i];
		struct symcache_str name;

		if (!symcache_sound(cache, function, sizeof(*function)))
			return;
		if (function->entry_pc == SYMCACHE_NONE)
			continue;
		name = symcache_string(cache, function->name);
		if (name.len == q->symbol.len && !memcmp(name.ptr, q->symbol.ptr, name.len))
			answer_code(a, cache, function->entry_pc + q->offset, false, options, d);
	}
}

static void answer_data(struct answer *a, const struct symcache *cache, uint64_t rel_address,
			const struct answer_options *options, struct demangler *d)
{
	struct answer_options whole = *options;
	struct symcache_data data = { 0 };
	struct symcache_symbol symbol;

	symcache_lookup_data(cache, rel_address, &data);
	if (symcache_lookup_symbol(cache, rel_address, &symbol)) {
		/* The table's view of what is where; the DWARF says whence. */
		data.name = symbol.name;
		data.rel_address = symbol.rel_address;
		data.size = symbol.size;
		if (!data.line)
			data.file = (struct symcache_file){ .name = symbol.file };
	}
	if (!data.name.ptr)
		return;
	whole.functions = FUNCTIONS_LINKAGE; /* the options are about code */
	a->name = add_name(a, data.name, SYMCACHE_LANG_UNKNOWN, &whole, d);
	a->start = symcache_load_base(cache) + data.rel_address;
	a->size = data.size;
	a->file = add_path(a, &data.file, PATHS_WHOLE);
	a->line = data.line;
}

bool answer_query(struct answer *a, const struct symcache *cache, const struct query *q,
		  const struct answer_options *options, struct demangler *d)
{
	uint64_t base = options->relative_address ? 0 : symcache_load_base(cache);
	uint64_t rel = q->offset - options->adjust_vma;

	/* What lies below the base is not in the cache: it must not wrap around. */
	rel = rel < base ? UINT64_MAX : rel - base;
	if (q->kind == QUERY_DATA && !q->symbol.ptr)
		answer_data(a, cache, rel, options, d);
	else if (q->kind == QUERY_CODE && q->symbol.ptr)
		answer_symbol(a, cache, q, options, d);
	else if (q->kind == QUERY_CODE) {
		answer_code(a, cache, rel, options->inlines, options, d);
		add_symbol(a, cache, rel, options, d);
	}
	return a->num_frames || a->name;
}

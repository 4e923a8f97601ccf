/* Addresses → frames → functions: see places.h. */
#include "libsymcache/profile/places.h"

#include <string.h>
#include <xxhash.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/base/utf8.h"

#define RELEASE_FROM 1024u /* look-ups, after which pages of the store are given back */

struct symcache_names_options symprofile_names_options(void)
{
	return (struct symcache_names_options){ .table = SYMCACHE_TABLE_OUTERMOST,
						.paths = SYMCACHE_PATHS_RAW };
}

int prof_places_init(struct prof_places *p, const struct symprofile_options *options,
		     struct sc_error *err)
{
	*p = (struct prof_places){ .options = options, .finder = {
		.find = symcache_find_module,
		.caches = options->caches, .modules = options->modules,
		.num_modules = options->num_modules } };
	p->symbolizer = symcache_symbolizer_create(options->caches, options->names);
	return p->symbolizer ? 0 : sc_no_memory(err);
}

void prof_places_clear(struct prof_places *p)
{
	vec_clear(&p->mappings);
	vec_clear(&p->modules);
	vec_clear(&p->questions);
	vec_clear(&p->places);
	vec_clear(&p->lines);
	vec_clear(&p->functions);
	vec_clear(&p->memos);
	prof_texts_clear(&p->texts);
	sc_intern_clear(&p->function_set);
	sc_intern_clear(&p->memo_set);
}

void prof_places_deinit(struct prof_places *p)
{
	vec_deinit(&p->mappings);
	vec_deinit(&p->modules);
	vec_deinit(&p->questions);
	vec_deinit(&p->places);
	vec_deinit(&p->lines);
	vec_deinit(&p->functions);
	vec_deinit(&p->memos);
	prof_texts_deinit(&p->texts);
	sc_intern_deinit(&p->function_set);
	sc_intern_deinit(&p->memo_set);
	prof_texts_deinit(&p->missing_texts);
	vec_deinit(&p->missing);
	symcache_symbolizer_destroy(p->symbolizer);
}

struct prof_mapping *prof_add_mapping(struct prof_places *p)
{
	struct prof_mapping *m = p->mappings.len < PROF_NONE ? vec_push(&p->mappings) : NULL;

	if (m)
		m->module = m->missing = PROF_NONE;
	return m;
}

/* ---- texts and functions ----------------------------------------------------------------- */

uint32_t prof_text(struct prof_places *p, const char *text, size_t len)
{
	return prof_texts_add(&p->texts, text, len);
}

struct sc_str prof_text_of(const struct prof_places *p, uint32_t text)
{
	return prof_texts_at(&p->texts, text);
}

/* The number of a linkage name, which the cache has as it stands. */
static uint32_t linkage_text(struct prof_places *p, struct sc_str name)
{
	char *shown;
	uint32_t text;

	if (!name.ptr || sc_printable(name.ptr, name.len))
		return prof_text(p, name.ptr, name.len);
	shown = malloc(4 * name.len);
	if (!shown)
		return PROF_NONE;
	text = prof_text(p, shown, sc_make_printable(name.ptr, name.len, shown));
	free(shown);
	return text;
}

static bool function_equal(const void *ctx, uint32_t i)
{
	const struct prof_places *p = ctx;

	return !memcmp(&p->functions.data[i], &p->functions.data[p->functions.len - 1],
		       sizeof(struct prof_function));
}

/* The number of the function that is the last of the list; it goes if it was there before. */
static uint32_t unique_function(struct prof_places *p)
{
	const struct prof_function *f = &p->functions.data[p->functions.len - 1];
	uint32_t *slot = sc_intern_find(&p->function_set, XXH3_64bits(f, sizeof(*f)),
					function_equal, p);

	if (!slot)
		return PROF_NONE;
	if (*slot == SC_INTERN_NEW)
		return *slot = (uint32_t)(p->functions.len - 1);
	p->functions.len--;
	return *slot;
}

static bool memo_equal(const void *ctx, uint32_t i)
{
	const struct prof_places *p = ctx;

	return !memcmp(&p->memos.data[i], &p->memos.data[p->memos.len - 1],
		       offsetof(struct prof_memo, is));
}

/* The linkage name of a frame: of its function, or of the symbol that names it. */
static struct sc_str linkage_name(const struct symcache *cache, const struct prof_memo *m)
{
	struct symcache_symbol symbol;

	if (m->symbol != SYMCACHE_NONE)
		return symcache_symbol(cache, m->symbol, &symbol) ? symbol.name :
			(struct sc_str){ NULL, 0 };
	if (m->function == SYMCACHE_NONE ||
	    !symcache_valid(cache, &cache->functions[m->function], sizeof(*cache->functions)))
		return (struct sc_str){ NULL, 0 };
	return symcache_string(cache, cache->functions[m->function].name);
}

static uint32_t new_function(struct prof_places *p, const struct prof_memo *m,
			     const struct symcache_answer *a, size_t frame)
{
	const struct sc_frame *f = &a->frames[frame];
	const enum symprofile_names how = p->options->how;
	const struct symcache_start start = symcache_symbolize_start(p->symbolizer, a, frame);
	const uint32_t linkage = linkage_text(p, linkage_name(a->cache, m));
	struct sc_str name = sc_bare_name(f); /* as viewers that symbolize by themselves have it */
	struct prof_function *of;
	uint32_t text, file;

	if (how == SYMPROFILE_SHORT && name.ptr)
		name = symcache_short_name(name);
	text = how == SYMPROFILE_LINKAGE ? linkage : prof_text(p, name.ptr, name.len);
	file = prof_text(p, f->file.ptr, f->file.len);
	of = vec_push(&p->functions);
	if (!of || text == PROF_NONE || linkage == PROF_NONE || file == PROF_NONE)
		return PROF_NONE;
	*of = (struct prof_function){ text, linkage, file, start.line };
	return unique_function(p);
}

/* The function of a frame of an answer: remembered by the numbers that the cache has for it. */
static uint32_t function_of(struct prof_places *p, const struct prof_question *q,
			    const struct symcache_answer *a, size_t frame)
{
	const struct sc_frame *f = &a->frames[frame];
	struct symcache_frame_ids ids = { SYMCACHE_NONE, SYMCACHE_NONE, 0, 0 };
	struct prof_memo *m = vec_push(&p->memos);
	uint32_t *slot, is;

	if (!m)
		return PROF_NONE;
	if (f->location_idx != SYMCACHE_NONE)
		symcache_location_ids(a->cache, f->location_idx, &ids);
	*m = (struct prof_memo){ q->module, ids.function, ids.file, SYMCACHE_NONE, PROF_NONE };
	if (f->of_table)
		m->symbol = symcache_symbol_at(a->cache, q->vaddr - symcache_load_base(a->cache));
	slot = sc_intern_find(&p->memo_set, XXH3_64bits(m, offsetof(struct prof_memo, is)),
			      memo_equal, p);
	if (!slot)
		return PROF_NONE;
	if (*slot != SC_INTERN_NEW) {
		p->memos.len--;
		return p->memos.data[*slot].is;
	}
	*slot = (uint32_t)(p->memos.len - 1);
	is = new_function(p, m, a, frame);
	p->memos.data[*slot].is = is;
	return is;
}

/* ---- questions --------------------------------------------------------------------------- */

bool prof_vaddr(const struct prof_mapping *m, uint64_t address, uint64_t *vaddr)
{
	if (address < m->start || (m->limit && address >= m->limit))
		return false;
	return symcache_vaddr_from(m->cache, m->origin,
				   address - m->start + m->base, vaddr);
}

/* Adds a question about the module of a mapping. */
static int add_question(struct prof_places *p, uint32_t module, uint64_t vaddr, uint32_t *place,
			struct sc_error *err)
{
	struct prof_question *q = p->places.len < PROF_NONE ? vec_push(&p->questions) : NULL;

	if (!q || !vec_push(&p->places))
		return sc_no_memory(err);
	*place = (uint32_t)(p->places.len - 1);
	*q = (struct prof_question){ vaddr, module, *place };
	p->counts.looked_up++;
	return 0;
}

int prof_ask(struct prof_places *p, uint32_t mapping, uint64_t address, uint32_t *place,
	     struct sc_error *err)
{
	struct prof_mapping *m = mapping == PROF_NONE ? NULL : &p->mappings.data[mapping];
	uint64_t vaddr;

	*place = PROF_NONE;
	if (m && (address < m->start || (m->limit && address >= m->limit)))
		m = NULL;
	if (!m) {
		p->counts.nowhere++;
		return 0;
	}
	if (prof_module_of(p, m) == PROF_NONE)
		return p->no_memory ? sc_no_memory(err) : 0;
	if (!prof_vaddr(m, address, &vaddr)) {
		p->counts.nowhere++;
		return 0;
	}
	return add_question(p, m->module, vaddr, place, err);
}

int prof_ask_vaddr(struct prof_places *p, uint32_t mapping, uint64_t vaddr, uint32_t *place,
		   struct sc_error *err)
{
	const uint32_t module = prof_module_of(p, &p->mappings.data[mapping]);

	*place = PROF_NONE;
	if (module == PROF_NONE)
		return p->no_memory ? sc_no_memory(err) : 0;
	return add_question(p, module, vaddr, place, err);
}

static inline bool question_before(const struct prof_question *a, const struct prof_question *b)
{
	return a->module != b->module ? a->module < b->module : a->vaddr < b->vaddr;
}

SC_SORT(sort_questions, struct prof_question, question_before)

/* The lines of an answer, those of a place. */
static bool take_answer(struct prof_places *p, const struct prof_question *q,
			const struct symcache_answer *a, struct prof_place *ret)
{
	*ret = (struct prof_place){ (uint32_t)p->lines.len, 0 };
	for (size_t i = 0; a->frames && i < a->num_frames; i++) {
		const struct sc_frame *f = &a->frames[i];
		struct prof_line *line;
		uint32_t function;

		if (!f->function.len && !f->file.len)
			continue;
		function = function_of(p, q, a, i);
		line = p->lines.len < PROF_NONE ? vec_push(&p->lines) : NULL;
		if (function == PROF_NONE || !line)
			return false;
		*line = (struct prof_line){ function, f->line, f->column };
		ret->num++;
	}
	return true;
}

static struct symcache_question question_at(void *ctx, size_t i)
{
	const struct prof_places *p = ctx;
	const struct prof_question *q = &p->questions.data[i];

	return (struct symcache_question){ p->modules.data[q->module], q->vaddr };
}

static int answered(void *ctx, size_t i, const struct symcache_answer *a)
{
	struct prof_places *p = ctx;
	const struct prof_question *q = &p->questions.data[i];

	if (i && q[-1].module == q->module && q[-1].vaddr == q->vaddr) {
		p->places.data[q->place] = p->places.data[q[-1].place];
		return 0;
	}
	return a->reason == SYMCACHE_NO_MEMORY ||
	       !take_answer(p, q, a, &p->places.data[q->place]) ? SC_ENOMEM : 0;
}

int prof_look_up(struct prof_places *p, struct sc_error *err)
{
	if (prof_text(p, "", 0) == PROF_NONE ||
	    !sort_questions(p->questions.data, p->questions.len) ||
	    symcache_symbolize_sorted(p->symbolizer, p->questions.len, question_at, answered, p))
		return sc_no_memory(err);
	if (p->questions.len >= RELEASE_FROM)
		symcache_caches_release_pages(p->options->caches);
	return 0;
}

void prof_note(struct prof_places *p, uint32_t mapping, uint32_t place)
{
	struct prof_mapping *m;
	const struct prof_place *of;

	p->counts.locations++;
	if (mapping == PROF_NONE)
		return;
	m = &p->mappings.data[mapping];
	if (m->missing != PROF_NONE)
		p->missing.data[m->missing].locations++;
	of = place == PROF_NONE ? NULL : &p->places.data[place];
	if (!of || !of->num)
		return;
	p->counts.found++;
	m->found = true;
	for (uint32_t i = of->first; i < of->first + of->num; i++) {
		m->has_lines |= p->lines.data[i].line != 0;
		m->has_files |= p->functions.data[p->lines.data[i].function].file != 0;
	}
}

static uint32_t id_text(struct prof_places *p, const struct prof_mapping *m)
{
	const struct symcache *cache;
	char text[SYMCACHE_BUILD_ID_TEXT];

	if (!m->found || m->id.len)
		return 0;
	cache = m->cache;
	if (!cache->image || cache->image->build_id_derived ||
	    !symcache_valid(cache, cache->image, sizeof(*cache->image)))
		return 0;
	symcache_build_id_text(text, cache->image->build_id, cache->image->build_id_len);
	return prof_text(p, text, strlen(text));
}

bool prof_name_ids(struct prof_places *p)
{
	for (size_t i = 0; i < p->mappings.len; i++) {
		struct prof_mapping *m = &p->mappings.data[i];

		m->id_text = id_text(p, m);
		if (m->id_text == PROF_NONE)
			return false;
	}
	return true;
}

void prof_hide(struct prof_places *p, uint32_t mapping)
{
	struct prof_missing *m;

	if (mapping == PROF_NONE || p->mappings.data[mapping].missing == PROF_NONE)
		return;
	m = &p->missing.data[p->mappings.data[mapping].missing];
	m->samples += m->last != p->counts.samples;
	m->last = p->counts.samples;
}

/* Mappings, and what is asked of them: see places.h; look_up.c answers. */
#include "libsymcache/profile/places.h"

#include <string.h>

#include "libsymcache/base/build_id.h"

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

void prof_forget_answers(struct prof_places *p)
{
	if (p->places.len)
		memset(p->places.data, 0, p->places.len * sizeof(*p->places.data));
	vec_clear(&p->lines);
	vec_clear(&p->functions);
	vec_clear(&p->memos);
	prof_texts_clear(&p->texts);
	sc_intern_clear(&p->function_set);
	sc_intern_clear(&p->memo_set);
}

void prof_places_clear(struct prof_places *p)
{
	vec_clear(&p->mappings);
	vec_clear(&p->modules);
	vec_clear(&p->questions);
	vec_clear(&p->places);
	prof_forget_answers(p);
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

/* ---- texts ------------------------------------------------------------------------------- */

uint32_t prof_text(struct prof_places *p, const char *text, size_t len)
{
	return prof_texts_add(&p->texts, text, len);
}

struct sc_str prof_text_of(const struct prof_places *p, uint32_t text)
{
	return prof_texts_at(&p->texts, text);
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

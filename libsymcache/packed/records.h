/* records.h: files and functions, each coded when something refers to it for the first time. */
#ifndef PACKED_RECORDS_H
#define PACKED_RECORDS_H

#include "libsymcache/packed/model.h"

/* Never 0. */
INLINE uint32_t hash_of(uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t x = a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu ^ c * 0x165667b19e3779f9u;

	x ^= x >> 32;
	return (uint32_t)(x * 0x9fb21c651e98df25u >> 32) | 1;
}

INLINE void meet_file(struct model *m, const bool packing, uint32_t i)
{
	uint32_t *words = m->files + (size_t)i * m->file_words;

	if (__builtin_expect(i >= m->header->num_files || m->file_met[i], 1))
		return;
	m->file_met[i] = true;
	for (uint32_t k = 0; k < m->file_words; k++)
		m->last_file[k] = code_string(m, packing, S_PATH, &words[k], m->last_file[k]);
	if (i >= m->next_file)
		m->next_file = i + 1;
}

/* The number of a file: as expected, or by its distance to the next new one. */
INLINE uint32_t code_file(struct model *m, const bool packing, enum stream_id s, uint32_t *v,
			  uint32_t expected)
{
	code_or(&m->k, packing, s, v, expected, m->next_file);
	meet_file(m, packing, *v);
	return *v;
}

/* What a function has in a table of functions, with one over for the unknown. */
INLINE uint32_t *of_function(const struct model *m, uint32_t *table, uint32_t function)
{
	return &table[function < m->header->num_functions ? function : m->header->num_functions];
}

/* It is likely that it begins near `near`, if anywhere, and is declared in `file`. */
static inline void meet_function(struct model *m, const bool packing, uint32_t i, uint32_t near,
				 uint32_t file)
{
	struct symcache_function *f = &m->functions[i];
	struct symcache_ext_decl *d = &m->decls[i];
	uint32_t *line;

	if (i >= m->header->num_functions || m->function_met[i])
		return;
	m->function_met[i] = true;
	/* The files of declarations have late numbers: no code_file() here. */
	code_or(&m->k, packing, S_DECL_FILE, &d->file_idx, file, m->next_file);
	line = &m->decl_lines[d->file_idx < m->header->num_files ? d->file_idx :
								   m->header->num_files];
	*line = code_diff(&m->k, packing, S_DECL_LINE, &d->line, *line);
	m->last_files[i] = d->file_idx;
	code_string(m, packing, S_NAME, &f->name, SYMCACHE_NONE);
	m->last_lang = code_diff(&m->k, packing, S_LANG, &f->lang, m->last_lang);
	code_or(&m->k, packing, S_ENTRY, &f->entry_pc, SYMCACHE_NONE, near);
	if (!packing)
		f->comp_dir = SYMCACHE_NONE;
	else if (f->comp_dir != SYMCACHE_NONE)
		coder_fail(&m->k, S_NAME, "a function with a folder");
	while (m->next_function < m->header->num_functions && m->function_met[m->next_function])
		m->next_function++;
}

#endif

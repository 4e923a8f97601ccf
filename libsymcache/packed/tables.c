/*
 * The sections that the other parts do not have, column by column: a 32-bit word against that of
 * the record before, a string or a file against that. INDX is computed. What does not consist of
 * words is carried as it is.
 */
#include "format/symcache_index.h"
#include "libsymcache/packed/records.h"

/* The words of a record in the order in which they are coded, and how: D difference, E the same to
 * the end of the record before, which the next word is the size of, S string, F file. */
static const struct { int section; const char *columns; } shapes[] = {
	{ SYMCACHE_SECTION_DATA, "1D0E2S3F4D" },
	{ SYMCACHE_SECTION_LOCALS, "0S1S2F3D4D5D6D7D8D9D" },
};

/* Sections that have parts of their own. */
static const int others[] = {
	SYMCACHE_SECTION_COLUMN, SYMCACHE_SECTION_DECL, SYMCACHE_SECTION_SYMBOL,
	SYMCACHE_SECTION_ALIAS, SYMCACHE_SECTION_DISCRIMINATOR, SYMCACHE_SECTION_DISCRIMINATORS,
	SYMCACHE_SECTION_INLINED, SYMCACHE_SECTION_INLINES, SYMCACHE_SECTION_LOCAL_RANGES,
	SYMCACHE_SECTION_LOCAL_ORDER, SYMCACHE_SECTION_UNWIND_STARTS,
};

INLINE void code_column(struct model *m, const bool packing, uint32_t *word, size_t stride,
			size_t n, char shape)
{
	uint32_t before = shape == 'S' ? SYMCACHE_NONE : 0;

	for (; n && !m->k.bad; n--, word += stride)
		if (shape == 'E')
			before = code_diff(&m->k, packing, S_WORDS, word, before) + word[1];
		else if (shape == 'S')
			before = code_string(m, packing, S_TABLE_STRING, word, before);
		else if (shape == 'F')
			before = code_file(m, packing, S_TABLE_FILE, word, before);
		else
			before = code_diff(&m->k, packing, S_WORDS, word, before);
}

/* Is it as symcache_index.h computes it? Then that is all that is stored. */
INLINE bool code_index(struct model *m, const bool packing, const struct symcache_ext_section *s)
{
	const uint32_t n = m->header->num_ranges, last = n ? m->ranges[n - 1] : 0;
	const uint32_t shift = symcache_index_shift(n, last),
		       buckets = symcache_index_buckets(shift, last);
	uint32_t *words = (uint32_t *)(m->bytes + s->offset), *made = words;
	bool same = n && s->size == 4 * ((uint64_t)buckets + 2);

	if (same && packing)
		made = coder_take(&m->k, buckets + 2, sizeof(*made));
	if (same && packing && made) {
		made[0] = shift;
		symcache_index_fill(made + 1, shift, m->ranges, n);
		same = !memcmp(made, words, s->size);
		coder_drop(&m->k, made);
	}
	if (code_num(&m->k, packing, S_HEAD, !same))
		return false;
	if (!same)
		coder_fail(&m->k, S_HEAD, "an index of another size");
	if (!packing && same) {
		words[0] = shift;
		symcache_index_fill(words + 1, shift, m->ranges, n);
	}
	return true;
}

INLINE void code_section(struct model *m, const bool packing, const struct symcache_ext_section *s)
{
	uint32_t *const first = (uint32_t *)(m->bytes + s->offset);
	const size_t words = s->entry_size / 4, n = s->size / s->entry_size;
	const char *columns = "";

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (layout_is(m, s, others[i]))
			return;
	if (layout_is(m, s, SYMCACHE_SECTION_INDEX) && code_index(m, packing, s))
		return;
	if (s->entry_size % 4) {
		code_bytes(&m->k, packing, S_RAW, m->bytes + s->offset, s->size);
		return;
	}
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		if (layout_is(m, s, shapes[i].section))
			columns = shapes[i].columns;
	for (size_t i = 0; n && i < words && !*columns; i++)
		code_column(m, packing, first + i, words, n, 'D');
	for (; *columns; columns += 2)
		code_column(m, packing, first + (*columns - '0'), words, n, columns[1]);
}

void tables_code(struct model *m, bool packing)
{
	for (uint32_t i = 0; i < m->num_sections && !m->k.bad; i++)
		if (packing)
			code_section(m, true, &m->sections[i]);
		else
			code_section(m, false, &m->sections[i]);
	for (uint32_t i = 0; i < m->header->num_files && !m->k.bad; i++)
		if (packing)
			meet_file(m, true, i);
		else
			meet_file(m, false, i);
}

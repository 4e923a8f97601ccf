/*
 * The header, and where everything lies: what symcache.md says of the order of sections is not
 * stored, but computed. A cache that is laid out otherwise is a fault: it is packed as it is.
 */
#include "libsymcache/packed/model.h"

/* The next multiple of 8; what is between is zero. */
static uint64_t padded(struct model *m, const bool packing, uint64_t at)
{
	for (; at % 8 && at < m->size; at++)
		if (!packing)
			m->bytes[at] = 0;
		else if (m->bytes[at])
			coder_fail(&m->k, S_HEAD, "padding that is not zero");
	return (at + 7) & ~(uint64_t)7;
}

static void place_base(struct model *m, const bool packing)
{
	const struct symcache_header *h = m->header;
	const uint64_t calls = (uint64_t)h->num_source_locations - h->num_ranges;
	uint64_t at[6] = { sizeof(*h) };
	const uint64_t sizes[] = {
		4 * (uint64_t)m->file_words * h->num_files,
		sizeof(*m->functions) * (uint64_t)h->num_functions,
		sizeof(*m->locations) * (uint64_t)h->num_source_locations,
		sizeof(*m->ranges) * (uint64_t)h->num_ranges, h->string_bytes,
	};

	for (int i = 0; i < 5; i++)
		at[i + 1] = i < 4 ? padded(m, packing, at[i] + sizes[i]) : at[i] + sizes[i];
	if (at[5] > m->size || h->num_ranges > h->num_source_locations) {
		coder_fail(&m->k, S_HEAD, "sections beyond the end");
		return;
	}
	m->files = (uint32_t *)(m->bytes + at[0]);
	m->functions = (void *)(m->bytes + at[1]);
	m->locations = (void *)(m->bytes + at[2]);
	m->ranges = (uint32_t *)(m->bytes + at[3]);
	m->strings = m->bytes + at[4];
	m->strings_end = at[5];
	m->num_calls = (uint32_t)calls;
	m->extended = at[5] != m->size;
}

/* What the footer says, when packing. */
static void read_sections(struct model *m)
{
	const struct symcache_ext_footer *f = (void *)(m->bytes + m->size - sizeof(*f));
	const size_t room = m->size - m->strings_end;

	if (m->size % 8 || room < sizeof(*f) ||
	    memcmp(f->magic, SYMCACHE_EXT_MAGIC, sizeof(f->magic)) ||
	    f->version != SYMCACHE_EXT_VERSION || f->file_size != m->size ||
	    f->num_sections > SYMCACHE_EXT_MAX_SECTIONS ||
	    room < sizeof(*f) + f->num_sections * sizeof(*m->sections) ||
	    f->table_offset != m->size - sizeof(*f) - f->num_sections * sizeof(*m->sections)) {
		coder_fail(&m->k, S_HEAD, "another extension area");
		return;
	}
	m->num_sections = f->num_sections;
	memcpy(m->sections, m->bytes + f->table_offset, f->num_sections * sizeof(*m->sections));
}

static void place_sections(struct model *m, const bool packing)
{
	uint64_t at = padded(m, packing, m->strings_end);

	for (uint32_t i = 0; i < m->num_sections; i++) {
		struct symcache_ext_section *s = &m->sections[i];

		if (packing && s->offset != at)
			coder_fail(&m->k, S_HEAD, "sections in another order");
		s->offset = at;
		if (s->size > m->size || !s->entry_size || s->size % s->entry_size)
			coder_fail(&m->k, S_HEAD, "a section of another size");
		at = padded(m, packing, at + s->size);
	}
	if (at + m->num_sections * sizeof(*m->sections) + sizeof(struct symcache_ext_footer) !=
	    m->size)
		coder_fail(&m->k, S_HEAD, "sections that are not as large as the cache");
}

static const struct {
	uint32_t tag, entry_size;
	enum { ANY, ONE, LOCATIONS, FUNCTIONS, CALLS } count;
} sections[SYMCACHE_SECTIONS] = {
#define SECTION_ROW_(name, a, b, c, d, record, when, num) \
	{ SYMCACHE_EXT_TAG_##name, sizeof(record), num },
	SYMCACHE_EXT_SECTIONS(SECTION_ROW_)
#undef SECTION_ROW_
};

bool layout_is(const struct model *m, const struct symcache_ext_section *s, int number)
{
	return m->known[number] == m->bytes + s->offset && sections[number].tag == s->tag;
}

/* Those that have the records, and as many, as the model expects. */
static void find_known(struct model *m)
{
	const struct symcache_header *h = m->header;
	const uint64_t counts[] = {
		[LOCATIONS] = h->num_source_locations, [FUNCTIONS] = h->num_functions,
		[CALLS] = m->num_calls,
	};

	for (uint32_t i = 0; i < m->num_sections; i++)
		for (int n = 0; n < SYMCACHE_SECTIONS; n++) {
			const struct symcache_ext_section *s = &m->sections[i];
			const uint64_t count = s->size / s->entry_size;

			if (s->tag == sections[n].tag && s->entry_size == sections[n].entry_size &&
			    !m->known[n] && count &&
			    (sections[n].count < LOCATIONS || count == counts[sections[n].count])) {
				m->known[n] = m->bytes + s->offset;
				m->counts[n] = count;
			}
		}
}

/* What the model asks of a cache that has no such section. */
static void *known_or_zeros(struct model *m, int number, size_t n, size_t size)
{
	return m->known[number] ? m->known[number] : coder_take(&m->k, n, size);
}

void layout_code(struct model *m, bool packing)
{
	struct coder *k = &m->k;
	struct symcache_header *h = m->header = (void *)m->bytes;
	uint64_t sections_and_one;

	if (m->size < sizeof(*h))
		coder_fail(k, S_HEAD, "the cache is too small");
	else
		code_bytes(k, packing, S_HEAD, h, sizeof(*h));
	if (!k->bad && (h->magic != SYMCACHE_MAGIC || h->version < SYMCACHE_VERSION_MIN ||
			h->version > SYMCACHE_VERSION_MAX))
		coder_fail(k, S_HEAD, "another version");
	if (k->bad)
		return;
	m->file_words = h->version >= SYMCACHE_FIRST_VERSION_WITH_SRCSRV ? 6 : 3;
	place_base(m, packing);
	if (packing && !k->bad && m->extended)
		read_sections(m);
	sections_and_one = code_num(k, packing, S_HEAD, m->extended ? m->num_sections + 1 : 0);
	if (!k->bad && (sections_and_one > SYMCACHE_EXT_MAX_SECTIONS + 1 ||
			!sections_and_one == m->extended))
		coder_fail(k, S_HEAD, "too many sections, or none");
	if (k->bad || !m->extended)
		sections_and_one = 1;
	m->num_sections = (uint32_t)sections_and_one - 1;
	for (uint32_t i = 0; i < m->num_sections; i++) {
		struct symcache_ext_section *s = &m->sections[i];

		code_bytes(k, packing, S_HEAD, &s->tag, sizeof(s->tag));
		s->entry_size = (uint32_t)code_num(k, packing, S_HEAD, s->entry_size);
		s->size = code_num(k, packing, S_HEAD, s->size);
	}
	if (m->extended && !k->bad) {
		code_bytes(k, packing, S_HEAD, m->bytes + m->size - 8, 8); /* the hash */
		place_sections(m, packing);
	}
	if (k->bad)
		return;
	find_known(m);
	m->columns = known_or_zeros(m, SYMCACHE_SECTION_COLUMN, h->num_source_locations, 2);
	m->discs = known_or_zeros(m, SYMCACHE_SECTION_DISCRIMINATOR, h->num_source_locations, 1);
	m->decls = known_or_zeros(m, SYMCACHE_SECTION_DECL, h->num_functions, sizeof(*m->decls));
}

void layout_finish(struct model *m)
{
	struct symcache_ext_footer f = {
		.file_size = m->size, .num_sections = m->num_sections,
		.version = SYMCACHE_EXT_VERSION, .magic = SYMCACHE_EXT_MAGIC,
	};

	if (!m->extended)
		return;
	f.table_offset = m->size - sizeof(f) - m->num_sections * sizeof(*m->sections);
	memcpy(m->bytes + f.table_offset, m->sections, m->num_sections * sizeof(*m->sections));
	memcpy(m->bytes + m->size - sizeof(f), &f, sizeof(f) - sizeof(f.hash));
}

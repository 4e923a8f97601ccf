/* made_test.h: for tests: a cache with each section and each kind of record, made up from a seed.
 * It is the same whatever compilers, libraries and the writer of caches are; no cache of a program
 * has all of it. */
#ifndef PACKED_MADE_TEST_H
#define PACKED_MADE_TEST_H

#include <stdio.h>

#include <xxhash.h>

#include "format/symcache_index.h"
#include "libsymcache/packed/testing.h"

enum { MADE_FILES = 12, MADE_FUNCTIONS = 160, MADE_MOST = 4096, MADE_ROOM = 1 << 20, MADE_DEPTH = 40 };
enum { MADE_RARE = 100 }; /* from this seed on with what programs hardly have, such as deep chains */

struct made {
	uint64_t seed;
	bool rare;
	uint8_t *bytes;
	size_t len;
	struct symcache_header h;
	struct symcache_ext_section table[SYMCACHE_EXT_MAX_SECTIONS];
	uint32_t num_sections, pc, num_names, num_calls, num_starts;
	uint8_t strings[1 << 16];
	uint32_t names[1024]; /* offsets of strings */
	struct symcache_function functions[MADE_FUNCTIONS];
	struct symcache_source_location calls[MADE_MOST], locations[MADE_MOST];
	uint32_t ranges[MADE_MOST], starts[MADE_MOST]; /* starts: by calls, where the inlined code begins */
	struct symcache_ext_detail more_starts[MADE_MOST];
};

static inline uint32_t made_below(struct made *m, uint32_t n)
{
	return testing_below(&m->seed, n);
}

static inline void made_string(struct made *m, const char *s)
{
	uint32_t len = (uint32_t)strlen(s), at = m->h.string_bytes;

	m->names[m->num_names++] = at;
	if (m->h.version == 7) {
		memcpy(m->strings + at, &len, 4);
		at += 4;
	} else {
		for (; len >= 0x80; len >>= 7)
			m->strings[at++] = (uint8_t)(len | 0x80);
		m->strings[at++] = (uint8_t)len;
	}
	memcpy(m->strings + at, s, strlen(s));
	m->h.string_bytes = at + (uint32_t)strlen(s);
}

/* Names as they are in programs: with others of the same core, with the same beginning, long
 * ones. */
static inline void made_strings(struct made *m)
{
	static const char *const forms[] = {
		"%s%u", "__GI_%s%u", "%s%u.cold", "_%s%u@@GLIBC_2.2.5", "%s%u.part.0", "%s%u.constprop.0.isra.0",
	};
	static const char *const words[] = { "read_the_", "read_", "ab", "_ZN4demo5thing", "a_long_one_" };
	char name[400];

	made_string(m, "");
	made_string(m, "/usr/src/demo");
	for (unsigned i = 0; i < 400; i++) {
		const unsigned which = made_below(m, 5), form = made_below(m, 6),
			       number = made_below(m, 150);
		int n = 0;

		if (which == 4)
			n = snprintf(name, sizeof(name), "%0*u", (int)made_below(m, 300), i);
		snprintf(name + n, sizeof(name) - (size_t)n, forms[form], words[which], number);
		made_string(m, name);
	}
	/* With cores of one and two letters, and an empty one at the end. */
	for (unsigned i = 0; i < 40 && m->rare; i++) {
		snprintf(name, sizeof(name), "%s%c%s", i % 3 ? "_" : "", (int)('a' + made_below(m, 3)),
			 (const char *[]){ "", "b", ".cold", "@V1", "b.part" }[made_below(m, 5)]);
		made_string(m, i < 39 ? name : "");
	}
}

static inline uint32_t made_name(struct made *m)
{
	return made_below(m, 20) ? m->names[made_below(m, m->num_names)] : SYMCACHE_NONE;
}

/* A call at the end of the chain that `into` is the last of: a new one, or one that was there
 * before. */
static inline uint32_t made_call(struct made *m, uint32_t function, uint32_t into)
{
	for (uint32_t i = m->num_calls; i-- > 0 && m->num_calls - i < 8 && made_below(m, 3);)
		if (m->calls[i].function_idx == function && m->calls[i].inlined_into_idx == into)
			return i;
	m->starts[m->num_calls] = m->pc;
	m->calls[m->num_calls] = (struct symcache_source_location){
		function % MADE_FILES, 10 * function + made_below(m, 9), function, into };
	return m->num_calls++;
}

/* The ranges of a function, with what is inlined there, and a gap behind it at times. */
static inline void made_function(struct made *m, uint32_t function)
{
	uint32_t into[MADE_DEPTH + 1] = { SYMCACHE_NONE }, in[MADE_DEPTH + 1] = { function }, depth = 0, file;

	m->functions[function].entry_pc = m->pc;
	for (uint32_t n = 1 + made_below(m, 24); n; n--) {
		/* Many new calls at once, each in the one before? */
		const bool deep = m->rare && !depth && m->num_calls < MADE_MOST / 2 && !made_below(m, 2);

		for (uint32_t more = deep ? made_below(m, MADE_DEPTH) : 0; more; more--, depth++) {
			into[depth + 1] = made_call(m, in[depth], into[depth]);
			in[depth + 1] = (in[depth] + 1) % MADE_FUNCTIONS;
		}
		if (depth < 6 && made_below(m, 3) == 0) {
			into[depth + 1] = made_call(m, in[depth], into[depth]);
			in[depth + 1] = made_below(m, 4) ? (function + 1 + depth) % MADE_FUNCTIONS :
							   made_below(m, MADE_FUNCTIONS);
			depth++;
		} else if (depth && made_below(m, 3) == 0) {
			depth--;
		}
		file = made_below(m, 9) ? in[depth] : made_below(m, MADE_FILES);
		m->ranges[m->h.num_ranges] = m->pc;
		m->locations[m->h.num_ranges++] = (struct symcache_source_location){
			file % MADE_FILES, 10 * in[depth] + made_below(m, 7), in[depth], into[depth] };
		m->pc += 1 + made_below(m, made_below(m, 20) ? 30 : 3000);
	}
	if (made_below(m, 3) == 0) {
		m->ranges[m->h.num_ranges] = m->pc;
		m->locations[m->h.num_ranges++] = (struct symcache_source_location){
			SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE };
		m->pc = made_below(m, 4) ? (m->pc + 16) & ~15u : m->pc + 1 + made_below(m, 70000);
	}
}

static inline void made_put(struct made *m, const void *data, size_t size)
{
	m->len = (m->len + 7) & ~(size_t)7;
	if (m->len + size > MADE_ROOM)
		abort();
	memcpy(m->bytes + m->len, data, size);
	m->len += size;
}

static inline void made_section(struct made *m, uint32_t tag, size_t entry, const void *data,
				size_t n)
{
	const struct symcache_ext_section s = { tag, (uint32_t)entry, (m->len + 7) & ~(size_t)7,
						entry * n };

	m->table[m->num_sections++] = s;
	made_put(m, data, s.size);
}

static inline void made_base(struct made *m)
{
	uint32_t files[MADE_FILES * 6];
	const uint32_t words = m->h.version == 9 ? 6 : 3;

	m->h.num_files = MADE_FILES;
	m->h.num_functions = MADE_FUNCTIONS;
	m->h.num_source_locations = m->num_calls + m->h.num_ranges;
	for (uint32_t i = 0; i < MADE_FILES * words; i++)
		files[i] = i % words ? made_name(m) : m->names[1];
	made_put(m, &m->h, sizeof(m->h));
	made_put(m, files, sizeof(*files) * MADE_FILES * words);
	made_put(m, m->functions, sizeof(m->functions));
	made_put(m, m->calls, sizeof(*m->calls) * m->num_calls);
	made_put(m, m->locations, sizeof(*m->locations) * m->h.num_ranges);
	made_put(m, m->ranges, sizeof(*m->ranges) * m->h.num_ranges);
	made_put(m, m->strings, m->h.string_bytes);
}

/* COLS, DISC, DISX, INLS, INLX, DECL, QUAL */
static inline void made_details(struct made *m)
{
	static uint16_t columns[2 * MADE_MOST];
	static uint8_t discs[2 * MADE_MOST];
	static struct symcache_ext_detail more[MADE_MOST];
	struct symcache_ext_decl decls[MADE_FUNCTIONS];
	struct symcache_ext_qualified qualified[MADE_FUNCTIONS / 8];
	uint32_t num_more = 0, starts = 0;

	for (uint32_t i = 0; i < m->h.num_source_locations; i++) {
		const bool gap = i >= m->num_calls &&
				 m->locations[i - m->num_calls].function_idx == SYMCACHE_NONE;
		const uint32_t at = i < m->num_calls ? 0 : m->ranges[i - m->num_calls];

		columns[i] = (uint16_t)(gap ? 0 : made_below(m, made_below(m, 30) ? 5 : 65536));
		discs[i] = (uint8_t)(gap || made_below(m, 4) ? 0 : made_below(m, 6) ? made_below(m, 4) :
				     SYMCACHE_DISCRIMINATOR_MORE);
		for (uint32_t k = 0, n = made_below(m, 3); discs[i] == SYMCACHE_DISCRIMINATOR_MORE && k < n; k++)
			more[num_more++] = (struct symcache_ext_detail){ i, at + 2 * k, made_below(m, 900) };
	}
	for (uint32_t i = 0; i < m->num_calls; i++) {
		const uint32_t kind = made_below(m, 8), start = m->starts[i];

		for (uint32_t k = 0; kind == 0 && k < 2; k++)
			m->more_starts[starts++] = (struct symcache_ext_detail){ i, start + 5 * k,
				made_below(m, 3) ? start + 5 * k : made_below(m, 2) ? SYMCACHE_NONE : start };
		m->starts[i] = kind == 0 ? SYMCACHE_START_MORE : kind == 1 ? SYMCACHE_NONE :
			       kind == 2 ? start + made_below(m, 40) : start;
	}
	for (uint32_t i = 0; i < MADE_FUNCTIONS; i++) {
		const uint32_t file = made_below(m, 6) ? i % MADE_FILES : SYMCACHE_NONE;

		decls[i] = (struct symcache_ext_decl){ file, 10 * i + made_below(m, 3) };
		if (i % 8 == 0)
			qualified[i / 8] = (struct symcache_ext_qualified){ i, made_name(m) };
	}
	made_section(m, SYMCACHE_EXT_TAG_COLUMN, 2, columns, m->h.num_source_locations);
	made_section(m, SYMCACHE_EXT_TAG_DECL, 8, decls, MADE_FUNCTIONS);
	made_section(m, SYMCACHE_EXT_TAG_DISCRIMINATOR, 1, discs, m->h.num_source_locations);
	made_section(m, SYMCACHE_EXT_TAG_DISCRIMINATORS, 12, more, num_more);
	made_section(m, SYMCACHE_EXT_TAG_INLINED, 4, m->starts, m->num_calls);
	made_section(m, SYMCACHE_EXT_TAG_INLINES, 12, m->more_starts, starts);
	made_section(m, SYMCACHE_EXT_TAG_QUALIFIED, 8, qualified, MADE_FUNCTIONS / 8);
}

/* DATA, SYMS, ALSO: symbols of functions, of data, of both and of neither. */
static inline void made_symbols(struct made *m)
{
	struct symcache_ext_data data[40];
	struct symcache_ext_symbol symbols[MADE_FUNCTIONS + 40];
	struct symcache_ext_alias aliases[60];
	uint32_t n = 0, names = 0;

	for (uint32_t i = 0; i < 40; i++) {
		data[i].address = m->pc + 64 * (i / 2);
		data[i].size = made_below(m, 64);
		data[i].name = made_name(m);
		data[i].file_idx = made_below(m, 5) ? made_below(m, MADE_FILES) : SYMCACHE_NONE;
		data[i].line = made_below(m, 99);
	}
	for (uint32_t i = 0; i < MADE_FUNCTIONS; i++) {
		const struct symcache_function *f = &m->functions[i];
		const uint32_t next = i + 1 < MADE_FUNCTIONS ? f[1].entry_pc : m->pc;

		if (f->entry_pc == SYMCACHE_NONE || made_below(m, 9) == 0)
			continue;
		symbols[n].address = f->entry_pc + (made_below(m, 8) == 0);
		symbols[n].size = made_below(m, 4) && next != SYMCACHE_NONE ? next - f->entry_pc : made_below(m, 300);
		symbols[n].name = made_below(m, 5) ? f->name : made_name(m);
		symbols[n++].file = made_below(m, 3) ? SYMCACHE_NONE : m->names[i / 16];
		if (made_below(m, 4) == 0 && names + 2 < 60)
			aliases[names++] = (struct symcache_ext_alias){ f->entry_pc, made_name(m) };
		if (made_below(m, 9) == 0 && names < 60)
			aliases[names++] = (struct symcache_ext_alias){ f->entry_pc + 3,
									made_name(m) };
	}
	for (uint32_t i = 0; i < 40; i += 2)
		symbols[n++] = (struct symcache_ext_symbol){ data[i].address,
							     data[i + i / 2 % 2].size, data[i].name,
							     SYMCACHE_NONE };
	made_section(m, SYMCACHE_EXT_TAG_DATA, 20, data, 40);
	made_section(m, SYMCACHE_EXT_TAG_SYMBOL, 16, symbols, n);
	made_section(m, SYMCACHE_EXT_TAG_ALIAS, 8, aliases, names);
}

/* LOCR, LOCI, LOCV */
static inline void made_locals(struct made *m)
{
	static struct symcache_ext_local_range ranges[MADE_MOST];
	static uint32_t order[MADE_MOST];
	struct symcache_ext_local locals[50] = { 0 };
	uint32_t n = 0, end = 0;

	for (uint32_t i = 0; i < m->h.num_ranges; i += 1 + made_below(m, 6), n++) {
		const uint32_t count = made_below(m, 4), again = n ? made_below(m, n) : 0;

		ranges[n] = (struct symcache_ext_local_range){ m->ranges[i] + (made_below(m, 12) == 0), end, count };
		if (n && made_below(m, 3) == 0) {
			ranges[n].first = ranges[again].first;
			ranges[n].count = ranges[again].count;
		} else {
			end += count;
		}
	}
	for (uint32_t i = 0, next = 0; i < end; i++)
		order[i] = next < 50 && made_below(m, 2) ? next++ : made_below(m, next ? next : 1);
	for (uint32_t i = 0; i < 50; i++) {
		locals[i].function = made_name(m);
		locals[i].name = made_name(m);
		locals[i].file_idx = i % MADE_FILES;
		locals[i].line = made_below(m, 500);
		locals[i].offset = -(int64_t)made_below(m, 200);
		locals[i].size = 1ull << made_below(m, 40);
		locals[i].tag = i % 3;
		locals[i].flags = i % 8;
	}
	made_section(m, SYMCACHE_EXT_TAG_LOCAL_RANGES, 12, ranges, n);
	made_section(m, SYMCACHE_EXT_TAG_LOCAL_ORDER, 4, order, end);
	made_section(m, SYMCACHE_EXT_TAG_LOCALS, 40, locals, 50);
}

/* UNWP, UNWD, UNWR, UNWS, UNWX, UNWH: starts lie on each page, at functions, between them, behind
 * gaps. */
static inline void made_unwind(struct made *m)
{
	static struct symcache_ext_start starts[2 * MADE_MOST];
	struct symcache_ext_row rows[9] = { { .cfa = SYMCACHE_CFA_NONE } };
	struct symcache_ext_rule rules[6];
	const struct symcache_ext_unwind facts = { 7, 6, SYMCACHE_UNWIND_RETURN, 8, 1, 0, 0xf0 };
	uint32_t pages[64] = { 0 }, n = 0, page = 0, last = UINT32_MAX;

	for (uint32_t i = 0; i < m->h.num_ranges; i += 1 + made_below(m, 3)) {
		const uint32_t at = m->ranges[i] + made_below(m, 2);

		if (at == last)
			continue;
		for (; page <= at >> SYMCACHE_UNWIND_PAGE_SHIFT; page++)
			pages[page] = n;
		starts[n++] = (struct symcache_ext_start){ (uint16_t)at,
							   (uint16_t)made_below(m, 9) };
		last = at;
	}
	pages[page++] = n;
	for (int32_t i = 1; i < 9; i++)
		rows[i] = (struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, 7, (uint8_t)made_below(m, 3),
						     2, 8 * i, (uint32_t)i % 5 };
	for (int32_t i = 0; i < 6; i++)
		rules[i] = (struct symcache_ext_rule){ (uint8_t)(3 + i), SYMCACHE_RULE_AT_CFA, 0,
						       -8 * i };
	made_section(m, SYMCACHE_EXT_TAG_UNWIND_PAGES, 4, pages, page);
	made_section(m, SYMCACHE_EXT_TAG_UNWIND_STARTS, 4, starts, n);
	made_section(m, SYMCACHE_EXT_TAG_UNWIND_ROWS, 12, rows, 9);
	made_section(m, SYMCACHE_EXT_TAG_UNWIND_RULES, 8, rules, 6);
	made_section(m, SYMCACHE_EXT_TAG_UNWIND_EXPRESSIONS, 1, "\3\0abc", 5);
	made_section(m, SYMCACHE_EXT_TAG_UNWIND, 16, &facts, 1);
}

/* IMAG, SEGM, INDX, and two that a later version may have: words around the sizes that numbers take
 * one byte more from, and records of three bytes. */
static inline void made_others(struct made *m)
{
	static const uint32_t from[] = { 0, 0x70, 0xc70, 0x38c70, 0x40000000 };
	const struct symcache_ext_segment segments[] = { { 0x1000, 0x401000, m->pc, 0, 0 },
							 { 0x5000, 0x500000, 0x99, 1, 0 } };
	const struct symcache_ext_image image = { .load_base = 0x400000, .image_size = m->pc, .machine = 62,
		.elf_class = 64, .build_id_len = 20, .sources = 31, .soname = m->names[7], .writer = SYMCACHE_NONE,
		.build_id = "twenty bytes of ids" };
	const uint32_t last = m->ranges[m->h.num_ranges - 1];
	static uint32_t index[MADE_MOST];
	uint32_t words[5 * 9], at = 0;

	for (uint32_t i = 0; i < 5 * 9; i++)
		words[i] = at += i % 2 ? from[i / 9] + i % 9 - 4 : 0u - from[i / 9] - i % 9 + 4;
	index[0] = symcache_index_shift(m->h.num_ranges, last);
	symcache_index_fill(index + 1, index[0], m->ranges, m->h.num_ranges);
	made_section(m, SYMCACHE_EXT_TAG_IMAGE, sizeof(image), &image, 1);
	made_section(m, SYMCACHE_EXT_TAG_SEGMENT, sizeof(*segments), segments, 2);
	made_section(m, SYMCACHE_EXT_TAG_INDEX, 4, index,
		     symcache_index_buckets(index[0], last) + 2);
	made_section(m, SYMCACHE_EXT_TAG('W', 'O', 'R', 'D'), 4, words, 5 * 9);
	made_section(m, SYMCACHE_EXT_TAG('O', 'D', 'D', '3'), 3, "one two", 2);
}

/* Its bytes are the caller's to free(). */
static inline struct cache made_cache(uint32_t version, uint64_t seed)
{
	struct symcache_ext_footer footer = { .version = SYMCACHE_EXT_VERSION,
					      .magic = SYMCACHE_EXT_MAGIC };
	struct made *m = calloc(1, sizeof(*m));
	struct cache c;

	*m = (struct made){ .seed = seed, .rare = seed >= MADE_RARE, .bytes = calloc(1, MADE_ROOM), .pc = 0x40,
			    .h = { .magic = SYMCACHE_MAGIC, .version = version, .arch = SYMCACHE_ARCH_AMD64 } };
	made_strings(m);
	for (uint32_t i = 0; i < MADE_FUNCTIONS; i++)
		m->functions[i] = (struct symcache_function){ made_name(m), SYMCACHE_NONE, SYMCACHE_NONE,
			i % 8 ? SYMCACHE_LANG_CPP : SYMCACHE_LANG_C };
	for (uint32_t i = 0; i < MADE_FUNCTIONS; i += 1 + (made_below(m, 9) == 0) * (m->rare ? 3 : 1))
		made_function(m, i);
	made_base(m);
	made_details(m);
	made_symbols(m);
	made_locals(m);
	made_unwind(m);
	made_others(m);
	footer.table_offset = (m->len + 7) & ~(size_t)7;
	footer.num_sections = m->num_sections;
	made_put(m, m->table, m->num_sections * sizeof(*m->table));
	footer.file_size = m->len + sizeof(footer);
	made_put(m, &footer, sizeof(footer));
	footer.hash = XXH3_64bits(m->bytes, m->len - 8);
	memcpy(m->bytes + m->len - 8, &footer.hash, 8);
	c = (struct cache){ m->bytes, m->len };
	free(m);
	return c;
}

#endif

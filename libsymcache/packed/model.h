/*
 * model.h: one cache as the model sees it, and what it remembers.
 *
 * The writer of caches numbers files, functions, calls and strings as its ranges meet them, so
 * most references say "the next new one"; the rest is predicted from what both directions know.
 *
 *   caches.c    the caches of a file
 *   layout.c    the header and where everything lies
 *   strings.c   the strings
 *   scopes.c    the ranges: which function, inlined into which call; scope.h
 *   places.h    file, line, column; what is inlined at a call
 *   records.h   files and functions, when they are first met
 *   details.c   DISX, INLS, INLX
 *   locals.c    LOCR, LOCI
 *   symbols.c   SYMS, UNWD
 *   tables.c    all other sections, column by column
 */
#ifndef PACKED_MODEL_H
#define PACKED_MODEL_H

#include "format/symcache_format.h"
#include "libsymcache/packed/coder.h"
#include "libsymcache/packed/packed.h"

/* What was found behind a key the last time; key 0: nothing yet. */
struct guess {
	uint32_t key, value;
};
struct place {
	uint32_t key, file, line;
	uint32_t spot; /* column | discriminator << 16 */
};

/* A function, and the call that it is inlined into; and where it was last. */
struct scope {
	uint32_t function, into, file, line;
	uint32_t key; /* hash of its last place */
};

enum { SCOPES = 64, RECENT = 256 };

struct model {
	struct coder k;
	uint8_t *bytes;
	size_t size;

	/* layout.c */
	struct symcache_header *header;
	uint32_t file_words, num_calls;
	uint32_t *files, *ranges;
	struct symcache_function *functions;
	struct symcache_source_location *locations;
	uint8_t *strings;
	size_t strings_end;
	bool extended;
	uint32_t num_sections;
	struct symcache_ext_section sections[SYMCACHE_EXT_MAX_SECTIONS];
	void *known[SYMCACHE_SECTIONS]; /* NULL: it has none, or of another shape */
	size_t counts[SYMCACHE_SECTIONS];
	uint16_t *columns;              /* zeros, where it has none; those, too: */
	uint8_t *discs;
	struct symcache_ext_decl *decls;

	/* strings.c */
	uint32_t num_strings, next_string;
	uint32_t *offsets;              /* unpacking: by number */
	uint64_t *begins;               /* packing: a bit for each byte at which one begins */
	uint32_t *ranks;                /* how many do before each word of these */

	/* records.h */
	uint32_t next_file, next_function, last_lang;
	uint32_t last_file[6];
	bool *file_met, *function_met;
	uint32_t *decl_lines;           /* by files: of the last declaration there */
	uint32_t *last_files;           /* by functions: of its last place */

	/* places.h */
	uint32_t mask;                  /* of the tables' keys */
	struct place *places[2];        /* of ranges, of calls: what came behind a place */
	struct guess *spots;            /* by lines */
	struct guess *callees;          /* by places of calls, and by the callee before */
	uint32_t recent[RECENT], last_callee;

	/* scopes.c */
	uint32_t next_call, after_into, after_outer;
	uint32_t *callee_of;            /* by calls */
	struct scope scopes[SCOPES];
	uint8_t order[SCOPES];          /* the most recent first */
};

/* Codes caches[0, n) into or out of the streams of *k; a fault is in there. Unpacking, the bytes of
 * each are what is filled in. `modelled`, when packing: are they to be, if they can? */
void caches_code(struct coder *k, bool packing, const struct packed_bytes caches[], size_t n,
		 bool modelled);

/* ---- the parts ----------------------------------------------------------------------- */

/* All of them code into or out of m->k; a fault is in there. */
void layout_code(struct model *m, bool packing);
void layout_finish(struct model *m); /* unpacking: the table of sections and the footer */
void strings_code(struct model *m, bool packing);
void scopes_code(struct model *m, bool packing);
void details_code(struct model *m, bool packing);
void symbols_code(struct model *m, bool packing);
void unwind_code(struct model *m, bool packing);
void locals_code(struct model *m, bool packing);
void tables_code(struct model *m, bool packing);

/* Are records of section `i`, of that shape, coded with the ranges, or by themselves? */
bool layout_is(const struct model *m, const struct symcache_ext_section *s, int number);

/* ---- strings ------------------------------------------------------------------------- */

/* The number of the string at an offset, when packing. */
static inline uint32_t string_number(struct model *m, enum stream_id s, uint32_t offset)
{
	const uint32_t word = offset / 64, bit = offset % 64;

	if (offset >= m->header->string_bytes || !(m->begins[word] >> bit & 1)) {
		coder_fail(&m->k, s, "no string begins there");
		return 0;
	}
	return m->ranks[word] +
	       (uint32_t)__builtin_popcountll(m->begins[word] & (((uint64_t)1 << bit) - 1));
}

/* The offset of a string: as expected, none, or by its distance to the next new one. */
INLINE uint32_t code_string(struct model *m, const bool packing, enum stream_id s, uint32_t *v,
			    uint32_t expected)
{
	uint32_t n;

	if (packing) {
		if (*v == expected || *v == SYMCACHE_NONE) {
			coder_put(&m->k, s, *v != expected);
			return *v;
		}
		n = string_number(m, s, *v);
		coder_put(&m->k, s, 2 + (uint64_t)zigzag(n - m->next_string));
	} else {
		const uint64_t x = coder_get(&m->k, s);

		if (x < 2)
			return *v = x ? SYMCACHE_NONE : expected;
		n = m->next_string + unzigzag((uint32_t)(x - 2));
		if (n >= m->num_strings) {
			coder_fail(&m->k, s, "no such string");
			return *v = SYMCACHE_NONE;
		}
		*v = m->offsets[n];
	}
	if (n >= m->next_string)
		m->next_string = n + 1;
	return *v;
}

#endif

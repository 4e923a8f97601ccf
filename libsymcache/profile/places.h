/*
 * places.h: addresses in the mappings of a profile → frames, in batches → functions.
 *
 * A reader adds the mappings of its profile and asks for the place of each location; then all
 * are looked up together, by module and ascending, so that neighbours share what is read. Equal
 * places are looked up once, equal functions are one. Cost: 16 bytes a question, 8 a place, 12 a
 * frame of places that differ.
 */
#ifndef SC_PROFILE_PLACES_H
#define SC_PROFILE_PLACES_H

#include "libsymcache/profile/profile.h"
#include "libsymcache/profile/texts.h"
#include "libsymcache/symbolize/process.h"


/* A mapping of the profile. Strings are borrowed from it as long as it is read. */
struct prof_mapping {
	uint64_t start, limit, offset; /* addresses, bytes of the file */
	struct sc_str name, id;  /* the file's path, its build ID as text */
	/* Filled in by places: */
	uint32_t module;               /* PROF_NONE: not known, or not asked for yet */
	bool asked;
	const struct symcache *cache;  /* of the module */
	bool found, has_files, has_lines; /* something in it was found, with that */
	enum symcache_origin origin;   /* and */
	uint64_t base;                 /* offset of `start`, from there on */
	uint32_t missing;              /* its number among those that lack symbols, PROF_NONE */
	uint32_t id_text;              /* prof_name_ids() */
	const uint8_t *at;             /* where the profile has it: the reader's */
};

/* Texts are p->texts, of which 0 is "". */
struct prof_function {
	uint32_t name, system_name, file; /* texts */
	uint32_t start_line;
};

struct prof_line {
	uint32_t function, line, column;  /* 0: unknown, of the last two */
};

struct prof_place {
	uint32_t first, num;  /* of its lines, innermost first; num 0: nothing was found */
};

struct prof_question {
	uint64_t vaddr;
	uint32_t module, place;
};

struct prof_memo { /* a frame of a cache, and the function that it is of */
	uint32_t module, function, file, symbol, is;
};

struct prof_missing { /* its text is NAME\0ID */
	uint64_t samples, locations;
	uint64_t last; /* sample that was counted */
};

struct prof_places {
	const struct symprofile_options *options;
	struct symcache_finder finder;
	struct symcache_symbolizer *symbolizer;
	/* Of the profile that is read: */
	VEC(struct prof_mapping) mappings;
	VEC(struct symcache_module *) modules;
	VEC(struct prof_question) questions;
	VEC(struct prof_place) places;
	VEC(struct prof_line) lines;
	VEC(struct prof_function) functions;
	VEC(struct prof_memo) memos;
	struct prof_texts texts;
	struct sc_intern function_set, memo_set;
	/* Of all: */
	struct symprofile_counts counts;
	VEC(struct prof_missing) missing;
	bool no_memory; /* for one of them, or for a module */
	struct prof_texts missing_texts;
};

/* SC_ENOMEM. `options` is borrowed. */
int prof_places_init(struct prof_places *p, const struct symprofile_options *options,
		     struct sc_error *err);
void prof_places_deinit(struct prof_places *p); /* all zero is fine */

/* Forgets the profile; or what was found, not what was asked. */
void prof_places_clear(struct prof_places *p);
void prof_forget_answers(struct prof_places *p);

/* A further mapping: its number is p->mappings.len before. NULL: out of memory. */
struct prof_mapping *prof_add_mapping(struct prof_places *p);

/* Asks for `address` in a mapping (PROF_NONE: it is in none); *place is PROF_NONE if it cannot be
 * looked up, which is counted. SC_ENOMEM. */
int prof_ask(struct prof_places *p, uint32_t mapping, uint64_t address, uint32_t *place,
	     struct sc_error *err);

/* The same of an address in the ELF file. */
int prof_ask_vaddr(struct prof_places *p, uint32_t mapping, uint64_t vaddr, uint32_t *place,
		   struct sc_error *err);

/* Looks up what was asked for: p->places, lines, functions, texts. A module whose cache is damaged
 * where one of them needs it has no names, but by what replaces the cache. SC_ENOMEM. */
int prof_look_up(struct prof_places *p, struct sc_error *err);

/* What was found of the place of a location in this mapping goes to its account. */
void prof_note(struct prof_places *p, uint32_t mapping, uint32_t place);

/* The sample after p->counts.samples others has a frame in this mapping: it counts for the module,
 * if that is missing. */
void prof_hide(struct prof_places *p, uint32_t mapping);

/* Sets id_text of each mapping that has no build ID and whose module, in which something was
 * found, has one; else to 0. False: out of memory. */
bool prof_name_ids(struct prof_places *p);

/* The p_vaddr of an address; false: it is outside of the mapping, or of the module's code. */
bool prof_vaddr(const struct prof_mapping *m, uint64_t address, uint64_t *vaddr);

/* The mapping's module, looked for when it is first asked for; PROF_NONE: none. */
uint32_t prof_module_of(struct prof_places *p, struct prof_mapping *m);

/* prof_texts_add() and prof_texts_at() of its texts. */
uint32_t prof_text(struct prof_places *p, const char *text, size_t len);
struct sc_str prof_text_of(const struct prof_places *p, uint32_t text);

#endif

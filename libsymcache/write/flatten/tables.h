/*
 * The tables of a cache under construction: strings, files, functions and call
 * locations, each thing once. Numbers are given in the order of arrival; the
 * writer renumbers them by first use.
 */
#ifndef SC_TABLES_H
#define SC_TABLES_H

#include <pthread.h>

#include "libsymcache/base/intern.h"
#include "libsymcache/base/str.h"
#include "libsymcache/base/vec.h"

#define SC_NONE 0xffffffffu

struct sc_string {
	const char *ptr; /* borrowed */
	uint32_t len;
	uint32_t hash;   /* of the set's, so that tables are joined without reading strings */
};

struct sc_long_string {
	const char *ptr;
	uint32_t number;
};

/* String numbers, SC_NONE where a part is absent. */
struct sc_file {
	uint32_t comp_dir, dir, name;
};

struct sc_function {
	uint32_t name;      /* string number or SC_NONE */
	uint32_t qualified; /* the same: with its scopes, where `name` lacks them */
	uint32_t entry;     /* relative; SC_NONE: inlined */
	uint32_t lang;      /* enum symcache_lang or SYMCACHE_LANG_SYMTAB */
	uint32_t decl_file; /* file number or SC_NONE */
	uint32_t decl_line;
};

/* Where something stands: of a range, or the call site of an inlined call. */
struct sc_location {
	uint32_t file;         /* file number or SC_NONE */
	uint32_t line, column; /* 0: unknown */
	uint32_t function;     /* SC_NONE: no source location at all */
	uint32_t inlined_into; /* number of a call location or SC_NONE */
	uint32_t discriminator; /* splits no range of the cache: see struct sc_discriminator */
};

/* Equal but for the discriminator? */
static inline bool sc_same_place(const struct sc_location *a, const struct sc_location *b)
{
	return a->line == b->line && a->column == b->column && a->file == b->file &&
	       a->function == b->function && a->inlined_into == b->inlined_into;
}

struct sc_tables {
	pthread_mutex_t *lock; /* where several threads add to them; else NULL */
	/* Strings that lie in these bytes will not last; they are copied. */
	struct sc_str transient[2];
	VEC(char *) copies;  /* blocks of copied strings */
	char *copies_end;    /* of the last block */
	size_t copies_left;  /* bytes free before it */
	VEC(struct sc_string) strings;
	uint64_t string_bytes; /* of all of them */
	uint64_t string_limit; /* above which no more are taken; 0: UINT32_MAX */
	bool not_utf8;         /* one of them was not */
	VEC(struct sc_file) files;
	VEC(struct sc_function) functions;
	VEC(struct sc_location) calls;
	struct sc_intern string_set, file_set, function_set, call_set;
	/* Section strings come again and again from the same place: pointers
	 * are looked up before contents are hashed. Direct-mapped. */
	struct { const char *ptr; uint32_t number; } recent[4096];
	/* All long strings by their pointers: many things may have the same long name, which
	 * is read once. */
	VEC(struct sc_long_string) long_strings;
	struct sc_intern long_set;
};

void sc_tables_deinit(struct sc_tables *t);

/* True if strings were left out: names may be the ends of one long name, and cost as much as
 * all of them. What the tables have is of no use then. */
static inline bool sc_table_strings_refused(const struct sc_tables *t)
{
	return t->string_bytes > (t->string_limit ? t->string_limit : UINT32_MAX);
}

/* Each returns the number of an equal record, added if it is new; false: out of
 * memory (or 2³² records). A NULL or empty string is SC_NONE. So is what comes
 * when there are more strings than the limit. */
bool sc_table_string(struct sc_tables *t, const char *s, uint32_t *ret);
/* sc_table_string() of n strings: a few times as fast where there are many new ones, for
 * memory is asked for what the next ones need meanwhile. */
bool sc_table_strings(struct sc_tables *t, const char *const *s, size_t n, uint32_t *ret);
/* A string that does not last: it is copied if it is new. */
bool sc_table_passing_string(struct sc_tables *t, const char *s, uint32_t *ret);
bool sc_table_file(struct sc_tables *t, const char *comp_dir, const char *dir,
		   const char *name, uint32_t *ret);
bool sc_table_file_record(struct sc_tables *t, const struct sc_file *f, uint32_t *ret);
bool sc_table_function(struct sc_tables *t, const struct sc_function *f, uint32_t *ret);

/* Calls are distinguished within a unit only: those of another lead to another
 * function. The set of them stays small, in the cache of the core. */
void sc_table_calls_new_unit(struct sc_tables *t);
bool sc_table_call(struct sc_tables *t, const struct sc_location *l, uint32_t *ret);

/* Numbers of some tables → numbers of those that they were added to. */
struct sc_maps {
	uint32_t *strings, *files, *functions;
	uint32_t first_call; /* calls are of one unit each, so of one table: they are moved */
};

static inline uint32_t sc_moved(const uint32_t *map, uint32_t number)
{
	return number == SC_NONE ? SC_NONE : map[number];
}

static inline void sc_location_move(struct sc_location *l, const struct sc_maps *m)
{
	l->file = sc_moved(m->files, l->file);
	l->function = sc_moved(m->functions, l->function);
	if (l->inlined_into != SC_NONE)
		l->inlined_into += m->first_call;
}

/* Adds all of `from` to `to`, which becomes the owner of the strings that `from` copied.
 * False: out of memory. */
bool sc_tables_add(struct sc_tables *to, struct sc_tables *from, struct sc_maps *ret);
void sc_maps_deinit(struct sc_maps *m);

#endif

/*
 * names.h: functions and files as they are shown, each made once for all threads.
 *
 * A log of a million addresses has some ten thousand names and paths. They are
 * found again by their index in the cache: an array of names and one of paths for
 * each module, whose entries are set once, by whichever thread comes first, and
 * read without a lock. Memory is bounded: when the texts of a book are too many a
 * new one is begun, and the old one goes with the last thread that leaves it.
 */
#ifndef CMD_NAMES_H
#define CMD_NAMES_H

#include <stdatomic.h>

#include "cmd/filter/symbols.h"

/* A name or path; NAME_PADDED of its bytes may be read, however short it is. */
#define NAME_PADDED 32u
struct name_text {
	uint32_t len; /* NAME_ABSENT: there is none */
	char bytes[];
};
#define NAME_ABSENT UINT32_MAX

/* What is known of a module; NULL: not made yet. */
struct names_module {
	const struct symbols_module *module;
	_Atomic(const struct name_text *) *functions; /* by index in the cache */
	_Atomic(const struct name_text *) *files;
	struct names_module *next; /* in its hash chain */
};

struct names;
struct names_reader;

/* `llvm`: paths as they stand in the DWARF, names as LLVM demangles them. */
struct names *names_create(struct symbols *symbols, bool llvm);
void names_destroy(struct names *n); /* NULL is fine; no reader is left */

/* For one thread. */
struct names_reader *names_reader_create(struct names *n);
void names_reader_destroy(struct names_reader *r); /* NULL is fine */

/* The book at hand, which all texts since the last call come from; they may go
 * with this call. Another number: what was found of modules is gone, too. */
uint64_t names_book(struct names_reader *r);

/* The texts of a module, as long as the book's number stays. */
struct names_module *names_module(struct names_reader *r, const struct symbols_module *m);

/* The name of function and the path of file `idx`, which exist. */
const struct name_text *names_make_function(struct names_reader *r, struct names_module *m,
					    uint32_t idx);
const struct name_text *names_make_file(struct names_reader *r, struct names_module *m,
					uint32_t idx);

static inline const struct name_text *names_function(struct names_reader *r,
						     struct names_module *m, uint32_t idx)
{
	const struct name_text *t = atomic_load_explicit(&m->functions[idx],
							 memory_order_acquire);
	return t ? t : names_make_function(r, m, idx);
}

static inline const struct name_text *names_file(struct names_reader *r,
						 struct names_module *m, uint32_t idx)
{
	const struct name_text *t = atomic_load_explicit(&m->files[idx], memory_order_acquire);
	return t ? t : names_make_file(r, m, idx);
}

/* Any other name, demangled; valid until the next call. ptr NULL: there is none. */
struct symcache_str names_demangle(struct names_reader *r, struct symcache_str name,
				   uint32_t lang);

#endif

/*
 * names.h: functions and files as they are shown, each made once for all threads.
 *
 * A log of a million addresses has some ten thousand names and paths. They are
 * found again by their index in the cache: an array of names and one of paths for
 * each module, whose entries are set once, by whichever thread comes first, and
 * read without a lock. All texts that are remembered together are an epoch. Memory is
 * bounded: when an epoch has too many texts, a new one is begun, and the old one is freed
 * when the last thread has moved on from it.
 */
#ifndef SC_NAMES_H
#define SC_NAMES_H

#include <stdatomic.h>

#include "libsymcache/symbolize/symbolize.h"

/* A name or path, with a NUL behind it; SC_PADDED of its bytes may be read, however
 * short it is. */
struct sc_text {
	uint32_t len; /* SC_ABSENT: there is none */
	uint32_t scopes; /* bytes at the beginning of a qualified name that the bare one lacks */
	char bytes[];
};
#define SC_ABSENT UINT32_MAX

static inline struct sc_str sc_text_str(const struct sc_text *t)
{
	if (t->len == SC_ABSENT)
		return (struct sc_str){ NULL, 0 };
	return (struct sc_str){ t->bytes, t->len };
}

/* What is known of a cache; NULL: not made yet. */
struct sc_texts {
	const struct symcache *cache;
	unsigned generation; /* of the module, whose cache may change in its place */
	_Atomic(const struct sc_text *) *functions; /* by index in the cache */
	_Atomic(const struct sc_text *) *files;
	_Atomic(const struct sc_text *) *symbols;
	_Atomic uint32_t *symbol_of; /* by outermost function: the symbol at its last address */
	struct sc_texts *next; /* in its hash chain */
};

/* For one thread. NULL: out of memory. */
struct sc_names_reader;
struct sc_names_reader *sc_names_reader_create(struct symcache_names *n);
void sc_names_reader_destroy(struct sc_names_reader *r); /* NULL is fine */

const struct symcache_names_options *sc_names_options(const struct sc_names_reader *r);

/* Moves this thread on to the current epoch and returns its number. Texts of an earlier epoch
 * may be freed by this call; if the number has changed, what sc_names_texts() returned before
 * must not be used any more. */
uint64_t sc_names_epoch(struct sc_names_reader *r);

/* Is the current epoch full, so that the next sc_names_epoch() begins another one? */
bool sc_names_full(const struct sc_names_reader *r);

/* The texts of a cache, valid until the number of the epoch changes. NULL: out of memory. */
struct sc_texts *sc_names_texts(struct sc_names_reader *r, const struct symcache *cache,
				unsigned generation);

/* The name of function and the path of file `idx`, which exist. */
const struct sc_text *sc_names_make_function(struct sc_names_reader *r, struct sc_texts *t,
					     uint32_t idx);
const struct sc_text *sc_names_make_file(struct sc_names_reader *r, struct sc_texts *t,
					 uint32_t idx);
/* The name of symbol `idx`, whole. */
const struct sc_text *sc_names_make_symbol(struct sc_names_reader *r, struct sc_texts *t,
					   uint32_t idx);

static inline const struct sc_text *sc_names_function(struct sc_names_reader *r,
						      struct sc_texts *texts, uint32_t idx)
{
	const struct sc_text *t = atomic_load_explicit(&texts->functions[idx],
						       memory_order_acquire);
	return t ? t : sc_names_make_function(r, texts, idx);
}

static inline const struct sc_text *sc_names_file(struct sc_names_reader *r,
						  struct sc_texts *texts, uint32_t idx)
{
	const struct sc_text *t = atomic_load_explicit(&texts->files[idx], memory_order_acquire);
	return t ? t : sc_names_make_file(r, texts, idx);
}

static inline const struct sc_text *sc_names_symbol(struct sc_names_reader *r,
						    struct sc_texts *texts, uint32_t idx)
{
	const struct sc_text *t = atomic_load_explicit(&texts->symbols[idx], memory_order_acquire);
	return t ? t : sc_names_make_symbol(r, texts, idx);
}

/* Any other name, not shortened; valid until the next call. ptr NULL: out of memory. */
struct sc_str sc_names_show(struct sc_names_reader *r, struct sc_str name,
			    uint32_t lang);

/* The same of a name that is not asked for again soon: it is not remembered. */
struct sc_str sc_names_show_once(struct sc_names_reader *r, struct sc_str name, uint32_t lang);

/* Buffers for texts that had to be made printable; each holds one text, until the next of
 * its kind. */
enum sc_shown_kind { SC_SHOWN_TEXT, SC_SHOWN_NAME, SC_SHOWN_PATH, SC_SHOWN };
struct sc_shown {
	char *data;
	size_t len, cap;
};

/* The text as the options want it. ptr NULL: out of memory. */
struct sc_str sc_names_printable(struct sc_names_reader *r, struct sc_str s,
				 enum sc_shown_kind kind);

/* The length of the linkage name with which a qualified name (symcache_qualified()) begins; 0: it
 * begins with none. */
size_t sc_linkage_scope(struct sc_str name);

/* Two texts as one, in *to. ptr NULL: out of memory. */
struct sc_str sc_join(struct sc_shown *to, struct sc_str a, struct sc_str b);

/* Bytes that the path of `file` takes, with its NUL, at most. */
static inline size_t sc_path_room(const struct symcache_file *file)
{
	return file->comp_dir.len + file->directory.len + file->name.len + 3;
}

/* Writes the path of `file`, which is known, in the style `paths`; returns its length. */
size_t sc_write_path(const struct symcache_file *file, enum symcache_paths paths, char *to,
		     size_t room);

#endif

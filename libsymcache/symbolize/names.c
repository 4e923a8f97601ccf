/*
 * Texts of functions and files, shared by threads: see names.h.
 *
 * An epoch holds the texts of one time. Its blocks are filled by one thread each,
 * and all of it stays as it is until no one reads in it any more; so a pointer to
 * a text, once it was published, needs no lock. Two threads may make the same text
 * at the same time: then the epoch holds it twice, and either is right. Where memory
 * is out, a text is as absent, and tried again the next time.
 */
#include "libsymcache/symbolize/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/utf8.h"
#include "libsymcache/base/vec.h"

enum {
	EPOCH_BYTES = 64 << 20, /* of an epoch, about */
	BLOCK_BYTES = 256 << 10,
	CHAINS = 1 << 10,
};

struct block {
	struct block *older;
	char bytes[];
};

struct epoch {
	uint64_t number;
	unsigned readers;               /* and one for being current; under the lock */
	_Atomic size_t bytes;
	struct block *blocks;           /* under the lock */
	struct sc_texts *chains[CHAINS]; /* the same */
};

struct symcache_names {
	struct symcache_names_options options;
	pthread_mutex_t lock;
	_Atomic(struct epoch *) epoch; /* the current one; changed under the lock */
	uint64_t epochs;              /* there were */
};

struct sc_names_reader {
	struct symcache_names *names;
	struct symcache_demangler *demangler; /* NULL before the first name */
	struct epoch *epoch;           /* NULL before the first one */
	struct sc_shown shown[SC_SHOWN]; /* texts that had to be made printable */
	struct sc_shown joined;      /* a qualified name whose beginning was demangled */
	char *free;                  /* in a block of it */
	size_t left;
};

static const struct sc_text absent = { .len = SC_ABSENT };

/* ---- epochs ----------------------------------------------------------------- */

static struct epoch *new_epoch(struct symcache_names *n)
{
	struct epoch *b = calloc(1, sizeof(*b));

	if (b) {
		b->number = ++n->epochs;
		b->readers = 1;
	}
	return b;
}

static void free_texts(struct sc_texts *t)
{
	if (!t)
		return;
	free(t->functions);
	free(t->files);
	free(t->symbols);
	free(t->symbol_of);
	free(t);
}

static void free_epoch(struct epoch *b)
{
	for (struct block *block = b->blocks, *older; block; block = older) {
		older = block->older;
		free(block);
	}
	for (size_t i = 0; i < CHAINS; i++) {
		for (struct sc_texts *t = b->chains[i], *next; t; t = next) {
			next = t->next;
			free_texts(t);
		}
	}
	free(b);
}

/* Under the lock. */
static void leave(struct epoch *b)
{
	if (b && !--b->readers)
		free_epoch(b);
}

struct symcache_names *symcache_names_create(const struct symcache_names_options *options)
{
	struct symcache_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	if (options)
		n->options = *options;
	pthread_mutex_init(&n->lock, NULL);
	n->epoch = new_epoch(n);
	if (n->epoch)
		return n;
	symcache_names_destroy(n);
	return NULL;
}

void symcache_names_destroy(struct symcache_names *n)
{
	if (!n)
		return;
	leave(n->epoch);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

struct sc_names_reader *sc_names_reader_create(struct symcache_names *n)
{
	struct sc_names_reader *r = calloc(1, sizeof(*r));

	if (r)
		r->names = n;
	return r;
}

void sc_names_reader_destroy(struct sc_names_reader *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->names->lock);
	leave(r->epoch);
	pthread_mutex_unlock(&r->names->lock);
	symcache_demangler_destroy(r->demangler);
	for (int i = 0; i < SC_SHOWN; i++)
		vec_deinit(&r->shown[i]);
	vec_deinit(&r->joined);
	free(r);
}

const struct symcache_names_options *sc_names_options(const struct sc_names_reader *r)
{
	return &r->names->options;
}

bool sc_names_full(const struct sc_names_reader *r)
{
	return r->epoch->bytes > EPOCH_BYTES;
}

uint64_t sc_names_epoch(struct sc_names_reader *r)
{
	struct symcache_names *n = r->names;

	if (__builtin_expect(r->epoch == n->epoch && !sc_names_full(r), 1))
		return r->epoch->number;
	pthread_mutex_lock(&n->lock);
	if (n->epoch->bytes > EPOCH_BYTES) {
		struct epoch *old = n->epoch, *fresh = new_epoch(n);
		if (fresh) {
			n->epoch = fresh;
			leave(old);
		}
	}
	if (r->epoch != n->epoch) {
		leave(r->epoch);
		r->epoch = n->epoch;
		r->epoch->readers++;
		r->free = NULL;
		r->left = 0;
	}
	pthread_mutex_unlock(&n->lock);
	return r->epoch->number;
}

/* Zeros: as many of them as there may be texts of the cache. */
static void *zeros(const struct symcache *cache, size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p && cache->guard && cache->guard->many)
		sc_big_touch(p, n * size);
	return p;
}

static struct sc_texts *new_texts(const struct symcache *cache, unsigned generation)
{
	const struct symcache_header *h = cache->header;
	struct sc_texts *t = calloc(1, sizeof(*t));

	if (!t) {
		sc_memory_refused();
		return NULL;
	}
	t->cache = cache;
	t->generation = generation;
	t->functions = zeros(cache, h->num_functions + (size_t)1, sizeof(*t->functions));
	t->files = zeros(cache, h->num_files + (size_t)1, sizeof(*t->files));
	t->symbols = zeros(cache, cache->num_symbols + 1, sizeof(*t->symbols));
	t->symbol_of = zeros(cache, h->num_functions + (size_t)1, sizeof(*t->symbol_of));
	if (t->functions && t->files && t->symbols && t->symbol_of)
		return t;
	free_texts(t);
	sc_memory_refused();
	return NULL;
}

struct sc_texts *sc_names_texts(struct sc_names_reader *r, const struct symcache *cache,
				unsigned generation)
{
	struct epoch *b = r->epoch;
	struct sc_texts **chain = &b->chains[(uintptr_t)cache / 64 % CHAINS], *t;

	pthread_mutex_lock(&r->names->lock);
	for (t = *chain; t && (t->cache != cache || t->generation != generation); t = t->next)
		if (t->cache == cache) /* of what was there before: it goes with the epoch */
			b->bytes += t->cache->header->num_functions * sizeof(*t->functions);
	if (!t && (t = new_texts(cache, generation))) {
		/* Its arrays stay when the cache has gone; most of their pages are not touched. */
		b->bytes += (cache->header->num_functions + (size_t)cache->header->num_files +
			     cache->num_symbols) * sizeof(*t->functions) / 8;
		t->next = *chain;
		*chain = t;
	}
	pthread_mutex_unlock(&r->names->lock);
	return t;
}

/* ---- texts ------------------------------------------------------------------- */

/* Room for a text of `len` bytes; the rest is given back by keep(). NULL: out of memory. */
static struct sc_text *room_for(struct sc_names_reader *r, size_t len)
{
	const size_t size = sizeof(struct sc_text) + len;

	if (size > r->left) {
		const size_t block = size > BLOCK_BYTES ? size : BLOCK_BYTES;
		struct block *b = malloc(sizeof(*b) + block + SC_PADDED);

		if (!b) {
			sc_memory_refused();
			return NULL;
		}
		pthread_mutex_lock(&r->names->lock);
		b->older = r->epoch->blocks;
		r->epoch->blocks = b;
		pthread_mutex_unlock(&r->names->lock);
		r->epoch->bytes += block;
		r->free = b->bytes;
		r->left = block;
	}
	return (struct sc_text *)(void *)r->free;
}

static void keep(struct sc_names_reader *r, struct sc_text *t, size_t len)
{
	const size_t size = (sizeof(*t) + len + 4) / 4 *
			    4; /* with a NUL, which may be of the padding */

	t->len = (uint32_t)len;
	t->bytes[len] = 0;
	r->free += size < r->left ? size : r->left;
	r->left -= size < r->left ? size : r->left;
}

static bool is_name(struct sc_str name)
{
	return name.len && !(name.len == 1 && *name.ptr == '?');
}

/* A name, which is one, demangled. `once`: the caller remembers it. */
static struct sc_str demangled(struct sc_names_reader *r, struct sc_str name,
			       uint32_t lang, bool once)
{
	if (!r->demangler)
		r->demangler = symcache_demangler_create();
	if (!r->demangler) {
		sc_memory_refused();
		return name;
	}
	if (r->names->options.llvm) /* LLVM takes Rust's older names for C++ */
		lang = SYMCACHE_LANG_CPP;
	if (r->names->options.binutils)
		lang = SYMCACHE_DEMANGLE_BINUTILS;
	return once ? symcache_demangle_once(r->demangler, name, lang) :
		      symcache_demangle(r->demangler, name, lang);
}

struct sc_str sc_names_printable(struct sc_names_reader *r, struct sc_str s,
				 enum sc_shown_kind kind)
{
	const enum symcache_bytes bytes = r->names->options.bytes;
	struct sc_shown *to = &r->shown[kind];

	if (!s.ptr || (bytes == SYMCACHE_BYTES_PRINTABLE ? sc_printable(s.ptr, s.len) :
		       bytes == SYMCACHE_BYTES_CACHED || !memchr(s.ptr, '%', s.len)))
		return s;
	vec_clear(to);
	if (!vec_reserve(to, 4 * s.len))
		return (struct sc_str){ NULL, 0 };
	return (struct sc_str){ to->data, bytes == SYMCACHE_BYTES_PRINTABLE ?
							sc_make_printable(s.ptr, s.len, to->data) :
							sc_utf8_unescape(s.ptr, s.len, to->data) };
}

static struct sc_str show_whole(struct sc_names_reader *r, struct sc_str name,
				uint32_t lang, bool once)
{
	if (!is_name(name))
		return (struct sc_str){ NULL, 0 };
	return r->names->options.mangled ? name : demangled(r, name, lang, once);
}

struct sc_str sc_names_show(struct sc_names_reader *r, struct sc_str name,
			    uint32_t lang)
{
	return show_whole(r, name, lang, false);
}

struct sc_str sc_names_show_once(struct sc_names_reader *r, struct sc_str name, uint32_t lang)
{
	return show_whole(r, name, lang, true);
}

/* The name of an inlined function with its scopes, where it is wanted so: LLVM and binutils print
 * it as it is. Others have a symbol that says more. ptr NULL: there is none. */
static struct sc_str qualified(struct sc_names_reader *r, const struct symcache *cache,
			       uint32_t idx)
{
	const struct symcache_names_options *o = &r->names->options;
	const struct symcache_function *f = &cache->functions[idx];
	struct sc_str name;
	size_t scope;

	if (!cache->num_qualified || f->entry_pc != SYMCACHE_NONE || o->mangled || o->llvm ||
	    o->binutils || o->functions != SYMCACHE_FUNCTIONS_WHOLE)
		return (struct sc_str){ NULL, 0 };
	name = symcache_qualified(cache, idx);
	scope = sc_linkage_scope(name);
	return !scope ? name :
	       sc_join(&r->joined, demangled(r, (struct sc_str){ name.ptr, scope }, f->lang, true),
		       (struct sc_str){ name.ptr + scope, name.len - scope });
}

static struct sc_str show_function(struct sc_names_reader *r, struct sc_str name,
				   uint32_t lang)
{
	const struct symcache_names_options *o = &r->names->options;
	struct sc_str text;

	if (!is_name(name) || o->functions == SYMCACHE_FUNCTIONS_NONE)
		return (struct sc_str){ NULL, 0 };
	if (o->functions == SYMCACHE_FUNCTIONS_WHOLE && o->mangled)
		return name;
	text = demangled(r, name, lang, true);
	return o->functions == SYMCACHE_FUNCTIONS_SHORT && text.ptr != name.ptr ?
		symcache_short_name(text) : text;
}

/* Copies a text, of which `scopes` bytes are scopes, and publishes it at *to. */
static const struct sc_text *keep_text(struct sc_names_reader *r,
				       _Atomic(const struct sc_text *) *to,
				       struct sc_str text, uint32_t scopes)
{
	const struct sc_text *ret = &absent;
	const struct sc_str before = text;

	text = sc_names_printable(r, text, SC_SHOWN_TEXT);
	if (text.ptr) {
		struct sc_text *t = room_for(r, text.len);
		if (!t)
			return &absent;
		memcpy(t->bytes, text.ptr, text.len);
		t->scopes = text.ptr == before.ptr ? scopes : 0;
		keep(r, t, text.len);
		ret = t;
	}
	atomic_store_explicit(to, ret, memory_order_release);
	return ret;
}

const struct sc_text *sc_names_make_function(struct sc_names_reader *r, struct sc_texts *texts,
					     uint32_t idx)
{
	const struct symcache *cache = texts->cache;
	const struct symcache_function *f = &cache->functions[idx];
	struct sc_str name, text;

	if (!symcache_valid(cache, f, sizeof(*f)))
		return &absent;
	name = symcache_string(cache, f->name);
	text = qualified(r, cache, idx);
	return text.len > name.len ?
		keep_text(r, &texts->functions[idx], text, (uint32_t)(text.len - name.len)) :
		keep_text(r, &texts->functions[idx], show_function(r, name, f->lang), 0);
}

const struct sc_text *sc_names_make_symbol(struct sc_names_reader *r, struct sc_texts *texts,
					   uint32_t idx)
{
	struct symcache_symbol symbol;

	if (!symcache_symbol(texts->cache, idx, &symbol))
		return &absent;
	return keep_text(r, &texts->symbols[idx],
			 show_whole(r, symbol.name, SYMCACHE_LANG_SYMTAB, true), 0);
}

const struct sc_text *sc_names_make_file(struct sc_names_reader *r, struct sc_texts *texts,
					 uint32_t idx)
{
	const struct symcache_file file = symcache_file(texts->cache, idx);
	const struct sc_text *ret = &absent;

	if (file.name.ptr) {
		size_t room = sc_path_room(&file);
		struct sc_text *t = room_for(r, room);
		if (!t)
			return &absent;
		struct sc_str path = {
			t->bytes, sc_write_path(&file, r->names->options.paths, t->bytes, room),
		};
		path = sc_names_printable(r, path, SC_SHOWN_TEXT);
		if (path.ptr != t->bytes) {
			t = path.ptr ? room_for(r, path.len) : NULL;
			if (!t)
				return &absent;
			memcpy(t->bytes, path.ptr, path.len);
		}
		keep(r, t, path.len);
		ret = t;
	}
	atomic_store_explicit(&texts->files[idx], ret, memory_order_release);
	return ret;
}

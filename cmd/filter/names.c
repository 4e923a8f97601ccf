/*
 * Texts of functions and files, shared by threads: see names.h.
 *
 * A book holds the texts of one time. Its blocks are filled by one thread each,
 * and all of it stays as it is until nobody reads in it any more; so a pointer to
 * a text, once it was published, needs no lock. Two threads may make the same text
 * at the same time: then the book holds it twice, and either is right.
 */
#include "cmd/filter/names.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/lookup/demangle.h"
#include "format/symcache_format.h"
#include "symcache/symcache.h"

enum {
	BOOK_BYTES = 64 << 20, /* of a book, about */
	BLOCK_BYTES = 256 << 10,
	CHAINS = 1 << 10,
};

struct block {
	struct block *older;
	char bytes[];
};

struct book {
	uint64_t number;
	unsigned snapshot; /* of the symbols, that the texts come from */
	unsigned readers;  /* and one for being the one at hand; under the lock */
	_Atomic size_t bytes;
	struct block *blocks;               /* under the lock */
	struct names_module *chains[CHAINS]; /* the same */
};

struct names {
	struct symbols *symbols;
	bool llvm;
	pthread_mutex_t lock;
	_Atomic(struct book *) book; /* at hand; changed under the lock */
	uint64_t books;              /* there were */
};

struct names_reader {
	struct names *names;
	struct demangler *demangler; /* NULL before the first name */
	struct book *book;           /* NULL before the first one */
	char *free;                  /* in a block of it */
	size_t left;
};

static const struct name_text absent = { .len = NAME_ABSENT };

/* ---- books ------------------------------------------------------------------- */

static struct book *new_book(struct names *n)
{
	struct book *b = must_calloc(1, sizeof(*b));

	b->number = ++n->books;
	b->snapshot = symbols_snapshot(n->symbols);
	b->readers = 1;
	return b;
}

static void free_book(struct book *b)
{
	for (struct block *block = b->blocks, *older; block; block = older) {
		older = block->older;
		free(block);
	}
	for (size_t i = 0; i < CHAINS; i++) {
		for (struct names_module *m = b->chains[i], *next; m; m = next) {
			next = m->next;
			free(m->functions);
			free(m->files);
			free(m);
		}
	}
	free(b);
}

/* Under the lock. */
static void leave(struct book *b)
{
	if (b && !--b->readers)
		free_book(b);
}

struct names *names_create(struct symbols *symbols, bool llvm)
{
	struct names *n = must_calloc(1, sizeof(*n));

	n->symbols = symbols;
	n->llvm = llvm;
	pthread_mutex_init(&n->lock, NULL);
	n->book = new_book(n);
	return n;
}

void names_destroy(struct names *n)
{
	if (!n)
		return;
	leave(n->book);
	pthread_mutex_destroy(&n->lock);
	free(n);
}

struct names_reader *names_reader_create(struct names *n)
{
	struct names_reader *r = must_calloc(1, sizeof(*r));

	r->names = n;
	return r;
}

void names_reader_destroy(struct names_reader *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->names->lock);
	leave(r->book);
	pthread_mutex_unlock(&r->names->lock);
	demangler_destroy(r->demangler);
	free(r);
}

static bool is_full(const struct names *n, const struct book *b)
{
	return b->snapshot != symbols_snapshot(n->symbols) || b->bytes > BOOK_BYTES;
}

uint64_t names_book(struct names_reader *r)
{
	struct names *n = r->names;

	if (__builtin_expect(r->book == n->book && !is_full(n, r->book), 1))
		return r->book->number;
	pthread_mutex_lock(&n->lock);
	if (is_full(n, n->book)) {
		struct book *old = n->book;
		n->book = new_book(n);
		leave(old);
	}
	leave(r->book);
	r->book = n->book;
	r->book->readers++;
	r->free = NULL;
	r->left = 0;
	pthread_mutex_unlock(&n->lock);
	return r->book->number;
}

struct names_module *names_module(struct names_reader *r, const struct symbols_module *module)
{
	const struct symcache_header *h = module->cache.header;
	struct book *b = r->book;
	struct names_module **chain = &b->chains[(uintptr_t)module / 64 % CHAINS], *m;

	pthread_mutex_lock(&r->names->lock);
	for (m = *chain; m && m->module != module; m = m->next)
		;
	if (!m) {
		m = must_calloc(1, sizeof(*m));
		m->module = module;
		m->functions = must_calloc(h->num_functions + 1ull, sizeof(*m->functions));
		m->files = must_calloc(h->num_files + 1ull, sizeof(*m->files));
		m->next = *chain;
		*chain = m;
	}
	pthread_mutex_unlock(&r->names->lock);
	return m;
}

/* ---- texts ------------------------------------------------------------------- */

/* Room for a text of `len` bytes; the rest is given back by keep(). */
static struct name_text *room_for(struct names_reader *r, size_t len)
{
	const size_t size = sizeof(struct name_text) + len;

	if (size > r->left) {
		const size_t block = size > BLOCK_BYTES ? size : BLOCK_BYTES;
		struct block *b = must_realloc(NULL, sizeof(*b) + block + NAME_PADDED);

		pthread_mutex_lock(&r->names->lock);
		b->older = r->book->blocks;
		r->book->blocks = b;
		pthread_mutex_unlock(&r->names->lock);
		r->book->bytes += block;
		r->free = b->bytes;
		r->left = block;
	}
	return (struct name_text *)(void *)r->free;
}

static void keep(struct names_reader *r, struct name_text *t, size_t len)
{
	const size_t size = (sizeof(*t) + len + 3) / 4 * 4;

	t->len = (uint32_t)len;
	r->free += size < r->left ? size : r->left;
	r->left -= size < r->left ? size : r->left;
}

static bool is_name(struct symcache_str name)
{
	return name.len && !(name.len == 1 && *name.ptr == '?');
}

/* LLVM takes Rust's older names for C++. */
static uint32_t taken_for(const struct names_reader *r, uint32_t lang)
{
	return r->names->llvm ? SYMCACHE_LANG_UNKNOWN : lang;
}

static struct demangler *get_demangler(struct names_reader *r)
{
	if (!r->demangler)
		r->demangler = demangler_create();
	return r->demangler;
}

const struct name_text *names_make_function(struct names_reader *r, struct names_module *m,
					    uint32_t idx)
{
	const struct symcache *cache = &m->module->cache;
	const struct symcache_function *f = &cache->functions[idx];
	const struct name_text *ret = &absent;
	struct symcache_str name;

	if (!symcache_sound(cache, f, sizeof(*f)))
		return &absent;
	name = symcache_string(cache, f->name);
	if (is_name(name)) {
		struct symcache_str shown = demangle_once(get_demangler(r), name,
							  taken_for(r, f->lang));
		struct name_text *t = room_for(r, shown.len);
		memcpy(t->bytes, shown.ptr, shown.len);
		keep(r, t, shown.len);
		ret = t;
	}
	atomic_store_explicit(&m->functions[idx], ret, memory_order_release);
	return ret;
}

const struct name_text *names_make_file(struct names_reader *r, struct names_module *m,
					uint32_t idx)
{
	const struct symcache_file file = symcache_file(&m->module->cache, idx);
	const struct name_text *ret = &absent;

	if (file.name.ptr) {
		size_t room = file.comp_dir.len + file.directory.len + file.name.len + 3;
		struct name_text *t = room_for(r, room);
		keep(r, t, symcache_path(&file, r->names->llvm ? SYMCACHE_PATH_RAW
							       : SYMCACHE_PATH_CLEAN,
					 t->bytes, room));
		ret = t;
	}
	atomic_store_explicit(&m->files[idx], ret, memory_order_release);
	return ret;
}

struct symcache_str names_demangle(struct names_reader *r, struct symcache_str name,
				   uint32_t lang)
{
	if (!is_name(name))
		return (struct symcache_str){ NULL, 0 };
	return demangle(get_demangler(r), name, taken_for(r, lang));
}

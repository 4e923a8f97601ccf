/* Debug files that are kept open: see debug_files.h. */
#include "libsymcache/symbolize/debug_files.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/write/explain.h"
#include "libsymcache/write/sources.h"

enum { KEPT = 4 }; /* files: their sections are in memory */
enum part { LOCALS = 1, SOURCES = 2, SYMBOLS = 4, NEAREST = 8 };

struct symcache_debug_files {
	pthread_mutex_t lock;
	struct symcache_build_options options;
	struct debug_file {
		const struct symcache_module *module; /* NULL: none */
		unsigned asked;                   /* for what: bits of enum part */
		struct symcache_locals *locals;   /* NULL: there are none, */
		struct sc_error no_locals;        /* as this says, if there is a file */
		struct symcache_sources *sources; /* likewise */
		struct symcache_symbol_table *symbols;
		struct symcache_nearest *nearest;
	} list[KEPT];
	unsigned oldest;
};

struct symcache_debug_files *symcache_debug_files_create(const char *const *debug_dirs,
							 const char *package)
{
	struct symcache_debug_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->options = (struct symcache_build_options){ .debug_dirs = debug_dirs, .package = package };
	return f;
}

static void close_file(struct debug_file *file)
{
	symcache_locals_close(file->locals);
	symcache_sources_close(file->sources);
	symcache_symbol_table_close(file->symbols);
	symcache_nearest_close(file->nearest);
	*file = (struct debug_file){ .module = NULL };
}

void symcache_debug_files_destroy(struct symcache_debug_files *f)
{
	if (!f)
		return;
	for (int i = 0; i < KEPT; i++)
		close_file(&f->list[i]);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

static struct debug_file *find(struct symcache_debug_files *f, const struct symcache_module *m)
{
	struct debug_file *at = &f->list[f->oldest];

	for (int i = 0; i < KEPT; i++)
		if (f->list[i].module == m)
			return &f->list[i];
	f->oldest = (f->oldest + 1) % KEPT;
	close_file(at);
	at->module = m;
	return at;
}

/* The file that a module's cache was made of, on the heap; NULL: it is not there. */
static char *find_path(const struct symcache_debug_files *f, struct symcache_module *m, enum part part)
{
	const struct symcache *cache;
	const char *files[3];

	if (part != NEAREST && symcache_module_cache(m, &cache, NULL, NULL))
		return NULL;
	symcache_module_files(m, files);
	return part != NEAREST ? symcache_debug_file(cache, files, f->options.debug_dirs, NULL) :
	       *files ? strdup(*files) : NULL;
}

/* Locks, and opens that part of the module's file, if that was not tried before. */
static struct debug_file *ask(struct symcache_debug_files *f, struct symcache_module *m, enum part part)
{
	char *path __attribute__((cleanup(sc_free_text))) = NULL;
	struct debug_file *at;

	pthread_mutex_lock(&f->lock);
	at = find(f, m);
	if (at->asked & part)
		return at;
	at->asked |= part;
	if (!(path = find_path(f, m, part)))
		return at;
	switch (part) {
	case LOCALS: symcache_locals_open(path, &f->options, &at->locals, &at->no_locals); break;
	case SOURCES: symcache_sources_open(path, &f->options, &at->sources, NULL); break;
	case SYMBOLS: symcache_symbol_table_open(path, &at->symbols, NULL); break;
	case NEAREST: symcache_nearest_open(path, &f->options, &at->nearest, NULL); break;
	}
	return at;
}

struct symcache_locals *symcache_debug_files_locals(struct symcache_debug_files *f,
						    struct symcache_module *m, struct sc_error *why)
{
	const struct debug_file *at = ask(f, m, LOCALS);

	if (!at->locals)
		*why = at->no_locals;
	return at->locals;
}

void symcache_debug_files_end(struct symcache_debug_files *f)
{
	pthread_mutex_unlock(&f->lock);
}

char *symcache_debug_files_source(struct symcache_debug_files *f, struct symcache_module *m,
				  struct sc_str path, size_t *size)
{
	const struct debug_file *at = ask(f, m, SOURCES);
	struct sc_str text = { NULL, 0 };
	char *ret = NULL;

	if (at->sources)
		text = symcache_sources_find(at->sources, path);
	if (text.ptr && (ret = malloc(text.len + 1))) {
		memcpy(ret, text.ptr, text.len);
		*size = text.len;
	}
	pthread_mutex_unlock(&f->lock);
	return ret;
}

bool symcache_debug_files_tagged(struct symcache_debug_files *f, struct symcache_module *m,
				 uint64_t vaddr)
{
	const struct debug_file *at = ask(f, m, SYMBOLS);
	struct symcache_named_symbol symbol = { .tagged = false };

	if (at->symbols)
		symcache_symbol_table_find(at->symbols, vaddr, &symbol);
	pthread_mutex_unlock(&f->lock);
	return symbol.tagged;
}

const struct symcache_nearest *symcache_debug_files_nearest(struct symcache_debug_files *f,
							    struct symcache_module *m)
{
	const struct symcache_nearest *ret = ask(f, m, NEAREST)->nearest;

	pthread_mutex_unlock(&f->lock);
	return ret;
}

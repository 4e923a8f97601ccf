/* Local variables: see locals.h. */
#include "cmd/lookup/locals.h"

#include <pthread.h>
#include <stdlib.h>

#include "cmd/lookup/explain.h"

enum { KEPT = 4 }; /* files: their sections are in memory */

struct local_files {
	pthread_mutex_t lock;
	struct local_file {
		const struct symcache_module *module; /* NULL: none */
		struct symcache_locals *locals;       /* NULL: it has no debug information */
	} list[KEPT];
	unsigned oldest;
};

struct local_files *local_files_create(void)
{
	struct local_files *f = must_calloc(1, sizeof(*f));

	pthread_mutex_init(&f->lock, NULL);
	return f;
}

void local_files_destroy(struct local_files *f)
{
	if (!f)
		return;
	for (int i = 0; i < KEPT; i++)
		symcache_locals_close(f->list[i].locals);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

/* The debug information of the request's module; NULL: there is none. The lock is held. */
static struct symcache_locals *open_module(struct local_files *f, const struct worker *w,
					   const struct request *r, const struct symcache *cache)
{
	const char *const *dirs = w->options->debug_dirs;
	const struct symcache_build_options options = { .debug_dirs = dirs,
						     .package = w->options->package };
	struct local_file *at = &f->list[f->oldest];
	char *path, *why = NULL;
	struct sc_error err;
	const char *files[3];

	for (int i = 0; i < KEPT; i++)
		if (f->list[i].module == r->module)
			return f->list[i].locals;
	f->oldest = (f->oldest + 1) % KEPT;
	symcache_locals_close(at->locals);
	*at = (struct local_file){ .module = r->module };
	symcache_module_files(r->module, files);
	path = explain_find_file(cache, files, dirs, &why);
	if (path)
		symcache_locals_open(path, &options, &at->locals, &err);
	free(path);
	free(why);
	return at->locals;
}

void answer_locals(struct worker *w, const struct request *r, const struct symcache *cache,
		   uint64_t vaddr)
{
	struct local_files *f = w->options->locals;
	const struct symcache_local *list = NULL;
	struct symcache_locals *locals;
	struct sc_error err;
	size_t n = 0;

	pthread_mutex_lock(&f->lock);
	locals = open_module(f, w, r, cache);
	if (locals && symcache_locals_at(locals, vaddr, &list, &n, &err))
		n = 0;
	style_begin(w, r);
	for (size_t i = 0; i < n; i++)
		style_local(w, r, &list[i]);
	if (!n)
		style_nothing(w, r, false);
	style_end(w, r);
	pthread_mutex_unlock(&f->lock);
	w->partly |= !n;
}

/* Logs → text, by a store: see <symcache.h>. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/api/api.h"
#include "libsymcache/logs/markup.h"

enum { THREADS_MAX = 256 };

/* What one thread asks. */
struct asker {
	struct symcache_markup markup; /* first: see symcache_markup_functions() */
	struct symcache_store *store;
	VEC(struct symcache_cache *) caches; /* references, one for each snapshot and more */
	struct symcache_error why;
};

struct symcache_filter {
	struct symcache_names *names, *line_names;
	struct asker *askers;
	unsigned threads;
	struct markup_filter *filter;
	bool open; /* a log was begun and not finished */
};

/* Keeps the reference as long as the filter, as a filter wants it of its modules. */
static void *keep(struct asker *a, struct symcache_cache *c)
{
	struct symcache_cache **last = a->caches.data + a->caches.len;

	if (a->caches.len && last[-1]->snapshot == c->snapshot) { /* which has all its caches */
		symcache_cache_unref(c);
		return &c->module;
	}
	last = vec_push(&a->caches);
	if (!last) {
		symcache_cache_unref(c);
		return NULL;
	}
	*last = c;
	return &c->module;
}

static void *answer(struct asker *a, int rc, struct symcache_cache **c, const char **why)
{
	if (!rc)
		return keep(a, *c);
	if (rc != SC_ENOTFOUND)
		*why = a->why.msg;
	return NULL;
}

static void *find_module(void *ctx, const uint8_t *build_id, size_t len, const char **why)
{
	struct asker *a = ctx;
	struct symcache_cache *c;

	if (!a->store)
		return NULL;
	return answer(a, symcache_store_get(a->store, build_id, len, &c, &a->why), &c, why);
}

static void *find_named(void *ctx, struct sc_str path, const char **why)
{
	struct asker *a = ctx;
	struct symcache_cache *c;
	char name[256];

	if (!a->store || !symcache_markup_base(path, name))
		return NULL;
	return answer(a, api_store_find(a->store, API_BY_NAME, name, &c, &a->why), &c, why);
}

static bool set_options(const struct symcache_filter_options *o, struct markup_options *ret)
{
	static const struct markup_options forms[] = {
		[SYMCACHE_FILTER_TEXT] = { .format = MARKUP_TEXT_OUT },
		[SYMCACHE_FILTER_JSON] = { .format = MARKUP_JSON },
		[SYMCACHE_FILTER_HTML] = { .format = MARKUP_HTML },
		[SYMCACHE_FILTER_LLVM] = { .dialect = MARKUP_LLVM },
	};

	if (!o || !api_fits(o) || !o->write || o->threads > THREADS_MAX ||
	    o->format >= sizeof(forms) / sizeof(*forms))
		return false;
	*ret = forms[o->format];
	return true;
}

/* False: out of memory. */
static bool make_askers(struct symcache_filter *f, struct symcache_store *store, bool llvm,
			struct markup_resolver *functions)
{
	for (unsigned i = 0; i < f->threads; i++) {
		struct asker *a = &f->askers[i];

		a->store = store;
		if (!symcache_markup_init(&a->markup, &api_no_caches, f->names, f->line_names, llvm))
			return false;
		functions[i] = (struct markup_resolver){
			.ctx = a, .module = find_module, .named = find_named,
		};
		symcache_markup_functions(&functions[i]);
	}
	return true;
}

/* False: out of memory. */
static bool make(struct symcache_filter *f, struct symcache_store *store,
		 const struct markup_options *options, const struct markup_sink *sink)
{
	const enum symcache_bytes bytes = markup_form_of(options)->escapes ?
		SYMCACHE_BYTES_CACHED : SYMCACHE_BYTES_PRINTABLE;
	const struct symcache_names_options names = symcache_markup_names(options, bytes);
	const struct symcache_names_options line_names = symcache_markup_line_names(bytes);
	struct markup_resolver *functions = calloc(f->threads, sizeof(*functions));
	bool made;

	f->askers = calloc(f->threads, sizeof(*f->askers));
	f->names = symcache_names_create(&names);
	f->line_names = symcache_names_create(&line_names);
	made = functions && f->askers && f->names && f->line_names &&
	       make_askers(f, store, names.llvm, functions) &&
	       !markup_filter_create(options, functions, f->threads, sink, &f->filter);
	free(functions);
	return made;
}

int symcache_filter_create(struct symcache_store *store,
			   const struct symcache_filter_options *options,
			   struct symcache_filter **ret, struct symcache_error *err)
{
	struct markup_options how;
	struct markup_sink sink;
	struct symcache_filter *f;

	*ret = NULL;
	if (!set_options(options, &how))
		return api_error(err, SC_EINVAL, "unknown options, or no write()");
	f = calloc(1, sizeof(*f));
	if (!f)
		return api_error(err, SC_ENOMEM, "out of memory");
	f->threads = options->threads ? options->threads : 1;
	sink = (struct markup_sink){ options->ctx, options->write, options->complain, NULL };
	if (!make(f, store, &how, &sink)) {
		symcache_filter_destroy(f);
		return api_error(err, SC_ENOMEM, "out of memory");
	}
	*ret = f;
	return 0;
}

void symcache_filter_destroy(struct symcache_filter *f)
{
	if (!f)
		return;
	markup_filter_destroy(f->filter);
	for (unsigned i = 0; f->askers && i < f->threads; i++) {
		struct asker *a = &f->askers[i];

		symcache_markup_deinit(&a->markup);
		while (a->caches.len)
			symcache_cache_unref(a->caches.data[--a->caches.len]);
		vec_deinit(&a->caches);
	}
	symcache_names_destroy(f->names);
	symcache_names_destroy(f->line_names);
	free(f->askers);
	free(f);
}

static int result(int rc, struct symcache_error *err)
{
	if (!rc)
		return 0;
	return rc == -EIO ? api_error(err, SC_ESYS, "the output could not be written") :
		api_error(err, SC_ENOMEM, "out of memory");
}

int symcache_filter_feed(struct symcache_filter *f, const char *data, size_t len,
			 struct symcache_error *err)
{
	f->open = true;
	return result(markup_filter_feed(f->filter, data, len), err);
}

int symcache_filter_flush(struct symcache_filter *f, struct symcache_error *err)
{
	return result(markup_filter_flush(f->filter), err);
}

int symcache_filter_finish(struct symcache_filter *f, struct symcache_error *err)
{
	f->open = false;
	return result(markup_filter_finish(f->filter), err);
}

int symcache_filter_end(struct symcache_filter *f, struct symcache_error *err)
{
	const int rc = f->open ? symcache_filter_finish(f, err) : 0;

	return rc ? rc : result(markup_filter_end(f->filter), err);
}

/* Logs → text, by a store: see <symcache.h>. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/api/space.h"
#include "libsymcache/logs/resolver.h"

enum { THREADS_MAX = 256 };

struct symcache_filter {
	struct symcache_store *store;
	struct sc_log_resolvers *resolvers;
	struct markup_filter *filter;
	bool open; /* a log was begun and not finished */
	pthread_mutex_t lock;
	VEC(struct symcache_cache *) caches; /* references, one for each snapshot and more */
};

/* Keeps the reference as long as the filter, as a filter wants it of its modules. Under the lock.
 * NULL: out of memory. */
static struct symcache_module *keep(struct symcache_filter *f, struct symcache_cache *c)
{
	struct symcache_cache **last = f->caches.data + f->caches.len;

	if (f->caches.len && last[-1]->snapshot == c->snapshot) { /* which has all its caches */
		symcache_cache_unref(c);
		return &c->module;
	}
	last = vec_push(&f->caches);
	if (!last) {
		symcache_cache_unref(c);
		return NULL;
	}
	*last = c;
	return &c->module;
}

/* As symcache_find_module(), in the store of the handle. */
static int find_module(void *ctx, const struct symcache_file_id *of, struct symcache_module **ret,
		       struct sc_error *err)
{
	struct symcache_filter *f = ctx;
	struct symcache_error why;
	struct symcache_cache *c;
	int rc = api_find_in_stores(&f->store, f->store != NULL, of, &c, &why);

	if (rc)
		return sc_error_set(err, rc, "%s", rc == SC_ENOTFOUND ? "" : why.msg);
	pthread_mutex_lock(&f->lock);
	*ret = keep(f, c);
	pthread_mutex_unlock(&f->lock);
	return *ret ? 0 : sc_error_set(err, SC_ENOMEM, "%s", "");
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
static bool make(struct symcache_filter *f, unsigned threads, const struct markup_options *options,
		 const struct markup_sink *sink)
{
	const struct sc_log_resolver_options how = {
		.markup = options, .threads = threads, .caches = &api_no_caches,
		.bytes = markup_form_of(options)->escapes ? SYMCACHE_BYTES_CACHED :
			 SYMCACHE_BYTES_PRINTABLE,
		.find = find_module, .ctx = f,
	};

	f->resolvers = sc_log_resolvers_create(&how);
	return f->resolvers && !markup_filter_create(options,
						     sc_log_resolvers_functions(f->resolvers),
						     threads, sink, &f->filter);
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
	f->store = store;
	pthread_mutex_init(&f->lock, NULL);
	sink = (struct markup_sink){ options->ctx, options->write, options->complain, NULL };
	if (!make(f, options->threads ? options->threads : 1, &how, &sink)) {
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
	sc_log_resolvers_destroy(f->resolvers);
	while (f->caches.len)
		symcache_cache_unref(f->caches.data[--f->caches.len]);
	vec_deinit(&f->caches);
	pthread_mutex_destroy(&f->lock);
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

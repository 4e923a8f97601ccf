/* Logs → text, by a store: see <symcache.h>. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/api/filter.h"
#include "libsymcache/base/build_id.h"

enum { THREADS_MAX = 256 };

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

/* The build ID that a setting gives a module without one; its length, 0: there is none. */
static size_t bound_id(const struct symcache_filter *f, struct sc_str path,
		       uint8_t id[SYMCACHE_BUILD_ID_MAX])
{
	char name[SYMCACHE_FILE_NAME_MAX + 1];
	struct sc_error err;
	size_t nibbles;

	if (!f->modules.list.len || !symcache_file_name(path, name))
		return 0;
	for (size_t i = 0; i < f->modules.list.len; i++) {
		const char *text = f->modules.list.data[i], *is = strrchr(text, '=');

		if (sc_str_is(sc_span(text, is), name) &&
		    !symcache_build_id_parse(is + 1, id, &nibbles, &err))
			return nibbles / 2;
	}
	return 0;
}

/* As symcache_find_module(), in the store of the handle. */
static int find_module(void *ctx, const struct symcache_file_id *of, struct symcache_module **ret,
		       struct sc_error *err)
{
	struct symcache_filter *f = ctx;
	struct symcache_file_id known = *of;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symcache_error why;
	struct symcache_cache *c;
	int rc;

	if (!known.build_id_len && (known.build_id_len = bound_id(f, of->path, id)))
		known.build_id = id;
	rc = api_find_in_stores(&f->store, f->store != NULL, &known, &c, &why);

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

/* The filter itself, when it is first needed. 0, −ENOMEM. */
static int begin(struct symcache_filter *f)
{
	struct sc_log_resolver_options how = {
		.markup = &f->how, .threads = f->threads, .caches = &api_no_caches,
		.find = find_module, .ctx = f,
	};
	struct markup_sink sink = f->sink;

	if (f->filter)
		return 0;
	how.bytes = markup_form_of(&f->how)->escapes ? SYMCACHE_BYTES_CACHED : SYMCACHE_BYTES_PRINTABLE;
	if (f->groups) {
		sink.ctx = f->groups;
		sink.write = markup_groups_take;
		sink.complain = NULL; /* which has the same ctx */
	}
	f->resolvers = f->resolvers ? f->resolvers : sc_log_resolvers_create(&how);
	return f->resolvers && !markup_filter_create(&f->how, sc_log_resolvers_functions(f->resolvers),
						     f->threads, &sink, &f->filter) ? 0 : -ENOMEM;
}

int symcache_filter_create(struct symcache_store *store,
			   const struct symcache_filter_options *options,
			   struct symcache_filter **ret, struct symcache_error *err)
{
	struct markup_options how;
	struct symcache_filter *f;

	*ret = NULL;
	if (!set_options(options, &how))
		return api_error(err, SC_EINVAL, "unknown options, or no write()");
	f = calloc(1, sizeof(*f));
	if (!f)
		return api_error(err, SC_ENOMEM, "out of memory");
	f->store = store;
	f->how = how;
	f->threads = options->threads ? options->threads : 1;
	f->sink = (struct markup_sink){ options->ctx, options->write, options->complain, NULL };
	pthread_mutex_init(&f->lock, NULL);
	*ret = f;
	return 0;
}

void symcache_filter_destroy(struct symcache_filter *f)
{
	if (!f)
		return;
	markup_filter_destroy(f->filter);
	sc_log_resolvers_destroy(f->resolvers);
	api_filter_settings_deinit(f);
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
	const int rc = begin(f);

	if (!rc && f->groups && !f->open) /* stacks do not go on from one log to the next */
		markup_filter_input(f->filter, "");
	f->open = true;
	return result(rc ? rc : markup_filter_feed(f->filter, data, len), err);
}

int symcache_filter_flush(struct symcache_filter *f, struct symcache_error *err)
{
	const int rc = begin(f);

	return result(rc ? rc : markup_filter_flush(f->filter), err);
}

int symcache_filter_finish(struct symcache_filter *f, struct symcache_error *err)
{
	const int rc = begin(f);

	f->open = false;
	return result(rc ? rc : markup_filter_finish(f->filter), err);
}

int symcache_filter_end(struct symcache_filter *f, struct symcache_error *err)
{
	int rc = f->open ? symcache_filter_finish(f, err) : result(begin(f), err);

	if (!rc)
		rc = result(markup_filter_end(f->filter), err);
	if (!rc && f->groups)
		rc = result(markup_groups_write(f->groups, f->how.format, false, f->sink.write,
						f->sink.ctx), err);
	return rc;
}

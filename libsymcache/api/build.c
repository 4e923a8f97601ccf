/*
 * ELF files → caches and stores: see <symcache-build.h>. This is the other library: it has the
 * code of the rooms it needs, and asks libsymcache for what there is one of in a process, the
 * files of stores.
 */
#include <symcache-build.h>
#include <stdlib.h>
#include <time.h>

#include "libsymcache/api/private.h"
#include "libsymcache/base/text.h"
#include "libsymcache/index/index.h"
#include "libsymcache/write/explain.h"

_Static_assert(SYMCACHE_ID_MAX == SYMCACHE_BUILD_ID_MAX, "");

#define ALL_FLAGS (SYMCACHE_MAKE_NO_SEARCH | SYMCACHE_MAKE_AGAIN | SYMCACHE_MAKE_FOLLOW | \
		   SYMCACHE_MAKE_LOCALS)

/* False: options of which we do not know what they mean. */
static bool set_options(const struct symcache_make_options *o, struct symcache_build_options *ret)
{
	*ret = (struct symcache_build_options){ .threads = 1 };
	if (!o)
		return true;
	ret->debug_dirs = o->debug_dirs;
	ret->no_debug_search = o->flags & SYMCACHE_MAKE_NO_SEARCH;
	ret->threads = o->threads ? o->threads : 1;
	ret->memory = o->memory;
	ret->locals = o->flags & SYMCACHE_MAKE_LOCALS;
	return api_fits(o) && !(o->flags & ~ALL_FLAGS);
}

static int unknown_options(struct symcache_error *err)
{
	return api_error(err, SC_EINVAL, "unknown options");
}

static int no_path(struct symcache_error *err)
{
	return api_error(err, SC_EINVAL, "NULL in place of a path");
}

int symcache_make(const char *path, const struct symcache_make_options *options,
		  struct symcache_cache **ret, struct symcache_error *err)
{
	struct symcache_build_options how;
	struct symcache_build *b;
	struct sc_error e;
	void *bytes;
	size_t size;
	int rc;

	*ret = NULL;
	if (!path)
		return no_path(err);
	if (!set_options(options, &how))
		return unknown_options(err);
	if (symcache_build_create(path, &how, &b, &e))
		return api_fail(err, &e);
	size = symcache_build_size(b);
	bytes = malloc(size);
	if (bytes)
		symcache_build_write(b, bytes);
	symcache_build_destroy(b);
	if (!bytes)
		return api_error(err, SC_ENOMEM, "out of memory");
	rc = symcache_cache_open_memory(bytes, size, free, bytes, ret, err);
	if (rc)
		free(bytes);
	return rc;
}

int symcache_file_build_id(const char *path, uint8_t id[SYMCACHE_ID_MAX], size_t *len, int *derived,
			   struct symcache_error *err)
{
	struct sc_error e;
	bool made;

	if (!path)
		return no_path(err);
	if (symcache_elf_build_id(path, id, len, &made, &e))
		return api_fail(err, &e);
	if (derived)
		*derived = made;
	return 0;
}

/* ---- index -------------------------------------------------------------------------------- */

static void on_file(void *ctx, const struct symcache_index_file *f)
{
	const struct symcache_make_options *o = ctx;
	static const int codes[] = {
		[SYMCACHE_INDEX_BUILT] = 0, [SYMCACHE_INDEX_UNCHANGED] = 1,
		[SYMCACHE_INDEX_NO_SYMBOLS] = SC_ENOSYMBOLS,
		[SYMCACHE_INDEX_UNSUPPORTED] = SC_EUNSUPPORTED, [SYMCACHE_INDEX_FAILED] = SC_EFORMAT,
	};

	if (o->file)
		o->file(o->ctx, f->path, codes[f->result], f->reason ? f->reason : "");
}

static void on_kept(void *ctx, const char *path, const struct symstore_entry *old)
{
	const struct symcache_make_options *o = ctx;

	(void)old;
	if (o->file)
		o->file(o->ctx, path, 1, "the store has another file's entry");
}

int symcache_store_index(struct symcache_store *s, const char *const paths[], size_t n,
			 const struct symcache_make_options *options, struct symcache_counts *ret,
			 struct symcache_error *err)
{
	static const struct symcache_make_options none = { .size = sizeof(none) };
	const struct symcache_make_options *o = options ? options : &none;
	struct symcache_index_options how = {
		.tags = o->tags, .time = time(NULL), .memory = o->memory,
		.follow = o->flags & SYMCACHE_MAKE_FOLLOW, .again = o->flags & SYMCACHE_MAKE_AGAIN,
		.events = { .file = on_file, .kept = on_kept, .ctx = (void *)o },
	};
	struct symcache_index_account a = { 0 };
	struct symstore *store;
	struct sc_error e;
	int rc;

	if (!set_options(o, &how.build) || (ret && ret->size < sizeof(*ret)))
		return unknown_options(err);
	for (size_t i = 0; i < n; i++)
		if (!paths[i])
			return no_path(err);
	rc = symcache_private_store(s, symcache_version, true, &store, err);
	if (rc)
		return rc;
	rc = symcache_index(store, paths, n, &how, &a, &e);
	if (ret) {
		ret->done = a.indexed;
		ret->stayed = a.unchanged + a.better_in_store + a.other_in_store;
		ret->none = a.without_symbols + a.unsupported;
		ret->failed = a.failed;
	}
	return rc ? api_fail(err, &e) : 0;
}

/* ---- why an address has its frames -------------------------------------------------------- */

struct lines {
	int (*fn)(void *ctx, const char *line);
	void *ctx;
	int result;
};

/* False: that was the last line. */
static bool __attribute__((format(printf, 2, 3))) line(struct lines *to, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	text = sc_vtext(fmt, ap);
	va_end(ap);
	if (!text) {
		to->result = SC_ENOMEM;
		return false;
	}
	to->result = to->fn(to->ctx, text);
	free(text);
	return !to->result;
}

static char *path_text(const struct symcache_file *file)
{
	const size_t n = symcache_path(file, SYMCACHE_PATH_CLEAN, NULL, 0) + 1;
	char *text = malloc(n);

	if (text)
		symcache_path(file, SYMCACHE_PATH_CLEAN, text, n);
	return text;
}

static bool explain_row(struct lines *to, const struct symcache_explained_row *row)
{
	char *path __attribute__((cleanup(sc_free_text))) = path_text(&row->file);

	return line(to, " row 0x%llx..0x%llx %s:%u:%u", (unsigned long long)row->start,
		    (unsigned long long)row->end, path ? path : "", row->line, row->column);
}

static bool explain_entry(struct lines *to, const struct symcache_explained_entry *e)
{
	char *path __attribute__((cleanup(sc_free_text))) = path_text(&e->call_file);
	bool more = line(to, "%centry 0x%llx %s%s 0x%llx..0x%llx", e->decides ? '*' : ' ',
			 (unsigned long long)e->offset, e->inlined ? "inlined " : "",
			 e->name ? e->name : "?", (unsigned long long)e->start,
			 (unsigned long long)e->end);

	return more && (!e->call_line || line(to, " called at %s:%u:%u", path ? path : "",
					      e->call_line, e->call_column));
}

static bool explain_unit(struct lines *to, const struct symcache_explained_unit *u)
{
	bool more = line(to, "%cunit 0x%llx %s", u->decides ? '*' : ' ',
			 (unsigned long long)u->offset, u->name ? u->name : "?");

	for (size_t i = 0; more && i < u->num_entries; i++)
		more = explain_entry(to, &u->entries[i]);
	return more && (!u->has_row || explain_row(to, &u->row));
}

int symcache_explain_address(const char *path, const struct symcache_make_options *options,
			     uint64_t vaddr, int (*fn)(void *ctx, const char *line), void *ctx,
			     struct symcache_error *err)
{
	struct symcache_build_options how;
	struct symcache_explanation *e;
	struct lines to = { fn, ctx, 0 };
	struct sc_error why;
	bool more = true;

	if (!path)
		return no_path(err);
	if (!fn || !set_options(options, &how))
		return unknown_options(err);
	if (symcache_explain(path, &how, vaddr, &e, &why))
		return api_fail(err, &why);
	for (size_t i = 0; more && i < e->num_units; i++)
		more = explain_unit(&to, &e->units[i]);
	symcache_explanation_destroy(e);
	return to.result;
}

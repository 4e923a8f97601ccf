/*
 * The store of the caches: snapshots of it, and what is written to it: see
 * caches.h.
 *
 * What has to be built is built in memory and used from there; only
 * symcache_caches_update() writes to the store, because a store that grows must have no
 * reader, and because no answer should wait for a disk. A store that cannot be written
 * costs a second build next time, nothing else.
 */
#include "libsymcache/symbolize/module.h"

static int put(struct symstore_writer *writer, struct symcache_module *m, struct sc_error *err)
{
	int rc = 0;

	if (m->sites_missed)
		rc = symbundle_sites_remember(m->caches->options.sites, writer, m->id, m->id_len, err);
	if (rc)
		return rc;
	if (m->missed)
		rc = symcache_debuginfod_remember(m->caches->options.debuginfod, writer, m->id,
						  m->id_len, err);
	else if (m->made.to_store)
		rc = symstore_put(writer, &m->made.entry, NULL, m->made.bytes, NULL, err);
	m->sites_missed = m->missed = m->made.to_store = false;
	return rc;
}

static int open_store(struct symcache_caches *s, enum symstore_mode mode, struct symstore **ret,
		      struct sc_error *err)
{
	if (s->options.borrowed) {
		*ret = s->options.borrowed;
		return 0;
	}
	if (s->options.open_store)
		return s->options.open_store(s->options.ctx, mode, ret, err);
	if (!s->options.store)
		return sc_error_set(err, SC_ENOTFOUND, "there is no store");
	return symstore_open(s->options.store, mode, ret, err);
}

static int store_made(struct symcache_caches *s, struct sc_error *err)
{
	struct symstore *store;
	struct symstore_writer *writer;
	int rc = open_store(s, SYMSTORE_WRITE, &store, err);

	if (rc)
		return rc;
	rc = symstore_write_begin(store, &writer, err);
	if (!rc) {
		for (size_t i = 0; i < SC_CHAINS && !rc; i++)
			for (struct symcache_module *m = s->chains[i]; m && !rc; m = m->next)
				rc = put(writer, m, err);
		rc = symstore_end(writer, rc, err);
	}
	symstore_close(store);
	return rc;
}

/* Makes the whole caches, which are to be stored, of files that have first answers. */
static void complete(struct symcache_caches *s)
{
	for (size_t i = 0; i < SC_CHAINS; i++)
		for (struct symcache_module *m = s->chains[i]; m; m = m->next)
			if (m->first && m->storable)
				sc_module_cache(m);
	s->to_complete = false;
}

void symcache_caches_update(struct symcache_caches *s)
{
	struct sc_error err;

	if (s->to_complete && !s->options.memory_only)
		complete(s);
	symstore_read_end(s->reader);
	s->reader = NULL;
	s->store_failed.code = 0;
	s->snapshot++;
	if (!s->to_store)
		return;
	s->to_store = false;
	if (s->options.memory_only)
		return;
	symstore_close(s->store);
	s->store = NULL;
	if (store_made(s, &err))
		sc_notify(s, SYMCACHE_NOTICE_NOT_KEPT, NULL, err.msg);
}

int sc_caches_read(struct symcache_caches *s, struct sc_error *err)
{
	int rc;

	if (s->reader)
		return 0;
	if (s->store_failed.code) {
		*err = s->store_failed;
		return err->code;
	}
	rc = s->store ? 0 : open_store(s, SYMSTORE_READ, &s->store, err);
	if (!rc)
		rc = symstore_read_begin(s->store, &s->reader, err);
	if (rc)
		s->store_failed = *err;
	return rc;
}

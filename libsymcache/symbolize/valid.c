/* What is known of a module and of its cache without making one: whether it is open, damaged, or
 * was not read whole. Nothing here needs ELF files: the shared library has it, too. */
#include "libsymcache/symbolize/module.h"

bool symcache_module_valid(struct symcache_module *m, const struct symcache *cache)
{
	struct sc_error err;

	if (!symcache_damaged(cache))
		return true;
	pthread_mutex_lock(&m->caches->lock);
	if (!m->damage_noticed) {
		symstore_damaged(m->id, m->id_len, &err);
		sc_notify(m->caches, SYMCACHE_NOTICE_DAMAGED, NULL, err.msg);
	}
	m->damage_noticed = true;
	pthread_mutex_unlock(&m->caches->lock);
	return false;
}

void sc_notice_gaps(struct symcache_module *m, const char *path,
		    const struct symcache_build_info *info)
{
	const struct symcache_caches_options *o = &m->caches->options;

	if (!o->notify || m->gaps_noticed || (!info->bad_units && !info->code_above_4g))
		return;
	o->notify(o->ctx, &(struct symcache_notice){ SYMCACHE_NOTICE_GAPS, path, NULL, info });
	m->gaps_noticed = true;
}

bool symcache_module_is_open(struct symcache_module *m)
{
	return sc_module_usable(m);
}

bool symcache_module_is_first(struct symcache_module *m)
{
	return atomic_load_explicit(&m->first, memory_order_acquire) && !symcache_module_is_open(m);
}

const struct symcache *symcache_module_outline(struct symcache_module *m)
{
	const struct symcache *outline = NULL;

	if (symcache_module_is_first(m)) {
		pthread_mutex_lock(&m->caches->lock);
		outline = m->outline(m);
		pthread_mutex_unlock(&m->caches->lock);
	}
	return outline ? outline : sc_module_cache(m);
}

/* Was the cache damaged that was asked? See symbolize.h. */
#include "libsymcache/symbolize/module.h"

bool symcache_module_sound(struct symcache_module *m, const struct symcache *cache)
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

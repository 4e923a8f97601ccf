/* Where the store is by default: see symcache/store.h. */
#include <stdlib.h>

#include "libsymcache/base/text.h"
#include "symcache/store.h"

int symstore_default_path(char **ret, struct sc_error *err)
{
	static const char tail[] = "symcache/symcache.store";
	const char *env = getenv("SYMCACHE_STORE"), *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	*ret = NULL;
	if (env && *env)
		*ret = sc_text("%s", env);
	else if (cache && *cache == '/') /* XDG: ignore what is not absolute */
		*ret = sc_text("%s/%s", cache, tail);
	else if (home && *home)
		*ret = sc_text("%s/.cache/%s", home, tail);
	else
		return sc_error_set(err, SC_EINVAL, "where is the store? HOME is not set");
	return *ret ? 0 : sc_error_set(err, SC_ENOMEM, "out of memory");
}

/* The version, in its one place: see build.h. */
#include "libsymcache/write/build.h"

const char symcache_version[] = "symcache 0.1.0";

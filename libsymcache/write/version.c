/* The version, in its one place: see symcache/build.h. */
#include "symcache/build.h"

const char symcache_version[] = "symcache 0.1.0";

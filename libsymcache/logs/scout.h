/*
 * scout.h: which addresses a short log will ask for, so that first answers can be made for all of
 * a file's at once: see symcache_module_cache_at().
 *
 * The log is filtered once for its questions alone, and without output, when the first of them
 * comes that a first answer serves. What a scout does not foresee is found out all the same, by
 * the whole cache.
 */
#ifndef SC_LOGS_SCOUT_H
#define SC_LOGS_SCOUT_H

#include "libmarkup/markup.h"
#include "libsymcache/symbolize/symbolize.h"

enum { SC_SCOUT_MOST = 64 << 10 }; /* bytes of a log; longer ones ask for much of a file */

struct sc_log_scout;

/* For logs that are filtered by `markup`, whose demux must outlive it. NULL: out of memory. */
struct sc_log_scout *sc_log_scout_create(const struct markup_options *markup);
void sc_log_scout_destroy(struct sc_log_scout *s); /* NULL is fine */

/* The log that comes next begins with these bytes, and if they are all of it, scouting is of
 * use. len 0: there is none. */
void sc_log_scout_text(struct sc_log_scout *s, const char *text, size_t len);

/* Makes first answers for what the log asks `m`, which symcache_module_is_first(), if it was not
 * done. `of` says which modules and places are meant. Thread-safe. */
void sc_log_scout_announce(struct sc_log_scout *s, const struct markup_resolver *of,
			   struct symcache_module *m);

#endif

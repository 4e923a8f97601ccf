/* A stop watch: each lap goes to a stage of a build. */
#ifndef SC_WATCH_H
#define SC_WATCH_H

#include <time.h>

#include "libsymcache/write/build.h"

struct sc_watch {
	struct timespec last;
	double *seconds; /* of each stage */
};

static inline void sc_watch_start(struct sc_watch *w)
{
	clock_gettime(CLOCK_MONOTONIC, &w->last);
}

static inline void sc_lap(struct sc_watch *w, enum symcache_stage stage)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	w->seconds[stage] += (double)(now.tv_sec - w->last.tv_sec) +
			     (double)(now.tv_nsec - w->last.tv_nsec) * 1e-9;
	w->last = now;
}

#endif

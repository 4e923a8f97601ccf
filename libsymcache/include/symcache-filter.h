/*
 * symcache-filter.h: what else a filter of logs can do, as the options of `symcache filter`; what
 * it found, and what it did not.
 *
 *   symcache_filter_create(store, &options, &filter, &err);
 *   symcache_filter_set(filter, "demux", "", &err);
 *   symcache_filter_set(filter, "module", "server=8cb1c4b0…", &err);
 *
 * Link with -lsymcache.
 */
#ifndef SYMCACHE_FILTER_H
#define SYMCACHE_FILTER_H

#include <symcache.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- symcache_filter_set: settings ------------------------------------------------------ */

/*
 * Sets what an option of `symcache filter` sets, before the first log. New ones may come.
 *
 *   dialect    "default", "llvm" or "fuchsia"; the latter two write text
 *   input      formats of logs that are looked for, commas between them; else all
 *   demux      several processes in one log, told apart by a regular expression; "": by the
 *              prefixes of Fuchsia and syslog
 *   module     NAME=BUILDID: what a module is that has no build ID in the log; may be repeated
 *   map-path   FROM=TO: of the paths in links of a page; may be repeated, the first that fits counts
 *   link       what the places of a page link to: {path}, {line} in it are replaced
 *   group      "yes": equal stacks are counted, and written by symcache_filter_end() alone
 *
 * SYMCACHE_EINVAL: there is no such setting or value, or it is too late; SYMCACHE_ENOMEM.
 */
SYMCACHE_API int symcache_filter_set(struct symcache_filter *f, const char *name,
				     const char *value, struct symcache_error *err);

/* ---- symcache_filter_stats: what was found ------------------------------------------------ */

/* Of all logs so far, up to the last symcache_filter_flush(), _finish() or _end(). */
struct symcache_filter_stats {
	size_t size;         /* sizeof(struct symcache_filter_stats) */
	uint64_t bytes;      /* of the logs */
	uint64_t frames;     /* addresses of code that were looked up */
	uint64_t found;      /* of these, with a function or a file */
	uint64_t outside;    /* of these, in no module */
	uint64_t understood; /* elements and frames of any format */
	uint64_t guessed;    /* frames that no format has, of modules that are known */
};

/* Fills a struct whose size is set. SYMCACHE_EINVAL: another size. */
SYMCACHE_API int symcache_filter_get_stats(const struct symcache_filter *f,
					   struct symcache_filter_stats *ret,
					   struct symcache_error *err);

#define SYMCACHE_MISSING_MODULE 1u  /* there is no such module in the store */
#define SYMCACHE_MISSING_LINES 2u   /* it has no more of it than a symbol table */
#define SYMCACHE_MISSING_BUILD 4u   /* what it has is of another build than the log */

/* A module in which addresses found nothing; valid during the call. */
struct symcache_missing {
	const char *name;
	size_t name_len;         /* it does not end with a NUL */
	const uint8_t *build_id;
	size_t build_id_len;     /* 0: the log does not say */
	uint64_t frames;         /* that found nothing */
	uint32_t flags;          /* SYMCACHE_MISSING_… */
	uint32_t reserved;
};

/* Calls `fn` for each, most frames first. SYMCACHE_EINVAL: there is no `fn`; SYMCACHE_ENOMEM. */
SYMCACHE_API int symcache_filter_each_missing(const struct symcache_filter *f,
					      void (*fn)(void *ctx, const struct symcache_missing *m),
					      void *ctx, struct symcache_error *err);

#ifdef __cplusplus
}
#endif

#endif

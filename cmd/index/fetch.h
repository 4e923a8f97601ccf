/*
 * fetch.h: --debuginfod: debug files by build ID from the servers in $DEBUGINFOD_URLS.
 *
 * Through libdebuginfod, loaded when it is first asked for, as it brings a web client
 * and thirty libraries along; it keeps what it got in a cache of its own. That a server
 * had nothing is remembered in the store, so that it is not asked each time.
 */
#ifndef CMD_FETCH_H
#define CMD_FETCH_H

#include "cmd/cmd.h"
#include "symcache/build.h"

struct fetch_options {
	bool on;
	const char *retry;
};

#define OPT_FETCH(where, what) \
	{ "debuginfod", 0, OPT_FLAG, &(where)->on, NULL, what }, \
	{ "debuginfod-retry", 0, OPT_STRING, &(where)->retry, "AGE", \
	  "ask again for what the servers did not have so long ago: 1d (default), 12h, 0s" }

struct fetcher;

/* *ret is NULL if it was not asked for. SC_EUNSUPPORTED: no library, or no servers. */
int fetcher_create(const struct fetch_options *options, struct fetcher **ret,
		   struct sc_error *err);
void fetcher_destroy(struct fetcher *f); /* NULL is fine */

/*
 * Gets the debug file with this build ID, else the program: *path on the heap, checked
 * to have that build ID. Thread-safe. SC_ENOTFOUND: no server has it; SC_ESYS: they
 * cannot be asked; SC_EFORMAT: what came is something else.
 */
int fetcher_get(struct fetcher *f, const uint8_t *build_id, size_t len, char **path,
		struct sc_error *err);

/* Was it not found so short ago that asking again is too early? */
bool fetcher_missed(const struct fetcher *f, struct symstore_reader *reader,
		    const uint8_t *build_id, size_t len);
int fetcher_remember_miss(struct symstore_writer *writer, const uint8_t *build_id, size_t len,
			  struct sc_error *err);
/* The same in a transaction of its own. */
int fetcher_store_miss(struct symstore *store, const uint8_t *build_id, size_t len,
		       struct sc_error *err);

/* For a build's options: files that files refer to by build ID are fetched, too. */
struct symcache_files fetcher_files(struct fetcher *f);

/*
 * Gets, indexes and stores it, or remembers that it was not there. Not while this process
 * has the store open. Errors as fetcher_get(), building and storing have.
 */
int fetch_into_store(struct fetcher *f, const char *store_option, const uint8_t *build_id,
		     size_t len, struct sc_error *err);

#endif

/*
 * servers.h: debuginfod's servers, asked one by one, so that it is known which of them does
 * not have a file, and which failed.
 */
#ifndef SC_INDEX_SERVERS_H
#define SC_INDEX_SERVERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/write/build.h"

struct sc_servers;

/* Loads the library; the servers are those in $DEBUGINFOD_URLS. SC_EUNSUPPORTED: neither
 * library nor servers; SC_ESYS, SC_ENOMEM. */
int sc_servers_open(struct sc_servers **ret, struct sc_error *err);
void sc_servers_close(struct sc_servers *s); /* NULL is fine */

size_t sc_servers_count(const struct sc_servers *s);
size_t sc_servers_failed(const struct sc_servers *s);
const char *sc_server_url(const struct sc_servers *s, size_t i);

/*
 * Gets the debug file, else the program, or, if that is wanted, the program alone, from server `i`:
 * *path on the heap. SC_ENOTFOUND: the server says that it has neither (404); SC_ESYS: anything
 * else; it is not asked again, which this says the first time: later, *err is empty. Not for
 * several threads at once.
 */
int sc_server_find(struct sc_servers *s, size_t i, const struct symcache_wanted *wanted,
		   char **path, struct sc_error *err);

#endif

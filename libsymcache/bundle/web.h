/*
 * web.h: files from web servers, by libcurl, which is loaded when it is first needed: it brings
 * thirty libraries along.
 *
 * http:// and https:// alone, also behind redirects, and from https:// to no http://; certificates
 * are checked. The answer is as it is: whoever asks checks what it says. Bounded: the size by the
 * caller, the time by struct symbundle_web. For one thread at a time.
 */
#ifndef BUNDLE_WEB_H
#define BUNDLE_WEB_H

#include "libsymcache/bundle/reading.h"

struct web;

/* SC_EUNSUPPORTED: there is no libcurl; SC_ENOMEM. */
int web_create(const struct symbundle_web *limits, struct web **ret, struct sc_error *err);
void web_destroy(struct web *w); /* NULL is fine */

/*
 * Gets a file of at most `max` bytes: *f is empty, or from an earlier call. SC_ENOTFOUND: the
 * server says that it does not have it (404, 410); SC_ELIMIT: it is larger, or takes too long;
 * SC_ESYS: anything else. Messages say what the server does: "answers with the status 500".
 */
int web_get(struct web *w, const char *url, size_t max, struct bundle_file *f,
	    struct sc_error *err);

#endif

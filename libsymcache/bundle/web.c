/* Files from web servers: see web.h. */
#include "libsymcache/bundle/web.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/write/build.h"

/* What of libcurl is used. Its interface is fixed by its soname, so that its headers are not needed
 * to build. */
static const char *const sonames[] = { "libcurl.so.4", "libcurl-gnutls.so.4", NULL };

enum {
	CURLOPT_WRITEDATA = 10001, CURLOPT_URL = 10002, CURLOPT_WRITEFUNCTION = 20011,
	CURLOPT_USERAGENT = 10018, CURLOPT_TIMEOUT = 13, CURLOPT_LOW_SPEED_LIMIT = 19,
	CURLOPT_LOW_SPEED_TIME = 20, CURLOPT_FAILONERROR = 45, CURLOPT_FOLLOWLOCATION = 52,
	CURLOPT_SSL_VERIFYPEER = 64, CURLOPT_MAXREDIRS = 68, CURLOPT_CONNECTTIMEOUT = 78,
	CURLOPT_SSL_VERIFYHOST = 81, CURLOPT_NOSIGNAL = 99, CURLOPT_PROTOCOLS = 181,
	CURLOPT_REDIR_PROTOCOLS = 182, CURLOPT_MAXFILESIZE_LARGE = 30117,
	CURLINFO_RESPONSE_CODE = 0x200002,
	CURLPROTO_HTTP = 1, CURLPROTO_HTTPS = 2,
	CURLE_UNSUPPORTED_PROTOCOL = 1, CURLE_PARTIAL_FILE = 18,
	CURLE_OPERATION_TIMEDOUT = 28, CURLE_TOO_MANY_REDIRECTS = 47, CURLE_FILESIZE_EXCEEDED = 63,
	CURL_GLOBAL_DEFAULT = 3,
};

enum { HTTP_ERROR = 400, HTTP_NOT_FOUND = 404, HTTP_GONE = 410, REDIRECTS = 5 };

enum { PATIENCE = 10, MAX_SECONDS = 3600, PATIENCE_BYTES = 4096 };

struct web {
	void *curl;
	int (*perform)(void *);
	int (*set)(void *, int option, ...);
	int (*get)(void *, int info, ...);
	void (*cleanup)(void *);
	const char *(*strerror)(int);
	long patience, most_seconds;
};

struct answer {
	struct bundle_file *f;
	size_t max;
	bool too_large, no_memory;
};

bool symbundle_is_url(const char *text)
{
	return !strncasecmp(text, "http://", 7) || !strncasecmp(text, "https://", 8);
}

char *symbundle_shown(const char *path)
{
	const char *host = symbundle_is_url(path) ? strchr(path, '/') + 2 : NULL;
	const char *at = host ? memrchr(host, '@', strcspn(host, "/?#")) : NULL;

	return at ? sc_text("%.*s%s", (int)(host - path), path, at + 1) : sc_text("%s", path);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int (*global_init)(long flags);

static void init_library(void)
{
	if (global_init)
		global_init(CURL_GLOBAL_DEFAULT);
}

/* The library's function of that name, as the pointer `to` has it. */
#define FUNCTION(to, name) ((__typeof__(to))dlsym(library, name))

/* The library stays loaded: it does not like to be unloaded. */
static int load(struct web *w, struct sc_error *err)
{
	void *library = NULL, *(*init)(void);

	for (int i = 0; !library && sonames[i]; i++)
		library = dlopen(sonames[i], RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return sc_error_set(err, SC_EUNSUPPORTED, "a web server is asked through %s (Debian: "
				    "libcurl4), which is not there", sonames[0]);
	init = FUNCTION(init, "curl_easy_init");
	w->perform = FUNCTION(w->perform, "curl_easy_perform");
	w->set = FUNCTION(w->set, "curl_easy_setopt");
	w->get = FUNCTION(w->get, "curl_easy_getinfo");
	w->cleanup = FUNCTION(w->cleanup, "curl_easy_cleanup");
	w->strerror = FUNCTION(w->strerror, "curl_easy_strerror");
	if (!init || !w->perform || !w->set || !w->get || !w->cleanup || !w->strerror)
		return sc_error_set(err, SC_EUNSUPPORTED, "libcurl lacks a function");
	global_init = FUNCTION(global_init, "curl_global_init");
	pthread_once(&once, init_library);
	return (w->curl = init()) ? 0 : sc_no_memory(err);
}

int web_create(const struct symbundle_web *limits, struct web **ret, struct sc_error *err)
{
	struct web *w = calloc(1, sizeof(*w));
	int rc = w ? load(w, err) : sc_no_memory(err);

	*ret = rc ? NULL : w;
	if (rc) {
		free(w);
		return rc;
	}
	w->patience = limits->patience ? limits->patience : PATIENCE;
	w->most_seconds = limits->most_seconds ? limits->most_seconds : MAX_SECONDS;
	return 0;
}

void web_destroy(struct web *w)
{
	if (w)
		w->cleanup(w->curl);
	free(w);
}

/* Less than `size` gives up. */
static size_t on_bytes(const char *bytes, size_t one, size_t size, void *ctx)
{
	struct answer *a = ctx;

	(void)one;
	a->too_large = size > a->max - a->f->len;
	if (a->too_large)
		return 0;
	a->no_memory = !vec_reserve(a->f, size + 1);
	if (a->no_memory)
		return 0;
	memcpy(a->f->data + a->f->len, bytes, size);
	a->f->len += size;
	return size;
}

/* All, as the handle keeps what was set; true: they are known to this library. */
static bool set_options(struct web *w, const char *url, struct answer *a)
{
	const bool tls = !strncasecmp(url, "https", 5);

	return !w->set(w->curl, CURLOPT_URL, url) &&
	       !w->set(w->curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) &&
	       !w->set(w->curl, CURLOPT_REDIR_PROTOCOLS,
		       tls ? (long)CURLPROTO_HTTPS : (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS)) &&
	       !w->set(w->curl, CURLOPT_FOLLOWLOCATION, 1L) &&
	       !w->set(w->curl, CURLOPT_MAXREDIRS, (long)REDIRECTS) &&
	       (!tls || (!w->set(w->curl, CURLOPT_SSL_VERIFYPEER, 1L) &&
			 !w->set(w->curl, CURLOPT_SSL_VERIFYHOST, 2L))) &&
	       !w->set(w->curl, CURLOPT_FAILONERROR, 1L) &&
	       !w->set(w->curl, CURLOPT_NOSIGNAL, 1L) &&
	       !w->set(w->curl, CURLOPT_CONNECTTIMEOUT, w->patience) &&
	       !w->set(w->curl, CURLOPT_LOW_SPEED_LIMIT, PATIENCE_BYTES / w->patience + 1) &&
	       !w->set(w->curl, CURLOPT_LOW_SPEED_TIME, w->patience) &&
	       !w->set(w->curl, CURLOPT_TIMEOUT, w->most_seconds) &&
	       !w->set(w->curl, CURLOPT_MAXFILESIZE_LARGE, (int64_t)a->max) &&
	       !w->set(w->curl, CURLOPT_USERAGENT, "symcache") &&
	       !w->set(w->curl, CURLOPT_WRITEFUNCTION, on_bytes) &&
	       !w->set(w->curl, CURLOPT_WRITEDATA, a);
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static int fail(struct web *w, int code, const struct answer *a, time_t seconds,
		struct sc_error *err)
{
	long status = 0;

	if (a->no_memory)
		return sc_no_memory(err);
	/* First, as the page that says so may be larger than the file. */
	w->get(w->curl, CURLINFO_RESPONSE_CODE, &status);
	if (status == HTTP_NOT_FOUND || status == HTTP_GONE)
		return sc_error_set(err, SC_ENOTFOUND, "does not have it");
	if (status >= HTTP_ERROR)
		return sc_error_set(err, SC_ESYS, "answers with status %ld", status);
	if (a->too_large || code == CURLE_FILESIZE_EXCEEDED)
		return sc_error_set(err, SC_ELIMIT, "sends a file of more than %zu bytes", a->max);
	switch (code) {
	case CURLE_OPERATION_TIMEDOUT:
		return seconds >= w->most_seconds ?
			sc_error_set(err, SC_ELIMIT, "needs more than %ld s for a file", w->most_seconds) :
			sc_error_set(err, SC_ESYS, "sends nothing for %ld s", w->patience);
	case CURLE_PARTIAL_FILE:
		return sc_error_set(err, SC_ESYS, "broke the connection");
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_TOO_MANY_REDIRECTS:
		return sc_error_set(err, SC_ESYS, "redirects to another protocol, or too often");
	default:
		return sc_error_set(err, SC_ESYS, "cannot be reached: %s", w->strerror(code));
	}
}

int web_get(struct web *w, const char *url, size_t max, struct bundle_file *f, struct sc_error *err)
{
	struct answer a = { f, max };
	const time_t begun = now();
	int code;

	vec_clear(f);
	if (!vec_reserve(f, 1))
		return sc_no_memory(err);
	if (!set_options(w, url, &a))
		return sc_error_set(err, SC_EUNSUPPORTED, "libcurl lacks an option");
	code = w->perform(w->curl);
	return code ? fail(w, code, &a, now() - begun, err) : 0;
}

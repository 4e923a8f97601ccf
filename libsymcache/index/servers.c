/*
 * debuginfod's servers: see servers.h. libdebuginfod takes its servers from the
 * environment and says "not there" for many a failure: it is given one server at a time,
 * and where it says so, the server is asked for its status, through the web client that the
 * library brings along. A server that sends less than 4 KiB in ten seconds is given up
 * ($DEBUGINFOD_TIMEOUT: other seconds).
 */
#include "libsymcache/index/servers.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"

/* What of the libraries is used. Their interfaces are fixed by their sonames, so that their
 * headers are not needed to build. */
static const char soname[] = "libdebuginfod.so.1";
static const char urls_name[] = "DEBUGINFOD_URLS";
struct client;
typedef int find_fn(struct client *, const unsigned char *id, int len, char **path);
typedef int progress_fn(struct client *, long done, long total);

enum { CURL_URL = 10002, CURL_WRITE = 20011, CURL_FOLLOW = 52, CURL_NO_SIGNAL = 99,
       CURL_TIMEOUT = 13, CURL_STATUS = 0x200002 };
enum { HTTP_NOT_FOUND = 404, HTTP_OK = 200 };

enum {
	PATIENCE = 10, PROGRESS_BYTES = 4096,
	/* Of one file: four times the largest that distributions have; at 1 MB a second. */
	MAX_BYTES_GB = 4, MAX_SECONDS = 3600,
};

struct server {
	char *url;
	bool failed;
};

struct sc_servers {
	void *library;
	struct client *client;
	void (*end)(struct client *);
	void *(*user_data)(struct client *);
	find_fn *find_debuginfo, *find_executable;
	/* Of the web client; NULL where it cannot be had. */
	void *(*curl_init)(void);
	int (*curl_set)(void *, int option, ...);
	int (*curl_perform)(void *);
	int (*curl_get)(void *, int info, ...);
	void (*curl_cleanup)(void *);
	char *urls;              /* of the environment */
	VEC(struct server) list;
	int patience;            /* seconds */
	long most_bytes, most_seconds; /* of one file */
	/* Of the current request: */
	double begun, since;     /* the last progress, monotonic seconds */
	long bytes;
	bool gave_up, too_large, too_long;
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static _Thread_local struct sc_servers *asking;

/* Nonzero gives up. Before the first bytes, `done` counts the calls; libdebuginfod 0.192 makes none
 * then: it gives up itself, after three times $DEBUGINFOD_TIMEOUT (90 s). */
static int on_progress(struct client *client, long done, long total)
{
	(void)client;
	if (done >= asking->bytes + PROGRESS_BYTES) {
		asking->bytes = done;
		asking->since = now();
	}
	asking->too_large = asking->bytes > asking->most_bytes || total > asking->most_bytes;
	asking->too_long = now() - asking->begun > asking->most_seconds;
	asking->gave_up = asking->too_large || asking->too_long ||
			  now() - asking->since >= asking->patience;
	return asking->gave_up;
}

/* The library's function of that name, as the pointer `to` has it. */
#define FUNCTION(to, name) ((__typeof__(to))dlsym(s->library, name))

static int load(struct sc_servers *s, struct sc_error *err)
{
	void (*set_progress)(struct client *, progress_fn *);
	struct client *(*begin)(void);

	s->library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	if (!s->library)
		return sc_error_set(err, SC_EUNSUPPORTED, "debuginfod needs %s (Debian: "
				    "libdebuginfod1): %s", soname, dlerror());
	begin = FUNCTION(begin, "debuginfod_begin");
	set_progress = FUNCTION(set_progress, "debuginfod_set_progressfn");
	s->end = FUNCTION(s->end, "debuginfod_end");
	s->find_debuginfo = FUNCTION(s->find_debuginfo, "debuginfod_find_debuginfo");
	s->find_executable = FUNCTION(s->find_executable, "debuginfod_find_executable");
	if (!begin || !set_progress || !s->end || !s->find_debuginfo || !s->find_executable)
		return sc_error_set(err, SC_EUNSUPPORTED, "%s lacks a function", soname);
	/* The libraries that it needs are searched, too. */
	s->curl_init = FUNCTION(s->curl_init, "curl_easy_init");
	s->curl_set = FUNCTION(s->curl_set, "curl_easy_setopt");
	s->curl_perform = FUNCTION(s->curl_perform, "curl_easy_perform");
	s->curl_get = FUNCTION(s->curl_get, "curl_easy_getinfo");
	s->curl_cleanup = FUNCTION(s->curl_cleanup, "curl_easy_cleanup");
	s->client = begin();
	if (!s->client)
		return sc_error_set(err, SC_ESYS, "%s cannot start", soname);
	set_progress(s->client, on_progress);
	return 0;
}

static bool add_server(struct sc_servers *s, const char *url, size_t len)
{
	char *copy = strndup(url, len);
	struct server *server = copy ? vec_push(&s->list) : NULL;

	if (server)
		server->url = copy;
	else
		free(copy);
	return server;
}

/* A positive number of the environment, or the default. */
static long number_of(const char *name, long otherwise)
{
	const char *text = getenv(name);
	const long n = text ? atol(text) : 0;

	return n > 0 ? n : otherwise;
}

int sc_servers_open(struct sc_servers **ret, struct sc_error *err)
{
	const char *urls = getenv(urls_name), *patience = getenv("DEBUGINFOD_TIMEOUT");
	struct sc_servers *s = calloc(1, sizeof(*s));
	bool ok = s && (s->urls = strdup(urls ? urls : ""));
	int rc = 0;

	*ret = NULL;
	for (const char *at = ok ? s->urls : ""; ok && *(at += strspn(at, " ")); ) {
		const size_t len = strcspn(at, " ");

		ok = add_server(s, at, len);
		at += len;
	}
	if (!ok)
		rc = sc_no_memory(err);
	else if (!s->list.len)
		rc = sc_error_set(err, SC_EUNSUPPORTED, "debuginfod asks the servers in $%s, "
				  "which is empty", urls_name);
	else
		rc = load(s, err);
	if (rc) {
		sc_servers_close(s);
		return rc;
	}
	s->patience = patience && atoi(patience) > 0 ? atoi(patience) : PATIENCE;
	s->most_bytes = number_of("DEBUGINFOD_MAXSIZE", (long)MAX_BYTES_GB << 30);
	s->most_seconds = number_of("DEBUGINFOD_MAXTIME", MAX_SECONDS);
	*ret = s;
	return 0;
}

/* The library stays loaded: web clients do not like to be unloaded. */
void sc_servers_close(struct sc_servers *s)
{
	if (!s)
		return;
	if (s->client)
		s->end(s->client);
	for (size_t i = 0; i < s->list.len; i++)
		free(s->list.data[i].url);
	vec_deinit(&s->list);
	free(s->urls);
	free(s);
}

size_t sc_servers_failed(const struct sc_servers *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->list.len; i++)
		n += s->list.data[i].failed;
	return n;
}

size_t sc_servers_count(const struct sc_servers *s)
{
	return s->list.len;
}

const char *sc_server_url(const struct sc_servers *s, size_t i)
{
	return s->list.data[i].url;
}

/* -errno, or a descriptor. The build ID is given as text, with the length 0: of bytes the client takes
 * one less than the longest has. */
static int find(struct sc_servers *s, find_fn *fn, const char *hex, char **path)
{
	asking = s;
	s->since = s->begun = now();
	s->too_large = s->too_long = false;
	s->bytes = 0;
	s->gave_up = false;
	return fn(s->client, (const unsigned char *)hex, 0, path);
}

static size_t drop(const char *bytes, size_t size, size_t n, void *ctx)
{
	(void)bytes, (void)ctx;
	return size * n;
}

/* What the server says to a request for the program: 404, 200, 503; 0: nothing, or it
 * cannot be asked so. */
static long status_of(struct sc_servers *s, const char *url, const char *hex)
{
	char *request __attribute__((cleanup(sc_free_text))) =
		sc_text("%s/buildid/%s/executable", url, hex);
	long status = 0;
	void *curl;

	if (!request || !s->curl_init || !s->curl_set || !s->curl_perform || !s->curl_get ||
	    !s->curl_cleanup || !(curl = s->curl_init()))
		return HTTP_NOT_FOUND;
	s->curl_set(curl, CURL_URL, request);
	s->curl_set(curl, CURL_WRITE, drop);
	s->curl_set(curl, CURL_FOLLOW, 1L);
	s->curl_set(curl, CURL_NO_SIGNAL, 1L);
	s->curl_set(curl, CURL_TIMEOUT, (long)s->patience);
	s->curl_perform(curl);
	s->curl_get(curl, CURL_STATUS, &status);
	s->curl_cleanup(curl);
	return status;
}

/* Where libdebuginfod keeps what it got, on the heap; NULL: out of memory. */
static char *cache_folder(void)
{
	const char *named = getenv("DEBUGINFOD_CACHE_PATH"), *home = getenv("HOME");
	const char *xdg = getenv("XDG_CACHE_HOME");
	char *old;

	if (named && *named)
		return strdup(named);
	home = home ? home : "/";
	old = sc_text("%s/.debuginfod_client_cache", home);
	if (!old || !access(old, F_OK))
		return old;
	free(old);
	return xdg && *xdg ? sc_text("%s/debuginfod_client", xdg) :
			     sc_text("%s/.cache/debuginfod_client", home);
}

/* libdebuginfod keeps an empty file for what it takes for a miss, and asks no server for ten
 * minutes. True: there was one, and it is gone. */
static bool forget_miss(const char *hex)
{
	static const char *const kinds[] = { "debuginfo", "executable" };
	char *folder __attribute__((cleanup(sc_free_text))) = cache_folder();
	bool any = false;

	for (int i = 0; i < 2 && folder; i++) {
		char *path = sc_text("%s/%s/%s", folder, hex, kinds[i]);
		struct stat st;

		any |= path && !lstat(path, &st) && S_ISREG(st.st_mode) && !st.st_size &&
		       !unlink(path);
		free(path);
	}
	return any;
}

/* -errno, or a descriptor: the debug file, else the program; or that alone. */
static int find_either(struct sc_servers *s, const struct server *server,
		       const char *hex, bool program, char **path)
{
	int fd;

	setenv(urls_name, server->url, 1);
	fd = program ? -ENOENT : find(s, s->find_debuginfo, hex, path);
	if (fd == -ENOENT && !s->gave_up)
		fd = find(s, s->find_executable, hex, path);
	setenv(urls_name, s->urls, 1);
	return fd;
}

static int fail(struct sc_servers *s, struct server *server, int code, long status,
		struct sc_error *err)
{
	/* libdebuginfod may notice by itself, depending on its version. */
	const bool silent = s->gave_up || code == -ETIME || code == -ETIMEDOUT;
	const char *why = silent ? NULL : strerror(-code);
	const bool too_large = s->too_large || code == -EFBIG;
	const bool too_long = s->too_long || (silent && now() - s->begun >= s->most_seconds);

	server->failed = true;
	if (too_large)
		return sc_error_set(err, SC_ELIMIT, "%.120s sends a file of more than %ld bytes "
				    "($DEBUGINFOD_MAXSIZE); it is not asked again", server->url,
				    s->most_bytes);
	if (too_long)
		return sc_error_set(err, SC_ELIMIT, "%.120s needs more than %ld s for a file "
				    "($DEBUGINFOD_MAXTIME); it is not asked again", server->url,
				    s->most_seconds);
	if (status == HTTP_OK)
		return sc_error_set(err, SC_ESYS, "%.120s broke the connection; it is not asked again",
				    server->url);
	if (status)
		return sc_error_set(err, SC_ESYS, "%.120s answers with status %ld; it is not asked "
				    "again", server->url, status);
	if (!why)
		return sc_error_set(err, SC_ESYS,
				    "%.120s sends nothing for %d s; it is not asked again",
				    server->url, s->patience);
	return sc_error_set(err, SC_ESYS, "%.120s cannot be reached: %s; it is not asked again",
			    server->url, code == -ENOENT ? "no answer" : why);
}

int sc_server_find(struct sc_servers *s, size_t i, const struct symcache_wanted *wanted,
		   char **path, struct sc_error *err)
{
	struct server *server = &s->list.data[i];
	char hex[SYMCACHE_BUILD_ID_TEXT];
	long status = 0;
	int fd;

	*path = NULL;
	if (server->failed) {
		if (err)
			*err = (struct sc_error){ .code = SC_ESYS };
		return SC_ESYS;
	}
	symcache_build_id_text(hex, wanted->build_id, wanted->build_id_len);
	for (int tries = 0; ; tries++) {
		fd = find_either(s, server, hex, wanted->program, path);
		status = fd == -ENOENT && !s->gave_up ? status_of(s, server->url, hex) : 0;
		if (status != HTTP_OK || tries || !forget_miss(hex))
			break;
	}
	if (fd >= 0) {
		close(fd);
		return *path ? 0 : sc_error_set(err, SC_ESYS, "no path for %s", hex);
	}
	if (status == HTTP_NOT_FOUND)
		return sc_error_set(err, SC_ENOTFOUND, "%.120s does not have %s", server->url, hex);
	forget_miss(hex);
	return fail(s, server, fd, status, err);
}

/* Servers of debuginfod, which are a thread here: what is asked for, taken and remembered, and what
 * is said of those that fail. The first server is URL/a, the second URL/b; they have aa.debug and
 * aa (a program). */
#include "libsymcache/index/index.h"

#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/text.h"

static char top[] = "/tmp/debuginfod_test.XXXXXX";
static int listening = -1, port;

/* What a server does. */
enum mode { NONE, ALL, PROGRAM, OTHER, BROKEN, MOVED, DROPS, SILENT };
static enum mode modes[3]; /* the third one is where things have moved */
static char asked[400]; /* "a/debuginfo b/executable " */

static void answer(int fd, const char *status, const char *path)
{
	static char body[1 << 20];
	FILE *f = path ? fopen(path, "rb") : NULL;
	const size_t n = f ? fread(body, 1, sizeof(body), f) : 0;

	if (f)
		fclose(f);
	dprintf(fd, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n", status, n);
	(void)!write(fd, body, n);
}

static void serve(int fd, const char *name)
{
	char id[200], kind[30], server, path[200], byte;
	bool debug;

	if (sscanf(name, "/%c/buildid/%199[0-9a-f]/%29s", &server, id, kind) != 3)
		return;
	snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%c/%s ", server, kind);
	debug = !strcmp(kind, "debuginfo");
	snprintf(path, sizeof(path), "%s/F/%s", top, debug ? "a.debug" : "a.stripped");
	switch (modes[server - 'a']) {
	case ALL:
		answer(fd, strcmp(id, "aaaaaaaa") ? "404 Not Found" : "200 OK",
		       strcmp(id, "aaaaaaaa") ? NULL : path);
		break;
	case PROGRAM:
		answer(fd, debug ? "404 Not Found" : "200 OK", debug ? NULL : path);
		break;
	case OTHER:
		snprintf(path, sizeof(path), "%s/F/b.so", top);
		answer(fd, "200 OK", path);
		break;
	case BROKEN:
		answer(fd, "503 Service Unavailable", NULL);
		break;
	case MOVED:
		dprintf(fd, "HTTP/1.1 302 Found\r\nLocation: /c/buildid/%s/%s\r\nContent-Length: 0\r\n"
			"Connection: close\r\n\r\n", id, kind);
		break;
	case SILENT:
		(void)!read(fd, &byte, 1); /* until it gives up */
		break;
	case DROPS:
		break;
	case NONE:
		answer(fd, "404 Not Found", NULL);
	}
}

static void *run_server(void *ctx)
{
	char text[2000], name[300];
	int fd;

	while ((fd = accept(listening, NULL, NULL)) >= 0) {
		const ssize_t n = read(fd, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = 0;
		if (sscanf(text, "%*s %299s", name) == 1)
			serve(fd, name);
		close(fd);
	}
	return ctx;
}

static void run(const char *command)
{
	char *text = sc_text("cd %s && %s", top, command);

	assert_int_equal(system(text), 0);
	free(text);
}

/* With what the servers do, and nothing kept from before. NULL: skipped. */
static struct symcache_debuginfod *servers(enum mode a, enum mode b, int64_t retry)
{
	struct symcache_debuginfod *d;
	struct sc_error err;

	run("rm -rf cache && mkdir cache");
	modes[0] = a;
	modes[1] = b;
	*asked = 0;
	if (symcache_debuginfod_create(retry, &d, &err)) {
		printf("skipped: %s\n", err.msg);
		skip();
	}
	return d;
}

/* What is asked for, of which server, and what comes of it. */
static void test_get(void **state)
{
	static const uint8_t ids[][SYMCACHE_BUILD_ID_MAX + 1] = { { 0xaa, 0xaa, 0xaa, 0xaa }, { 0xcc, 0xcc, 0xcc, 0xcc } };
	static const struct {
		const char *what;
		enum mode a, b;
		unsigned id, len;
		bool program;
		int rc;
		const char *why, *asked;
		size_t failed;
	} cases[] = {
		{ "the first has it", ALL, ALL, 0, 4, false, 0, "", "a/debuginfo ", 0 },
		{ "the second has it", NONE, ALL, 0, 4, false, 0, "", "b/debuginfo ", 0 },
		{ "no debug file, but a program", PROGRAM, NONE, 0, 4, false, 0, "",
		  "a/executable ", 0 },
		{ "the program alone", ALL, NONE, 0, 4, true, 0, "", "a/executable ", 0 },
		{ "another ID", ALL, ALL, 1, 4, false, SC_ENOTFOUND, "no server has cccccccc",
		  "b/executable ", 0 },
		{ "the longest ID", ALL, ALL, 1, SYMCACHE_BUILD_ID_MAX, false, SC_ENOTFOUND,
		  "no server has cccccccc", "b/executable ", 0 },
		{ "a longer one", ALL, ALL, 1, SYMCACHE_BUILD_ID_MAX + 1, false, SC_ENOTFOUND,
		  "no build ID", "", 0 },
		{ "no ID", ALL, ALL, 0, 0, false, SC_ENOTFOUND, "no build ID", "", 0 },
		{ "no server has it", NONE, NONE, 0, 4, false, SC_ENOTFOUND,
		  "no server has aaaaaaaa", "b/executable ", 0 },
		{ "no server has the program", NONE, NONE, 0, 4, true, SC_ENOTFOUND,
		  "no server has aaaaaaaa", "b/executable ", 0 },
		{ "another file", OTHER, NONE, 0, 4, false, SC_EFORMAT,
		  "the server gave a file with another build ID", "a/debuginfo ", 0 },
		{ "the first is broken", BROKEN, ALL, 0, 4, false, 0, "", "b/debuginfo ", 1 },
		{ "it has moved to where it is not", MOVED, NONE, 0, 4, false, SC_ENOTFOUND,
		  "no server has aaaaaaaa", "a/executable c/executable b/executable ", 0 },
		{ "both are broken", BROKEN, BROKEN, 0, 4, false, SC_ESYS,
		  "/a answers with status 503; it is not asked again", "b/executable ", 2 },
		{ "it drops the connection", DROPS, NONE, 0, 4, false, SC_ESYS,
		  "it is not asked again", "b/executable ", 1 },
		{ "it is silent", SILENT, NONE, 0, 4, false, SC_ESYS,
		  "/a sends nothing for 1 s; it is not asked again", "b/executable ", 1 },
	};

	/* Which reports progress when a server has answered, and not before: there its own time counts. */
	const bool is_late = dlsym(dlopen("libdebuginfod.so.1", RTLD_NOW), "debuginfod_find_metadata");

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_debuginfod *d = servers(cases[i].a, cases[i].b, 1000);
		struct sc_error err = { .msg = "" };
		char *path, *again;
		time_t begun = time(NULL);
		int rc;

		/* It is given up by us, not by libdebuginfod, which asks for the time at each request. */
		setenv("DEBUGINFOD_TIMEOUT", is_late ? "1" : "20", 1);
		rc = symcache_debuginfod_get(d, ids[cases[i].id], cases[i].len, cases[i].program,
					     &path, &err);
		setenv("DEBUGINFOD_TIMEOUT", "1", 1);
		assert_true(time(NULL) - begun < 15);
		if (rc != cases[i].rc || (rc && !strstr(err.msg, cases[i].why)) || !rc != !!path ||
		    !strstr(asked, cases[i].asked) || (!*cases[i].asked && *asked))
			fail_msg("%s: %d %s, asked %s", cases[i].what, rc, rc ? err.msg : "",
				 asked);
		assert_int_equal(symcache_debuginfod_failed(d), cases[i].failed);
		/* What it said is not said again, and a server that failed is not asked. */
		*asked = 0;
		rc = symcache_debuginfod_get(d, ids[cases[i].id], cases[i].len, cases[i].program,
					     &again, &err);
		assert_int_equal(rc, cases[i].rc == SC_ESYS ? SC_ENOTFOUND : cases[i].rc);
		if (cases[i].rc == SC_ESYS)
			assert_string_equal(err.msg, "no server that answered has aaaaaaaa");
		assert_true(!cases[i].failed || !strstr(asked, "a/"));
		free(path);
		free(again);
		symcache_debuginfod_destroy(d);
	}
}

/* A server that failed is not asked for another file either; what one said before it is not its reason. */
static void test_failed_before(void **state)
{
	static const uint8_t ids[][4] = { { 1 }, { 2 } };
	struct symcache_debuginfod *d = servers(NONE, BROKEN, 1000);
	struct sc_error err;
	char *path;

	(void)state;
	assert_int_equal(symcache_debuginfod_get(d, ids[0], 4, false, &path, &err), SC_ESYS);
	assert_non_null(strstr(err.msg, "/b answers with status 503"));
	assert_int_equal(symcache_debuginfod_get(d, ids[1], 4, false, &path, &err), SC_ENOTFOUND);
	assert_string_equal(err.msg, "no server that answered has 02000000");
	symcache_debuginfod_destroy(d);
}

static void on_file(void *ctx, const struct symcache_index_file *f)
{
	static const char *const results[] = { "built", "unchanged", "no symbols", "unsupported",
					       "failed" };
	char **said = ctx,
	     *more = sc_text("%s%s%s%s%s; ", *said, results[f->result], f->reason ? " (" : "",
			     f->reason ? f->reason : "", f->reason ? ")" : "");

	free(*said);
	*said = more;
}

/* Indexes build IDs; what was said, and the account. */
static char *index_ids(struct symcache_debuginfod *d, const char *const *ids, size_t n, bool again,
		       struct symcache_index_account *a)
{
	char *said = strdup(""), *store_path = sc_text("%s/s.store", top);
	const struct symcache_index_options o = {
		.time = 1700000000,
		.debuginfod = d,
		.again = again,
		.build.threads = 1,
		.events = { .file = on_file, .ctx = &said },
	};
	struct symstore *store;
	struct sc_error err;

	assert_int_equal(symstore_open(store_path, SYMSTORE_WRITE, &store, &err), 0);
	if (symcache_index(store, ids, n, &o, a, &err))
		fail_msg("%s", err.msg);
	symstore_close(store);
	free(store_path);
	return said;
}

/* A step of a story: the servers, what is indexed, and what came of it. */
static const struct {
	enum mode a, b;
	int64_t retry;
	const char *ids[2];
	bool again;
	const char *said, *asked;
	unsigned indexed, unchanged, failed, lacking;
} steps[] = {
	{ NONE,
	  NONE,
	  1000,
	  { "aaaaaaaa" },
	  false,
	  "failed (no server has aaaaaaaa); ",
	  "executable",
	  0,
	  0,
	  1,
	  1 },
	/* It is remembered that they do not have it, for as long as that is wanted. */
	{ ALL, ALL, 1000, { "aaaaaaaa" }, false, "failed (no server had it); ", "", 0, 0, 1, 1 },
	{ ALL, ALL, 0, { "aaaaaaaa" }, false, "built; ", "a/debuginfo", 1, 0, 0, 0 },
	/* What the store has is not fetched, unless all is done anew. */
	{ ALL, ALL, 0, { "aaaaaaaa" }, false, "unchanged; ", "", 0, 1, 0, 0 },
	{ ALL, ALL, 0, { "aaaaaaaa" }, true, "built; ", "a/debuginfo", 1, 0, 0, 0 },
	{ ALL, ALL, 0, { "aaaaaaa" }, false, "failed (not a whole build ID); ", "", 0, 0, 1, 0 },
	{ ALL, ALL, 0, { "aaxx" }, false, "failed (", "", 0, 0, 1, 0 },
	/* A server that failed may have it. */
	{ BROKEN,
	  NONE,
	  0,
	  { "cccccccc" },
	  false,
	  "answers with status 503; it is not asked again); ",
	  "",
	  0,
	  0,
	  1,
	  0 },
	{ NONE,
	  NONE,
	  0,
	  { "cccccccc", "aaaaaaaa" },
	  false,
	  "failed (no server has cccccccc); unchanged; ",
	  "",
	  0,
	  1,
	  1,
	  1 },
};

static void test_index(void **state)
{
	(void)state;
	run("rm -f s.store*");
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct symcache_debuginfod *d = servers(steps[i].a, steps[i].b, steps[i].retry);
		struct symcache_index_account a;
		char *said =
			index_ids(d, steps[i].ids, steps[i].ids[1] ? 2 : 1, steps[i].again, &a);

		if (!strstr(said, steps[i].said) || !strstr(asked, steps[i].asked) ||
		    a.indexed != steps[i].indexed || a.unchanged != steps[i].unchanged ||
		    a.failed != steps[i].failed || a.not_on_servers != steps[i].lacking)
			fail_msg("step %zu: %s, asked %s, %d %d %d %d", i, said, asked,
				 (int)a.indexed, (int)a.unchanged, (int)a.failed,
				 (int)a.not_on_servers);
		free(said);
		symcache_debuginfod_destroy(d);
	}
}

/* libdebuginfod keeps an empty file of what a server did not have a while ago, in one of these folders.
 * The server has it by now, so that is forgotten. */
static void test_kept_misses(void **state)
{
	static const uint8_t id[] = { 0xaa, 0xaa, 0xaa, 0xaa };
	static const struct { const char *named, *xdg, *before, *folder; } cases[] = {
		{ "cache", "xdg", "true", "cache" }, { "", "xdg", "true", "xdg/debuginfod_client" },
		{ NULL, "xdg", "true", "xdg/debuginfod_client" }, { NULL, NULL, "true", "home/.cache/debuginfod_client" },
		{ NULL, "", "true", "home/.cache/debuginfod_client" },
		{ NULL, "xdg", "mkdir home/.debuginfod_client_cache", "home/.debuginfod_client_cache" },
	};
	static const char *const names[] = { "DEBUGINFOD_CACHE_PATH", "XDG_CACHE_HOME", "HOME" };
	char *was[3];

	(void)state;
	for (int k = 0; k < 3; k++)
		was[k] = getenv(names[k]) ? strdup(getenv(names[k])) : NULL;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const char *const values[] = { cases[i / 2].named, cases[i / 2].xdg, "home" };
		struct symcache_debuginfod *d = servers(ALL, NONE, 1000);
		char *path, *command = sc_text("rm -rf home xdg && mkdir home xdg && %s && mkdir -p %s/aaaaaaaa && "
					       ": > %s/aaaaaaaa/%s", cases[i / 2].before, cases[i / 2].folder,
					       cases[i / 2].folder, i % 2 ? "executable" : "debuginfo");
		struct sc_error err;

		run(command);
		for (int k = 0; k < 3; k++) {
			char *value = values[k] && *values[k] ? sc_text("%s/%s", top, values[k]) : strdup("");

			if (values[k])
				setenv(names[k], value, 1);
			else
				unsetenv(names[k]);
			free(value);
		}
		if (symcache_debuginfod_get(d, id, 4, i % 2, &path, &err))
			fail_msg("%s: %s", command, err.msg);
		assert_non_null(strstr(path, cases[i / 2].folder));
		free(path);
		free(command);
		symcache_debuginfod_destroy(d);
	}
	for (int k = 0; k < 3; k++) {
		if (was[k])
			setenv(names[k], was[k], 1);
		else
			unsetenv(names[k]);
		free(was[k]);
	}
}

static void test_none(void **state)
{
	struct symcache_debuginfod *d = (void *)1;
	struct sc_error err;
	char *urls = strdup(getenv("DEBUGINFOD_URLS"));

	(void)state;
	setenv("DEBUGINFOD_URLS", " ", 1);
	assert_int_equal(symcache_debuginfod_create(0, &d, &err), SC_EUNSUPPORTED);
	assert_null(d);
	assert_string_equal(err.msg,
			    "debuginfod asks the servers in $DEBUGINFOD_URLS, which is empty");
	setenv("DEBUGINFOD_URLS", urls, 1);
	free(urls);
}

static int set_up(void **state)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	pthread_t thread;
	char *text;

	(void)state;
	if (!mkdtemp(top))
		return -1;
	run("mkdir F && cd F && printf 'int f(int x) { return 2 * x; }\n' > a.c && "
	    "gcc -g -shared -fPIC -nostdlib -Wl,--build-id=0xaaaaaaaa -o a.so a.c && "
	    "gcc -g -shared -fPIC -nostdlib -Wl,--build-id=0xbbbbbbbb -o b.so a.c && "
	    "objcopy --only-keep-debug a.so a.debug && objcopy --strip-all a.so a.stripped");
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_false(bind(listening, (struct sockaddr *)&at, sizeof(at)) || listen(listening, 20) ||
		     getsockname(listening, (struct sockaddr *)&at, &len));
	port = ntohs(at.sin_port);
	text = sc_text("http://127.0.0.1:%d/a  http://127.0.0.1:%d/b", port, port);
	setenv("DEBUGINFOD_URLS", text, 1);
	free(text);
	text = sc_text("%s/cache", top);
	setenv("DEBUGINFOD_CACHE_PATH", text, 1);
	free(text);
	setenv("DEBUGINFOD_TIMEOUT", "1", 1);
	setenv("no_proxy", "*", 1);
	return pthread_create(&thread, NULL, run_server, NULL);
}

static int tear_down(void **state)
{
	char *command = sc_text("rm -rf %s", top);
	const int rc = system(command);

	(void)state;
	free(command);
	return rc;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_get), cmocka_unit_test(test_failed_before),
		cmocka_unit_test(test_index),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_kept_misses),
	};

	return cmocka_run_group_tests_name("debuginfod", tests, set_up, tear_down);
}

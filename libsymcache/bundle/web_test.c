/* Trees on a web server, which is a thread here: what is asked for, what is taken, and what servers do. */
#include "libsymcache/bundle/testing.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>

#include "libsymcache/bundle/sites.h"
#include "libsymcache/bundle/web.h"
#include "libsymcache/store/misses.h"

enum { N = 3 };

static struct own own[N];
static char url[100];
static int listening = -1;

/* What the server does with files whose names contain `of`. */
static enum { WELL, GONE, BROKEN, CUT, LARGE, CHANGED, MOVED, LOOPS, EMPTY, SILENT } mode;
static const char *of;
static unsigned requests;

static void answer(int fd, const char *status, size_t length, const char *more, const char *body, size_t n)
{
	dprintf(fd, "HTTP/1.1 %s\r\nContent-Length: %zu\r\n%sConnection: close\r\n\r\n", status, length, more);
	(void)!write(fd, body, n);
}

static void serve(int fd, const char *name)
{
	static char body[1 << 20];
	const bool faulty = of && strstr(name, of) && !(mode == MOVED && strstr(name, "/moved"));
	const char *moved = strstr(name, "/moved");
	FILE *f = fopen(in_dir(moved ? moved + strlen("/moved") : name), "re");
	const size_t n = f ? fread(body, 1, sizeof(body), f) : 0;
	char more[300];

	snprintf(more, sizeof(more), "Location: %s%s\r\n", mode == MOVED ? "/moved" : "", name);
	if (f)
		fclose(f);
	switch (faulty ? mode : WELL) {
	case WELL: answer(fd, f ? "200 OK" : "404 Not Found", n, "", body, n); break;
	case GONE: answer(fd, "410 Gone", 0, "", "", 0); break;
	case BROKEN: answer(fd, "503 Service Unavailable", 3, "", "no\n", 3); break;
	case CUT: answer(fd, "200 OK", n, "", body, n / 2); break;
	case LARGE: answer(fd, "200 OK", (size_t)1 << 40, "", body, n); break;
	case CHANGED: body[n / 2] ^= 1; answer(fd, "200 OK", n, "", body, n); break;
	case EMPTY: answer(fd, "200 OK", 0, "", "", 0); break;
	case SILENT: (void)!read(fd, body, 1); break; /* until it gives up */
	case MOVED: case LOOPS: answer(fd, "302 Found", 0, more, "", 0); break;
	}
}

static void *run_server(void *ctx)
{
	char text[2000], name[200];
	int fd;

	while ((fd = accept(listening, NULL, NULL)) >= 0) {
		const ssize_t n = read(fd, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = 0;
		if (sscanf(text, "GET %199s", name) == 1) {
			requests++;
			serve(fd, name);
		}
		close(fd);
	}
	return ctx;
}

static int set_up(void **state)
{
	static const char *const ids[N] = {
		/* The longest there is. */
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
		"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
		"0011ff", "7f00",
	};
	struct symbundle_export_options o = { .level = 1 };
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	struct symbundle_exported done;
	struct symstore_reader *reader;
	struct symstore *store;
	pthread_t thread;

	if (testing_set_up(state))
		return -1;
	own_keys();
	for (int i = 0; i < N; i++)
		own[i] = own_entry("inlines", ids[i]);
	own[1].entry.time = INT64_MAX / 2; /* to come */
	own[1].entry.tags = "nightly\npinned";
	o.sign_key = in_dir("key");
	store = own_open("a.store");
	own_put(store, own, N);
	reader = own_reader(store);
	assert_ok(symbundle_export(reader, in_dir("t"), SYMBUNDLE_TREE, &o, &done, &err));
	symstore_read_end(reader);
	symstore_close(store);
	setenv("no_proxy", "*", 1);
	listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_false(bind(listening, (struct sockaddr *)&at, sizeof(at)) || listen(listening, 20) ||
		     getsockname(listening, (struct sockaddr *)&at, &len));
	snprintf(url, sizeof(url), "http://127.0.0.1:%d/t", ntohs(at.sin_port));
	return pthread_create(&thread, NULL, run_server, NULL);
}

static int tear_down(void **state)
{
	for (int i = 0; i < N; i++)
		free(own[i].cache);
	return testing_tear_down(state);
}

/* Without libcurl no server can be asked. */
static void need_curl(void)
{
	const struct symbundle_web limits = { 0 };
	struct web *web;

	if (web_create(&limits, &web, &err)) {
		printf("skipped: %s\n", err.msg);
		skip();
	}
	web_destroy(web);
	mode = WELL;
	of = NULL;
	requests = 0;
}

static int patience = 60; /* seconds */

static struct symbundle_sites *sites_of(const char *one, const char *two, const char *key, int64_t retry)
{
	const char *const urls[] = { one, two, NULL };
	const struct symbundle_sites_options o = { .urls = urls, .verify_key = key, .retry = retry,
						   .web = { patience, 120 } };
	struct symbundle_sites *s;

	assert_ok(symbundle_sites_create(&o, &s, &err));
	return s;
}

static int get(struct symbundle_sites *s, const struct own *o)
{
	struct symbundle_fetched f;
	int rc = symbundle_sites_get(s, NULL, o->entry.build_id, o->entry.build_id_len, &f, &err);

	if (!rc) {
		assert_int_equal(f.entry.cache_size, o->size);
		assert_memory_equal(f.cache, o->cache, o->size);
	}
	symbundle_fetched_deinit(&f);
	return rc;
}

/* A manifest, a part, a cache; then what is not known yet; a record as it goes into a store. */
static void single_caches(void **state)
{
	struct symbundle_sites *s;
	struct symbundle_fetched f;
	struct symstore_entry want = own[1].entry;

	(void)state;
	need_curl();
	s = sites_of(url, NULL, NULL, 0);
	assert_ok(get(s, &own[0]));
	assert_int_equal(requests, 3);
	assert_ok(symbundle_sites_get(s, NULL, want.build_id, want.build_id_len, &f, &err));
	assert_int_equal(requests, 4);
	assert_in_range(f.entry.time, 1700000000, time(NULL));
	want.time = f.entry.time;
	want.tags = "nightly"; /* what is pinned is the user's to say */
	same_record(&f.entry, &want);
	symbundle_fetched_deinit(&f);
	assert_ok(get(s, &own[2]));
	assert_int_equal(requests, 6);
	symbundle_sites_destroy(s);
	s = sites_of(url, NULL, in_dir("pub"), 0);
	assert_ok(get(s, &own[0]));
	assert_int_equal(requests, 6 + 4); /* the signature, too */
	symbundle_sites_destroy(s);
	s = sites_of(url, NULL, in_dir("other"), 0);
	assert_int_equal(get(s, &own[0]), SC_EFORMAT);
	symbundle_sites_destroy(s);
}

/* What a tree does not list is not asked for again, in this run or, remembered, in the next. */
static void misses(void **state)
{
	const struct own none = { .entry = { .build_id = { 0, 0x12 }, .build_id_len = 2 } };
	const uint8_t *id = none.entry.build_id;
	struct symbundle_sites *s, *eager, *both;
	struct symstore_writer *writer;
	struct symstore_reader *reader;
	struct symstore *store;

	(void)state;
	need_curl();
	s = sites_of(url, NULL, NULL, 3600);
	eager = sites_of(url, NULL, NULL, -1);
	both = sites_of(url, "http://127.0.0.1:1/", NULL, 3600);
	assert_int_equal(get(s, &none), SC_ENOTFOUND);
	assert_string_equal(err.msg, "no server that answered has 0012");
	assert_int_equal(requests, 2);
	assert_int_equal(get(s, &none), SC_ENOTFOUND);
	assert_string_equal(err.msg, "no server that answered has 0012");
	assert_int_equal(requests, 2);
	store = own_open("misses.store");
	reader = own_reader(store);
	assert_false(symbundle_sites_missed(s, reader, id, 2));
	symstore_read_end(reader);
	assert_ok(symstore_write_begin(store, &writer, &err));
	for (int i = 0; i < 2; i++) /* as of many modules in one commit */
		assert_ok(symbundle_sites_remember(s, writer, id, 2, &err));
	assert_ok(symstore_commit(writer, &err));
	reader = own_reader(store);
	assert_true(symbundle_sites_missed(s, reader, id, 2));
	assert_false(symbundle_sites_missed(s, reader, id, 1));
	assert_false(symbundle_sites_missed(eager, reader, id, 2));
	assert_false(symbundle_sites_missed(both, reader, id, 2)); /* the other was not asked */
	symstore_read_end(reader);
	symstore_close(store);
	symbundle_sites_destroy(s);
	symbundle_sites_destroy(eager);
	symbundle_sites_destroy(both);
}

/* Of one file it is that file's fault; of the tree, it is not asked again. */
static void faults(void **state)
{
	static const struct { const char *of; int mode, rc; const char *says; unsigned again; } cases[] = {
		{ "manifest", GONE, SC_ESYS, "does not have manifest.json; it is not asked again", 0 },
		{ "manifest", BROKEN, SC_ESYS, "answers with status 503; it is not asked again", 0 },
		{ "manifest", CUT, SC_ESYS, "broke the connection; it is not asked again", 0 },
		{ "manifest", LARGE, SC_ELIMIT, "sends a file of more than 67108864 bytes; it is not", 0 },
		{ "manifest", EMPTY, SC_EFORMAT, "no tree of 'symcache export' is there; it is not", 0 },
		{ "manifest", LOOPS, SC_ESYS, "redirects to another protocol, or too often", 0 },
		{ "manifest", SILENT, SC_ESYS, "sends nothing for 1 s; it is not asked again", 0 },
		{ "manifest", MOVED, 0, "", 1 },
		{ "parts", GONE, SC_EFORMAT, "does not have parts/0-", 0 },
		{ "parts", CHANGED, SC_EFORMAT, "its SHA-256 is not that of the manifest", 0 },
		{ "parts", BROKEN, SC_ESYS, "answers with status 503; it is not asked again", 0 },
		{ "packed", GONE, SC_EFORMAT, "does not have 00/1122334455667788", 2 },
		{ "packed", CHANGED, SC_EFORMAT, "", 2 },
		{ "packed", EMPTY, SC_EFORMAT, "not the packed cache of which the manifest speaks", 2 },
		{ "packed", LARGE, SC_ELIMIT, "sends a file of more than ", 0 },
		{ "packed", MOVED, 0, "", 2 },
	};

	(void)state;
	need_curl();
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symbundle_sites *s;
		int rc;

		of = cases[i].of;
		mode = cases[i].mode;
		patience = mode == SILENT ? 1 : 60;
		s = sites_of(url, NULL, NULL, 0);
		rc = get(s, &own[0]);
		if (rc != cases[i].rc || (rc && !strstr(err.msg, cases[i].says)))
			fail_msg("%s, %d: %d, %s", cases[i].of, cases[i].mode, rc, rc ? err.msg : "");
		if (rc == SC_ESYS && (strncmp(err.msg, url, strlen(url)) || strstr(err.msg + 1, url)))
			fail_msg("the server is not named once: %s", err.msg);
		requests = 0;
		rc = get(s, &own[0]);
		assert_int_equal(!rc, !cases[i].rc);
		assert_int_equal(requests > 0, cases[i].again > 0);
		symbundle_sites_destroy(s);
	}
}

/* One that fails is named once; the other has it. */
static void one_of_two(void **state)
{
	struct symbundle_sites *s;

	(void)state;
	need_curl();
	s = sites_of("http://127.0.0.1:1/none", url, NULL, 0);
	assert_ok(get(s, &own[0]));
	assert_ok(get(s, &own[2]));
	assert_int_equal(get(s, &(struct own){ .entry = { .build_id = { 5 }, .build_id_len = 1 } }), SC_ESYS);
	assert_non_null(strstr(err.msg, "http://127.0.0.1:1/none cannot be reached"));
	assert_int_equal(get(s, &(struct own){ .entry = { .build_id = { 5 }, .build_id_len = 1 } }), SC_ENOTFOUND);
	symbundle_sites_destroy(s);
}

static int count(void *ctx, const struct symstore_entry *entry, const void *cache, size_t size,
		 struct sc_error *error)
{
	(void)entry, (void)cache, (void)size, (void)error;
	++*(unsigned *)ctx;
	return 0;
}

static void on_fault(void *ctx, const char *name, const char *why)
{
	(void)ctx;
	snprintf(err.msg, sizeof(err.msg), "%s: %s", name, why);
}

/* All of a tree, or what is asked for: then no other part is. */
static void whole_trees(void **state)
{
	const struct symstore_id id = { { 0x7f, 0 }, 2 };
	struct symbundle_reader r = { .entry = count, .fault = on_fault };
	unsigned n = 0;
	char slash[120];

	(void)state;
	need_curl();
	r.ctx = &n;
	snprintf(slash, sizeof(slash), "%s//", url);
	assert_ok(symbundle_read(slash, &r, &err));
	assert_true(n == N && requests == 1 + 2 + N);
	r.ids = &id;
	r.num_ids = 1;
	n = requests = 0;
	assert_ok(symbundle_read(url, &r, &err));
	assert_true(n == 1 && requests == 3);
	r.ids = NULL;
	r.num_ids = 0;
	of = "packed";
	mode = GONE;
	n = 0;
	assert_ok(symbundle_read(url, &r, &err));
	assert_int_equal(n, 0);
	assert_non_null(strstr(err.msg, "does not have 7f/00."));
	of = "manifest";
	assert_int_equal(symbundle_read(url, &r, &err), SC_ENOTFOUND);
}

/* Only servers are asked, and one at least. */
static void no_sites(void **state)
{
	static const char *const bad[] = { "http://h/t", "/a/tree", NULL }, *const none[] = { NULL };
	static const struct { const char *const *urls; const char *says; } cases[] = {
		{ bad, "/a/tree is not the http:// or https:// of a tree" }, { none, "no URL is given" }, { NULL, "no URL is given" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symbundle_sites *s = (void *)1;

		assert_int_equal(symbundle_sites_create(&(struct symbundle_sites_options){ .urls = cases[i].urls }, &s, &err),
				 SC_EINVAL);
		assert_string_equal(err.msg, cases[i].says);
		assert_null(s);
	}
}

static void urls(void **state)
{
	static const struct { const char *text, *shown; bool is_url; } cases[] = {
		{ "http://h/t", "http://h/t", true }, { "HTTPS://h", "HTTPS://h", true }, { "/http://h", "/http://h", false },
		{ "ftp://u@h/", "ftp://u@h/", false }, { "http:/h", "http:/h", false }, { "https:/h", "https:/h", false },
		{ "http://u:p@h:8/t", "http://h:8/t", true }, { "https://u@p@h/t@x", "https://h/t@x", true },
		{ "http://h?a@b", "http://h?a@b", true }, { "http://h#a@b", "http://h#a@b", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *shown = symbundle_shown(cases[i].text);

		assert_int_equal(symbundle_is_url(cases[i].text), cases[i].is_url);
		assert_string_equal(shown, cases[i].shown);
		free(shown);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls), cmocka_unit_test(no_sites), cmocka_unit_test(single_caches), cmocka_unit_test(misses),
		cmocka_unit_test(faults), cmocka_unit_test(one_of_two), cmocka_unit_test(whole_trees),
	};

	return cmocka_run_group_tests_name("web", tests, set_up, tear_down);
}

/* Where caches come from: see caches.h. */
#include "cmd/cli/caches.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"

static int open_its_store(void *ctx, enum symstore_mode mode, struct symstore **ret,
			  struct sc_error *err)
{
	const struct cmd_caches *c = ctx;
	char *path;
	int rc = mode == SYMSTORE_WRITE ? make_store(c->store, ret, err) :
					  open_store(c->store, mode, ret, err);

	if (rc == SC_ENOTFOUND && c->brief && !store_path(c->store, &path, NULL)) {
		sc_error_set(err, rc, "there is no store at %s", path);
		free(path);
	}
	return rc;
}

static void notify(void *ctx, const struct symcache_notice *n)
{
	struct cmd_caches *c = ctx;

	c->failed |= n->kind == SYMCACHE_NOTICE_STORE || n->kind == SYMCACHE_NOTICE_DAMAGED;
	if (c->quiet)
		return;
	switch (n->kind) {
	case SYMCACHE_NOTICE_STORE:
	case SYMCACHE_NOTICE_DAMAGED:
		if (n->file)
			cmd_error("%s: continuing without the store: %s", n->file, n->message);
		else if (n->kind == SYMCACHE_NOTICE_DAMAGED || !c->store_noticed)
			cmd_error("%s", n->message);
		c->store_noticed |= n->kind == SYMCACHE_NOTICE_STORE;
		break;
	case SYMCACHE_NOTICE_FETCH:
		cmd_error("%s", n->message);
		break;
	case SYMCACHE_NOTICE_GAPS:
		warn_of_gaps(n->file, n->info);
		break;
	case SYMCACHE_NOTICE_NOT_KEPT:
		if (!store_frozen)
			cmd_error("cannot keep what was indexed: %s", n->message);
		break;
	}
}

void cmd_caches_init(struct cmd_caches *c, const char *store,
		     struct symcache_caches_options options)
{
	options.open_store = open_its_store;
	options.notify = notify;
	options.ctx = c;
	*c = (struct cmd_caches){ must(symcache_caches_create(&options)), store };
}

void cmd_caches_deinit(struct cmd_caches *c)
{
	symcache_caches_destroy(c->caches);
}

/* A positive number of the environment; 0: there is none. */
static int number_of(const char *name)
{
	const char *text = getenv(name);
	const long n = text ? strtol(text, NULL, 10) : 0;

	return n > 0 && n <= INT_MAX ? (int)n : 0;
}

struct symbundle_web web_limits(void)
{
	return (struct symbundle_web){ number_of("SYMCACHE_URL_TIMEOUT"), number_of("SYMCACHE_URL_MAXTIME") };
}

bool sites_named(const struct sites_options *o)
{
	const char *env = getenv("SYMCACHE_URLS");

	return o->urls.len || (env && env[strspn(env, " ")]);
}

/* Of the options and $SYMCACHE_URLS; *ret is NULL if neither names a tree. SC_EINVAL: not a URL, or
 * a key without one; SC_ENOMEM. */
static int sites_create(const struct sites_options *o, struct symbundle_sites **ret,
			struct sc_error *err)
{
	const char *env = getenv("SYMCACHE_URLS");
	char *words = must(strdup(env ? env : "")), *rest = words, *word;
	const char **urls = must_calloc(o->urls.len + strlen(words) + 1, sizeof(*urls));
	const struct symbundle_sites_options options = {
		.urls = urls, .verify_key = o->verify_key, .web = web_limits(),
		.retry = o->retry.given ? o->retry.seconds : 86400,
	};
	size_t n = 0;
	int rc = 0;

	*ret = NULL;
	for (; n < o->urls.len; n++)
		urls[n] = o->urls.items[n];
	while ((word = strsep(&rest, " ")))
		if (*word)
			urls[n++] = word;
	if (n)
		rc = symbundle_sites_create(&options, ret, err);
	else if (o->verify_key)
		rc = sc_error_set(err, SC_EINVAL, "--verify-key is for trees that --url or $SYMCACHE_URLS names");
	free(urls);
	free(words);
	return rc;
}

int fetch_create(const struct fetch_options *options, struct symcache_debuginfod **ret,
		 struct sc_error *err)
{
	int rc;

	*ret = NULL;
	if (!options->on)
		return 0;
	rc = symcache_debuginfod_create(options->retry.given ? options->retry.seconds : 86400, ret,
					err);
	if (rc)
		sc_error_prefix(err, "--");
	return rc;
}

int servers_create(const struct fetch_options *fetch, const struct sites_options *sites,
		   struct symcache_caches_options *to, struct sc_error *err)
{
	int rc = sites_create(sites, &to->sites, err);

	if (rc || !(rc = fetch_create(fetch, &to->debuginfod, err)))
		return rc;
	symbundle_sites_destroy(to->sites);
	return rc;
}

void servers_destroy(const struct symcache_caches_options *from)
{
	symbundle_sites_destroy(from->sites);
	symcache_debuginfod_destroy(from->debuginfod);
}

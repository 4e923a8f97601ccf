/* Where caches come from: see caches.h. */
#include "cmd/cli/caches.h"

#include <stdlib.h>

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
			cmd_error("%s: does without the store: %s", n->file, n->message);
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
			cmd_error("what was indexed is not kept for the next time: %s", n->message);
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

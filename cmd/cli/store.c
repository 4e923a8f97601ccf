/* Where the store is, and how it is opened: see store.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/file.h"
#include "libsymcache/bundle/bundle.h"
#include "libsymcache/store/store.h"

int store_path(const char *option, char **ret, struct sc_error *err)
{
	int rc;

	if (option)
		return (*ret = strdup(option)) ? 0 : sc_no_memory(err);
	rc = symstore_default_path(ret, err);
	if (rc == SC_EINVAL)
		sc_error_set(err, rc,
			     "where is the store? HOME is not set: name it with --store FILE or "
			     "SYMCACHE_STORE");
	return rc;
}

int no_store_at(const char *path, struct sc_error *err)
{
	return sc_error_set(err, SC_ENOTFOUND, "there is no store at %s: make it with "
			    "'symcache index PATH...' or 'symcache import BUNDLE', or name another "
			    "with --store FILE", path);
}

bool store_frozen;

static bool is_frozen(void)
{
	const char *env = getenv("SYMCACHE_FROZEN");

	return store_frozen || (env && *env && strcmp(env, "0"));
}

/* `make`: it need not be there. */
static int open_at(const char *option, enum symstore_mode mode, bool make, struct symstore **ret,
		   struct sc_error *err)
{
	char *path __attribute__((cleanup(sc_free_text))) = NULL;
	enum symbundle_shape shape;
	int rc = store_path(option, &path, err);

	*ret = NULL;
	if (rc)
		return rc;
	if (is_frozen() && mode == SYMSTORE_WRITE)
		return sc_error_set(err, SC_EINVAL, "the store %s is frozen: nothing can be written to it",
				    path);
	if (make && (rc = sc_make_parents(path, err)))
		return rc;
	if (!make && access(path, F_OK) && errno == ENOENT)
		return no_store_at(path, err);
	rc = symstore_open(path, is_frozen() ? SYMSTORE_FROZEN : mode, ret, err);
	if (rc == SC_EFORMAT && symbundle_is_one(path, &shape) && shape != SYMBUNDLE_STORE)
		sc_error_set(err, rc, "%s is a bundle, not a store: use 'symcache import %s'", path, path);
	return rc == SC_ENOTFOUND ? no_store_at(path, err) : rc; /* an empty file */
}

int open_store(const char *option, enum symstore_mode mode, struct symstore **ret,
	       struct sc_error *err)
{
	return open_at(option, mode, false, ret, err);
}

int make_store(const char *option, struct symstore **ret, struct sc_error *err)
{
	return open_at(option, SYMSTORE_WRITE, true, ret, err);
}

int open_snapshot(const char *option, enum symstore_mode mode, struct snapshot *ret,
		  struct sc_error *err)
{
	int rc = open_store(option, mode, &ret->store, err);

	return rc ? rc : symstore_read_begin(ret->store, &ret->reader, err);
}

void close_snapshot(struct snapshot *s)
{
	symstore_read_end(s->reader);
	symstore_close(s->store);
}

void close_store(struct symstore **store)
{
	symstore_close(*store);
}

bool named_store_missing(const char *option)
{
	const char *env = getenv("SYMCACHE_STORE");
	struct sc_error err;

	if (!option)
		option = env && *env ? env : NULL;
	if (!option || !access(option, F_OK) || errno != ENOENT)
		return false;
	no_store_at(option, &err);
	cmd_error("%s", err.msg);
	return true;
}

int find_named(const char *option, const char *name, char id_text[SYMCACHE_BUILD_ID_TEXT])
{
	SNAPSHOT s = { 0 };
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error err;
	size_t len;
	int rc = open_snapshot(option, SYMSTORE_READ, &s, &err);

	if (!rc)
		rc = symstore_find_name(s.reader, name, id, &len, &err);
	if (rc)
		cmd_error("%s", err.msg);
	else
		symcache_build_id_text(id_text, id, len);
	return !rc ? STATUS_OK : rc == SC_ENOTFOUND ? STATUS_PARTLY : STATUS_ERROR;
}

int store_identity(const char *option, char ret[SC_HASH_TEXT], struct sc_error *err)
{
	SNAPSHOT s = { 0 };
	int rc = open_snapshot(option, SYMSTORE_READ, &s, err);

	return rc ? rc : symstore_identity(s.reader, ret, err);
}

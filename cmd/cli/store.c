/*
 * Where the store is, how it is opened, and what in it is meant by a few hex
 * digits: see store.h.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/store.h"
#include "libsymcache/base/file.h"
#include "symcache/build_id.h"
#include "symcache/store.h"

int store_path(const char *option, char **ret, struct sc_error *err)
{
	static const char tail[] = "symcache/symcache.store";
	const char *env = getenv("SYMCACHE_STORE");
	const char *cache = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	*ret = NULL;
	if (option)
		*ret = must_asprintf("%s", option);
	else if (env && *env)
		*ret = must_asprintf("%s", env);
	else if (cache && *cache == '/') /* XDG: ignore what is not absolute */
		*ret = must_asprintf("%s/%s", cache, tail);
	else if (home && *home)
		*ret = must_asprintf("%s/.cache/%s", home, tail);
	else
		return sc_error_set(err, SC_EINVAL, "where is the store? HOME is not set: "
				    "name it with --store FILE or SYMCACHE_STORE");
	return 0;
}

int open_store(const char *option, enum symstore_mode mode, struct symstore **ret,
	       struct sc_error *err)
{
	char *path;
	int rc = store_path(option, &path, err);

	*ret = NULL;
	if (!rc && mode == SYMSTORE_WRITE)
		rc = sc_make_parents(path, err);
	if (!rc) {
		rc = symstore_open(path, mode, ret, err);
		if (rc == SC_ENOTFOUND)
			sc_error_set(err, rc, "there is no store at %s: make it with "
				     "'symcache index PATH...', or name another with --store FILE",
				     path);
	}
	free(path);
	return rc;
}

struct matches {
	size_t num;
	uint8_t id[2][SYMCACHE_BUILD_ID_MAX];
	size_t id_len[2];
};

static bool on_match(void *ctx, const struct symstore_entry *entry)
{
	struct matches *m = ctx;

	memcpy(m->id[m->num], entry->build_id, entry->build_id_len);
	m->id_len[m->num++] = entry->build_id_len;
	return m->num < 2;
}

int find_build_id(struct symstore_reader *reader, const char *text,
		  uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err)
{
	char first[2 * SYMCACHE_BUILD_ID_MAX + 1], second[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct matches m = { 0 };
	size_t nibbles;
	int rc = symcache_build_id_parse(text, id, &nibbles, err);

	if (!rc)
		rc = symstore_each(reader, id, nibbles, on_match, &m, err);
	if (rc)
		return rc;
	if (!m.num)
		return sc_error_set(err, SC_ENOTFOUND,
				    "no build ID in the store begins with %.128s", text);
	/* A whole ID may be the beginning of a longer one. */
	if (m.num > 1 && 2 * m.id_len[0] != nibbles) {
		symcache_build_id_text(first, m.id[0], m.id_len[0] < 20 ? m.id_len[0] : 20);
		symcache_build_id_text(second, m.id[1], m.id_len[1] < 20 ? m.id_len[1] : 20);
		return sc_error_set(err, SC_EINVAL, "several build IDs begin with %.32s: %s, %s: "
				    "give more digits", text, first, second);
	}
	memcpy(id, m.id[0], m.id_len[0]);
	*len = m.id_len[0];
	return 0;
}

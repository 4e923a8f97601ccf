/* What in the store is meant by a few hex digits: see symcache/store.h. */
#include <string.h>

#include "symcache/build_id.h"
#include "symcache/store.h"

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

int symstore_find_id(struct symstore_reader *reader, const char *text,
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

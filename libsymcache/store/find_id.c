/* What in the store is meant by a few hex digits, or a file name: see store.h. */
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/store/store.h"

struct matches {
	const char *name; /* that is looked for; or NULL */
	size_t num, nameless; /* nameless: made of debug files alone */
	struct symstore_id ids[2], nameless_id; /* of the first of these */
};

/* The length of a file name without what modules and debug files have at their end. */
static size_t stem_length(const char *name, size_t len)
{
	static const char *const ends[] = { ".debug", ".gz", ".xz", ".zst", ".ko" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		size_t end = strlen(ends[i]);

		if (len > end && !strncmp(name + len - end, ends[i], end))
			len -= end;
	}
	return len;
}

static bool same_name(const char *base, size_t base_len, const char *name)
{
	size_t len = stem_length(base, base_len);

	if (len != stem_length(name, strlen(name)))
		return false;
	for (size_t i = 0; i < len; i++)
		if (base[i] != name[i] && !(strchr("-_", base[i]) && strchr("-_", name[i])))
			return false;
	return true;
}

/* Is that one of its names? */
static bool is_named(const struct symstore_entry *entry, const char *name)
{
	const char *slash = strrchr(entry->source_path, '/'), *at = entry->names, *one;
	const char *base = slash ? slash + 1 : entry->source_path;
	/* A kernel is called vmlinux-RELEASE. */
	bool found = same_name(base, strlen(base), name) ||
		     (!strcmp(name, "vmlinux") && !strncmp(base, "vmlinux-", 8));
	size_t len;

	while (!found && (len = symstore_tags_next(&at, &one)))
		found = same_name(one, len, name);
	return found;
}

static bool on_match(void *ctx, const struct symstore_entry *entry)
{
	struct matches *m = ctx;

	if (m->name && !is_named(entry, m->name)) {
		if (!*entry->names && !m->nameless++) {
			memcpy(m->nameless_id.bytes, entry->build_id, entry->build_id_len);
			m->nameless_id.len = entry->build_id_len;
		}
		return true;
	}
	memcpy(m->ids[m->num].bytes, entry->build_id, entry->build_id_len);
	m->ids[m->num++].len = entry->build_id_len;
	return m->num < 2;
}

/* SC_EINVAL: there are two; `what` they have, and what to do. */
static int several(const struct matches *m, const char *what, const char *text, const char *advice,
		   struct sc_error *err)
{
	char first[SYMCACHE_BUILD_ID_TEXT], second[SYMCACHE_BUILD_ID_TEXT];

	symcache_build_id_text(first, m->ids[0].bytes, m->ids[0].len < 20 ? m->ids[0].len : 20);
	symcache_build_id_text(second, m->ids[1].bytes, m->ids[1].len < 20 ? m->ids[1].len : 20);
	return sc_error_set(err, SC_EINVAL, "several %s %.32s: %s, %s: %s", what, text, first,
			    second, advice);
}

static int take_match(const struct matches *m, uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len)
{
	memcpy(id, m->ids[0].bytes, m->ids[0].len);
	*len = m->ids[0].len;
	return 0;
}

int symstore_find_id(struct symstore_reader *reader, const char *text,
		     uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err)
{
	struct matches m = { 0 };
	size_t nibbles;
	int rc = symcache_build_id_parse(text, id, &nibbles, err);

	if (!rc)
		rc = symstore_each(reader, id, nibbles, on_match, &m, err);
	if (rc)
		return rc;
	if (!m.num)
		return sc_error_set(err, SC_ENOTFOUND,
				    "not in the store: %.128s", text);
	/* A whole ID may be the beginning of a longer one. */
	if (m.num > 1 && 2 * m.ids[0].len != nibbles)
		return several(&m, "build IDs begin with", text, "give more digits", err);
	return take_match(&m, id, len);
}

int symstore_find_name(struct symstore_reader *reader, const char *name,
		       uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err)
{
	struct matches m = { .name = name };
	char hex[SYMCACHE_BUILD_ID_TEXT];
	int rc = symstore_each(reader, NULL, 0, on_match, &m, err);

	if (rc)
		return rc;
	if (!m.num && m.nameless == 1) {
		symcache_build_id_text(hex, m.nameless_id.bytes, m.nameless_id.len);
		return sc_error_set(err, SC_ENOTFOUND, "the store has no module named %.128s, but one "
				    "debug file without a name; if it belongs to this module, use "
				    "--build-id %s", name, hex);
	}
	if (!m.num && m.nameless)
		return sc_error_set(err, SC_ENOTFOUND, "the store has no module named %.128s, but %zu "
				    "debug files without a name: index their programs, too, or use "
				    "--build-id", name, m.nameless);
	if (!m.num)
		return sc_error_set(err, SC_ENOTFOUND, "the store has no module named %.128s",
				    name);
	return m.num > 1 ? several(&m, "entries are named", name, "choose by --build-id", err) :
			   take_match(&m, id, len);
}

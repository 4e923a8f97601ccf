/*
 * Fuzz target: any text as a manifest. What is read is written and read again, and is
 * the same.
 */
#include "libsymcache/bundle/manifest.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

static void same(const struct manifest_entry *a, const struct manifest_entry *b)
{
	must(a->entry.build_id_len == b->entry.build_id_len &&
	     !memcmp(a->entry.build_id, b->entry.build_id, a->entry.build_id_len));
	must(a->entry.cache_size == b->entry.cache_size && a->entry.time == b->entry.time &&
	     a->entry.sources == b->entry.sources && sc_hash_same(a->hash, b->hash) &&
	     a->has_sha256 == b->has_sha256);
	must(a->old.len == b->old.len && !memcmp(a->old.bytes, b->old.bytes, a->old.len) &&
	     (!a->old.len || sc_hash_same(a->old_hash, b->old_hash)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct manifest m, again;
	struct sc_error err;
	char *text;
	size_t len;

	if (manifest_read(&m, (const char *)data, size, &err))
		return 0;
	must(!manifest_write(&m, &text, &len, &err));
	/* What is no UTF-8, or very large, is written in another way. */
	if (!manifest_read(&again, text, len, &err)) {
		must(again.len == m.len);
		for (size_t i = 0; i < m.len; i++)
			same(&m.data[i], &again.data[i]);
	}
	manifest_sort(&m);
	for (size_t i = 0; i < m.len; i++)
		must(manifest_find(&m, m.data[i].entry.build_id, m.data[i].entry.build_id_len));
	manifest_deinit(&again);
	manifest_deinit(&m);
	free(text);
	return 0;
}

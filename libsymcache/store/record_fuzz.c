/*
 * Fuzz target: records of the store. Any bytes decode or do not; what decodes
 * encodes again to something that decodes the same.
 */
#include <stdlib.h>
#include <string.h>

#include "libsymcache/store/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
	if (!ok)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symstore_format format, format2;
	struct symstore_entry entry, entry2;
	struct symstore_outcome outcome, outcome2;
	const char *tool, *tool2;
	uint8_t *bytes;
	size_t n;

	if (symstore_format_decode(data, size, &format)) {
		check((bytes = symstore_format_encode(&format, &n)) &&
		      symstore_format_decode(bytes, n, &format2) &&
		      format2.format == format.format && format2.created == format.created);
		free(bytes);
	}
	if (symstore_entry_decode("k", 1, data, size, &entry)) {
		check((bytes = symstore_entry_encode(&entry, &n)) &&
		      symstore_entry_decode("k", 1, bytes, n, &entry2) &&
		      entry2.cache_size == entry.cache_size &&
		      entry2.packed_size == entry.packed_size && entry2.sources == entry.sources &&
		      !strcmp(entry2.source_path, entry.source_path) &&
		      !strcmp(entry2.tool_version, entry.tool_version) &&
		      !strcmp(entry2.debug_path, entry.debug_path));
		/* Replacing is a total order. */
		check(symstore_entry_replaces(&entry, &entry2) &&
		      symstore_entry_replaces(&entry2, &entry));
		free(bytes);
	}
	if (symstore_outcome_decode(data, size, &outcome, &tool)) {
		check((bytes = symstore_outcome_encode(&outcome, tool, &n)) &&
		      symstore_outcome_decode(bytes, n, &outcome2, &tool2) &&
		      outcome2.code == outcome.code && !strcmp(tool, tool2) &&
		      !memcmp(outcome2.build_id, outcome.build_id, outcome.build_id_len));
		free(bytes);
	}
	return 0;
}

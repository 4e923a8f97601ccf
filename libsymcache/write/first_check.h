/*
 * A cache for some addresses alone against the whole one: for tests, fuzzing and accuracy, which
 * include it behind what aborts or fails.
 */
#ifndef SC_FIRST_CHECK_H
#define SC_FIRST_CHECK_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/read/read.h"
#include "libsymcache/write/build.h"

struct built {
	struct symcache cache;
	void *bytes; /* NULL: there is no cache */
};

static inline int first_build(const char *path, const struct symcache_build_options *o,
			      struct built *ret, struct sc_error *err)
{
	struct symcache_build *b;
	int rc = symcache_build_create(path, o, &b, err);

	memset(ret, 0, sizeof(*ret));
	if (rc)
		return rc;
	ret->bytes = malloc(symcache_build_size(b));
	symcache_build_write(b, ret->bytes);
	rc = symcache_open(&ret->cache, ret->bytes, symcache_build_size(b), err);
	symcache_build_destroy(b);
	return rc;
}

static inline void put_str(FILE *out, const char *what, struct sc_str s)
{
	fprintf(out, " %s %.*s", what, s.ptr ? (int)s.len : 1, s.ptr ? s.ptr : "-");
}

/* Everything that the cache says about code at `vaddr`. */
static inline char *first_text(const struct symcache *c, uint64_t vaddr)
{
	const uint64_t base = symcache_load_base(c), rel = vaddr < base ? UINT64_MAX : vaddr - base;
	struct symcache_frames frames, ids;
	struct symcache_symbol symbol;
	struct symcache_raw_frame f;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "base %" PRIx64, base);
	for (bool any = symcache_lookup(c, rel, &frames); any; ) {
		uint32_t location;

		ids = frames;
		any = symcache_next_frame(&frames, &f);
		if (!any)
			break;
		location = symcache_next_location(&ids);
		put_str(out, "\n function", f.function);
		fprintf(out, " lang %u entry %x line %u:%u declared %u discriminator %u begins %x",
			f.lang, f.entry_pc, f.line, f.column, f.decl_line,
			symcache_discriminator(c, location, rel),
			symcache_inlined_start(c, location, rel));
		for (int i = 0; i < 2; i++) {
			struct symcache_file file = i ? symcache_file(c, f.decl_file_idx) : f.file;

			put_str(out, "in", file.comp_dir);
			put_str(out, "dir", file.directory);
			put_str(out, "file", file.name);
		}
	}
	if (symcache_lookup_symbol(c, rel, &symbol)) {
		put_str(out, "\n symbol", symbol.name);
		put_str(out, "of", symbol.file);
		fprintf(out, " at %" PRIx64 " size %" PRIu64, symbol.rel_address, symbol.size);
	}
	fclose(out);
	return text;
}

/*
 * Builds a cache for these addresses alone and compares what it says about each with `whole`.
 * Returns NULL, or what differs, on the heap. A build may say that it finds nothing there if it
 * is so.
 */
static inline char *first_differs(const char *path, const struct symcache_build_options *options,
				  const struct symcache *whole, const uint64_t *vaddrs, size_t n)
{
	struct symcache_build_options o = *options;
	struct symcache_frames frames;
	struct sc_error err;
	struct built first;
	char *fault = NULL;

	o.only = vaddrs;
	o.num_only = n;
	if (first_build(path, &o, &first, &err)) {
		for (size_t i = 0; i < n && !fault; i++)
			if (err.code != SC_ENOTFOUND ||
			    symcache_lookup(whole, vaddrs[i] - symcache_load_base(whole), &frames))
				if (asprintf(&fault, "0x%" PRIx64 ": %s", vaddrs[i], err.msg) < 0)
					abort();
		return fault;
	}
	for (size_t i = 0; i < n && !fault; i++) {
		char *a = first_text(whole, vaddrs[i]), *b = first_text(&first.cache, vaddrs[i]);

		if (strcmp(a, b) && asprintf(&fault, "0x%" PRIx64 "\nwhole: %s\nfirst: %s",
					     vaddrs[i], a, b) < 0)
			abort();
		free(a);
		free(b);
	}
	free(first.bytes);
	return fault;
}

#endif

/*
 * symcache show: one cache, of the store or a file: its facts, or its tables.
 */
#include "cmd/store/show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/shown.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/entry.h"
#include "symcache/build_id.h"
#include "symcache/store.h"
#include "symcache/symcache.h"

static struct {
	const char *store, *cache;
	bool files, functions, ranges, data, locals, unwind, json;
} o;

static const struct opt opts[] = {
	{ "cache", 0, OPT_STRING, &o.cache, "FILE", "show this SymCache file" },
	OPTS_STORE_READ(&o.store),
	{ "files", 0, OPT_FLAG, &o.files, NULL, "list the source files" },
	{ "functions", 0, OPT_FLAG, &o.functions, NULL,
	  "list the functions: entry address, language, linkage name, declaration" },
	{ "ranges", 0, OPT_FLAG, &o.ranges, NULL,
	  "list the ranges of addresses: start, and its frames, innermost first" },
	{ "data", 0, OPT_FLAG, &o.data, NULL, "list the data symbols: address, size, name" },
	{ "locals", 0, OPT_FLAG, &o.locals, NULL,
	  "list the local variables by ranges of addresses: start, functions and names, offsets "
	  "from the frame base" },
	{ "unwind", 0, OPT_FLAG, &o.unwind, NULL,
	  "list the unwind information: start, and where the caller's registers are" },
	OPT_RAW(&show_raw),
	{ "json", 0, OPT_FLAG, &o.json, NULL, "one JSON object: the facts, and the lists asked for" },
	{ 0 },
};

static const char *arch_name(uint32_t arch)
{
	switch (arch) {
	case SYMCACHE_ARCH_X86: return "x86";
	case SYMCACHE_ARCH_AMD64: return "amd64";
	case SYMCACHE_ARCH_ARM: return "arm";
	case SYMCACHE_ARCH_ARM64: return "arm64";
	case SYMCACHE_ARCH_PPC: return "ppc";
	case SYMCACHE_ARCH_PPC64: return "ppc64";
	case SYMCACHE_ARCH_MIPS: return "mips";
	case SYMCACHE_ARCH_MIPS64: return "mips64";
	}
	return "unknown";
}

/* Upstream's way: a UUID, then the age if there is one. */
static void debug_id(const struct symcache_header *h, char text[64])
{
	char *end = text;

	for (int i = 0; i < 16; i++)
		end += sprintf(end, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
			       h->debug_uuid[i]);
	if (h->debug_age)
		sprintf(end, "-%" PRIx32, h->debug_age);
}

static void fact(const char *name, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fact(const char *name, const char *fmt, ...)
{
	va_list ap;

	char *text = NULL;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	printf("%-16s %s\n", name, !text ? "" : show_raw ? text : shown(text));
	free(text);
}

/* used: when its last use began, or 0. */
static void text_entry(const struct symstore_entry *e, int64_t used)
{
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1];
	size_t len;

	symcache_build_id_text(text, e->build_id, e->build_id_len);
	fact("build ID", "%s%s", text, e->build_id_derived ? " (derived: the file has none)" : "");
	fact("source", "%s", e->source_path);
	if (*e->debug_path)
		fact("debug file", "%s", e->debug_path);
	fact("source size", "%" PRIu64, e->source_size);
	fact("source XXH3-128", "%016" PRIx64 "%016" PRIx64, e->source_hash.high64,
	     e->source_hash.low64);
	fact("indexed", "%s by %s", symstore_time_text(e->time, text), e->tool_version);
	if (used)
		fact("last used", "%.10s", symstore_time_text(used, text));
	if (e->bad_units)
		fact("broken units", "%" PRIu32, e->bad_units);
	for (const char *at = e->tags, *tag; (len = symstore_tags_next(&at, &tag)); )
		fact("tag", "%.*s", (int)len, tag);
	for (const char *at = e->transforms, *line; (len = symstore_tags_next(&at, &line)); )
		fact("changed by", "%.*s", (int)len, line);
	fact("cache XXH3-64", "%016" PRIx64, e->cache_hash);
}

static void text_cache(const struct symcache *c, bool with_id)
{
	const struct symcache_ext_image *image = c->image;
	const struct symcache_header *h = c->header;
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1], kinds[SYMSTORE_KINDS_TEXT];
	char sources[UNWIND_SOURCES_TEXT];

	debug_id(h, text);
	fact("debug ID", "%s", text);
	fact("format", "SymCache %" PRIu32 "%s", h->version, image ? " with extensions" : "");
	fact("cache size", "%zu", c->size);
	fact("architecture", "%s", arch_name(h->arch));
	if (image) {
		struct symcache_str soname = symcache_string(c, image->soname);
		struct symcache_str writer = symcache_string(c, image->writer);

		if (with_id && image->build_id_len <= SYMCACHE_BUILD_ID_MAX) {
			symcache_build_id_text(text, image->build_id, image->build_id_len);
			fact("build ID", "%s%s", text, image->build_id_derived ? " (derived)" : "");
			if (image->broken_units)
				fact("broken units", "%" PRIu32, image->broken_units);
		}
		fact("image", "%u-bit %s-endian, machine %u, type %u", image->elf_class,
		     image->big_endian ? "big" : "little", image->machine, image->elf_type);
		if (soname.ptr)
			fact("soname", "%.*s", (int)soname.len, soname.ptr);
		fact("load base", "0x%" PRIx64, image->load_base);
		fact("image size", "0x%" PRIx64, image->image_size);
		fact("symbols", "%s", symstore_kinds_text(image->sources, kinds));
		if (writer.ptr)
			fact("writer", "%.*s", (int)writer.len, writer.ptr);
	}
	fact("files", "%" PRIu32, h->num_files);
	fact("functions", "%" PRIu32, h->num_functions);
	fact("ranges", "%" PRIu32, h->num_ranges);
	fact("locations", "%" PRIu32, h->num_source_locations);
	fact("data symbols", "%zu", c->num_data_symbols);
	if (c->locals.ranges)
		fact("local variables", "%zu in %zu ranges", c->locals.num, c->locals.num_ranges);
	if (c->unwind.facts)
		fact("unwind ranges", "%" PRIu32 " with %" PRIu32 " rows, from %s",
		     c->unwind.num_starts, c->unwind.num_rows - 1, unwind_sources(c, sources));
	else if (image && image->sources & SYMCACHE_FROM_DWARF)
		fact("unwind ranges", "none: they are in the program itself; index it, too");
	fact("string bytes", "%" PRIu32, h->string_bytes);
}

static void json_cache(struct mk_gen *j, const struct symcache *c, bool with_id)
{
	const struct symcache_ext_image *image = c->image;
	const struct symcache_header *h = c->header;
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1];

	debug_id(h, text);
	mk_gen_text(j, "debug_id", text);
	mk_gen_number(j, "format_version", h->version);
	if (with_id)
		mk_gen_number(j, "cache_size", c->size);
	mk_gen_text(j, "architecture", arch_name(h->arch));
	if (image) {
		struct symcache_str soname = symcache_string(c, image->soname);

		if (with_id && image->build_id_len <= SYMCACHE_BUILD_ID_MAX) {
			symcache_build_id_text(text, image->build_id, image->build_id_len);
			mk_gen_text(j, "build_id", text);
			mk_gen_bool(j, "build_id_derived", image->build_id_derived);
			sources_json(j, "symbols", image->sources);
		}
		mk_gen_number(j, "elf_class", image->elf_class);
		mk_gen_bool(j, "big_endian", image->big_endian);
		mk_gen_number(j, "machine", image->machine);
		mk_gen_number(j, "elf_type", image->elf_type);
		if (soname.ptr)
			mk_gen_string(j, "soname", soname.ptr, soname.len);
		mk_gen_hex(j, "load_base", image->load_base);
		mk_gen_hex(j, "image_size", image->image_size);
	}
	mk_gen_number(j, "num_files", h->num_files);
	mk_gen_number(j, "num_functions", h->num_functions);
	mk_gen_number(j, "num_ranges", h->num_ranges);
	mk_gen_number(j, "num_locations", h->num_source_locations);
	mk_gen_number(j, "num_data_symbols", c->num_data_symbols);
	mk_gen_number(j, "string_bytes", h->string_bytes);
	if (c->locals.ranges)
		mk_gen_number(j, "num_locals", c->locals.num);
	if (c->unwind.facts) {
		mk_gen_number(j, "num_unwind_ranges", c->unwind.num_starts);
		mk_gen_number(j, "num_unwind_rows", c->unwind.num_rows - 1);
	}
}

/* `entry` NULL: a file. The lists take the place of the facts, but in JSON. */
static void show(const struct symstore_entry *entry, int64_t used, const struct symcache *cache)
{
	static const struct {
		const bool *wanted;
		const char *key;
		void (*show)(const struct symcache *cache, struct mk_gen *j);
	} lists[] = {
		{ &o.files, "files", show_files }, { &o.functions, "functions", show_functions },
		{ &o.ranges, "ranges", show_ranges }, { &o.data, "data", show_data },
		{ &o.locals, "locals", show_locals }, { &o.unwind, "unwind", show_unwind },
	};
	struct mk_gen *j = o.json ? out_json_open(true) : NULL;
	char text[32];

	if (j) {
		if (entry)
			entry_json(j, entry);
		if (used)
			mk_gen_text(j, "last_used", symstore_time_text(used, text));
		json_cache(j, cache, !entry);
	} else if (!o.files && !o.functions && !o.ranges && !o.data && !o.locals &&
		   !o.unwind) {
		if (entry)
			text_entry(entry, used);
		text_cache(cache, !entry);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (!*lists[i].wanted)
			continue;
		if (j)
			mk_gen_open_array(j, lists[i].key);
		lists[i].show(cache, j);
		if (j)
			mk_gen_close_array(j);
	}
	if (j)
		out_json_close(j);
}

static int show_file(const char *path, struct sc_error *err)
{
	struct symcache_map file;
	int rc = symcache_map_open(path, &file, err);

	if (!rc)
		show(NULL, 0, &file.cache);
	symcache_map_close(&file);
	return rc;
}

static bool candidate(void *ctx, const struct symstore_entry *entry)
{
	unsigned *left = ctx;

	if (*left)
		fprintf(stderr, "  %s %s\n", shown_id(entry->build_id, entry->build_id_len),
			entry->source_path);
	else
		fprintf(stderr, "  ...\n");
	return (*left)-- > 0;
}

/* Several build IDs begin so: which? */
static void show_candidates(struct symstore_reader *reader, const char *text)
{
	uint8_t prefix[SYMCACHE_BUILD_ID_MAX];
	unsigned left = 20;
	size_t nibbles;

	if (!symcache_build_id_parse(text, prefix, &nibbles, NULL))
		symstore_each(reader, prefix, nibbles, candidate, &left, NULL);
}

static int show_entry(const struct symstore *store, struct symstore_reader *reader,
		      const char *text, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symstore_entry entry;
	struct symcache cache;
	struct symcache_guard guard = { 0 };
	size_t len;
	int rc = symstore_find_id(reader, text, id, &len, err);

	if (!rc)
		rc = symstore_entry(reader, id, len, &entry, err);
	if (!rc)
		rc = symstore_get_guarded(reader, id, len, &guard, &cache, err);
	/* The tables are read as they lie there. */
	if (!rc && !symcache_sound(&cache, cache.data, cache.size))
		rc = symstore_damaged(id, len, err);
	if (!rc)
		show(&entry, symstore_last_used(store, id, len), &cache);
	symcache_guard_deinit(&guard);
	return rc;
}

static int run(int argc, char **argv, struct sc_error *err)
{
	SNAPSHOT s = { 0 };
	int rc;

	if (argc + (o.cache != NULL) != 1)
		return sc_error_set(err, SC_EINVAL, "name one build ID, or one file with --cache FILE");
	if (o.cache)
		return show_file(o.cache, err);
	rc = open_snapshot(o.store, SYMSTORE_READ, &s, err);
	if (rc)
		return rc;
	rc = show_entry(s.store, s.reader, argv[0], err);
	if (rc == SC_EINVAL) {
		cmd_error("%s", err->msg);
		show_candidates(s.reader, argv[0]);
		return STATUS_ERROR;
	}
	return rc == SC_ENOTFOUND ? cmd_absent(err) : rc;
}

const struct command show_command = {
	.name = "show",
	.operands = "[BUILDID]",
	.summary = "show what a cache holds",
	.description =
		"Shows an entry of the store, or a SymCache file: what image it is of, where it "
		"comes from, how much is in it; or, if asked for, its tables instead. The "
		"beginning of a build ID is enough if only one begins so.",
	.opts = opts,
	.examples =
		"  symcache show 8a3f\n"
		"  symcache show 8a3f --functions | grep main\n"
		"  symcache show --cache python.symcache --json --files\n",
	.partly = "the store has no such entry",
	.see_also = "symcache-list(1) symcache-lookup(1)",
	.run = run,
};

/* A cache and its entry in the store: facts as text and JSON; cache_tables.c has the lists. */
#include "libsymcache/report/cache.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/text.h"

/* ---- entries --------------------------------------------------------------------- */

void markup_entry_json(struct mk_gen *g, const struct symstore_entry *entry)
{
	symstore_entry_json(g, entry);
	if (entry->packed_size)
		mk_gen_number(g, "packed_size", entry->packed_size);
}

/* ---- facts ----------------------------------------------------------------------- */

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

__attribute__((format(printf, 3, 4)))
static void fact(struct mk_cache *c, const char *name, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = sc_vtext(fmt, ap);
	va_end(ap);
	if (!text) {
		c->out->error = -ENOMEM;
		return;
	}
	mk_out_printf(c->out, "%-16s ", name);
	if (c->options->raw)
		mk_put(c->out, text, "\n");
	else
		mk_put(c->out, mk_shown(text), "\n");
	free(text);
}

/* used: when its last use began, or 0. JSON has those of symstore_entry_json() in place of
 * these. */
static void text_entry(struct mk_cache *c, const struct symstore_entry *e, int64_t used)
{
	char text[SYMCACHE_BUILD_ID_TEXT];
	size_t len;

	fact(c, "build ID", "%s%s", symcache_build_id_text(text, e->build_id, e->build_id_len),
	     e->build_id_derived ? " (derived: the file has none)" : "");
	fact(c, "source", "%s", e->source_path);
	if (*e->debug_path)
		fact(c, "debug file", "%s", e->debug_path);
	fact(c, "source size", "%" PRIu64, e->source_size);
	fact(c, "source XXH3-128", "%s", sc_hash_text(e->source_hash, text));
	fact(c, "indexed", "%s by %s", symstore_time_text(e->time, text), e->tool_version);
	if (used)
		fact(c, "last used", "%.10s", symstore_time_text(used, text));
	if (e->bad_units)
		fact(c, "broken units", "%" PRIu32, e->bad_units);
	for (const char *at = e->names, *name; (len = symstore_tags_next(&at, &name)); )
		fact(c, "name", "%.*s", (int)len, name);
	for (const char *at = e->tags, *tag; (len = symstore_tags_next(&at, &tag)); )
		fact(c, "tag", "%.*s", (int)len, tag);
	for (const char *at = e->transforms, *line; (len = symstore_tags_next(&at, &line)); )
		fact(c, "changed by", "%.*s", (int)len, line);
	fact(c, "cache XXH3-64", "%016" PRIx64, e->cache_hash);
	if (e->packed_size)
		fact(c, "packed size", "%" PRIu64, e->packed_size);
}

/* What the unwind information, which there is, was read from. */
static const char *unwind_sources(const struct symcache *cache, char text[64])
{
	const uint32_t s = cache->unwind.facts->sources;

	snprintf(text, 64, "%s%s%s%s%s",
		 s & SYMCACHE_UNWIND_EH_FRAME ? ".eh_frame" : "",
		 s & SYMCACHE_UNWIND_EH_FRAME && s & SYMCACHE_UNWIND_DEBUG_FRAME ? ", " : "",
		 s & SYMCACHE_UNWIND_DEBUG_FRAME ? ".debug_frame" : "",
		 s & ~SYMCACHE_UNWIND_CODE && s & SYMCACHE_UNWIND_CODE ? ", " : "",
		 s & SYMCACHE_UNWIND_CODE ? "signal trampolines" : "");
	return text;
}

static void text_cache(struct mk_cache *s, bool with_id)
{
	const struct symcache *c = s->cache;
	const struct symcache_ext_image *image = c->image;
	const struct symcache_header *h = c->header;
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1], kinds[SYMSTORE_KINDS_TEXT];
	char sources[64];

	debug_id(h, text);
	fact(s, "debug ID", "%s", text);
	fact(s, "format", "SymCache %" PRIu32 "%s", h->version, image ? " with extensions" : "");
	fact(s, "cache size", "%zu", c->size);
	fact(s, "architecture", "%s", arch_name(h->arch));
	if (image) {
		struct sc_str soname = symcache_string(c, image->soname);
		struct sc_str writer = symcache_string(c, image->writer);

		if (with_id && image->build_id_len <= SYMCACHE_BUILD_ID_MAX) {
			fact(s, "build ID", "%s%s",
			     symcache_build_id_text(text, image->build_id, image->build_id_len),
			     image->build_id_derived ? " (derived)" : "");
			if (image->broken_units)
				fact(s, "broken units", "%" PRIu32, image->broken_units);
		}
		fact(s, "image", "%u-bit %s-endian, machine %u, type %u", image->elf_class,
		     image->big_endian ? "big" : "little", image->machine, image->elf_type);
		if (soname.ptr)
			fact(s, "soname", "%.*s", (int)soname.len, soname.ptr);
		fact(s, "load base", "0x%" PRIx64, image->load_base);
		fact(s, "image size", "0x%" PRIx64, image->image_size);
		fact(s, "symbols", "%s", symstore_kinds_text(image->sources, kinds));
		if (writer.ptr)
			fact(s, "writer", "%.*s", (int)writer.len, writer.ptr);
	}
	fact(s, "files", "%" PRIu32, h->num_files);
	fact(s, "functions", "%" PRIu32, h->num_functions);
	fact(s, "ranges", "%" PRIu32, h->num_ranges);
	fact(s, "locations", "%" PRIu32, h->num_source_locations);
	fact(s, "data symbols", "%zu", c->num_data_symbols);
	if (c->locals.ranges)
		fact(s, "local variables", "%zu in %zu ranges", c->locals.num, c->locals.num_ranges);
	if (c->unwind.facts)
		fact(s, "unwind ranges", "%" PRIu32 " with %" PRIu32 " rows, from %s",
		     c->unwind.num_starts, c->unwind.num_rows - 1, unwind_sources(c, sources));
	else if (image && image->sources & SYMCACHE_FROM_DWARF)
		fact(s, "unwind ranges", "none: they are in the program itself; index it, too");
	fact(s, "string bytes", "%" PRIu32, h->string_bytes);
}

static void json_cache(struct mk_gen *g, const struct symcache *c, bool with_id)
{
	const struct symcache_ext_image *image = c->image;
	const struct symcache_header *h = c->header;
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1];

	debug_id(h, text);
	mk_gen_text(g, "debug_id", text);
	mk_gen_number(g, "format_version", h->version);
	if (with_id)
		mk_gen_number(g, "cache_size", c->size);
	mk_gen_text(g, "architecture", arch_name(h->arch));
	if (image) {
		struct sc_str soname = symcache_string(c, image->soname);

		if (with_id && image->build_id_len <= SYMCACHE_BUILD_ID_MAX) {
			mk_gen_bytes(g, "build_id", image->build_id, image->build_id_len);
			mk_gen_bool(g, "build_id_derived", image->build_id_derived);
			symstore_kinds_json(g, "symbols", image->sources);
		}
		mk_gen_number(g, "elf_class", image->elf_class);
		mk_gen_bool(g, "big_endian", image->big_endian);
		mk_gen_number(g, "machine", image->machine);
		mk_gen_number(g, "elf_type", image->elf_type);
		if (soname.ptr)
			mk_gen_string(g, "soname", soname.ptr, soname.len);
		mk_gen_hex(g, "load_base", image->load_base);
		mk_gen_hex(g, "image_size", image->image_size);
	}
	mk_gen_number(g, "num_files", h->num_files);
	mk_gen_number(g, "num_functions", h->num_functions);
	mk_gen_number(g, "num_ranges", h->num_ranges);
	mk_gen_number(g, "num_locations", h->num_source_locations);
	mk_gen_number(g, "num_data_symbols", c->num_data_symbols);
	mk_gen_number(g, "string_bytes", h->string_bytes);
	if (c->locals.ranges)
		mk_gen_number(g, "num_locals", c->locals.num);
	if (c->unwind.facts) {
		mk_gen_number(g, "num_unwind_ranges", c->unwind.num_starts);
		mk_gen_number(g, "num_unwind_rows", c->unwind.num_rows - 1);
	}
}

int markup_cache_report(const struct symcache *cache, const struct markup_cache_options *options,
			struct mk_out *out, struct sc_error *err)
{
	static const struct {
		enum markup_cache_list list;
		const char *key;
		void (*put)(struct mk_cache *c);
	} lists[] = { /* in the order in which they are shown */
		{ MARKUP_CACHE_FILES, "files", mk_cache_files },
		{ MARKUP_CACHE_FUNCTIONS, "functions", mk_cache_functions },
		{ MARKUP_CACHE_RANGES, "ranges", mk_cache_ranges },
		{ MARKUP_CACHE_DATA, "data", mk_cache_data },
		{ MARKUP_CACHE_LOCALS, "locals", mk_cache_locals },
		{ MARKUP_CACHE_UNWIND, "unwind", mk_cache_unwind },
	};
	const struct symstore_entry *entry = options->entry;
	struct mk_cache c = { cache, options, out, .json = { .to = out, .pretty = true } };
	struct mk_gen *g = &c.json;
	char text[32];

	if (options->json) {
		mk_gen_open_map(g, NULL);
		if (entry)
			markup_entry_json(g, entry);
		if (options->used)
			mk_gen_text(g, "last_used", symstore_time_text(options->used, text));
		json_cache(g, cache, !entry);
	} else if (!options->lists) {
		if (entry)
			text_entry(&c, entry, options->used);
		text_cache(&c, !entry);
	}
	for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
		if (!(options->lists & lists[i].list))
			continue;
		if (options->json)
			mk_gen_open_array(g, lists[i].key);
		lists[i].put(&c);
		if (options->json)
			mk_gen_close_array(g);
	}
	if (options->json)
		mk_gen_close_map(g);
	if (c.path.error || c.text.error)
		out->error = -ENOMEM;
	mk_out_deinit(&c.path);
	mk_out_deinit(&c.text);
	return out->error == -ENOMEM ? sc_no_memory(err) : 0;
}

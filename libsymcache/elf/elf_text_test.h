/*
 * An ELF file as text, for tests, which include it behind cmocka.h: segments, sections, links,
 * symbols, and the symbols that addresses are named by.
 */
#ifndef SC_ELF_TEXT_TEST_H
#define SC_ELF_TEXT_TEST_H

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/elf/nearest.h"
#include "libsymcache/elf/symbols.h"

static inline void put_hex(FILE *to, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(to, "%02x", bytes[i]);
}

static inline void put_all_ranges(FILE *to, const char *what, const struct sc_elf_ranges *r)
{
	fputs(what, to);
	for (size_t i = 0; i < r->list.len; i++)
		fprintf(to, " [%" PRIx64 " %" PRIx64 ")", r->list.data[i].start,
			r->list.data[i].end);
}

static inline void put_file(FILE *to, struct sc_elf *e)
{
	uint8_t folded[16];
	const char *soname = sc_elf_soname(e);

	sc_elf_fold_text(e, folded);
	fprintf(to, "machine %u type %u %d-bit %s, %" PRIx64 "-%" PRIx64 ", build ID ", e->machine,
		e->type, e->is_64 ? 64 : 32, e->big_endian ? "big" : "little", e->load_base,
		e->load_end);
	put_hex(to, e->build_id, e->build_id_len);
	fputs(", folded ", to);
	put_hex(to, folded, sizeof(folded));
	fprintf(to, ", soname %s, %s code\n", soname ? soname : "-",
		sc_elf_lacks_code(e) ? "no" : "with");
	for (size_t i = 0; i < e->segments.len; i++) {
		const struct sc_elf_segment *s = &e->segments.data[i];
		size_t bytes;

		sc_elf_bytes_at(e, s->vaddr, &bytes);
		fprintf(to, "segment %" PRIx64 " at %" PRIx64 " +%" PRIx64 "%s, %zu bytes\n",
			s->offset, s->vaddr, s->size, s->assumed ? " assumed" : "", bytes);
	}
	put_all_ranges(to, "code", &e->exec);
	put_all_ranges(to, ", loaded", &e->alloc);
	fputc('\n', to);
}

static inline void put_sections(FILE *to, struct sc_elf *e)
{
	static const char *const names[] = {
		".text",	 ".debug_info", ".debug_line", ".debug_str",
		".debug_abbrev", ".symtab",	".data",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const uint8_t *bytes;
		struct sc_error err;
		uint64_t start = 0;
		size_t n;
		const bool there = sc_elf_section_start(e, names[i], &start);

		fprintf(to, "%s %d %d %d %" PRIx64 " %" PRIx64 ": ", names[i],
			sc_elf_has(e, names[i]), sc_elf_has_zstd(e, names[i]), there, start,
			sc_elf_section_address(e, names[i]));
		if (sc_elf_section(e, names[i], &bytes, &n, &err))
			fprintf(to, "%d %s\n", err.code, err.msg);
		else
			put_digest(to, bytes, n), fputc('\n', to);
	}
}

static inline void put_links(FILE *to, struct sc_elf *e)
{
	const char *name;
	const uint8_t *id;
	struct sc_elf *mini;
	struct sc_error err;
	uint32_t crc;
	uint64_t bad = 0, size = 0;
	size_t len;
	int rc;

	if (sc_elf_debuglink(e, &name, &crc))
		fprintf(to, "debug link %s %" PRIx32 "\n", name, crc);
	rc = sc_elf_altlink(e, &name, &id, &len, &err);
	if (!rc) {
		fprintf(to, "alt link %s ", name);
		put_hex(to, id, len);
		fputc('\n', to);
	} else if (rc != SC_ENOTFOUND) {
		fprintf(to, "alt link: %d %s\n", rc, err.msg);
	}
	rc = sc_elf_open_mini(e, &mini, &err);
	if (!rc)
		put_file(to, mini);
	else if (rc != SC_ENOTFOUND)
		fprintf(to, "mini: %d %s\n", rc, err.msg);
	sc_elf_close(mini);
	if (!sc_elf_symbol_names(e, &bad, &size))
		fprintf(to, "names: %" PRIu64 " of %" PRIu64 "\n", bad, size);
}

static inline void put_symbol_list(FILE *to, const char *what, const struct sc_elf_symbol *s,
				   size_t n)
{
	for (size_t i = 0; i < n && i < 40; i++)
		fprintf(to, "%s %" PRIx64 " +%" PRIu64 " %s %s%s\n", what, s[i].vaddr, s[i].size,
			s[i].name, s[i].file ? s[i].file : "", s[i].tagged ? " tagged" : "");
}

static inline void put_symbols_of(FILE *to, struct sc_elf *e)
{
	struct sc_elf_symbols s;
	struct sc_error err;

	if (sc_elf_symbols(e, &s, &err))
		return;
	put_symbol_list(to, s.from_dynsym ? "dynamic code" : "code", s.code.data, s.code.len);
	put_symbol_list(to, "data", s.data.data, s.data.len);
	put_symbol_list(to, "all", s.all.data, s.all.len);
	put_symbol_list(to, "alias", s.aliases.data, s.aliases.len);
	sc_elf_symbols_deinit(&s);
}

static inline void put_elf_text(FILE *to, struct sc_elf *e)
{
	put_file(to, e);
	put_sections(to, e);
	put_links(to, e);
	put_symbols_of(to, e);
}

/* How binutils name addresses from `start` to `end`, each `step`-th. */
static inline void put_nearest(FILE *to, struct sc_elf *e, uint64_t start, uint64_t end,
			       uint64_t step)
{
	struct sc_elf_nearest *n = sc_elf_nearest_create(e, e);
	const char *name, *file = NULL;

	for (uint64_t at = start; at < end; at += step)
		if (sc_elf_nearest_find(n, at, &name, &file))
			fprintf(to, "nearest %" PRIx64 " %s %s\n", at, name, file ? file : "-");
		else if (sc_elf_nearest_loaded(n, at))
			fprintf(to, "nearest %" PRIx64 " none\n", at);
	sc_elf_nearest_destroy(n);
}

#endif

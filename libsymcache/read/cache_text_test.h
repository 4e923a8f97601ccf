/* A cache as text: what every function of read.h and rows.h says of it. For tests. */
#ifndef SYMCACHE_CACHE_TEXT_TEST_H
#define SYMCACHE_CACHE_TEXT_TEST_H

#include <inttypes.h>
#include <stdio.h>

#include "libsymcache/read/read.h"
#include "libsymcache/read/rows.h"

enum { CACHE_TEXT_MOST = 48 }; /* records of each kind */

static inline void put_str_of(FILE *to, struct sc_str s)
{
	if (s.ptr)
		fprintf(to, "%.*s", (int)s.len, s.ptr);
	else
		fputc('-', to);
}

static inline void put_place(FILE *to, const struct symcache_file *f, uint64_t line,
			     uint32_t column)
{
	char path[2][256];

	symcache_path(f, SYMCACHE_PATH_RAW, path[0], sizeof(path[0]));
	symcache_path(f, SYMCACHE_PATH_CLEAN, path[1], sizeof(path[1]));
	fprintf(to, " %s %s:%" PRIu64 ":%" PRIu32, f->name.ptr ? path[0] : "-",
		f->name.ptr && strcmp(path[0], path[1]) ? path[1] : "", line, column);
}

static inline void put_frames(FILE *to, const struct symcache *c, uint64_t rel_pc)
{
	struct symcache_frames frames, places;
	struct symcache_raw_frame f;

	fprintf(to, "%" PRIx64 ":", rel_pc);
	symcache_lookup(c, rel_pc, &places);
	if (symcache_lookup(c, rel_pc, &frames))
		while (symcache_next_frame(&frames, &f)) {
			const uint32_t location = symcache_next_location(&places);
			const struct symcache_file decl = symcache_file(c, f.decl_file_idx);

			fprintf(to, " / ");
			put_str_of(to, f.function);
			put_place(to, &f.file, f.line, f.column);
			fprintf(to, " lang %" PRIu32 " from %" PRIx32 " declared", f.lang,
				f.entry_pc);
			put_place(to, &decl, f.decl_line, 0);
			fprintf(to, " %" PRIu32 " %" PRIx32,
				symcache_discriminator(c, location, rel_pc),
				symcache_inlined_start(c, location, rel_pc));
		}
	fputc('\n', to);
}

static inline void put_locals(FILE *to, const struct symcache *c, uint64_t rel_pc)
{
	struct symcache_local l;
	uint32_t first = 0;
	const uint32_t n = symcache_locals_of(c, rel_pc, &first);

	fprintf(to, "%" PRIx64 " locals:", rel_pc);
	for (uint32_t i = 0; i < n && i < CACHE_TEXT_MOST && symcache_local(c, first + i, &l);
	     i++) {
		fprintf(to, " / ");
		put_str_of(to, l.function);
		fputc(' ', to);
		put_str_of(to, l.name);
		put_place(to, &l.file, l.line, 0);
		if (l.has_offset)
			fprintf(to, " at %" PRId64, l.offset);
		if (l.has_size)
			fprintf(to, " size %" PRIu64, l.size);
		if (l.has_tag)
			fprintf(to, " tag %" PRIu64, l.tag);
	}
	fputc('\n', to);
}

static inline void put_data(FILE *to, const struct symcache *c, uint64_t address)
{
	struct symcache_data d;
	struct symcache_symbol s;
	size_t first = 0;

	fprintf(to, "%" PRIx64 " data ", address);
	if (symcache_lookup_data(c, address, &d)) {
		put_str_of(to, d.name);
		fprintf(to, " [%" PRIx64 " +%" PRIu64 ")", d.rel_address, d.size);
		put_place(to, &d.file, d.line, 0);
	}
	fprintf(to, ", symbol ");
	if (symcache_lookup_symbol(c, address, &s)) {
		put_str_of(to, s.name);
		fprintf(to, " [%" PRIx64 " +%" PRIu64 ") ", s.rel_address, s.size);
		put_str_of(to, s.file);
	}
	for (size_t i = 0, n = symcache_aliases_of(c, address, &first);
	     i < n && i < CACHE_TEXT_MOST; i++) {
		fprintf(to, " = ");
		put_str_of(to, symcache_string(c, c->aliases[first + i].name));
	}
	fputc('\n', to);
}

static inline void put_row(FILE *to, const struct symcache *c, uint64_t rel_pc)
{
	struct symcache_row row;
	char text[300];

	if (!symcache_find_row(c, rel_pc, &row))
		return;
	symcache_row_text(c, &row, text, sizeof(text));
	fprintf(to, "%" PRIx64 " row %" PRIu32 " %x %s\n", rel_pc, row.number, row.flags, text);
}

static inline bool put_fault(void *to, const char *fault)
{
	fprintf(to, "fault: %s\n", fault);
	return true;
}

static inline void put_image(FILE *to, const struct symcache *c)
{
	static const uint64_t offsets[] = { 0, 0x100, 0x1000, 0x1fff, 0x2345 };

	fprintf(to,
		"version %" PRIu32 ", %" PRIu32 " ranges, %" PRIu32 " locations, %" PRIu32
		" functions, %" PRIu32 " files, base %" PRIx64 ", offsets %d\n",
		c->header->version, c->header->num_ranges, c->header->num_source_locations,
		c->header->num_functions, c->header->num_files, symcache_load_base(c),
		symcache_has_offsets(c));
	if (c->image) {
		fprintf(to,
			"image %" PRIx64
			", machine %u, type %u, class %u, big-endian %u, sources %" PRIx32
			", broken units %" PRIu32 ", ",
			c->image->image_size, c->image->machine, c->image->elf_type,
			c->image->elf_class, c->image->big_endian, c->image->sources,
			c->image->broken_units);
		put_str_of(to, symcache_string(c, c->image->soname));
		fprintf(to, "%s", c->image->build_id_derived ? ", derived" : "");
		for (unsigned i = 0; i < c->image->build_id_len && i < SYMCACHE_BUILD_ID_MAX; i++)
			fprintf(to, "%s%02x", i ? "" : ", build ID ", c->image->build_id[i]);
		fputc('\n', to);
	}
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); i++) {
		uint64_t a = 0, b = 0;
		const bool in_file = symcache_vaddr_of_offset(c, offsets[i], &a),
			   in_code = symcache_vaddr_of_code(c, offsets[i], &b);

		fprintf(to, "offset %" PRIx64 ": %d %" PRIx64 ", of code %d %" PRIx64 ", code %d\n",
			offsets[i], in_file, a, in_code, b, symcache_may_be_code(c, offsets[i]));
	}
}

/* All of it, as far as it goes. */
static inline void put_cache(FILE *to, const struct symcache *c)
{
	uint64_t last = 0;

	put_image(to, c);
	symcache_verify(c, put_fault, to);
	for (uint32_t i = 0; i < c->header->num_ranges && i < CACHE_TEXT_MOST; i++) {
		put_frames(to, c, c->ranges[i]);
		if (c->ranges[i] - last > 1)
			put_frames(to, c, (uint64_t)c->ranges[i] - 1);
		last = c->ranges[i];
	}
	put_frames(to, c, UINT64_MAX);
	for (uint32_t i = 0; i < c->header->num_functions && i < CACHE_TEXT_MOST; i++)
		if (symcache_qualified(c, i).ptr) {
			fprintf(to, "qualified ");
			put_str_of(to, symcache_qualified(c, i));
			fputc('\n', to);
		}
	for (size_t i = 0; i < c->num_data_symbols && i < CACHE_TEXT_MOST; i++) {
		put_data(to, c, c->data_symbols[i].address);
		put_data(to, c, (uint64_t)c->data_symbols[i].address + c->data_symbols[i].size);
	}
	for (size_t i = 0; i < c->num_symbols && i < CACHE_TEXT_MOST; i++) {
		put_data(to, c, c->symbols[i].address);
		put_data(to, c, (uint64_t)c->symbols[i].address + c->symbols[i].size - 1);
	}
	for (size_t i = 0; i < c->locals.num_ranges && i < CACHE_TEXT_MOST; i++)
		put_locals(to, c, c->locals.ranges[i].start);
	for (uint32_t i = 0; i < c->unwind.num_starts && i < CACHE_TEXT_MOST; i++) {
		uint64_t start;
		uint32_t number;

		if (symcache_row_range(c, i, &start, &number))
			put_row(to, c, start);
	}
}

#endif

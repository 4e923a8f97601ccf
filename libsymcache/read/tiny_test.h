/*
 * tiny_test.h: small SymCache files in memory, for the reader's tests.
 *
 *   struct tiny t = tiny_example(9);      a file in order, all sections in use
 *   t.locations[0].inlined_into_idx = 0;  …and out of order, where wanted
 *   uint8_t *bytes = tiny_bytes(&t);      malloc'd, exactly t.size bytes
 *
 * It places the sections by the prose of format/symcache.md and shares no code
 * with the writer. The caller is a test: running out of room here asserts.
 */
#ifndef TINY_TEST_H
#define TINY_TEST_H

#include "format/symcache_index.h"
#include "libsymcache/read/read.h"

#include <assert.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <xxhash.h>

struct tiny {
	struct symcache_header h; /* counts are taken from here */
	struct symcache_file_v9 files[4];
	struct symcache_function functions[8];
	struct symcache_source_location locations[16];
	uint32_t ranges[16];
	uint8_t strings[800];

	/* Extension area: a section for each that is not zero. */
	bool ext;
	uint32_t num_image, num_columns, num_decls, num_data, num_segments, num_unknown;
	bool index;
	struct symcache_ext_image image;
	uint16_t columns[16];
	struct symcache_ext_decl decls[8];
	struct symcache_ext_data data[8];
	struct symcache_ext_segment segments[4];
	/* DISC, DISX, INLS, INLX */
	uint32_t num_discriminators, num_discriminator_list, num_starts, num_start_list;
	uint8_t discriminators[16];
	uint32_t starts[16];
	struct symcache_ext_detail discriminator_list[4], start_list[4];
	/* QUAL */
	uint32_t num_qualified;
	struct symcache_ext_qualified qualified[4];
	/* LOCR, LOCI, LOCV */
	uint32_t num_local_ranges, num_local_order, num_locals;
	struct symcache_ext_local_range local_ranges[4];
	uint32_t local_order[4];
	struct symcache_ext_local locals[4];
	uint32_t num_aliases;
	struct symcache_ext_alias aliases[8]; /* ALSO */
	uint32_t num_symbols;
	struct symcache_ext_symbol symbols[8]; /* SYMS */

	/* Set by tiny_bytes(): where things are. */
	size_t size, at_files, at_functions, at_locations, at_ranges, at_strings;
	size_t at_table, at_footer;
};

/* Appends a string; returns its offset. */
static inline uint32_t tiny_string(struct tiny *t, const char *s)
{
	uint32_t offset = t->h.string_bytes, len = (uint32_t)strlen(s), at = offset;

	assert(offset + len + 4 <= sizeof(t->strings));
	if (t->h.version == 7) {
		memcpy(t->strings + at, &len, 4);
		at += 4;
	} else {
		for (; len >= 0x80; len >>= 7)
			t->strings[at++] = (uint8_t)(len | 0x80);
		t->strings[at++] = (uint8_t)len;
	}
	memcpy(t->strings + at, s, strlen(s));
	t->h.string_bytes = at + (uint32_t)strlen(s);
	return offset;
}

struct tiny_out {
	uint8_t *bytes;
	size_t len;
};

static inline size_t tiny_put(struct tiny_out *out, const void *data, size_t size)
{
	size_t at = (out->len + 7) & ~(size_t)7;

	assert(at + size <= 4096);
	if (size)
		memcpy(out->bytes + at, data, size);
	out->len = at + size;
	return at;
}

static inline void tiny_put_section(struct tiny_out *out, struct symcache_ext_section *table,
				    uint32_t *n, uint32_t tag, size_t entry_size,
				    const void *data, size_t count)
{
	struct symcache_ext_section s = { tag, (uint32_t)entry_size, 0, entry_size * count };

	if (!count)
		return;
	s.offset = tiny_put(out, data, s.size);
	table[(*n)++] = s;
}

static inline void tiny_put_ext(struct tiny *t, struct tiny_out *out)
{
	struct symcache_ext_section table[24];
	struct symcache_ext_footer footer = { .version = 1, .magic = "SYMCEXT" };
	uint32_t index[64], *n = &footer.num_sections;

	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('I', 'M', 'A', 'G'), 104, &t->image,
			 t->num_image);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('C', 'O', 'L', 'S'), 2, t->columns,
			 t->num_columns);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('?', '?', '?', '?'), 3, "one two",
			 t->num_unknown);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('D', 'E', 'C', 'L'), 8, t->decls,
			 t->num_decls);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('D', 'A', 'T', 'A'), 20, t->data,
			 t->num_data);
	if (t->index) {
		uint32_t last = t->ranges[t->h.num_ranges - 1];

		index[0] = symcache_index_shift(t->h.num_ranges, last);
		assert(symcache_index_buckets(index[0], last) < 62);
		symcache_index_fill(index + 1, index[0], t->ranges, t->h.num_ranges);
		tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('I', 'N', 'D', 'X'), 4, index,
				 symcache_index_buckets(index[0], last) + 2);
	}
	if (t->num_segments)
		tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('S', 'E', 'G', 'M'), 32,
				 t->segments, t->num_segments);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('D', 'I', 'S', 'C'), 1, t->discriminators,
			 t->num_discriminators);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('D', 'I', 'S', 'X'), 12,
			 t->discriminator_list, t->num_discriminator_list);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('I', 'N', 'L', 'S'), 4, t->starts,
			 t->num_starts);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('I', 'N', 'L', 'X'), 12, t->start_list,
			 t->num_start_list);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('Q', 'U', 'A', 'L'), 8, t->qualified,
			 t->num_qualified);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('L', 'O', 'C', 'R'), 12, t->local_ranges,
			 t->num_local_ranges);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('L', 'O', 'C', 'I'), 4, t->local_order,
			 t->num_local_order);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('L', 'O', 'C', 'V'), 40, t->locals,
			 t->num_locals);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('A', 'L', 'S', 'O'), 8, t->aliases,
			 t->num_aliases);
	tiny_put_section(out, table, n, SYMCACHE_EXT_TAG('S', 'Y', 'M', 'S'), 16, t->symbols,
			 t->num_symbols);
	footer.table_offset = t->at_table = tiny_put(out, table, *n * sizeof(*table));
	footer.file_size = out->len + sizeof(footer);
	t->at_footer = tiny_put(out, &footer, sizeof(footer));
}

/* Puts the right hash into a file with a footer. */
static inline void tiny_rehash(uint8_t *bytes, size_t size)
{
	uint64_t hash = XXH3_64bits(bytes, size - 8);

	memcpy(bytes + size - 8, &hash, 8);
}

static inline uint8_t *tiny_bytes(struct tiny *t)
{
	struct tiny_out out = { calloc(1, 4096), 0 };
	uint8_t *exact;

	assert(out.bytes);
	tiny_put(&out, &t->h, sizeof(t->h));
	if (t->h.version == 9) {
		t->at_files = tiny_put(&out, t->files, t->h.num_files * sizeof(*t->files));
	} else {
		struct symcache_file_v7 files[4];

		for (int i = 0; i < 4; i++)
			memcpy(&files[i], &t->files[i], sizeof(files[i]));
		t->at_files = tiny_put(&out, files, t->h.num_files * sizeof(*files));
	}
	t->at_functions = tiny_put(&out, t->functions, t->h.num_functions * sizeof(*t->functions));
	t->at_locations = tiny_put(&out, t->locations,
				   t->h.num_source_locations * sizeof(*t->locations));
	t->at_ranges = tiny_put(&out, t->ranges, t->h.num_ranges * sizeof(*t->ranges));
	t->at_strings = tiny_put(&out, t->strings, t->h.string_bytes);
	if (t->ext)
		tiny_put_ext(t, &out);
	t->size = out.len;
	exact = malloc(t->size);
	assert(exact);
	memcpy(exact, out.bytes, t->size);
	free(out.bytes);
	if (t->ext)
		tiny_rehash(exact, t->size);
	return exact;
}

/* Writes them to a new file; `path` is a template of mkstemp(). */
static inline bool tiny_file(struct tiny *t, char *path)
{
	uint8_t *bytes = tiny_bytes(t);
	const int fd = mkstemp(path);
	const bool ok = fd >= 0 && write(fd, bytes, t->size) == (ssize_t)t->size && !close(fd);

	free(bytes);
	return ok;
}

/* Opens the bytes of `t`, which the test frees. */
static inline uint8_t *tiny_open(struct tiny *t, struct symcache *ret)
{
	uint8_t *bytes = tiny_bytes(t);
	int rc = symcache_open(ret, bytes, t->size, NULL);

	assert(rc == 0);
	(void)rc;
	return bytes;
}

#define TINY_GAP { SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE, SYMCACHE_NONE }

/*
 * A file in order, without extension area:
 *
 *   0x10  main            /src/main.c:10
 *   0x20  leaf            leaf.h:3   in  middle  leaf.h:7   in  main  /src/main.c:11
 *   0x28  main            /src/main.c:12
 *   0x30  nothing
 *   0x40  naked           no file, from the symbol table
 */
static inline struct tiny tiny_example(uint32_t version)
{
	struct tiny t = { .h = { .magic = SYMCACHE_MAGIC, .version = version,
				 .arch = SYMCACHE_ARCH_AMD64 } };
	uint32_t src = tiny_string(&t, "/src"), none = SYMCACHE_NONE;
	uint32_t leaf_h = tiny_string(&t, "leaf.h"), main_c = tiny_string(&t, "main.c");
	uint32_t inc = tiny_string(&t, "../inc"), leaf = tiny_string(&t, "leaf");
	uint32_t middle = tiny_string(&t, "_ZN1a6middleEv"), naked = tiny_string(&t, "naked");
	const struct symcache_file_v9 files[] = {
		{ src, none, main_c, none, none, none },
		{ src, inc, leaf_h, none, none, none },
	};
	const struct symcache_function functions[] = {
		{ tiny_string(&t, "main"), none, 0x10, SYMCACHE_LANG_C },
		{ middle, none, none, SYMCACHE_LANG_CPP },
		{ leaf, none, none, SYMCACHE_LANG_CPP },
		{ naked, none, 0x40, SYMCACHE_LANG_SYMTAB },
	};
	const struct symcache_source_location locations[] = {
		{ 0, 11, 0, none }, /* calls */
		{ 1, 7, 1, 0 },
		{ 0, 10, 0, none }, /* ranges */
		{ 1, 3, 2, 1 },
		{ 0, 12, 0, none },
		TINY_GAP,
		{ none, 0, 3, none },
	};
	const uint32_t ranges[] = { 0x10, 0x20, 0x28, 0x30, 0x40 };

	memcpy(t.files, files, sizeof(files));
	memcpy(t.functions, functions, sizeof(functions));
	memcpy(t.locations, locations, sizeof(locations));
	memcpy(t.ranges, ranges, sizeof(ranges));
	t.h.num_files = 2;
	t.h.num_functions = 4;
	t.h.num_source_locations = 7;
	t.h.num_ranges = 5;
	return t;
}

/* The same with every section of the extension area, and one unknown. */
static inline struct tiny tiny_example_ext(uint32_t version)
{
	struct tiny t = tiny_example(version);
	uint32_t table = tiny_string(&t, "table"), field = tiny_string(&t, "field");
	const uint16_t columns[] = { 4, 5, 1, 9, 2, 0, 0 };
	const struct symcache_ext_decl decls[] = {
		{ 0, 9 }, { 1, 6 }, { 1, 2 }, { SYMCACHE_NONE, 0 },
	};
	const struct symcache_ext_data data[] = {
		{ 0x1000, 0x100, table, 0, 20 },
		{ 0x1010, 4, field, 1, 21 },
		{ 0x2000, 0, field, SYMCACHE_NONE, 0 },
		{ 0x2100, 8, SYMCACHE_NONE, 0, 0 },
	};

	t.ext = t.index = true;
	t.num_image = t.num_unknown = 1;
	t.num_columns = 7;
	t.num_decls = 4;
	t.num_data = 4;
	t.image = (struct symcache_ext_image){
		.load_base = 0x400000, .image_size = 0x3000, .machine = 62, .elf_type = 3,
		.elf_class = 64, .build_id_len = 20, .sources = SYMCACHE_FROM_DWARF,
		.soname = tiny_string(&t, "libtiny.so.1"), .writer = SYMCACHE_NONE,
	};
	memcpy(t.columns, columns, sizeof(columns));
	memcpy(t.decls, decls, sizeof(decls));
	memcpy(t.data, data, sizeof(data));
	return t;
}

static inline bool tiny_keep_fault(void *ctx, const char *fault)
{
	snprintf(ctx, 200, "%s", fault);
	return true;
}

/* As tiny_open(), of a cache that symcache_verify() finds this fault in, and no other. */
static inline uint8_t *tiny_open_faulty(struct tiny *t, struct symcache *c, const char *want)
{
	char last[200] = "";
	uint8_t *bytes = tiny_open(t, c);

	assert_int_equal(symcache_verify(c, tiny_keep_fault, last), 1);
	assert_string_equal(last, want);
	return bytes;
}

#endif

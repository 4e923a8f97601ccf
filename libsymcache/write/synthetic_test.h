/*
 * Files with DWARF written by a test, indexed: for tests, which include it behind
 * cmocka.h.
 */
#ifndef SC_SYNTHETIC_TEST_H
#define SC_SYNTHETIC_TEST_H

#include "libsymcache/write/indexed_test.h"
#include "libsymcache/dwarf/dwarf_writer.h"

static inline void index_dwarf(struct dwarf *w, struct indexed *r)
{
	struct bytes file = {0};

	dwarf_file(w, &file);
	index_bytes(file.b.data, file.b.len, r);
	bytes_deinit(&file);
	dwarf_deinit(w);
}

static inline void expect(const struct indexed *r, uint64_t rel_pc, const char *frames)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	if (r->rc)
		fprintf(out, "%s", r->err.msg);
	else
		plain_show(&r->cache, rel_pc, out);
	fclose(out);
	assert_string_equal(text, frames);
	free(text);
}

static const struct dwarf_shape version_4 = { .version = 4 };

/* A unit of a.c, whose entry has children; returns its offset. */
static inline size_t open_unit(struct dwarf *w)
{
	size_t unit = unit_begin(w);

	compile_unit(w, "a.c");
	return unit;
}

static inline void close_unit(struct dwarf *w)
{
	children_end(w);
	unit_end(w);
}

/* A unit with one function at DWARF_TEXT + `at`, to see whether it is still found. */
static inline void good_unit(struct dwarf *w, const char *name, uint64_t at)
{
	unit_begin(w);
	compile_unit(w, "good.c");
	function(w, name, DWARF_TEXT + at, DWARF_TEXT + at + 0x10);
	close_unit(w);
}

/* Two good units around what is tested; they must be found. */
static inline void begin(struct dwarf *w)
{
	dwarf_init(w, &version_4);
	good_unit(w, "before", 0);
}

static inline void finish(struct dwarf *w, struct indexed *r)
{
	good_unit(w, "behind", 0x20);
	index_dwarf(w, r);
	expect(r, 0x1000, "before -:0");
	expect(r, 0x1020, "behind -:0");
}

#endif

/*
 * Units that are made at random, in each version, size and byte order of DWARF: the facts that are
 * read of them, and their local variables, are recorded. A change of any fact is seen in
 * testdata/seeds/units.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/dwarf/locals.h"
#include "libsymcache/dwarf/made_units_test.h"
#include "libsymcache/dwarf/readers_test.h"

enum { FILES = 700, WHOLE = 16, DAMAGED = 400, DAMAGED_WHOLE = 3 };

static struct dw_section section(const struct bytes *b)
{
	return (struct dw_section){ b->b.data, b->b.len };
}

static const char *or_none(const char *s)
{
	return s ? s : "-";
}

static void put_local(FILE *to, const struct dw_local *l)
{
	fprintf(to, "  %s %s at %s|%s|%s:%" PRIu64, or_none(l->function), or_none(l->name),
		or_none(l->file.comp_dir), or_none(l->file.dir), or_none(l->file.name), l->line);
	if (l->has_offset)
		fprintf(to, ", offset %" PRId64, l->offset);
	if (l->has_size)
		fprintf(to, ", size %" PRIu64, l->size);
	if (l->has_tag)
		fprintf(to, ", tag %" PRIu64, l->tag);
	fputc('\n', to);
}

static void put_locals(FILE *to, const struct dw_locals *locals)
{
	for (size_t i = 0; i < locals->list.len; i++)
		put_local(to, &locals->list.data[i]);
}

static bool put_unit_locals(void *to, const struct dw_unit_locals *u)
{
	fprintf(to, "locals of a unit, %zu ranges covered\n", u->covered.len);
	for (size_t i = 0; i < u->ranges.len; i++) {
		const struct dw_local_range *r = &u->ranges.data[i];
		const struct dw_local_function *f = &u->functions.data[r->function];

		fprintf(to, "[%" PRIx64 " %" PRIx64 ") %" PRIx64 " has %" PRIu32 " to %" PRIu32 "\n",
			r->range.start, r->range.end, f->place, f->first, f->end);
	}
	put_locals(to, &u->locals);
	return true;
}

static void put_all_facts(FILE *to, const struct dw_debug *d)
{
	struct dw_scanner *scanner = dw_scanner_create(d);
	struct dw_facts facts = { 0 };
	struct sc_error err;

	fprintf(to, "%zu units, %" PRIu64 " faults: %s\n", d->units.len, d->faults,
		d->faults ? d->first_fault.msg : "");
	for (size_t i = 0; i < d->units.len; i++) {
		const int rc = dw_scan_unit(scanner, &d->units.data[i], &facts, &err);

		put_facts(to, &facts, rc ? err.msg : "");
		fprintf(to, "%" PRIu64 " entries\n", facts.entries);
	}
	dw_facts_deinit(&facts);
	dw_scanner_destroy(scanner);
}

static void put_read(FILE *to, const struct dwarf *w)
{
	struct dw_debug d = { .sections = {
		.info = section(&w->info), .abbrev = section(&w->abbrev),
		.line = section(&w->line), .str = section(&w->str),
		.line_str = section(&w->line_str), .addr = section(&w->addr),
		.ranges = section(&w->ranges), .rnglists = section(&w->rnglists),
		.str_offsets = section(&w->str_offsets), .file_size = 1 << 20,
		.swap = w->shape.big_endian,
	} };
	const struct dw_location_sections locations = { section(&w->loc), section(&w->loclists) };
	struct sc_error err;

	dw_section_end_with_nul(&d.sections.str);
	dw_section_end_with_nul(&d.sections.line_str);
	assert_int_equal(dw_debug_read(&d, &err), 0);
	put_all_facts(to, &d);
	assert_true(dw_read_all_locals(&d, &locations, put_unit_locals, to));
	for (uint64_t at = DWARF_TEXT; at < DWARF_TEXT + 0x200; at += 0x34) {
		struct dw_locals locals = { 0 };

		assert_true(dw_read_locals(&d, &locations, at, &locals));
		fprintf(to, "locals at %" PRIx64 "\n", at);
		put_locals(to, &locals);
		vec_deinit(&locals.list);
	}
	dw_debug_deinit(&d);
}

/* The first ones are kept as they are, the others as hashes. */
static void put_file_of(FILE *to, uint64_t number, bool damaged)
{
	struct made m;
	char *text;
	size_t size;
	FILE *all = open_memstream(&text, &size);

	made_file(&m, number);
	if (damaged)
		damage_sections(&m);
	put_read(all, &m.w);
	fclose(all);
	fprintf(to, "== DWARF %u, %u, addresses of %u, %s-endian, %" PRIu64 "\n", m.w.shape.version,
		m.w.shape.offset_size, m.w.shape.address_size,
		m.w.shape.big_endian ? "big" : "little", number);
	if (number < (damaged ? DAMAGED_WHOLE : WHOLE))
		fputs(text, to);
	else
		put_digest(to, text, size), fputc('\n', to);
	free(text);
	dwarf_deinit(&m.w);
}

static void test_units(void **state)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (uint64_t i = 0; i < FILES; i++)
		put_file_of(to, i, false);
	fclose(to);
	expect_recorded("units", got, len);
}

static void test_damaged(void **state)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (uint64_t i = 0; i < DAMAGED; i++)
		put_file_of(to, i, true);
	fclose(to);
	expect_recorded("units_damaged", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_units),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

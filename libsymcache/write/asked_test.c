/*
 * What is said of files at random when they are asked themselves, not their caches, recorded: why an
 * address has its answer, its local variables, its symbols, the bytes there, what the file is; and the cache
 * of its names alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/read/cache_text_test.h"
#include "libsymcache/write/explain.h"
#include "libsymcache/write/first_check.h"
#include "libsymcache/write/locals.h"
#include "libsymcache/write/made_more_test.h"
#include "libsymcache/write/only_names.h"

enum { FILES = 200, WHOLE = 6, ADDRESSES_ASKED = 9 };

static const struct symcache_build_options options = { .no_debug_search = true, .threads = 1 };

static const char *text_or_dash(const char *s)
{
	return s ? s : "-";
}

/* ---- why -------------------------------------------------------------------------------------------- */

static void put_entry(FILE *to, const struct symcache_explained_entry *e)
{
	fprintf(to, "  entry %" PRIx64 "%s%s %s [%" PRIx64 ", %" PRIx64 ") of %" PRIu32, e->offset,
		e->inlined ? " inlined" : "", e->decides ? " decides" : "", text_or_dash(e->name), e->start, e->end,
		e->num_ranges);
	put_place(to, &e->call_file, e->call_line, e->call_column);
	fputc('\n', to);
}

static void put_unit_of(FILE *to, const struct symcache_explained_unit *u)
{
	const struct symcache_explained_row *r = &u->row;

	fprintf(to, " unit %" PRIx64 " of version %u %s in %s, %s, %s%s\n", u->offset, u->version, text_or_dash(u->name),
		text_or_dash(u->comp_dir), text_or_dash(u->split), text_or_dash(u->language), u->decides ? ", decides" : "");
	for (size_t i = 0; i < u->num_entries; i++)
		put_entry(to, &u->entries[i]);
	if (!u->has_row)
		return;
	fprintf(to, "  row [%" PRIx64 ", %" PRIx64 ")", r->start, r->end);
	put_place(to, &r->file, r->line, r->column);
	fprintf(to, " %d %" PRIu32 ", of [%" PRIx64 ", %" PRIx64 ") %" PRIu32 "\n", r->is_stmt, r->discriminator,
		r->sequence_start, r->sequence_end, r->sequence_rows);
}

static void put_why(FILE *to, const char *path, uint64_t vaddr)
{
	struct symcache_explanation *e;
	struct sc_error err;

	if (symcache_explain(path, &options, vaddr, &e, &err)) {
		fprintf(to, " %d%s\n", err.code, strchr(err.msg, ':')); /* behind the path */
		return;
	}
	fprintf(to, " %s, %" PRIu64 " units read\n", e->path ? "DWARF" : "no DWARF", e->units_read);
	for (size_t i = 0; i < e->num_units; i++)
		put_unit_of(to, &e->units[i]);
	symcache_explanation_destroy(e);
}

/* ---- local variables, symbols, bytes ----------------------------------------------------------------- */

static void put_variables(FILE *to, struct symcache_locals *l, uint64_t vaddr)
{
	const struct symcache_local *list;
	struct sc_error err;
	size_t n;

	assert_int_equal(symcache_locals_at(l, vaddr, &list, &n, &err), 0);
	for (size_t i = 0; i < n; i++) {
		fprintf(to, " local ");
		put_str_of(to, list[i].function);
		fputc(' ', to);
		put_str_of(to, list[i].name);
		put_place(to, &list[i].file, list[i].line, 0);
		fprintf(to, " at %d %" PRId64 " size %d %" PRIu64 " tag %d %" PRIu64 "\n", list[i].has_offset, list[i].offset,
			list[i].has_size, list[i].size, list[i].has_tag, list[i].tag);
	}
}

static void put_symbol_found(FILE *to, const char *what, bool found, const struct symcache_named_symbol *s)
{
	if (found)
		fprintf(to, " %s %s of %s at %" PRIx64 " size %" PRIu64 "%s\n", what, text_or_dash(s->name),
			text_or_dash(s->file), s->vaddr, s->size, s->tagged ? ", tagged" : "");
}

static void put_symbols(FILE *to, const char *path, const uint64_t *vaddrs)
{
	struct symcache_symbol_table *table;
	struct symcache_nearest *nearest;
	struct symcache_named_symbol s;
	struct sc_error err;

	assert_int_equal(symcache_symbol_table_open(path, &table, &err), 0);
	assert_int_equal(symcache_nearest_open(path, &options, &nearest, &err), 0);
	fprintf(to, "symbols%s\n", symcache_symbol_table_is_dynamic(table) ? ", dynamic" : "");
	for (int i = 0; i < ADDRESSES_ASKED; i++) {
		memset(&s, 0, sizeof(s));
		put_symbol_found(to, "symbol", symcache_symbol_table_find(table, vaddrs[i], &s), &s);
		memset(&s, 0, sizeof(s));
		put_symbol_found(to, "nearest", symcache_nearest_find(nearest, vaddrs[i], &s), &s);
	}
	symcache_symbol_table_close(table);
	symcache_nearest_close(nearest);
}

/* ---- the file ------------------------------------------------------------------------------------------ */

static void put_hex(FILE *to, const uint8_t *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fprintf(to, "%02x", bytes[i]);
}

static void put_identity(FILE *to, const char *path, int fd)
{
	struct symcache_elf_facts f = { 0 };
	struct sc_error err;
	struct symcache_code *code = NULL;
	uint8_t id[SYMCACHE_BUILD_ID_MAX], bytes[4] = { 0 };
	uint64_t text = 0;
	size_t len = 0;
	bool derived = false;
	int rc;

	assert_int_equal(symcache_elf_build_id(path, id, &len, &derived, &err), 0);
	assert_int_equal(symcache_elf_facts(fd, "file", &f, &err), 0);
	rc = symcache_elf_section(path, ".text", &text, &err);
	fprintf(to, "build ID ");
	put_hex(to, id, len);
	fprintf(to, "%s, DWARF %d, .text %d %" PRIx64, derived ? " derived" : "", f.dwarf, rc, text);
	if (!symcache_code_open(path, id, len, &code, &err)) {
		fprintf(to, ", code %d ", symcache_code_read(code, DWARF_TEXT, bytes, sizeof(bytes)));
		put_hex(to, bytes, sizeof(bytes));
	}
	symcache_code_close(code);
	fputc('\n', to);
}

/* The cache, and that of its names alone; a cache for an address alone says what it says. */
static void put_caches(FILE *to, const char *path, const uint64_t *vaddrs)
{
	struct symcache names;
	struct sc_error err;
	struct built whole;
	void *bytes;
	size_t size;

	if (first_build(path, &options, &whole, &err)) {
		fprintf(to, "%d%s\n", err.code, strchr(err.msg, ':'));
		return;
	}
	for (int i = 0; i < ADDRESSES_ASKED; i += 2) {
		char *fault = first_differs(path, &options, &whole.cache, &vaddrs[i], 1);

		if (fault)
			fail_msg("%s", fault);
	}
	assert_int_equal(symcache_only_names(&whole.cache, &bytes, &size, &err), 0);
	assert_int_equal(symcache_open(&names, bytes, size, &err), 0);
	put_cache(to, &names);
	free(bytes);
	free(whole.bytes);
}

static void put_file_asked(FILE *to, struct made *m, const struct bytes *file)
{
	uint64_t vaddrs[ADDRESSES_ASKED];
	struct symcache_locals *locals;
	struct sc_error err;
	char path[32];
	const int fd = testing_memfd(file->b.data, file->b.len, path);

	put_identity(to, path, fd);
	assert_int_equal(symcache_locals_open(path, &options, &locals, &err), 0);
	for (int i = 0; i < ADDRESSES_ASKED; i++) {
		vaddrs[i] = any_address(m) + below(m, 2);
		fprintf(to, "%" PRIx64 "\n", vaddrs[i]);
		put_why(to, path, vaddrs[i]);
		put_variables(to, locals, vaddrs[i]);
	}
	symcache_locals_close(locals);
	put_symbols(to, path, vaddrs);
	put_caches(to, path, vaddrs);
	close(fd);
}

/* Of the file with the number. */
static void answer(const uint8_t *number, size_t size, FILE *to)
{
	struct bytes file = { 0 };
	struct made m;
	uint64_t n;

	assert_int_equal(size, sizeof(n));
	memcpy(&n, number, sizeof(n));
	made_file(&m, n);
	make_more(&m);
	dwarf_file(&m.w, &file);
	put_file_asked(to, &m, &file);
	bytes_deinit(&file);
	dwarf_deinit(&m.w);
}

static void test_asked(void **state)
{
	(void)state;
	expect_made("asked", "file", FILES, WHOLE, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

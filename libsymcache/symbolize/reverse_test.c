/* Names and lines → addresses, in this program's own cache, against what a pass over all ranges
 * finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "libsymcache/base/vec.h"
#include "libsymcache/symbolize/module.h"
#include "libsymcache/symbolize/reverse.h"

int reversed_variable = 3;

static inline __attribute__((always_inline)) int inlined_here(int x)
{
	return x * 5 + reversed_variable; /* INLINED_LINE */
}
enum { INLINED_LINE = __LINE__ - 2 };

int reversed_function(int x);
int __attribute__((noinline)) reversed_function(int x)
{
	return inlined_here(x) ^ x; /* CALL_LINE */
}
enum { CALL_LINE = __LINE__ - 2 };

/* Other names of the same code: one of the three is the symbol, the rest are aliases. */
int other_name_of_it(int x) __attribute__((alias("reversed_function")));
int third_name_of_it(int x) __attribute__((alias("reversed_function")));

/* In C++ "_Z(int)": shown so, it looks like a name for the linker. */
int of_two_letters(int x) __asm__("_Z2_Zi");
int __attribute__((noinline)) of_two_letters(int x)
{
	return x - reversed_variable;
}

static struct symcache_names *names;
static struct symcache_caches *caches;
static struct symcache_symbolizer *s;
static struct symcache_module *m;

static int set_up(void **state)
{
	(void)state;
	names = symcache_names_create(NULL);
	caches = symcache_caches_create(NULL);
	s = symcache_symbolizer_create(caches, names);
	m = symcache_caches_module(caches, SYMCACHE_MODULE_FILE, "/proc/self/exe");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	symcache_symbolizer_destroy(s);
	symcache_caches_destroy(caches);
	symcache_names_destroy(names);
	return 0;
}

static bool is(struct sc_str text, const char *expected)
{
	return text.len == strlen(expected) && !memcmp(text.ptr, expected, text.len);
}

struct names {
	size_t n, functions, variables;
	uint64_t last;
};

static int on_name(void *ctx, const struct symcache_found_name *f)
{
	struct names *seen = ctx;

	assert_true(f->vaddr >= seen->last);
	seen->last = f->vaddr;
	seen->n++;
	if (is(f->name, "reversed_function")) {
		assert_false(f->data || f->of_table);
		assert_true(f->size && is(f->linkage, "reversed_function"));
		assert_in_range(f->line, CALL_LINE - 3, CALL_LINE);
		seen->functions++;
	}
	if (is(f->name, "reversed_variable")) {
		assert_true(f->data);
		assert_int_equal(f->size, sizeof(int));
		seen->variables++;
	}
	return 0;
}

static int stop(void *ctx, const struct symcache_found_name *f)
{
	(void)f;
	return --*(int *)ctx ? 0 : 7;
}

static void finds_names(void **state)
{
	struct names seen = { 0 };
	int left = 2;

	(void)state;
	assert_int_equal(reversed_function(2), 15);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("reversed_function"), false, on_name, &seen), 1);
	assert_int_equal(seen.functions, 1);
	seen = (struct names){ 0 };
	assert_int_equal(symcache_find_names(s, m, sc_str_of("reversed_*"), true, on_name, &seen), 2);
	assert_true(seen.functions == 1 && seen.variables == 1);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("reversed_"), false, on_name, &seen), 0);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("reversed_*"), false, on_name, &seen), 0);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("inlined_here"), false, on_name, &seen), 0);
	seen = (struct names){ 0 };
	assert_true(symcache_find_names(s, m, sc_str_of("*"), true, on_name, &seen) > 100);
	assert_true(seen.functions == 1 && seen.variables == 1);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("*"), true, stop, &left), 7);
}

static int on_alias(void *ctx, const struct symcache_found_name *f)
{
	uint64_t *vaddr = ctx;

	assert_false(f->data);
	*vaddr = f->vaddr;
	return 0;
}

/* Symbols at one address: each of their names is found, and is the same code. */
static void finds_aliases(void **state)
{
	uint64_t vaddr = 0, other = 1, named = 2;
	uint32_t at = 0;

	(void)state;
	assert_int_equal(other_name_of_it(2), reversed_function(2));
	assert_int_equal(symcache_find_names(s, m, sc_str_of("reversed_function"), false, on_alias, &vaddr), 1);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("other_name_of_it"), false, on_alias, &other), 1);
	assert_int_equal(other, vaddr);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("other_name_*"), true, on_alias, &other), 1);
	assert_true(symcache_symbolize_name(s, m, sc_str_of("other_name_of_it"), &at, &named));
	assert_int_equal(named, vaddr);
	assert_false(symcache_symbolize_name(s, m, sc_str_of("other_name_of_it"), &at, &named));
	at = 0;
	assert_int_equal(symcache_find_names(s, m, sc_str_of("third_name_of_it"), false, on_alias, &other), 1);
	assert_int_equal(other, vaddr);
	assert_true(symcache_symbolize_name(s, m, sc_str_of("third_name_of_it"), &at, &named));
	assert_int_equal(named, vaddr);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("*r*_name_of_it"), true, on_alias, &other), 2); /* as long */
	assert_int_equal(third_name_of_it(2), reversed_function(2));
}

struct at_address {
	uint64_t vaddr;
	size_t n, of_table, data;
	uint64_t size;
};

static int on_any(void *ctx, const struct symcache_found_name *f)
{
	struct at_address *a = ctx;

	if (f->vaddr != a->vaddr)
		return 0;
	a->n++;
	a->of_table += f->of_table;
	a->data += f->data;
	a->size = f->size;
	assert_int_equal(!!f->line, f->file.ptr != NULL && f->line);
	return 0;
}

static struct at_address find_at(struct sc_str name, uint64_t rel, const struct symcache *c)
{
	struct at_address a = { .vaddr = symcache_load_base(c) + rel };

	assert_true(symcache_find_names(s, m, name, false, on_any, &a) >= 1);
	return a;
}

/* All that has code or memory is found by its linkage name, where it is: each function, once, as the DWARF
 * knows it; each symbol and each variable, from the first to the last. */
static void finds_all(void **state)
{
	struct symcache_symbol symbol;
	const struct symcache *c;
	size_t functions = 0, table = 0;

	(void)state;
	assert_int_equal(symcache_module_cache(m, &c, NULL, NULL), 0);
	for (uint32_t i = 0; i < c->header->num_functions; i++) {
		const struct symcache_function *f = &c->functions[i];
		const struct sc_str name = symcache_string(c, f->name);
		struct at_address a;

		if (f->entry_pc == SYMCACHE_NONE || !name.len)
			continue;
		a = find_at(name, f->entry_pc, c);
		if (a.n != 1 || a.data)
			fail_msg("%.*s: %zu", (int)name.len, name.ptr, a.n);
		functions += !a.of_table;
	}
	for (uint32_t i = 0; symcache_symbol(c, i, &symbol); i++) {
		if (!symbol.name.len)
			continue;
		table += find_at(symbol.name, symbol.rel_address, c).of_table;
	}
	for (size_t i = 0; i < c->num_data_symbols; i++) {
		const struct symcache_ext_data *d = &c->data_symbols[i];
		const struct sc_str name = symcache_string(c, d->name);

		if (name.len)
			assert_true(find_at(name, d->address, c).data >= 1);
	}
	assert_true(functions > 500 && table > 10);
}

static void parses_lines(void **state)
{
	static const struct { const char *text, *file; uint32_t line; } cases[] = {
		{ "a.c:1", "a.c", 1 }, { "a.c:9", "a.c", 9 }, { "a.c:90", "a.c", 90 }, { "a:b:7", "a:b", 7 },
		{ "/x/a.c:4294967295", "/x/a.c", UINT32_MAX }, { "a:5", "a", 5 },
		{ "a.c", NULL, 0 }, { ":1", NULL, 0 }, { "a.c:", NULL, 0 }, { "a.c:0", NULL, 0 }, { "a.c:01", NULL, 0 },
		{ "a.c:1x", NULL, 0 }, { "a.c:-1", NULL, 0 }, { "a.c:4294967296", NULL, 0 }, { "", NULL, 0 },
		{ "a.c:/", NULL, 0 }, { "a.c::", NULL, 0 },
	};
	struct sc_str file;
	uint32_t line;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (symcache_parse_line(cases[i].text, &file, &line) != !!cases[i].file)
			fail_msg("%s", cases[i].text);
		if (cases[i].file)
			assert_true(is(file, cases[i].file) && line == cases[i].line);
	}
}

/* What is shown otherwise than it is linked: of the demanglers, which are part of this program. */
static int on_shown(void *ctx, const struct symcache_found_name *f)
{
	char *linkage = ctx;

	assert_true(f->linkage.len < 1000 && f->name.len);
	memcpy(linkage, f->linkage.ptr, f->linkage.len);
	linkage[f->linkage.len] = 0;
	return 0;
}

static void finds_shown_names(void **state)
{
	char exact[1000] = "", bare[1000] = "", back[1000] = "";
	ssize_t n;

	(void)state;
	n = symcache_find_names(s, m, sc_str_of("*itanium_demangle::NameType::printLeft*"), true,
				on_shown, exact);
	if (!n) {
		print_message("skipped: the demangler has no such function\n");
		skip();
	}
	assert_int_equal(strncmp(exact, "_Z", 2), 0);
	assert_true(symcache_find_names(s, m, sc_str_of(
		"(anonymous namespace)::itanium_demangle::NameType::printLeft"), false, on_shown, bare) >= 1);
	assert_string_equal(bare, exact);
	assert_int_equal(symcache_find_names(s, m, sc_str_of(exact), false, on_shown, back), 1);
	assert_string_equal(back, exact);
}

static void finds_short_name(void **state)
{
	char linkage[1000] = "";

	(void)state;
	assert_int_equal(of_two_letters(5), 2);
	assert_int_equal(symcache_find_names(s, m, sc_str_of("_Z"), false, on_shown, linkage), 1);
	assert_string_equal(linkage, "_Z2_Zi");
	assert_int_equal(symcache_find_names(s, m, sc_str_of("_Z2_Zi"), false, on_shown, linkage), 1);
}

/* ---- lines --------------------------------------------------------------------------------- */

struct lines {
	VEC(struct symcache_found_line) list;
};

static int keep(void *ctx, const struct symcache_found_line *f)
{
	struct lines *lines = ctx;

	assert_true(f->vaddr < f->end);
	if (lines->list.len)
		assert_true(f->vaddr >= lines->list.data[lines->list.len - 1].end);
	*vec_push(&lines->list) = *f;
	return 0;
}

static void finds_lines(void **state)
{
	struct lines inlined = { 0 }, call = { 0 };
	const struct sc_str file = sc_str_of("symbolize/reverse_test.c");

	(void)state;
	assert_true(symcache_find_line(s, m, file, INLINED_LINE, keep, &inlined) >= 1);
	assert_true(inlined.list.data[0].inlined);
	assert_int_equal(inlined.list.data[0].depth, 0);
	assert_true(symcache_find_line(s, m, file, CALL_LINE, keep, &call) >= 1);
	for (size_t i = 0; i < call.list.len; i++)
		assert_false(call.list.data[i].inlined);
	assert_int_equal(symcache_find_line(s, m, file, 1, keep, &call), 0);
	assert_int_equal(symcache_find_line(s, m, sc_str_of("everse_test.c"), CALL_LINE, keep, &call), 0);
	assert_int_equal(symcache_find_line(s, m, sc_str_of(""), CALL_LINE, keep, &call), 0);
	call.list.len = 0;
	assert_true(symcache_find_line(s, m, sc_str_of("./symbolize/reverse_test.c"), CALL_LINE, keep, &call) >= 1);
	call.list.len = 0;
	assert_true(symcache_find_line(s, m, sc_str_of("././reverse_test.c"), CALL_LINE, keep, &call) >= 1);
	assert_int_equal(symcache_find_line(s, m, sc_str_of("../reverse_test.c"), CALL_LINE, keep, &call), 0);
	vec_deinit(&inlined.list);
	vec_deinit(&call.list);
}

/* Is there a frame at this line? */
static bool has_line(const struct symcache *c, uint64_t rel, uint32_t file, uint32_t line)
{
	struct symcache_frame_ids ids;
	struct symcache_frames frames;

	if (!symcache_lookup(c, rel, &frames))
		return false;
	while (symcache_next_ids(&frames, &ids))
		if (ids.file == file && ids.line == line)
			return true;
	return false;
}

/* The ranges of the lines of one file are those that have a frame there, no more and no less. */
static void finds_all_of_a_file(void **state)
{
	const struct symcache *c;
	uint32_t file = SYMCACHE_NONE;
	char path[4096];
	size_t found = 0;

	(void)state;
	assert_int_equal(symcache_module_cache(m, &c, NULL, NULL), 0);
	for (uint32_t i = 0; i < c->header->num_files && file == SYMCACHE_NONE; i++) {
		const struct symcache_file f = symcache_file(c, i);

		symcache_path(&f, SYMCACHE_PATH_CLEAN, path, sizeof(path));
		if (strstr(path, "/symbolize/name_list.c"))
			file = i;
	}
	assert_int_not_equal(file, SYMCACHE_NONE);
	for (uint32_t line = 1; line < 250; line++) {
		struct lines lines = { 0 };
		size_t at = 0;

		symcache_find_line(s, m, sc_str_of(path), line, keep, &lines);
		found += lines.list.len;
		for (uint32_t i = 0; i < c->header->num_ranges; i++) {
			const uint64_t vaddr = c->ranges[i] + symcache_load_base(c);

			while (at < lines.list.len && lines.list.data[at].end <= vaddr)
				at++;
			assert_int_equal(has_line(c, c->ranges[i], file, line),
					 at < lines.list.len && lines.list.data[at].vaddr <= vaddr);
		}
		vec_deinit(&lines.list);
	}
	assert_true(found > 50);
}

/* The last range of a cache, if it has code, ends where addresses do. */
static void finds_last_range(void **state)
{
	const struct sc_str file = sc_str_of("symbolize/reverse_test.c");
	struct symcache_caches *own = symcache_caches_create(NULL);
	struct symcache_symbolizer *t = symcache_symbolizer_create(own, names);
	struct symcache_module *last = symcache_caches_module(own, SYMCACHE_MODULE_FILE, "/proc/self/exe");
	const struct symcache *c;
	struct lines found = { 0 };
	struct symcache_header header;
	struct symcache shorter;
	uint32_t i = 0;

	(void)state;
	assert_int_equal(symcache_module_cache(m, &c, NULL, NULL), 0);
	assert_true(symcache_find_line(s, m, file, CALL_LINE, keep, &found) >= 1);
	while (c->ranges[i] + symcache_load_base(c) != found.list.data[0].vaddr)
		i++;
	header = *c->header;
	header.num_ranges = i + 1;
	header.num_source_locations = c->range_location + i + 1;
	shorter = *c;
	shorter.header = &header;
	atomic_store(&last->cache, &shorter);
	found.list.len = 0;
	assert_int_equal(symcache_find_line(t, last, file, CALL_LINE, keep, &found), 1);
	assert_int_equal(found.list.data[0].end, symcache_load_base(c) + UINT32_MAX);
	atomic_store(&last->cache, NULL);
	vec_deinit(&found.list);
	symcache_symbolizer_destroy(t);
	symcache_caches_destroy(own);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_names), cmocka_unit_test(finds_aliases),
		cmocka_unit_test(finds_shown_names), cmocka_unit_test(finds_short_name), cmocka_unit_test(finds_all), cmocka_unit_test(parses_lines),
		cmocka_unit_test(finds_lines), cmocka_unit_test(finds_all_of_a_file), cmocka_unit_test(finds_last_range),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

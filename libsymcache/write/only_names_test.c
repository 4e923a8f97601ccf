/* Names alone: each address has the outermost function that the whole cache has, and nothing else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/only_names.h"
#include "libsymcache/write/synthetic_test.h"

/* The outermost function at an address: its name; "": none. Also whether anything else is known. */
static struct sc_str outer_at(const struct symcache *c, uint32_t rel_pc, uint32_t *entry, bool *more)
{
	struct sc_str name = { "", 0 };
	struct symcache_raw_frame frame;
	struct symcache_frames frames;
	int n = 0;

	*entry = SYMCACHE_NONE;
	*more = false;
	if (!symcache_lookup(c, rel_pc, &frames))
		return name;
	for (; symcache_next_frame(&frames, &frame); n++) {
		name = frame.function;
		*entry = frame.entry_pc;
		*more |= frame.line || frame.column || frame.file.name.ptr || frame.decl_line;
	}
	*more |= n > 1;
	return name;
}

static void same_names(const struct symcache *whole, const struct symcache *names, uint32_t rel_pc)
{
	uint32_t entry, named_entry;
	bool more;
	const struct sc_str a = outer_at(whole, rel_pc, &entry, &more);
	const struct sc_str b = outer_at(names, rel_pc, &named_entry, &more);

	assert_false(more);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.ptr, b.ptr, a.len);
	assert_int_equal(entry, named_entry);
}

static void leave_names(const struct symcache *whole, uint32_t sources)
{
	struct symcache names, twice;
	struct plain_cache plain;
	void *bytes, *again;
	struct sc_error err;
	size_t size, again_size;

	assert_int_equal(symcache_only_names(whole, &bytes, &size, &err), 0);
	assert_null(plain_open(&plain, bytes, size));
	assert_int_equal(symcache_open(&names, bytes, size, &err), 0);
	assert_non_null(names.image);
	assert_int_equal(names.image->sources, sources);
	assert_memory_equal(names.image->build_id, whole->image->build_id, SYMCACHE_BUILD_ID_MAX);
	assert_int_equal(names.image->load_base, whole->image->load_base);
	assert_int_equal(names.num_segments, whole->num_segments);
	assert_int_equal(names.header->version, whole->header->version);
	assert_int_equal(names.header->num_files, 0);
	assert_int_equal(names.num_symbols + names.num_data_symbols, 0);
	assert_null(names.unwind.facts);
	assert_true(size < whole->size);
	assert_int_equal(symcache_verify(&names, NULL, NULL), 0);
	same_names(whole, &names, 0);
	for (uint32_t i = 0; i < whole->header->num_ranges; i++) {
		same_names(whole, &names, whole->ranges[i]);
		if (whole->ranges[i])
			same_names(whole, &names, whole->ranges[i] - 1);
	}
	for (uint32_t i = 1; i < names.header->num_ranges; i++) /* none that need not be */
		assert_int_not_equal(names.locations[names.range_location + i - 1].function_idx,
				     names.locations[names.range_location + i].function_idx);
	assert_int_equal(symcache_open(&twice, bytes, size, &err), 0);
	assert_int_equal(symcache_only_names(&twice, &again, &again_size, &err), 0);
	assert_int_equal(again_size, size);
	assert_memory_equal(again, bytes, size);
	free(again);
	free(bytes);
}

static void test_programs(void **state)
{
	static const char *const programs[] = { "inlines", "shapes", "shapes.o", "units", "layouts.clang5" };
	const uint32_t named = SYMCACHE_FROM_NAMES | SYMCACHE_FROM_SYMTAB;
	struct symcache whole;
	struct indexed r;
	char path[100];

	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		for (uint32_t version = 7; version <= 9; version++) {
			const struct symcache_build_options o = { .format_version = version, .locals = true };

			snprintf(path, sizeof(path), PROGRAMS "%s", programs[i]);
			index_file(path, &o, &r);
			assert_int_equal(r.rc, 0);
			assert_int_equal(symcache_open(&whole, r.bytes, r.size, NULL), 0);
			leave_names(&whole, named);
			indexed_deinit(&r);
		}
}

static void test_sources(void **state)
{
	enum { D = SYMCACHE_FROM_DWARF, S = SYMCACHE_FROM_SYMTAB, M = SYMCACHE_FROM_MINIDEBUGINFO,
	       Y = SYMCACHE_FROM_DYNSYM, C = SYMCACHE_FROM_CFI, N = SYMCACHE_FROM_NAMES };

	(void)state;
	assert_int_equal(symcache_only_names_sources(D | S | C), N | S);
	assert_int_equal(symcache_only_names_sources(D | Y), N | S);
	assert_int_equal(symcache_only_names_sources(M | Y | C), N | M | Y);
	assert_int_equal(symcache_only_names_sources(Y), N | Y);
	assert_int_equal(symcache_only_names_sources(C), 0);
	assert_int_equal(symcache_only_names_sources(N | S), N | S);
}

/* Calls that lead nowhere, ranges that do not ascend, functions that are not there. */
static void test_damaged(void **state)
{
	struct symcache whole;
	uint64_t seed = 5;
	struct indexed r;

	(void)state;
	must_index(PROGRAMS "inlines", &r);
	for (int n = 0; n < 3000; n++) {
		const size_t at = 44 + testing_below(&seed, r.size - 44);
		const uint8_t was = r.bytes[at];
		struct sc_error err;
		void *bytes = NULL;
		size_t size;

		r.bytes[at] ^= (uint8_t)(1 + testing_below(&seed, 255));
		if (!symcache_open(&whole, r.bytes, r.size, NULL) &&
		    symcache_only_names(&whole, &bytes, &size, &err))
			assert_int_equal(err.code, SC_EFORMAT);
		free(bytes);
		r.bytes[at] = was;
	}
	indexed_deinit(&r);
}

/* What does not exist has no name: a call into itself or behind the calls, a function behind the functions. */
static void test_behind(void **state)
{
	struct symcache whole, names;
	struct symcache_source_location *calls, *locations;
	struct sc_error err;
	struct indexed r;
	uint32_t entry;
	size_t size;
	void *bytes;
	bool more;

	(void)state;
	must_index(PROGRAMS "inlines", &r);
	assert_int_equal(symcache_open(&whole, r.bytes, r.size, NULL), 0);
	calls = (struct symcache_source_location *)whole.locations;
	locations = calls + whole.range_location;
	assert_true(whole.range_location && whole.header->num_ranges > 5);
	calls[0].inlined_into_idx = locations[1].inlined_into_idx = 0;
	locations[2].inlined_into_idx = whole.range_location;
	locations[3].inlined_into_idx = whole.range_location + 3;
	locations[4].inlined_into_idx = SYMCACHE_NONE;
	locations[4].function_idx = whole.header->num_functions;
	assert_int_equal(symcache_only_names(&whole, &bytes, &size, &err), 0);
	assert_int_equal(symcache_open(&names, bytes, size, &err), 0);
	for (uint32_t i = 1; i < 5; i++) {
		const struct sc_str name = outer_at(&names, whole.ranges[i], &entry, &more);

		if (name.len || entry != SYMCACHE_NONE)
			fail_msg("%u: %.*s", i, (int)name.len, name.ptr);
	}
	free(bytes);
	indexed_deinit(&r);
}

/* Ranges that begin at one address: the same name could be at both of them. */
static void test_order(void **state)
{
	struct symcache whole;
	struct sc_error err;
	struct indexed r;
	uint32_t *ranges;
	size_t size;
	void *bytes;

	(void)state;
	must_index(PROGRAMS "inlines", &r);
	assert_int_equal(symcache_open(&whole, r.bytes, r.size, NULL), 0);
	ranges = (uint32_t *)whole.ranges;
	ranges[1] = ranges[0];
	assert_int_equal(symcache_only_names(&whole, &bytes, &size, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "the ranges are not in order");
	assert_null(bytes);
	indexed_deinit(&r);
}

/* Names as long as blocks of memory are. */
static void test_lengths(void **state)
{
	char text[1200];

	(void)state;
	for (size_t len = 8; len < sizeof(text); len += 8) {
		struct symcache whole, names;
		struct sc_error err;
		struct indexed r;
		struct dwarf w;
		uint32_t entry;
		void *bytes;
		size_t size;
		bool more;

		memset(text, 'x', len);
		text[len] = 0;
		begin(&w);
		good_unit(&w, text, 0x40);
		finish(&w, &r);
		assert_int_equal(symcache_open(&whole, r.bytes, r.size, NULL), 0);
		assert_int_equal(symcache_only_names(&whole, &bytes, &size, &err), 0);
		assert_int_equal(symcache_open(&names, bytes, size, &err), 0);
		assert_int_equal(outer_at(&names, 0x1040, &entry, &more).len, len);
		free(bytes);
		indexed_deinit(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs), cmocka_unit_test(test_sources),
		cmocka_unit_test(test_damaged), cmocka_unit_test(test_behind), cmocka_unit_test(test_order),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

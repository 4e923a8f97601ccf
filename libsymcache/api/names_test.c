/* Variables, and functions by their numbers: what a profiler or a debugger asks the library for. */
#include "libsymcache/api/testing.h"

#include <dlfcn.h>
#include <link.h>

extern uint32_t known_variable[3];
uint32_t known_variable[3] = { 1, 2, 3 };
enum { VARIABLE_LINE = __LINE__ - 1 };

/* The address in the file of one of this program. */
static uint64_t vaddr_of(const void *p)
{
	struct link_map *map;
	Dl_info info;

	assert_int_not_equal(dladdr1(p, &info, (void **)&map, RTLD_DL_LINKMAP), 0);
	return (uint64_t)(uintptr_t)p - map->l_addr;
}

static void finds_variables(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	const uint64_t start = vaddr_of(known_variable);
	struct symcache_variable v;

	(void)state;
	for (uint64_t inside = 0; inside < sizeof(known_variable); inside += 11) {
		ok(symcache_variable_at(r, c, start + inside, &v));
		assert_string_equal(v.name, "known_variable");
		assert_non_null(strstr(v.file, "libsymcache/api/names_test.c"));
		assert_int_equal(v.line, VARIABLE_LINE);
		assert_int_equal(v.vaddr, start);
		assert_int_equal(v.size, sizeof(known_variable));
		assert_int_equal(v.flags, 0);
	}
	if (!symcache_variable_at(r, c, start + sizeof(known_variable), &v))
		assert_string_not_equal(v.name, "known_variable");
	assert_int_equal(symcache_variable_at(r, c, address_of_known(r, c), &v), SYMCACHE_ENOTFOUND);
	assert_null(v.name);
	assert_int_equal(symcache_variable_at(r, c, UINT64_MAX, &v), SYMCACHE_ENOTFOUND);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

/* A function's number, as frames have it, gives its linkage name and where it begins. */
static void finds_functions(void **state)
{
	struct symcache_store *s = open_a(0);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s);
	const uint64_t start = vaddr_of((const void *)known_function);
	struct symcache_ids ids[8];
	const char *name;
	size_t len;

	(void)state;
	assert_int_equal(address_of_known(r, c), start);
	assert_int_equal(symcache_frame_ids(c, start, ids, 8), 1);
	name = symcache_linkage_name(c, ids[0].function, &len);
	assert_int_equal(len, strlen("known_function"));
	assert_memory_equal(name, "known_function", len);
	assert_int_equal(symcache_function_entry(c, ids[0].function), start);
	for (uint32_t none = UINT32_MAX; none > 1u << 29; none /= 2) {
		assert_null(symcache_linkage_name(c, none, &len));
		assert_int_equal(len, 0);
		assert_int_equal(symcache_function_entry(c, none), UINT64_MAX);
	}
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

/* NULL in place of a text is an error, not a crash. */
static void refuses_null(void **state)
{
	struct symcache_store *s = open_a(SYMCACHE_STORE_WRITE);
	struct symcache_resolver *r = resolver(0);
	struct symcache_cache *c = get(s), *made;
	const char *const none[] = { NULL };
	uint8_t of[SYMCACHE_ID_MAX];
	struct symcache_error err;
	int derived;
	size_t len;

	(void)state;
	assert_int_equal(symcache_addresses_of(r, c, NULL, NULL, 0), 0);
	assert_null(symcache_demangled(r, NULL));
	assert_int_equal(symcache_make(NULL, NULL, &made, &err), SYMCACHE_EINVAL);
	assert_null(made);
	assert_string_equal(err.msg, "NULL in place of a path");
	assert_int_equal(symcache_file_build_id(NULL, of, &len, &derived, NULL), SYMCACHE_EINVAL);
	ok(symcache_file_build_id("/proc/self/exe", of, &len, NULL, NULL)); /* one need not know */
	assert_int_equal(symcache_explain_address(NULL, NULL, 0, NULL, NULL, NULL), SYMCACHE_EINVAL);
	assert_int_equal(symcache_explain_address("/proc/self/exe", NULL, 0, NULL, NULL, NULL),
			 SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_index(s, none, 1, NULL, NULL, NULL), SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_export(s, NULL, NULL, NULL, NULL), SYMCACHE_EINVAL);
	assert_int_equal(symcache_store_import(s, NULL, NULL, NULL, NULL), SYMCACHE_EINVAL);
	symcache_cache_unref(c);
	symcache_store_close(s);
	symcache_resolver_destroy(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_variables), cmocka_unit_test(finds_functions),
		cmocka_unit_test(refuses_null),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* Local variables of split units: of each file its own, whatever was read in front of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/read/read.h"
#include "libsymcache/write/indexed_test.h"
#include "libsymcache/write/locals.h"

static int set_up(void **state)
{
	if (testing_set_up(state))
		return -1;
	/* Units that differ in nothing but a letter of each name. */
	return testing_run("cd %s && for i in 1 2 3 4; do "
			   "echo \"int f$i(int a$i) { volatile int b$i = a$i; return b$i; }\" >u$i.c && "
			   "gcc -c -O0 -fpic -gdwarf-5 -gsplit-dwarf u$i.c || exit 1; done && "
			   "gcc -shared -nostdlib -o x u1.o u2.o u3.o u4.o", testing_dir);
}

/* "f1 a1, f1 b1": the locals of an address, of the debug information. */
static void say_file(struct symcache_locals *locals, uint64_t vaddr, char *to, size_t size)
{
	const struct symcache_local *list;
	struct sc_error err;
	size_t n, len = 0;

	*to = '\0';
	assert_int_equal(symcache_locals_at(locals, vaddr, &list, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(to + len, size - len, "%s%.*s %.*s", i ? ", " : "",
					(int)list[i].function.len, list[i].function.ptr,
					(int)list[i].name.len, list[i].name.ptr);
}

/* The same of the cache. */
static void say_cache(const struct symcache *cache, uint64_t vaddr, char *to, size_t size)
{
	uint32_t first = 0;
	const uint32_t n = symcache_locals_of(cache, vaddr - symcache_load_base(cache), &first);
	struct symcache_local l;
	size_t len = 0;

	*to = '\0';
	for (uint32_t i = 0; i < n; i++) {
		assert_true(symcache_local(cache, first + i, &l));
		len += (size_t)snprintf(to + len, size - len, "%s%.*s %.*s", i ? ", " : "",
					(int)l.function.len, l.function.ptr, (int)l.name.len, l.name.ptr);
	}
}

/* Of all code, one function behind the other. */
static void assert_all(const char *path, struct symcache_locals *locals, const struct symcache *cache)
{
	char file[100], of[100], last[100] = "", all[400] = "";
	struct sc_error err;
	uint64_t text;

	assert_int_equal(symcache_elf_section(path, ".text", &text, &err), 0);
	for (uint64_t at = text; at < text + 0x80; at++) {
		say_file(locals, at, file, sizeof(file));
		say_cache(cache, at, of, sizeof(of));
		assert_string_equal(file, of);
		if (strcmp(file, last))
			snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s; ", file);
		strcpy(last, file);
	}
	assert_string_equal(all, "f1 a1, f1 b1; f2 a2, f2 b2; f3 a3, f3 b3; f4 a4, f4 b4; ; ");
}

static void test_names(void **state)
{
	const struct symcache_build_options options = { .locals = true };
	struct symcache_locals *locals;
	struct symcache cache;
	struct indexed r;
	char path[100];

	(void)state;
	snprintf(path, sizeof(path), "%s/x", testing_dir);
	index_file(path, &options, &r);
	assert_int_equal(r.rc, 0);
	assert_int_equal(symcache_open(&cache, r.bytes, r.size, &r.err), 0);
	assert_int_equal(symcache_locals_open(path, &options, &locals, &r.err), 0);
	assert_all(path, locals, &cache);
	symcache_locals_close(locals);
	indexed_deinit(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, set_up, testing_tear_down);
}

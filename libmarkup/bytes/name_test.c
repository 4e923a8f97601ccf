/* Short names of 2,080 functions of libstdc++, LLVM's runtimes, Rust (both manglings), Go and
 * D, and of some that are hard: testdata/names.tsv, a name and what is right in each line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

#include "libmarkup/bytes/name.h"
#include "libmarkup/cases_test.h"

/* The parts are the name, and one of them is kept. */
static void check_parts(const char *text, size_t len)
{
	char *name = malloc(len + !len); /* for sanitizers: nothing is read behind it */
	struct mk_name_part parts[MK_NAME_PARTS];
	const char *at = memcpy(name, text, len);
	const size_t n = mk_name_parts(name, len, parts);
	size_t kept = 0;

	assert_in_range(n, 1, MK_NAME_PARTS);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(parts[i].ptr, at);
		at += parts[i].len;
		kept += parts[i].kind == MK_NAME_KEPT;
	}
	assert_ptr_equal(at, name + len);
	assert_true(kept);
	free(name);
}

static void test_names(void **state)
{
	FILE *f = fopen("testdata/names.tsv", "re");
	char line[4096];
	size_t n = 0;

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const size_t len = strcspn(line, "\t");
		struct mk_out o = { 0 };

		line[strcspn(line, "\n")] = 0;
		mk_name_short(&o, line, len);
		mk_out_char(&o, 0);
		if (strcmp(o.buf, line + len + 1))
			print_error("%.*s\n", (int)len, line);
		assert_string_equal(o.buf, line + len + 1);
		mk_out_deinit(&o);
		/* Cut anywhere it still has parts. */
		for (size_t cut = 0; cut <= len; cut++)
			check_parts(line, cut);
		n++;
	}
	fclose(f);
	assert_in_range(n, 2000, 10000);
}

static void put_parts(struct fake_text *t, const char *name, size_t len)
{
	static const char kinds[] = {
		[MK_NAME_KEPT] = 'k', [MK_NAME_RETURNS] = 'r', [MK_NAME_ARGUMENTS] = 'a', [MK_NAME_PARAMETERS] = 'p',
	};
	struct mk_name_part parts[MK_NAME_PARTS];
	const size_t n = mk_name_parts(name, len, parts);

	for (size_t i = 0; i < n; i++) {
		fake_append(t, (const char[]){ ' ', kinds[parts[i].kind], '{' }, 3);
		fake_append(t, parts[i].ptr, parts[i].len);
		fake_append(t, "}", 1);
	}
	fake_append(t, "\n", 1);
}

/* FNV-1a */
static uint64_t hash_of(const struct fake_text *t)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < t->len; i++)
		hash = (hash ^ (unsigned char)t->buf[i]) * 0x100000001b3u;
	return hash;
}

/* Each part of every twentieth name, and a hash of those of the name cut anywhere, against what is
 * known to be right: testdata/markup/names.txt. */
static void test_parts(void **state)
{
	FILE *f = fopen("testdata/names.tsv", "re");
	struct fake_text got = { 0 }, cuts = { 0 };
	char line[4096], hex[20];

	(void)state;
	assert_non_null(f);
	for (size_t n = 0; fgets(line, sizeof(line), f); n++) {
		const size_t len = strcspn(line, "\t");

		if (n % 20)
			continue;
		cuts.len = 0;
		for (size_t cut = 0; cut <= len; cut++)
			put_parts(&cuts, line, cut);
		fake_append(&got, hex, (size_t)sprintf(hex, "%016llx", (unsigned long long)hash_of(&cuts)));
		put_parts(&got, line, len);
	}
	fclose(f);
	record("names.txt", &got);
	expect_recorded("names.txt", &got, "in parts");
	free(got.buf);
	free(cuts.buf);
}

/* More parts than there may be, and deeper brackets. */
static void test_large(void **state)
{
	struct mk_name_part parts[MK_NAME_PARTS];
	char *name = malloc(100000);

	(void)state;
	assert_non_null(name);
	for (size_t i = 0; i < 100000; i++)
		name[i] = "a<b>::"[i % 6];
	check_parts(name, 100000);
	assert_int_equal(mk_name_parts(name, 100000, parts), MK_NAME_PARTS - 3);
	for (size_t n = 1; n < MK_NAME_PARTS; n++) /* what is kept, arguments, …, the rest */
		assert_int_equal(mk_name_parts(name, n * 6, parts), n < 30 ? 2 * n + 1 : MK_NAME_PARTS - 3);
	memcpy(name, "returned ", 9);
	for (size_t n = 20; n < 40; n++) { /* with a type in front, and parameters behind them */
		for (size_t i = 0; i < 6 * n; i++)
			name[9 + i] = "a<b>::"[i % 6];
		memcpy(name + 9 + 6 * n, "f()", 3);
		check_parts(name, 9 + 6 * n + 3);
		assert_int_equal(mk_name_parts(name, 9 + 6 * n + 3, parts), n < 30 ? 2 * n + 3 : MK_NAME_PARTS - 2);
	}
	for (size_t depth = 250; depth < 260; depth++) {
		name[0] = 'f';
		memset(name + 1, '<', depth);
		memset(name + 1 + depth, '>', depth);
		assert_int_equal(mk_name_parts(name, 1 + 2 * depth, parts), depth > 256 ? 1 : 2);
	}
	memset(name, '<', 100000);
	check_parts(name, 2000);
	memset(name, '(', 100000);
	check_parts(name, 2000);
	free(name);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names), cmocka_unit_test(test_parts), cmocka_unit_test(test_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

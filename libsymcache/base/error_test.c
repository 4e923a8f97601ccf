/* Messages: what they say, with which code, and what is cut off of those that are too long; and what
 * counts as memory that was refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/account.h"
#include "libsymcache/base/error.h"
#include "libsymcache/base/text.h"

static void test_messages(void **state)
{
	struct sc_error err = { .code = 7 };

	(void)state;
	assert_int_equal(sc_error_set(&err, SC_EFORMAT, "unit %d", 5), SC_EFORMAT);
	assert_int_equal(err.code, SC_EFORMAT);
	assert_string_equal(err.msg, "unit 5");
	assert_int_equal(sc_error_prefix(&err, "%s: ", "file"), SC_EFORMAT);
	assert_string_equal(err.msg, "file: unit 5");
	assert_int_equal(err.code, SC_EFORMAT);
	assert_int_equal(sc_error_set(NULL, SC_EINVAL, "%d", 5), SC_EINVAL);
	assert_int_equal(sc_error_prefix(NULL, "x"), SC_EINVAL);
}

static void test_system(void **state)
{
	static const struct {
		int number, code;
	} cases[] = {
		{ ENOENT, SC_ESYS },  { ENOMEM, SC_ENOMEM }, { ENOSPC, SC_EFULL },
		{ EDQUOT, SC_EFULL }, { EIO, SC_ESYS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned long refusals = sc_memory_refusals();
		struct sc_error err;
		char want[100];

		snprintf(want, sizeof(want), "cannot open x: %s", strerror(cases[i].number));
		errno = cases[i].number;
		assert_int_equal(sc_error_sys(&err, "cannot open %s", "x"), cases[i].code);
		assert_int_equal(err.code, cases[i].code);
		assert_string_equal(err.msg, want);
		errno = cases[i].number;
		assert_int_equal(sc_error_sys(NULL, "x"), cases[i].code);
		assert_int_equal(sc_memory_refusals() - refusals,
				 cases[i].code == SC_ENOMEM ? 2 : 0);
	}
}

/* The end is cut off; what is put in front stays. */
static void test_long(void **state)
{
	char text[300];
	struct sc_error err;

	(void)state;
	memset(text, 'a', sizeof(text));
	text[299] = 0;
	sc_error_set(&err, SC_ESYS, "%s", text);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	sc_error_prefix(&err, "in front: ");
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_int_equal(strncmp(err.msg, "in front: aaa", 13), 0);
	sc_error_prefix(&err, "%s", text);
	assert_null(strchr(err.msg, 'i'));
	errno = ENOENT;
	sc_error_sys(&err, "%.250s", text);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
	assert_string_equal(err.msg + 250, ": No ");
}

static void test_behind(void **state)
{
	static const struct {
		const char *message, *path, *behind;
	} cases[] = {
		{ "/a: wrong", "/a", "wrong" },	{ "/a wrong", "/a", "/a wrong" },
		{ "/a:wrong", "/a", "/a:wrong" }, { "/ab: wrong", "/a", "/ab: wrong" },
		{ "wrong", "/a", "wrong" },	{ "/", "/a", "/" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_string_equal(sc_error_behind(cases[i].message, cases[i].path),
				    cases[i].behind);
}

/* What is beyond the limit of an account is no lack of memory. */
static void test_refusals(void **state)
{
	struct sc_account account = { .limit = 100 };
	const unsigned long before = sc_memory_refusals();
	struct sc_error err;

	(void)state;
	assert_int_equal(sc_no_memory(&err), SC_ENOMEM);
	assert_string_equal(err.msg, "out of memory");
	assert_int_equal(sc_memory_refusals() - before, 1);
	sc_account = &account;
	assert_true(sc_charge(60));
	assert_true(sc_charge(40));
	sc_memory_refused();
	assert_int_equal(sc_memory_refusals() - before, 2);
	assert_false(sc_charge(1));
	assert_int_equal(account.used, 100);
	sc_memory_refused();
	assert_int_equal(sc_memory_refusals() - before, 2);
	sc_discharge(40);
	assert_true(sc_charge(40));
	sc_account = NULL;
}

static void test_lists(void **state)
{
	static const char *const three[] = { "a", "", "ccc", NULL }, *const none[] = { NULL };
	char **copy = (char **)1, *text = sc_text("%s: %d", "x", 5);

	(void)state;
	assert_string_equal(text, "x: 5");
	free(text);
	assert_true(sc_text_list_copy(NULL, &copy));
	assert_null(copy);
	sc_text_list_free(copy);
	assert_true(sc_text_list_copy(none, &copy));
	assert_non_null(copy);
	assert_null(copy[0]);
	sc_text_list_free(copy);
	assert_true(sc_text_list_copy(three, &copy));
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(copy[i], three[i]);
		assert_ptr_not_equal(copy[i], three[i]);
	}
	assert_null(copy[3]);
	sc_text_list_free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_messages), cmocka_unit_test(test_system),
		cmocka_unit_test(test_long),	 cmocka_unit_test(test_behind),
		cmocka_unit_test(test_refusals), cmocka_unit_test(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

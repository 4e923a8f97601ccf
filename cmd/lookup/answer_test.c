/* Unit tests of the JSON style: valid UTF-8 out of any bytes, LLVM's layout. */
#include "cmd/lookup/answer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/testing.h"

/* What printing `a` writes to standard output. */
static const char *printed(const struct answer *a, bool pretty, bool list)
{
	static struct capture capture;
	struct json *json;

	capture_begin(&capture, stdout);
	json = style_json_begin(pretty, list);
	style_json_print(json, a);
	style_json_end(json);
	return capture_end(&capture);
}

static void test_utf8(void **state)
{
	/* As llvm-symbolizer-19 --output-style=JSON prints the same bytes. */
	static const char module[] = "a\xff\x01\\/\tb\x7f\xc3\xa9\xe2\x82\xf0\x9f\x98\x80"
				     "\xed\xa0\x80\xc0\x80";
	struct answer a = { .has_address = true, .address = 1 };

	(void)state;
	answer_begin(&a, module);
	a.has_address = true;
	a.error = "gone";
	assert_string_equal(printed(&a, false, false),
		"{\"Address\":\"0x1\",\"Error\":{\"Message\":\"gone\"},\"ModuleName\":\""
		"a\xef\xbf\xbd\\u0001\\\\/\\tb\x7f\xc3\xa9\xef\xbf\xbd\xf0\x9f\x98\x80"
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}\n");
	a.module = "\xe2\x82";
	assert_non_null(strstr(printed(&a, false, false), "\"\xef\xbf\xbd\""));
	a.module = "\xf4\x90\x80\x80";
	assert_non_null(strstr(printed(&a, false, false),
			       "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""));
	answer_deinit(&a);
}

static void test_layout(void **state)
{
	struct answer a = { .symbol = { NULL, 0 } };

	(void)state;
	answer_begin(&a, "m");
	a.symbol = (struct symcache_str){ "f", 1 };
	assert_string_equal(printed(&a, false, true),
			    "[{\"Loc\":[],\"ModuleName\":\"m\",\"SymName\":\"f\"}]\n");
	assert_string_equal(printed(&a, true, false),
			    "{\n  \"Loc\": [],\n  \"ModuleName\": \"m\",\n  \"SymName\": \"f\"\n}\n");
	answer_begin(&a, "m");
	assert_string_equal(printed(&a, false, false),
		"{\"ModuleName\":\"m\",\"Symbol\":[{\"Column\":0,\"Discriminator\":0,"
		"\"FileName\":\"\",\"FunctionName\":\"\",\"Line\":0,\"StartAddress\":\"\","
		"\"StartFileName\":\"\",\"StartLine\":0}]}\n");
	answer_begin(&a, "m");
	a.kind = QUERY_DATA;
	a.size = 10;
	assert_string_equal(printed(&a, false, false),
		"{\"Data\":{\"Name\":\"\",\"Size\":\"0xa\",\"Start\":\"0x0\"},"
		"\"ModuleName\":\"m\"}\n");
	answer_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Unit tests of the JSON style: valid UTF-8 out of any bytes, LLVM's layout. */
#include "libsymcache/answers/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

/* What an answer without places is as JSON; `why`: its fault, or NULL. */
static char *answered(const struct mk_request *r, const struct mk_worker *how, const char *why)
{
	struct mk_worker w = *how;
	char *ret;

	w.json.to = &w.out;
	if (w.list)
		mk_gen_open_array(&w.json, NULL);
	mk_json_form.begin(&w, r);
	if (why)
		mk_json_form.fault(&w, why);
	else if (r->query.kind == QUERY_DATA)
		mk_json_form.data(&w, &(struct symcache_shown_data){ .size = 10 });
	else
		mk_json_form.nothing(&w, r, true);
	mk_json_form.end(&w, r);
	mk_worker_finish(&w);
	ret = mk_out_take(&w.out);
	mk_worker_deinit(&w);
	return ret;
}

static void assert_json(const struct mk_request *r, const struct mk_worker *o, const char *why,
			const char *wanted)
{
	char *text = answered(r, o, why);

	assert_string_equal(text, wanted);
	free(text);
}

static void assert_contains(const char *module, const char *wanted)
{
	const struct symcache_answerer d = { .shown = (char *)module };
	const struct mk_worker o = { .answerer = &d };
	const struct mk_request r = { .line = "1" };
	char *text = answered(&r, &o, NULL);

	assert_non_null(strstr(text, wanted));
	free(text);
}

static void test_utf8(void **state)
{
	/* As llvm-symbolizer-19 --output-style=JSON prints the same bytes, but for DEL, which does not
	 * reach a terminal. */
	static const char module[] = "a\xff\x01\\/\tb\x7f\xc3\xa9\xe2\x82\xf0\x9f\x98\x80"
				     "\xed\xa0\x80\xc0\x80";
	const struct symcache_answerer d = { .shown = (char *)module };
	const struct mk_worker o = { .answerer = &d };
	const struct mk_request r = { .line = "1", .query = { .offset = 1 } };

	(void)state;
	assert_json(&r, &o, "gone",
		"{\"Address\":\"0x1\",\"Error\":{\"Message\":\"gone\"},\"ModuleName\":\""
		"a\xef\xbf\xbd\\u0001\\\\/\\tb\\u007F\xc3\xa9\xef\xbf\xbd\xf0\x9f\x98\x80"
		"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"}\n");
	assert_contains("\xe2\x82", "\"\xef\xbf\xbd\"");
	assert_contains("\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
	assert_contains("12345678\"87654321\\1234567\n", "12345678\\\"87654321\\\\1234567\\n");
	assert_contains("\x1f" "234567 8", "\\u001F234567 8");
}

static void test_layout(void **state)
{
	const struct symcache_answerer d = { .shown = (char[]){ "m" } };
	const struct mk_worker list = { .answerer = &d, .list = true },
		pretty = { .answerer = &d, .json.pretty = true },
		plain = { .answerer = &d };
	const struct mk_request symbol = { .line = "f", .query = { .symbol = { "f", 1 } } },
		wrong = { .line = "x", .wrong = "so" },
		data = { .line = "1", .query = { .kind = QUERY_DATA, .offset = 1 } };

	(void)state;
	assert_json(&symbol, &list, NULL,
		    "[{\"Loc\":[],\"ModuleName\":\"m\",\"SymName\":\"f\"}]\n");
	assert_json(&symbol, &pretty, NULL,
		    "{\n  \"Loc\": [],\n  \"ModuleName\": \"m\",\n  \"SymName\": \"f\"\n}\n");
	assert_json(&wrong, &plain, NULL,
		"{\"ModuleName\":\"m\",\"Symbol\":[{\"Column\":0,\"Discriminator\":0,"
		"\"FileName\":\"\",\"FunctionName\":\"\",\"Line\":0,\"StartAddress\":\"\","
		"\"StartFileName\":\"\",\"StartLine\":0}]}\n");
	assert_json(&data, &plain, NULL,
		"{\"Address\":\"0x1\",\"Data\":{\"Name\":\"\",\"Size\":\"0xa\",\"Start\":\"0x0\"},"
		"\"ModuleName\":\"m\"}\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8),
		cmocka_unit_test(test_layout),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

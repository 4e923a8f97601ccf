/* Lines and their answers, in each form, from a small cache: tiny_test.h, with load base 0x400000.
 * What comes is one text: answers, and [messages] in front of them. */
#include <unistd.h>

#include "libmarkup/bytes/out.h"
#include "libsymcache/answers/answers.h"
#include "libsymcache/read/tiny_test.h"

static void answer(void *ctx, const char *text, size_t len)
{
	mk_out_put(ctx, text, len);
}

static void message(void *ctx, const char *text, size_t len)
{
	mk_put(ctx, "[", ((struct sc_str){ text, len }), "]");
}

static char cache_file[] = "/tmp/symcache-answers-XXXXXX";

static int set_up(void **state)
{
	struct tiny t = tiny_example_ext(9);
	const uint32_t table = t.data[0].name, field = t.data[1].name;

	(void)state;
	t.num_local_ranges = 1;
	t.local_ranges[0] = (struct symcache_ext_local_range){ 0x10, 0, 3 };
	t.num_local_order = t.num_locals = 3;
	t.local_order[1] = 1;
	t.local_order[2] = 2;
	t.locals[0] = (struct symcache_ext_local){ SYMCACHE_NONE, field, SYMCACHE_NONE, 0, -8, 0, 0, SYMCACHE_LOCAL_OFFSET };
	t.locals[1] = (struct symcache_ext_local){ table, table, 1, 7, 8, 400, 128, 7 };
	t.locals[2] = (struct symcache_ext_local){ table, field, SYMCACHE_NONE, 0, 0, 0, 0, SYMCACHE_LOCAL_OFFSET };
	t.num_discriminators = 7;
	t.discriminators[4] = 3; /* main:12 */
	t.num_symbols = 2;
	t.symbols[0] = (struct symcache_ext_symbol){ 0x10, 0x20, t.functions[0].name, SYMCACHE_NONE };
	t.symbols[1] = (struct symcache_ext_symbol){ 0x40, 0x10, t.functions[3].name, SYMCACHE_NONE };
	t.num_aliases = 1;
	t.aliases[0] = (struct symcache_ext_alias){ 0x40, tiny_string(&t, "bare") };
	return !tiny_file(&t, cache_file);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(cache_file);
}

static struct symcache_answerer *begin(struct symcache_answer_options o, struct mk_out *out,
				       struct symcache_caches **caches)
{
	struct symcache_answerer *a;

	*caches = symcache_caches_create(&(struct symcache_caches_options){ 0 });
	o.kind = SYMCACHE_MODULE_CACHE;
	o.name = cache_file;
	o.tool = "t";
	o.ctx = out;
	o.out = answer;
	o.messages = message;
	assert_int_equal(symcache_answerer_create(&o, *caches, &a, NULL), 0);
	return a;
}

static void end(struct symcache_answerer *a, struct symcache_caches *caches, struct mk_out *out, const char *want)
{
	char *text = mk_out_take(out);

	assert_string_equal(text ? text : "", want);
	free(text);
	symcache_answerer_destroy(a);
	symcache_caches_destroy(caches);
}

static void expect(struct symcache_answer_options o, const char *asked, int status, const char *want)
{
	struct mk_out out = { 0 };
	struct symcache_caches *caches;
	struct symcache_answerer *a = begin(o, &out, &caches);
	char line[100];

	strcpy(line, asked);
	if (symcache_answerer_lines(a, (char *[]){ line }, 1, NULL) != status)
		fail_msg("%s: the status is not %d", asked, status);
	end(a, caches, &out, want);
}

/* The same, in which '$' is the module. */
static void expect_of_module(struct symcache_answer_options o, const char *asked, int status, const char *want)
{
	const char *module = strchr(want, '$');
	struct mk_out out = { 0 };
	char *text;

	if (module)
		mk_put(&out, sc_span(want, module), cache_file, module + 1);
	else
		mk_put(&out, want);
	text = mk_out_take(&out);
	expect(o, asked, status, text);
	free(text);
}

#define LLVM .functions = MARKUP_FUNCTIONS_LINKAGE, .inlines = true, .demangle = true
#define GNU .style = MARKUP_STYLE_GNU, .functions = MARKUP_FUNCTIONS_LINKAGE
#define JSON .style = MARKUP_STYLE_JSON, .functions = MARKUP_FUNCTIONS_LINKAGE, .demangle = true

static void test_code(void **state)
{
	static const struct {
		struct symcache_answer_options o;
		const char *line, *want;
	} cases[] = {
		{ { LLVM }, "0x400024",
		  "leaf\n/src/../inc/leaf.h:3:9\na::middle()\n/src/../inc/leaf.h:7:5\nmain\n/src/main.c:11:4\n\n" },
		{ { LLVM, .relative_address = true }, "0x28", "main\n/src/main.c:12:2\n\n" },
		{ { LLVM, .adjust_vma = 0x1000 }, "0x401028", "main\n/src/main.c:12:2\n\n" },
		{ { LLVM, .basenames = true }, "0x400010", "main\nmain.c:10:1\n\n" },
		{ { LLVM, .addresses = true }, "0x400010", "0x400010\nmain\n/src/main.c:10:1\n\n" },
		{ { LLVM, .addresses = true, .pretty = true }, "0x400010", "0x400010: main at /src/main.c:10:1\n\n" },
		{ { LLVM, .pretty = true }, "0x400020",
		  "leaf at /src/../inc/leaf.h:3:9\n (inlined by) a::middle() at /src/../inc/leaf.h:7:5\n"
		  " (inlined by) main at /src/main.c:11:4\n\n" },
		{ { LLVM, .color = true }, "0x400010", "\x1b[0;32mmain\x1b[0m\n/src/main.c:10:1\n\n" },
		{ { LLVM, .verbose = true }, "0x400028",
		  "main\n  Filename: /src/main.c\n  Function start filename: /src/main.c\n"
		  "  Function start line: 9\n  Function start address: 0x400010\n"
		  "  Line: 12\n  Column: 2\n  Discriminator: 3\n\n" },
		{ { .functions = MARKUP_FUNCTIONS_LINKAGE }, "0x400020", "main\n/src/../inc/leaf.h:3:9\n\n" },
		{ { .functions = MARKUP_FUNCTIONS_NONE }, "0x400010", "/src/main.c:10:1\n\n" },
		{ { LLVM, .also = true }, "0x400041", "naked\n??:0:0\n  also: bare\n\n" },
		{ { LLVM }, "0x400041", "naked\n??:0:0\n\n" },
		{ { GNU }, "0x400028", "main\n/src/main.c:12 (discriminator 3)\n" },
		{ { GNU, .inlines = true }, "0x400020",
		  "leaf\n/src/../inc/leaf.h:3\n_ZN1a6middleEv\n/src/../inc/leaf.h:7\nmain\n/src/main.c:11\n" },
		{ { GNU, .protocol = MARKUP_PROTOCOL_BINUTILS, .addresses = true }, "400010",
		  "0x0000000000400010\nmain\n/src/main.c:10\n" },
		{ { GNU, .protocol = MARKUP_PROTOCOL_BINUTILS, .addresses = true, .narrow = true, .pretty = true }, "400010",
		  "0x00400010: main at /src/main.c:10\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(cases[i].o, cases[i].line, 0, cases[i].want);
}

/* What is not there: an answer all the same, and with our protocol status 1 and a reason. */
static void test_nothing(void **state)
{
	static const struct {
		struct symcache_answer_options o;
		const char *line, *want;
	} cases[] = {
		{ { LLVM }, "0x400030", "??\n??:0:0\n\n" },
		{ { LLVM, .verbose = true }, "0x400030", "??\n  Filename: ??\n  Line: 0\n  Column: 0\n\n" },
		{ { LLVM }, "12x", "[t: '12x': expected a number as module offset (hexadecimal: 0x...)\n]??\n??:0:0\n\n" },
		{ { LLVM }, "FILE:a 1", "[t: 'FILE:a 1': input file has already been specified\n]??\n??:0:0\n\n" },
		{ { LLVM }, "main+0x10/0x31", "[t: main+0x10/0x31: another build: main has 0x20 bytes here\n]??\n??:0:0\n\n" },
		{ { LLVM }, "main+0x10/0x1f", "[t: main+0x10/0x1f: another build: main has 0x20 bytes here\n]??\n??:0:0\n\n" },
		{ { LLVM }, "main+0x21/0x30", "[t: main+0x21/0x30: another build: main has 0x20 bytes here\n]??\n??:0:0\n\n" },
		{ { LLVM }, "nowhere", "??\n??:0:0\n\n" },
		{ { LLVM }, "DATA 0x40000f", "??\n0 0\n??:?\n\n" },
		{ { LLVM }, "DATA main", "??\n0 0\n??:?\n\n" },
		{ { LLVM }, "FRAME 0x400000", "??\n\n" },
		{ { LLVM, .explain = true }, "DATA 0x401000", "[t: --explain is for addresses of code\n]??\n0 0\n??:?\n\n" },
		{ { LLVM, .explain = true }, "nowhere", "[t: nowhere: not one function's name\n]" },
		{ { GNU, .protocol = MARKUP_PROTOCOL_BINUTILS }, "400030", "??\n??:0\n" },
		{ { GNU, .protocol = MARKUP_PROTOCOL_BINUTILS, .pretty = true }, "400030", "?? ??:0\n" },
		{ { JSON }, "0x400030",
		  "[{\"Address\":\"0x400030\",\"ModuleName\":\"$\",\"Symbol\":[{\"Column\":0,\"Discriminator\":0,"
		  "\"FileName\":\"\",\"FunctionName\":\"\",\"Line\":0,\"StartAddress\":\"\",\"StartFileName\":\"\","
		  "\"StartLine\":0}]}]\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect_of_module(cases[i].o, cases[i].line, cases[i].o.protocol == MARKUP_PROTOCOL_LOOKUP, cases[i].want);
}

static void test_symbols_and_data(void **state)
{
	static const struct {
		struct symcache_answer_options o;
		const char *line, *want;
	} cases[] = {
		{ { LLVM }, "main", "main\n/src/main.c:10:1\n\n" },
		{ { LLVM }, "main+0x18", "main\n/src/main.c:12:2\n\n" },
		{ { LLVM }, "main+0x18/0x20", "main\n/src/main.c:12:2\n\n" },
		{ { LLVM }, "main+0x18/0x30", "main\n/src/main.c:12:2\n\n" },
		{ { LLVM }, "main+24", "main\n/src/main.c:12:2\n\n" },
		{ { LLVM }, "DATA 0x401000", "table\n4198400 256\n/src/main.c:20\n\n" },
		{ { LLVM }, "DATA 0x401011", "field\n4198416 4\n/src/../inc/leaf.h:21\n\n" },
		{ { LLVM }, "FRAME 0x400012",
		  "??\nfield\n??:0\n-8 ?? ??\ntable\ntable\n/src/../inc/leaf.h:7\n8 400 128\n"
		  "table\nfield\n??:0\n0 ?? ??\n\n" },
		/* LLVM wants a place for a symbol. */
		{ { LLVM, .protocol = MARKUP_PROTOCOL_LLVM }, "main", "main\n/src/main.c:10:1\n\n" },
		{ { LLVM, .protocol = MARKUP_PROTOCOL_LLVM }, "naked", "??\n??:0:0\n\n" },
		{ { LLVM }, "naked", "naked\n??:0:0\n\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		expect(cases[i].o, cases[i].line, 0, cases[i].want);
}

/* Local variables as JSON, with what is known of each. */
static void test_locals(void **state)
{
	(void)state;
	expect_of_module((struct symcache_answer_options){ JSON }, "FRAME 0x400012", 0,
		"[{\"Address\":\"0x400012\",\"Frame\":[{\"DeclFile\":\"\",\"DeclLine\":0,\"FrameOffset\":-8,\"FunctionName\":\"\",\"Name\":\"field\",\"Size\":\"\",\"TagOffset\":\"\"},"
		"{\"DeclFile\":\"/src/../inc/leaf.h\",\"DeclLine\":7,\"FrameOffset\":8,\"FunctionName\":\"table\",\"Name\":\"table\",\"Size\":\"0x190\",\"TagOffset\":\"0x80\"},"
		"{\"DeclFile\":\"\",\"DeclLine\":0,\"FrameOffset\":0,\"FunctionName\":\"table\",\"Name\":\"field\",\"Size\":\"\",\"TagOffset\":\"\"}],\"ModuleName\":\"$\"}]\n");
	expect_of_module((struct symcache_answer_options){ JSON }, "FRAME 0x400000", 1,
		"[{\"Address\":\"0x400000\",\"Frame\":[],\"ModuleName\":\"$\"}]\n");
}

/* What a module lacks is said where a place is unknown, once for those in a row. */
static void test_lacking(void **state)
{
	static const struct { const char *lines[3]; const char *wants; } cases[] = {
		{ { "0x400010", "0x400010", "0x400010" },
		  "main\n/src/main.c:10:1\n\nmain\n/src/main.c:10:1\n\nmain\n/src/main.c:10:1\n\n" },
		{ { "0x400010", "0x400030", "0x400031" },
		  "[t: $: no debug information (symbols: symbol table): index its debug file, too\n]main\n/src/main.c:10:1\n\n??\n??:0:0\n\n??\n??:0:0\n\n" },
		{ { "0x400010", "0x400040", "0x400041" },
		  "[t: $: no debug information (symbols: symbol table): index its debug file, too\n]main\n/src/main.c:10:1\n\nnaked\n??:0:0\n\nnaked\n??:0:0\n\n" },
	};
	char one[] = "/tmp/symcache-answers-XXXXXX", usual[sizeof(cache_file)];
	struct tiny t = tiny_example_ext(9);

	(void)state;
	t.image.sources = SYMCACHE_FROM_SYMTAB;
	t.num_symbols = 1;
	t.symbols[0] = (struct symcache_ext_symbol){ 0x40, 0x10, t.functions[3].name, SYMCACHE_NONE };
	assert_true(tiny_file(&t, one));
	memcpy(usual, cache_file, sizeof(usual));
	memcpy(cache_file, one, sizeof(one));
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_out out = { 0 };
		struct symcache_caches *caches;
		struct symcache_answerer *a = begin((struct symcache_answer_options){ LLVM, .reasons = true }, &out, &caches);
		char lines[3][20], *text;

		for (int k = 0; k < 3; k++)
			strcpy(lines[k], cases[i].lines[k]);
		symcache_answerer_lines(a, (char *[]){ lines[0], lines[1], lines[2] }, 3, NULL);
		text = mk_out_take(&out);
		for (char *at; (at = strstr(text, one)); *at = '$')
			memmove(at + 1, at + strlen(one), strlen(at + strlen(one)) + 1);
		assert_string_equal(text, cases[i].wants);
		free(text);
		symcache_answerer_destroy(a);
		symcache_caches_destroy(caches);
	}
	memcpy(cache_file, usual, sizeof(usual));
	unlink(one);
}

/* A symbol that there is twice has two answers. */
static void test_twice(void **state)
{
	static const struct { struct symcache_answer_options o; const char *want; } cases[] = {
		{ { LLVM }, "naked\n??:0:0\n\nnaked\n/src/main.c:12:2\n\n" },
		{ { GNU }, "naked\n??:0\nnaked\n/src/main.c:12 (discriminator 3)\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char one[] = "/tmp/symcache-answers-XXXXXX", *const usual = strdup(cache_file);
		struct tiny t = tiny_example_ext(9);

		t.num_symbols = 2;
		t.symbols[0] = (struct symcache_ext_symbol){ 0x28, 8, t.functions[3].name, SYMCACHE_NONE };
		t.symbols[1] = (struct symcache_ext_symbol){ 0x40, 0x10, t.functions[3].name, SYMCACHE_NONE };
		t.num_discriminators = 7;
		t.discriminators[4] = 3;
		assert_true(tiny_file(&t, one));
		strcpy(cache_file, one);
		expect(cases[i].o, "naked", 0, cases[i].want);
		strcpy(cache_file, usual);
		free(usual);
		unlink(one);
	}
}

/* ---- names and lines → addresses -------------------------------------------------------------- */

static void test_find(void **state)
{
	static const struct {
		struct symcache_answer_options o;
		enum symcache_answer_find what;
		const char *text;
		int rc;
		const char *want;
	} cases[] = {
		{ { LLVM }, SYMCACHE_FIND_NAME, "main", 0, "0x400010 32 main at /src/main.c:9\n" },
		{ { LLVM }, SYMCACHE_FIND_NAME, "n*d", 0, "0x400040 16 naked\n" },
		{ { LLVM }, SYMCACHE_FIND_NAME, "t?ble", 0, "0x401000 256 table at /src/main.c:20\n" },
		{ { LLVM }, SYMCACHE_FIND_NAME, "nowhere", SC_ENOTFOUND, "" },
		{ { LLVM }, SYMCACHE_FIND_NAME, "n*where", SC_ENOTFOUND, "" },
		{ { LLVM }, SYMCACHE_FIND_LINE, "main.c:12", 0, "0x400028-0x400030\nmain\n/src/main.c:12:2\n\n" },
		{ { LLVM, .pretty = true }, SYMCACHE_FIND_LINE, "leaf.h:7", 0,
		  "0x400020-0x400028: a::middle() at /src/../inc/leaf.h:7:5\n (inlined by) main at /src/main.c:11:4\n\n" },
		{ { .functions = MARKUP_FUNCTIONS_LINKAGE }, SYMCACHE_FIND_LINE, "leaf.h:7", 0,
		  "0x400020-0x400028\n_ZN1a6middleEv\n/src/../inc/leaf.h:7:5\n\n" },
		{ { LLVM }, SYMCACHE_FIND_LINE, "main.c:99", SC_ENOTFOUND, "" },
		{ { LLVM }, SYMCACHE_FIND_LINE, "main.c", SC_EINVAL, "" },
		{ { JSON }, SYMCACHE_FIND_NAME, "naked", 0,
		  "[{\"Address\":\"0x400040\",\"FileName\":\"\",\"Kind\":\"code\",\"Line\":0,"
		  "\"LinkageName\":\"naked\",\"Name\":\"naked\",\"Size\":16}]\n" },
		{ { JSON }, SYMCACHE_FIND_NAME, "field", 0,
		  "[{\"Address\":\"0x401010\",\"FileName\":\"/src/../inc/leaf.h\",\"Kind\":\"data\",\"Line\":21,"
		  "\"LinkageName\":\"field\",\"Name\":\"field\",\"Size\":4},"
		  "{\"Address\":\"0x402000\",\"FileName\":\"\",\"Kind\":\"data\",\"Line\":0,"
		  "\"LinkageName\":\"field\",\"Name\":\"field\",\"Size\":0}]\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_out out = { 0 };
		struct symcache_caches *caches;
		struct symcache_answerer *a = begin(cases[i].o, &out, &caches);
		bool reported;

		assert_int_equal(symcache_answerer_check(a, &reported, NULL), 0);
		assert_int_equal(symcache_answerer_find(a, cases[i].what, cases[i].text, NULL), cases[i].rc);
		end(a, caches, &out, cases[i].want);
	}
}

/* ---- why ---------------------------------------------------------------------------------------- */

static void test_explain(void **state)
{
	static const struct {
		const char *line, *want;
	} cases[] = {
		{ "0x400021", "range      0x400020..0x400028, number 1 of 5\n"
			      "location   3: /src/../inc/leaf.h:3:9 in leaf\n"
			      "inlined at 1: /src/../inc/leaf.h:7:5 in a::middle()\n"
			      "inlined at 0: /src/main.c:11:4 in main\n" },
		{ "0x400031", "range      0x400030..0x400040, number 3 of 5: a gap: no function has this code\n" },
		{ "0x400041", "range      0x400040.., number 4 of 5\nlocation   6: ??:0 in naked\n" },
		{ "0x40000f", "range      none: the cache's first one begins after the address\n" },
		{ "main+0x19", "address    0x400029 in " },
		{ "0x400021", ", load base 0x400000\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_out out = { 0 };
		struct symcache_caches *caches;
		struct symcache_answerer *a = begin((struct symcache_answer_options){ LLVM, .explain = true }, &out, &caches);
		char line[100], *text;

		strcpy(line, cases[i].line);
		symcache_answerer_lines(a, (char *[]){ line }, 1, NULL);
		mk_out_char(&out, '\0');
		if (!strstr(out.buf, cases[i].want))
			fail_msg("%s: not in it: %s\n%s", line, cases[i].want, out.buf);
		text = strdup(out.buf);
		out.len--;
		end(a, caches, &out, text);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code), cmocka_unit_test(test_nothing), cmocka_unit_test(test_locals), cmocka_unit_test(test_lacking),
		cmocka_unit_test(test_symbols_and_data), cmocka_unit_test(test_twice), cmocka_unit_test(test_find), cmocka_unit_test(test_explain),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

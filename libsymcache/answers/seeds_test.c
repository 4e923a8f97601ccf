/*
 * What is answered to lines of all kinds, in each form and by each option, out of a small cache: answers,
 * [messages] and the status of each line.
 */
#include "libsymcache/read/tiny_names_test.h"

#include "libmarkup/bytes/out.h"
#include "libsymcache/answers/answers.h"
#include "libsymcache/base/seeds_test.h"

static const char *const lines[] = {
	"0x400010", "0x400024", "0x400030", "0x400040", "0x400055", "0x400059", "0x400060", "0x40006a", "0x400072", "0x400078",
	"0x400000", "0x3fffff", "0xffffffffffffffff", "4194320", "400010", "0x10", "-1", "0x400010 more", "CODE 0x400055",
	"DATA 0x401012", "DATA 0x401008", "DATA 0x400010", "DATA 0x402000", "FRAME 0x400010", "FRAME 0x400030", "CODE", "DATA x",
	"main", "main+0x14", "main+20", "_ZN1a4workEv", "_ZN1a4workEv+6", "a::work()", "leaf", "entry", "table", "none", "none+1",
	"main+0x14/0x20", "main+0x14/0x10", "CODE main", "DATA table+4", "", " 0x400010 ", "\"0x400010\"", "text with blanks",
	"FILE:x 0x400010", "BUILDID:aabb 0x400010", "0x400010,0x400024", "0x", "+1", "\x1b[31m",
};

static const char *const finds[] = { "main", "leaf", "a::work", "work.cc:30", "leaf.h:3", "main.c:99", "none", "*", ":1", "" };

#define ALL .functions = MARKUP_FUNCTIONS_LINKAGE, .demangle = true, .inlines = true
#define GNU .style = MARKUP_STYLE_GNU, ALL
#define JSON .style = MARKUP_STYLE_JSON, ALL
#define BINUTILS .protocol = MARKUP_PROTOCOL_BINUTILS, GNU, .hex = true

static const struct { const char *name; struct symcache_answer_options o; } ways[] = {
	{ "lookup", { ALL, .reasons = true, .also = true } },
	{ "lookup, one frame", { .functions = MARKUP_FUNCTIONS_LINKAGE, .addresses = true } },
	{ "lookup, short", { .functions = MARKUP_FUNCTIONS_SHORT, .demangle = true, .basenames = true, .pretty = true, .inlines = true } },
	{ "lookup, verbose", { ALL, .verbose = true, .relative_names = true } },
	{ "lookup, colours", { ALL, .color = true, .pretty = true, .addresses = true } },
	{ "lookup, raw", { ALL, .raw = true, .relative_address = true } },
	{ "lookup, explained", { ALL, .explain = true } },
	{ "lookup, json", { JSON, .also = true, .reasons = true } },
	{ "lookup, json, pretty", { JSON, .pretty = true, .relative_names = true } },
	{ "lookup, json, explained", { JSON, .explain = true } },
	{ "llvm", { ALL, .protocol = MARKUP_PROTOCOL_LLVM } },
	{ "llvm, gnu", { GNU, .protocol = MARKUP_PROTOCOL_LLVM, .hex = true, .adjust_vma = 0x1000 } },
	{ "llvm, json", { JSON, .protocol = MARKUP_PROTOCOL_LLVM } },
	{ "llvm, verbose", { ALL, .protocol = MARKUP_PROTOCOL_LLVM, .verbose = true, .addresses = true } },
	{ "addr2line", { BINUTILS } },
	{ "addr2line, pretty", { BINUTILS, .pretty = true, .addresses = true, .narrow = true } },
	{ "addr2line, no functions", { .protocol = MARKUP_PROTOCOL_BINUTILS, .style = MARKUP_STYLE_GNU, .hex = true,
				       .basenames = true, .addresses = true } },
};

static void answer(void *ctx, const char *text, size_t len)
{
	mk_out_put(ctx, text, len);
}

static void message(void *ctx, const char *text, size_t len)
{
	mk_put(ctx, "[", ((struct sc_str){ text, len }), "]");
}

/* A line, its status, and all that comes, without the empty line behind it. */
static void put_one(FILE *to, const char *asked, int status, struct mk_out *out)
{
	char *text = mk_out_take(out);
	size_t len = text ? strlen(text) : 0;

	while (len && text[len - 1] == '\n')
		len--;
	fprintf(to, "%s -> %d %.*s\n", asked, status, (int)len, text ? text : "");
	free(text);
}

static void put_way(FILE *to, const char *path, struct symcache_answer_options o)
{
	struct mk_out out = { 0 };
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_answerer *a;

	o.kind = SYMCACHE_MODULE_CACHE;
	o.name = path;
	o.tool = "t";
	o.ctx = &out;
	o.out = answer;
	o.messages = message;
	assert_int_equal(symcache_answerer_create(&o, caches, &a, NULL), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		char *line = strdup(lines[i]);
		const int status = symcache_answerer_lines(a, &line, 1, NULL);

		put_one(to, lines[i], status, &out);
		free(line);
	}
	for (size_t i = 0; i < sizeof(finds) / sizeof(*finds) && o.protocol == MARKUP_PROTOCOL_LOOKUP; i++)
		for (int what = SYMCACHE_FIND_NAME; what <= SYMCACHE_FIND_LINE; what++) {
			const int status = symcache_answerer_find(a, (enum symcache_answer_find)what, finds[i], NULL);

			put_one(to, finds[i], status, &out);
		}
	symcache_answerer_destroy(a);
	symcache_caches_destroy(caches);
}

static void test_answers(void **state)
{
	struct tiny t = tiny_example_names(9);
	char path[] = "/tmp/symcache-answers-XXXXXX", *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	assert_true(tiny_file(&t, path));
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		fprintf(to, "== %s\n", ways[i].name);
		put_way(to, path, ways[i].o);
	}
	fclose(to);
	unlink(path);
	for (char *at; (at = strstr(got, path));) /* of this run alone */
		memmove(at, at + strlen(path), strlen(at + strlen(path)) + 1);
	expect_recorded("answers", got, strlen(got));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

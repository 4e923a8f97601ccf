/* Unit tests of symcache_answerer: what goes to which function, and when. */
#include "libsymcache/answers/answers.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "libmarkup/bytes/out.h"
#include "libsymcache/answers/parts.h"
#include "libsymcache/base/testing.h"

struct heard {
	struct mk_out text; /* of all functions, in their order */
	int reply;          /* to where another line goes while it waits; -1: none */
	unsigned waits;
};

static void answer(void *ctx, const char *text, size_t len)
{
	mk_out_put(&((struct heard *)ctx)->text, text, len);
}

static void message(void *ctx, const char *text, size_t len)
{
	mk_put(&((struct heard *)ctx)->text, "[", ((struct sc_str){ text, len }), "]");
}

static void complain(void *ctx, const char *text)
{
	mk_put(&((struct heard *)ctx)->text, "<", text, ">");
}

/* Another line comes after the answer to the first one is out, and the end. */
static void wait(void *ctx)
{
	struct heard *h = ctx;

	mk_out_char(&h->text, '|');
	if (h->waits++ != 1 || h->reply < 0)
		return;
	assert_int_equal(write(h->reply, "DATA 3\n", 7), 7);
	close(h->reply);
}

static struct symcache_answerer *begin(struct symcache_answer_options o, struct heard *h,
				     struct symcache_caches **caches)
{
	struct symcache_answerer *d;

	*caches = symcache_caches_create(&(struct symcache_caches_options){ 0 });
	o.tool = "t";
	o.ctx = h;
	o.out = answer;
	o.messages = message;
	o.complain = complain;
	o.wait = wait;
	assert_int_equal(symcache_answerer_create(&o, *caches, &d, NULL), 0);
	return d;
}

static void end(struct symcache_answerer *d, struct symcache_caches *caches, struct heard *h,
		const char *wanted)
{
	char *text = mk_out_take(&h->text);

	assert_string_equal(text, wanted);
	free(text);
	symcache_answerer_destroy(d);
	symcache_caches_destroy(caches);
}

static void test_list(void **state)
{
	char first[] = "nowhere.so 0x1", second[] = "nowhere.so";
	struct heard h = { .reply = -1 };
	struct symcache_caches *caches;
	struct symcache_answerer *d = begin((struct symcache_answer_options){
		.protocol = MARKUP_PROTOCOL_LLVM, .style = MARKUP_STYLE_JSON }, &h, &caches);

	(void)state;
	assert_int_equal(symcache_answerer_lines(d, (char *[]){ first, second }, 2, NULL), 0);
	end(d, caches, &h,
	    "[t: error: 'nowhere.so': no module offset has been specified\n]"
	    "[{\"Address\":\"0x1\",\"Error\":{\"Message\":\"No such file or directory\"},"
	    "\"ModuleName\":\"nowhere.so\"},{\"ModuleName\":\"nowhere.so\",\"Symbol\":[{\"Column\":0,"
	    "\"Discriminator\":0,\"FileName\":\"\",\"FunctionName\":\"\",\"Line\":0,"
	    "\"StartAddress\":\"\",\"StartFileName\":\"\",\"StartLine\":0}]}]\n");
	symcache_answerer_destroy(NULL);
}

static void test_read(void **state)
{
	char line[70000];
	struct heard h = { .reply = -1 };
	struct symcache_caches *caches;
	struct symcache_answerer *d = begin((struct symcache_answer_options){
		.kind = SYMCACHE_MODULE_CACHE, .name = "nowhere.symc" }, &h, &caches);
	bool reported;
	int fds[2];

	(void)state;
	assert_int_equal(symcache_answerer_check(d, &reported, NULL), SC_ESYS);
	assert_false(reported);
	assert_int_equal(pipe(fds), 0);
	h.reply = fds[1];
	assert_int_equal(write(fds[1], "\n", 1), 1);
	assert_int_equal(symcache_answerer_read(d, fds[0], NULL), 1);
	close(fds[0]);

	/* A line that is too long, and one that is not. */
	h.reply = -1;
	memset(line, '1', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	FILE *file = tmpfile();
	fwrite(line, 1, sizeof(line), file);
	fputs("\n", file);
	rewind(file);
	assert_int_equal(symcache_answerer_read(d, fileno(file), NULL), 1);
	fclose(file);
	end(d, caches, &h,
	    "|??:0:0\n\n|??\n0 0\n??:?\n\n|"
	    "|<a line of input is longer than 65536 bytes>??:0:0\n\n??:0:0\n\n");
}

static int to_interrupted;

static void on_alarm(int signal)
{
	static volatile int alarms;

	(void)signal;
	if (++alarms == 5) {
		if (write(to_interrupted, "0x1\n", 4) != 4)
			abort();
		close(to_interrupted);
	}
}

/* A signal while it waits for input is none of its business. */
static void test_signals(void **state)
{
	const struct itimerval often = { { 0, 1000 }, { 0, 1000 } }, never = { { 0 } };
	struct heard h = { .reply = -1 };
	struct symcache_caches *caches;
	struct symcache_answerer *d = begin((struct symcache_answer_options){
		.kind = SYMCACHE_MODULE_CACHE, .name = "nowhere.symc" }, &h, &caches);
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	to_interrupted = fds[1];
	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm }, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
	assert_int_equal(symcache_answerer_read(d, fds[0], NULL), 1);
	setitimer(ITIMER_REAL, &never, NULL);
	close(fds[0]);
	end(d, caches, &h, "|[t: nowhere.symc: cannot open: No such file or directory\n]??:0:0\n\n|");
}

/* More lines than the buffer holds, which several threads answer: each has its answer, in order. */
static void test_many(void **state)
{
	enum { LINES = 150000 };
	struct heard h = { .reply = -1 };
	struct symcache_caches *caches;
	struct symcache_answerer *d = begin((struct symcache_answer_options){
		.kind = SYMCACHE_MODULE_CACHE, .name = "nowhere.symc", .addresses = true }, &h, &caches);
	FILE *lines = tmpfile();
	const char *at;

	(void)state;
	for (unsigned i = 0; i < LINES; i++)
		fprintf(lines, "0x%x\n", i);
	rewind(lines);
	assert_int_equal(symcache_answerer_read(d, fileno(lines), NULL), 1);
	fclose(lines);
	mk_out_char(&h.text, '\0');
	at = strchr(h.text.buf, ']') + 1; /* that there is no such file, is said once */
	for (unsigned i = 0; i < LINES; i++) {
		char want[40];
		const int n = snprintf(want, sizeof(want), "0x%x\n??:0:0\n\n", i);

		at += strspn(at, "|");
		if (strncmp(at, want, (size_t)n))
			fail_msg("%.60s, not %s", at, want);
		at += n;
	}
	assert_string_equal(at + strspn(at, "|"), "");
	mk_out_deinit(&h.text);
	symcache_answerer_destroy(d);
	symcache_caches_destroy(caches);
}

/* A file that is not in the store: for a symbol all of it is read, not what an address needs. */
static void test_symbol_of_file(void **state)
{
	char line[] = "test_symbol_of_file", address[] = "0x1";
	struct heard h = { .reply = -1 };
	struct symcache_caches *caches;
	struct symcache_answerer *d = begin((struct symcache_answer_options){
		.kind = SYMCACHE_MODULE_FILE, .name = "/proc/self/exe", .functions = MARKUP_FUNCTIONS_LINKAGE,
		.basenames = true }, &h, &caches);

	(void)state;
	assert_int_equal(symcache_answerer_lines(d, (char *[]){ line, address }, 2, NULL), 1);
	mk_out_char(&h.text, '\0');
	assert_int_equal(strncmp(h.text.buf, "test_symbol_of_file\nanswers_test.c:", 35), 0);
	mk_out_deinit(&h.text);
	symcache_answerer_destroy(d);
	symcache_caches_destroy(caches);
}

/* What is said once and what of each line: of a build ID that no one has, LLVM says it of each. */
static void test_again(void **state)
{
	static const struct { struct symcache_answer_options o; const char *lines[3]; const char *wants; } cases[] = {
		{ { .protocol = MARKUP_PROTOCOL_LLVM }, { "BUILDID:0102 1", "BUILDID:0102 2" },
		  "[t: error: '0102': could not find build ID\nt: error: '0102': could not find build ID\n]??:0:0\n\n??:0:0\n\n" },
		{ { .protocol = MARKUP_PROTOCOL_LLVM }, { "FILE:/nowhere 1", "FILE:/nowhere 2" },
		  "[t: error: '/nowhere': No such file or directory\n]??:0:0\n\n??:0:0\n\n" },
		{ { .protocol = MARKUP_PROTOCOL_LOOKUP }, { "BUILDID:0102 1", "BUILDID:0102 2" },
		  "[t: there is no store\n]??:0:0\n\n??:0:0\n\n" },
		{ { .protocol = MARKUP_PROTOCOL_LOOKUP }, { "/nowhere 1", "/nowhere" },
		  "[t: /nowhere: cannot open: No such file or directory\nt: '/nowhere': which file? use --file, --module or --build-id\n]??:0:0\n\n??:0:0\n\n" },
		{ { .protocol = MARKUP_PROTOCOL_LOOKUP, .name = "/nowhere" }, { "1x", "" },
		  "[t: '1x': expected a number as module offset (hexadecimal: 0x...)\n]??:0:0\n\n??:0:0\n\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct heard h = { .reply = -1 };
		struct symcache_caches *caches;
		struct symcache_answerer *d = begin(cases[i].o, &h, &caches);
		char lines[2][40];

		for (int k = 0; k < 2; k++)
			strcpy(lines[k], cases[i].lines[k]);
		assert_int_equal(symcache_answerer_lines(d, (char *[]){ lines[0], lines[1] }, 2, NULL),
				 cases[i].o.protocol == MARKUP_PROTOCOL_LOOKUP);
		end(d, caches, &h, cases[i].wants);
	}
}

/* A line that is too long is said once, also if more come than are read at once. */
static void test_long(void **state)
{
	struct heard h = { .reply = -1 };
	struct symcache_caches *caches;
	struct symcache_answerer *d = begin((struct symcache_answer_options){
		.kind = SYMCACHE_MODULE_CACHE, .name = "nowhere.symc" }, &h, &caches);
	FILE *file = tmpfile();
	unsigned said = 0;

	(void)state;
	for (unsigned i = 0; i < (1 << 20) + 70000; i++)
		fputc('1', file);
	for (unsigned i = 0; i < 300000; i++)
		fputs("\n0x1", file);
	rewind(file);
	assert_int_equal(symcache_answerer_read(d, fileno(file), NULL), 1);
	fclose(file);
	mk_out_char(&h.text, '\0');
	for (const char *at = h.text.buf; (at = strstr(at, "<a line of input")); at++)
		said++;
	assert_int_equal(said, 1);
	mk_out_deinit(&h.text);
	symcache_answerer_destroy(d);
	symcache_caches_destroy(caches);
}

/* The longest line that is read, behind a short one; and one that is longer. */
static void test_longest(void **state)
{
	(void)state;
	for (size_t len = 65534; len < 65538; len++) {
		struct heard h = { .reply = -1 };
		struct symcache_caches *caches;
		struct symcache_answerer *d = begin((struct symcache_answer_options){
			.kind = SYMCACHE_MODULE_CACHE, .name = "nowhere.symc" }, &h, &caches);
		FILE *file = tmpfile();

		fputs("0x1\n", file);
		for (size_t i = 0; i < len; i++)
			fputc('x', file);
		fputs("\n", file);
		rewind(file);
		assert_int_equal(symcache_answerer_read(d, fileno(file), NULL), 1);
		fclose(file);
		mk_out_char(&h.text, '\0');
		assert_int_equal(!strstr(h.text.buf, "<a line of input is longer than 65536 bytes>"), len < 65536);
		mk_out_deinit(&h.text);
		symcache_answerer_destroy(d);
		symcache_caches_destroy(caches);
	}
}

/* Why there are no symbols, as llvm-symbolizer says it. */
static void test_reasons(void **state)
{
	static const struct { const char *bytes, *reason; } cases[] = {
		{ "\177ELF and more", NULL }, { "\177ELF", NULL },
		{ "\177EL", "The file was not recognized as a valid object file" },
		{ "", "The file was not recognized as a valid object file" },
		{ "text of some kind", "The file was not recognized as a valid object file" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char path[32];
		const int fd = testing_memfd(cases[i].bytes, strlen(cases[i].bytes), path);
		const char *reason = mk_llvm_reason(false, path);

		assert_true(!reason == !cases[i].reason);
		if (reason)
			assert_string_equal(reason, cases[i].reason);
		assert_string_equal(mk_llvm_reason(true, path), "could not find build ID");
		close(fd);
	}
	assert_string_equal(mk_llvm_reason(false, "/nowhere"), "No such file or directory");
	assert_string_equal(mk_llvm_reason(false, "/"), "Is a directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_many),
		cmocka_unit_test(test_symbol_of_file),
		cmocka_unit_test(test_again),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_reasons),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

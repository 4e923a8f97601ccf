/* What is shown of a core: headings, frames, registers, what ends a stack, the summary. The core is
 * made here; its one module has the cache of tiny_test.h, whose code is at 0x400000 + 0x10. */
#include <signal.h>
#include <unistd.h>

#include "libsymcache/base/account.h"
#include "libsymcache/core/testing.h"
#include "libsymcache/report/testing.h"
#include "libsymcache/report/core.h"
#include "libsymcache/report/core_shown.h"

enum { CODE = 0x400000, STACK = 0x7000 };

static int set_up(void **state)
{
	(void)state;
	return set_up_cache_at(CODE);
}

static void put_info(struct made_core *m, int signal, uint64_t address)
{
	uint32_t info[32] = { (uint32_t)signal, 0, 1, 0, (uint32_t)address };

	put_note(m, NT_SIGINFO, info, sizeof(info));
}

/* NT_PRPSINFO: the process. */
static void put_process(struct made_core *m, uint32_t pid, const char *command, const char *arguments)
{
	char info[136] = "";

	memcpy(info + 24, &pid, 4);
	strcpy(info + 40, command);
	strcpy(info + 56, arguments);
	put_note(m, NT_PRPSINFO, info, sizeof(info));
}

/* Shows the core, whose module is called `path`. */
static void show(struct made_core *m, const char *path, struct markup_core_options o, struct mk_out *out)
{
	struct symcache_caches *caches = symcache_caches_create(&(struct symcache_caches_options){ 0 });
	uint64_t files[6] = { 1, 4096, CODE, CODE + 0x1000, 0, 0 };
	struct symcache_core *core;
	struct markup_cored done;
	char spec[20];

	memcpy(&files[5], path, strlen(path));
	put_words(m, NT_FILE, files, 6);
	add_segment_bytes(m, CODE, PF_R | PF_X, "", 0);
	m->segments[0].more = 0x1000;
	core = open_made(m);
	symcache_core_use(core, caches, "--module");
	symcache_process_use(core->process, &(struct symcache_finder){ .find = find_tiny, .caches = caches });
	snprintf(spec, sizeof(spec), "%s=x", path);
	assert_int_equal(symcache_core_bind(core, spec, NULL), 0);
	o.caches = caches;
	assert_int_equal(markup_core_report("core", core, &o, out, &done, NULL), 0);
	symcache_core_close(core);
	symcache_caches_destroy(caches);
}

static char *shown(struct made_core *m, const char *path, struct markup_core_options o)
{
	struct mk_out out = { 0 };

	show(m, path, o, &out);
	mk_out_char(&out, '\0');
	return mk_out_take(&out);
}

static void expect(struct made_core *m, const char *path, struct markup_core_options o, const char *want)
{
	char *text = shown(m, path, o);

	assert_string_equal(text, want);
	free(text);
}

static void expect_part(struct made_core *m, struct markup_core_options o, const char *want)
{
	char *text = shown(m, "/x/tiny", o);

	if (!strstr(text, want))
		fail_msg("not in it: %s\n%s", want, text);
	free(text);
}

#define TEXT .format = MARKUP_REPORT_TEXT
#define JSON .format = MARKUP_REPORT_JSON

/* ---- the first line ------------------------------------------------------------------------- */

static void test_head(void **state)
{
	static const struct {
		int signal;
		uint64_t address;       /* 0: there is no NT_SIGINFO */
		uint32_t pid;
		const char *command, *arguments;
		const char *text, *json;
	} cases[] = {
		{ SIGABRT, 0, 0, "", "", "core: a program, x86-64, SIGABRT; 1 thread, 1 module, 1 without unwind information\n",
		  "\"died\":true,\"signal\":\"SIGABRT\",\"frames\"" },
		{ SIGSEGV, 0xdead0, 12, "run", "run -x", "core: run -x (pid 12), x86-64, SIGSEGV at 0xdead0; ",
		  "\"pid\":12,\"program\":\"run\",\"signal\":\"SIGSEGV\",\"fault_address\":\"0xdead0\"," },
		{ 45, 0, 12, "ru\x1bn", "", "core: ru\\x1bn (pid 12), x86-64, signal 45; ", "\"signal\":\"45\"" },
		{ 0, 0, 12, "run", "", "core: run (pid 12), x86-64; 1 thread", "\"program\":\"run\",\"frames\"" },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const bool json = i % 2;
		struct made_core m = { 0 };

		put_thread(&m, 7, cases[i / 2].signal, CODE + 0x29, STACK);
		if (cases[i / 2].address)
			put_info(&m, cases[i / 2].signal, cases[i / 2].address);
		put_process(&m, cases[i / 2].pid, cases[i / 2].command, cases[i / 2].arguments);
		if (json)
			expect_part(&m, (struct markup_core_options){ JSON }, cases[i / 2].json);
		else
			expect_part(&m, (struct markup_core_options){ TEXT }, cases[i / 2].text);
	}
}

/* ---- threads ---------------------------------------------------------------------------------- */

/* Threads from 7 on, the first of which died. Equal stacks are shown once, unless all are asked for. */
static void test_threads(void **state)
{
	static const uint32_t one[] = { 8 }, none[] = { 6 };
	static const struct {
		unsigned threads;
		struct markup_core_options o;
		const char *want;
	} cases[] = {
		{ 1, { TEXT }, "\nthread 7, the one that died\n" },
		{ 2, { TEXT }, "\n2 threads with equal stacks: 7 8\n" },
		{ 12, { TEXT }, ": 7 8 9 10 11 12 13 14 15 16 17 18\n" },
		{ 13, { TEXT }, ": 7 8 9 10 11 12 13 14 15 16 17 18 …\n" },
		{ 1000, { .format = MARKUP_REPORT_HTML }, " 1005 1006</p>" }, { 1001, { .format = MARKUP_REPORT_HTML }, " 1005 1006 …</p>" },
		{ 1002, { .format = MARKUP_REPORT_HTML }, " 1005 1006 …</p>" }, { 2, { TEXT, .all = true }, "\nthread 8\n" },
		{ 2, { TEXT, .registers = true }, "\nthread 8\n" },
		{ 2, { TEXT, .threads = one, .num_threads = 1 }, "; 2 threads, 1 module, 1 without unwind information\n\nthread 8\n" },
		{ 2, { TEXT, .threads = none, .num_threads = 1 }, "" },
		{ 2, { JSON }, "}\n{\"thread\":8,\"died\":false,\"frames\":[" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_core m = { 0 };

		for (unsigned k = 0; k < cases[i].threads; k++)
			put_thread(&m, 7 + k, k ? 0 : SIGABRT, CODE + 0x29, STACK);
		if (*cases[i].want)
			expect_part(&m, cases[i].o, cases[i].want);
		else
			expect(&m, "/x/tiny", cases[i].o, "");
	}
}

/* ---- frames ------------------------------------------------------------------------------------- */

static void test_frames(void **state)
{
	static const struct {
		uint64_t pc;
		struct markup_core_options o;
		const char *want;
	} cases[] = {
		{ CODE + 0x21, { TEXT },
		  "  #0.1     0x0000000000400021  leaf at /inc/leaf.h:3:9 (tiny+0x21)\n"
		  "  #0.2     0x0000000000400021  a::middle() at /inc/leaf.h:7:5 (tiny+0x21)\n"
		  "  #0       0x0000000000400021  main at /src/main.c:11:4 (tiny+0x21)\n"
		  "  no unwind information of the module: tiny, build ID " },
		{ CODE + 0x29, { TEXT, .color = true }, "  \x1b[0;32mmain\x1b[0m at /src/main.c:12:2 (tiny+0x29)\n" },
		{ CODE + 0x31, { TEXT }, "  #0       0x0000000000400031  ?? (tiny+0x31: no function is known there)\n" },
		{ CODE + 0x41, { TEXT }, "  #0       0x0000000000400041  naked (tiny+0x41)\n" },
		{ 0x77, { TEXT }, "  #0       0x0000000000000077  ??\n  the address is in no module\n" },
		{ CODE + 0x29, { TEXT, .registers = true }, "   rsp 0x0000000000007000\n          r8 0x0000000000000000    r9 " },
		{ CODE + 0x21, { JSON },
		  "{\"frame\":0,\"pc\":\"0x400021\",\"trust\":\"context\",\"module\":\"tiny\",\"build_id\":"
		  "\"0000000000000000000000000000000000000000\",\"address\":\"0x400021\",\"function\":\"a::middle()\","
		  "\"file\":\"/inc/leaf.h\",\"line\":7,\"column\":5,\"inlined\":true},{\"frame\":0," },
		{ CODE + 0x29, { JSON, .registers = true }, ",\"inlined\":false,\"registers\":{\"r" },
		{ CODE + 0x21, { JSON, .registers = true }, /* of the outermost one alone */
		  "\"line\":7,\"column\":5,\"inlined\":true},{\"frame\":0," },
		{ CODE + 0x21, { JSON, .registers = true }, "\"column\":4,\"inlined\":false,\"registers\":{" },
		{ 0x77, { JSON }, "[{\"frame\":0,\"pc\":\"0x77\",\"trust\":\"context\",\"inlined\":false}],\"stopped\":\"no_module\"}\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_core m = { 0 };

		put_thread(&m, 7, SIGABRT, cases[i].pc, STACK);
		expect_part(&m, cases[i].o, cases[i].want);
	}
}

static void test_position(void **state)
{
	static const struct {
		const char *path;
		uint32_t column;
		bool brief;
		const char *want;
	} cases[] = {
		{ "/a/b/c/x.c", 0, false, " at /a/b/c/x.c:7" }, { "/a/b/c/x.c", 3, true, " at …/c/x.c:7:3" },
		{ "/c/x.c", 0, true, " at /c/x.c:7" },          { "c/x.c", 0, true, " at c/x.c:7" },
		{ "a/c/x.c", 0, true, " at …/c/x.c:7" },        { "x.c", 0, true, " at x.c:7" },
		{ "", 3, false, "" },                           { "/", 0, true, " at /:7" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct sc_frame f = { .file = sc_str_of(cases[i].path), .line = 7, .column = cases[i].column };
		struct mk_out out = { 0 };
		char *text;

		mk_put_position(&out, &f, cases[i].brief);
		mk_out_char(&out, '\0');
		text = mk_out_take(&out);
		assert_string_equal(text, cases[i].want);
		free(text);
	}
}

/* A page's list has the frames in order; where some are left out, it says once how many. */
static void expect_numbers(const char *page, size_t shown, size_t left_out)
{
	char more[40], number[40];

	snprintf(more, sizeof(more), "<span class=ms>%zu frames more", left_out);
	for (size_t i = 0; i < shown; i++) {
		const bool behind = left_out && i >= shown - 50;

		snprintf(number, sizeof(number), "<i>#%zu</i>", behind ? i + left_out : i);
		page = strstr(page, "<li class=f>") + strlen("<li class=f>");
		if (behind && i == shown - 50) {
			assert_ptr_equal(strstr(page, more), page);
			page = strstr(page, "<li class=f>") + strlen("<li class=f>");
		}
		if (!strstr(page, number) || strstr(page, number) > strchr(page, '\n'))
			fail_msg("%s is not in %.200s", number, page);
	}
	assert_null(strstr(page, "<li class=f>"));
}

/* Of a long stack the first 200 and the last 50 frames are shown, and how it repeats. */
static void test_long(void **state)
{
	static const struct {
		size_t frames, period;
		const char *want; /* NULL: all are shown */
	} cases[] = {
		{ 250, 1, NULL },
		{ 251, 1, "  #199     0x0000000000001000  ??\n  … 1 frames, repeating every 1 (--format json has all)\n  #201 " },
		{ 1000, 3, "  … 750 frames, repeating every 3 (--format json has all)\n  #950     0x0000000000001002  ??\n" },
		{ 1000, 16, "  … 750 frames, repeating every 16 (" },
		{ 1000, 17, "  … 750 frames (--format json has all)\n  #950 " },
	};
	struct made_core m = { 0 };
	struct symcache_core *core;
	struct symcache_caches *caches = symcache_caches_create(&(struct symcache_caches_options){ 0 });
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_unwind_frame list[1000];

	(void)state;
	put_thread(&m, 7, SIGABRT, CODE, STACK);
	core = open_made(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_stack whole = { .frames = list, .num_frames = cases[i].frames }, part;
		struct mk_out out = { 0 };
		struct mk_core c = { .core = core, .out = &out, .places = { .out = &out } };
		size_t left_out;
		char *text;

		for (size_t k = 0; k < cases[i].frames; k++)
			list[k] = (struct symcache_unwind_frame){ .pc = 0x1000 + k % cases[i].period };
		c.places.of = symcache_places_create(caches, names, true);
		assert_true(mk_core_shown_part(&whole, &part, &left_out));
		mk_core_text_stack(&c, &part, left_out, &(size_t){ 0 }, 1);
		text = mk_out_take(&out);
		if (cases[i].want ? !strstr(text, cases[i].want) : strstr(text, "…") || !strstr(text, "  #249 "))
			fail_msg("not in it: %s\n%s", cases[i].want, text);
		free(text);
		mk_core_html_stack(&c, &part, left_out, &(size_t){ 0 }, 1);
		text = mk_out_take(&out);
		expect_numbers(text, part.num_frames, left_out);
		free(text);
		mk_out_deinit(&c.head);
		mk_out_deinit(&c.outline);
		symcache_stack_deinit(&part);
		mk_places_deinit(&c.places);
	}
	symcache_core_close(core);
	symcache_names_destroy(names);
	symcache_caches_destroy(caches);
}

/* What is kept of a stack is counted, and given back. */
static void test_kept(void **state)
{
	static struct symcache_unwind_frame frames[100000];
	static struct symcache_registers registers[100000];
	struct sc_account account = { .limit = SIZE_MAX };

	(void)state;
	for (size_t n = 1; n <= 100000; n *= 10) {
		const struct symcache_stack whole = {
			.frames = frames, .registers = registers, .num_frames = n };
		struct symcache_stack part;
		size_t left_out;

		sc_account = &account;
		assert_true(mk_core_shown_part(&whole, &part, &left_out));
		assert_int_equal(account.used, part.num_frames * (sizeof(*frames) + sizeof(*registers)));
		symcache_stack_deinit(&part);
		sc_account = NULL;
		assert_int_equal(account.used, 0);
	}
}

/* ---- modules -------------------------------------------------------------------------------------- */

static void test_summary(void **state)
{
	static const struct {
		const char *path;
		bool json;
		const char *want;
	} cases[] = {
		{ "/x/tiny", false,
		  "core: a program, x86-64, SIGABRT; 1 thread, 1 module, 1 without unwind information\n\n"
		  "start               frames  build ID                                  module\n"
		  "0x0000000000400000       1  0000000000000000000000000000000000000000  /x/tiny: "
		  "no unwind information: index the program or library itself, too\n" },
		{ "/x/none", false,
		  "core: a program, x86-64, SIGABRT; 1 thread, 1 module, 1 not in the store\n\n"
		  "start               frames  build ID                                  module\n"
		  "0x0000000000400000       1  unknown                                   /x/none: it is not there\n" },
		{ "/x/tiny", true,
		  "{\"module\":\"/x/tiny\",\"build_id\":\"0000000000000000000000000000000000000000\",\"start\":\"0x400000\","
		  "\"frames\":1,\"stacks_cut\":1,\"symbols\":true,\"unwind\":false}\n" },
		{ "/x/none", true,
		  "{\"module\":\"/x/none\",\"build_id\":\"\",\"start\":\"0x400000\","
		  "\"frames\":1,\"stacks_cut\":1,\"symbols\":false,\"unwind\":false,\"error\":\"it is not there\"}\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct markup_core_options o = { .format = cases[i].json ? MARKUP_REPORT_JSON : MARKUP_REPORT_TEXT,
						 .summary = true };
		struct made_core m = { 0 };

		put_thread(&m, 7, SIGABRT, CODE + 0x29, STACK);
		expect(&m, cases[i].path, o, cases[i].want);
	}
}

/* ---- a page ----------------------------------------------------------------------------------------- */

/* All of what it shows: stacks, their source lines, what crashed, the modules, the outline. */
static void test_page(void **state)
{
	static const char wanted[] = PAGE;
	const char *const folders[] = { testing_dir, NULL };
	const struct symcache_source_search search = { .folders = folders };
	struct made_core m = { 0 };
	char *text, *begin, *end;

	(void)state;
	assert_non_null(mkdtemp(testing_dir));
	assert_int_equal(testing_run("cd %s && mkdir inc src && seq 20 > src/main.c && "
				     "printf 'one\\ntwo\\n<three>\\nfour\\n' > inc/leaf.h", testing_dir), 0);
	put_thread(&m, 7, SIGABRT, CODE + 0x21, STACK);
	put_thread(&m, 8, 0, CODE + 0x31, STACK);
	put_thread(&m, 9, 0, CODE + 0x31, STACK);
	put_thread(&m, 10, 0, 0x77, STACK);
	text = shown(&m, "/x/tiny", (struct markup_core_options){ .format = MARKUP_REPORT_HTML, .search = &search,
								   .source_lines = 1 });
	begin = strstr(text, "<main>");
	assert_non_null(begin);
	end = strstr(begin, "</nav>");
	assert_non_null(end);
	*end = '\0';
	assert_string_equal(begin, wanted);
	free(text);
	assert_int_equal(testing_run("rm -r %s", testing_dir), 0);
}

/* ---- a full disk -------------------------------------------------------------------------------------- */

static int fail_once(void *ctx, const char *data, size_t len)
{
	(void)data;
	(void)len;
	return ++*(unsigned *)ctx == 2 ? -1 : 0;
}

/* What could not be written is not forgotten, and nothing is written behind the gap. */
static void test_full(void **state)
{
	(void)state;
	for (enum markup_report_format format = MARKUP_REPORT_TEXT; format <= MARKUP_REPORT_HTML; format++) {
		struct made_core m = { 0 };
		struct mk_out out;
		unsigned writes = 0;

		put_thread(&m, 7, SIGABRT, CODE + 0x21, STACK);
		assert_int_equal(mk_out_init(&out, 64, fail_once, &writes), 0);
		show(&m, "/x/tiny", (struct markup_core_options){ .format = format }, &out);
		mk_out_flush(&out);
		assert_int_equal(out.error, -EIO);
		assert_int_equal(writes, 2);
		mk_out_deinit(&out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head), cmocka_unit_test(test_threads), cmocka_unit_test(test_frames), cmocka_unit_test(test_position),
		cmocka_unit_test(test_long), cmocka_unit_test(test_kept), cmocka_unit_test(test_summary), cmocka_unit_test(test_page),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down_cache);
}

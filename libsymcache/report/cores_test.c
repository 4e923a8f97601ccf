/*
 * What is shown of cores that are made at random, in all forms, recorded: threads of which some have
 * equal stacks, modules with and without caches, signals, names with bytes that terminals must not get.
 * A change of any output is seen in testdata/seeds/cores_shown.
 */
#include <signal.h>
#include <unistd.h>

#include "libsymcache/core/testing.h"
#include "libsymcache/base/seeds_test.h"
#include "libsymcache/report/testing.h"
#include "libsymcache/report/report.h"

enum { CODE = 0x400000, OTHER = 0x500000, STACK = 0x7000, WORDS = 40, CORES = 120, WHOLE = 24 };

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(testing_dir) || set_up_cache_at(CODE) ||
	       testing_run("cd %s && mkdir inc src && seq 20 > src/main.c && "
			   "printf 'one\\ntwo\\n<three>\\nfour\\n' > inc/leaf.h",
			   testing_dir);
}

static int tear_down(void **state)
{
	return tear_down_cache(state) || testing_run("rm -r %s", testing_dir);
}

/* ---- what is made ------------------------------------------------------------------------- */

static uint64_t any_pc(uint64_t *random)
{
	static const uint64_t some[] = { CODE + 0x21,  CODE + 0x21, CODE + 0x29,
					 CODE + 0x31,  CODE + 0x41, CODE + 0x11,
					 OTHER + 0x20, 0x77,	    CODE + 0x2000 };

	return some[testing_below(random, sizeof(some) / sizeof(*some))];
}

static void put_process(struct made_core *m, uint64_t *random)
{
	static const char *const commands[] = { "", "run", "a \x1b[31mred" }, *const arguments[] = {
		"", "run -x <b>&", "x\x01y"
	};
	uint8_t process[136] = { 0 };
	uint32_t info[32] = { 0 };

	process[24] = (uint8_t)testing_below(random, 3);
	strcpy((char *)process + 40, commands[testing_below(random, 3)]);
	strcpy((char *)process + 56, arguments[testing_below(random, 3)]);
	if (testing_below(random, 3))
		put_note(m, NT_PRPSINFO, process, sizeof(process));
	if (!testing_below(random, 2))
		return;
	info[0] = testing_below(random, 2) ? SIGSEGV : 40 + testing_below(random, 10);
	info[2] = testing_below(random, 2);
	info[4] = 0xdead0;
	put_note(m, NT_SIGINFO, info, sizeof(info));
}

static void put_modules(struct made_core *m, uint64_t *random)
{
	static const char names[] = "/x/tiny\0/lib/none <&>.so\0/y/tiny";
	const unsigned n = testing_below(random, 4);
	const uint64_t rows[] = { n,	 0x1000,	 CODE, CODE + 0x1000, 0,
				  OTHER, OTHER + 0x1000, 0,    CODE + 0x2000, CODE + 0x3000,
				  0 };
	uint8_t note[sizeof(rows) + sizeof(names)];
	const size_t size = 16 + 24 * n;

	memcpy(note, rows, size);
	memcpy(note + size, names, sizeof(names));
	put_note(m, NT_FILE, note, size + sizeof(names));
	for (unsigned i = 0; i < 3; i++) {
		add_segment_bytes(m, rows[2 + 3 * i], PF_R | PF_X, "", 0);
		m->segments[m->num_segments - 1].more = 0x1000;
	}
}

static void make_core(struct made_core *m, uint64_t words[WORDS], uint64_t *random)
{
	const unsigned threads = 1 + testing_below(random, 16);
	uint64_t pc = any_pc(random), fp = STACK;

	for (unsigned i = 0; i < threads; i++) {
		if (testing_below(random, 2))
			pc = any_pc(random);
		put_thread(m, 7 + i, i ? 0 : SIGABRT, pc, STACK + 8 * testing_below(random, 3));
	}
	put_process(m, random);
	put_modules(m, random);
	for (unsigned i = 0; i < WORDS; i++) {
		words[i] = testing_below(random, 3) ? any_pc(random) : fp;
		fp += 8 * testing_below(random, 8);
	}
	add_segment_bytes(m, STACK, PF_R | PF_W, words, 8 * WORDS);
}

/* ---- what is shown ------------------------------------------------------------------------- */

static struct markup_core_options any_options(uint64_t *random, enum markup_report_format format)
{
	static const uint32_t some[] = { 8, 7, 30 };
	struct markup_core_options o = { .format = format };

	o.all = !testing_below(random, 3);
	o.registers = !testing_below(random, 4);
	o.summary = format != MARKUP_REPORT_HTML && !testing_below(random, 4);
	o.color = !testing_below(random, 3);
	o.brief = !testing_below(random, 3);
	if (!testing_below(random, 4)) {
		o.threads = some;
		o.num_threads = 1 + testing_below(random, 3);
	}
	return o;
}

/* Of a page all but what each has, style and script. */
static void put_page(FILE *to, char *text)
{
	char *begin = strstr(text, "<main>"), *end = begin ? strstr(begin, "</nav>") : NULL;

	if (end)
		*end = '\0';
	fputs(begin ? begin : text, to);
}

static void put_report(FILE *to, uint64_t number, enum markup_report_format format)
{
	static const char *const own[] = { "/src", NULL }, *const maps[] = { "/src=/here", NULL };
	const char *const folders[] = { testing_dir, NULL };
	const struct symcache_source_search search = { .folders = folders };
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct made_core m = { 0 };
	uint64_t words[WORDS], random = number;
	struct symcache_core *core;
	struct markup_core_options o;
	struct markup_cored done;
	struct mk_out out = { 0 };

	testing_below(&random, 1);
	make_core(&m, words, &random);
	core = open_made(&m);
	symcache_core_use(core, caches, "--module");
	symcache_process_use(core->process,
			     &(struct symcache_finder){ .find = find_tiny, .caches = caches });
	for (size_t i = 0; i < core->num_modules; i++) /* they have no build IDs */
		assert_true(symcache_image_bind(core->modules[i], "x"));
	o = any_options(&random, format);
	o.caches = caches;
	if (testing_below(&random, 2))
		o.own = own;
	if (testing_below(&random, 2))
		o.search = &search;
	o.source_lines = 1 + testing_below(&random, 3);
	if (testing_below(&random, 2)) {
		o.link = "editor://open?f={file}&l={line}";
		o.path_maps = maps;
	}
	assert_int_equal(markup_core_report("a core", core, &o, &out, &done, NULL), 0);
	mk_out_char(&out, '\0');
	fprintf(to, "%zu threads, cut %d\n", done.threads, done.cut);
	if (format == MARKUP_REPORT_HTML)
		put_page(to, out.buf);
	else
		fputs(out.buf, to);
	mk_out_deinit(&out);
	symcache_core_close(core);
	symcache_caches_destroy(caches);
}

/* The first ones are kept as they are, the others as hashes. */
static void test_cores(void **state)
{
	static const struct {
		enum markup_report_format format;
		const char *name;
	} forms[] = {
		{ MARKUP_REPORT_TEXT, "text" },
		{ MARKUP_REPORT_JSON, "JSON" },
		{ MARKUP_REPORT_HTML, "page" },
	};
	char *got, *one;
	size_t len, size;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		for (unsigned k = 0; k < CORES; k++) {
			FILE *single = open_memstream(&one, &size);

			put_report(single, k, forms[i].format);
			fclose(single);
			fprintf(to, "== %s %u ", forms[i].name, k);
			if (k < WHOLE && size < 3000)
				fputs(one, to);
			else
				put_digest(to, one, size);
			fputc('\n', to);
			free(one);
		}
	fclose(to);
	expect_recorded("cores_shown", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cores),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

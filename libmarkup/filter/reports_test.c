/*
 * What a filter reports, and several together: warnings of modules without symbols, once for each,
 * counts, modules with addresses that found nothing: all of it as it comes, against what is known
 * to be right, in testdata/markup.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/cases_test.h"

static void put(struct fake_text *t, const char *format, ...)
{
	char line[1000];
	va_list ap;

	va_start(ap, format);
	fake_append(t, line, (size_t)vsnprintf(line, sizeof(line), format, ap));
	va_end(ap);
}

static void report_module(void *ctx, const struct markup_module *m)
{
	put(ctx, "  %.*s %zu bytes, %llu frames, %llu unplaced%s%s%s%s\n", (int)m->name.len, m->name.ptr,
	    m->build_id_len, (unsigned long long)m->frames, (unsigned long long)m->unplaced,
	    m->no_symbols ? ", no symbols" : "", m->table_only ? ", a table only" : "",
	    m->other_build ? ", another build" : "", m->warned ? ", warned of" : "");
}

static void put_stats(struct fake_text *t, const struct markup_stats *s)
{
	put(t, "%llu frames, %llu resolved, %llu outside, %llu understood, %llu guessed, %llu bytes\n",
	    (unsigned long long)s->frames, (unsigned long long)s->frames_resolved,
	    (unsigned long long)s->frames_outside, (unsigned long long)s->understood,
	    (unsigned long long)s->guessed, (unsigned long long)s->bytes);
}

/* Output has its own place: when it comes depends on buffers. */
static struct fake_text output;

static int write_output(void *ctx, const char *data, size_t len)
{
	(void)ctx;
	return fake_append(&output, data, len);
}

static void complain(void *ctx, const char *data, size_t len)
{
	put(ctx, "said: %.*s", (int)len, data);
}

static void warn(void *ctx, const struct markup_module *m, const char *data, size_t len)
{
	put(ctx, "warned: %.*s", (int)len, data);
	report_module(ctx, m);
}

/* Files of "table" have no more than a symbol table; "f" has another size in "other". */
static void *module_of(void *ctx, struct markup_module *m, const char **why)
{
	static char table, other;

	if (sc_str_is(sc_basename(m->name), "table")) {
		m->table_only = true;
		return &table;
	}
	return sc_str_is(m->name, "other") ? &other : fake_module(ctx, m, why);
}

static bool place_in(void *ctx, void *module, struct markup_place *place, uint64_t *vaddr)
{
	(void)ctx;
	(void)module;
	*vaddr = place->offset;
	if (place->origin == MARKUP_FROM_SYMBOL)
		place->size_here = 0x99;
	return place->origin != MARKUP_FROM_SYMBOL;
}

static struct markup_filter *create(const struct markup_options *options, unsigned n,
				    struct fake_text *to, bool warns, struct markup_tally *tally)
{
	struct markup_resolver resolver = fake_resolver;
	const struct markup_sink sink = { to, write_output, complain, warns ? warn : NULL, tally };
	struct markup_filter *f;

	resolver.module = module_of;
	resolver.place = place_in;
	const struct markup_resolver resolvers[] = { resolver, resolver, resolver };
	assert_int_equal(markup_filter_create(options, resolvers, n, &sink, &f), 0);
	return f;
}

static void run(struct markup_filter *f, const char *name, const char *log, struct fake_text *to)
{
	put(to, "-- %s\n", name);
	markup_filter_input(f, name);
	assert_int_equal(markup_filter_feed(f, log, strlen(log)), 0);
	assert_int_equal(markup_filter_finish(f), 0);
}

static const char log_text[] =
	"{{{module:0:prog:elf:aa01}}}\n{{{mmap:0x10000:0x3000:load:0:rx:0x0}}}\n"
	"{{{module:1:gone:elf:cc02}}}\n{{{mmap:0x20000:0x1000:load:1:rx:0x0}}}\n"
	"{{{module:2:hurt:elf:ee}}}\n{{{mmap:0x30000:0x1000:load:2:rx:0x0}}}\n"
	"{{{bt:0:0x11193:pc}}}\n{{{bt:1:0x11900:pc}}}\n{{{bt:2:0x20001}}}\n{{{pc:0x20002}}}\n"
	"{{{bt:3:0x30001}}}\n{{{bt:4:0x90000}}}\n{{{bt:x}}}\n"
	"    #0 0x1  (/lib/other.so+0x1234) (BuildId: 0123)\n"
	"    #1 0x1  (/bin/prog+0x1200) (BuildId: aa01)\n"
	"/bin/table(+0x1900) [0x5555]\n/bin/table(+0x1205) [0x5555]\nit was table+0x1205\n"
	"[    1.000006]  f+0x5/0x10 [other]\n[    1.000007]  f+0x5/0x10 [other]\n";

static void test_reports(void **state)
{
	const struct markup_options options = { .collect_dumpfiles = true };
	struct fake_text got = { 0 };
	struct markup_tally *tally;
	struct markup_filter *one, *two;

	(void)state;
	assert_int_equal(markup_tally_create(&tally), 0);
	one = create(&options, 1, &got, true, NULL);
	run(one, "one", log_text, &got);
	run(one, "two", log_text, &got);
	put_stats(&got, markup_filter_stats(one));
	assert_int_equal(markup_filter_missing(one, report_module, &got), 0);
	assert_int_equal(markup_tally_add(tally, one), 0);
	markup_filter_forget(one);
	put_stats(&got, markup_filter_stats(one));
	assert_int_equal(markup_filter_missing(one, report_module, &got), 0);
	run(one, "one", log_text, &got);
	put_stats(&got, markup_filter_stats(one));
	markup_filter_destroy(one);
	one = create(&options, 1, &got, true, tally);
	two = create(&options, 3, &got, false, tally);
	run(one, "one with a tally", "{{{module:0:b:elf:bc01}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0}}}\n"
	    "{{{pc:0x1000}}}\n", &got);
	run(two, "another with it", log_text, &got);
	run(two, "the same", "{{{module:0:b:elf:bc01}}}\n{{{mmap:0x1000:0x1000:load:0:rx:0}}}\n"
	    "{{{pc:0x1000}}}\n{{{pc:0x1}}}\n", &got);
	put(&got, "-- together\n");
	assert_int_equal(markup_tally_add(tally, one), 0);
	assert_int_equal(markup_tally_add(tally, two), 0);
	put_stats(&got, markup_tally_stats(tally));
	assert_int_equal(markup_tally_missing(tally, report_module, &got), 0);
	record("filter.reports", &got);
	expect_recorded("filter.reports", &got, "of three filters");
	markup_filter_destroy(one);
	markup_filter_destroy(two);
	markup_tally_destroy(tally);
	free(got.buf);
}

/* Which frames are read follows from the formats that are chosen; where modules are, from tables of any. */
static void test_chosen_formats(void **state)
{
	static const char *const choices[] = {
		NULL, "markup", "glibc", "markup,glibc", "glibc,maps", "kernel,segfault", "markup,mongodb", "any", "maps",
	};
	static const char log[] =
		"10000-14000 r-xp 00000000 fe:00 7 /opt/table\n"
		"{\"somap\":[{\"b\":\"20000\",\"path\":\"/m/table\",\"buildId\":\"aa01\"}]}\n"
		"[0x11208]\n[0x21304]\n{\"frame\":{\"a\":\"21205\",\"b\":\"20000\",\"o\":\"1205\"}}\n"
		"{{{module:0:prog:elf:aa01}}}{{{mmap:0x30000:0x4000:load:0:rx:0}}}\n{{{pc:0x31200}}}\n"
		"[    1.000006]  f+0x5/0x10 [other]\n    #1 0x1  (/bin/prog+0x1200) (BuildId: aa01)\n"
		"prog[7]: segfault at 0 ip 0000000000011202 sp 00007ffe00000000 error 4 in table[10000+4000]\n"
		"it was prog+0x1205\n";
	struct fake_text got = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(choices) / sizeof(*choices); i++) {
		const struct markup_options options = { .inputs = choices[i] };
		struct markup_filter *f = create(&options, 1, &got, true, NULL);

		output.len = 0;
		run(f, choices[i] ? choices[i] : "all", log, &got);
		put_stats(&got, markup_filter_stats(f));
		fake_append(&got, output.buf, output.len);
		markup_filter_destroy(f);
	}
	record("filter.chosen", &got);
	expect_recorded("filter.chosen", &got, "with some formats alone");
	free(got.buf);
}

static int free_output(void **state)
{
	(void)state;
	free(output.buf);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reports),
		cmocka_unit_test(test_chosen_formats),
	};

	return cmocka_run_group_tests_name("reports", tests, NULL, free_output);
}

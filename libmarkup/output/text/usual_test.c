/*
 * The bypass against the events: every log of testdata and random ones, with and without
 * it; each address has frames, some of them inlined, or none.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/filter/stream.h"
#include "libmarkup/testing.h"

static size_t num_usual;

static const char *counting(struct mk_output *r, const char *p, const char *hit, const char *end)
{
	const char *close = mk_text_renderer.usual(r, p, hit, end);

	num_usual += close != NULL;
	return close;
}

static void *any_module(void *ctx, struct markup_module *m, const char **why)
{
	static char module;

	(void)ctx;
	(void)why;
	return m->build_id_len && m->build_id[0] == 0xee ? NULL : &module;
}

static size_t any_code(void *ctx, void *module, uint64_t vaddr, bool named,
		       const struct sc_frame **frames)
{
	static struct sc_frame all[3];

	(void)ctx;
	(void)module;
	(void)named;
	for (size_t i = 0; i < 3; i++)
		all[i] = (struct sc_frame){ STR("f"), STR("d.c"), (uint32_t)(vaddr % 1000),
						(uint32_t)i };
	*frames = all;
	return vaddr % 4;
}

static const struct markup_resolver any_resolver = {
	.module = any_module, .code = any_code, .data = fake_data,
};

static void run(const struct mk_renderer *renderer, const struct fake_text *in,
		struct fake_sink *out)
{
	const struct markup_options options = { 0 };
	const struct markup_sink sink = { out, fake_write, fake_complain };
	struct mk_stream *s;

	fake_append(&out->out, "", 0);
	fake_append(&out->err, "", 0);
	assert_int_equal(mk_stream_create(&options, &any_resolver, &sink, &s), 0);
	s->output.renderer = renderer;
	assert_int_equal(mk_stream_feed(s, in->buf, in->len), 0);
	assert_int_equal(mk_stream_finish(s), 0);
	mk_stream_destroy(s);
}

static void compare(const char *name, const struct fake_text *in)
{
	struct mk_renderer with = mk_text_renderer, without = mk_text_renderer;
	struct fake_sink a = { 0 }, b = { 0 };

	with.usual = counting;
	without.usual = NULL;
	run(&with, in, &a);
	run(&without, in, &b);
	if (a.out.len != b.out.len || memcmp(a.out.buf, b.out.buf, a.out.len) ||
	    strcmp(a.err.buf, b.err.buf))
		fail_msg("%s: the bypass writes something else", name);
	fake_sink_deinit(&a);
	fake_sink_deinit(&b);
}

static void read_file(const char *path, struct fake_text *ret)
{
	FILE *file = fopen(path, "r");
	char buf[4096];
	size_t n;

	assert_non_null(file);
	ret->len = 0;
	fake_append(ret, "", 0);
	while ((n = fread(buf, 1, sizeof(buf), file)))
		fake_append(ret, buf, n);
	fclose(file);
}

/* Adds the lines with frames twenty times: the bypass begins when modules and maps have
 * not changed for a while, which is after the end of most of these logs. */
static void add_frames(struct fake_text *in)
{
	struct fake_text frames = { 0 };

	fake_append(&frames, "\n", 1);
	for (char *p = in->buf, *end = p + in->len, *eol; p < end; p = eol) {
		eol = memchr(p, '\n', (size_t)(end - p));
		eol = eol ? eol + 1 : end;
		if (memmem(p, (size_t)(eol - p), "{{{bt:", 6))
			fake_append(&frames, p, (size_t)(eol - p));
	}
	for (int i = 0; i < 20; i++)
		fake_append(in, frames.buf, frames.len);
	free(frames.buf);
}

static void test_logs(void **state)
{
	static const char *const patterns[] = {
		"testdata/logs/*", "testdata/golden/filter*/stdin", "testdata/golden/filter*/*.log",
		"testdata/golden/filter*/stdout", "testdata/fuzz/filter/*",
	};
	struct fake_text in = { 0 };
	glob_t files;

	(void)state;
	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++)
		glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &files);
	assert_true(files.gl_pathc > 20);
	num_usual = 0;
	for (size_t i = 0; i < files.gl_pathc; i++) {
		read_file(files.gl_pathv[i], &in);
		add_frames(&in);
		compare(files.gl_pathv[i], &in);
	}
	assert_true(num_usual > 100);
	globfree(&files);
	free(in.buf);
}

static void test_random(void **state)
{
	static const char *const pieces[] = {
		"{{{module:0:a:elf:aa}}}\n", "{{{mmap:0x10000:0x4000:load:0:rx:0}}}\n",
		"{{{module:1:b:elf:ee}}}\n", "{{{mmap:0x20000:0x4000:load:1:rx:0}}}\n",
		"{{{reset}}}\n", "{{{bt:0:0x10193}}}", "{{{bt:1:0x10502:ra}}}", "{{{bt:7:0x10503:pc}}}",
		"{{{bt:12:0x20100}}}", "{{{bt:123456:0x10102}}}", "{{{bt:3:0x10103:ra:x}}}",
		"{{{bt:4:0}}}", "{{{bt:5:0x40000}}}", "\n", "\r\n", " ", "prefix ", "\n", "{{{", "}}}",
	};
	struct fake_text in = { 0 };

	(void)state;
	srand(3);
	num_usual = 0;
	for (int i = 0; i < 300; i++) {
		in.len = 0;
		for (int k = 0; k < 300; k++) {
			/* Contexts are rare, or no frame would lie in one. */
			const size_t from = k < 4 || rand() % 50 == 0 ? 0 : 5;
			const size_t n = sizeof(pieces) / sizeof(pieces[0]) - from;
			const char *piece = pieces[k < 4 ? (size_t)k : from + (size_t)rand() % n];
			fake_append(&in, piece, strlen(piece));
		}
		compare("a random log", &in);
	}
	assert_true(num_usual > 1000);
	free(in.buf);
}

/* A last line without its newline: what is left of a longer one behind it does not count. */
static void test_end(void **state)
{
	static const char log[] = "{{{module:0:a:elf:aa}}}\n{{{mmap:0x10000:0x4000:load:0:rx:0}}}\n"
				  "{{{bt:0:0x11200:pc}}}\na line as long as the next one, and one\r";
	static const char end[] = "\n{{{bt:12345678:0x0000000000011193:pc}}}";
	const struct markup_options options = { 0 };
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	struct mk_stream *s;

	(void)state;
	assert_int_equal(mk_stream_create(&options, &fake_resolver, &sink, &s), 0);
	assert_int_equal(mk_stream_feed(s, log, strlen(log)), 0);
	assert_int_equal(mk_stream_feed(s, end, strlen(end)), 0);
	assert_int_equal(mk_stream_finish(s), 0);
	mk_stream_destroy(s);
	assert_string_equal(strchr(got.out.buf, '\r'), "\r\n"
		"#12345678.1  0x0000000000011193 ns::get /src/inl.cpp:4:97 (a+0x1193)\n"
		"#12345678    0x0000000000011193 ns::outer /src/inl.cpp:9:79 (a+0x1193)");
	fake_sink_deinit(&got);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_end),
	};
	return cmocka_run_group_tests_name("usual", tests, NULL, NULL);
}

/*
 * {{{stack:TID:REG=VALUE:…:BYTES}}}: what of it reaches the unwinder, and that an element which makes
 * no sense stays as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/testing.h"

static char got[4096]; /* what the unwinder was given */

static size_t unwind(void *ctx, const struct markup_stack *s, const struct markup_caller **callers,
		     const char **end)
{
	static const struct markup_caller one = { .pc = 0x77, .exact = true };
	char *at = got;

	(void)ctx;
	for (size_t i = 0; i < s->num_registers; i++)
		at += sprintf(at, "%.*s=%llx ", (int)s->registers[i].name.len, s->registers[i].name.ptr,
			      (unsigned long long)s->registers[i].value);
	for (size_t i = 0; i < s->len; i++)
		at += sprintf(at, "%02x", s->bytes[i]);
	*callers = &one;
	*end = NULL;
	return 1;
}

/* Filters a line; what is written of it, on the heap. */
static char *filter(const char *line)
{
	struct markup_resolver resolver = fake_resolver;
	const struct markup_options options = { 0 };
	struct fake_sink sink = { 0 };
	const struct markup_sink to = { &sink, fake_write, fake_complain };
	struct markup_filter *f;

	resolver.unwind = unwind;
	got[0] = '\0';
	assert_int_equal(markup_filter_create(&options, &resolver, 1, &to, &f), 0);
	assert_int_equal(markup_filter_feed(f, line, strlen(line)), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	assert_int_equal(markup_filter_end(f), 0);
	markup_filter_destroy(f);
	free(sink.err.buf);
	return sink.out.buf;
}

static void test_elements(void **state)
{
	static const struct { const char *fields, *wants; /* NULL: not walked */ } cases[] = {
		{ "7:pc=0x10:sp=0x20:AQID", "pc=10 sp=20 010203" },
		{ "7:pc=0x10:", "pc=10 " },
		{ "7:pc=0x10:AQ==", "pc=10 01" },
		{ "7:pc=0x10:AQI=", "pc=10 0102" },
		{ "7:pc=0x10:+/==", "pc=10 fb" },
		{ "7:pc=0x10:A", "pc=10 " },
		{ "7:pc=0x10:A QI", NULL },
		{ "7:pc=0x10:AQ=I", NULL },
		{ "x:pc=0x10:AQID", NULL },
		{ ":pc=0x10:AQID", NULL },
		{ "7:AQID", NULL },
		{ "7:pc:AQID", NULL },            /* no '=' */
		{ "7:pc=0x10:sp:AQID", NULL },
		{ "7:pc=:AQID", NULL },
		{ "7:pc=10:AQID", NULL },
		{ "7:pc=0x10:sp=0x12345678901234567:AQID", NULL },
		{ "7:=0x10:AQID", "=10 010203" }, /* the unwinder's to refuse */
		{ "7", NULL },
		{ "", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char line[200], *out;

		snprintf(line, sizeof(line), "a {{{stack:%s}}} b\n", cases[i].fields);
		out = filter(line);
		if (strcmp(got, cases[i].wants ? cases[i].wants : ""))
			fail_msg("%s: %s", cases[i].fields, got);
		if (!cases[i].wants)
			assert_string_equal(out, line);
		else
			assert_non_null(strstr(out, "0x0000000000000077"));
		free(out);
	}
}

/* 64 registers are read; an element with more is none. */
static void test_registers(void **state)
{
	(void)state;
	for (unsigned n = 63; n < 200; n += n == 65 ? 100 : 1) {
		char line[4096] = "{{{stack:7", *out;

		for (unsigned i = 0; i < n; i++)
			sprintf(line + strlen(line), ":r%u=0x1", i);
		strcat(line, ":AQID}}}\n");
		out = filter(line);
		assert_int_equal(*got != '\0', n <= 64);
		free(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elements), cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

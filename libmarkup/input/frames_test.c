/*
 * The rows of frames.h: that each is made as pattern.h and frames.h say, that its lines are
 * read as they are meant, and that lines that look alike stay.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/input/frames.h"
#include "libmarkup/input/frames_samples.h"
#include "libmarkup/input/match.h"

static const struct mk_input *const inputs[] = { &mk_frames_input, &mk_any_input };

static void put(char *to, size_t size, const char *format, ...)
{
	const size_t len = strlen(to);
	va_list args;

	va_start(args, format);
	vsnprintf(to + len, size - len, format, args);
	va_end(args);
}

static void write_event(const struct mk_event *e, char *to, size_t size)
{
	if (e->aside == MK_BEGINS_TRACE || e->aside == MK_INTERRUPTS) {
		put(to, size, "%s ", e->aside == MK_BEGINS_TRACE ? "header" : "signal");
		return;
	}
	if (e->kind == MK_MODULE) {
		put(to, size, "%.*s is %s%.*s ", (int)e->name.len, e->name.ptr, e->guid ? "guid " : "",
		    (int)e->detail.len, e->detail.ptr);
		return;
	}
	if (e->aside == MK_IN_TRACE)
		put(to, size, "in trace ");
	if (e->kind != MK_FRAME && e->aside != MK_CARRIES)
		return;
	if (e->aside == MK_CARRIES) {
		put(to, size, "carries ");
		if (e->build_id.len)
			put(to, size, "<%.*s> ", (int)e->build_id.len, e->build_id.ptr);
		else if (e->name.len)
			put(to, size, "%.*s ", (int)e->name.len, e->name.ptr);
		else
			put(to, size, "%llx ", (unsigned long long)e->lookup);
		return;
	}
	put(to, size, "%.*s%s", (int)e->name.len, e->name.ptr, e->shared_object ? ".so" : "");
	put(to, size, "%c%llx", e->absolute ? '@' : e->origin == MARKUP_FROM_ZERO ? '=' :
	    e->origin == MARKUP_FROM_FILE ? '~' : e->origin == MARKUP_FROM_VALGRIND ? '%' : '+',
	    (unsigned long long)(e->absolute ? e->address : e->lookup));
	if (e->absolute && e->symbol.len)
		put(to, size, "(%.*s+%llx)", (int)e->symbol.len, e->symbol.ptr,
		    (unsigned long long)e->symbol_offset);
	put(to, size, e->returns == MK_RETURN_BUT_LEAD ? " -1l " : e->returns == MK_RETURN_BUT_FIRST
			      ? " -1f " : e->returns ? " -1 " : " ");
	if (!e->reach)
		put(to, size, "#%llu ", (unsigned long long)e->number);
	if (e->build_id.len)
		put(to, size, "<%.*s> ", (int)e->build_id.len, e->build_id.ptr);
	if (e->hole.len)
		put(to, size, "{%.*s} ", (int)e->hole.len, e->hole.ptr);
	if (e->known_only || e->carried || e->behind_header)
		put(to, size, "? ");
}

/* The events of a line, as the rows of `formats` (NULL: all) read it; the caller frees them. */
static struct mk_line read_bytes(const char *text, size_t len, const struct mk_formats *formats)
{
	struct mk_line l = { .p = text, .len = len, .part = MK_LINE_WHOLE, .newline = "\n", .formats = formats };

	for (size_t i = 0; i < 2 && !l.num_events; i++)
		mk_read_line(inputs[i], &l);
	return l;
}

static void read_text(const char *text, const struct mk_formats *formats, char *to, size_t size)
{
	struct mk_line l = read_bytes(text, strlen(text), formats);

	*to = 0;
	for (size_t i = 0; i < l.num_events; i++)
		write_event(&l.events[i], to, size);
	free(l.events);
}

static void test_samples(void **state)
{
	char got[1024];

	(void)state;
	for (size_t i = 0; i < NUM_FRAME_SAMPLES; i++) {
		read_text(frame_samples[i].line, NULL, got, sizeof(got));
		if (strcmp(got, frame_samples[i].events))
			fail_msg("%s\n  is %s\n  not %s", frame_samples[i].line, got, frame_samples[i].events);
	}
	for (size_t i = 0; i < NUM_OTHER_SAMPLES; i++) {
		read_text(other_samples[i], NULL, got, sizeof(got));
		if (*got && !strstr(got, "? "))
			fail_msg("%s\n  is %s", other_samples[i], got);
	}
}

/* A name ends at a zero byte, as a crash leaves it in a log that was being written. */
static void test_zero_byte(void **state)
{
	static const char line[] = "x\0libx.so            00007F30FBCEAEEC  Unknown               Unknown  Unknown";
	struct mk_line l = read_bytes(line, sizeof(line) - 1, NULL);

	(void)state;
	assert_int_equal(l.num_events, 1);
	assert_int_equal(l.events[0].name.len, strlen("libx.so"));
	assert_ptr_equal(l.events[0].name.ptr, line + 2);
	free(l.events);
}

/* A program that wrote a title over its name is found by the name in the title. */
static void test_titles(void **state)
{
	static const struct {
		const char *title, *name;
	} cases[] = {
		{ "/usr/sbin/x: alerter #2", "/usr/sbin/x" },
		{ "log 1: /usr/sbin/x: alerter #2", "/usr/sbin/x" },
		{ "/usr/sbin/x alerter #2", "/usr/sbin/x" },
		{ "redis-server *:6379", "redis-server" },
		{ "nginx: worker process", "nginx" },
		{ "a b nginx: worker process", "nginx" },
		{ "\"log\": \"sshd: me@pts/0", NULL }, /* that is a path by itself */
		{ "\"log\": \"sshd: me", "sshd" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[100];
		struct mk_line l;
		struct sc_str name;

		snprintf(text, sizeof(text), "%s(+0x12) [0x55d0c3c77012]", cases[i].title);
		l = read_bytes(text, strlen(text), NULL);
		assert_int_equal(l.num_events, 1);
		name = l.events[0].other_name;
		if (!cases[i].name != !name.ptr || (name.ptr && (name.len != strlen(cases[i].name) ||
								 memcmp(name.ptr, cases[i].name, name.len))))
			fail_msg("%s: %.*s", cases[i].title, (int)name.len, name.ptr);
		free(l.events);
	}
}

/* What collectors write before and behind a text changes nothing. */
static void test_surroundings(void **state)
{
	static const char *const around[][2] = {
		{ "May 17 10:11:12 host7 app[4242]: ", "" },
		{ "2024-05-17T10:11:12.345678Z stderr F ", "" },
		{ "{\"log\":\"", "\\n\",\"stream\":\"stderr\"}" },
		{ "[pod/web-0/app] ", "\r" },
		{ "E0517 10:11:12.345678  777 file.cc:42] ", " " },
		{ "2024-05-17 10:11:12,345 ERROR [main] c.C - ", "" },
		{ "\033[1m\033[31m", "\033[0m" },
		{ "[Backtrace 1: ", "" },
	};
	char line[1024], want[1024], got[1024];

	(void)state;
	for (size_t i = 0; i < NUM_FRAME_SAMPLES; i++) {
		for (size_t k = 0; k < sizeof(around) / sizeof(*around); k++) {
			if (strchr(frame_samples[i].line, '"'))
				continue; /* not as it would be in JSON */
			snprintf(line, sizeof(line), "%s%s%s", around[k][0], frame_samples[i].line,
				 around[k][1]);
			read_text(line, NULL, got, sizeof(got));
			snprintf(want, sizeof(want), "%s", frame_samples[i].events);
			if (strcmp(got, want))
				fail_msg("%s\n  is %s\n  not %s", line, got, want);
		}
	}
}

/* Nor do codes of colours within it, as grep --color puts them around what it found. */
static void test_codes(void **state)
{
	static const char *const codes[] = { "\033[01;31m", "\033[m\033[K", "\033[0m\033[31m\033[K" };
	char line[200], want[1024], got[1024];

	(void)state;
	read_text("/opt/crash() [0x401205]", NULL, want, sizeof(want));
	assert_non_null(strstr(want, "crash"));
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		snprintf(line, sizeof(line), "/opt/crash()%s [0x401205]", codes[i]);
		read_text(line, NULL, got, sizeof(got));
		assert_string_equal(got, want);
	}
}

/* Letters and groups are as pattern.h says. */
static void check_pattern(const struct mk_frame_row *row, const char *pattern, const char *letters)
{
	int depth = 0;

	for (const char *p = pattern; *p; p++) {
		if (*p != '%')
			continue;
		p++;
		depth += (*p == '(') - (*p == ')');
		if (!*p || !strchr(letters, *p) || depth < 0)
			fail_msg("%s: '%s' at '%s'", row->name, pattern, p);
		if ((*p == 'S' || *p == 'P') && p[1] == '%' && p[2] != '}' && p[2] != ')' &&
		    p[2] != '|' && p[2] != '$' && letters[0] == '(')
			fail_msg("%s: '%s': nothing ends what is at '%s'", row->name, pattern, p);
	}
	assert_int_equal(depth, 0);
}

static bool has_word(const struct mk_input *in, const char *line)
{
	for (const char *const *w = in->words; *w; w++)
		if (strstr(line, *w))
			return true;
	return false;
}

/* Each row has a sample that it alone reads, in a line with a word of its input, and its name
 * can be chosen. */
static void test_rows(void **state)
{
	(void)state;
	assert_in_range(mk_num_frame_rows, 1, MK_FRAME_ROWS_MAX);
	for (size_t i = 0; i < mk_num_frame_rows; i++) {
		const struct mk_frame_row *row = &mk_frame_rows[i];
		const bool any = !strcmp(row->name, mk_any_input.name);
		struct mk_formats only = { .rows = { 0 } };
		size_t found = 0;
		char got[1024];

		only.rows[i / 64] = 1ull << i % 64;
		check_pattern(row, row->left, "NAHLMTODBUXxdwIJSPQ_1{}");
		check_pattern(row, row->right, "(|)NAHLMTODBUXxdwIJGSFPW_1.${}");
		if (!markup_inputs_valid(row->name))
			fail_msg("%s is not in the list of formats", row->name);
		for (size_t k = 0; k < NUM_FRAME_SAMPLES; k++) {
			read_text(frame_samples[k].line, &only, got, sizeof(got));
			if (*got && !has_word(inputs[any], frame_samples[k].line))
				fail_msg("%s: no word in %s", row->name, frame_samples[k].line);
			found += *got != 0;
		}
		if (!found && row->kind != MK_ROW_STAYS)
			fail_msg("row %zu, %s, reads no sample: %s", i, row->name, row->right);
	}
}

/* The document names each format, and no other, in its table. */
static void test_document(void **state)
{
	FILE *file = fopen("format/backtraces.md", "re");
	char line[4096], name[64];
	size_t n = 0;

	(void)state;
	assert_non_null(file);
	for (const char *const *of = markup_input_names; *of; of++) {
		bool found = !strcmp(*of, "markup") || !strcmp(*of, "maps"); /* not in the table */

		rewind(file);
		while (!found && fgets(line, sizeof(line), file))
			found = sscanf(line, "| %*[^|]| `%63[a-z0-9]` |", name) == 1 && !strcmp(name, *of);
		if (!found)
			fail_msg("format/backtraces.md has no row of %s", *of);
	}
	rewind(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "| %*[^|]| `%63[a-z0-9]` |", name) != 1)
			continue;
		n++;
		if (!markup_inputs_valid(name))
			fail_msg("format/backtraces.md has a row of %s, which --input does not", name);
	}
	assert_true(n >= mk_num_frame_rows / 3);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_samples), cmocka_unit_test(test_zero_byte), cmocka_unit_test(test_titles),
		cmocka_unit_test(test_surroundings), cmocka_unit_test(test_codes),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_document),
	};
	return cmocka_run_group_tests_name("frames", tests, NULL, NULL);
}

/*
 * Modules that lines name: of which one the resolver is asked, by name, build ID, and whether it is the
 * kernel's; once each.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/testing.h"

static char asked[600];

static void *note_module(void *ctx, struct markup_module *m, const char **why)
{
	static char any;

	(void)ctx, (void)why;
	snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%s%.*s", m->kernel ? "kernel's " : "",
		 (int)m->name.len, m->name.ptr);
	for (size_t i = 0; i < m->build_id_len; i++)
		snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%s%02x", i ? "" : " ", m->build_id[i]);
	snprintf(asked + strlen(asked), sizeof(asked) - strlen(asked), "%s%.*s; ", m->release.len ? " of " : "",
		 (int)m->release.len, m->release.ptr);
	return &any;
}

static bool take_place(void *ctx, void *module, struct markup_place *p, uint64_t *vaddr)
{
	(void)ctx, (void)module;
	*vaddr = p->offset;
	return true;
}

static void ask(const char *log)
{
	const struct markup_resolver r = { .module = note_module, .place = take_place, .code = fake_code };
	struct fake_sink got = { 0 };
	const struct markup_sink sink = { &got, fake_write, fake_complain };
	struct markup_filter *f;

	*asked = '\0';
	assert_int_equal(markup_filter_create(&(struct markup_options){ 0 }, &r, 1, &sink, &f), 0);
	assert_int_equal(markup_filter_feed(f, log, strlen(log)), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	markup_filter_destroy(f);
	fake_sink_deinit(&got);
}

#define ID "dfe7f702eebf5b10a7d32d50e980c699918066c2"
#define ID2 "dfe7f702eebf5b10a7d32d50e980c699918066c3"
#define PATH_FRAME(name) name "(+0x1234) [0x55001234]\n"
#define ID_FRAME(name, id) "    #0 0x1234 in f (" name "+0x1234) (BuildId: " id ")\n"
#define KERNEL_FRAME(name) " f+0x1/0x20 [" name "]\n"

static void test_asked(void **state)
{
	static const struct { const char *log, *want; } cases[] = {
		{ PATH_FRAME("/x/a") PATH_FRAME("/x/a") PATH_FRAME("/y/a"), "/x/a; /y/a; " },
		{ ID_FRAME("/x/a", ID) ID_FRAME("/x/a", ID2) ID_FRAME("/x/a", ID) ID_FRAME("/y/a", ID),
		  "/x/a " ID "; /x/a " ID2 "; /y/a " ID "; " },
		{ ID_FRAME("/x/a", ID) PATH_FRAME("/x/a"), "/x/a " ID "; /x/a; " },
		{ "Call Trace:\n" KERNEL_FRAME("a") KERNEL_FRAME("a") PATH_FRAME("a") KERNEL_FRAME("a"), "kernel's a; a; " },
		{ PATH_FRAME("a") "Call Trace:\n" KERNEL_FRAME("a"), "a; kernel's a; " },
		{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1 " ID "\nCall Trace:\n f+0x1/0x20\n" KERNEL_FRAME("a"),
		  "kernel's vmlinux " ID " of 6.1.0; kernel's a of 6.1.0; " },
		{ KERNEL_FRAME("a " ID) KERNEL_FRAME("a"), "kernel's a " ID "; kernel's a; " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		ask(cases[i].log);
		if (strcmp(asked, cases[i].want))
			fail_msg("%s: %s, not %s", cases[i].log, asked, cases[i].want);
	}
}

static void put_name(void *to, const struct markup_module *m)
{
	sprintf((char *)to + strlen(to), "%.*s; ", (int)m->name.len, m->name.ptr);
}

static bool take_offset(void *ctx, void *module, struct markup_place *p, uint64_t *vaddr)
{
	(void)ctx, (void)module;
	*vaddr = p->offset;
	return p->origin != MARKUP_FIXED;
}

/* Listed are modules of frames: not one for frames that do not come, although its line is looked at
 * ahead. */
static void test_listed(void **state)
{
	const struct markup_resolver r = { .module = note_module, .place = take_offset, .code = fake_code };
	const struct markup_options options = { .keep_modules = true };
	static const char log[] = "/a(f+0x2)[0x555500001205]\nthr<7> obj</b>\n";
	const struct markup_sink sink = { 0 };
	struct markup_filter *f;
	char got[100] = "";

	(void)state;
	assert_int_equal(markup_filter_create(&options, &r, 1, &sink, &f), 0);
	assert_int_equal(markup_filter_feed(f, log, strlen(log)), 0);
	assert_int_equal(markup_filter_finish(f), 0);
	assert_int_equal(markup_filter_modules(f, put_name, got), 0);
	assert_string_equal(got, "/a; ");
	markup_filter_destroy(f);
}

static bool there;

static void *module_that_comes(void *ctx, struct markup_module *m, const char **why)
{
	return there ? note_module(ctx, m, why) : NULL;
}

/* A module that the resolver does not know is asked for again in the next input. */
static void test_asked_again(void **state)
{
	static const char *const logs[] = { "/a(f+0x2)[0x401205]\n", PATH_FRAME("/a") "\n/b(f+0x2)[0x401205]\n" };
	const struct markup_resolver r = { .module = module_that_comes, .place = take_place, .code = fake_code };

	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++) {
		struct fake_sink got = { 0 };
		const struct markup_sink sink = { &got, fake_write, fake_complain };
		const char *want = i ? "/a; /b; " : "/a; ";
		struct markup_filter *f;

		*asked = '\0';
		assert_int_equal(markup_filter_create(&(struct markup_options){ 0 }, &r, 1, &sink, &f), 0);
		for (there = false;; there = true) {
			markup_filter_input(f, "log");
			assert_int_equal(markup_filter_feed(f, PATH_FRAME("/x"), strlen(PATH_FRAME("/x"))), 0);
			assert_int_equal(markup_filter_feed(f, logs[i], strlen(logs[i])), 0);
			assert_int_equal(markup_filter_finish(f), 0);
			if (there)
				break;
			assert_string_equal(asked, "");
		}
		assert_non_null(strstr(asked, want));
		markup_filter_destroy(f);
		fake_sink_deinit(&got);
	}
}

/* A name with ".so" behind it, or a kernel's release in front, has less than 256 bytes; a longer one is
 * as it is on the line. */
static void test_lengths(void **state)
{
	static const struct { const char *log, *want; char filler; size_t others; } cases[] = {
		{ "E AndroidRuntime: \tat %s.0x11f9(Native Method)\n", "%s.so; ", 'm', 3 },
		{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1\nCall Trace:\n f+0x1/0x20 [%s]\n", "kernel's %s of 6.1.0; ", 'm', 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		for (size_t len = 253 - cases[i].others; len < 259 - cases[i].others; len++) {
			char name[300], log[500], want[400];

			memset(name, cases[i].filler, len);
			name[len] = 0;
			sprintf(log, cases[i].log, name);
			sprintf(want, len + cases[i].others < 256 ? cases[i].want : i ? "kernel's %s; " : "%s; ", name);
			ask(log);
			assert_string_equal(asked, want);
		}
	}
}

/* A kernel's build ID has up to 256 bytes. */
static void test_long_id(void **state)
{
	char id[600], log[800], want[700];

	(void)state;
	for (size_t len = 254; len < 259; len++) {
		memset(id, 'c', 2 * len);
		id[2 * len] = 0;
		sprintf(log, "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1 %s\nCall Trace:\n f+0x1/0x20\n", id);
		sprintf(want, "kernel's vmlinux%s%s of 6.1.0; ", len <= 256 ? " " : "", len <= 256 ? id : "");
		ask(log);
		assert_string_equal(asked, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_asked), cmocka_unit_test(test_listed),
					     cmocka_unit_test(test_asked_again), cmocka_unit_test(test_lengths),
					     cmocka_unit_test(test_long_id) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

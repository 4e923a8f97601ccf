/* What a backtrace is called by the lines before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "libmarkup/output/html/page.h"
#include "libmarkup/output/html/title.h"

static void add(struct mk_recent *r, const char *line)
{
	struct mk_out o = { 0 };

	mk_html_text(&o, sc_str_of(line));
	mk_out_char(&o, '\n');
	mk_recent_add(r, o.buf, o.len);
	mk_out_deinit(&o);
}

/* What a backtrace behind these lines is called, and how much that matters. */
static int title_of(const struct mk_recent *r, char text[static 600])
{
	struct mk_out o = { 0 };
	const int severity = mk_html_title(&o, r);

	assert_true(o.len < 600);
	snprintf(text, 600, "%.*s", (int)o.len, o.len ? o.buf : "");
	mk_out_deinit(&o);
	return severity;
}

#define BAD(text) "<b class=bad>" text "</b>"

/* A line that says why, what the backtrace is called, how much that matters, and how many lines
 * before its first frame the line may be. */
static const struct { const char *line, *title; int severity; unsigned reach; } causes[] = {
	{ "previously allocated by thread T1 here:",
	  BAD("allocated by") " thread T1 here", 1, 2 },
	{ "freed by thread T0 here:",
	  BAD("freed by") " thread T0 here", 1, 2 },
	{ "Direct leak of 7 byte(s) in 1 object(s) allocated from:",
	  BAD("Direct leak") " of 7 byte(s) in 1 object(s) allocated from", 2, 2 },
	{ "Indirect leak of 3 byte(s) in 2 object(s) allocated from:",
	  BAD("Indirect leak") " of 3 byte(s) in 2 object(s) allocated from", 2, 2 },
	{ "  Previous write of size 4 at 0x7b04 by thread T1:",
	  BAD("Previous write") " of size 4 at 0x7b04 by thread T1", 1, 2 },
	{ "  Previous read of size 4 at 0x7b04 by main thread:",
	  BAD("Previous read") " of size 4 at 0x7b04 by main thread", 1, 2 },
	{ "==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010 at pc 0x5512 bp 0x7ffc",
	  BAD("heap-use-after-free") " ", 2, 6 },
	{ "==7==ERROR: AddressSanitizer: stack-buffer-overflow in f",
	  BAD("stack-buffer-overflow") " in f", 2, 6 },
	{ "WARNING: ThreadSanitizer: data race (pid=7)",
	  BAD("data race") " (pid=7)", 2, 6 },
	{ "SUMMARY: MemorySanitizer: use of value 3",
	  BAD("use of value") " 3", 2, 6 },
	{ "AddressSanitizer:DEADLYSIGNAL",
	  BAD("DEADLYSIGNAL"), 2, 4 },
	{ "a.c:7:3: runtime error: signed integer overflow: 1 + 2 cannot be represented in type 'int', which is the end of it",
	  BAD("runtime error:") " signed integer overflow: 1 + 2 cannot be represented in type 'int', wh…", 2, 2 },
	{ "*** Caught signal (11)",
	  BAD("Caught signal") " (11)", 2, 12 },
	{ "got signal 6.",
	  BAD("got signal") " 6", 2, 12 },
	{ "Received signal 11 <unknown>",
	  BAD("Received signal") " 11 &lt;unknown&gt;", 2, 12 },
	{ "Fatal signal 6, code -1",
	  BAD("Fatal signal") " 6, code -1", 2, 12 },
	{ "app: fatal signal 11!",
	  BAD("fatal signal") " 11!", 2, 12 },
	{ "app: signal 11 (core dumped)",
	  BAD("signal 11") " (core dumped)", 2, 8 },
	{ "app: signal handler",
	  "app: signal handler", 0, 0 },
	{ "signal 7",
	  BAD("signal 7"), 2, 8 },
	{ "terminate called after throwing an instance of 'std::runtime_error'",
	  BAD("terminate called") " after throwing an instance of 'std::runtime_error'", 2, 6 },
	{ "thread 'main' panicked at src/main.rs:4:5:",
	  BAD("panicked at") " src/main.rs:4:5", 2, 4 },
	{ "panic: runtime error: index out of range [5] with length 3",
	  BAD("runtime error:") " index out of range [5] with length 3", 2, 12 },
	{ "[FATAL] Check failed: a == b (1 vs. 2)",
	  BAD("Check failed") " a == b (1 vs. 2)", 2, 6 },
	{ "a.out: a.c:7: f: Assertion `x < 3 && \"y\"' failed.",
	  BAD("Assertion") " `x &lt; 3 &amp;&amp; &quot;y&quot;' failed", 2, 8 },
	{ "Segmentation fault (address not mapped)",
	  BAD("Segmentation fault") " (address not mapped)", 2, 12 },
	{ "app[7] dumped core.",
	  BAD("core dumped"), 2, 4 },
	{ "*** stack smashing detected ***: terminated",
	  BAD("stack smashing detected") " ***: terminated", 2, 4 },
	{ "free(): double free detected in tcache 2",
	  BAD("double free") " detected in tcache 2", 2, 4 },
	{ "[   12.345678] kernel BUG at mm/slub.c:305!",
	  BAD("kernel BUG") " at mm/slub.c:305!", 2, 40 },
	{ "BUG: unable to handle page fault for address: 0000",
	  BAD("unable to handle page fault for address") " 0000", 2, 40 },
	{ "Oops: 0002 [#1] PREEMPT SMP",
	  BAD("Oops") " 0002 [#1] PREEMPT SMP", 2, 40 },
	{ "general protection fault, probably for non-canonical address 0xdead: 0000 [#1]",
	  BAD("general protection fault") " probably for non-canonical address 0xdead: 0000 [#1]", 2, 40 },
	{ "Unable to handle kernel NULL pointer dereference at virtual address 0",
	  BAD("Unable to handle kernel") " NULL pointer dereference at virtual address 0", 2, 40 },
	{ "Kernel panic - not syncing: Fatal exception",
	  BAD("Kernel panic") " - not syncing: Fatal exception", 2, 40 },
	{ "WARNING: CPU: 1 PID: 7 at net/core/dev.c:100",
	  BAD("WARNING: CPU") " 1 PID: 7 at net/core/dev.c:100", 2, 40 },
	{ "==7== Invalid read of size 4",
	  BAD("Invalid read") " of size 4", 2, 2 },
	{ "==7== Invalid write of size 8",
	  BAD("Invalid write") " of size 8", 2, 2 },
	{ "==7== Conditional jump or move depends on uninitialised value(s)",
	  BAD("Conditional jump") " or move depends on uninitialised value(s)", 2, 2 },
	{ "==7== 40 bytes in 1 blocks are definitely lost in loss record 1 of 1",
	  BAD("definitely lost") " in loss record 1 of 1", 2, 2 },
	{ "wine: unhandled exception: page fault on read access",
	  BAD("unhandled exception") " page fault on read access", 2, 4 },
	{ "fatal error: all goroutines are asleep - deadlock!",
	  BAD("fatal error") " all goroutines are asleep - deadlock!", 2, 6 },
	{ "process died of SIGSEGV (11), core dumped",
	  BAD("SIGSEGV") " (11), core dumped", 2, 12 },
	{ "SIGABRT",
	  BAD("SIGABRT"), 2, 12 },
	{ "SIGSEGVS: x",
	  BAD("SIGSEGVS") " x", 2, 12 },
	{ "SIGSEGVSXX: x",
	  "SIGSEGVSXX: x", 0, 0 },
	{ "mySIGSEGV and SIG, SIGS: then SIGBUS: at 0",
	  BAD("SIGBUS") " at 0", 2, 12 },
	{ "_SIGFPE: at 0",
	  BAD("SIGFPE") " at 0", 2, 12 },
	{ "SIGSEGV-like: at 0",
	  "SIGSEGV-like: at 0", 0, 0 },
	{ "an uninteresting line",
	  "an uninteresting line", 0, 0 },
	{ "a line that ends in many signs: * . :",
	  "a line that ends in many signs", 0, 0 },
	{ "[   12.345678][ T1] what a kernel says",
	  "[ T1] what a kernel says", 0, 0 },
	{ "[   12.345678 without an end",
	  "[   12.345678 without an end", 0, 0 },
	{ "{\"msg\":\"first\\nsecond\"}",
	  "{&quot;msg&quot;:&quot;first", 0, 0 },
	{ "found on address 0x12, not said",
	  "found", 0, 0 },
	{ "found at pc 0x12, not said",
	  "found", 0, 0 },
	{ "found (pc 0x12), not said",
	  "found", 0, 0 },
	{ "a line of 70 bytes, of which seventy are shown at the most, as here is",
	  "a line of 70 bytes, of which seventy are shown at the most, as here is", 0, 0 },
	{ "a line of 71 bytes, of which seventy are shown at the most, as here is ",
	  "a line of 71 bytes, of which seventy are shown at the most, as here is…", 0, 0 },
	{ "a line of 68 bytes, of which seventy are shown at the most, as here éé",
	  "a line of 68 bytes, of which seventy are shown at the most, as here é…", 0, 0 },
	{ "a line of 69 bytes, of which seventy are shown at the most, as here ié",
	  "a line of 69 bytes, of which seventy are shown at the most, as here i…", 0, 0 },
	{ "a line of 69 bytes, of which seventy are shown at the most, as here i€ and more",
	  "a line of 69 bytes, of which seventy are shown at the most, as here i…", 0, 0 },
	{ "a line of 66 bytes, of which seventy are shown at the most, as her<ab",
	  "a line of 66 bytes, of which seventy are shown at the most, as her&lt;…", 0, 0 },
	{ "a line of 67 bytes, of which seventy are shown at the most, as here<ab",
	  "a line of 67 bytes, of which seventy are shown at the most, as here…", 0, 0 },
	{ "a line of 68 bytes, of which seventy are shown at the most, as here <ab",
	  "a line of 68 bytes, of which seventy are shown at the most, as here …", 0, 0 },
	{ "a line of 69 bytes, of which seventy are shown at the most, as here i<ab",
	  "a line of 69 bytes, of which seventy are shown at the most, as here i…", 0, 0 },
	{ "a line of 70 bytes, of which seventy are shown at the most, as here is<ab",
	  "a line of 70 bytes, of which seventy are shown at the most, as here is…", 0, 0 },
	{ "a line of 65 bytes, of which seventy are shown at the most, as he\"ab",
	  "a line of 65 bytes, of which seventy are shown at the most, as he…", 0, 0 },
	{ "a line of 64 bytes, of which seventy are shown at the most, as h\"ab",
	  "a line of 64 bytes, of which seventy are shown at the most, as h&quot;…", 0, 0 },
	{ "a line of 63 bytes, of which seventy are shown at the most, as & more text",
	  "a line of 63 bytes, of which seventy are shown at the most, as &amp; m…", 0, 0 },
	{ "a line of 60 bytes, of which seventy are shown at the most, &; more text is here",
	  "a line of 60 bytes, of which seventy are shown at the most, &amp;; mor…", 0, 0 },
	{ "a line of 70 bytes, of which seventy are shown at the most, as here is  :..",
	  "a line of 70 bytes, of which seventy are shown at the most, as here is…", 0, 0 },
	{ "a line of 66 bytes, of which seventy are shown at the most, as her*:..",
	  "a line of 66 bytes, of which seventy are shown at the most, as her", 0, 0 },
	{ "SIGSEGV: a line of 70 bytes, of which seventy are shown at the most, as here is",
	  BAD("SIGSEGV") " a line of 70 bytes, of which seventy are shown at the most, as here is", 2, 12 },
	{ "SIGSEGV: a line of 71 bytes, of which seventy are shown at the most, as here is ",
	  BAD("SIGSEGV") " a line of 71 bytes, of which seventy are shown at the most, as here is…", 2, 12 },
	{ "heap-use-after-free in AddressSanitizer: a-b_c d 1 on x",
	  BAD("a-b_c d") " 1 on x", 2, 6 },
	{ "BUG: KASAN: slab-out-of-bounds in f+0x1/0x2",
	  BAD("KASAN") " slab-out-of-bounds in f+0x1/0x2", 2, 40 },
	{ "BUG: soft lockup - CPU#1 stuck for 22s!",
	  BAD("soft lockup") " - CPU#1 stuck for 22s!", 2, 40 },
	{ "SIGHUP)),:;. text",
	  BAD("SIGHUP") " text", 2, 12 },
	{ "got signal SIGILLA on x",
	  BAD("SIGILLA") " on x", 2, 12 },
	{ "xSIGILL",
	  "xSIGILL", 0, 0 },
	{ "SIGILL9",
	  "SIGILL9", 0, 0 },
	{ "SIGIL",
	  BAD("SIGIL"), 2, 12 },
	{ "SIGI",
	  "SIGI", 0, 0 },
	{ "SIG",
	  "SIG", 0, 0 },
};

static void test_causes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(causes) / sizeof(*causes); i++) {
		struct mk_recent r = { 0 };
		unsigned reach = 0;
		char text[600];

		add(&r, "before");
		add(&r, causes[i].line);
		assert_int_equal(title_of(&r, text), causes[i].severity);
		assert_string_equal(text, causes[i].title);
		while (reach < 50 && title_of(&r, text)) {
			reach++;
			add(&r, "between");
		}
		if (reach != causes[i].reach)
			fail_msg("%s: %u lines", causes[i].line, reach);
		assert_string_equal(text, reach ? "between" : causes[i].title);
		mk_out_deinit(&r.text);
	}
}


/* Several lines, as they are on a page: which of them counts. */
static const struct { const char *lines, *title; int severity; } logs[] = {
	{ "", "", 0 },
	{ "\n \t\n", "", 0 },
	{ "said\n[[[ELF module #0x0]]]\n=====\n[    1.234567][ T1] ---\n | \n\n", "said", 0 },
	{ "said\n[[x\n", "[[x", 0 },
	{ "said\n[\n", "[", 0 },
	{ "first\n \t second\n", "second", 0 },
	{ "first\n| second\n", "| second", 0 },
	{ "SIGSEGV\nfreed by thread T0:\n", BAD("freed by") " thread T0", 1 },
	{ "freed by thread T0:\nSIGSEGV\n", BAD("SIGSEGV"), 2 },
	{ "<span class=\"c1\">BUG: </span>a <s>b</s><i>\n", BAD("a b"), 2 },
	{ "a <b\n", "a <b", 0 },
	{ "a <b\nc>\n", "c>", 0 },
	{ "<b>\n", "", 0 },
};

static void test_logs(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(logs) / sizeof(*logs); i++) {
		struct mk_recent r = { 0 };
		char text[600];

		/* It makes no difference in which pieces they come. */
		for (const char *p = logs[i].lines, *next; *p; p = next) {
			next = p + 1 + (p[1] != 0 && p[1] != '\n' && *p != '\n');
			mk_recent_add(&r, p, (size_t)(next - p));
		}
		assert_int_equal(title_of(&r, text), logs[i].severity);
		assert_string_equal(text, logs[i].title);
		mk_recent_clear(&r);
		assert_int_equal(title_of(&r, text), 0);
		assert_string_equal(text, "");
		mk_out_deinit(&r.text);
	}
}

static void add_long(struct mk_recent *r, size_t len, const char *end)
{
	char line[1000];

	memset(line, '.', len);
	strcpy(line + len, end);
	mk_recent_add(r, line, len / 2);
	mk_recent_add(r, line + len / 2, strlen(line + len / 2));
}

/* Of a long line the first 511 bytes count, and of many lines the last ones. */
static void test_bounds(void **state)
{
	/* Behind so many lines of 500 bytes there is a report: it is known for so many more. */
	static const struct { unsigned before, reach; } halves[] = {
		{ 0, 33 }, { 1, 32 }, { 8, 25 }, { 16, 17 }, { 24, 26 }, { 31, 19 }, { 32, 18 }, { 33, 17 },
		{ 40, 27 },
	};
	struct mk_recent r = { 0 };
	char text[600];

	(void)state;
	for (size_t len = 503; len < 507; len++) {
		mk_recent_clear(&r);
		add_long(&r, len, "SIGSEGV\n");
		assert_int_equal(title_of(&r, text), 2);
		assert_string_equal(text, len < 505 ? BAD("SIGSEGV") : len == 505 ? BAD("SIGSEG") : BAD("SIGSE"));
	}
	add_long(&r, 600, "SIGSEGV\n"); /* what is cut off is the end of the line, not of the text */
	mk_recent_add(&r, "SIGBUS\n", 7);
	assert_int_equal(title_of(&r, text), 2);
	assert_string_equal(text, BAD("SIGBUS"));
	for (size_t i = 0; i < sizeof(halves) / sizeof(*halves); i++) {
		unsigned reach = 0;

		mk_recent_clear(&r);
		for (unsigned n = 0; n < halves[i].before; n++)
			add_long(&r, 499, "\n");
		mk_recent_add(&r, "Oops\n", 5);
		for (; reach < 50 && title_of(&r, text); reach++)
			add_long(&r, 499, "\n");
		if (reach != halves[i].reach)
			fail_msg("behind %u lines: %u", halves[i].before, reach);
	}
	mk_out_deinit(&r.text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_causes), cmocka_unit_test(test_logs), cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests_name("html title", tests, NULL, NULL);
}

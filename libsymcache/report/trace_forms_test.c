/*
 * What is shown of a trace file that is made here, with a frame for each thing that one can hold; its
 * module is the cache of tiny_test.h: code from 0x400010, data at 0x401000.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>
#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/report/testing.h"
#include "libsymcache/report/trace.h"
#include "libsymcache/report/trace_shown.h"

static void complain(void *ctx, const char *message)
{
	strcat(strcat(ctx, strchr(message, ' ') + 1), "\n");
}

/* ---- a trace file ---------------------------------------------------------------------------- */

static void begin_frame(struct bytes *o, int tracepoint, size_t *size)
{
	put(o, 2, (uint16_t)tracepoint);
	*size = put(o, 4, 0);
}

static void end_frame(struct bytes *o, size_t size)
{
	patch(o, size, 4, o->b.len - size - 4);
}

/* rip, rsp, xmm0, eflags, gs, and two bytes: the register behind them was not collected. */
static void put_registers(struct bytes *o, uint64_t pc)
{
	put(o, 1, 'R');
	put(o, 8, pc);
	put(o, 8, 0x7ff0);
	put(o, 8, 0x1122334455667788);
	put(o, 8, 0x99aabbccddeeff);
	put(o, 4, 0x246);
	put(o, 4, 0);
	put(o, 2, 0x4241);
}

static void put_memory(struct bytes *o, uint64_t address, const void *bytes, size_t n)
{
	put(o, 1, 'M');
	put(o, 8, address);
	put(o, 2, n);
	put_block(o, bytes, n);
}

static void put_variable(struct bytes *o, int number, int64_t value)
{
	put(o, 1, 'V');
	put(o, 4, (uint32_t)number);
	put(o, 8, (uint64_t)value);
}

static void put_definitions(struct bytes *o)
{
	put_block(o, "\177TRACE0\n", 8);
#define LINE(text) put_block(o, text "\n", sizeof(text))
	LINE("R 2a");
	LINE("tdesc <target><architecture>i386:x86-64</architecture><feature name='f'>");
	LINE("tdesc <reg name='rip' bitsize='64'/><reg name='rsp' bitsize='64'/><reg name='xmm0' bitsize='128'/>");
	LINE("tdesc <reg name='eflags' bitsize='32'/><reg name='gs' bitsize='32'/><reg name='last' bitsize='64'/>");
	LINE("tdesc </feature></target>");
	LINE("status 0;tpasscount:2;tframes:6;tcreated:9;tfree:64;tsize:c8;disconn:1;circular:1;starttime:f4628;"
	     "stoptime:1e8480;username:6d65;notes:68690a");
	LINE("tsv 1:2:0:68697473");
	LINE("tsv 2:ffffffffffffffff:1:74696d65");
	LINE("tp T1:400020:E:0:0");
	LINE("tp A1:400020:R3M-1,401010,4M-1,401000,10M7,8,10X2,0102L");
	LINE("tp Z1:400020:at:0:8:66696c65203131");
	LINE("tp Z1:400020:cond:0:3:61203e2031");
	LINE("tp V1:400020:1:30");
	LINE("tp T2:400028:D:2:5:F5:X3,010203");
	LINE("tp S2:400028:M-1,401018,2");
	LINE("tp Z2:400028:cmd:0:a:636f6c6c656374");
	LINE("tp T3:400010:E:0:0:S");
	LINE("tp T3:400028:E:0:0");
	LINE("tp V3:400028:2:40");
	LINE("tp A4:400030:R1");
	LINE("");
}

static void put_trace(struct bytes *o)
{
	static const char text[] = "ABCDEFGHIJKLMNO\x01\x7f\xffzz";
	size_t size;

	put_definitions(o);
	begin_frame(o, 1, &size); /* all of it */
	put_registers(o, 0x400020);
	put_memory(o, 0x401010, "\1\2\3\4", 4);
	put_memory(o, 0x401000, text, 20);
	put_memory(o, 0x401018, "ab", 2);
	put_memory(o, 0x7000, "", 1);
	put_variable(o, 1, -5);
	put_variable(o, 9, 7);
	put(o, 1, 'S');
	put(o, 2, 3);
	put_block(o, "s\0t", 3);
	end_frame(o, size);
	begin_frame(o, 2, &size); /* stepping, by its registers */
	put_registers(o, 0x400029);
	end_frame(o, size);
	begin_frame(o, 2, &size); /* no registers */
	end_frame(o, size);
	begin_frame(o, 1, &size);
	end_frame(o, size);
	begin_frame(o, 3, &size);
	end_frame(o, size);
	begin_frame(o, 77, &size); /* not defined; called what is nowhere */
	put_registers(o, 0x10);
	put_memory(o, 0x7ff0, "\x29\0\x40\0\0\0\0\0", 8);
	end_frame(o, size);
	begin_frame(o, 1, &size); /* code without a function */
	put_registers(o, 0x400031);
	end_frame(o, size);
	put(o, 2, 0);
}

static struct markup_traced done;

/* What is shown; complaints behind it. */
static char *shown(const struct bytes *file, struct markup_trace_options o)
{
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_names *names = symcache_names_create(NULL);
	struct symcache_process *images =
		symcache_process_create(&(struct symcache_finder){ .find = find_cache, .caches = caches });
	const struct symtrace_select all = { 0 };
	struct mk_out out = { 0 };
	char path[32], said[2000] = "";
	struct sc_error err;
	const int fd = testing_memfd(file->b.data, file->b.len, path);

	if (symcache_process_load(images, "/proc/self/exe", &err))
		fail_msg("%s", err.msg);
	o.select = o.select ? o.select : &all;
	o.images = images;
	o.caches = caches;
	o.names = names;
	o.complain = complain;
	o.ctx = said;
	if (markup_trace_report(path, &o, &out, &done, &err))
		fail_msg("%s", err.msg);
	mk_put(&out, said);
	mk_out_char(&out, '\0');
	for (char *at; (at = strstr(out.buf, path));) { /* which number it is, may change */
		memcpy(at, "FILE", 4);
		memmove(at + 4, at + strlen(path), strlen(at + strlen(path)) + 1);
	}
	close(fd);
	symcache_process_destroy(images);
	symcache_names_destroy(names);
	symcache_caches_destroy(caches);
	return mk_out_take(&out);
}

static void test_forms(void **state)
{
	struct symtrace_select frames = { 0 };
	const struct { struct markup_trace_options o; const char *want; } cases[] = {
		{ { .registers = true, .hexdump = true }, DEFINITIONS FRAMES_WITH_REGISTERS },
		{ { .backtrace = true }, DEFINITIONS FRAMES_WITH_STACKS },
		{ { .backtrace = true, .named = true, .select = &frames }, "FILE\n" FRAMES_WITH_STACKS },
		{ { .backtrace = true, .select = &frames }, FRAMES_WITH_STACKS },
		{ { .summary = true }, COUNTED },
		{ { .json = true, .registers = true, .hexdump = true, .backtrace = true }, AS_JSON },
		{ { .json = true, .summary = true }, COUNTED_AS_JSON },
	};
	struct bytes file = { 0 };

	(void)state;
	for (char number[] = "0"; *number <= '6'; ++*number)
		assert_int_equal(symtrace_select_add(&frames, SYMTRACE_BY_FRAME, number, NULL), 0);
	put_trace(&file);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char *got = shown(&file, cases[i].o);

		assert_string_equal(got, cases[i].want);
		free(got);
	}
	bytes_deinit(&file);
	symtrace_select_deinit(&frames);
}

/* ---- how the run ended, as GDB says it ------------------------------------------------------- */

#define STATUS .known = true, .frames = SYMTRACE_UNKNOWN, .created = SYMTRACE_UNKNOWN, \
	.free_bytes = SYMTRACE_UNKNOWN, .size = SYMTRACE_UNKNOWN
#define STOPS "Trace will stop if GDB disconnects.\n"

static void test_status(void **state)
{
	static const struct { struct symtrace_status status; const char *want; } cases[] = {
		{ { .known = false }, "Run/stop status is unknown.\n" },
		{ { STATUS, .running = true }, "Trace is running on the target.\n" STOPS },
		{ { STATUS }, "Trace stopped for an unknown reason.\n" STOPS },
		{ { STATUS, .stop = SYMTRACE_STOP_NOT_RUN }, "No trace has been run on the target.\n" STOPS },
		{ { STATUS, .stop = SYMTRACE_STOP_COMMAND }, "Trace stopped by a tstop command.\n" STOPS },
		{ { STATUS, .stop = SYMTRACE_STOP_COMMAND, .stop_text = { "why", 3 } },
		  "Trace stopped by a tstop command (why).\n" STOPS },
		{ { STATUS, .stop = SYMTRACE_STOP_FULL, .stop_text = { "why", 3 } },
		  "Trace stopped because the buffer was full.\n" STOPS },
		{ { STATUS, .stop = SYMTRACE_STOP_DISCONNECTED }, "Trace stopped because of disconnection.\n" STOPS },
		{ { STATUS, .stop = SYMTRACE_STOP_PASSCOUNT, .stop_tracepoint = 7 }, "Trace stopped by tracepoint 7.\n" STOPS },
		{ { STATUS, .stop = SYMTRACE_STOP_ERROR, .stop_text = { "bad", 3 }, .stop_tracepoint = 7 },
		  "Trace stopped by an error (bad, tracepoint 7).\n" STOPS },
		{ { STATUS, .stop = SYMTRACE_STOP_ERROR, .stop_text = { "bad", 3 } },
		  "Trace stopped by an error (bad).\n" STOPS },
		{ { STATUS, .running = true, .disconnected = true, .circular = true, .user = { "me", 2 }, .notes = { "n", 1 } },
		  "Trace is running on the target.\nTrace will continue if GDB disconnects.\nTrace buffer is circular.\n"
		  "Trace user is me.\nTrace notes: n.\n" },
		/* The buffer. */
		{ { .known = true, .running = true, .frames = 5, .created = 5, .free_bytes = SYMTRACE_UNKNOWN, .size = 8 },
		  "Trace is running on the target.\nCollected 5 trace frames.\n" STOPS },
		{ { .known = true, .running = true, .frames = 5, .created = 9, .free_bytes = 8, .size = SYMTRACE_UNKNOWN },
		  "Trace is running on the target.\nBuffer contains 5 trace frames (of 9 created total).\n"
		  "Trace buffer has 8 bytes free.\n" STOPS },
		{ { .known = true, .running = true, .frames = 0, .created = SYMTRACE_UNKNOWN, .free_bytes = 30, .size = 40 },
		  "Trace is running on the target.\nCollected 0 trace frames.\n"
		  "Trace buffer has 30 bytes of 40 bytes free (25% full).\n" STOPS },
		{ { .known = true, .running = true, .frames = SYMTRACE_UNKNOWN, .created = 3, .free_bytes = 41, .size = 40 },
		  "Trace is running on the target.\nTrace buffer has 41 bytes of 40 bytes free.\n" STOPS },
		{ { .known = true, .running = true, .frames = SYMTRACE_UNKNOWN, .created = 3, .free_bytes = 0, .size = 0 },
		  "Trace is running on the target.\nTrace buffer has 0 bytes of 0 bytes free.\n" STOPS },
		{ { .known = true, .running = true, .frames = SYMTRACE_UNKNOWN, .created = 3, .free_bytes = 1, .size = 1 },
		  "Trace is running on the target.\nTrace buffer has 1 bytes of 1 bytes free (0% full).\n" STOPS },
		/* Times. */
		{ { STATUS, .running = true, .start_us = 1500000 },
		  "Trace is running on the target.\n" STOPS "Trace started at 1.500000 secs.\n" },
		{ { STATUS, .running = true, .start_us = 1500000, .stop_us = 4000001 },
		  "Trace is running on the target.\n" STOPS "Trace started at 1.500000 secs, stopped 2.500001 secs later.\n" },
		{ { STATUS, .running = true, .stop_us = 1 },
		  "Trace is running on the target.\n" STOPS "Trace stopped at 0.000001 secs.\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct mk_out out = { 0 };
		char *text;

		mk_put_trace_status(&out, &cases[i].status);
		mk_out_char(&out, '\0');
		text = mk_out_take(&out);
		assert_string_equal(text, cases[i].want);
		free(text);
	}
}

/* What ends too early, or is no block, is said; what came before is shown. */
static void test_damaged(void **state)
{
	static const struct { bool json; const char *part; } cases[] = {
		{ false, "\nFrame 6: tracepoint 1, pc 0x400031 from registers\n  ?? in exe\n  registers 42 bytes\n" },
		{ true, "\"blocks\":[{\"register_bytes\":42}],\"error\":\"" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes file = { 0 };
		char *got;

		put_trace(&file);
		file.b.len -= 2;
		patch(&file, file.b.len - 43 - 4, 4, 44);
		put_block(&file, "Z\0\0", 3);
		got = shown(&file, (struct markup_trace_options){ .json = cases[i].json });
		if (!strstr(got, cases[i].part) || !strstr(got, "Unknown block type 'Z' (0x5a) in trace frame\n"))
			fail_msg("%s", got);
		free(got);
		bytes_deinit(&file);
	}
}

/* Of many frames with faults each is counted, and the first ten are said. */
static void test_many_faults(void **state)
{
	(void)state;
	for (unsigned n = 9; n <= 12; n++) {
		struct bytes file = { 0 };
		unsigned said = 0;
		size_t size;
		char *got;

		put_definitions(&file);
		for (unsigned i = 0; i < n; i++) {
			begin_frame(&file, 1, &size);
			put(&file, 1, 'Z');
			end_frame(&file, size);
		}
		put(&file, 2, 0);
		got = shown(&file, (struct markup_trace_options){ .summary = true });
		for (const char *at = got; (at = strstr(at, "Unknown block type 'Z'")); at++)
			said++;
		assert_int_equal(done.faults, n);
		assert_int_equal(said, n < 10 ? n : 10);
		free(got);
		bytes_deinit(&file);
	}
}

/* Of frames in no module: a program that lies anywhere, and may be where GDB loads it. */
static void test_unplaced(void **state)
{
	static const struct { uint64_t pc; size_t unplaced; bool by_gdb; } cases[] = {
		{ 0x400020, 0, false }, { 0x10, 1, false }, { 0x555555554000, 1, true }, { 0x555555556fff, 1, true },
		{ 0x555555557000, 1, false }, { 0x555555553fff, 1, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes file = { 0 };
		size_t size;

		put_definitions(&file);
		begin_frame(&file, 1, &size);
		put_registers(&file, cases[i].pc);
		end_frame(&file, size);
		put(&file, 2, 0);
		free(shown(&file, (struct markup_trace_options){ .summary = true }));
		assert_int_equal(done.unplaced, cases[i].unplaced);
		if (cases[i].unplaced)
			assert_int_equal(done.by_gdb, cases[i].by_gdb);
		assert_int_equal(done.first_pc, cases[i].pc);
		bytes_deinit(&file);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms), cmocka_unit_test(test_status), cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_many_faults),
		cmocka_unit_test(test_unplaced),
	};

	return cmocka_run_group_tests(tests, set_up_cache, tear_down_cache);
}

/*
 * Damaged trace files, ../shared/data/tfile/bad, against what GDB said to each
 * (gdb-answers.txt). Where our answer differs from GDB's it is in the table
 * `differ`, with the reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/trace/tfile_reader.h"
#include "libsymcache/trace/tfile_testing.h"

/* ---- bad/: GDB's meaning ------------------------------------------------------------ */

/* Where ours is not what GDB said, and why ours is better. */
static const struct {
	const char *name;
	const char *gdb, *ours; /* a part of GDB's answer, our error ("": none) */
	int notices;            /* of ours */
} differ[] = {
	/* GDB opens these in its second step only: it recreates the tracepoints from
	 * their source against the program and a target that cannot do it. The file
	 * itself is read well. */
	{ "empty-frame", "Target does not support", "", 0 },
	{ "frame-size-too-big", "Target does not support", "", 0 },
	{ "overlap-memory", "Target does not support", "", 0 },
	{ "unknown-block", "Target does not support", "", 0 },
	{ "tp-01", "May not have a fast tracepoint", "", 1 },
	{ "tp-04", "Function \"nosuchfc\" not defined", "", 0 },
	{ "tp-05", "", "", 0 }, /* here it dies */
	/* The source string came in two chunks; GDB keeps the second alone. */
	{ "tp-07", "Function \"er\" not defined", "", 0 },
	/* Other words. */
	{ "no-7f", "File is not a valid trace file.", "not a GDB trace file", 0 },
	{ "wrong-magic", "File is not a valid trace file.", "not a GDB trace file", 0 },
	{ "short-magic", "Premature end of file", "not a GDB trace file", 0 },
	/* GDB reads behind the end of the line. */
	{ "status-14", "Malformed trace status", "Malformed trace status", 0 },
	{ "tp-08", "no source location, using raw address", "", 1 },
	{ "tsv-short", "", "", 1 },
};

/* The answer of GDB to `name` behind `key`, up to the end of the line. */
static bool gdb_answer(const char *answers, const char *name, const char *key, char *buf,
		       size_t size)
{
	char head[100];
	const char *p, *end;

	snprintf(head, sizeof(head), "## %s\n", name);
	p = strstr(answers, head);
	if (!p)
		return false;
	end = strstr(p + 3, "\n## ");
	p = strstr(p, key);
	if (!p || (end && p > end))
		return false;
	p += strlen(key);
	snprintf(buf, size, "%.*s", (int)strcspn(p, "\n"), p);
	return true;
}

static char *answers;

/* Frames 0, 1, 2 and the one after the last: the program counter or the error. */
static void check_bad_frames(const char *name, const struct symtrace *f)
{
	struct symtrace_frames frames = symtrace_frames(f);
	struct symtrace_frame frame;
	struct symtrace_error err = { 0 };
	char key[40], said[2000];
	int more = 1;

	for (int i = 0; i < 11 && more > 0; i++) {
		const char *pc_text, *error_text;
		struct symtrace_pc pc = { SYMTRACE_PC_UNDEFINED, 0 };

		more = symtrace_next_frame(&frames, &frame, &err);
		if (more > 0)
			pc = symtrace_frame_pc(f, &frame);
		snprintf(key, sizeof(key), "frame %d: ", i);
		if (!gdb_answer(answers, name, key, said, sizeof(said)))
			continue; /* GDB was asked for 0, 1, 2, 9 and 10 */
		pc_text = strstr(said, "; pc ");
		error_text = strncmp(said, "ERROR: ", 7) == 0 ? said + 7 : NULL;
		if (strncmp(said, "Found", 5) == 0) {
			assert_int_equal(more, 1);
			if (strncmp(pc_text, "; pc 0x", 7) == 0)
				assert_int_equal(pc.address, strtoull(pc_text + 5, NULL, 16));
			else if (strcmp(name, "empty-frame") == 0 && i == 1)
				/* one of the tracepoints GDB failed to recreate */
				assert_int_equal(pc.address, 0x401290);
			else
				assert_false(symtrace_pc_known(pc));
		} else if (strncmp(said, "No trace frame found", 20) == 0) {
			assert_int_equal(more, 0);
		} else if (error_text && strncmp(error_text, "Unknown block", 13) == 0) {
			struct symtrace_blocks blocks;
			struct symtrace_block b;

			/* GDB is stuck in the bad frame; ours goes on to the next. */
			if (i > 0)
				continue;
			assert_int_equal(pc.kind, SYMTRACE_PC_DAMAGED);
			blocks = symtrace_blocks(f, &frame);
			while ((more = symtrace_next_block(&blocks, &b, &err)) > 0)
				;
			/* GDB prints the byte 2 as itself or not at all */
			assert_int_equal(more, SC_EFORMAT);
			assert_non_null(strstr(error_text, strchr(err.msg, '(')));
			more = 1;
		} else {
			assert_non_null(error_text);
			if (more > 0) { /* cut off inside of the frame */
				assert_int_equal(pc.kind, SYMTRACE_PC_DAMAGED);
			} else {
				assert_int_equal(more, SC_EFORMAT);
				assert_memory_equal(error_text, err.msg, strlen(err.msg));
			}
		}
	}
}

static void check_bad(const char *name)
{
	char path[300], open_answer[4000];
	const char *p;
	size_t size;
	uint8_t *data;
	struct symtrace f;
	size_t k = 0, num_differ = sizeof(differ) / sizeof(*differ);
	int status, warnings = 0;

	snprintf(path, sizeof(path), DATA "/bad/%s.tf", name);
	data = (uint8_t *)slurp(path, &size);
	status = symtrace_read(&f, data, size);
	f.pc_slot = (struct symtrace_pc_slot){ 128, 8 }; /* x86-64: of programs/prog1 */
	if (!gdb_answer(answers, name, "open: ", open_answer, sizeof(open_answer)))
		open_answer[0] = '\0'; /* GDB died */
	while (k < num_differ && strcmp(differ[k].name, name) != 0)
		k++;
	if (k < num_differ) {
		assert_non_null(strstr(open_answer, differ[k].gdb));
		assert_int_equal(status, *differ[k].ours ? SC_EFORMAT : 0);
		assert_memory_equal(f.fault.msg, differ[k].ours, strlen(differ[k].ours));
		assert_int_equal(f.num_notices, differ[k].notices);
	} else if (strncmp(open_answer, "ERROR: ", 7) == 0) {
		assert_int_equal(status, SC_EFORMAT);
		assert_memory_equal(open_answer + 7, f.fault.msg, strlen(f.fault.msg));
		assert_true(f.fault.offset <= size);
	} else {
		assert_int_equal(status, 0);
		assert_string_equal(f.fault.msg, "");
		/* GDB's other warnings come from target descriptions and from
		 * recreating the tracepoints. The record of long ones is cut off. */
		for (p = open_answer; (p = strstr(p, "warning: ")); p++) {
			const char *msg = f.notices[warnings].msg;

			if (strncmp(p + 9, "Ignoring trace file", 19) != 0 &&
			    strncmp(p + 9, "Unrecognized tracepoint", 23) != 0)
				continue;
			assert_true((size_t)warnings++ < f.num_notices);
			assert_memory_equal(p + 9, msg, strlen(msg) < 60 ? strlen(msg) : 60);
		}
		assert_int_equal(f.num_notices, warnings);
	}
	if (status == 0)
		check_bad_frames(name, &f);
	else
		assert_int_equal(f.frames_offset, 0);
	symtrace_close(&f);
	free(data);
}

static void test_bad(void **state)
{
	(void)state;
	NEEDS_DATA();
	answers = slurp_text(DATA "/bad/gdb-answers.txt");
	assert_true(for_each_file("bad", check_bad) >= 51);
	free(answers);
}

/* A piece of what is kept before an error, and what is made of odd lines. */
static void test_bad_details(void **state)
{
	struct { const char *name; struct symtrace f; uint8_t *data; } t[] = {
		{ .name = "no-R" }, { .name = "status-05" }, { .name = "tp-01" },
		{ .name = "tp-07" }, { .name = "tp-11" }, { .name = "tsv-dup" },
		{ .name = "status-06" }, { .name = "status-12" }, { .name = "status-15" },
		{ .name = "crlf-lines" }, { .name = "tp-08" }, { .name = "status-11" },
	};
	const struct symtrace_tracepoint *tp;

	(void)state;
	NEEDS_DATA();
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		char path[300];
			size_t size;

		snprintf(path, sizeof(path), DATA "/bad/%s.tf", t[i].name);
		t[i].data = (uint8_t *)slurp(path, &size);
		symtrace_read(&t[i].f, t[i].data, size);
		if (i == 1) /* "status 0;tstop" */
			assert_int_equal(t[i].f.fault.offset,
					 (uint8_t *)strstr((char *)t[i].data, "tstop") - t[i].data);
	}
	/* no-R: everything but the frames is there */
	assert_int_equal(t[0].f.num_tracepoints, 3);
	assert_int_equal(t[0].f.status.frames, 9);
	/* status-05: what came before the bad line */
	assert_int_equal(t[1].f.regblock_size, 0x330);
	assert_int_equal(t[1].f.num_tracepoints, 0);
	/* tp-01: E:0:0:F5:X2,2227:Q9:F3; as in GDB the rest is skipped from Q on */
	assert_int_equal(symtrace_find_tracepoint(&t[2].f, 2, &tp), 1);
	assert_int_equal(tp->kind, SYMTRACE_TP_FAST);
	assert_int_equal(tp->fast_len, 5);
	assert_int_equal(tp->condition.len, 4);
	assert_memory_equal(tp->condition.ptr, "2227", 4);
	assert_string_equal(t[2].f.notices[0].msg,
			    "Unrecognized char 'Q' in tracepoint definition, skipping rest");
	/* tp-07: "out" and "er" */
	assert_string_equal(t[3].f.pieces[1].text.ptr, "outer");
	/* tp-11: GDB, too, adds up */
	assert_int_equal(t[4].f.tracepoints[0].hits, 7);
	/* tsv-dup: the later 0x99 replaces 0 */
	assert_int_equal(t[5].f.num_variables, 5);
	assert_int_equal(symtrace_find_variable(&t[5].f, 2)->initial, 0x99);
	/* status-06: terror::3 */
	assert_int_equal(t[6].f.status.stop, SYMTRACE_STOP_ERROR);
	assert_int_equal(t[6].f.status.stop_tracepoint, 3);
	assert_string_equal(t[6].f.status.stop_text.ptr, "");
	/* status-12 */
	assert_string_equal(t[7].f.status.user.ptr, "bob");
	assert_string_equal(t[7].f.status.notes.ptr, "hi");
	assert_int_equal(t[7].f.status.stop_us, 1000000);
	/* status-15: "t:5" is an unknown field; GDB takes it for tfull */
	assert_int_equal(t[8].f.status.stop, SYMTRACE_STOP_UNKNOWN);
	assert_int_equal(t[8].f.status.frames, 9);
	/* crlf-lines: no carriage return stays in a text */
	for (size_t i = 0; i < t[9].f.num_pieces; i++)
		assert_null(memchr(t[9].f.pieces[i].text.ptr, '\r', t[9].f.pieces[i].text.len));
	/* tp-08: T2:401180 and no more */
	assert_int_equal(symtrace_find_tracepoint(&t[10].f, 2, &tp), 1);
	assert_true(tp->defined);
	assert_int_equal(tp->state, 0);
	/* status-11 */
	assert_int_equal(t[11].f.status.created, 32);
	assert_int_equal(t[11].f.status.size, 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		symtrace_close(&t[i].f);
		free(t[i].data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bad_details),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The reader of trace files on files made here: what the recordings do not hold,
 * every truncation, and both byte orders. tfile_data_test.c has the recordings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/trace/tfile_reader.h"

#define MAGIC "\177TRACE0\n"
#define DEFINITIONS MAGIC \
	"R 10\n" \
	"status 0;tstop:6869:0;tframes:3;circular:1;disconn:1;tunheard:5\n" \
	"tsv 2:fffffffffffffffe:0:6162\n" \
	"tp T1:1000:E:0:0\ntp A1:1000:R3M-1,5000,8XA,22\n" \
	"tp T2:2000:D:5:7:F5:X2,2227\ntp A2:2000:R1\ntp S2:2000:MFFFFFFFF,60,4L\n" \
	"tp T3:3000:E:0:0\ntp T3:2f00:E:0:0\n" \
	"tp V1:1000:12:34\ntp V2:2000:5:6\n" \
	"tp Z2:2000:cmd:0:3:616263\ntp Z2:2000:at:0:6:646566\ntp Z2:2000:at:3:6:676869\n" \
	"tdesc <target>\ntdesc </target>\n\n"

/* A growing file. */
struct made {
	uint8_t data[8192];
	size_t size;
	bool big;
};

static void put(struct made *m, uint64_t value, size_t len)
{
	for (size_t i = 0; i < len; i++)
		m->data[m->size++] = (uint8_t)(value >> 8 * (m->big ? len - 1 - i : i));
}

static void put_text(struct made *m, const char *text)
{
	memcpy(m->data + m->size, text, strlen(text));
	m->size += strlen(text);
}

/* An R block of 16 bytes whose last eight are `pc`. */
static void put_registers(struct made *m, uint64_t pc)
{
	put(m, 'R', 1);
	put(m, 0, 8);
	put(m, pc, 8);
}

/* Eight frames, one for each way to a program counter, and the end mark. */
static void put_frames(struct made *m)
{
	put(m, 1, 2); put(m, 17 + 13, 4); /* 0: registers and a variable */
	put_registers(m, 0x1234);
	put(m, 'V', 1); put(m, 2, 4); put(m, (uint64_t)-3, 8);
	put(m, 1, 2); put(m, 11 + 2 + 5, 4); /* 1: no registers; static data */
	put(m, 'M', 1); put(m, 0x5000, 8); put(m, 2, 2); put_text(m, "ab");
	put(m, 'S', 1); put(m, 2, 2); put_text(m, "cd");
	put(m, 2, 2); put(m, 0, 4);       /* 2: while-stepping */
	put(m, 3, 2); put(m, 0, 4);       /* 3: two locations */
	put(m, 9, 2); put(m, 0, 4);       /* 4: not defined */
	put(m, 0xfffe, 2); put(m, 0, 4);  /* 5: negative */
	put(m, 2, 2); put(m, 17, 4);      /* 6: a step */
	put_registers(m, 0x2004);
	put(m, 2, 2); put(m, 17, 4);      /* 7: a direct hit of a stepping one */
	put_registers(m, 0x2000);
	put(m, 0, 2);
}

static struct made *make(bool big)
{
	struct made *m = calloc(1, sizeof(*m));

	m->big = big;
	put_text(m, DEFINITIONS);
	put_frames(m);
	return m;
}

static void test_definitions(void **state)
{
	struct made *m = make(false);
	struct symtrace f;
	const struct symtrace_tracepoint *tp;
	const struct symtrace_piece *p;

	(void)state;
	assert_int_equal(symtrace_read(&f, m->data, m->size), 0);
	assert_int_equal(f.num_notices, 0);
	assert_int_equal(f.regblock_size, 16);
	assert_int_equal(f.frames_offset, strlen(DEFINITIONS));
	assert_true(f.status.known && !f.status.running && f.status.circular);
	assert_true(f.status.disconnected);
	assert_int_equal(f.status.stop, SYMTRACE_STOP_COMMAND);
	assert_string_equal(f.status.stop_text.ptr, "hi");
	assert_int_equal(f.status.frames, 3);
	assert_true(f.status.created == SYMTRACE_UNKNOWN);
	assert_null(f.status.notes.ptr);
	assert_int_equal(f.num_variables, 1);
	assert_int_equal(f.variables[0].initial, -2);
	assert_string_equal(f.variables[0].name.ptr, "ab");
	assert_string_equal(f.tdesc.ptr + 9, "</target>\n");

	assert_int_equal(f.num_tracepoints, 4);
	assert_int_equal(symtrace_find_tracepoint(&f, 3, &tp), 2);
	assert_int_equal(tp->address, 0x2f00);
	assert_int_equal(symtrace_find_tracepoint(&f, 4, &tp), 0);
	assert_int_equal(symtrace_find_tracepoint(&f, -1, &tp), 0);
	assert_int_equal(symtrace_find_tracepoint(&f, 1, &tp), 1);
	assert_int_equal(tp->hits, 12); /* gdbserver's V lines are decimal */
	assert_int_equal(tp->usage, 34);
	assert_int_equal(symtrace_find_tracepoint(&f, 2, &tp), 1);
	assert_int_equal(tp->state, 'D');
	assert_int_equal(tp->step, 5);
	assert_int_equal(tp->pass, 7);
	assert_int_equal(tp->fast_len, 5);
	assert_int_equal(tp->condition.len, 4);
	assert_int_equal(tp->num_pieces, 7);
	p = f.pieces + tp->first_piece;
	assert_int_equal(p[4].kind, SYMTRACE_PIECE_CMD);
	assert_string_equal(p[4].text.ptr, "abc");
	assert_int_equal(p[5].kind, SYMTRACE_PIECE_AT);
	assert_string_equal(p[5].text.ptr, "defghi");
	assert_int_equal(p[6].kind, SYMTRACE_PIECE_REPEAT);
	symtrace_close(&f);
	free(m);
}

static void test_actions(void **state)
{
	struct sc_str s = { "R3M-1,5000,8MFFFFFFFF,60,4M7,fffffffffffffff8,4X2,2227LX9,2", 0 };
	struct symtrace_action a;

	(void)state;
	s.len = strlen(s.ptr);
	assert_true(symtrace_next_action(&s, &a));
	assert_int_equal(a.kind, 'R');
	assert_int_equal(a.text.len, 1);
	assert_true(symtrace_next_action(&s, &a));
	assert_int_equal(a.kind, 'M');
	assert_int_equal(a.base, -1);
	assert_int_equal(a.offset, 0x5000);
	assert_int_equal(a.len, 8);
	assert_true(symtrace_next_action(&s, &a));
	assert_int_equal(a.base, -1);
	assert_int_equal(a.offset, 0x60);
	assert_true(symtrace_next_action(&s, &a));
	assert_int_equal(a.base, 7);
	assert_int_equal((int64_t)a.offset, -8);
	assert_true(symtrace_next_action(&s, &a));
	assert_int_equal(a.kind, 'X');
	assert_memory_equal(a.text.ptr, "2227", a.text.len);
	assert_true(symtrace_next_action(&s, &a));
	assert_int_equal(a.kind, 'L');
	assert_true(symtrace_next_action(&s, &a)); /* more bytes promised than there are */
	assert_int_equal(a.kind, 0);
	assert_memory_equal(a.text.ptr, "X9,2", a.text.len);
	assert_false(symtrace_next_action(&s, &a));
}

static void check_frames(bool big)
{
	static const struct {
		enum symtrace_pc_kind kind;
		uint64_t address;
		bool step;
	} want[] = {
		{ SYMTRACE_PC_REGISTERS, 0x1234, false }, { SYMTRACE_PC_TRACEPOINT, 0x1000, false },
		{ SYMTRACE_PC_STEPPING, 0, true }, { SYMTRACE_PC_LOCATIONS, 0, false },
		{ SYMTRACE_PC_UNDEFINED, 0, false }, { SYMTRACE_PC_UNDEFINED, 0, false },
		{ SYMTRACE_PC_REGISTERS, 0x2004, true }, { SYMTRACE_PC_REGISTERS, 0x2000, false },
	};
	struct made *m = make(big);
	struct symtrace f;
	struct symtrace_error err;
	struct symtrace_frames frames;
	struct symtrace_frame frame;
	struct symtrace_blocks blocks;
	struct symtrace_block b;
	struct symtrace_pc pc;

	assert_int_equal(symtrace_read(&f, m->data, m->size), 0);
	assert_int_equal(symtrace_guess_big_endian(&f), big);
	f.big_endian = big;
	frames = symtrace_frames(&f);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
		assert_int_equal(symtrace_next_frame(&frames, &frame, &err), 1);
		assert_int_equal(frame.number, i);
		f.pc_slot = (struct symtrace_pc_slot){ 8, 8 };
		pc = symtrace_frame_pc(&f, &frame);
		assert_int_equal(pc.kind, want[i].kind);
		assert_int_equal(pc.address, want[i].address);
		assert_int_equal(symtrace_frame_stepping(&f, &frame, pc), want[i].step);
		if (i == 0) {
			f.pc_slot = (struct symtrace_pc_slot){ 0, 0 };
			pc = symtrace_frame_pc(&f, &frame);
			assert_int_equal(pc.kind, SYMTRACE_PC_NO_LAYOUT);
			f.pc_slot = (struct symtrace_pc_slot){ 9, 8 };
			pc = symtrace_frame_pc(&f, &frame);
			assert_int_equal(pc.kind, SYMTRACE_PC_CUT);
		}
		if (i > 1)
			continue;
		blocks = symtrace_blocks(&f, &frame);
		assert_int_equal(symtrace_next_block(&blocks, &b, &err), 1);
		assert_int_equal(b.kind, i ? 'M' : 'R');
		assert_int_equal(b.address, i ? 0x5000 : 0);
		assert_int_equal(symtrace_next_block(&blocks, &b, &err), 1);
		assert_int_equal(b.kind, i ? 'S' : 'V');
		if (i)
			assert_memory_equal(b.bytes, "cd", b.len);
		else
			assert_int_equal(b.value, -3);
		assert_int_equal(symtrace_next_block(&blocks, &b, &err), 0);
	}
	assert_int_equal(symtrace_next_frame(&frames, &frame, &err), 0);
	assert_int_equal(symtrace_next_frame(&frames, &frame, &err), 0);
	symtrace_close(&f);
	free(m);
}

static void test_frames(void **state)
{
	(void)state;
	check_frames(false);
	check_frames(true);
}

/* Sizes that lie: a block may reach beyond its frame, not beyond the file. */
static void test_sizes(void **state)
{
	struct made *m = calloc(1, sizeof(*m));
	struct symtrace f;
	struct symtrace_error err;
	struct symtrace_frames frames;
	struct symtrace_frame frame;
	struct symtrace_blocks blocks;
	struct symtrace_block b;
	size_t begin;

	(void)state;
	put_text(m, MAGIC "R 10\n\n");
	put(m, 1, 2); put(m, 1, 4);
	begin = m->size;
	put_registers(m, 5);
	assert_int_equal(symtrace_read(&f, m->data, m->size), 0);
	frames = symtrace_frames(&f);
	assert_int_equal(symtrace_next_frame(&frames, &frame, &err), 1);
	blocks = symtrace_blocks(&f, &frame);
	assert_int_equal(symtrace_next_block(&blocks, &b, &err), 1);
	assert_int_equal(b.len, 16);
	assert_int_equal(symtrace_next_block(&blocks, &b, &err), 0);
	f.size--;
	blocks = symtrace_blocks(&f, &frame);
	assert_int_equal(symtrace_next_block(&blocks, &b, &err), SC_EFORMAT);
	assert_int_equal(err.offset, f.size);
	symtrace_close(&f);

	/* from 2^31 a frame has no blocks, and what follows lies far behind the end */
	m->size = begin - 4;
	put(m, 0x80000000u, 4);
	put(m, 'R', 1);
	assert_int_equal(symtrace_read(&f, m->data, m->size), 0);
	frames = symtrace_frames(&f);
	assert_int_equal(symtrace_next_frame(&frames, &frame, &err), 1);
	blocks = symtrace_blocks(&f, &frame);
	assert_int_equal(symtrace_next_block(&blocks, &b, &err), 0);
	assert_int_equal(symtrace_next_frame(&frames, &frame, &err), SC_EFORMAT);
	assert_string_equal(err.msg, "Premature end of file while reading trace file");
	symtrace_close(&f);
	free(m);
}

/* The bytes of an R block, as GDB's strtol() would read them. */
static void test_block_size(void **state)
{
	static const struct { const char *line; uint64_t size; } cases[] = {
		{ "R 10", 0x10 }, { "R 0x10", 0x10 }, { "R 0X10", 0x10 }, { "R  \t 1f", 0x1f }, { "R 0x0x10", 0 },
		{ "R 7fffffff", 0x7fffffff }, { "R 80000000", 0 }, { "R 0", 0 }, { "R", 0 }, { "R10", 0 },
		{ "R 10\nR 20", 0x20 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char text[100];
		struct symtrace f;
		const int n = sprintf(text, MAGIC "%s\n\n%c%c", cases[i].line, 0, 0);
		const int rc = symtrace_read(&f, text, (size_t)n);

		if (rc != (cases[i].size ? 0 : SC_EFORMAT) || (!rc && f.regblock_size != cases[i].size))
			fail_msg("%s: %d, %llx", cases[i].line, rc, (unsigned long long)f.regblock_size);
		if (rc)
			assert_string_equal(f.fault.msg, "No register block size recorded in trace file");
		symtrace_close(&f);
	}
}

static void test_long_lines(void **state)
{
	char *text = malloc(4096);
	struct symtrace f;

	(void)state;
	for (int len = 998; len <= 1001; len++) {
		int n = sprintf(text, MAGIC "R 10\n%0*d\n\n%c%c", len, 0, 0, 0);

		assert_int_equal(symtrace_read(&f, text, (size_t)n), len > 999 ? SC_EFORMAT : 0);
		assert_int_equal(f.regblock_size, 16);
		if (len > 999) {
			assert_string_equal(f.fault.msg, "Excessively long lines in trace file");
			assert_int_equal(f.fault.offset, strlen(MAGIC "R 10\n"));
		}
		symtrace_close(&f);
		/* The file ends within the line. */
		assert_int_equal(symtrace_read(&f, text, strlen(MAGIC "R 10\n") + (size_t)len), SC_EFORMAT);
		assert_string_equal(f.fault.msg, len > 999 ? "Excessively long lines in trace file" :
				    "Premature end of file while reading trace file");
		symtrace_close(&f);
	}
	free(text);
}

/* An order in which a few frames make sense, and one in which the end follows sooner: tracepoint 257 is
 * itself in both, and so is its first frame, of 256 bytes or of 65,536. */
static void test_guess(void **state)
{
	static const char definitions[] = MAGIC "R 10\ntp T101:1000:E:0:0\n\n";
	enum { FIRST = sizeof(definitions) - 1, BEHIND = FIRST + 6 + 65536 };
	uint8_t *bytes = malloc(BEHIND + 8);
	struct symtrace f;

	(void)state;
	memset(bytes, 'x', BEHIND + 8);
	memcpy(bytes, definitions, FIRST);
	for (int i = 0; i < 3; i++)
		memcpy(bytes + FIRST + i * 262, "\1\1\0\1\0\0", 6);
	memset(bytes + BEHIND, 0, 2);
	assert_int_equal(symtrace_read(&f, bytes, BEHIND + 8), 0);
	assert_int_equal(symtrace_guess_big_endian(&f), 0);
	symtrace_close(&f);
	free(bytes);
}

/* Cut anywhere, the file gives its first frames and then an error, or none at the
 * end. The copies have their exact size, for the address sanitizer to watch. */
static void test_every_truncation(void **state)
{
	struct made *m = make(false);
	struct symtrace f;
	struct symtrace_error err;
	struct symtrace_frames frames;
	struct symtrace_frame frame;
	struct symtrace_blocks blocks;
	struct symtrace_block b;

	(void)state;
	for (size_t size = 0; size <= m->size; size++) {
		uint8_t *copy = malloc(size ? size : 1);
		int status, more, last = 0;

		memcpy(copy, m->data, size);
		status = symtrace_read(&f, copy, size);
		assert_int_equal(status, size < strlen(DEFINITIONS) ? SC_EFORMAT : 0);
		f.pc_slot = (struct symtrace_pc_slot){ 8, 8 };
		frames = symtrace_frames(&f);
		while ((more = symtrace_next_frame(&frames, &frame, &err)) > 0) {
			assert_int_not_equal(last, SC_EFORMAT); /* only the last one is damaged */
			symtrace_frame_pc(&f, &frame);
			blocks = symtrace_blocks(&f, &frame);
			while ((last = symtrace_next_block(&blocks, &b, &err)) > 0)
				;
		}
		assert_int_equal(more, status == 0 && size < m->size ? SC_EFORMAT : 0);
		symtrace_close(&f);
		free(copy);
	}
	free(m);
}

/* A hundred thousand lines of each kind that could cost the square of that. */
static void test_many_lines(void **state)
{
	const int n = 100000;
	char *text;
	size_t size;
	struct symtrace f;
	const struct symtrace_tracepoint *tp;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	fputs(MAGIC "R 10\n", out);
	for (int i = n; i-- > 0; )
		fprintf(out, "tp T%x:%x:E:0:0\ntsv %x:0:0:61\nnonsense\n", i / 2 + 1, i, i);
	for (int i = 0; i < n; i++)
		fprintf(out, "tp Z1:0:cmd:%x:1:62\n", i);
	fputc('\n', out);
	fclose(out);
	assert_int_equal(symtrace_read(&f, text, size), 0);
	assert_int_equal(f.num_tracepoints, n);
	assert_int_equal(f.num_variables, n);
	assert_int_equal(f.num_notices, n);
	assert_int_equal(symtrace_find_tracepoint(&f, n / 2, &tp), 2);
	assert_int_equal(f.pieces[1].text.len, n);
	symtrace_close(&f);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_definitions),
		cmocka_unit_test(test_actions),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_block_size),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_guess),
		cmocka_unit_test(test_every_truncation),
		cmocka_unit_test(test_many_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

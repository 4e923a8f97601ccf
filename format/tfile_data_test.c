/*
 * The reader of trace files against recordings and answers of others, in
 * ../shared/data/tfile:
 *   real/NAME.tf  recorded with a real gdbserver; NAME.dump.txt is the structure
 *                 as an independent reader printed it
 *   arch/NAME.tf  thirteen files for nine architectures; NAME.gdb.txt is what GDB
 *                 said to three frames, NAME.elf.regs.txt its register layout
 *   bad/NAME.tf   damaged files; gdb-answers.txt is what GDB said to each
 * Where our answer differs from GDB's it is in the table `differ`, with the reason.
 */
#include <dirent.h>
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "format/tdesc.h"
#include "format/tfile.h"

#define DATA "../shared/data/tfile"

#define NEEDS_DATA() do { \
	if (access_missing(DATA)) { \
		printf("skipped: there is no %s\n", DATA); \
		skip(); \
	} \
} while (0)

static bool access_missing(const char *path)
{
	struct stat st;

	return stat(path, &st) != 0;
}

/* The bytes of a file on the heap in their exact size; NULL: there is none. */
static char *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	char *data;

	if (!f)
		return NULL;
	assert_int_equal(fstat(fileno(f), &st), 0);
	*size = (size_t)st.st_size;
	data = malloc(*size ? *size : 1);
	assert_int_equal(fread(data, 1, *size, f), *size);
	fclose(f);
	return data;
}

static char *slurp_text(const char *path)
{
	size_t size;
	char *data = slurp(path, &size);

	assert_non_null(data);
	data = realloc(data, size + 1);
	data[size] = '\0';
	return data;
}

/* Calls fn for each DATA/dir/NAME.tf; returns how many there are. */
static int for_each_file(const char *dir, void (*fn)(const char *name))
{
	char path[300];
	struct dirent **names;
	int n, files = 0;

	snprintf(path, sizeof(path), DATA "/%s", dir);
	n = scandir(path, &names, NULL, alphasort);
	assert_true(n > 0);
	for (int i = 0; i < n; i++) {
		char *dot = strrchr(names[i]->d_name, '.');

		if (dot && strcmp(dot, ".tf") == 0) {
			*dot = '\0';
			fn(names[i]->d_name);
			files++;
		}
		free(names[i]);
	}
	free(names);
	return files;
}

/* ---- real/: the dump ------------------------------------------------------------ */

static void print_hex(FILE *out, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%02x", p[i]);
}

static int by_offset(const void *a, const void *b)
{
	const struct tfile_piece *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void dump_piece(FILE *out, const struct tfile_piece *p)
{
	static const char letters[] = "TVASZZZ";
	static const char *const sources[] = { "at", "cond", "cmd" };

	fprintf(out, "tp %c %" PRIu64 " 0x%" PRIx64 " ", letters[p->kind], p->number, p->address);
	if (p->kind >= TFILE_PIECE_AT)
		fprintf(out, "%s start %" PRIu32 " len %zu '%s'\n",
			sources[p->kind - TFILE_PIECE_AT], p->start, p->text.len, p->text.ptr);
	else
		fprintf(out, "%.*s\n", (int)p->text.len, p->text.ptr);
}

static void dump_definitions(FILE *out, const struct tfile *f, const struct tdesc *tdesc)
{
	const char *status = memmem(f->data, f->size, "\nstatus ", 8);
	struct tfile_piece *pieces = calloc(f->num_pieces + 1, sizeof(*pieces));
	const struct tdesc_register *pc = tdesc_pc(tdesc);
	uint32_t bytes = 0;
	size_t lines = 0;

	fprintf(out, "regblock %" PRIu64 " 0x%" PRIx64 "\n", f->regblock_size, f->regblock_size);
	fprintf(out, "status %.*s\n", (int)(strchr(status + 8, '\n') - status - 8), status + 8);
	for (size_t i = 0; i < f->num_variables; i++)
		fprintf(out, "tsv $%s number %" PRId64 " initial %" PRId64 " builtin %d\n",
			f->variables[i].name.ptr, f->variables[i].number,
			f->variables[i].initial, f->variables[i].builtin);
	if (f->num_pieces)
		memcpy(pieces, f->pieces, f->num_pieces * sizeof(*pieces));
	qsort(pieces, f->num_pieces, sizeof(*pieces), by_offset);
	for (size_t i = 0; i < f->num_pieces; i++)
		dump_piece(out, &pieces[i]);
	free(pieces);
	for (size_t i = 0; i < f->tdesc.len; i++)
		lines += f->tdesc.ptr[i] == '\n';
	for (size_t i = 0; i < tdesc->num_registers; i++)
		bytes += tdesc->registers[i].size;
	fprintf(out, "tdesc %zu lines %zu bytes\n", lines, f->tdesc.len);
	fprintf(out, "registers %zu bytes %" PRIu32 " {'%s': (%" PRIu32 ", %" PRIu32 ")}\n",
		tdesc->num_registers, bytes, pc->name, pc->offset, pc->size);
	fprintf(out, "frames at offset %" PRIu64 "\n", f->frames_offset);
}

static void dump_frame(FILE *out, const struct tfile *f, const struct tfile_frame *frame,
		       struct tfile_pc_slot slot)
{
	struct tfile_blocks blocks = tfile_blocks(f, frame);
	struct tfile_block b;
	struct tfile_error err;
	int more;

	fprintf(out, "frame %" PRIu64 " at %" PRIu64 " tracepoint %d size %" PRIu32 "\n",
		frame->number, frame->offset, frame->tracepoint, frame->size);
	while ((more = tfile_next_block(&blocks, &b, &err)) > 0) {
		if (b.kind == 'R') {
			fprintf(out, "  R pc 0x%" PRIx64 "\n", tfile_frame_pc(f, frame, slot).address);
		} else if (b.kind == 'M') {
			fprintf(out, "  M 0x%" PRIx64 " +%zu ", b.address, b.len);
			print_hex(out, b.bytes, b.len > 32 ? 32 : b.len);
			fprintf(out, "%s\n", b.len > 32 ? "..." : "");
		} else {
			fprintf(out, "  V %d = %" PRId64 "\n", b.variable, b.value);
		}
	}
	assert_int_equal(more, 0);
}

static void check_dump(const char *name)
{
	char path[300], err[200], *want, *got;
	size_t size, got_size;
	uint8_t *data;
	struct tfile f;
	struct tfile_error error;
	struct tfile_frame frame;
	struct tfile_frames frames;
	struct tdesc tdesc;
	struct tfile_pc_slot slot;
	uint64_t end;
	FILE *out;
	int more;

	snprintf(path, sizeof(path), DATA "/real/%s.tf", name);
	data = (uint8_t *)slurp(path, &size);
	assert_int_equal(tfile_open(&f, data, size, &error), 0);
	assert_int_equal(f.num_notices, 0);
	assert_int_equal(tdesc_parse(&tdesc, f.tdesc.ptr, f.tdesc.len, err, sizeof(err)), 0);
	slot = (struct tfile_pc_slot){ tdesc_pc(&tdesc)->offset, tdesc_pc(&tdesc)->size };
	out = open_memstream(&got, &got_size);
	dump_definitions(out, &f, &tdesc);
	frames = tfile_frames(&f);
	end = frames.next;
	while ((more = tfile_next_frame(&frames, &frame, &error)) > 0) {
		dump_frame(out, &f, &frame, slot);
		end = frames.next;
	}
	assert_int_equal(more, 0);
	fprintf(out, "end mark at %" PRIu64 " rest ", end);
	print_hex(out, data + end, size - end);
	fputc('\n', out);
	fclose(out);
	snprintf(path, sizeof(path), DATA "/real/%s.dump.txt", name);
	want = slurp_text(path);
	assert_string_equal(got, want);
	free(want);
	free(got);
	tdesc_deinit(&tdesc);
	tfile_close(&f);
	free(data);
}

static void test_real(void **state)
{
	(void)state;
	NEEDS_DATA();
	assert_true(for_each_file("real", check_dump) >= 17);
}

/* ---- arch/: the program counter --------------------------------------------------- */

/* GDB's answers that are not ours to repeat. In these files frame 1 has no
 * registers, so the program counter is the tracepoint's address. */
static const struct {
	const char *name;
	uint64_t gdb, ours; /* gdb 0: unavailable */
} arch_differ[] = {
	/* GDB places the tracepoint anew where it thinks that `work` begins after
	 * its prologue; the target had it where the file says. */
	{ "i386", 0x401114, 0x401110 },
	{ "powerpc64", 0x10010220, 0x10010218 },
	/* GDB's $pc of MIPS is a register it cannot guess, and it dies of an
	 * internal error soon after. */
	{ "mips", 0, 0x20180 },
	{ "mipsel", 0, 0x20180 },
};

/* The number behind "$n = " in GDB's answer; false: "<unavailable>" or none. */
static bool gdb_value(const char *text, int n, uint64_t *ret)
{
	char key[20];
	const char *p;

	snprintf(key, sizeof(key), "\n$%d = ", n);
	p = strstr(text, key);
	return p && sscanf(p + strlen(key), "%" SCNi64, (int64_t *)ret) == 1;
}

/* The register layout by the ELF file of the same name, and the file's byte order. */
static void layout_by_elf(const char *name, struct tfile *f, struct tdesc *tdesc)
{
	char path[300], *elf;
	size_t size;
	bool big;

	snprintf(path, sizeof(path), DATA "/arch/%.*s.elf", (int)strcspn(name, "-"), name);
	elf = slurp(path, &size);
	assert_non_null(elf);
	big = elf[EI_DATA] == ELFDATA2MSB;
	/* what is known without the ELF file agrees with it */
	assert_int_equal(tfile_guess_big_endian(f), big);
	f->big_endian = big;
	assert_true(tdesc_default(tdesc, (uint8_t)elf[18 + big] | (uint8_t)elf[19 - big] << 8,
				  elf[EI_CLASS] == ELFCLASS64));
	free(elf);
}

static void check_arch(const char *name)
{
	char path[300], err[200], *gdb;
	size_t size;
	uint8_t *data;
	struct tfile f;
	struct tfile_error error;
	struct tfile_frame frame;
	struct tfile_frames frames;
	struct tdesc tdesc;
	struct tfile_pc_slot slot;
	struct tfile_blocks blocks;
	struct tfile_block b;
	const int pc_of_frame[] = { 1, 2, 4 };
	uint64_t want;

	snprintf(path, sizeof(path), DATA "/arch/%s.tf", name);
	data = (uint8_t *)slurp(path, &size);
	snprintf(path, sizeof(path), DATA "/arch/%s.gdb.txt", name);
	gdb = slurp_text(path);
	assert_int_equal(tfile_open(&f, data, size, &error), 0);
	layout_by_elf(name, &f, &tdesc);
	if (f.tdesc.ptr) {
		tdesc_deinit(&tdesc);
		assert_int_equal(tdesc_parse(&tdesc, f.tdesc.ptr, f.tdesc.len, err, sizeof(err)), 0);
	}
	slot = (struct tfile_pc_slot){ tdesc_pc(&tdesc)->offset, tdesc_pc(&tdesc)->size };
	frames = tfile_frames(&f);
	for (int i = 0; i < 3; i++) {
		struct tfile_pc pc;

		assert_int_equal(tfile_next_frame(&frames, &frame, &error), 1);
		pc = tfile_frame_pc(&f, &frame, slot);
		want = 0;
		gdb_value(gdb, pc_of_frame[i], &want);
		for (size_t k = 0; i == 1 && k < sizeof(arch_differ) / sizeof(*arch_differ); k++)
			if (strcmp(name, arch_differ[k].name) == 0) {
				assert_int_equal(want, arch_differ[k].gdb);
				want = arch_differ[k].ours;
			}
		if (i == 2 && strncmp(name, "mips", 4) == 0) /* GDB died before */
			gdb_value(gdb, 1, &want);
		assert_int_not_equal(want, 0);
		assert_true(tfile_pc_known(pc));
		assert_int_equal(pc.address, want);
		if (i != 1)
			continue;
		/* frame 1 also has a word of memory and a variable */
		blocks = tfile_blocks(&f, &frame);
		assert_int_equal(tfile_next_block(&blocks, &b, &error), 1);
		assert_int_equal(b.kind, 'M');
		assert_true(gdb_value(gdb, 3, &want));
		assert_int_equal(tfile_number(&f, b.bytes, 4), want);
		assert_int_equal(tfile_next_block(&blocks, &b, &error), 1);
		assert_int_equal(b.kind, 'V');
		assert_int_equal(b.value, -7);
		assert_string_equal(tfile_find_variable(&f, b.variable)->name.ptr, "delta");
	}
	assert_int_equal(tfile_next_frame(&frames, &frame, &error), 0);
	tdesc_deinit(&tdesc);
	tfile_close(&f);
	free(gdb);
	free(data);
}

static void test_arch(void **state)
{
	(void)state;
	NEEDS_DATA();
	assert_true(for_each_file("arch", check_arch) >= 11);
}

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
static void check_bad_frames(const char *name, const struct tfile *f)
{
	struct tfile_frames frames = tfile_frames(f);
	struct tfile_frame frame;
	struct tfile_error err = { 0 };
	char key[40], said[2000];
	int more = 1;

	for (int i = 0; i < 11 && more > 0; i++) {
		const char *pc_text, *error_text;
		struct tfile_pc pc = { TFILE_PC_UNDEFINED, 0 };

		/* x86-64: all of these come from programs/prog1 */
		more = tfile_next_frame(&frames, &frame, &err);
		if (more > 0)
			pc = tfile_frame_pc(f, &frame, (struct tfile_pc_slot){ 128, 8 });
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
				assert_false(tfile_pc_known(pc));
		} else if (strncmp(said, "No trace frame found", 20) == 0) {
			assert_int_equal(more, 0);
		} else if (error_text && strncmp(error_text, "Unknown block", 13) == 0) {
			struct tfile_blocks blocks;
			struct tfile_block b;

			/* GDB is stuck in the bad frame; ours goes on to the next. */
			if (i > 0)
				continue;
			assert_int_equal(pc.kind, TFILE_PC_DAMAGED);
			blocks = tfile_blocks(f, &frame);
			while ((more = tfile_next_block(&blocks, &b, &err)) > 0)
				;
			/* GDB prints the byte 2 as itself or not at all */
			assert_int_equal(more, -1);
			assert_non_null(strstr(error_text, strchr(err.msg, '(')));
			more = 1;
		} else {
			assert_non_null(error_text);
			if (more > 0) { /* cut off inside of the frame */
				assert_int_equal(pc.kind, TFILE_PC_DAMAGED);
			} else {
				assert_int_equal(more, -1);
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
	struct tfile f;
	struct tfile_error err;
	size_t k = 0, num_differ = sizeof(differ) / sizeof(*differ);
	int status, warnings = 0;

	snprintf(path, sizeof(path), DATA "/bad/%s.tf", name);
	data = (uint8_t *)slurp(path, &size);
	status = tfile_open(&f, data, size, &err);
	if (!gdb_answer(answers, name, "open: ", open_answer, sizeof(open_answer)))
		open_answer[0] = '\0'; /* GDB died */
	while (k < num_differ && strcmp(differ[k].name, name) != 0)
		k++;
	if (k < num_differ) {
		assert_non_null(strstr(open_answer, differ[k].gdb));
		assert_int_equal(status, *differ[k].ours ? -1 : 0);
		assert_memory_equal(err.msg, differ[k].ours, strlen(differ[k].ours));
		assert_int_equal(f.num_notices, differ[k].notices);
	} else if (strncmp(open_answer, "ERROR: ", 7) == 0) {
		assert_int_equal(status, -1);
		assert_memory_equal(open_answer + 7, err.msg, strlen(err.msg));
		assert_true(err.offset <= size);
	} else {
		assert_int_equal(status, 0);
		assert_string_equal(err.msg, "");
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
	tfile_close(&f);
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
	struct { const char *name; struct tfile f; uint8_t *data; } t[] = {
		{ .name = "no-R" }, { .name = "status-05" }, { .name = "tp-01" },
		{ .name = "tp-07" }, { .name = "tp-11" }, { .name = "tsv-dup" },
		{ .name = "status-06" }, { .name = "status-12" }, { .name = "status-15" },
		{ .name = "crlf-lines" }, { .name = "tp-08" }, { .name = "status-11" },
	};
	const struct tfile_tracepoint *tp;

	(void)state;
	NEEDS_DATA();
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		char path[300];
		struct tfile_error err;
		size_t size;

		snprintf(path, sizeof(path), DATA "/bad/%s.tf", t[i].name);
		t[i].data = (uint8_t *)slurp(path, &size);
		tfile_open(&t[i].f, t[i].data, size, &err);
		if (i == 1) /* "status 0;tstop" */
			assert_int_equal(err.offset, (uint8_t *)strstr((char *)t[i].data, "tstop") -
					 t[i].data);
	}
	/* no-R: everything but the frames is there */
	assert_int_equal(t[0].f.num_tracepoints, 3);
	assert_int_equal(t[0].f.status.frames, 9);
	/* status-05: what came before the bad line */
	assert_int_equal(t[1].f.regblock_size, 0x330);
	assert_int_equal(t[1].f.num_tracepoints, 0);
	/* tp-01: E:0:0:F5:X2,2227:Q9:F3; as in GDB the rest is skipped from Q on */
	assert_int_equal(tfile_find_tracepoint(&t[2].f, 2, &tp), 1);
	assert_int_equal(tp->kind, TFILE_TP_FAST);
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
	assert_int_equal(tfile_find_variable(&t[5].f, 2)->initial, 0x99);
	/* status-06: terror::3 */
	assert_int_equal(t[6].f.status.stop, TFILE_STOP_ERROR);
	assert_int_equal(t[6].f.status.stop_tracepoint, 3);
	assert_string_equal(t[6].f.status.stop_text.ptr, "");
	/* status-12 */
	assert_string_equal(t[7].f.status.user.ptr, "bob");
	assert_string_equal(t[7].f.status.notes.ptr, "hi");
	assert_int_equal(t[7].f.status.stop_us, 1000000);
	/* status-15: "t:5" is an unknown field; GDB takes it for tfull */
	assert_int_equal(t[8].f.status.stop, TFILE_STOP_UNKNOWN);
	assert_int_equal(t[8].f.status.frames, 9);
	/* crlf-lines: no carriage return stays in a text */
	for (size_t i = 0; i < t[9].f.num_pieces; i++)
		assert_null(memchr(t[9].f.pieces[i].text.ptr, '\r', t[9].f.pieces[i].text.len));
	/* tp-08: T2:401180 and no more */
	assert_int_equal(tfile_find_tracepoint(&t[10].f, 2, &tp), 1);
	assert_true(tp->defined);
	assert_int_equal(tp->state, 0);
	/* status-11 */
	assert_int_equal(t[11].f.status.created, 32);
	assert_int_equal(t[11].f.status.size, 0);
	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		tfile_close(&t[i].f);
		free(t[i].data);
	}
}

/* ---- register layouts, as GDB prints them --------------------------------------------- */

static void check_registers(const char *elf)
{
	char path[300], *text, name[64], line[300];
	size_t size;
	char *bytes;
	struct tdesc tdesc;
	bool big;
	FILE *f;

	snprintf(path, sizeof(path), DATA "/arch/%s", elf);
	bytes = slurp(path, &size);
	big = bytes[EI_DATA] == ELFDATA2MSB;
	assert_true(tdesc_default(&tdesc, (uint8_t)bytes[18 + big] | (uint8_t)bytes[19 - big] << 8,
				  bytes[EI_CLASS] == ELFCLASS64));
	free(bytes);
	snprintf(path, sizeof(path), DATA "/arch/%s.regs.txt", elf);
	text = slurp_text(path);
	f = fmemopen(text, strlen(text), "r");
	for (size_t i = 0; i < tdesc.num_registers; ) {
		unsigned number, rel, offset, bytes_;

		assert_non_null(fgets(line, sizeof(line), f));
		if (sscanf(line, " %63s %u %u %u %u", name, &number, &rel, &offset, &bytes_) != 5)
			continue;
		if (strcmp(name, "''") != 0) /* MIPS: GDB names the cooked copies only */
			assert_string_equal(tdesc.registers[i].name, name);
		assert_int_equal(tdesc.registers[i].offset, offset);
		assert_int_equal(tdesc.registers[i].size, bytes_);
		i++;
	}
	fclose(f);
	free(text);
	tdesc_deinit(&tdesc);
}

static void test_registers(void **state)
{
	(void)state;
	NEEDS_DATA();
	check_registers("x86_64.elf");
	check_registers("i386.elf");
	check_registers("aarch64.elf");
	check_registers("armv7a.elf");
	check_registers("riscv64.elf");
	check_registers("powerpc.elf");
	check_registers("powerpc64.elf");
	check_registers("mips.elf");
	check_registers("mipsel.elf");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_arch),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bad_details),
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

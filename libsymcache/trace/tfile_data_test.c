/*
 * The reader of trace files against recordings and answers of others, in
 * ../shared/data/tfile:
 *   real/NAME.tf  recorded with a real gdbserver; NAME.dump.txt is the structure
 *                 as an independent reader printed it
 *   arch/NAME.tf  files for nine architectures; NAME.gdb.txt is what GDB said to
 *                 three frames, NAME.elf.regs.txt its register layout
 */
#include <elf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/trace/tdesc.h"
#include "libsymcache/trace/tfile_reader.h"
#include "libsymcache/trace/tfile_testing.h"

/* ---- real/: the dump ------------------------------------------------------------ */

static void print_hex(FILE *out, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++)
		fprintf(out, "%02x", p[i]);
}

static int by_offset(const void *a, const void *b)
{
	const struct symtrace_piece *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

static void dump_piece(FILE *out, const struct symtrace_piece *p)
{
	static const char letters[] = "TVASZZZ";
	static const char *const sources[] = { "at", "cond", "cmd" };

	fprintf(out, "tp %c %" PRIu64 " 0x%" PRIx64 " ", letters[p->kind], p->number, p->address);
	if (p->kind >= SYMTRACE_PIECE_AT)
		fprintf(out, "%s start %" PRIu32 " len %zu '%s'\n",
			sources[p->kind - SYMTRACE_PIECE_AT], p->start, p->text.len, p->text.ptr);
	else
		fprintf(out, "%.*s\n", (int)p->text.len, p->text.ptr);
}

static void dump_definitions(FILE *out, const struct symtrace *f,
			     const struct symtrace_layout *tdesc)
{
	const char *status = memmem(f->data, f->size, "\nstatus ", 8);
	struct symtrace_piece *pieces = calloc(f->num_pieces + 1, sizeof(*pieces));
	const struct symtrace_register *pc = tdesc_pc(tdesc);
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

static void dump_frame(FILE *out, const struct symtrace *f, const struct symtrace_frame *frame)
{
	struct symtrace_blocks blocks = symtrace_blocks(f, frame);
	struct symtrace_block b;
	struct symtrace_error err;
	int more;

	fprintf(out, "frame %" PRIu64 " at %" PRIu64 " tracepoint %d size %" PRIu32 "\n",
		frame->number, frame->offset, frame->tracepoint, frame->size);
	while ((more = symtrace_next_block(&blocks, &b, &err)) > 0) {
		if (b.kind == 'R') {
			fprintf(out, "  R pc 0x%" PRIx64 "\n", symtrace_frame_pc(f, frame).address);
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
	struct symtrace f;
	struct symtrace_error error;
	struct symtrace_frame frame;
	struct symtrace_frames frames;
	struct symtrace_layout tdesc;
	uint64_t end;
	FILE *out;
	int more;

	snprintf(path, sizeof(path), DATA "/real/%s.tf", name);
	data = (uint8_t *)slurp(path, &size);
	assert_int_equal(symtrace_read(&f, data, size), 0);
	assert_int_equal(f.num_notices, 0);
	assert_int_equal(tdesc_parse(&tdesc, f.tdesc.ptr, f.tdesc.len, err, sizeof(err)), 0);
	f.pc_slot = (struct symtrace_pc_slot){ tdesc_pc(&tdesc)->offset, tdesc_pc(&tdesc)->size };
	out = open_memstream(&got, &got_size);
	dump_definitions(out, &f, &tdesc);
	frames = symtrace_frames(&f);
	end = frames.next;
	while ((more = symtrace_next_frame(&frames, &frame, &error)) > 0) {
		dump_frame(out, &f, &frame);
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
	symtrace_close(&f);
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
static void layout_by_elf(const char *name, struct symtrace *f, struct symtrace_layout *tdesc)
{
	char path[300], *elf;
	size_t size;
	bool big;

	snprintf(path, sizeof(path), DATA "/arch/%.*s.elf", (int)strcspn(name, "-"), name);
	elf = slurp(path, &size);
	assert_non_null(elf);
	big = elf[EI_DATA] == ELFDATA2MSB;
	/* what is known without the ELF file agrees with it */
	assert_int_equal(symtrace_guess_big_endian(f), big);
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
	struct symtrace f;
	struct symtrace_error error;
	struct symtrace_frame frame;
	struct symtrace_frames frames;
	struct symtrace_layout tdesc;
	struct symtrace_blocks blocks;
	struct symtrace_block b;
	const int pc_of_frame[] = { 1, 2, 4 };
	uint64_t want;

	snprintf(path, sizeof(path), DATA "/arch/%s.tf", name);
	data = (uint8_t *)slurp(path, &size);
	snprintf(path, sizeof(path), DATA "/arch/%s.gdb.txt", name);
	gdb = slurp_text(path);
	assert_int_equal(symtrace_read(&f, data, size), 0);
	layout_by_elf(name, &f, &tdesc);
	if (f.tdesc.ptr) {
		tdesc_deinit(&tdesc);
		assert_int_equal(tdesc_parse(&tdesc, f.tdesc.ptr, f.tdesc.len, err, sizeof(err)),
				 0);
	}
	f.pc_slot = (struct symtrace_pc_slot){ tdesc_pc(&tdesc)->offset, tdesc_pc(&tdesc)->size };
	frames = symtrace_frames(&f);
	for (int i = 0; i < 3; i++) {
		struct symtrace_pc pc;

		assert_int_equal(symtrace_next_frame(&frames, &frame, &error), 1);
		pc = symtrace_frame_pc(&f, &frame);
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
		assert_true(symtrace_pc_known(pc));
		assert_int_equal(pc.address, want);
		if (i != 1)
			continue;
		/* frame 1 also has a word of memory and a variable */
		blocks = symtrace_blocks(&f, &frame);
		assert_int_equal(symtrace_next_block(&blocks, &b, &error), 1);
		assert_int_equal(b.kind, 'M');
		assert_true(gdb_value(gdb, 3, &want));
		assert_int_equal(symtrace_number(&f, b.bytes, 4), want);
		assert_int_equal(symtrace_next_block(&blocks, &b, &error), 1);
		assert_int_equal(b.kind, 'V');
		assert_int_equal(b.value, -7);
		assert_string_equal(symtrace_find_variable(&f, b.variable)->name.ptr, "delta");
	}
	assert_int_equal(symtrace_next_frame(&frames, &frame, &error), 0);
	tdesc_deinit(&tdesc);
	symtrace_close(&f);
	free(gdb);
	free(data);
}

static void test_arch(void **state)
{
	(void)state;
	NEEDS_DATA();
	assert_true(for_each_file("arch", check_arch) >= 11);
}

/* ---- register layouts, as GDB prints them --------------------------------------------- */

static void check_registers(const char *elf)
{
	char path[300], *text, name[64], line[300];
	size_t size;
	char *bytes;
	struct symtrace_layout tdesc;
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
		cmocka_unit_test(test_registers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is read of each seed of the fuzz target, and of damaged ones: definitions, notices, the layout
 * of registers, frames with their blocks, and the stacks that are found without caches. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/trace/collected.h"

enum { MOST = 40 }; /* frames and the like */

static void put_str(FILE *to, struct sc_str s)
{
	if (s.ptr)
		fprintf(to, "\"%.*s\"", (int)s.len, s.ptr);
	else
		fputc('-', to);
}

static void put_status(FILE *to, const struct symtrace_status *s)
{
	fprintf(to,
		"status %d%d%d%d stop %d of %" PRIu64 ", frames %" PRIu64 " %" PRIu64
		", bytes %" PRIu64 " %" PRIu64 ", from %" PRIu64 " to %" PRIu64,
		s->known, s->running, s->disconnected, s->circular, s->stop, s->stop_tracepoint,
		s->frames, s->created, s->free_bytes, s->size, s->start_us, s->stop_us);
	put_str(to, s->stop_text);
	put_str(to, s->notes);
	put_str(to, s->user);
	fputc('\n', to);
}

static void put_piece(FILE *to, const struct symtrace_piece *p)
{
	struct symtrace_action a;
	struct sc_str rest = p->text;

	fprintf(to, "  piece %d of %" PRIu64 " %" PRIx64 " at %" PRIu64 " from %" PRIu32 " ",
		p->kind, p->number, p->address, p->offset, p->start);
	put_str(to, p->text);
	if (p->kind == SYMTRACE_PIECE_ACTION || p->kind == SYMTRACE_PIECE_STEP_ACTION)
		while (symtrace_next_action(&rest, &a)) {
			fprintf(to, " %c %" PRId64 " %" PRIx64 " %" PRIu64, a.kind ? a.kind : '?',
				a.base, a.offset, a.len);
			put_str(to, a.text);
		}
	fputc('\n', to);
}

static void put_definitions(FILE *to, const struct symtrace *f)
{
	put_status(to, &f->status);
	for (size_t i = 0; i < f->num_tracepoints && i < MOST; i++) {
		const struct symtrace_tracepoint *t = &f->tracepoints[i];
		const struct symtrace_tracepoint *first;

		fprintf(to,
			"tracepoint %" PRIu64 " (%zu) %" PRIx64 " %d%d%d %c kind %d len %" PRIu64
			" step %" PRIu64 " pass %" PRIu64 " hits %" PRIu64 " usage %" PRIu64
			" at %" PRIu64 " if ",
			t->number, symtrace_find_tracepoint(f, (int64_t)t->number, &first),
			t->address, t->defined, t->takes_registers, t->has_hits,
			t->state ? t->state : '?', t->kind, t->fast_len, t->step, t->pass, t->hits,
			t->usage, t->offset);
		put_str(to, t->condition);
		fputc('\n', to);
		for (size_t k = 0; k < t->num_pieces && k < MOST; k++)
			put_piece(to, &f->pieces[t->first_piece + k]);
	}
	for (size_t i = 0; i < f->num_variables && i < MOST; i++) {
		const struct symtrace_variable *v = &f->variables[i];

		fprintf(to, "variable %" PRId64 " = %" PRId64 "%s at %" PRIu64 " %s\n", v->number,
			v->initial, v->builtin ? " builtin" : "", v->offset, v->name.ptr);
	}
}

static void put_layout(FILE *to, const struct symtrace *f)
{
	fprintf(to, "%s-endian, R %" PRIu64 ", pc %" PRIu32 "+%" PRIu32 ", %s:",
		f->big_endian ? "big" : "little", f->regblock_size, f->pc_slot.offset,
		f->pc_slot.size, f->layout.architecture);
	for (size_t i = 0; i < f->layout.num_registers && i < MOST; i++) {
		const struct symtrace_register *r = &f->layout.registers[i];

		fprintf(to, " %s=%" PRIu64 "@%" PRIu32 "+%" PRIu32, r->name, r->number, r->offset,
			r->size);
	}
	fprintf(to, "\ndescription at %" PRIu64 " ", f->tdesc_offset);
	put_str(to, f->tdesc);
	for (size_t i = 0; i < f->num_notices && i < SYMTRACE_NOTICES_MAX; i++)
		fprintf(to, "\nnotice at %" PRIu64 ": %s", f->notices[i].offset, f->notices[i].msg);
	fprintf(to, "\n%zu notices; fault at %" PRIu64 ": %s; frames from %" PRIu64 "\n",
		f->num_notices, f->fault.offset, f->fault.msg, f->frames_offset);
}

/* ---- frames ----------------------------------------------------------------------------- */

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	(void)ctx;
	ret->base = address;
	return address & 1;
}

static bool is_code(void *ctx, uint64_t address)
{
	(void)ctx;
	return address & 3;
}

static void put_stack(FILE *to, const struct symtrace *f, const struct symtrace_frame *frame,
		      struct symtrace_pc pc, uint16_t machine)
{
	struct symtrace_collected c = { 0 };
	const struct symcache_unwind_source source = {
		.machine = machine,
		.max_frames = 20,
		.read = symtrace_collected_read,
		.module = find_module,
		.executable = is_code,
		.ctx = &c,
	};
	struct symcache_stack stack = { 0 };
	struct sc_error err;

	if (symtrace_collect(f, frame, pc, machine, &c, &err) ||
	    symcache_stack_walk(&source, &c.registers, false, &stack, &err)) {
		fprintf(to, "  %d %s\n", err.code, err.msg);
	} else {
		fprintf(to, "  known %" PRIx64 " ", c.registers.known);
		put_digest(to, c.registers.value, sizeof(c.registers.value));
		for (size_t i = 0; i < stack.num_frames; i++)
			fprintf(to, " %" PRIx64 " %s", stack.frames[i].pc,
				symcache_trust_text(stack.frames[i].trust));
		fprintf(to, ": %s %" PRIx64 " to %" PRIx64 "\n", symcache_stop_word(stack.stop),
			stack.address, symtrace_collected_end(&c, stack.address));
	}
	symcache_stack_deinit(&stack);
	symtrace_collected_deinit(&c);
}

static void put_blocks(FILE *to, const struct symtrace *f, const struct symtrace_frame *frame)
{
	struct symtrace_blocks blocks = symtrace_blocks(f, frame);
	struct symtrace_error err = { .msg = "" };
	struct symtrace_block b;
	unsigned left = MOST;
	int rc;

	while ((rc = symtrace_next_block(&blocks, &b, &err)) > 0 && left--) {
		const struct symtrace_variable *v =
			b.kind == 'V' ? symtrace_find_variable(f, b.variable) : NULL;

		fprintf(to, "  %c at %" PRIu64 " ", b.kind, b.offset);
		if (b.kind == 'M')
			fprintf(to, "%" PRIx64 " ", b.address);
		if (b.kind == 'V')
			fprintf(to, "%" PRId32 " %s = %" PRId64 "\n", b.variable,
				v ? v->name.ptr : "", b.value);
		else
			put_digest(to, b.bytes, b.len), fputc('\n', to);
	}
	fprintf(to, "  %d at %" PRIu64 " %s\n", rc, err.offset, err.msg);
}

static void put_frames(FILE *to, const struct symtrace *f, uint16_t machine)
{
	struct symtrace_frames frames = symtrace_frames(f);
	struct symtrace_summary *summary = symtrace_summary_create();
	struct symtrace_error err = { .msg = "" };
	struct symtrace_frame frame;
	int rc;

	while ((rc = symtrace_next_frame(&frames, &frame, &err)) > 0 && frame.number < MOST) {
		const struct symtrace_pc pc = symtrace_frame_pc(f, &frame);
		char place[20];

		snprintf(place, sizeof(place), "%" PRIx64, pc.address);
		symtrace_summary_add(summary, &frame, pc,
				     symtrace_summary_line(summary, "f", place, 1));
		fprintf(to,
			"frame %" PRIu64 " at %" PRIu64 " of %d, %" PRIu32 " bytes from %" PRIu64
			", pc %d %s%s\n",
			frame.number, frame.offset, frame.tracepoint, frame.size,
			frame.blocks_offset, pc.kind, place,
			symtrace_frame_stepping(f, &frame, pc) ? ", stepping" : "");
		put_blocks(to, f, &frame);
		if (symtrace_pc_known(pc))
			put_stack(to, f, &frame, pc, machine);
	}
	symtrace_summary_sort(summary);
	for (size_t i = 0; i < summary->num_lines; i++)
		fprintf(to, "%s:%" PRIu64 " ", summary->lines[i]->path, summary->lines[i]->frames);
	fprintf(to, "%d at %" PRIu64 " %s\n", rc, err.offset, err.msg);
	symtrace_summary_destroy(summary);
}

/* As tfile_fuzz.c: the first byte is not part of the file; its lowest bit chooses the byte order,
 * the others whether, and of which machine, the program is. */
static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	static const struct symtrace_target targets[] = {
		{ 0 },
		{ EM_X86_64, true, false },
		{ EM_AARCH64, true, false },
		{ EM_386, false, false },
	};
	const struct symtrace_target target = targets[size ? bytes[0] >> 1 & 3 : 0];
	struct symtrace f;
	struct sc_error err;
	char path[32];
	int fd;

	if (!size)
		return;
	fd = testing_memfd(bytes + 1, size - 1, path);
	if (symtrace_open(path, &target, bytes[0] & 1 ? SYMTRACE_ORDER_BIG : SYMTRACE_ORDER_AUTO,
			  &f, &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
	} else {
		put_definitions(to, &f);
		put_layout(to, &f);
		put_frames(to, &f, target.machine ? target.machine : EM_X86_64);
		symtrace_close(&f);
	}
	close(fd);
}

static void test_answers(void **state)
{
	static const char *const seeds[] = { "tfile", NULL };

	(void)state;
	expect_answers("tfile", seeds, 256, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

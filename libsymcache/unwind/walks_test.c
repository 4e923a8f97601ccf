/*
 * Walks over stacks that are made at random, recorded: rows of all kinds, calls, trampolines, words
 * that look like return addresses or frame pointers, on each machine. A change of any frame is seen in
 * testdata/seeds/walks.
 */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/unwind/rows.h"
#include "libsymcache/unwind/unwind.h"

enum {
	BASE = 0x10000,
	ROWS = 24,
	SLOT = 0x40, /* the module: a row for each slot, but for some */
	CODE = ROWS * SLOT,
	GO_RETURN = 4 * SLOT, /* a function in it: Go's return from signals */
	BARE = 0x40000,	 /* a module without a cache, as large */
	LOOSE = 0x60000, /* code in no module */
	STACK = 0x7000,
	WORDS = 120,
	NUMBERS = 33,
};

struct made {
	struct symcache cache;
	struct sc_rows rows;
	uint64_t random;
	uint64_t stack[WORDS];
	uint8_t code[CODE]; /* of all places with code */
	unsigned word;
	bool reads_code; /* memory has it; else the file, or nobody */
	bool in_file;
};

static uint32_t below(struct made *m, uint32_t n)
{
	return testing_below(&m->random, n);
}

/* ---- what is made ------------------------------------------------------------------------- */

static uint64_t any_code(struct made *m)
{
	static const uint64_t places[] = { BASE, BASE, BASE, BASE, BARE, LOOSE };
	const uint64_t place = places[below(m, 6)], at = below(m, CODE);

	return below(m, 12) ? place + at : BASE + GO_RETURN;
}

static uint64_t any_stack(struct made *m)
{
	return STACK + m->word * below(m, m->word == 8 ? WORDS + 2 : 2 * WORDS + 2);
}

static uint64_t any_word(struct made *m)
{
	const uint64_t code = any_code(m), stack = any_stack(m), small = below(m, 40);

	switch (below(m, 10)) {
	case 0:
	case 1:
	case 2:
	case 3:
		return code;
	case 4:
		return code & ~(uint64_t)0xf;
	case 5:
		return code | small % 3 << 48; /* as it is signed */
	case 6:
	case 7:
		return stack;
	case 8:
		return small;
	default:
		return 0;
	}
}

/* Instructions that call, and others, of all machines; signals' returns at some beginnings. */
static void make_code(struct made *m)
{
	static const uint8_t some[][8] = {
		{ 0xe8, 1, 2, 3, 4, 0x90, 0x90, 0x90 },
		{ 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xff, 0xd0 },
		{ 0xff, 0x50, 8, 0x90, 0x41, 0xff, 0x14, 0x25 },
		{ 0x55, 0x48, 0x89, 0xe5, 0, 0, 0, 0x94 },
		{ 0x20, 0, 0x3f, 0xd6, 0x1f, 0x20, 3, 0xd5 },
		{ 0xef, 0, 0, 1, 0x82, 0x90, 0x13, 0 },
		{ 0xe7, 0x80, 0, 0, 0x13, 0, 0, 0 },
		{ 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90 },
	};
	static const uint8_t amd64[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
	static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

	for (unsigned i = 0; i < CODE; i += 8)
		memcpy(m->code + i, some[below(m, 8)], 8);
	for (unsigned i = 0; i < 4; i++) {
		uint8_t *at = m->code + 16 * below(m, CODE / 16);

		memcpy(at, i % 2 ? arm64 : amd64, i % 2 ? sizeof(arm64) : sizeof(amd64));
	}
}

static int32_t any_expression(struct made *m, struct sc_rows_maker *to)
{
	static const char *const some[] = { "\x77\x08", "\x76\x10", "\x77\x18\x06",
					    "\x23\x08", "\x8f\x20", "\x77\x08\x38\x1c",
					    "\x38\x1a" };
	const char *one = some[below(m, sizeof(some) / sizeof(*some))];

	return sc_rows_expression(to, (const uint8_t *)one, strlen(one));
}

/* One of the return address, of the frame pointer, or of any register. */
static struct symcache_ext_rule any_rule(struct made *m, struct sc_rows_maker *to, unsigned reg)
{
	struct symcache_ext_rule rule = { (uint8_t)reg, SYMCACHE_RULE_AT_CFA, 0, 0 };

	if (!below(m, 3))
		rule.kind = (uint8_t)(SYMCACHE_RULE_AT_CFA + below(m, 7));
	switch (rule.kind) {
	case SYMCACHE_RULE_EXPRESSION:
	case SYMCACHE_RULE_VAL_EXPRESSION:
		rule.n = any_expression(m, to);
		break;
	case SYMCACHE_RULE_REGISTER:
		rule.n = (int32_t)below(m, 40);
		break;
	default:
		rule.n = -(int32_t)(m->word * below(m, 4));
	}
	return rule;
}

static void add_row(struct made *m, struct sc_rows_maker *to, uint64_t start, uint8_t sp,
		    uint8_t fp)
{
	static const uint8_t flags[] = { SYMCACHE_ROW_SIGNAL_FRAME, SYMCACHE_ROW_OUTERMOST,
					 SYMCACHE_ROW_MADE, SYMCACHE_ROW_SIGNED };
	struct symcache_ext_row row = { .cfa = SYMCACHE_CFA_REGISTER };
	struct symcache_ext_rule rules[3] = { { 0 } };
	const unsigned flag = below(m, 12);

	row.cfa_reg = below(m, 4) ? sp : fp;
	row.flags = flag < 4 ? flags[flag] : 0;
	row.num_rules = below(m, 5) ? 1 : 0;
	row.num_rules += row.num_rules ? (uint8_t)below(m, 3) : 0;
	row.n = (int32_t)(m->word * below(m, 6));
	if (!below(m, 8)) {
		row.cfa = SYMCACHE_CFA_EXPRESSION;
		row.n = any_expression(m, to);
	}
	for (unsigned i = 0; i < row.num_rules; i++)
		rules[i] = any_rule(m, to,
				    !i	     ? SYMCACHE_UNWIND_RETURN
				    : i == 1 ? fp
					     : below(m, NUMBERS));
	assert_true(sc_rows_add(to, start, start + SLOT, &row, rules));
}

/* A function for each four slots. */
static void make_cache(struct made *m, uint8_t sp, uint8_t fp, uint8_t link)
{
	static const uint8_t strings[] = "\x13"
					 "runtime.sigreturn__"
					 "\4"
					 "main";
	static const struct symcache_header header = {
		.version = SYMCACHE_VERSION_MAX,
		.num_ranges = 6,
		.num_source_locations = 6,
		.num_functions = 6,
		.string_bytes = sizeof(strings) - 1,
	};
	static struct symcache_function functions[6];
	static struct symcache_source_location locations[6];
	static uint32_t ranges[6];
	struct sc_rows_maker to = { .out = &m->rows };

	for (uint32_t i = 0; i < 6; i++) {
		ranges[i] = i * 4 * SLOT;
		functions[i] = (struct symcache_function){ i == 1 ? 0 : 20, SYMCACHE_NONE,
							   i * 4 * SLOT, 0 };
		locations[i] = (struct symcache_source_location){ SYMCACHE_NONE, 1,
								  i == 5 ? SYMCACHE_NONE : i,
								  SYMCACHE_NONE };
	}
	m->rows.facts =
		(struct symcache_ext_unwind){ .stack_pointer = sp,
					      .frame_pointer = fp,
					      .link = link,
					      .word = (uint8_t)m->word,
					      .preserved = (uint64_t)below(m, UINT16_MAX) << 16 |
							   1u << fp };
	for (unsigned i = 0; i < ROWS; i++)
		if (below(m, 6))
			add_row(m, &to, i * SLOT, sp, fp);
	assert_true(sc_rows_finish(&to));
	sc_rows_maker_deinit(&to);
	m->cache = (struct symcache){ .header = &header,
				      .functions = functions,
				      .locations = locations,
				      .ranges = ranges,
				      .strings = strings,
				      .unwind = sc_rows_view(&m->rows) };
}

/* ---- what is walked ------------------------------------------------------------------------- */

static bool copy(void *to, const void *from, uint64_t start, size_t size, uint64_t address,
		 size_t bytes)
{
	if (address < start || address - start >= size || bytes > size - (address - start))
		return false;
	memcpy(to, (const uint8_t *)from + (address - start), bytes);
	return true;
}

static bool copy_code(const struct made *m, uint64_t address, void *to, size_t bytes)
{
	return copy(to, m->code, BASE, CODE, address, bytes) ||
	       copy(to, m->code, BARE, CODE, address, bytes) ||
	       copy(to, m->code, LOOSE, CODE, address, bytes);
}

static bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct made *m = ctx;

	return copy(to, m->stack, STACK, sizeof(m->stack), address, bytes) ||
	       (m->reads_code && copy_code(m, address, to, bytes));
}

static bool read_file(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct made *m = ctx;

	return m->in_file && copy_code(m, address, to, bytes);
}

static bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	struct made *m = ctx;
	const bool own = address >= BASE && address < BASE + CODE;

	if (own) {
		ret->cache = &m->cache;
		ret->base = BASE;
		ret->owner = m;
	}
	return own || (address >= BARE && address < BARE + CODE);
}

static bool is_executable(void *ctx, uint64_t address)
{
	(void)ctx;
	return address >= BASE && address < LOOSE + CODE;
}

static struct symcache_registers any_registers(struct made *m, uint8_t sp, uint8_t fp)
{
	struct symcache_registers r = { .pc = any_code(m) };

	if (!below(m, 8))
		r.pc = below(m, 3) << 20; /* nowhere */
	for (unsigned i = 0; i < NUMBERS; i++)
		if (below(m, 5))
			symcache_set_register(&r, i, any_word(m));
	symcache_set_register(&r, sp, STACK + m->word * below(m, 12));
	if (!below(m, 9))
		r.value[sp]++;
	if (below(m, 6))
		symcache_set_register(&r, fp, r.value[sp] + m->word * below(m, 9));
	return r;
}

/* All of a frame but its registers' values, which are in `details`. */
static void put_frame(FILE *to, FILE *details, const struct made *m,
		      const struct symcache_unwind_frame *f, const struct symcache_registers *r)
{
	fprintf(to, " %" PRIx64 "%s%s %s%s,", f->pc, f->lookup_pc == f->pc ? "" : "-",
		f->signal ? " S" : "", symcache_trust_text(f->trust),
		f->cache	? ""
		: f->has_module ? " bare"
				: " nowhere");
	fprintf(details, "%" PRIx64 " %" PRIx64, f->stack_pointer, f->known);
	for (unsigned i = 0; i < NUMBERS; i++)
		if (f->known >> i & 1)
			fprintf(details, " %" PRIx64, r->value[i]);
	assert_true(f->rel_pc == f->lookup_pc - f->base && f->base == (f->cache ? BASE : 0));
	assert_ptr_equal(f->owner, f->cache ? m : NULL);
}

static void put_stack(FILE *to, const struct made *m, const struct symcache_unwind_source *source,
		      const struct symcache_registers *r)
{
	struct symcache_stack stack = { 0 };
	char *text;
	size_t len;
	FILE *details = open_memstream(&text, &len);

	assert_int_equal(symcache_stack_walk(source, r, true, &stack, NULL), 0);
	for (size_t i = 0; i < stack.num_frames; i++)
		put_frame(to, details, m, &stack.frames[i], &stack.registers[i]);
	fclose(details);
	fprintf(to, " %s %" PRIx64 "%s: ", symcache_stop_word(stack.stop), stack.address,
		stack.lacks ? " lacks" : "");
	put_digest(to, text, len);
	fputc('\n', to);
	free(text);
	symcache_stack_deinit(&stack);
}

static void put_walk(FILE *to, uint16_t machine, uint64_t number)
{
	struct made *m = calloc(1, sizeof(*m));
	const uint8_t sp = machine == EM_X86_64	   ? 7
			   : machine == EM_386	   ? 4
			   : machine == EM_AARCH64 ? 31
						   : 2;
	const uint8_t fp = machine == EM_X86_64	   ? 6
			   : machine == EM_386	   ? 5
			   : machine == EM_AARCH64 ? 29
						   : 8;
	struct symcache_unwind_source source = {
		.machine = machine,
		.max_frames = 9,
		.read = read_memory,
		.module = find_module,
		.modules = m,
		.ctx = m,
		.code = read_file,
	};
	struct symcache_registers r;

	m->random = number;
	m->word = machine == EM_386 ? 4 : 8;
	below(m, 1);
	make_code(m);
	make_cache(m, sp, fp, machine == EM_AARCH64 ? 30 : machine == EM_RISCV ? 1 : 255);
	for (unsigned i = 0; i < WORDS; i++)
		m->stack[i] =
			m->word == 8 ? any_word(m) : any_word(m) << 32 | (any_word(m) & UINT32_MAX);
	m->reads_code = below(m, 2);
	m->in_file = below(m, 2);
	source.executable = below(m, 3) ? is_executable : NULL;
	source.signature = below(m, 4) ? 0 : UINT64_C(3) << 48;
	r = any_registers(m, sp, fp);
	fprintf(to, "%" PRIu64 ":", number);
	put_stack(to, m, &source, &r);
	sc_rows_deinit(&m->rows);
	free(m);
}

static void test_walks(void **state)
{
	static const struct {
		uint16_t machine;
		const char *name;
		unsigned n;
	} machines[] = {
		{ EM_X86_64, "x86-64", 600 },
		{ EM_386, "i386", 200 },
		{ EM_AARCH64, "AArch64", 400 },
		{ EM_RISCV, "RISC-V", 200 },
	};
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++) {
		fprintf(to, "== %s\n", machines[i].name);
		for (unsigned k = 0; k < machines[i].n; k++)
			put_walk(to, machines[i].machine, k);
	}
	fclose(to);
	expect_recorded("walks", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

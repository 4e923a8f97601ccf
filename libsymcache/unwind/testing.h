/* A process whose stack is made, for this room's tests, which include it behind cmocka.h. A module at
 * BASE has rows; code elsewhere has none. */
#ifndef SC_UNWIND_TESTING_H
#define SC_UNWIND_TESTING_H

#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "libsymcache/unwind/rows.h"
#include "libsymcache/unwind/unwind.h"

enum {
	BASE = 0x10000,      /* of the module with rows, up to 0x20000 */
	BARE = 0x40000,      /* of one without a cache, up to 0x50000 */
	LOOSE = 0x60000,     /* code in no module */
	STACK = 0x7000, WORDS = 200,
};

/* In the module: */
enum {
	USUAL = 0x100,       /* CFA=sp+16: return address at CFA − 8, frame pointer at CFA − 16 */
	SIGNAL = 0x200,      /* a signal's: CFA=sp+64, return address at CFA − 8 */
	LAST = 0x300,        /* the outermost frame */
	LEAF = 0x400,        /* the return address in the link register, or lost */
	BY_FP = 0x500,       /* CFA=fp+16 */
	NOTHING = 0x600,     /* no row */
};

struct process {
	struct symcache cache;
	struct sc_rows rows;
	uint64_t stack[WORDS];
	uint64_t code_at;    /* where the only code is that can be read: LOOSE */
	uint8_t code[16];
};

static inline bool read_memory(void *ctx, uint64_t address, void *to, size_t bytes)
{
	const struct process *p = ctx;
	const bool in_stack = address >= STACK && address < STACK + sizeof(p->stack);
	const uint64_t start = in_stack ? STACK : p->code_at;
	const size_t size = in_stack ? sizeof(p->stack) : sizeof(p->code);

	if (address < start || address - start >= size || bytes > size - (address - start))
		return false;
	memcpy(to, (in_stack ? (const uint8_t *)p->stack : p->code) + (address - start), bytes);
	return true;
}

static inline bool find_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	struct process *p = ctx;

	if (address >= BASE && address < BASE + 0x10000) {
		ret->cache = &p->cache;
		ret->base = BASE;
		ret->owner = p;
	}
	return (address >= BASE && address < BASE + 0x10000) || (address >= BARE && address < BARE + 0x10000);
}

static inline bool is_executable(void *ctx, uint64_t address)
{
	(void)ctx;
	return address >= BASE && address < LOOSE + 0x1000;
}

static inline void add(struct sc_rows_maker *m, uint64_t start, const struct symcache_ext_row *row,
		const struct symcache_ext_rule *rules)
{
	assert_true(sc_rows_add(m, start, start + 0x100, row, rules));
}

static inline void make_process(struct process *p, uint8_t sp, uint8_t fp, uint8_t link)
{
	static const struct symcache_header header = {
		.version = SYMCACHE_VERSION_MAX,
		.num_ranges = 3,
		.num_source_locations = 4,
		.num_functions = 3,
	};
	/* One that begins elsewhere, and one that begins at USUAL + 0x80 with what was inlined. */
	static const struct symcache_function functions[] = {
		{ .entry_pc = BASE }, { .entry_pc = USUAL + 0x80 }, { .entry_pc = SYMCACHE_NONE },
	};
	static const struct symcache_source_location locations[] = {
		{ .file_idx = SYMCACHE_NONE, .function_idx = 1, .inlined_into_idx = SYMCACHE_NONE },
		{ .file_idx = SYMCACHE_NONE, .inlined_into_idx = SYMCACHE_NONE },
		{ .file_idx = SYMCACHE_NONE, .function_idx = 2, .inlined_into_idx = 0 },
		{ .file_idx = SYMCACHE_NONE, .inlined_into_idx = SYMCACHE_NONE },
	};
	static const uint32_t ranges[] = { 0, USUAL + 0x80, USUAL + 0x90 };
	struct sc_rows_maker m = { .out = &p->rows };
	const struct symcache_ext_rule usual[] = {
		{ fp, SYMCACHE_RULE_AT_CFA, 0, -16 }, { SYMCACHE_UNWIND_RETURN, SYMCACHE_RULE_AT_CFA, 0, -8 },
	};

	*p = (struct process){ .rows.facts = { .stack_pointer = sp, .frame_pointer = fp, .link = link, .word = 8,
					       .preserved = 1u << fp }, .code_at = LOOSE };
	add(&m, USUAL, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, sp, 0, 2, 16, 0 }, usual);
	add(&m, SIGNAL, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, sp, SYMCACHE_ROW_SIGNAL_FRAME, 1, 64, 0 },
	    usual + 1);
	add(&m, LAST, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, sp, SYMCACHE_ROW_OUTERMOST, 0, 0, 0 }, NULL);
	add(&m, LEAF, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, sp, 0, 0, 0, 0 }, NULL);
	add(&m, BY_FP, &(struct symcache_ext_row){ SYMCACHE_CFA_REGISTER, fp, 0, 2, 16, 0 }, usual);
	assert_true(sc_rows_finish(&m));
	sc_rows_maker_deinit(&m);
	p->cache.header = &header;
	p->cache.ranges = ranges;
	p->cache.functions = functions;
	p->cache.locations = locations;
	p->cache.range_location = 1;
	p->cache.unwind = sc_rows_view(&p->rows);
}

/* The stack is "ADDRESS trust; … stop", with "S" behind a signal's frame. Addresses are those to look
 * up, or relative to their modules. */
static inline void expect_stack(const struct symcache_unwind_source *source,
				const struct symcache_registers *r, bool relative, const char *wants)
{
	struct symcache_unwind_frame f;
	struct symcache_unwinder u;
	char got[2000] = "";

	assert_int_equal(symcache_unwind_begin(&u, source, r, NULL), 0);
	while (symcache_unwind_next(&u, &f))
		sprintf(got + strlen(got), "%llx %s%s; ",
			(unsigned long long)(relative ? f.rel_pc : f.lookup_pc),
			symcache_trust_text(f.trust), f.signal ? " S" : "");
	strcat(got, symcache_stop_word(u.stop));
	assert_string_equal(got, wants);
}

/* Registers of x86-64. */
static inline struct symcache_registers at(uint64_t pc, uint64_t sp, uint64_t fp)
{
	struct symcache_registers r = { .pc = pc };

	symcache_set_register(&r, 7, sp);
	symcache_set_register(&r, 6, fp);
	return r;
}

#endif

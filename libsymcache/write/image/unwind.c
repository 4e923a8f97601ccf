/*
 * Where unwind information comes from: see unwind.h.
 *
 *   .eh_frame      of the image: it is loaded, so a separate debug file lacks it
 *   instructions   of the image in what is left: signal trampolines (musl, old AArch64)
 *   .debug_frame   of the image or its debug file
 *
 * The first two make one table, the third another; they are united as the tables of two
 * caches are (libsymcache/unwind/merge.h), so that it makes no difference whether both files were
 * there at once.
 */
#include "libsymcache/write/image/unwind.h"

#include <elf.h>

#include "libsymcache/dwarf/cfi.h"
#include "libsymcache/dwarf/expression.h"

_Static_assert(sizeof(struct dw_cfi_rule) == sizeof(struct symcache_ext_rule) &&
	       (int)DW_CFI_AT_CFA == SYMCACHE_RULE_AT_CFA && (int)DW_CFI_SAME == SYMCACHE_RULE_SAME &&
	       (int)DW_CFI_EXPRESSION == SYMCACHE_RULE_EXPRESSION &&
	       (int)DW_CFI_VAL_EXPRESSION == SYMCACHE_RULE_VAL_EXPRESSION &&
	       (int)DW_CFI_UNDEFINED == SYMCACHE_RULE_UNDEFINED && DW_CFI_RETURN == SYMCACHE_UNWIND_RETURN,
	       "rules are written as they are read");
_Static_assert((int)DW_CFI_CFA_REGISTER == SYMCACHE_CFA_REGISTER &&
	       (int)DW_CFI_CFA_EXPRESSION == SYMCACHE_CFA_EXPRESSION &&
	       (int)DW_CFI_OUTERMOST == SYMCACHE_ROW_OUTERMOST &&
	       (int)DW_CFI_SIGNED == SYMCACHE_ROW_SIGNED, "so are rows");

enum { MAX_EXPRESSION = 1024, RECENT = 4 };

/* An expression of the section that was stored. */
struct stored_expression {
	uint32_t offset; /* + 1 */
	int32_t place;
};

/* One table under construction. */
struct walk {
	struct sc_elf *image;
	struct dw_cfi cfi;
	struct sc_rows_maker maker;
	size_t next_code; /* executable range that the next gap may lie in */
	/* Of each column of a row, as the next row mostly has the same: or a program of a million
	 * rows reads them all a million times. */
	struct stored_expression recent[DW_CFI_MAX_RULES + 1][RECENT];
	bool swap;
};

/* ---- rows --------------------------------------------------------------------------- */

/* Makes addresses relative. False: it has operations that we do not know. */
static bool relocate(const struct walk *w, uint8_t *bytes, size_t size)
{
	const struct dw_section section = { bytes, size };
	struct dw_cursor c = dw_cursor_at(&section, 0, w->swap);
	const unsigned word = w->image->is_64 ? 8 : 4;
	struct dw_operation op;

	while (dw_next_operation(&c, word, &op)) {
		uint64_t relative = op.number - w->image->load_base;

		for (unsigned i = 0; op.code == EXPR_ADDR && i < word; i++)
			bytes[c.p - bytes - word + (w->image->big_endian ? word - 1 - i : i)] =
				(uint8_t)(relative >> 8 * i);
	}
	return !c.bad;
}

static int32_t store_new_expression(struct walk *w, int32_t offset)
{
	struct dw_section from = dw_cfi_expression(&w->cfi.section, (uint32_t)offset);
	uint8_t bytes[MAX_EXPRESSION];

	if (!from.size || from.size > sizeof(bytes))
		return -1;
	memcpy(bytes, from.data, from.size);
	return relocate(w, bytes, from.size) ? sc_rows_expression(&w->maker, bytes, from.size) : -1;
}

/* The place of an expression of a column among those stored; −1: it is not of use. */
static int32_t store_expression(struct walk *w, size_t column, int32_t offset)
{
	struct stored_expression *recent = &w->recent[column][(uint32_t)offset % RECENT];

	if (recent->offset != (uint32_t)offset + 1)
		*recent = (struct stored_expression){ (uint32_t)offset + 1,
						      store_new_expression(w, offset) };
	return recent->place;
}

/* The row with its expressions stored. What cannot be is undefined, as it stands there. */
static void store_expressions(struct walk *w, struct dw_cfi_row *row)
{
	if (row->cfa == DW_CFI_CFA_EXPRESSION) {
		row->cfa_n = store_expression(w, DW_CFI_MAX_RULES, row->cfa_n);
		if (row->cfa_n < 0)
			row->cfa = DW_CFI_CFA_NONE;
	}
	for (size_t i = 0; i < row->num_rules; i++) {
		struct dw_cfi_rule *r = &row->rules[i];

		if (r->kind != DW_CFI_EXPRESSION && r->kind != DW_CFI_VAL_EXPRESSION)
			continue;
		r->n = store_expression(w, i, r->n);
		if (r->n < 0)
			*r = (struct dw_cfi_rule){ r->reg, DW_CFI_UNDEFINED, 0, 0 };
	}
}

/* A dw_cfi_row_fn. */
static bool add_row(void *ctx, uint64_t start, uint64_t end, const struct dw_cfi_row *row)
{
	struct walk *w = ctx;
	const uint64_t base = w->image->load_base;
	struct symcache_ext_row stored;
	struct dw_cfi_row changed;

	if (start < base) {
		w->maker.out->too_far++;
		return true;
	}
	if (row->has_expressions) {
		changed = *row;
		store_expressions(w, &changed);
		row = &changed;
	}
	stored = (struct symcache_ext_row){ row->cfa, row->cfa_reg, row->flags, row->num_rules,
					    row->cfa_n, 0 };
	return sc_rows_add(&w->maker, start - base, end - base, &stored,
			   (const struct symcache_ext_rule *)row->rules);
}

/* ---- signal trampolines ------------------------------------------------------------------ */

/* A trampoline's instructions, and where the kernel saved registers, from its stack
 * pointer on: register `first` and `count` − 1 following ones at `offset` and behind. */
struct trampoline {
	uint16_t machine;
	uint8_t size, code[9];
	uint8_t stack_pointer, num_saved;
	struct { uint8_t reg; int16_t offset; } saved[33];
};

static const struct trampoline trampolines[] = {
	/* mov $15,%rax; syscall: a ucontext at rsp, general registers from 40 on */
	{ EM_X86_64, 9, { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 }, 7, 17,
	  { { 0, 144 }, { 1, 136 }, { 2, 152 }, { 3, 128 }, { 4, 112 }, { 5, 104 }, { 6, 120 },
	    { 7, 160 }, { 8, 40 }, { 9, 48 }, { 10, 56 }, { 11, 64 }, { 12, 72 }, { 13, 80 },
	    { 14, 88 }, { 15, 96 }, { DW_CFI_RETURN, 168 } } },
	/* mov x8, #139; svc #0: a siginfo of 128 bytes, and the ucontext */
	{ EM_AARCH64, 8, { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 }, 31, 33,
	  { { 0, 312 }, { 1, 320 }, { 2, 328 }, { 3, 336 }, { 4, 344 }, { 5, 352 }, { 6, 360 },
	    { 7, 368 }, { 8, 376 }, { 9, 384 }, { 10, 392 }, { 11, 400 }, { 12, 408 }, { 13, 416 },
	    { 14, 424 }, { 15, 432 }, { 16, 440 }, { 17, 448 }, { 18, 456 }, { 19, 464 },
	    { 20, 472 }, { 21, 480 }, { 22, 488 }, { 23, 496 }, { 24, 504 }, { 25, 512 },
	    { 26, 520 }, { 27, 528 }, { 28, 536 }, { 29, 544 }, { 30, 552 }, { 31, 560 },
	    { DW_CFI_RETURN, 568 } } },
};

static const struct trampoline *trampoline_of(uint16_t machine)
{
	for (size_t i = 0; i < sizeof(trampolines) / sizeof(*trampolines); i++)
		if (trampolines[i].machine == machine)
			return &trampolines[i];
	return NULL;
}

static bool add_trampoline(struct walk *w, const struct trampoline *t, uint64_t at)
{
	struct dw_cfi_row row = { .cfa = DW_CFI_CFA_REGISTER, .cfa_reg = t->stack_pointer,
				  .flags = SYMCACHE_ROW_SIGNAL_FRAME | SYMCACHE_ROW_MADE,
				  .num_rules = t->num_saved };

	for (size_t i = 0; i < t->num_saved; i++)
		row.rules[i] = (struct dw_cfi_rule){ t->saved[i].reg, DW_CFI_AT_CFA, 0,
						     t->saved[i].offset };
	w->maker.out->facts.sources |= SYMCACHE_UNWIND_CODE;
	return add_row(w, at, at + t->size, &row);
}

/* Trampolines in the code of [from, to), which no entry describes. */
static bool search_gap(struct walk *w, uint64_t from, uint64_t to)
{
	const struct trampoline *t = trampoline_of(w->image->machine);
	const struct sc_elf_range *codes = w->image->exec.list.data;
	bool ok = true;

	for (; t && w->next_code < w->image->exec.list.len; w->next_code++) {
		const struct sc_elf_range *code = &codes[w->next_code];
		uint64_t start = code->start > from ? code->start : from;
		uint64_t end = code->end < to ? code->end : to;
		const uint8_t *bytes, *hit;
		size_t size;

		if (code->start >= to)
			break;
		if (start < end && end - start >= t->size) {
			bytes = sc_elf_bytes_at(w->image, start, &size);
			if (size > end - start)
				size = end - start;
			while (ok && size >= t->size &&
			       (hit = memmem(bytes, size, t->code, t->size))) {
				ok = add_trampoline(w, t, start + (uint64_t)(hit - bytes));
				size -= (size_t)(hit - bytes) + t->size;
				start += (uint64_t)(hit - bytes) + t->size;
				bytes = hit + t->size;
			}
		}
		if (code->end > to)
			break;
	}
	return ok;
}

/* ---- tables --------------------------------------------------------------------------- */

static bool is_code(const void *ctx, uint64_t vaddr)
{
	const struct sc_elf *image = ctx;

	return sc_elf_range_at(&image->exec, vaddr);
}

static bool walk(struct walk *w, uint32_t source, bool with_gaps)
{
	uint64_t pos = 0;
	bool ok = true;

	for (size_t i = 0; i < w->cfi.entries.len && ok; i++) {
		const struct dw_cfi_entry *e = &w->cfi.entries.data[i];

		ok = (!with_gaps || e->start == pos || search_gap(w, pos, e->start)) &&
		     dw_cfi_run(&w->cfi, e, add_row, w);
		pos = e->end;
		w->maker.out->facts.sources |= source;
	}
	return ok && (!with_gaps || search_gap(w, pos, UINT64_MAX)) && sc_rows_finish(&w->maker);
}

/* Reads section `name` of `elf`, if it is there. SC_ENOMEM. */
static int read_table(struct sc_elf *image, struct sc_elf *elf, bool eh, struct sc_rows *ret,
		      struct sc_error *fault, struct sc_error *err)
{
	const struct dw_cfi_machine *machine = dw_cfi_machine(image->machine);
	const char *name = eh ? ".eh_frame" : ".debug_frame";
	struct walk w = { .image = image, .maker.out = ret,
			  .swap = image->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) };
	struct dw_cfi_section s = { .machine = machine, .is_64 = elf->is_64, .eh = eh, .swap = w.swap,
				    .vaddr = sc_elf_section_address(elf, name),
				    .text = sc_elf_section_address(elf, ".text"),
				    .data = sc_elf_section_address(elf, ".got") };
	int rc = sc_elf_section(elf, name, &s.bytes.data, &s.bytes.size, fault);

	ret->facts = (struct symcache_ext_unwind){
		.stack_pointer = machine->stack_pointer, .frame_pointer = machine->frame_pointer,
		.link = machine->link, .word = image->is_64 ? 8 : 4, .preserved = machine->preserved,
	};
	if (!rc)
		rc = dw_cfi_read(&s, is_code, image, &w.cfi, fault);
	ret->facts.broken = rc && rc != SC_ENOTFOUND;
	if (rc != SC_ENOMEM)
		rc = walk(&w, eh ? SYMCACHE_UNWIND_EH_FRAME : SYMCACHE_UNWIND_DEBUG_FRAME, eh) ? 0 :
			SC_ENOMEM;
	if (w.cfi.broken)
		*fault = w.cfi.first_fault;
	ret->facts.broken += (uint32_t)w.cfi.broken;
	dw_cfi_deinit(&w.cfi);
	sc_rows_maker_deinit(&w.maker);
	return rc ? sc_error_set(err, rc, "out of memory") : 0;
}

/* Both tables as one; they are given up. */
static int unite(struct sc_rows *eh, struct sc_rows *debug, struct sc_rows *ret,
		 struct sc_error *err)
{
	struct symcache_unwind a = sc_rows_view(eh), b = sc_rows_view(debug);
	bool ok = true;

	if (!a.facts || !b.facts) {
		struct sc_rows *only = a.facts ? eh : debug;

		*ret = *only;
		*only = (struct sc_rows){ 0 };
	} else {
		ok = sc_rows_unite(&a, &b, ret);
	}
	sc_rows_deinit(eh);
	sc_rows_deinit(debug);
	return ok ? 0 : sc_no_memory(err);
}

int sc_unwind_read(struct sc_elf *image, struct sc_elf *debug, struct sc_rows *ret,
		   struct sc_error *fault, struct sc_error *err)
{
	struct sc_elf *with = debug && sc_elf_has(debug, ".debug_frame") ? debug : image;
	struct sc_rows eh_rows = { 0 }, debug_rows = { 0 };
	int rc = 0;

	if (!dw_cfi_machine(image->machine))
		return 0;
	/* That of objects is not relocated as it would have to be. */
	if (image->type != ET_REL)
		rc = read_table(image, image, true, &eh_rows, fault, err);
	if (!rc && sc_elf_has(with, ".debug_frame"))
		rc = read_table(image, with, false, &debug_rows, fault, err);
	if (!rc)
		return unite(&eh_rows, &debug_rows, ret, err);
	sc_rows_deinit(&eh_rows);
	sc_rows_deinit(&debug_rows);
	return rc;
}

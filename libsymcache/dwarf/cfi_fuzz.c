/* Fuzz target: a section of call frame information; its rows must be valid. */
#include <elf.h>

#include "libsymcache/dwarf/cfi.h"
#include "libsymcache/dwarf/expression.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

struct rows {
	const struct dw_cfi_section *section;
	const struct dw_cfi_entry *entry;
	uint64_t end;
	uint32_t left;
};

static void walk(const struct rows *r, int32_t n)
{
	struct dw_section e = dw_cfi_expression(r->section, (uint32_t)n);
	struct dw_cursor c = dw_cursor_at(&e, 0, r->section->swap);
	struct dw_operation op;

	while (dw_next_operation(&c, r->section->is_64 ? 8 : 4, &op))
		must(c.p <= e.data + e.size);
}

static bool use_row(void *ctx, uint64_t start, uint64_t end, const struct dw_cfi_row *row)
{
	struct rows *r = ctx;

	must(start < end && start >= r->end && start >= r->entry->start && end <= r->entry->end);
	must(row->num_rules <= DW_CFI_MAX_RULES && row->cfa_reg <= r->section->machine->last);
	for (size_t i = 0; i < row->num_rules; i++) {
		must(row->rules[i].kind && row->rules[i].kind <= DW_CFI_SAME);
		must(!i || row->rules[i].reg > row->rules[i - 1].reg);
		if (row->rules[i].kind == DW_CFI_EXPRESSION)
			walk(r, row->rules[i].n);
	}
	if (row->cfa == DW_CFI_CFA_EXPRESSION)
		walk(r, row->cfa_n);
	r->end = end;
	return r->left-- > 0;
}

static bool any_code(const void *ctx, uint64_t vaddr)
{
	(void)ctx;
	return vaddr;
}

/* The first byte says what the rest is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint16_t machines[] = { EM_X86_64, EM_386, EM_AARCH64, EM_RISCV, EM_PPC64 };
	struct dw_cfi_section s = { .vaddr = 0x1000, .text = 0x2000, .data = 0x3000 };
	struct dw_cfi cfi;
	uint64_t end = 0;

	if (!size)
		return 0;
	s.eh = *data & 1;
	s.is_64 = *data & 2;
	s.swap = *data & 4;
	s.machine = dw_cfi_machine(machines[(*data >> 3) % 5]);
	s.bytes = (struct dw_section){ data + 1, size - 1 };
	if (dw_cfi_read(&s, any_code, NULL, &cfi, NULL))
		return 0;
	for (size_t i = 0; i < cfi.entries.len; i++) {
		const struct dw_cfi_entry *e = &cfi.entries.data[i];
		struct rows rows = { &s, e, 0, 10000 };

		must(e->start < e->end && e->start >= end);
		end = e->end;
		dw_cfi_run(&cfi, e, use_row, &rows);
	}
	must(!cfi.broken == !cfi.first_fault.code);
	dw_cfi_deinit(&cfi);
	return 0;
}

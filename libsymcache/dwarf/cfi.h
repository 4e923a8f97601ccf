/*
 * Call frame information, .eh_frame and .debug_frame (DWARF 5, 6.4; LSB): rows, each of
 * which says for a range of addresses where the caller's registers are.
 */
#ifndef DW_CFI_H
#define DW_CFI_H

#include "libsymcache/base/error.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/dwarf/cursor.h"

/* What is known of the registers of a machine, by their numbers in DWARF. */
struct dw_cfi_machine {
	uint16_t machine;      /* e_machine */
	uint8_t stack_pointer, frame_pointer;
	uint8_t link;          /* has the return address at a function's entry; 255: the stack */
	uint8_t last;          /* rules for registers above are left out: vectors */
	uint32_t preserved;    /* bit n: calls leave register n as it is */
};

/* NULL: rows of this machine are not read. */
const struct dw_cfi_machine *dw_cfi_machine(uint16_t machine);

enum dw_cfi_cfa { DW_CFI_CFA_NONE, DW_CFI_CFA_REGISTER, DW_CFI_CFA_EXPRESSION };

enum dw_cfi_kind {
	DW_CFI_AT_CFA = 1,      /* saved at CFA + n */
	DW_CFI_VAL_CFA,         /* is CFA + n */
	DW_CFI_REGISTER,        /* is in register n */
	DW_CFI_EXPRESSION,      /* saved where the expression says; n: where it stands */
	DW_CFI_VAL_EXPRESSION,  /* is what the expression says */
	DW_CFI_UNDEFINED,       /* lost */
	DW_CFI_SAME,            /* as it is */
};

enum dw_cfi_flag {
	DW_CFI_SIGNAL_FRAME = 1,
	DW_CFI_SIGNED = 2,      /* the return address is (AArch64) */
	DW_CFI_KEY_B = 4,       /* with key B */
	DW_CFI_OUTERMOST = 8,   /* the return address is undefined */
};

#define DW_CFI_RETURN 255 /* stands for the return address as a register */
#define DW_CFI_MAX_RULES 64

struct dw_cfi_rule {
	uint8_t reg, kind;
	uint16_t zero;
	int32_t n;
};

/* Expressions are offsets into the section: of a ULEB128 length and so many bytes. */
struct dw_cfi_row {
	uint8_t cfa, cfa_reg, flags, num_rules;
	int32_t cfa_n;          /* offset, or the expression */
	bool has_expressions;
	struct dw_cfi_rule rules[DW_CFI_MAX_RULES]; /* ascending by register */
};

struct dw_cfi_section {
	struct dw_section bytes;
	uint64_t vaddr;         /* of its first byte, for addresses relative to it */
	uint64_t text, data;    /* what DW_EH_PE_textrel and datarel are relative to */
	bool eh;                /* .eh_frame; else .debug_frame */
	bool is_64, swap;
	const struct dw_cfi_machine *machine;
};

/* An entry for a range of addresses (FDE). */
struct dw_cfi_entry {
	uint64_t start, end;    /* [start, end), vaddr; what is left of it when they overlap */
	uint64_t first;         /* its start as it says: where its program begins */
	uint32_t cie;           /* index into cies */
	uint32_t program, program_end; /* offsets in the section */
};

struct dw_cfi_common;

struct dw_cfi {
	struct dw_cfi_section section;
	VEC(struct dw_cfi_entry) entries; /* ascending by start, disjoint */
	VEC(struct dw_cfi_common) commons;
	uint64_t broken;        /* entries left out, and rows that were cut short */
	struct sc_error first_fault;
};

/* True if code can be at `vaddr`: entries of dropped code begin elsewhere. */
typedef bool dw_cfi_code_fn(const void *ctx, uint64_t vaddr);

/*
 * Finds the entries of a section. Of two that overlap, the one that begins first has the
 * addresses, of two that begin together the first in the section. Broken ones are counted.
 * SC_ENOMEM; SC_ELIMIT: the section is larger than 2 GiB.
 */
int dw_cfi_read(const struct dw_cfi_section *section, dw_cfi_code_fn *code, const void *ctx,
		struct dw_cfi *ret, struct sc_error *err);
void dw_cfi_deinit(struct dw_cfi *cfi);

/* Called with the rows of an entry in the order of addresses; false ends it. */
typedef bool dw_cfi_row_fn(void *ctx, uint64_t start, uint64_t end,
			   const struct dw_cfi_row *row);

/*
 * Runs the program of an entry. One that is broken is counted and ends; behind its last row
 * there is none. False: `fn` returned false. Cost: linear in the program, times the rules of
 * its rows.
 */
bool dw_cfi_run(struct dw_cfi *cfi, const struct dw_cfi_entry *entry, dw_cfi_row_fn *fn, void *ctx);

/* The bytes of the expression at `offset`; size 0: none. */
struct dw_section dw_cfi_expression(const struct dw_cfi_section *section, uint32_t offset);

#endif

/*
 * tdesc.h: which registers lie where in a block of registers.
 *
 * Either from a target description, the XML that GDB and its servers exchange and
 * trace files carry in their tdesc lines, or from the layout GDB supposes for an
 * architecture that comes without one. Rules of the layout: registers ascend by
 * number, one after another without padding; a register without a number has the
 * number of the one before it plus one.
 */
#ifndef TDESC_H
#define TDESC_H

#include "libsymcache/trace/trace.h"

/* What an architecture is to an ELF file. */
struct tdesc_machine {
	uint16_t machine; /* e_machine */
	bool is64;        /* ELFCLASS64 */
	int big_endian;   /* 1, 0, or −1: comes in both byte orders */
};

/*
 * Reads the XML text in xml[0, len). 0, or −1 with a message in err[0, err_size):
 * what is wrong and in which line; then *ret is empty. An <xi:include> is an error
 * (the registers it names are not there to be counted), so is an entity.
 */
int tdesc_parse(struct symtrace_layout *ret, const char *xml, size_t len, char *err,
		size_t err_size);

/* The layout GDB supposes for an ELF machine, up to the program counter and the
 * few flags behind it. False: none is known, *ret is empty. */
bool tdesc_default(struct symtrace_layout *ret, uint16_t machine, bool is64);

void tdesc_deinit(struct symtrace_layout *tdesc);

/* The program counter: rip, eip, pc or pswa; NULL if there is none. */
const struct symtrace_register *tdesc_pc(const struct symtrace_layout *tdesc);

/* Knows the architecture of that name? */
bool tdesc_find_machine(const char *architecture, struct tdesc_machine *ret);

/* Adds a register behind the last one. False: out of memory. */
bool tdesc_add(struct symtrace_layout *tdesc, const char *name, uint64_t number, uint32_t size);

#endif

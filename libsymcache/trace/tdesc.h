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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tdesc_register {
	char name[24];    /* a longer one is cut off */
	uint64_t number;
	uint32_t offset;  /* in the block */
	uint32_t size;    /* bytes */
};

struct tdesc {
	char architecture[64]; /* GDB's name, "i386:x86-64"; "": not told */
	struct tdesc_register *registers; /* ascending by offset */
	size_t num_registers;
	size_t cap;
};

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
int tdesc_parse(struct tdesc *ret, const char *xml, size_t len, char *err, size_t err_size);

/* The layout GDB supposes for an ELF machine, up to the program counter and the
 * few flags behind it. False: none is known, *ret is empty. */
bool tdesc_default(struct tdesc *ret, uint16_t machine, bool is64);

void tdesc_deinit(struct tdesc *tdesc);

/* The program counter: rip, eip, pc or pswa; NULL if there is none. */
const struct tdesc_register *tdesc_pc(const struct tdesc *tdesc);

/* Knows the architecture of that name? */
bool tdesc_find_machine(const char *architecture, struct tdesc_machine *ret);

/* Adds a register behind the last one. False: out of memory. */
bool tdesc_add(struct tdesc *tdesc, const char *name, uint64_t number, uint32_t size);

#endif

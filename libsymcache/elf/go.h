/*
 * go.h: where a Go program keeps its table of functions, .gopclntab, which strip leaves alone as
 * the runtime needs it: its places and what its offsets count from.
 */
#ifndef SC_ELF_GO_H
#define SC_ELF_GO_H

#include "libsymcache/elf/elf.h"

struct sc_elf_go {
	const uint8_t *table;    /* .gopclntab; NULL: the file has none */
	size_t size;
	uint64_t text;           /* vaddr that offsets of code count from (Go 1.18 and later) */
	const uint8_t *funcdata; /* what offsets of inline trees count from; NULL: it was not found */
	size_t funcdata_size;    /* up to the end of its segment */
};

/*
 * Finds them: text and funcdata (runtime.text, go:func.*) are in runtime.firstmoduledata, which is
 * known by the addresses that it begins with. Without it `text` is the beginning of .text.
 * SC_ENOMEM.
 */
int sc_elf_go_find(struct sc_elf *elf, struct sc_elf_go *ret, struct sc_error *err);

#endif

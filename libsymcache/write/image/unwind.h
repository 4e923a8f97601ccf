/* Unwind information of ELF files: call frame information → rows (unwind/rows.h). */
#ifndef SC_UNWIND_H
#define SC_UNWIND_H

#include "libsymcache/elf/elf.h"
#include "libsymcache/unwind/rows.h"

/*
 * Reads what `image` and its debug file (or NULL) have: .eh_frame and signal trampolines,
 * and .debug_frame where these have nothing. Broken entries are counted; *fault is the first
 * one's. SC_ENOMEM.
 */
int sc_unwind_read(struct sc_elf *image, struct sc_elf *debug, struct sc_rows *ret,
		   struct sc_error *fault, struct sc_error *err);

#endif

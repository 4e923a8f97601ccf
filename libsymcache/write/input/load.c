/* The DWARF sections of an ELF file: see dwarf/sections.h. */
#include "libsymcache/write/input/load.h"

#include <stdio.h>

int sc_load_dwarf(struct sc_elf *elf, bool split, unsigned threads, struct dw_sections *ret,
		  struct sc_section_faults *faults, struct sc_error *err)
{
	static const char *const names[] = {
		".debug_info", ".debug_abbrev", ".debug_line", ".debug_str", ".debug_line_str",
		".debug_str_offsets", ".debug_addr", ".debug_ranges", ".debug_rnglists",
		".debug_types",
	};
	struct dw_section *to[] = {
		&ret->info, &ret->abbrev, &ret->line, &ret->str, &ret->line_str,
		&ret->str_offsets, &ret->addr, &ret->ranges, &ret->rnglists,
		&ret->types,
	};
	enum { N = sizeof(names) / sizeof(*names) };
	struct sc_elf_wanted wanted[N] = {0};
	char full[N][32];
	const bool str_later = ret->str.data;
	size_t n = 0;

	for (int i = 0; i < N; i++) {
		if (to[i]->data)
			continue;
		snprintf(full[n], sizeof(full[n]), "%s%s", names[i], split ? ".dwo" : "");
		wanted[n].name = full[n];
		to[n++] = to[i];
	}
	sc_elf_load(elf, threads, wanted, n);
	for (size_t i = 0; i < n; i++) {
		*to[i] = (struct dw_section){ wanted[i].data, wanted[i].size };
		if (wanted[i].rc == SC_ENOMEM)
			return sc_error_set(err, SC_ENOMEM, "%s", wanted[i].err.msg);
		if (wanted[i].rc && wanted[i].rc != SC_ENOTFOUND && !faults->count++)
			faults->first = wanted[i].err;
	}
	if (!str_later)
		dw_section_end_with_nul(&ret->str);
	dw_section_end_with_nul(&ret->line_str);
	ret->file_size = elf->size;
	ret->swap = elf->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return 0;
}

/* Sections by name and kind: see headers.h. */
#include "libsymcache/elf/headers.h"

Elf_Scn *sc_elf_next_section(struct sc_elf *e, const char *name, Elf_Scn *scn, GElf_Shdr *sh)
{
	while ((scn = elf_nextscn(e->elf, scn))) {
		const char *s = gelf_getshdr(scn, sh) ?
			sc_elf_string(&e->section_names, sh->sh_name) : NULL;

		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

Elf_Scn *sc_elf_symbol_table(struct sc_elf *e, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL, *found = NULL;
	GElf_Shdr each;

	while ((scn = elf_nextscn(e->elf, scn))) {
		if (!gelf_getshdr(scn, &each) ||
		    (each.sh_type != SHT_SYMTAB && (found || each.sh_type != SHT_DYNSYM)))
			continue;
		found = scn;
		*sh = each;
		if (each.sh_type == SHT_SYMTAB)
			break;
	}
	return found;
}

Elf_Data *sc_elf_symbol_sections(struct sc_elf *e, size_t ndx)
{
	Elf_Scn *scn = NULL;
	Elf_Data *found = NULL;
	GElf_Shdr sh;

	while ((scn = elf_nextscn(e->elf, scn)))
		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB_SHNDX && sh.sh_link == ndx)
			found = elf_getdata(scn, NULL);
	return found;
}

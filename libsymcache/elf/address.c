/* From addresses to bytes, and from sections to addresses: see elf.h. */
#include <gelf.h>
#include <libelf.h>

#include "libsymcache/elf/elf.h"

uint64_t sc_elf_section_address(struct sc_elf *e, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t names;
	GElf_Shdr sh;

	while (!elf_getshdrstrndx(e->elf, &names) && (scn = elf_nextscn(e->elf, scn))) {
		const char *s = gelf_getshdr(scn, &sh) ? elf_strptr(e->elf, names, sh.sh_name) : NULL;

		if (s && !strcmp(s, name))
			return sc_elf_section_vaddr(e, elf_ndxscn(scn), sh.sh_addr);
	}
	return 0;
}

const uint8_t *sc_elf_bytes_at(struct sc_elf *e, uint64_t vaddr, size_t *size)
{
	size_t n;

	*size = 0;
	if (e->type == ET_REL || elf_getphdrnum(e->elf, &n))
		return NULL;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(e->elf, (int)i, &ph) || ph.p_type != PT_LOAD ||
		    vaddr < ph.p_vaddr || vaddr - ph.p_vaddr >= ph.p_filesz ||
		    ph.p_offset > e->size || ph.p_filesz > e->size - ph.p_offset)
			continue;
		*size = ph.p_filesz - (vaddr - ph.p_vaddr);
		return e->bytes + ph.p_offset + (vaddr - ph.p_vaddr);
	}
	return NULL;
}

/* From addresses to bytes, and from sections to addresses: see elf.h. */
#include "libsymcache/elf/headers.h"

bool sc_elf_section_start(struct sc_elf *e, const char *name, uint64_t *ret)
{
	GElf_Shdr sh;
	Elf_Scn *scn = sc_elf_next_section(e, name, NULL, &sh);

	if (scn)
		*ret = sc_elf_section_vaddr(e, elf_ndxscn(scn), sh.sh_addr);
	return scn;
}

uint64_t sc_elf_section_address(struct sc_elf *e, const char *name)
{
	uint64_t vaddr = 0;

	sc_elf_section_start(e, name, &vaddr);
	return vaddr;
}

bool sc_elf_lacks_code(struct sc_elf *e)
{
	GElf_Shdr sh;

	return sc_elf_next_section(e, ".eh_frame", NULL, &sh) && sh.sh_type == SHT_NOBITS;
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

/* From addresses to bytes, and from sections to addresses: see elf.h. */
#include <gelf.h>
#include <libelf.h>

#include "libsymcache/elf/elf.h"

/* The section of this name, whether it has bytes or not; NULL: there is none. */
static Elf_Scn *find_section(struct sc_elf *e, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	size_t names;

	while (!elf_getshdrstrndx(e->elf, &names) && (scn = elf_nextscn(e->elf, scn))) {
		const char *s = gelf_getshdr(scn, sh) ? elf_strptr(e->elf, names, sh->sh_name) :
							NULL;

		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

uint64_t sc_elf_section_address(struct sc_elf *e, const char *name)
{
	GElf_Shdr sh;
	Elf_Scn *scn = find_section(e, name, &sh);

	return scn ? sc_elf_section_vaddr(e, elf_ndxscn(scn), sh.sh_addr) : 0;
}

bool sc_elf_lacks_code(struct sc_elf *e)
{
	GElf_Shdr sh;

	return find_section(e, ".eh_frame", &sh) && sh.sh_type == SHT_NOBITS;
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

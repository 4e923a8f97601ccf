/* Who a file is: SONAME, and the id folded from .text where there is no build ID. */
#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include "libsymcache/elf/elf.h"

const char *sc_elf_soname(struct sc_elf *e)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(e->elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_DYNAMIC || !sh.sh_entsize)
			continue;
		data = elf_getdata(scn, NULL);
		for (size_t i = 0; data && i < data->d_size / sh.sh_entsize; i++) {
			GElf_Dyn dyn;
			if (!gelf_getdyn(data, (int)i, &dyn) || dyn.d_tag == DT_NULL)
				break;
			if (dyn.d_tag == DT_SONAME) {
				struct sc_elf_strings names = sc_elf_strings(e, sh.sh_link);
				return sc_elf_string(&names, dyn.d_un.d_val);
			}
		}
	}
	return NULL;
}

void sc_elf_fold_text(struct sc_elf *e, uint8_t id[16])
{
	const uint8_t *text;
	size_t size;

	memset(id, 0, 16);
	if (sc_elf_section(e, ".text", &text, &size, NULL))
		return;
	for (size_t i = 0; i < size && i < 4096; i++)
		id[i % 16] ^= text[i];
}

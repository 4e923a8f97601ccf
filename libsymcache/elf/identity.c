/*
 * Who a file is: build ID, SONAME, and the id folded from .text where there is
 * no build ID.
 */
#include <elf.h>
#include <gelf.h>
#include <libelf.h>

#include "libsymcache/elf/elf.h"
#include "libsymcache/elf/notes.h"

static uint32_t u32(const struct sc_elf *e, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, 4);
	return e->big_endian == (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? v :
		__builtin_bswap32(v);
}

void sc_elf_read_notes(struct sc_elf *e, const uint8_t *data, size_t size, uint64_t align)
{
	size_t at = 0, pad = align == 8 ? 7 : 3;

	while (!e->build_id_len && size - at >= 12) {
		uint64_t namesz = u32(e, data + at), descsz = u32(e, data + at + 4);
		uint64_t name = at + 12, desc = (name + namesz + pad) & ~pad;
		uint64_t next = (desc + descsz + pad) & ~pad;

		if (desc > size || descsz > size - desc)
			return;
		if (u32(e, data + at + 8) == NT_GNU_BUILD_ID && namesz == 4 &&
		    !memcmp(data + name, "GNU", 4) && descsz &&
		    descsz <= SYMCACHE_BUILD_ID_MAX) {
			memcpy(e->build_id, data + desc, descsz);
			e->build_id_len = descsz;
		}
		if (next > size)
			return;
		at = next;
	}
}

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

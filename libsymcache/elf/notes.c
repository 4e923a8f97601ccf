/* The build ID out of a note: see notes.h. */
#include "libsymcache/elf/notes.h"

#include <elf.h>
#include <string.h>

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

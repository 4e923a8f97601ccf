/* Build IDs without libelf: see elf_id.h. */
#include "libsymcache/base/elf_id.h"

#include <elf.h>
#include <string.h>

enum { MAX_HEADERS = 1024, MAX_NOTES = 1024 };

size_t sc_notes_build_id(sc_read_fn *read, void *ctx, uint64_t at, uint64_t size,
			 uint8_t id[SYMCACHE_BUILD_ID_MAX])
{
	struct {
		uint32_t name, content, type;
		char owner[4];
	} head;

	for (unsigned i = 0; i < MAX_NOTES && size >= sizeof(head) &&
	     read(ctx, at, &head, sizeof(head)); i++) {
		const uint64_t skip = 12 + (((uint64_t)head.name + 3) & ~3ull),
			       next = skip + (((uint64_t)head.content + 3) & ~3ull);

		if (head.name == 4 && !memcmp(head.owner, "GNU", 4) &&
		    head.type == NT_GNU_BUILD_ID && head.content &&
		    head.content <= SYMCACHE_BUILD_ID_MAX && read(ctx, at + skip, id, head.content))
			return head.content;
		if (next >= size)
			break;
		at += next;
		size -= next;
	}
	return 0;
}

/* A program header of either class. */
static bool read_header(sc_read_fn *read, void *ctx, uint64_t at, bool wide, Elf64_Phdr *ret)
{
	Elf32_Phdr narrow;

	if (wide)
		return read(ctx, at, ret, sizeof(*ret));
	if (!read(ctx, at, &narrow, sizeof(narrow)))
		return false;
	*ret = (Elf64_Phdr){ .p_type = narrow.p_type, .p_offset = narrow.p_offset,
			     .p_filesz = narrow.p_filesz };
	return true;
}

size_t sc_elf_build_id(sc_read_fn *read, void *ctx, uint64_t start,
		       uint8_t id[SYMCACHE_BUILD_ID_MAX])
{
	union {
		Elf64_Ehdr wide;
		Elf32_Ehdr narrow;
	} e;
	const uint16_t one = 1;
	const uint8_t order = *(const uint8_t *)&one ? ELFDATA2LSB : ELFDATA2MSB;
	uint64_t headers;
	unsigned n, size;
	size_t len = 0;
	bool wide;

	if (!read(ctx, start, &e, sizeof(e.narrow)) || memcmp(&e, ELFMAG, SELFMAG) ||
	    e.wide.e_ident[EI_DATA] != order)
		return 0;
	wide = e.wide.e_ident[EI_CLASS] == ELFCLASS64;
	if (wide && !read(ctx, start, &e.wide, sizeof(e.wide)))
		return 0;
	headers = wide ? e.wide.e_phoff : e.narrow.e_phoff;
	n = wide ? e.wide.e_phnum : e.narrow.e_phnum;
	size = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if ((wide ? e.wide.e_phentsize : e.narrow.e_phentsize) != size)
		return 0;
	for (unsigned i = 0; i < n && i < MAX_HEADERS && !len; i++) {
		Elf64_Phdr ph;

		if (!read_header(read, ctx, start + headers + i * size, wide, &ph))
			break;
		if (ph.p_type == PT_NOTE)
			len = sc_notes_build_id(read, ctx, start + ph.p_offset, ph.p_filesz, id);
	}
	return len;
}

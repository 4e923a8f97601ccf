/*
 * Bytes under construction, for tests that make files: numbers in either byte
 * order, LEB128, strings, and a minimal ELF file around sections.
 */
#ifndef SC_TESTING_BYTES_H
#define SC_TESTING_BYTES_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/vec.h"

struct bytes {
	VEC(uint8_t) b;
	bool big_endian;
};

static inline void bytes_deinit(struct bytes *o)
{
	vec_deinit(&o->b);
}

static inline void put_block(struct bytes *o, const void *data, size_t n)
{
	if (!n)
		return;
	if (!vec_reserve(&o->b, n))
		abort();
	memcpy(o->b.data + o->b.len, data, n);
	o->b.len += n;
}

/* Writes the low `size` bytes of v over what stands at `at`. */
static inline void patch(struct bytes *o, size_t at, unsigned size, uint64_t v)
{
	for (unsigned i = 0; i < size; i++)
		o->b.data[at + (o->big_endian ? size - 1 - i : i)] =
			(uint8_t)(i < 8 ? v >> 8 * i : 0);
}

/* A number of `size` bytes; returns where it stands. */
static inline size_t put(struct bytes *o, unsigned size, uint64_t v)
{
	static const uint8_t zero[16];
	size_t at = o->b.len;

	put_block(o, zero, size);
	patch(o, at, size, v);
	return at;
}

static inline void put_uleb(struct bytes *o, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put(o, 1, v | 0x80);
	put(o, 1, v);
}

static inline void put_sleb(struct bytes *o, int64_t v)
{
	for (; v < -64 || v > 63; v >>= 7)
		put(o, 1, (uint64_t)v | 0x80);
	put(o, 1, (uint64_t)v & 0x7f);
}

/* A string with its NUL; returns where it stands. */
static inline size_t put_str(struct bytes *o, const char *s)
{
	size_t at = o->b.len;

	put_block(o, s, strlen(s) + 1);
	return at;
}

/* An initial length of DWARF, to be closed with end_length(). */
static inline size_t begin_length(struct bytes *o, unsigned offset_size)
{
	if (offset_size == 8)
		put(o, 4, 0xffffffff);
	put(o, offset_size, 0);
	return o->b.len;
}

static inline void end_length(struct bytes *o, unsigned offset_size, size_t begin)
{
	patch(o, begin - offset_size, offset_size, o->b.len - begin);
}

/* An .eh_frame of x86-64 whose only row is of [start, end): the return address is at the stack pointer. */
static inline void put_eh_frame(struct bytes *o, uint64_t start, uint64_t end)
{
	size_t length = begin_length(o, 4);

	put(o, 4, 0); /* a CIE */
	put(o, 1, 1);
	put_str(o, "");
	put_uleb(o, 1);
	put_sleb(o, -8);
	put(o, 1, 16);
	put(o, 1, 0x0c), put(o, 1, 7), put(o, 1, 8); /* DW_CFA_def_cfa */
	put(o, 1, 0x90), put(o, 1, 1);               /* DW_CFA_offset */
	end_length(o, 4, length);
	length = begin_length(o, 4);
	put(o, 4, o->b.len);
	put(o, 8, start);
	put(o, 8, end - start);
	end_length(o, 4, length);
}

/* ---- ELF ------------------------------------------------------------------------- */

struct elf_section {
	const char *name;
	uint32_t type;          /* SHT_… */
	uint64_t flags, addr;
	const struct bytes *content; /* NULL: none */
	uint64_t size;          /* of a section without content (SHT_NOBITS) */
	uint32_t link;
	uint64_t entsize;
};

struct elf_shape {
	bool is_64, big_endian;
	uint16_t machine, type;
	uint64_t load_vaddr, load_size; /* one PT_LOAD, none if load_size is 0 */
};

static inline void put_section_header(struct bytes *o, unsigned word, uint32_t name,
				      const struct elf_section *s, uint64_t offset, uint64_t size)
{
	put(o, 4, name);
	put(o, 4, s->type);
	put(o, word, s->flags);
	put(o, word, s->addr);
	put(o, word, offset);
	put(o, word, size);
	put(o, 4, s->link);
	put(o, 4, 0);
	put(o, word, 1);
	put(o, word, s->entsize);
}

/*
 * Writes an ELF file with sections 1 … n (0 is the null section, n + 1 the
 * names). `out` must be empty.
 */
static inline void put_elf(struct bytes *out, const struct elf_shape *shape,
			   const struct elf_section *sections, size_t n)
{
	static const struct elf_section null;
	unsigned word = shape->is_64 ? 8 : 4;
	unsigned ehsize = shape->is_64 ? 64 : 52, phsize = shape->is_64 ? 56 : 32;
	struct bytes headers = { .big_endian = shape->big_endian }, names = {0};
	struct elf_section strings = { .name = ".shstrtab", .type = SHT_STRTAB, .content = &names };
	size_t shoff_at;

	out->big_endian = shape->big_endian;
	put_block(out, ELFMAG, 4);
	put(out, 1, shape->is_64 ? ELFCLASS64 : ELFCLASS32);
	put(out, 1, shape->big_endian ? ELFDATA2MSB : ELFDATA2LSB);
	put(out, 1, EV_CURRENT);
	put(out, 9, 0);
	put(out, 2, shape->type);
	put(out, 2, shape->machine);
	put(out, 4, EV_CURRENT);
	put(out, word, 0);                                 /* entry */
	put(out, word, shape->load_size ? ehsize : 0);     /* phoff */
	shoff_at = put(out, word, 0);
	put(out, 4, 0);                                    /* flags */
	put(out, 2, ehsize);
	put(out, 2, phsize);
	put(out, 2, shape->load_size ? 1 : 0);
	put(out, 2, shape->is_64 ? 64 : 40);
	put(out, 2, n + 2);
	put(out, 2, n + 1);
	if (shape->load_size) {
		put(out, 4, PT_LOAD);
		if (shape->is_64)
			put(out, 4, PF_R | PF_X);
		put(out, word, 0);
		put(out, word, shape->load_vaddr);
		put(out, word, shape->load_vaddr);
		put(out, word, shape->load_size);
		put(out, word, shape->load_size);
		if (!shape->is_64)
			put(out, 4, PF_R | PF_X);
		put(out, word, 4096);
	}
	put_str(&names, "");
	put_section_header(&headers, word, 0, &null, 0, 0);
	for (size_t i = 0; i <= n; i++) {
		const struct elf_section *s = i < n ? &sections[i] : &strings;
		uint32_t name = (uint32_t)put_str(&names, s->name);
		size_t offset;

		put(out, (unsigned)(-out->b.len & 7), 0);
		offset = out->b.len;
		if (s->content)
			put_block(out, s->content->b.data, s->content->b.len);
		put_section_header(&headers, word, name, s, offset,
				   s->content ? s->content->b.len : s->size);
	}
	put(out, (unsigned)(-out->b.len & 7), 0);
	patch(out, shoff_at, word, out->b.len);
	put_block(out, headers.b.data, headers.b.len);
	bytes_deinit(&headers);
	bytes_deinit(&names);
}

#endif

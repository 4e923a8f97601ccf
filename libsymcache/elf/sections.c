/*
 * Sections as plain bytes: found by name, inflated where they are compressed
 * (SHF_COMPRESSED with zlib or zstd, and the old .zdebug_ form).
 *
 * What a section claims to inflate to is checked against what its compressed
 * bytes can hold at all, before memory is asked for. Inflated bytes belong to
 * the file. A section is inflated each time it is asked for: ask once.
 */
#include <gelf.h>
#include <libdeflate.h>
#include <libelf.h>
#include <stdio.h>
#include <zstd.h>

#include "libsymcache/elf/elf.h"

/* DEFLATE cannot do better than 1032:1. zstd can; no debug section does. */
#define MAX_RATIO_ZLIB 1032u
#define MAX_RATIO_ZSTD 16384u

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

static Elf_Scn *find(struct sc_elf *e, const char *name, GElf_Shdr *sh)
{
	Elf_Scn *scn = NULL;
	size_t names;

	if (elf_getshdrstrndx(e->elf, &names))
		return NULL;
	while ((scn = elf_nextscn(e->elf, scn))) {
		const char *s;
		if (!gelf_getshdr(scn, sh) || sh->sh_type == SHT_NOBITS)
			continue;
		s = elf_strptr(e->elf, names, sh->sh_name);
		if (s && !strcmp(s, name))
			return scn;
	}
	return NULL;
}

/* ".debug_x" → ".zdebug_x"; NULL for other names. */
static const char *old_compressed_name(const char *name, char buf[64])
{
	if (strncmp(name, ".debug_", 7))
		return NULL;
	snprintf(buf, 64, ".z%s", name + 1);
	return buf;
}

bool sc_elf_has(struct sc_elf *e, const char *name)
{
	GElf_Shdr sh;
	char buf[64];
	const char *old = old_compressed_name(name, buf);

	return find(e, name, &sh) || (old && find(e, old, &sh));
}

static bool inflate_zlib(const uint8_t *in, size_t in_size, void *out, size_t out_size)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	bool ok = d && libdeflate_zlib_decompress(d, in, in_size, out, out_size, NULL) ==
			LIBDEFLATE_SUCCESS;

	libdeflate_free_decompressor(d);
	return ok;
}

static bool inflate_zstd(const uint8_t *in, size_t in_size, void *out, size_t out_size)
{
	return ZSTD_decompress(out, out_size, in, in_size) == out_size;
}

static int inflate(struct sc_elf *e, const char *name, uint32_t how, const uint8_t *in,
		   size_t in_size, uint64_t out_size, const uint8_t **data, size_t *size,
		   struct sc_error *err)
{
	uint64_t ratio = how == ELFCOMPRESS_ZSTD ? MAX_RATIO_ZSTD : MAX_RATIO_ZLIB;
	void **owned, *out;
	bool ok;

	if (how != ELFCOMPRESS_ZLIB && how != ELFCOMPRESS_ZSTD)
		return sc_error_set(err, SC_EUNSUPPORTED, "section %s: unknown compression %u",
				    name, how);
	if (out_size / ratio > in_size)
		return sc_error_set(err, SC_EFORMAT,
			"section %s: %zu bytes cannot inflate to %llu", name, in_size,
			(unsigned long long)out_size);
	out = malloc(out_size ? out_size : 1);
	owned = out ? vec_push(&e->inflated) : NULL;
	if (!owned) {
		free(out);
		return sc_error_set(err, SC_ENOMEM, "section %s: out of memory", name);
	}
	*owned = out;
	ok = how == ELFCOMPRESS_ZSTD ? inflate_zstd(in, in_size, out, out_size) :
				       inflate_zlib(in, in_size, out, out_size);
	if (!ok)
		return sc_error_set(err, SC_EFORMAT, "section %s: compressed data is damaged",
				    name);
	*data = out;
	*size = out_size;
	return 0;
}

static uint64_t big_endian_u64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

int sc_elf_section(struct sc_elf *e, const char *name, const uint8_t **data, size_t *size,
		   struct sc_error *err)
{
	char buf[64];
	const char *old = old_compressed_name(name, buf);
	GElf_Shdr sh;
	Elf_Scn *scn = find(e, name, &sh);
	const uint8_t *in;

	*data = NULL;
	*size = 0;
	if (scn && !(sh.sh_flags & SHF_COMPRESSED)) {
		*data = e->bytes + sh.sh_offset; /* checked when the file was opened */
		*size = sh.sh_size;
		return 0;
	}
	if (scn) {
		size_t head = e->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
		GElf_Chdr ch;

		if (sh.sh_size < head || !gelf_getchdr(scn, &ch))
			return sc_error_set(err, SC_EFORMAT,
				"section %s: no whole compression header", name);
		in = e->bytes + sh.sh_offset + head;
		return inflate(e, name, ch.ch_type, in, sh.sh_size - head, ch.ch_size, data,
			       size, err);
	}
	scn = old ? find(e, old, &sh) : NULL;
	if (!scn)
		return sc_error_set(err, SC_ENOTFOUND, "no section %s", name);
	in = e->bytes + sh.sh_offset;
	if (sh.sh_size < 12 || memcmp(in, "ZLIB", 4))
		return sc_error_set(err, SC_EFORMAT, "section %s: no ZLIB header", old);
	return inflate(e, old, ELFCOMPRESS_ZLIB, in + 12, sh.sh_size - 12,
		       big_endian_u64(in + 4), data, size, err);
}

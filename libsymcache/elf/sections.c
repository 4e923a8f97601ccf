/*
 * Sections as plain bytes: found by name, inflated where they are compressed
 * (SHF_COMPRESSED with zlib or zstd, and the old .zdebug_ form).
 *
 * What a section claims to inflate to is checked against what its compressed
 * bytes can hold at all, before memory is asked for. Inflated bytes belong to
 * the file. A section is inflated each time it is asked for: ask once.
 */
#include <assert.h>
#include <gelf.h>
#include <libdeflate.h>
#include <libelf.h>
#include <stdio.h>
#include <zstd.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/elf/elf.h"
#include "libsymcache/elf/relocate.h"

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
		if (!gelf_getshdr(scn, sh) || sh->sh_type == SHT_NOBITS ||
		    sh->sh_type == SHT_NULL)
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

/* A section in the file: as it is, or with how it is compressed. */
struct stored {
	size_t index;      /* of the section */
	const uint8_t *in;
	size_t in_size;
	uint32_t how;      /* ELFCOMPRESS_…; 0: not compressed */
	uint64_t out_size;
	void *out;         /* room for it, owned by the file */
	bool failed;
};

static uint64_t big_endian_u64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* Finds a section and reads its compression header. */
static int locate(struct sc_elf *e, const char *name, struct stored *ret, struct sc_error *err)
{
	char buf[64];
	const char *old = old_compressed_name(name, buf);
	size_t head = e->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	GElf_Shdr sh;
	GElf_Chdr ch;
	Elf_Scn *scn = find(e, name, &sh);

	memset(ret, 0, sizeof(*ret));
	if (!scn) {
		scn = old ? find(e, old, &sh) : NULL;
		if (!scn)
			return sc_error_set(err, SC_ENOTFOUND, "no section %s", name);
		ret->index = elf_ndxscn(scn);
		ret->in = e->bytes + sh.sh_offset;
		if (sh.sh_size < 12 || memcmp(ret->in, "ZLIB", 4))
			return sc_error_set(err, SC_EFORMAT, "section %s: no ZLIB header", old);
		ret->how = ELFCOMPRESS_ZLIB;
		ret->out_size = big_endian_u64(ret->in + 4);
		ret->in += 12;
		ret->in_size = sh.sh_size - 12;
		return 0;
	}
	ret->index = elf_ndxscn(scn);
	ret->in = e->bytes + sh.sh_offset; /* checked when the file was opened */
	ret->in_size = sh.sh_size;
	ret->out_size = sh.sh_size;
	if (!(sh.sh_flags & SHF_COMPRESSED))
		return 0;
	if (sh.sh_size < head || !gelf_getchdr(scn, &ch))
		return sc_error_set(err, SC_EFORMAT, "section %s: no whole compression header",
				    name);
	ret->in += head;
	ret->in_size -= head;
	ret->how = ch.ch_type;
	ret->out_size = ch.ch_size;
	if (ch.ch_type != ELFCOMPRESS_ZLIB && ch.ch_type != ELFCOMPRESS_ZSTD)
		return sc_error_set(err, SC_EUNSUPPORTED, "section %s: unknown compression %u",
				    name, ch.ch_type);
	return 0;
}

/* Makes room for what a section inflates to, or to copy it for relocation. */
static int make_room(struct sc_elf *e, const char *name, struct stored *s, struct sc_error *err)
{
	uint64_t ratio = !s->how ? 1 : s->how == ELFCOMPRESS_ZSTD ? MAX_RATIO_ZSTD : MAX_RATIO_ZLIB;
	struct sc_elf_buffer *owned;

	if (s->out_size / ratio > s->in_size)
		return sc_error_set(err, SC_EFORMAT, "section %s: %zu bytes cannot inflate to %llu",
				    name, s->in_size, (unsigned long long)s->out_size);
	s->out = sc_big_alloc(s->out_size);
	owned = s->out ? vec_push(&e->inflated) : NULL;
	if (!owned) {
		sc_big_free(s->out, s->out_size);
		return sc_error_set(err, SC_ENOMEM, "section %s: out of memory", name);
	}
	*owned = (struct sc_elf_buffer){ s->out, s->out_size };
	return 0;
}

struct batch {
	struct stored *stored;
	const size_t *order;
};

static void inflate_job(void *ctx, unsigned worker, size_t job)
{
	struct batch *b = ctx;
	struct stored *s = &b->stored[b->order[job]];

	(void)worker;
	if (!s->how)
		memcpy(s->out, s->in, s->in_size);
	else if (s->how == ELFCOMPRESS_ZSTD)
		s->failed = !inflate_zstd(s->in, s->in_size, s->out, s->out_size);
	else
		s->failed = !inflate_zlib(s->in, s->in_size, s->out, s->out_size);
	sc_big_drop(s->in, s->in_size); /* the file's own pages have served */
}

/* The compressed sections, largest first: the longest job must not come last. */
static size_t make_order(const struct stored *stored, size_t n, size_t *order)
{
	size_t jobs = 0;

	for (size_t i = 0; i < n; i++) {
		size_t at;
		if (!stored[i].out)
			continue;
		for (at = jobs++; at && stored[order[at - 1]].in_size < stored[i].in_size; at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	return jobs;
}

#define MAX_WANTED 32

void sc_elf_load(struct sc_elf *e, unsigned threads, struct sc_elf_wanted *wanted, size_t n)
{
	struct stored stored[MAX_WANTED];
	size_t order[MAX_WANTED];
	struct batch batch = { stored, order };

	assert(n <= MAX_WANTED);
	for (size_t i = 0; i < n; i++) {
		struct sc_elf_wanted *w = &wanted[i];
		w->rc = locate(e, w->name, &stored[i], &w->err);
		if (!w->rc && (stored[i].how || e->type == ET_REL))
			w->rc = make_room(e, w->name, &stored[i], &w->err);
	}
	sc_parallel(threads, make_order(stored, n, order), inflate_job, &batch);
	for (size_t i = 0; i < n; i++) {
		struct sc_elf_wanted *w = &wanted[i];
		if (!w->rc && stored[i].failed)
			w->rc = sc_error_set(&w->err, SC_EFORMAT,
					     "section %s: compressed data is damaged", w->name);
		if (!w->rc && e->type == ET_REL)
			sc_elf_relocate(e, stored[i].index, stored[i].out, stored[i].out_size,
					&e->unknown_relocations);
		w->data = w->rc ? NULL : stored[i].out ? stored[i].out : stored[i].in;
		w->size = w->rc ? 0 : stored[i].out_size;
	}
}

void sc_elf_unload(struct sc_elf *e, const uint8_t *data, size_t size)
{
	for (size_t i = 0; i < e->inflated.len; i++) {
		if (e->inflated.data[i].data == data) {
			sc_big_free(e->inflated.data[i].data, e->inflated.data[i].size);
			e->inflated.data[i] = e->inflated.data[--e->inflated.len];
			return;
		}
	}
	sc_big_drop(data, size);
}

int sc_elf_section(struct sc_elf *e, const char *name, const uint8_t **data, size_t *size,
		   struct sc_error *err)
{
	struct sc_elf_wanted w = { .name = name };

	sc_elf_load(e, 1, &w, 1);
	*data = w.data;
	*size = w.size;
	if (w.rc && err)
		*err = w.err;
	return w.rc;
}

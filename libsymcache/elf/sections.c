/*
 * Sections as plain bytes: found by name, inflated where they are compressed
 * (SHF_COMPRESSED with zlib or zstd, and the old .zdebug_ form).
 *
 * Objects may have many sections of one name (COMDAT groups: one .debug_info for each
 * type unit): they are handed out as one, in the order of the file.
 *
 * What a section claims to inflate to is checked against what its compressed
 * bytes can hold at all, before memory is asked for. Inflated bytes belong to
 * the file. A section is inflated each time it is asked for: ask once.
 */
#include <assert.h>
#include <libdeflate.h>
#include <stdio.h>
#include <zstd.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/limits.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/elf/headers.h"
#include "libsymcache/elf/relocate.h"
#include "libsymcache/elf/sections.h"

/* DEFLATE cannot do better than 1032:1. zstd can; no debug section does. */
#define MAX_RATIO_ZLIB 1032u
#define MAX_RATIO_ZSTD 16384u

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

/* As sc_elf_next_section(), of those that have bytes. */
static Elf_Scn *find(struct sc_elf *e, const char *name, Elf_Scn *scn, GElf_Shdr *sh)
{
	do
		scn = sc_elf_next_section(e, name, scn, sh);
	while (scn && (sh->sh_type == SHT_NOBITS || sh->sh_type == SHT_NULL));
	return scn;
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

	return find(e, name, NULL, &sh) || (old && find(e, old, NULL, &sh));
}

bool sc_elf_has_zstd(struct sc_elf *e, const char *name)
{
	GElf_Shdr sh;
	GElf_Chdr ch;
	Elf_Scn *scn = find(e, name, NULL, &sh);

	return scn && (sh.sh_flags & SHF_COMPRESSED) && gelf_getchdr(scn, &ch) &&
	       ch.ch_type == ELFCOMPRESS_ZSTD;
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
	uint8_t *out;      /* room for it, owned by the file; NULL: it stays where it is */
	bool failed;
};

struct stored_list {
	VEC(struct stored) list;
};

static uint64_t big_endian_u64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

/* A section under its old compressed name. */
static int locate_old(struct sc_elf *e, const char *name, Elf_Scn *scn, const GElf_Shdr *sh,
		      struct stored *ret, struct sc_error *err)
{
	ret->index = elf_ndxscn(scn);
	ret->in = e->bytes + sh->sh_offset;
	if (sh->sh_size < 12 || memcmp(ret->in, "ZLIB", 4))
		return sc_error_set(err, SC_EFORMAT, "section %s: no ZLIB header", name);
	ret->how = ELFCOMPRESS_ZLIB;
	ret->out_size = big_endian_u64(ret->in + 4);
	ret->in += 12;
	ret->in_size = sh->sh_size - 12;
	return 0;
}

/* A section, with its compression header read. */
static int locate(struct sc_elf *e, const char *name, Elf_Scn *scn, const GElf_Shdr *sh,
		  struct stored *ret, struct sc_error *err)
{
	size_t head = e->is_64 ? sizeof(Elf64_Chdr) : sizeof(Elf32_Chdr);
	GElf_Chdr ch;

	ret->index = elf_ndxscn(scn);
	ret->in = e->bytes + sh->sh_offset; /* checked when the file was opened */
	ret->in_size = sh->sh_size;
	ret->out_size = sh->sh_size;
	if (!(sh->sh_flags & SHF_COMPRESSED))
		return 0;
	if (sh->sh_size < head || !gelf_getchdr(scn, &ch))
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

/* Checks what a section says it inflates to. */
static int check_size(const char *name, const struct stored *s, struct sc_error *err)
{
	uint64_t ratio = !s->how ? 1 : s->how == ELFCOMPRESS_ZSTD ? MAX_RATIO_ZSTD : MAX_RATIO_ZLIB;

	return s->out_size / ratio <= s->in_size ? 0 :
		sc_error_set(err, SC_EFORMAT, "section %s: %zu bytes cannot inflate to %llu",
			     name, s->in_size, (unsigned long long)s->out_size);
}

/* Adds all sections of this name to `ret`. In objects there can be many, one for
 * each type unit. */
static int locate_all(struct sc_elf *e, const char *name, struct stored_list *ret,
		      struct sc_error *err)
{
	char buf[64];
	const char *old = old_compressed_name(name, buf);
	Elf_Scn *scn = NULL;
	GElf_Shdr sh;
	struct stored *s;
	int rc;

	scn = find(e, name, NULL, &sh);
	if (scn)
		old = NULL;
	else if (old)
		scn = find(e, old, NULL, &sh);
	if (!scn)
		return sc_error_set(err, SC_ENOTFOUND, "no section %s", name);
	for (; scn; scn = find(e, old ? old : name, scn, &sh)) {
		s = vec_push(&ret->list);
		if (!s)
			return sc_error_set(err, SC_ENOMEM, "section %s: out of memory", name);
		rc = old ? locate_old(e, old, scn, &sh, s, err) : locate(e, name, scn, &sh, s, err);
		if (!rc)
			rc = check_size(name, s, err);
		if (rc)
			return rc;
	}
	return 0;
}

/* Room for `size` bytes that are not the file's own, which owns it. NULL: *rc says why. */
static uint8_t *room_for(struct sc_elf *e, const char *name, uint64_t size, int *rc,
			 struct sc_error *err)
{
	struct sc_elf_buffer *owned = NULL;
	uint8_t *room;

	if (size > sc_limit_inflated(e->size) - e->inflated_bytes) {
		*rc = sc_error_set(err, SC_EFORMAT, "section %s: a file of %zu bytes has no %llu "
				   "bytes of sections", name, e->size,
				   (unsigned long long)(e->inflated_bytes + size));
		return NULL;
	}
	room = sc_big_alloc(size);
	if (room)
		owned = vec_push(&e->inflated);
	if (!owned) {
		sc_big_free(room, size);
		*rc = sc_error_set(err, SC_ENOMEM, "section %s: out of memory", name);
		return NULL;
	}
	*owned = (struct sc_elf_buffer){ room, size };
	e->inflated_bytes += size;
	return room;
}

uint8_t *sc_elf_room_for_zlib(struct sc_elf *e, const char *name, size_t worth,
			      const uint8_t **in, size_t *in_size, size_t *size)
{
	struct stored_list parts = {0};
	uint8_t *room = NULL;
	int rc;

	if (e->type != ET_REL && !locate_all(e, name, &parts, NULL) && parts.list.len == 1 &&
	    parts.list.data[0].how == ELFCOMPRESS_ZLIB && parts.list.data[0].out_size >= worth) {
		*in = parts.list.data[0].in;
		*in_size = parts.list.data[0].in_size;
		*size = parts.list.data[0].out_size;
		room = room_for(e, name, *size, &rc, NULL);
	}
	vec_deinit(&parts.list);
	return room;
}

static bool needs_room(struct sc_elf *e, const struct stored *s, size_t parts)
{
	return parts > 1 || s->how || (e->type == ET_REL && sc_elf_is_relocated(e, s->index));
}

/* Makes room for what the parts of a section inflate to, one behind the other, or to
 * copy them for relocation. *size is that of all. */
static int make_room(struct sc_elf *e, const char *name, struct stored *parts, size_t n,
		     uint64_t *size, struct sc_error *err)
{
	uint8_t *room;
	int rc;

	*size = 0;
	for (size_t i = 0; i < n; i++)
		if (__builtin_add_overflow(*size, parts[i].out_size, size))
			return sc_error_set(err, SC_ENOMEM, "section %s: out of memory", name);
	if (!needs_room(e, parts, n))
		return 0;
	room = room_for(e, name, *size, &rc, err);
	if (!room)
		return rc;
	for (size_t i = 0, at = 0; i < n; at += parts[i++].out_size) {
		parts[i].out = room + at;
		/* What is relocated against this part means its place here. */
		if (n > 1 && parts[i].index < e->placed.len)
			e->placed.data[parts[i].index] = at;
	}
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

static int larger_first(const void *a, const void *b, void *stored)
{
	const struct stored *s = stored, *x = &s[*(const size_t *)a], *y = &s[*(const size_t *)b];

	return x->in_size > y->in_size ? -1 : x->in_size < y->in_size;
}

/* Fills what has room, the largest first: the longest job must not come last. */
static bool fill(struct stored_list *stored, unsigned threads)
{
	size_t *order = malloc((stored->list.len + 1) * sizeof(*order)), jobs = 0;
	struct batch batch = { stored->list.data, order };

	for (size_t i = 0; order && i < stored->list.len; i++)
		if (stored->list.data[i].out)
			order[jobs++] = i;
	if (order) {
		qsort_r(order, jobs, sizeof(*order), larger_first, stored->list.data);
		sc_parallel(threads, jobs, inflate_job, &batch);
	}
	free(order);
	return order;
}

/* The section whose parts these are, inflated by now. */
static void hand_out(struct sc_elf *e, const struct stored *parts, size_t n,
		     struct sc_elf_wanted *w)
{
	for (size_t i = 0; i < n; i++) {
		if (parts[i].failed)
			w->rc = sc_error_set(&w->err, SC_EFORMAT,
					     "section %s: compressed data is damaged", w->name);
		else if (e->type == ET_REL && parts[i].out)
			sc_elf_relocate(e, parts[i].index, parts[i].out, parts[i].out_size,
					&e->unknown_relocations);
	}
	if (w->rc)
		w->size = 0;
	else
		w->data = parts[0].out ? parts[0].out : parts[0].in;
}

#define MAX_WANTED 32

void sc_elf_load(struct sc_elf *e, unsigned threads, struct sc_elf_wanted *wanted, size_t n)
{
	struct stored_list stored = {0};
	size_t first[MAX_WANTED + 1];

	assert(n <= MAX_WANTED);
	for (size_t i = 0; i < n; i++) {
		struct sc_elf_wanted *w = &wanted[i];
		uint64_t size = 0;

		w->data = NULL;
		w->size = 0;
		first[i] = stored.list.len;
		w->rc = locate_all(e, w->name, &stored, &w->err);
		if (!w->rc)
			w->rc = make_room(e, w->name, stored.list.data + first[i],
					  stored.list.len - first[i], &size, &w->err);
		if (w->rc)
			stored.list.len = first[i];
		w->size = size;
	}
	first[n] = stored.list.len;
	if (!fill(&stored, threads))
		for (size_t i = 0; i < n; i++)
			wanted[i].rc = sc_no_memory(&wanted[i].err);
	for (size_t i = 0; i < n; i++)
		if (!wanted[i].rc)
			hand_out(e, stored.list.data + first[i], first[i + 1] - first[i],
				 &wanted[i]);
	vec_deinit(&stored.list);
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

/*
 * A cache for some addresses alone against the whole one: for tests, fuzzing and accuracy, which
 * include it behind what aborts or fails.
 */
#ifndef SC_FIRST_CHECK_H
#define SC_FIRST_CHECK_H

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/read/read.h"
#include "libsymcache/write/build.h"

struct built {
	struct symcache cache;
	void *bytes; /* NULL: there is no cache */
};

static inline int first_build(const char *path, const struct symcache_build_options *o,
			      struct built *ret, struct sc_error *err)
{
	struct symcache_build *b;
	int rc = symcache_build_create(path, o, &b, err);

	memset(ret, 0, sizeof(*ret));
	if (rc)
		return rc;
	ret->bytes = malloc(symcache_build_size(b));
	symcache_build_write(b, ret->bytes);
	rc = symcache_open(&ret->cache, ret->bytes, symcache_build_size(b), err);
	symcache_build_destroy(b);
	return rc;
}

/* Is it a section with this name, whose content is there? */
static inline bool first_named(const uint8_t *file, size_t size, const Elf64_Shdr *names,
			       const Elf64_Shdr *s, const char *name)
{
	const size_t len = strlen(name) + 1;

	return s->sh_type == SHT_PROGBITS && s->sh_size && !(s->sh_flags & SHF_COMPRESSED) && s->sh_offset <= size &&
	       s->sh_size <= size - s->sh_offset && names->sh_offset <= size &&
	       s->sh_name <= size - names->sh_offset &&
	       len <= size - names->sh_offset - s->sh_name &&
	       !memcmp(file + names->sh_offset + s->sh_name, name, len);
}

/* zlib's frame around bytes that are stored as they are; how many bytes that takes. */
static inline size_t first_deflate(uint8_t *out, const uint8_t *in, size_t size)
{
	uint32_t a = 1, b = 0;
	size_t n = 0;

	out[n++] = 0x78;
	out[n++] = 0x01;
	for (size_t at = 0, len; at < size; at += len) {
		len = size - at < 0xffff ? size - at : 0xffff;
		out[n++] = at + len == size;
		out[n++] = (uint8_t)len;
		out[n++] = (uint8_t)(len >> 8);
		out[n++] = (uint8_t)~len;
		out[n++] = (uint8_t)(~len >> 8);
		memcpy(out + n, in + at, len);
		n += len;
	}
	for (size_t i = 0; i < size; i++) {
		a = (a + in[i]) % 65521;
		b = (b + a) % 65521;
	}
	for (int i = 0; i < 4; i++)
		out[n++] = (uint8_t)((b << 16 | a) >> (24 - 8 * i));
	return n;
}

/*
 * The file with its .debug_info, .debug_str and .debug_line compressed, which stand behind the rest
 * then: its first answers are made in another way. On the heap; NULL: it has none, or is none of 64 bits in
 * our byte order.
 */
static inline uint8_t *first_compressed(const uint8_t *file, size_t size, size_t *ret)
{
	uint8_t *out = malloc(5 * size + 4096);
	Elf64_Ehdr eh = {0};
	Elf64_Shdr names, s;
	bool any = false;

	if (!out)
		abort();
	memcpy(&eh, file, size < sizeof(eh) ? size : sizeof(eh));
	memcpy(out, file, size);
	*ret = size;
	if (memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_ident[EI_CLASS] != ELFCLASS64 ||
	    (eh.e_ident[EI_DATA] == ELFDATA2LSB) != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__) ||
	    eh.e_shentsize != sizeof(s) || eh.e_shoff > size || eh.e_shstrndx >= eh.e_shnum ||
	    (size - eh.e_shoff) / sizeof(s) < eh.e_shnum)
		eh.e_shnum = 0;
	else
		memcpy(&names, file + eh.e_shoff + eh.e_shstrndx * sizeof(s), sizeof(s));
	for (unsigned i = 0, found = 0; i < eh.e_shnum && found < 3; i++) {
		Elf64_Chdr ch = { .ch_type = ELFCOMPRESS_ZLIB, .ch_addralign = 1 };

		memcpy(&s, file + eh.e_shoff + i * sizeof(s), sizeof(s));
		if (!first_named(file, size, &names, &s, ".debug_info") &&
		    !first_named(file, size, &names, &s, ".debug_str") &&
		    !first_named(file, size, &names, &s, ".debug_line"))
			continue;
		any = true;
		found++;
		ch.ch_size = s.sh_size;
		memcpy(out + *ret, &ch, sizeof(ch));
		ch.ch_size = first_deflate(out + *ret + sizeof(ch), file + s.sh_offset, s.sh_size);
		s.sh_offset = *ret;
		s.sh_size = sizeof(ch) + ch.ch_size;
		s.sh_flags |= SHF_COMPRESSED;
		*ret += s.sh_size;
		memcpy(out + eh.e_shoff + i * sizeof(s), &s, sizeof(s));
	}
	if (any)
		return out;
	free(out);
	return NULL;
}

static inline void first_put(FILE *out, const char *what, struct sc_str s)
{
	fprintf(out, " %s %.*s", what, s.ptr ? (int)s.len : 1, s.ptr ? s.ptr : "-");
}

/* Everything that the cache says about code at `vaddr`. */
static inline char *first_text(const struct symcache *c, uint64_t vaddr)
{
	const uint64_t base = symcache_load_base(c), rel = vaddr < base ? UINT64_MAX : vaddr - base;
	struct symcache_frames frames, ids;
	struct symcache_symbol symbol;
	struct symcache_raw_frame f;
	char *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	fprintf(out, "base %" PRIx64, base);
	for (bool any = symcache_lookup(c, rel, &frames); any; ) {
		uint32_t location;

		ids = frames;
		any = symcache_next_frame(&frames, &f);
		if (!any)
			break;
		location = symcache_next_location(&ids);
		first_put(out, "\n function", f.function);
		first_put(out, "qualified", symcache_qualified(c, c->locations[location].function_idx));
		fprintf(out, " lang %u entry %x line %u:%u declared %u discriminator %u begins %x",
			f.lang, f.entry_pc, f.line, f.column, f.decl_line,
			symcache_discriminator(c, location, rel),
			symcache_inlined_start(c, location, rel));
		for (int i = 0; i < 2; i++) {
			struct symcache_file file = i ? symcache_file(c, f.decl_file_idx) : f.file;

			first_put(out, "in", file.comp_dir);
			first_put(out, "dir", file.directory);
			first_put(out, "file", file.name);
		}
	}
	if (symcache_lookup_symbol(c, rel, &symbol)) {
		first_put(out, "\n symbol", symbol.name);
		first_put(out, "of", symbol.file);
		fprintf(out, " at %" PRIx64 " size %" PRIu64, symbol.rel_address, symbol.size);
	}
	fclose(out);
	return text;
}

/*
 * Builds a cache for these addresses alone and compares what it says about each with `whole`.
 * Returns NULL, or what differs, on the heap. A build may say that it finds nothing there if it
 * is so.
 */
static inline char *first_differs(const char *path, const struct symcache_build_options *options,
				  const struct symcache *whole, const uint64_t *vaddrs, size_t n)
{
	struct symcache_build_options o = *options;
	struct symcache_frames frames;
	struct sc_error err;
	struct built first;
	char *fault = NULL;

	o.only = vaddrs;
	o.num_only = n;
	if (first_build(path, &o, &first, &err)) {
		for (size_t i = 0; i < n && !fault; i++)
			if (err.code != SC_ENOTFOUND ||
			    symcache_lookup(whole, vaddrs[i] - symcache_load_base(whole), &frames))
				if (asprintf(&fault, "0x%" PRIx64 ": %s", vaddrs[i], err.msg) < 0)
					abort();
		return fault;
	}
	for (size_t i = 0; i < n && !fault; i++) {
		char *a = first_text(whole, vaddrs[i]), *b = first_text(&first.cache, vaddrs[i]);

		if (strcmp(a, b) && asprintf(&fault, "0x%" PRIx64 "\nwhole: %s\nfirst: %s",
					     vaddrs[i], a, b) < 0)
			abort();
		free(a);
		free(b);
	}
	free(first.bytes);
	return fault;
}

#endif

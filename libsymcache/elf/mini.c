/*
 * MiniDebugInfo: the section .gnu_debugdata, an ELF file under xz.
 *
 * xz can make gigabytes of a few bytes, so both what it may use and what it may
 * give are bounded; room grows with what has come.
 */
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>

#include "libsymcache/base/limits.h"
#include "libsymcache/elf/elf.h"

#define MAX_WORK (256u << 20)  /* bytes of memory of the decoder: xz -9 takes 65 MiB */

/* Decodes until the end into *out, which grows. */
static int decode(lzma_stream *stream, size_t limit, uint8_t **out, size_t *size,
		  const char *path, struct sc_error *err)
{
	size_t cap = 0;

	for (;;) {
		lzma_ret r;

		if (*size == cap) {
			uint8_t *more;
			if (cap >= limit)
				return sc_error_set(err, SC_EFORMAT,
					"%s: .gnu_debugdata is larger than %zu bytes", path, limit);
			cap = cap ? cap * 2 : 64 << 10;
			cap = cap > limit ? limit : cap;
			more = realloc(*out, cap);
			if (!more)
				return sc_no_memory(err);
			*out = more;
		}
		stream->next_out = *out + *size;
		stream->avail_out = cap - *size;
		r = lzma_code(stream, LZMA_FINISH);
		*size = cap - stream->avail_out;
		if (r == LZMA_STREAM_END)
			return 0;
		if (r == LZMA_MEM_ERROR)
			return sc_no_memory(err);
		if (r != LZMA_OK)
			return sc_error_set(err, SC_EFORMAT,
				"%s: .gnu_debugdata is damaged (xz says %d)", path, (int)r);
	}
}

int sc_elf_open_mini(struct sc_elf *e, struct sc_elf **ret, struct sc_error *err)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	const uint8_t *data;
	uint8_t *out = NULL;
	size_t in_size, size = 0, limit;
	char name[4096];
	int rc = sc_elf_section(e, ".gnu_debugdata", &data, &in_size, err);

	*ret = NULL;
	if (rc)
		return rc;
	limit = sc_limit_inflated(e->size);
	if (lzma_stream_decoder(&stream, MAX_WORK, 0) != LZMA_OK)
		return sc_no_memory(err);
	stream.next_in = data;
	stream.avail_in = in_size;
	rc = decode(&stream, limit, &out, &size, e->path, err);
	lzma_end(&stream);
	if (rc) {
		free(out);
		return rc;
	}
	snprintf(name, sizeof(name), "%s: .gnu_debugdata", e->path);
	return sc_elf_open_memory(out, size, name, ret, err);
}

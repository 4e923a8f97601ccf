/*
 * Finds the separate debug file of an ELF file, as gdb does: by build ID, then
 * by .gnu_debuglink. What is found is taken only if it fits: the same build ID,
 * or the CRC that the link names.
 */
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/elf/elf.h"

static bool has_dwarf(struct sc_elf *e)
{
	return sc_elf_has(e, ".debug_info");
}

/* Opens `path` if it is a debug file of `e`: by CRC if given, else build ID. */
static struct sc_elf *try(const struct sc_elf *e, const char *path, const uint32_t *crc)
{
	struct sc_elf *d;
	bool fits;

	if (sc_elf_open(path, &d, NULL))
		return NULL;
	fits = crc ? libdeflate_crc32(0, d->bytes, d->size) == *crc :
		     d->build_id_len == e->build_id_len &&
		     !memcmp(d->build_id, e->build_id, e->build_id_len);
	if (fits && has_dwarf(d))
		return d;
	sc_elf_close(d);
	return NULL;
}

static struct sc_elf *by_build_id(const struct sc_elf *e, const char *dir)
{
	char path[PATH_MAX], hex[2 * SC_ELF_BUILD_ID_MAX + 1] = "";

	if (e->build_id_len < 2)
		return NULL;
	for (size_t i = 1; i < e->build_id_len; i++)
		sprintf(hex + 2 * (i - 1), "%02x", e->build_id[i]);
	if (snprintf(path, sizeof(path), "%s/.build-id/%02x/%s.debug", dir, e->build_id[0],
		     hex) >= (int)sizeof(path))
		return NULL;
	return try(e, path, NULL);
}

/* The name and CRC of .gnu_debuglink. */
static bool debuglink(struct sc_elf *e, const char **name, uint32_t *crc)
{
	const uint8_t *data;
	size_t size, len;

	if (sc_elf_section(e, ".gnu_debuglink", &data, &size, NULL))
		return false;
	len = strnlen((const char *)data, size);
	if (!len || (len + 4) / 4 * 4 + 4 > size || memchr(data, '/', len))
		return false;
	*name = (const char *)data;
	memcpy(crc, data + (len + 4) / 4 * 4, 4);
	if (e->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__))
		*crc = __builtin_bswap32(*crc);
	return true;
}

static struct sc_elf *by_link(struct sc_elf *e, const char *const *dirs)
{
	char real[PATH_MAX], path[PATH_MAX + 300], *slash;
	const char *name;
	uint32_t crc;
	struct sc_elf *d;

	if (!debuglink(e, &name, &crc) || !realpath(e->path, real))
		return NULL;
	slash = strrchr(real, '/');
	*slash = 0;
	snprintf(path, sizeof(path), "%s/%s", real, name);
	d = try(e, path, &crc);
	if (!d) {
		snprintf(path, sizeof(path), "%s/.debug/%s", real, name);
		d = try(e, path, &crc);
	}
	for (; !d && *dirs; dirs++) {
		if (snprintf(path, sizeof(path), "%s%s/%s", *dirs, real, name) <
		    (int)sizeof(path))
			d = try(e, path, &crc);
	}
	return d;
}

int sc_elf_find_debug(struct sc_elf *e, const char *const *dirs, struct sc_elf **ret,
		      struct sc_error *err)
{
	*ret = NULL;
	for (const char *const *dir = dirs; !*ret && *dir; dir++)
		*ret = by_build_id(e, *dir);
	if (!*ret)
		*ret = by_link(e, dirs);
	return *ret ? 0 : sc_error_set(err, SC_ENOTFOUND, "no debug file for %s", e->path);
}

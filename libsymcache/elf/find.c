/*
 * Finds the separate debug file of an ELF file, as gdb does: by build ID, then
 * by .gnu_debuglink; and the supplementary file that dwz made, by .gnu_debugaltlink
 * or .debug_sup. What is found is taken only if it fits: the same build ID, the CRC
 * that the link names, the checksum of .debug_sup.
 */
#include <libdeflate.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/elf/elf.h"

/* .debug_sup: u16 5, u8 1 in the supplementary file and 0 in those that refer to it, the
 * name (z-string), length (ULEB128) and bytes of a checksum. Those shorter than 128 will do. */
static bool read_sup(struct sc_elf *e, bool supplementary, const char **name,
		     const uint8_t **checksum, size_t *checksum_len)
{
	const uint8_t *data;
	size_t size, len;

	if (sc_elf_section(e, ".debug_sup", &data, &size, NULL) || size < 3 ||
	    data[e->big_endian] != 5 || data[!e->big_endian] || data[2] != supplementary)
		return false;
	len = strnlen((const char *)data + 3, size - 3);
	if (3 + len + 1 >= size || size - (3 + len + 2) != data[3 + len + 1])
		return false;
	*name = (const char *)data + 3;
	*checksum = data + 3 + len + 2;
	*checksum_len = data[3 + len + 1];
	return true;
}

bool sc_elf_has_dwarf(struct sc_elf *e)
{
	return sc_elf_has(e, ".debug_info") || sc_elf_has(e, ".debug_str");
}

bool sc_elf_fits(struct sc_elf *e, const uint8_t *build_id, size_t len, uint32_t crc)
{
	const uint8_t *checksum;
	const char *name;
	size_t checksum_len;

	if (!sc_elf_has_dwarf(e))
		return false;
	if (!build_id)
		return libdeflate_crc32(0, e->bytes, e->size) == crc;
	if (e->build_id_len == len && !memcmp(e->build_id, build_id, len))
		return true;
	return read_sup(e, true, &name, &checksum, &checksum_len) && checksum_len == len &&
	       !memcmp(checksum, build_id, len);
}

/* What the file that is looked for must have. */
struct wanted {
	const uint8_t *build_id; /* NULL: the CRC counts */
	size_t build_id_len;
	uint32_t crc;
};

/* Opens `path` if it is what is wanted and holds DWARF. */
static struct sc_elf *try(const char *path, const struct wanted *w)
{
	struct sc_elf *d;

	if (sc_elf_open(path, &d, NULL))
		return NULL;
	if (sc_elf_fits(d, w->build_id, w->build_id_len, w->crc))
		return d;
	sc_elf_close(d);
	return NULL;
}

static struct sc_elf *by_build_id(const struct wanted *w, const char *const *dirs)
{
	char path[PATH_MAX];
	struct sc_elf *found = NULL;

	for (; !found && *dirs; dirs++)
		if (symcache_build_id_path(path, sizeof(path), *dirs, w->build_id, w->build_id_len))
			found = try(path, w);
	return found;
}

bool sc_elf_debuglink(struct sc_elf *e, const char **name, uint32_t *crc)
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

/* In `dir`, and in its folder .debug. */
static struct sc_elf *by_link_in(const char *dir, const char *name, const struct wanted *w)
{
	static const char *const folders[] = { "", ".debug/" };
	char path[PATH_MAX + 300];
	struct sc_elf *d = NULL;

	for (size_t i = 0; i < 2 && !d; i++)
		if (snprintf(path, sizeof(path), "%s/%s%s", dir, folders[i], name) <
		    (int)sizeof(path))
			d = try(path, w);
	return d;
}

/* The folder of `path`. */
static void folder_of(const char *path, char ret[PATH_MAX])
{
	const char *slash = strrchr(path, '/');

	snprintf(ret, PATH_MAX, "%.*s", slash ? (int)(slash - path) : 1, slash ? path : ".");
}

/* By a link to the file, the debug file may lie next to either. */
static struct sc_elf *by_link(struct sc_elf *e, const char *const *dirs)
{
	char real[PATH_MAX], folder[PATH_MAX], path[PATH_MAX + 300];
	const char *name;
	struct wanted w = {0};
	struct sc_elf *d;

	if (!sc_elf_debuglink(e, &name, &w.crc) || !realpath(e->path, real))
		return NULL;
	folder_of(e->path, folder);
	d = by_link_in(folder, name, &w);
	folder_of(real, folder);
	if (!d)
		d = by_link_in(folder, name, &w);
	for (; !d && *dirs; dirs++) {
		if (snprintf(path, sizeof(path), "%s%s/%s", *dirs, folder, name) <
		    (int)sizeof(path))
			d = try(path, &w);
	}
	return d;
}

int sc_elf_find_debug(struct sc_elf *e, const char *const *dirs, struct sc_elf **ret,
		      struct sc_error *err)
{
	struct wanted w = { e->build_id, e->build_id_len, 0 };

	*ret = by_build_id(&w, dirs);
	if (!*ret)
		*ret = by_link(e, dirs);
	return *ret ? 0 : sc_error_set(err, SC_ENOTFOUND, "no debug file for %s", e->path);
}

/* The supplementary file by its name: as it is, or relative to the file. In packages it
 * lies in .dwz/ of a debug directory; so also there, in those directories and in the one
 * that the file itself is in, should the tree have been moved. */
static struct sc_elf *by_alt_name(struct sc_elf *e, const char *name, const struct wanted *w,
				  const char *const *dirs)
{
	char real[PATH_MAX], path[2 * PATH_MAX];
	const char *in_tree = strstr(name, "/.dwz/");
	struct sc_elf *found = NULL;
	char *end;

	if (!realpath(e->path, real))
		return NULL;
	end = strrchr(real, '/');
	*end = 0;
	snprintf(path, sizeof(path), "%s%s%s", *name == '/' ? "" : real, *name == '/' ? "" : "/",
		 name);
	found = try(path, w);
	for (; !found && in_tree && *dirs; dirs++)
		if (snprintf(path, sizeof(path), "%s%s", *dirs, in_tree) < (int)sizeof(path))
			found = try(path, w);
	end = strstr(real, "/.build-id/");
	if (!found && in_tree && end) {
		*end = 0;
		snprintf(path, sizeof(path), "%s%s", real, in_tree);
		found = try(path, w);
	}
	return found;
}

int sc_elf_altlink(struct sc_elf *e, const char **name, const uint8_t **build_id, size_t *id_len,
		   struct sc_error *err)
{
	const uint8_t *data;
	size_t size, len;
	int rc = sc_elf_section(e, ".gnu_debugaltlink", &data, &size, err);

	if (rc == SC_ENOTFOUND && read_sup(e, false, name, build_id, id_len))
		return 0;
	if (rc)
		return rc;
	len = strnlen((const char *)data, size);
	if (!len || len + 1 >= size)
		return sc_error_set(err, SC_EFORMAT, "%s: .gnu_debugaltlink is damaged", e->path);
	*name = (const char *)data;
	*build_id = data + len + 1;
	*id_len = size - len - 1;
	return 0;
}

int sc_elf_find_alt(struct sc_elf *e, const char *const *dirs, struct sc_elf **ret,
		    struct sc_error *err)
{
	struct wanted w = {0};
	const char *name;
	int rc = sc_elf_altlink(e, &name, &w.build_id, &w.build_id_len, err);

	*ret = NULL;
	if (rc)
		return rc;
	*ret = by_build_id(&w, dirs);
	if (!*ret && strlen(name) < PATH_MAX)
		*ret = by_alt_name(e, name, &w, dirs);
	return *ret ? 0 : sc_error_set(err, SC_EFORMAT, "%s: no supplementary file %s", e->path,
				       name);
}

/* Opens and finds the files of a build: see files.h. */
#include "libsymcache/write/input/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static int open_file(const struct symcache_files *files, const char *path, struct sc_elf **ret,
		     struct sc_error *err)
{
	int fd;

	if (!files)
		return sc_elf_open(path, ret, err);
	*ret = NULL;
	fd = files->open(files->ctx, path);
	return fd < 0 ? sc_error_sys(err, "%s: cannot open", path) :
			sc_elf_open_fd(fd, path, ret, err);
}

int sc_files_open_borrowed(int fd, const char *name, struct sc_elf **ret, struct sc_error *err)
{
	*ret = NULL;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return fd < 0 ? sc_error_sys(err, "%s", name) : sc_elf_open_fd(fd, name, ret, err);
}

int sc_files_open_built(const struct symcache_build_options *o, const char *path,
			struct sc_elf **ret, struct sc_error *err)
{
	return o->is_open ? sc_files_open_borrowed(o->fd, path, ret, err) :
			    open_file(o->files, path, ret, err);
}

/* The possibility that fits, or NULL. */
static struct sc_elf *find(const struct symcache_files *files, const struct symcache_wanted *w,
			   uint32_t crc)
{
	struct sc_elf *elf;
	const char *path;

	for (unsigned n = 0; (path = files->find(files->ctx, w, n)); n++) {
		if (open_file(files, path, &elf, NULL))
			continue;
		if (sc_elf_fits(elf, w->build_id, w->build_id_len, crc))
			return elf;
		sc_elf_close(elf);
	}
	return NULL;
}

int sc_files_find_debug(const struct symcache_files *files, struct sc_elf *elf,
			const char *const *dirs, struct sc_elf **ret, struct sc_error *err)
{
	struct symcache_wanted w = { elf->build_id, elf->build_id_len, NULL };
	uint32_t crc;

	*ret = files && w.build_id_len ? find(files, &w, 0) : NULL;
	w.build_id = NULL;
	if (files && !*ret && sc_elf_debuglink(elf, &w.name, &crc))
		*ret = find(files, &w, crc);
	return *ret ? 0 : sc_elf_find_debug(elf, dirs, ret, err);
}

/* Opens a file that may be the program of `debug`. */
static bool try_program(const struct symcache_files *files, const struct sc_elf *debug,
			const char *path, struct sc_elf **ret)
{
	if (open_file(files, path, ret, NULL))
		return false;
	if ((*ret)->build_id_len == debug->build_id_len &&
	    !memcmp((*ret)->build_id, debug->build_id, debug->build_id_len) &&
	    (*ret)->load_base == debug->load_base && sc_elf_has(*ret, ".eh_frame"))
		return true;
	sc_elf_close(*ret);
	*ret = NULL;
	return false;
}

int sc_files_find_program(const struct symcache_files *files, struct sc_elf *elf,
			  struct sc_elf **ret)
{
	static const char tree[] = "/usr/lib/debug/", suffix[] = ".debug";
	const struct symcache_wanted w = { elf->build_id, elf->build_id_len, .program = true };
	const size_t len = strlen(elf->path), cut = sizeof(suffix) - 1;
	char path[4096];

	*ret = NULL;
	if (files && files->programs && elf->build_id_len && sc_elf_lacks_code(elf)) {
		const char *name = files->find(files->ctx, &w, 0);

		return name && try_program(files, elf, name, ret) ? 0 : SC_ENOTFOUND;
	}
	if (files || !elf->build_id_len || len <= cut || len >= sizeof(path) ||
	    strcmp(elf->path + len - cut, suffix) || !sc_elf_lacks_code(elf))
		return SC_ENOTFOUND;
	snprintf(path, sizeof(path), "%.*s", (int)(len - cut), elf->path);
	if (try_program(NULL, elf, path, ret))
		return 0;
	if (strncmp(path, tree, sizeof(tree) - 1))
		return SC_ENOTFOUND;
	/* /usr/lib/debug/usr/bin/x → /usr/bin/x, and …/.build-id/xx → /usr/lib/.build-id/xx */
	snprintf(path, sizeof(path), "%s%.*s", strstr(elf->path, "/.build-id/") ? "/usr/lib/" : "/",
		 (int)(len - cut - (sizeof(tree) - 1)), elf->path + sizeof(tree) - 1);
	return try_program(NULL, elf, path, ret) ? 0 : SC_ENOTFOUND;
}

int sc_files_find_alt(const struct symcache_files *files, struct sc_elf *elf,
		      const char *const *dirs, struct sc_elf **ret, struct sc_error *err)
{
	struct symcache_wanted w = { 0 };
	const char *name;

	*ret = files && !sc_elf_altlink(elf, &name, &w.build_id, &w.build_id_len, NULL) ?
		find(files, &w, 0) : NULL;
	return *ret ? 0 : sc_elf_find_alt(elf, dirs, ret, err);
}

void sc_files_identity(struct sc_elf *elf, uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len,
		       bool *derived)
{
	memset(id, 0, SYMCACHE_BUILD_ID_MAX);
	*derived = !elf->build_id_len;
	*len = elf->build_id_len;
	memcpy(id, elf->build_id, elf->build_id_len);
	if (*derived) {
		sc_elf_fold_text(elf, id);
		*len = 16;
	}
}

void sc_files_debug_uuid(const uint8_t *id, size_t len, bool big_endian, uint8_t uuid[16])
{
	static const uint8_t little[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };

	for (size_t i = 0; i < 16; i++) {
		size_t from = big_endian ? i : little[i];
		uuid[i] = from < len ? id[from] : 0;
	}
}

int symcache_elf_build_id(const char *path, uint8_t build_id[SYMCACHE_BUILD_ID_MAX],
			  size_t *build_id_len, bool *derived, struct sc_error *err)
{
	struct sc_elf *elf __attribute__((cleanup(sc_elf_closep))) = NULL;
	int rc = sc_elf_open(path, &elf, err);

	if (!rc)
		sc_files_identity(elf, build_id, build_id_len, derived);
	return rc;
}

int symcache_elf_build_id_of(int fd, const char *name, uint8_t build_id[SYMCACHE_BUILD_ID_MAX],
			     size_t *build_id_len, bool *derived, struct sc_error *err)
{
	struct sc_elf *elf __attribute__((cleanup(sc_elf_closep))) = NULL;
	int rc = sc_files_open_borrowed(fd, name, &elf, err);

	if (!rc)
		sc_files_identity(elf, build_id, build_id_len, derived);
	return rc;
}

bool symcache_debug_file_found(const char *path, const struct symcache_build_options *o)
{
	struct sc_elf *elf __attribute__((cleanup(sc_elf_closep))) = NULL;
	struct sc_elf *debug __attribute__((cleanup(sc_elf_closep))) = NULL;

	return !sc_files_open_built(o, path, &elf, NULL) && !sc_elf_has(elf, ".debug_info") &&
	       !sc_files_find_debug(o->files, elf,
				    o->debug_dirs ? o->debug_dirs : symcache_debug_dirs, &debug,
				    NULL);
}

int symcache_elf_facts(int fd, const char *name, struct symcache_elf_facts *ret,
		       struct sc_error *err)
{
	struct sc_elf *elf __attribute__((cleanup(sc_elf_closep))) = NULL;
	const uint8_t *alt_id;
	size_t alt_len;
	const char *text;
	uint32_t crc;
	int rc;

	*ret = (struct symcache_elf_facts){ 0 };
	rc = sc_files_open_borrowed(fd, name, &elf, err);
	if (rc)
		return rc;
	memcpy(ret->build_id, elf->build_id, elf->build_id_len);
	ret->build_id_len = elf->build_id_len;
	ret->dwarf = sc_elf_has_dwarf(elf);
	if (!sc_elf_altlink(elf, &text, &alt_id, &alt_len, NULL) &&
	    alt_len <= sizeof(ret->alt_id)) {
		memcpy(ret->alt_id, alt_id, alt_len);
		ret->alt_id_len = alt_len;
	}
	if (sc_elf_debuglink(elf, &text, &crc))
		snprintf(ret->debug_link, sizeof(ret->debug_link), "%s", text);
	return 0;
}

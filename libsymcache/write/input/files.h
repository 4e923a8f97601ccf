/*
 * Opens and finds the files of a build: where the caller says (struct symcache_files:
 * an archive), else in the file system.
 */
#ifndef SC_FILES_H
#define SC_FILES_H

#include "libsymcache/elf/elf.h"
#include "libsymcache/write/build.h"

/* As sc_elf_open_fd(), of a descriptor that stays the caller's. */
int sc_files_open_borrowed(int fd, const char *name, struct sc_elf **ret, struct sc_error *err);

/* The file that is built. */
int sc_files_open_built(const struct symcache_build_options *o, const char *path,
			struct sc_elf **ret, struct sc_error *err);

/* As sc_elf_find_debug(); `files` may be NULL, here and below. */
int sc_files_find_debug(const struct symcache_files *files, struct sc_elf *elf,
			const char *const *dirs, struct sc_elf **ret, struct sc_error *err);

/*
 * The program that the debug file `elf` is of, where this one has no code: by its build ID
 * next to it in a tree of .build-id (without .debug), by that under /usr/lib where the tree is
 * /usr/lib/debug, and at its own place without that in front and .debug behind. SC_ENOTFOUND.
 */
int sc_files_find_program(const struct symcache_files *files, struct sc_elf *elf,
			  struct sc_elf **ret);

/* As sc_elf_find_alt(). */
int sc_files_find_alt(const struct symcache_files *files, struct sc_elf *elf,
		      const char *const *dirs, struct sc_elf **ret, struct sc_error *err);

/* The build ID, or one derived from .text. */
void sc_files_identity(struct sc_elf *elf, uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len,
		       bool *derived);

/* UUID of a build ID: 16 bytes, and on little-endian images the first three
 * groups in reverse (they are integers to Microsoft's GUID). */
void sc_files_debug_uuid(const uint8_t *id, size_t len, bool big_endian, uint8_t uuid[16]);

#endif

/*
 * One ELF file, opened: what it is, its sections as plain bytes.
 *
 * Everything handed out is owned by the file and lives until sc_elf_close().
 * Not thread-safe; the bytes handed out are plain memory that any thread may
 * read. The file must not shrink while it is open (it is mapped).
 */
#ifndef SC_ELF_H
#define SC_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/error.h"
#include "libsymcache/base/vec.h"

struct Elf;

struct sc_elf_range {
	uint64_t start, end; /* [start, end), vaddr */
};

#define SC_SEGMENTS_MAX 256u /* others are left out */

/* An executable PT_LOAD. */
struct sc_elf_segment {
	uint64_t offset, vaddr, size;
	bool assumed; /* the file has not all of its bytes: it may have lost the offset */
};

/* Bytes of a section that are not those of the file. */
struct sc_elf_buffer {
	void *data;
	size_t size;
};

/* A string table, cut off behind its last NUL. */
struct sc_elf_strings {
	const char *data;
	size_t size;
};

/* Section `table` has relocations of section `of`. */
struct sc_elf_relocations {
	size_t of, table;
};

struct sc_elf_ranges {
	VEC(struct sc_elf_range) list; /* ascending, disjoint */
};

struct sc_elf {
	char *path;
	int fd;
	struct Elf *elf;      /* libelf's handle */
	const uint8_t *bytes; /* the whole file */
	size_t size;
	uint16_t machine;     /* e_machine */
	uint16_t type;        /* e_type */
	bool is_64, big_endian;
	uint64_t load_base;   /* p_vaddr of the first PT_LOAD; 0 if none */
	uint64_t load_end;    /* end of the highest PT_LOAD */
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX];
	size_t build_id_len;  /* 0: none */
	VEC(struct sc_elf_segment) segments; /* executable ones, ascending by address */
	/* Where code can be, ascending and disjoint: the sections with
	 * SHF_ALLOC and SHF_EXECINSTR, else the segments with PF_X. */
	struct sc_elf_ranges exec;
	/* Where variables can be: the sections with SHF_ALLOC, not SHF_TLS. */
	struct sc_elf_ranges alloc;
	uint8_t *memory;      /* sc_elf_open_memory(): the bytes, from malloc() */
	struct sc_elf_strings section_names;
	VEC(struct sc_elf_buffer) inflated;
	uint64_t inflated_bytes; /* of all that were inflated or copied: sc_limit_inflated() */
	VEC(uint64_t) placed; /* ET_REL: address given to each section, or the offset
	                       * among those of its name */
	VEC(struct sc_elf_relocations) relocations; /* ET_REL: ascending */
	uint64_t relocation_bytes; /* of the tables applied so far */
	struct sc_elf *image; /* of a debug file: the program it is of, or NULL */
	uint64_t unknown_relocations;
};

/* SC_ESYS: cannot be read; SC_EFORMAT: not an ELF file, or cut off (the message
 * says where). */
int sc_elf_open(const char *path, struct sc_elf **ret, struct sc_error *err);
/* The same for an open file, which now belongs to it, also on failure; `name` stands
 * in for its path. */
int sc_elf_open_fd(int fd, const char *name, struct sc_elf **ret, struct sc_error *err);
void sc_elf_close(struct sc_elf *elf); /* NULL is fine */

/* An ELF file in memory: bytes from malloc(), which now belong to the file, also on
 * failure. `name` stands in for its path. */
int sc_elf_open_memory(uint8_t *bytes, size_t size, const char *name, struct sc_elf **ret,
		       struct sc_error *err);

/* Gives the file's descriptor back early; its bytes stay mapped. */
void sc_elf_close_fd(struct sc_elf *elf);

/* For __attribute__((cleanup)). */
static inline void sc_elf_closep(struct sc_elf **elf)
{
	sc_elf_close(*elf);
}

/* The string table in section `ndx`; one without strings if it is another section. Not as libelf's
 * elf_strptr(), which looks for the NUL behind each string. */
struct sc_elf_strings sc_elf_strings(struct sc_elf *elf, size_t ndx);

/* The string at `offset`, or NULL. */
static inline const char *sc_elf_string(const struct sc_elf_strings *s, uint64_t offset)
{
	return offset < s->size ? s->data + offset : NULL;
}

/* True if the file holds bytes for this section (not SHT_NOBITS). For names
 * that begin with ".debug_", ".zdebug_" counts too. */
bool sc_elf_has(struct sc_elf *elf, const char *name);

/* True if the section is compressed with zstd. */
bool sc_elf_has_zstd(struct sc_elf *elf, const char *name);

/* A section that is wanted, and what came of it. */
struct sc_elf_wanted {
	const char *name;
	const uint8_t *data; /* inflated; NULL on failure */
	size_t size;
	int rc;              /* 0, SC_ENOTFOUND, SC_EFORMAT: damaged,
	                      * SC_EUNSUPPORTED: unknown compression, SC_ENOMEM */
	struct sc_error err;
};

/* Loads sections, inflating them (zlib, zstd, old .zdebug_) on up to `threads`
 * threads, the largest first; those of relocatable objects are relocated. Each
 * failure stands in its row. */
void sc_elf_load(struct sc_elf *elf, unsigned threads, struct sc_elf_wanted *wanted, size_t n);

/* Gives back the memory of a section that was loaded. It must not be read any more. */
void sc_elf_unload(struct sc_elf *elf, const uint8_t *data, size_t size);

/* One section, as above. */
int sc_elf_section(struct sc_elf *elf, const char *name, const uint8_t **data, size_t *size,
		   struct sc_error *err);

/* The range that holds `vaddr`, or NULL. Tombstones (0, −1, −2) of what the
 * linker dropped lie in none. */
const struct sc_elf_range *sc_elf_range_at(const struct sc_elf_ranges *ranges, uint64_t vaddr);

/* The address of a section: sh_addr, or where relocatable objects are laid out. */
uint64_t sc_elf_section_vaddr(const struct sc_elf *elf, size_t index, uint64_t sh_addr);

/* A debug file that was split off: .eh_frame is there by name only. */
bool sc_elf_lacks_code(struct sc_elf *elf);

/* The address of the section of this name; 0: there is none. */
uint64_t sc_elf_section_address(struct sc_elf *elf, const char *name);

/* The bytes of a linked file that are loaded at `vaddr`, up to the end of their segment;
 * *size 0: the file has none. */
const uint8_t *sc_elf_bytes_at(struct sc_elf *elf, uint64_t vaddr, size_t *size);

/* The same of the first section of this name, be it without bytes; false: there is none. */
bool sc_elf_section_start(struct sc_elf *elf, const char *name, uint64_t *ret);

/* DT_SONAME, or NULL. */
const char *sc_elf_soname(struct sc_elf *elf);

/*
 * The identity of a file without a build ID: the first 4096 bytes of .text
 * folded by XOR into 16 bytes. All zero if there is no .text in the file.
 */
void sc_elf_fold_text(struct sc_elf *elf, uint8_t id[16]);

/*
 * Finds the separate debug file of `elf`: by build ID under `debug_dirs`
 * (NULL-terminated list), then by .gnu_debuglink (CRC checked) next to it, in
 * the .debug/ there, and under the directories. SC_ENOTFOUND: there is none.
 */
int sc_elf_find_debug(struct sc_elf *elf, const char *const *debug_dirs,
		      struct sc_elf **ret, struct sc_error *err);

/* Has it DWARF? Of a supplementary file (dwz) that may be strings alone. */
bool sc_elf_has_dwarf(struct sc_elf *elf);

/* Is `elf` a debug file that is looked for: it has DWARF and the build ID or checksum
 * (.debug_sup), or, if that is NULL, its bytes have the CRC? */
bool sc_elf_fits(struct sc_elf *elf, const uint8_t *build_id, size_t len, uint32_t crc);

/* .gnu_debuglink: the debug file's name without folders, and its CRC. False: none. */
bool sc_elf_debuglink(struct sc_elf *elf, const char **name, uint32_t *crc);

/* .gnu_debugaltlink or .debug_sup: name of the supplementary file, and its build ID or
 * checksum. SC_ENOTFOUND: none; SC_EFORMAT: damaged. */
int sc_elf_altlink(struct sc_elf *elf, const char **name, const uint8_t **build_id, size_t *len,
		   struct sc_error *err);

/*
 * Opens the ELF file in .gnu_debugdata (MiniDebugInfo: xz, the symbols of functions
 * that .dynsym lacks). SC_ENOTFOUND: there is none; SC_EFORMAT: damaged, or of
 * a size that no symbol table has; SC_ENOMEM.
 */
int sc_elf_open_mini(struct sc_elf *elf, struct sc_elf **ret, struct sc_error *err);

/*
 * Finds the supplementary file that dwz made (.gnu_debugaltlink, .debug_sup): by build ID
 * under `debug_dirs`, then by its name, which is relative to the file, and by what
 * follows /.dwz/ in the name under the debug directories. The build ID must fit.
 * SC_ENOTFOUND: the file names none; SC_EFORMAT: it names one that is not there.
 */
int sc_elf_find_alt(struct sc_elf *elf, const char *const *debug_dirs, struct sc_elf **ret,
		    struct sc_error *err);

#endif

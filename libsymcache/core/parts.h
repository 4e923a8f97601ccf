/* What the files of the core reader share. */
#ifndef SC_CORE_PARTS_H
#define SC_CORE_PARTS_H

#include <string.h>

#include "libsymcache/archive/archive.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/core/core.h"
#include "libsymcache/symbolize/perf_map.h"

struct segment {
	uint64_t start, end;      /* addresses */
	uint64_t offset, size;    /* bytes in the file; size 0: not dumped */
	uint32_t flags;           /* PF_… */
};

/* A mapping of a file, of the note NT_FILE. */
struct mapping {
	uint64_t start, end, offset;
	const char *path;
};

/* Bytes of a compressed file that were kept. */
struct piece {
	uint64_t offset;
	size_t size;
	uint8_t *bytes;
};

struct range {
	uint64_t offset, end; /* in the file */
};

struct segments {
	VEC(struct segment) list; /* ascending, disjoint, once sc_core_order() is done */
};

enum {
	BLOCK = 4096, BLOCKS = 64,
	MAX_STACK = 8 << 20, /* of a thread, kept of a compressed file */
	/* Threads may share what their stacks, and modules what their headers are read from, so
	 * that the work is no longer in proportion to the file. */
	MAX_FRAMES_OF_ALL = 4 << 20,
	MIN_FRAMES = 64, /* of a thread, when that is used up */
	MAX_MODULE_STEPS = 4 << 20,
	MAX_HEADERS = 1 << 20,
	MAX_KEPT_OF_ALL = 256 << 20, /* of a compressed file */
};

struct symcache_core_private {
	int fd;
	int error;                /* errno of the last read that failed, or 0 */
	uint64_t file_size;       /* UINT64_MAX: compressed, not known */
	bool is_64;
	bool minidump;
	struct segments memory;
	struct segments code;     /* of a minidump, without bytes; a core's segments have flags */
	VEC(struct symcache_core_thread) threads;
	VEC(struct symcache_image *) modules;
	VEC(struct mapping) mappings;
	char *file_note;          /* the paths of mappings lie in it */
	uint64_t auxv[40];        /* by type; 0: not there */
	struct segment notes;     /* PT_NOTE */
	struct symcache_caches *caches;
	const char *option;
	int vdso_file;            /* its image, in memory; −1: none */
	/* The last blocks that were read. */
	uint64_t block_number[BLOCKS]; /* + 1 */
	uint32_t block_size[BLOCKS];
	uint8_t *blocks;
	uint64_t frames_left;     /* that may be found yet, on all stacks */
	uint64_t steps_left;      /* program headers and notes that may be read in modules yet */
	uint64_t keep_left;       /* bytes of a compressed file that may be kept yet */
	/* A compressed file. */
	bool compressed;
	struct symarchive *stream; /* stands at `position` */
	uint64_t position, budget;
	unsigned passes;
	VEC(struct piece) pieces;  /* disjoint; ascending, but for what a pass adds. Of a process that
				    * runs: its stacks */
	VEC(uint8_t *) rooms;      /* that these pieces are in, of a process that runs */
	size_t num_sorted;
	struct symcache_perf_map jitted; /* of a process that runs */
};

static inline uint64_t get_number(const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = bytes; i--;)
		v = v << 8 | p[i];
	return v;
}

/* Bytes of the file. False: they are not there, or were not kept. */
bool sc_core_file(struct symcache_core *core, uint64_t offset, void *to, size_t bytes);

/* The end of what the file has, or of what was kept, of the `size` bytes at `offset`;
 * core->missing is not 0 if that is not all. Sizes that the file claims are bounded by this. */
uint64_t sc_core_file_end(struct symcache_core *core, uint64_t offset, uint64_t size);

/* Keeps ranges of a compressed file, in one pass, if it does not have to go back. They are
 * sorted by this. SC_ENOMEM; what cannot be read is not there. */
int sc_core_keep(struct symcache_core *core, struct range *ranges, size_t n, struct sc_error *err);

/* An empty one. NULL: out of memory. */
struct symcache_core *sc_core_create(struct sc_error *err);
/* Threads and modules are all there: users see them. */
void sc_core_publish(struct symcache_core *core);

/* The stack pointer's number in DWARF; 0: of no machine that is read. */
unsigned sc_core_stack_register(const struct symcache_core *core);

/* Takes registers as the kernel has them (struct user_regs_struct). False: too few. */
bool sc_core_registers(const struct symcache_core *core, const uint8_t *bytes, size_t size,
		       struct symcache_registers *ret);

/* Reads the notes: threads, signal, mappings, auxv. SC_EFORMAT: no threads; SC_ENOMEM. */
int sc_core_notes(struct symcache_core *core, struct sc_error *err);

/* Adds a module. NULL: out of memory. */
struct symcache_image *sc_core_add_module(struct symcache_core *core,
					  const struct symcache_file_id *of, uint64_t start,
					  uint64_t end);

/* Finds the modules, by mappings and first pages. SC_ENOMEM. */
int sc_core_modules(struct symcache_core *core, struct sc_error *err);

/* False: modules have taken more steps than any process's do. */
bool sc_core_step(struct symcache_core *core);

/* A module as the dynamic linker knows it: addresses of its name and of its dynamic section. */
struct linked {
	uint64_t name, dynamic;
};

struct link_map_list {
	VEC(struct linked) list; /* ascending by `dynamic` */
};

/* Reads the dynamic linker's list out of memory; without one it is empty. False: out of memory. */
bool sc_core_read_link_map(struct symcache_core *core, struct link_map_list *ret);

/* The name of the module whose dynamic section is in [start, end), "" if there is none, cut to
 * `size` with its NUL. */
void sc_core_linked_name(struct symcache_core *core, const struct link_map_list *l, uint64_t start,
			 uint64_t end, char *to, size_t size);

/* A text in memory, up to its NUL or to what is not there; "" at address 0. */
void sc_core_text(struct symcache_core *core, uint64_t address, char *to, size_t size);

/* Reads a minidump, all of it. SC_EFORMAT, SC_EUNSUPPORTED, SC_ENOMEM. */
int sc_core_minidump(struct symcache_core *core, struct sc_error *err);

/* Adds a segment, without what the file should have of it and has not. False: out of memory. */
bool sc_core_add_memory(struct symcache_core *core, struct segment s);

/* Sorts by address; of what overlaps the first one stays as it is. False: out of memory. */
bool sc_core_order(struct segments *s);

/* The same of modules, and maps them. */
bool sc_core_place_modules(struct symcache_core *core);

/* The segment around an address, or NULL. */
const struct segment *sc_core_find(const struct segments *s, uint64_t address);

/* Memory of the process: as struct symcache_unwind_source wants it, with the core as ctx.
 * What was not dumped is not there, nor are zeros in its place. */
bool symcache_core_read(void *core, uint64_t address, void *to, size_t bytes);
bool symcache_core_executable(void *core, uint64_t address);

/* Reads the threads of a process that runs: names, registers, stacks. SC_ESYS: none could be
 * stopped; SC_ENOMEM. */
int sc_core_live_threads(struct symcache_core *core, struct sc_error *err);

/* Does the signal come with the address that caused it? */
bool sc_core_has_address(int signal, int code);

#endif

/*
 * process.h: the address space of a process: which file is mapped where; from an address of
 * the process to the file, the address in it (p_vaddr), and functions, files and lines.
 *
 *   struct symcache_process *p = symcache_process_create(&finder);
 *   struct symcache_file_id of = { .path = sc_str_of("/usr/bin/true") };
 *   struct symcache_image *image = symcache_process_image(p, &of);
 *   symcache_process_map(p, &(struct symcache_mapping){ .start = 0x5634f116a000,
 *           .end = 0x5634f116c000, .offset = 0x2000, .origin = SYMCACHE_FROM_FILE,
 *           .image = image });
 *   if (symcache_process_find(p, 0x5634f116a123, SYMCACHE_RETURNS, &address) == SYMCACHE_FOUND)
 *           symcache_symbolize(symbolizer, address.image->module, address.vaddr, &answer);
 *
 * An image is a file, or what is known of it, with its cache or the reason why there is none. All
 * mappings of a file share one image, also in processes that come from one another
 * (symcache_process_fork()). Its cache is opened when an address in it is first looked up.
 *
 * Mappings never overlap: a new one replaces what it covers, as mmap() with MAP_FIXED and
 * munmap() do; if it covers the middle of another, both ends of that are kept. A table of what
 * was mapped at one moment, such as /proc/PID/maps, can be added in any order.
 *
 * Processes that come from one another, and their images, belong to one thread at a time; any
 * number of threads may share the caches of the finder. The data may be hostile: a process has at
 * most SYMCACHE_MAPPINGS_MAX mappings, and as many images. Cost: to find an address is a search;
 * to add a mapping moves those above it.
 */
#ifndef SC_PROCESS_H
#define SC_PROCESS_H

#include "libsymcache/symbolize/finder.h"

#define SYMCACHE_MAPPINGS_MAX 65536u

/* What an offset counts from. */
enum symcache_origin {
	SYMCACHE_FROM_ZERO,      /* address 0: it is the p_vaddr itself */
	SYMCACHE_FROM_LOAD_BASE, /* p_vaddr of the first PT_LOAD */
	SYMCACHE_FROM_PAGE,      /* the beginning of the page that this is in */
	SYMCACHE_FROM_FILE,      /* the beginning of the file */
};

/*
 * The p_vaddr for an offset, in logs, cores, traces and profiles alike. An offset from the
 * beginning of a file becomes offset − p_offset + p_vaddr of the executable PT_LOAD that has it
 * (SEGM). False: it is not in an executable segment, or the cache does not know the segments.
 */
bool symcache_vaddr_from(const struct symcache *cache, enum symcache_origin origin,
			 uint64_t offset, uint64_t *vaddr);

/* A file of which something is mapped, or could be. */
struct symcache_image {
	const char *path;    /* as the process has it; "": unknown. Of a kernel "vmlinux", or
	                      * its module's name */
	const char *name;    /* the last part of it */
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX];
	size_t build_id_len; /* 0: unknown */
	bool kernel;
	const char *release; /* of the kernel; "": unknown */
	uint32_t number;     /* in the order in which they were added, from 0 on */
	char *bound;         /* on the heap: set by symcache_image_bind(); or NULL */

	/* Where it is, if it is loaded once in one process; set by the code that maps it. */
	uint64_t start, end; /* from the start of the first to the end of the last mapping */
	uint64_t bias;       /* symcache_process_load(): address − bias is the p_vaddr */

	/* The caller's, zero at first. */
	uint64_t frames;     /* in it, of all stacks that were walked */
	uint64_t lost;       /* stacks that end in it without unwind information */

	/* Set by symcache_image_open(), which symcache_process_find() calls. */
	bool asked;
	struct symcache_module *module; /* NULL: there is no cache, see `why` */
	const struct symcache *cache;   /* valid until symcache_caches_update() */
	struct sc_error why;            /* code 0: there is a cache */

	/* Set by symcache_process_code(). */
	bool code_asked;
	struct symcache_code *code;     /* NULL: there is no file with its code */
	void (*close_code)(struct symcache_code *code); /* how to close `code` */
};

/* A part of an image in memory. */
struct symcache_mapping {
	uint64_t start, end;   /* addresses; `end` UINT64_MAX: to the end of the address space */
	uint64_t offset;       /* of `start`; it counts from `origin` */
	enum symcache_origin origin;
	struct symcache_image *image;
};

struct symcache_process;

/* An empty process; the finder is copied. `finder` NULL: images have no caches. NULL: out of
 * memory. */
struct symcache_process *symcache_process_create(const struct symcache_finder *finder);
/* Images go with the last process that has them. NULL is fine. */
void symcache_process_destroy(struct symcache_process *p);

/* Another process with the same images and mappings, as fork() makes it; what is mapped later in
 * one of them is not in the other. Costs nothing until then: mappings are copied when one of
 * them changes. NULL: out of memory. */
struct symcache_process *symcache_process_fork(struct symcache_process *p);

/* Nothing is mapped any more, as after exec(). Images stay. */
void symcache_process_clear(struct symcache_process *p);

/* The image that is known by the same path, build ID, kernel and release, or a new one. NULL: out
 * of memory, or more than SYMCACHE_MAPPINGS_MAX, or 64 MiB of paths; or a build ID that is too
 * long. */
struct symcache_image *symcache_process_image(struct symcache_process *p,
					      const struct symcache_file_id *of);

/* Always a new image: for a file that is loaded twice in a process, at two places. */
struct symcache_image *symcache_process_new_image(struct symcache_process *p,
						  const struct symcache_file_id *of);

/* Image `i`, in the order in which they were added; NULL: there are not as many. */
struct symcache_image *symcache_process_image_at(const struct symcache_process *p, size_t i);

/* From now on the cache of the image is that of the file or build ID that `to` names, which is
 * copied; no effect if the image's cache was opened before. False: out of memory. */
bool symcache_image_bind(struct symcache_image *image, const char *to);

/* May files of this machine be read? */
bool symcache_process_uses_files(const struct symcache_process *p);

/* Takes caches from another finder from now on, which is copied. */
void symcache_process_use(struct symcache_process *p, const struct symcache_finder *finder);

/* Opens the cache of an image, unless that was done: 0, or image->why.code. */
int symcache_image_open(struct symcache_process *p, struct symcache_image *image);

/* Adds a mapping, which replaces all that was in [start, end); without an image, it only removes
 * that. An empty mapping is ignored. SC_ENOMEM; SC_ELIMIT: there are too many mappings, and it was
 * not added. */
int symcache_process_map(struct symcache_process *p, const struct symcache_mapping *m);

/* All mappings, ascending, disjoint; valid until the next one is added. */
const struct symcache_mapping *symcache_process_mappings(const struct symcache_process *p,
							 size_t *n);

/* The mapping that has `address`, or NULL; valid until the next one is added. */
const struct symcache_mapping *symcache_process_at(const struct symcache_process *p,
						   uint64_t address);

/*
 * Adds FILE[@BIAS] or BUILDID[@BIAS], BIAS in hex: maps the whole image, and opens its cache. If
 * two overlap, the addresses belong to the one that begins later, whatever the order. SC_EINVAL:
 * neither a file nor a build ID, or several build IDs begin with it; else as
 * symcache_module_cache().
 */
int symcache_process_load(struct symcache_process *p, const char *spec, struct sc_error *err);

/* What an address of code is. */
enum symcache_pc {
	SYMCACHE_EXACT,   /* of the current instruction: of the innermost frame, or of one that a
	                   * signal interrupted */
	SYMCACHE_RETURNS, /* a return address: what is looked up is the call in front of it */
};

/* What an address of the process belongs to. */
struct symcache_address {
	enum symcache_reason reason;  /* SYMCACHE_FOUND: image and vaddr are known;
	                               * SYMCACHE_NO_IMAGE, SYMCACHE_NO_CACHE; SYMCACHE_OUTSIDE: in
	                               * no segment of code of the image */
	struct symcache_image *image; /* NULL: SYMCACHE_NO_IMAGE */
	uint64_t offset;              /* in the image, counted from the origin of the mapping */
	uint64_t vaddr;               /* p_vaddr of the byte to be looked up */
};

/*
 * Finds an address. If the cache does not know the offsets of the segments (caches of debug files
 * assume them, or leave them out; old entries have none), the address is taken relative to the next
 * mapping of the file's first page below it, if no other image is mapped in between. If there is no
 * such mapping, assumed offsets are used; without them the answer is SYMCACHE_OUTSIDE.
 */
enum symcache_reason symcache_process_find(struct symcache_process *p, uint64_t address,
					   enum symcache_pc pc, struct symcache_address *ret);

/* For struct symcache_unwind_source.module, with the process as its ctx: owners are images.
 * An address in a mapping of an image, but in none of its segments of code, also belongs to
 * the image. */
struct symcache_unwind_frame;
bool symcache_process_unwind(void *process, uint64_t address, struct symcache_unwind_frame *ret);

/* For struct symcache_unwind_source.code: reads the files that the cache was made from, or the file
 * at the image's path, if they exist and have the build ID. */
bool symcache_process_code(void *process, uint64_t address, void *to, size_t bytes);

/*
 * Looks up n addresses, of processes that come from one another: equal places once, and several at
 * a time. Calls `fn` for each address, in no particular order; the answer is valid during the call,
 * and has no frames if the reason of the address is not SYMCACHE_FOUND. Ends when `fn` returns
 * nonzero, and returns that; SC_ENOMEM.
 */
int symcache_addresses_symbolize(struct symcache_symbolizer *s,
				 const struct symcache_address list[], size_t n,
				 int (*fn)(void *ctx, size_t i, const struct symcache_answer *a),
				 void *ctx);

#endif

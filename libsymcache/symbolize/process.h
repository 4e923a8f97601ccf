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
 * An image is a file, as far as something is known of it, with its cache or the reason why
 * there is none. It is the same one however often it is mapped, and in all processes that come
 * from one another (symcache_process_fork()). Its cache is opened when an address is first
 * looked up in it.
 *
 * Mappings never overlap: one that is added cuts what it covers, as mmap() with MAP_FIXED does,
 * and munmap(). So the last one wins; tables that list what was there at one moment, as
 * /proc/PID/maps does, can be added in any order. Both parts of what is cut in two are kept.
 *
 * Processes that come from one another, and their images, belong to one thread at a time; any
 * number of others may share the caches of the finder. The bytes may be hostile: there are at
 * most SYMCACHE_MAPPINGS_MAX mappings in a process and as many images; to find an address is a
 * search, to add a mapping moves those above it.
 */
#ifndef SC_PROCESS_H
#define SC_PROCESS_H

#include "libsymcache/symbolize/finder.h"

#define SYMCACHE_MAPPINGS_MAX 65536u

/* What an offset counts from. */
enum symcache_origin {
	SYMCACHE_FROM_ZERO,      /* nothing: it is the p_vaddr */
	SYMCACHE_FROM_LOAD_BASE, /* p_vaddr of the first PT_LOAD */
	SYMCACHE_FROM_PAGE,      /* the beginning of the page that this is in */
	SYMCACHE_FROM_FILE,      /* the beginning of the file */
};

/*
 * The p_vaddr that an offset means: for all that have offsets, logs, cores, traces and profiles.
 * From the beginning of a file: offset − p_offset + p_vaddr of the executable PT_LOAD that has
 * it (SEGM). False: the offset is not in a segment of code, or the cache does not say.
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
	char *bound;         /* on the heap, see symcache_image_bind(); NULL: it was not */

	/* Of those that are in one process, once: where they are, as who maps them says. */
	uint64_t start, end; /* addresses from the first to behind the last mapping */
	uint64_t bias;       /* symcache_process_load(): address − bias is the p_vaddr */

	/* The caller's, zero at first. */
	uint64_t frames;     /* in it, of all stacks that were walked */
	uint64_t lost;       /* stacks that end in it without unwind information */

	/* Once symcache_image_open() was called, as symcache_process_find() does. */
	bool asked;
	struct symcache_module *module; /* NULL: there is no cache, see `why` */
	const struct symcache *cache;   /* valid until symcache_caches_update() */
	struct sc_error why;            /* code 0: there is a cache */

	/* Once symcache_process_code() asked for it. */
	bool code_asked;
	struct symcache_code *code;     /* NULL: there is no file with its code */
	void (*close_code)(struct symcache_code *code); /* what closes it, if there is some */
};

/* A part of an image in memory. */
struct symcache_mapping {
	uint64_t start, end;   /* addresses; `end` UINT64_MAX: to the end of the address space */
	uint64_t offset;       /* of `start`, from `origin` on */
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

/* A new one, whatever is there already: of a file that is in the process twice, each with places
 * of its own. */
struct symcache_image *symcache_process_new_image(struct symcache_process *p,
						  const struct symcache_file_id *of);

/* Image `i`, in the order in which they were added; NULL behind the last. */
struct symcache_image *symcache_process_image_at(const struct symcache_process *p, size_t i);

/* Its cache is that of the file, or of the build ID, that `to` names, a copy of which is kept; if it
 * was not opened before. False: out of memory. */
bool symcache_image_bind(struct symcache_image *image, const char *to);

/* May files of this machine be read? */
bool symcache_process_uses_files(const struct symcache_process *p);

/* Where caches come from, from now on; it is copied. */
void symcache_process_use(struct symcache_process *p, const struct symcache_finder *finder);

/* Opens the cache of an image, unless that was done: 0, or image->why.code. */
int symcache_image_open(struct symcache_process *p, struct symcache_image *image);

/* Maps, in place of all that was in [start, end); without an image it is free then. Empty ones
 * are left out. SC_ENOMEM; SC_ELIMIT: there are too many mappings, none was added. */
int symcache_process_map(struct symcache_process *p, const struct symcache_mapping *m);

/* All mappings, ascending, disjoint; valid until the next one is added. */
const struct symcache_mapping *symcache_process_mappings(const struct symcache_process *p,
							 size_t *n);

/* The mapping that has `address`, or NULL; valid until the next one is added. */
const struct symcache_mapping *symcache_process_at(const struct symcache_process *p,
						   uint64_t address);

/*
 * Adds FILE[@BIAS] or BUILDID[@BIAS], BIAS in hex: an image that is mapped as a whole, with its
 * cache, which is opened. Of two that overlap the one that begins later has the address, whatever
 * their order. SC_EINVAL: neither a file nor a build ID, or the beginning of several; else as
 * symcache_module_cache().
 */
int symcache_process_load(struct symcache_process *p, const char *spec, struct sc_error *err);

/* What an address of code is. */
enum symcache_pc {
	SYMCACHE_EXACT,   /* of an instruction: of the innermost frame, or behind a signal's */
	SYMCACHE_RETURNS, /* a return address: the call is before it, and is looked up */
};

/* An address of the process, as far as it is known. */
struct symcache_address {
	enum symcache_reason reason;  /* SYMCACHE_FOUND: image and vaddr are known;
	                               * SYMCACHE_NO_IMAGE, SYMCACHE_NO_CACHE; SYMCACHE_OUTSIDE: in
	                               * no segment of code of the image */
	struct symcache_image *image; /* NULL: SYMCACHE_NO_IMAGE */
	uint64_t offset;              /* in the image, as the mapping counts it, if there is one */
	uint64_t vaddr;               /* p_vaddr of the byte to be looked up */
};

/*
 * Finds an address. Where a cache does not know the offsets of segments (of debug files alone
 * they are assumed, or left out; old entries have none) the address counts from where the first
 * page of the file is mapped below, with nothing else in between; without that, too, by what is
 * assumed, else it is SYMCACHE_OUTSIDE.
 */
enum symcache_reason symcache_process_find(struct symcache_process *p, uint64_t address,
					   enum symcache_pc pc, struct symcache_address *ret);

/* For struct symcache_unwind_source.module, with the process as its ctx: owners are images. What is
 * mapped in an image that has code, but is in none of its segments, counts as its own, too. */
struct symcache_unwind_frame;
bool symcache_process_unwind(void *process, uint64_t address, struct symcache_unwind_frame *ret);

/* For struct symcache_unwind_source.code: out of the files that the cache was made of, or that lies
 * at the image's path, if they are there and have the build ID. */
bool symcache_process_code(void *process, uint64_t address, void *to, size_t bytes);

/*
 * The frames of n addresses, of processes that come from one another: looked up by image and
 * p_vaddr, each once, several at a time. Calls `fn` for each of them, in no order; the answer is
 * valid during the call. Those whose reason is not SYMCACHE_FOUND have an answer without frames. A
 * call that returns nonzero ends it. SC_ENOMEM, or what `fn` returned.
 */
int symcache_addresses_symbolize(struct symcache_symbolizer *s,
				 const struct symcache_address list[], size_t n,
				 int (*fn)(void *ctx, size_t i, const struct symcache_answer *a),
				 void *ctx);

#endif

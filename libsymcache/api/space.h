/* space.h: what stands behind the handles of <symcache-process.h>. */
#ifndef SC_API_SPACE_H
#define SC_API_SPACE_H

#include "libsymcache/api/api.h"
#include "libsymcache/symbolize/perf_map.h"
#include "libsymcache/symbolize/process.h"

/* Where a file of a process begins in memory. */
struct api_first_row {
	char *path;
	uint64_t start;
	bool deleted;
};

struct symcache_space {
	struct symcache_process *process;
	struct symcache_resolver *resolver;
	VEC(struct symcache_store *) stores; /* references */
	VEC(struct symcache_cache *) caches; /* references, for the images that have them */
	struct symcache_finder fallback;     /* find NULL: none */
	void (*destroy)(void *ctx);          /* of its ctx */
	uint32_t pid;                        /* 0: none */
	VEC(struct api_first_row) rows;      /* of it */
	char *folder;                        /* the last one that its files were read in; NULL: none */
	int folder_fd;
	struct symcache_perf_map jitted;     /* the same, once it was needed: */
	bool jitted_read;
};

/* The cache of a file in the first of the stores that has it. */
int api_find_in_stores(struct symcache_store *const *stores, size_t n,
		       const struct symcache_file_id *of, struct symcache_cache **ret,
		       struct symcache_error *err);

/* Maps a file; m.image is set here. */
int api_space_map(struct symcache_space *s, const struct symcache_file_id *of,
		  struct symcache_mapping m, struct symcache_error *err);

/* ---- space_process.c ------------------------------------------------------------------------ */

/* The build ID of a file of the process; its length, 0: none, or there is no process. */
size_t api_space_build_id(struct symcache_space *s, struct sc_str path,
			  uint8_t id[SYMCACHE_BUILD_ID_MAX]);

/* Closes the folder that was kept open for the next file. */
void api_space_close_folder(struct symcache_space *s);

/* The name that the JIT of the process gave the code at an address; NULL: none. */
const char *api_space_jitted(struct symcache_space *s, uint64_t address);

#endif

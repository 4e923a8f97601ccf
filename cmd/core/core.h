/*
 * core.h: what the files of `symcache core` share: the modules of a core file with their
 * caches, stacks of its threads, and how they are printed.
 */
#ifndef CMD_CORE_H
#define CMD_CORE_H

#include <stdio.h>

#include "cmd/cli/json_gen.h"
#include "cmd/cli/opt.h"
#include "symcache/core.h"
#include "symcache/symbolize.h"

/* ---- modules (core_modules.c) ----------------------------------------------------------- */

struct core_module {
	const struct symcache_core_module *module;
	const char *name;             /* the last part of its path */
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1]; /* "": not known */
	char *given;                  /* FILE or build ID of --module; or NULL */
	const struct symcache *cache; /* NULL: none, see `why` */
	struct symcache_module *source; /* where the cache is from */
	bool asked;
	uint64_t base;                /* address − base is relative to the image */
	char *why;                    /* there is no cache; or NULL */
	uint64_t frames;              /* in it, of all threads */
	uint64_t lost;                /* stacks that end in it for want of unwind information */
};

struct core_modules;

/* `store`: of --store, or NULL; `debuginfod`: NULL: no server is asked; `given`: PATH=FILE or PATH=BUILDID. SC_EINVAL: `given` is
 * none of them, or names no module of the core. */
int core_modules_create(struct symcache_core *core, const char *store,
			const char *const *debug_dirs, struct symcache_debuginfod *debuginfod,
			const struct opt_list *given, struct core_modules **ret,
			struct sc_error *err);
void core_modules_destroy(struct core_modules *m); /* NULL is fine */

/* The modules of the core, in its order. */
struct core_module *core_modules_list(struct core_modules *m, size_t *n);

struct symcache_caches *core_modules_caches(struct core_modules *m);

/* For struct symcache_unwind_source: ctx is the core_modules; owner a struct core_module. */
bool core_modules_read(void *ctx, uint64_t address, void *to, size_t bytes);
bool core_modules_find(void *ctx, uint64_t address, struct symcache_unwind_module *ret);
bool core_modules_executable(void *ctx, uint64_t address);

/* ---- stacks (core_stacks.c) --------------------------------------------------------------- */

struct core_frame {
	uint64_t pc, rel_pc;          /* rel_pc: to look it up; without a module lookup_pc */
	uint64_t known;               /* registers, in `registers` of the stack */
	struct core_module *module;   /* NULL: none */
	uint8_t trust;                /* enum symcache_trust */
	bool signal;
};

struct core_stack {
	struct core_frame *frames;
	size_t num_frames, cap_frames;
	struct symcache_registers *registers; /* of each frame, if they are wanted; or NULL */
	size_t cap_registers;
	enum symcache_stop stop;
	uint64_t address;             /* of SYMCACHE_STOP_MEMORY */
	struct core_module *lacks;    /* the module that lacks something; or NULL */
};

/* Walks the stack of a thread. */
void core_stack_walk(struct symcache_core *core, struct core_modules *modules,
		     const struct symcache_core_thread *thread, bool registers,
		     struct core_stack *ret);
bool core_stack_equal(const struct core_stack *a, const struct core_stack *b);
uint64_t core_stack_hash(const struct core_stack *s);
void core_stack_deinit(struct core_stack *s);

/* ---- places (core_places.c): what is at an address, as text, each made once ---------------- */

struct core_row {
	char *function;               /* NULL: not known */
	char *file;                   /* ""; not known */
	uint32_t line, column;
	char *json;                   /* ,"module":…,"function":…,"inlined":…: not NUL-terminated */
	size_t json_len;
};

struct core_place {
	const struct core_module *module;
	uint64_t rel_pc;
	struct core_row *rows;        /* innermost first, 1 at least; all but the last are inlined */
	size_t num_rows;
};

struct core_places *core_places_create(struct core_modules *modules);
void core_places_destroy(struct core_places *p); /* NULL is fine */
const struct core_place *core_places_get(struct core_places *p, const struct core_frame *frame);

/* ---- output -------------------------------------------------------------------------------- */

/* The thread's heading and its frames; `threads`: indices of all that have this stack. */
void core_text_head(const struct symcache_core *core, const char *path, struct core_modules *modules);
void core_text_stack(const struct symcache_core *core, struct core_places *places,
		     const struct core_stack *stack, const size_t *threads, size_t num_threads);
void core_json_stack(const struct symcache_core *core, struct core_places *places,
		     const struct core_stack *stack, size_t thread);

/* --summary: the modules, and what they lack. */
void core_text_summary(struct core_modules *modules);
void core_json_summary(struct core_modules *modules);

#endif

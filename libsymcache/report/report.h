/*
 * report.h: trace files, cores and caches → text for people or JSON for programs.
 *
 *   markup_trace_report()  a GDB trace file: definitions, frames, or a summary
 *   markup_core_report()   a core file or minidump: stacks, or a summary
 *   markup_cache_report()  a cache: facts, or its tables
 *
 * Text contains no byte that is unsafe on a terminal. JSON of a trace file or core is one object on
 * each line, that of a cache one object over many lines. Both go to a buffer of the caller, with or
 * without a sink (bytes/out.h). Functions return 0 or a negative SC_E… code with a message in *err;
 * none prints. What options point to is borrowed.
 */
#ifndef SYMCACHE_REPORT_H
#define SYMCACHE_REPORT_H

#include "libmarkup/bytes/json.h"
#include "libsymcache/core/core.h"
#include "libsymcache/store/store.h"
#include "libsymcache/symbolize/debug_files.h"
#include "libsymcache/symbolize/process.h"
#include "libsymcache/trace/trace.h"

/* ---- trace files ------------------------------------------------------------------------ */

struct markup_trace_options {
	bool json;
	bool named;             /* write the name of the file, also if frames are selected */
	bool registers;         /* show all registers, */
	bool hexdump;           /* the bytes of memory, */
	bool backtrace;         /* the stack of each frame */
	bool summary;           /* count frames in place of showing them */
	enum symtrace_order order;
	const struct symtrace_select *select;  /* the definitions are shown if it selects nothing */
	struct symcache_process *images;  /* the modules, where they were loaded */
	struct symcache_caches *caches;
	struct symcache_names *names;
	/* Warnings and errors within the file, each with its name and the offset. */
	void (*complain)(void *ctx, const char *message);
	void *ctx;
};

#define MARKUP_TRACE_FAULTS 10u /* shown; further ones are only counted */

struct markup_traced {
	uint64_t frames;        /* that were selected */
	unsigned faults;        /* errors within the file: what could be read was shown */
	/* If no frame is in a module: one that can be loaded anywhere and has no bias, by its index
	 * in `images`, from 1 on; 0: there is none. */
	size_t unplaced;
	bool by_gdb;            /* frames would be in it at 0x555555554000, where GDB loads programs */
	uint64_t first_pc;      /* of the first frame */
};

/* Shows the file at `path`. Its frames are read once; time is that of reading and writing,
 * memory does not grow with the file. Errors as of symtrace_open(): nothing was written;
 * SC_ENOMEM. */
int markup_trace_report(const char *path, const struct markup_trace_options *options,
			struct mk_out *out, struct markup_traced *ret, struct sc_error *err);

/* ---- cores ------------------------------------------------------------------------------ */

enum markup_report_format {
	MARKUP_REPORT_TEXT,
	MARKUP_REPORT_JSON,
	MARKUP_REPORT_HTML,     /* one page */
};

struct markup_core_options {
	enum markup_report_format format;
	bool all;               /* text: each stack by itself, also if several are equal */
	bool registers;         /* the known registers of each frame */
	bool summary;           /* the modules in place of the stacks */
	bool color;             /* text: functions are highlighted */
	bool brief;             /* text: only the last folder of each path */
	const uint32_t *threads; /* only these, by their IDs */
	size_t num_threads;     /* 0: all */
	/* Of a page, as in struct markup_options; not with `summary`. */
	const char *link;
	const char *const *path_maps, *const *own;
	const struct symcache_source_search *search; /* for sources; NULL: none are wanted */
	uint64_t source_lines;  /* of them around each place */
	struct symcache_caches *caches;
};

struct markup_cored {
	size_t threads;         /* that were walked; 0: nothing was written */
	bool cut;               /* a stack ends early */
};

/* Walks and shows the stacks of a core that was opened from `path`; frames of its modules are
 * counted. SC_ENOMEM. */
int markup_core_report(const char *path, struct symcache_core *core,
		       const struct markup_core_options *options, struct mk_out *out,
		       struct markup_cored *ret, struct sc_error *err);

/* ---- caches ----------------------------------------------------------------------------- */

enum markup_cache_list {
	MARKUP_CACHE_FILES = 1,
	MARKUP_CACHE_FUNCTIONS = 2, /* entry address, language, linkage name, declaration */
	MARKUP_CACHE_RANGES = 4,    /* start, and its frames, innermost first */
	MARKUP_CACHE_DATA = 8,      /* symbols of data: address, size, name */
	MARKUP_CACHE_LOCALS = 16,   /* local variables by ranges of addresses */
	MARKUP_CACHE_UNWIND = 32,   /* start, and where the caller's registers are */
};

struct markup_cache_options {
	bool json;              /* one object: the facts, and the lists */
	bool raw;               /* names and paths as they are, byte for byte */
	unsigned lists;         /* of enum markup_cache_list; text has them in place of the facts */
	const struct symstore_entry *entry; /* of the cache; NULL: it is a file */
	int64_t used;           /* when its last use began, or 0 */
};

/* Shows a valid cache. SC_ENOMEM. */
int markup_cache_report(const struct symcache *cache, const struct markup_cache_options *options,
			struct mk_out *out, struct sc_error *err);

/* symstore_entry_json(), and how large a packed entry is. */
void markup_entry_json(struct mk_gen *g, const struct symstore_entry *entry);

#endif

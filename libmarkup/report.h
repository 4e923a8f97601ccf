/*
 * report.h: what recordings and cores say, as text for people or JSON for programs.
 *
 *   markup_trace_report()  a GDB trace file: definitions, frames, or a summary
 *   markup_core_report()   a core file or minidump: stacks, or a summary
 *
 * Text has no byte that may not be shown on a terminal; JSON is a line for each object. Both
 * go to a buffer of the caller, in front of a sink or not; functions return 0 or a negative
 * SC_E… code with a message in *err; none prints. All that options hold is borrowed.
 */
#ifndef MARKUP_REPORT_H
#define MARKUP_REPORT_H

#include "libmarkup/bytes/out.h"
#include "symcache/core.h"
#include "symcache/images.h"
#include "symcache/trace.h"

/* ---- trace files ------------------------------------------------------------------------ */

struct markup_trace_options {
	bool json;
	bool named;             /* say which file it is, whatever is selected */
	bool registers;         /* show all registers, */
	bool hexdump;           /* the bytes of memory, */
	bool backtrace;         /* and the stack of each frame */
	bool summary;           /* count frames in place of showing them */
	enum symtrace_order order;
	const struct symtrace_select *select;  /* the definitions are shown if it selects nothing */
	const struct symcache_images *images;  /* the modules, where they were loaded */
	struct symcache_caches *caches;
	struct symcache_names *names;
	/* Warnings and errors within the file, each with its name and the offset. */
	void (*complain)(void *ctx, const char *message);
	void *ctx;
};

#define MARKUP_TRACE_FAULTS 10u /* those after are only counted */

struct markup_traced {
	uint64_t frames;        /* that were selected */
	unsigned faults;        /* errors within the file: what could be read was shown */
	/* No frame is in a module, and this one can be loaded anywhere, but has no bias: its
	 * index in `images`, from 1 on; 0: there is none. */
	size_t unplaced;
	bool by_gdb;            /* it fits where GDB loads programs, at 0x555555554000 */
	uint64_t first_pc;      /* of the first frame */
};

/* Shows the file at `path`. Its frames are read once; time is that of reading and writing,
 * memory does not grow with the file. Errors as of symtrace_open(): nothing was written;
 * SC_ENOMEM. */
int markup_trace_report(const char *path, const struct markup_trace_options *options,
			struct mk_out *out, struct markup_traced *ret, struct sc_error *err);

/* ---- cores ------------------------------------------------------------------------------ */

struct markup_core_options {
	bool json;
	bool all;               /* text: each stack by itself, also where several are equal */
	bool registers;         /* show those of each frame, as far as they are known */
	bool summary;           /* the modules in place of the stacks */
	const uint32_t *threads; /* the stacks of these alone, by their IDs */
	size_t num_threads;     /* 0: of all */
	struct symcache_caches *caches;
};

struct markup_cored {
	size_t threads;         /* that were walked; 0: nothing was written */
	bool cut;               /* a stack ends early */
};

/* Walks and shows the stacks of a core that was opened from `path`; frames in `images` are
 * counted. SC_ENOMEM. */
int markup_core_report(const char *path, const struct symcache_core *core,
		       struct symcache_core_images *images,
		       const struct markup_core_options *options, struct mk_out *out,
		       struct markup_cored *ret, struct sc_error *err);

#endif

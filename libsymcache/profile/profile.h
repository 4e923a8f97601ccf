/*
 * profile.h: profiles with addresses → profiles with functions, files and lines, by a store.
 *
 *   struct symprofiler *p;
 *   if (!symprofiler_create(&options, &p, &err) && !symprofiler_run(p, bytes, size, &out, &err))
 *           … out.pieces[0 … out.num) …
 *
 * Bytes in, bytes out: pprof's protobuf, OTLP, heap and CPU profiles of gperftools, heap
 * profiles of jemalloc, perf.data, folded stacks, each also behind gzip, xz and zstd.
 * format/profiles.md says what is read of each, which byte is looked up, and what comes out.
 * A profiler is for one thread; caches and names may be shared.
 */
#ifndef SC_PROFILE_H
#define SC_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "libsymcache/symbolize/symbolize.h"

enum symprofile_form {
	SYMPROFILE_OWN,    /* the input's; pprof of those that hold no frames */
	SYMPROFILE_PPROF,  /* protobuf, with gzip unless the input is protobuf without */
	SYMPROFILE_FOLDED, /* a stack a line, outermost frame first, and a number */
	SYMPROFILE_JEPROF, /* jeprof's and google-pprof's "raw": of heap texts and CPU profiles */
	SYMPROFILE_HTML,   /* a page with a flame graph */
	/* A form that shows stacks as a whole reads struct prof_stacks: see stacks.h. */
};

enum symprofile_names {
	SYMPROFILE_FULL,   /* demangled */
	SYMPROFILE_SHORT,  /* without scope, arguments and template arguments */
	SYMPROFILE_LINKAGE,
};

/* All is borrowed as long as the profiler lives. */
struct symprofile_options {
	struct symcache_caches *caches;
	struct symcache_names *names;  /* made with symprofile_names_options() */
	const char *const *modules;    /* NAME=BUILDID, NAME=FILE or NAME=TAG */
	size_t num_modules;
	enum symprofile_form form;
	enum symprofile_names how;
	bool force;            /* locations that have names are symbolized anew */
	bool return_addresses; /* of pprof and OTLP: nothing was subtracted from them */
	bool two_threads;      /* of large profiles: not for one of many at once */
	bool count;            /* samples are counted, for symprofiler_missing() */
	const char *value;     /* of stacks: the sample type that is the number, in a page the one
	                        * that is shown first; NULL: the profile's default, else its last */
	const char *jit_dir;   /* of perf.data: names of code that JITs made are in its perf-PID.map
	                        * (format/profiles.md); NULL: they are not looked for */
	/* SYMPROFILE_HTML: */
	const char *link;             /* what places open, or NULL: format/pages.md */
	const char *const *path_maps; /* FROM=TO, for the paths in it; ends with NULL; NULL: none */
	const char *const *own;       /* patterns of what is the program's own; the same */
};

/* What the names of a profile's functions must be made with. */
struct symcache_names_options symprofile_names_options(void);

struct symprofiler;

/* SC_ENOMEM. */
int symprofiler_create(const struct symprofile_options *options, struct symprofiler **ret,
		       struct sc_error *err);
void symprofiler_destroy(struct symprofiler *p); /* NULL is fine */

/* What the pages of the next runs are called, borrowed; NULL: nothing special. */
void symprofiler_name(struct symprofiler *p, const char *name);

/* In the order in which they are written; valid until the next call with the profiler, and as
 * long as the input. */
struct symprofile_output {
	const struct iovec *pieces;
	size_t num;
	size_t size;   /* bytes of all */
	bool text;     /* else it is binary */
};

/*
 * Symbolizes the profile in bytes[0, size). SC_EFORMAT: malformed, at the offset in the message,
 * counted in what was unpacked; SC_EUNSUPPORTED: no profile, of a kind that is not read, or one
 * that has no such form; SC_ELIMIT: more than 4 GiB unpacked, or the output would be larger than
 * 64 times the input and 64 MiB; SC_EINVAL: it has no such sample type; SC_ENOMEM. Without
 * output, then.
 */
int symprofiler_run(struct symprofiler *p, const void *bytes, size_t size,
		    struct symprofile_output *ret, struct sc_error *err);

/* Of all runs. */
struct symprofile_counts {
	uint64_t samples;   /* if they are counted */
	uint64_t locations; /* places in code */
	uint64_t looked_up, found;
	uint64_t named;     /* had names, which stayed */
	uint64_t nowhere;   /* in no mapping, or outside of it or of the module's code */
};

/* A module of which something was not found, as it is not in the store. */
struct symprofile_missing {
	const char *name;   /* of its file, as the profile has it */
	const char *id;     /* hex digits; "": unknown */
	uint64_t samples;   /* that have a frame in it, if samples are counted */
	uint64_t locations;
};

void symprofiler_counts(const struct symprofiler *p, struct symprofile_counts *ret);
/* Those of all runs; valid until the next one. */
const struct symprofile_missing *symprofiler_missing(struct symprofiler *p, size_t *n);

#endif

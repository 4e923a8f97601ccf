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
	bool force;            /* symbolize locations that have names, too */
	bool return_addresses; /* pprof and OTLP: nothing was subtracted from return addresses */
	bool two_threads;      /* use two threads for look-ups of a large profile; not if many profiles
	                        * are symbolized at the same time */
	bool count;            /* count samples, for symprofiler_missing() */
	const char *value;     /* the sample type that folded stacks have, and a page shows first; NULL:
	                        * the profile's default, else its last one */
	const char *jit_dir;   /* perf.data: the folder with perf-PID.map, names of code from JITs
	                        * (format/profiles.md); NULL: do not look for them */
	/* SYMPROFILE_HTML: */
	const char *link;             /* what a click on a place opens, or NULL: format/pages.md */
	const char *const *path_maps; /* FROM=TO, for paths in links; ends with NULL; NULL: none */
	const char *const *own;       /* patterns of the program's own files and modules; the same */
};

/* What the names of a profile's functions must be made with. */
struct symcache_names_options symprofile_names_options(void);

struct symprofiler;

/* SC_ENOMEM. */
int symprofiler_create(const struct symprofile_options *options, struct symprofiler **ret,
		       struct sc_error *err);
void symprofiler_destroy(struct symprofiler *p); /* NULL is fine */

/* Sets the title of the pages that the next runs write, borrowed; NULL: none. */
void symprofiler_name(struct symprofiler *p, const char *name);

/* What is to be written; valid until the next call with the profiler, and as long as the input. */
struct symprofile_output {
	const struct iovec *pieces; /* in their order */
	size_t num;
	size_t size;   /* bytes of all */
	bool text;     /* else it is binary */
};

/*
 * Symbolizes the profile in bytes[0, size). SC_EFORMAT: malformed, at the offset in the message,
 * which is that in the unpacked bytes; SC_EUNSUPPORTED: not a profile, of a kind that is not read,
 * or one that does not have this form; SC_ELIMIT: more than 4 GiB unpacked, or the output would be
 * larger than 64 times the input and 64 MiB; SC_EINVAL: it has no such sample type; SC_ENOMEM.
 * After an error there is no output.
 */
int symprofiler_run(struct symprofiler *p, const void *bytes, size_t size,
		    struct symprofile_output *ret, struct sc_error *err);

/* Sums over all runs. */
struct symprofile_counts {
	uint64_t samples;   /* with options.count */
	uint64_t locations; /* places in code */
	uint64_t looked_up, found;
	uint64_t named;     /* had names already, which stayed */
	uint64_t nowhere;   /* in no mapping, or outside of it or of the module's code */
};

/* A module that the store lacks. */
struct symprofile_missing {
	const char *name;   /* of its file, as the profile has it */
	const char *id;     /* hex digits; "": unknown */
	uint64_t samples;   /* that have a frame in it, if samples are counted */
	uint64_t locations;
};

void symprofiler_counts(const struct symprofiler *p, struct symprofile_counts *ret);
/* The missing modules of all runs; valid until the next one. */
const struct symprofile_missing *symprofiler_missing(struct symprofiler *p, size_t *n);

#endif

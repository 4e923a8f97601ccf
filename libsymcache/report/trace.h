/*
 * trace.h: what the files of a trace file's report share; the file itself is read by
 * libsymcache/trace/trace.h.
 *
 *   trace.c                     the walk over the frames
 *   trace_file.c                opens a file; its faults, its places
 *   trace_text.c, trace_json.c  the output
 *   trace_words.c               words for codes, in GDB's language
 */
#ifndef MARKUP_REPORT_TRACE_H
#define MARKUP_REPORT_TRACE_H

#include "libsymcache/report/report.h"
#include "libsymcache/report/stack.h"
#include "libsymcache/trace/collected.h"

/* A file that is shown. */
struct mk_trace {
	const char *path;
	const struct markup_trace_options *options;
	struct mk_out *out;
	struct mk_gen json;             /* into `out` */
	struct markup_traced *ret;
	struct symtrace file;
	struct mk_places places;        /* owners: struct symcache_image */
	struct symtrace_stack stack;
	struct symtrace_summary *summary;  /* NULL: not wanted */
	uint64_t last_fault;            /* its offset */
	uint64_t known_pcs, in_image;   /* frames whose program counter is known; and is in a
	                                 * module */
};

/* Complains of warnings and errors. Always to be followed by mk_trace_close(). */
int mk_trace_open(struct mk_trace *t, struct sc_error *err);
void mk_trace_close(struct mk_trace *t);

/* Complains of an error in the file; those after the first few are only counted. */
void mk_trace_fault(struct mk_trace *t, const struct symtrace_error *err);

/* What is at an address. `image`: that holds it, or NULL. Each is valid until the next call of
 * the same function. */
struct mk_trace_place {
	const struct symcache_image *image;
	struct symcache_code_place *at;
};
struct mk_trace_place mk_trace_place(struct mk_trace *t, uint64_t address);
const struct symcache_data_place *mk_trace_data(struct mk_trace *t, uint64_t address);

/* Are `len` bytes from there a whole variable that is a number? Its type is not known. */
static inline bool mk_trace_is_number(const struct symcache_data_place *d, uint64_t len)
{
	return d->found && !d->offset && d->size == len &&
	       (len == 1 || len == 2 || len == 4 || len == 8);
}

/* The name of a function, "?" if it is unknown. */
static inline const char *mk_trace_function(const struct sc_frame *f)
{
	return f->function.ptr ? f->function.ptr : "?";
}

/* ---- words ---------------------------------------------------------------------------- */

/* Where the program counter is from, or why there is none. */
const char *mk_trace_pc_text(enum symtrace_pc_kind kind);
/* The lines of GDB's tstatus. */
void mk_put_trace_status(struct mk_out *o, const struct symtrace_status *status);
/* Why the run stopped, as one word for programs. */
const char *mk_trace_stop_word(const struct symtrace_status *status);

/* ---- output ----------------------------------------------------------------------------- */

struct mk_trace_form {
	void (*header)(struct mk_trace *t);
	void (*definitions)(struct mk_trace *t);
	void (*frame)(struct mk_trace *t, const struct symtrace_frame *frame, struct symtrace_pc pc);
	void (*summary)(struct mk_trace *t);
};
extern const struct mk_trace_form mk_trace_text, mk_trace_json;

#endif

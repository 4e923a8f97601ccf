/*
 * trace.h: what the files of `symcache trace` share; the trace file itself is read by
 * the library (symcache/trace.h).
 *
 *   trace.c         the command: options, files, the walk over the frames
 *   trace_file.c    opens one file; warnings and errors within it; its places
 *   trace_stack.c   stacks of frames as text
 *   trace_words.c   words for codes, in GDB's language
 *   trace_text.c, trace_json.c  the output
 */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

#include <stdio.h>

#include "symcache/collected.h"
#include "symcache/places.h"
#include "symcache/trace.h"

/* ---- one file ------------------------------------------------------------------- */

struct trace_file {
	const char *path;
	struct symtrace trace;
	unsigned faults;           /* errors, reported or only counted */
	uint64_t last_fault;       /* offset of the last one */
	uint64_t known_pcs, in_image; /* frames of which the program counter is known; and lies
	                               * in a module */
	uint64_t first_pc;
};

/* Opens the file; errors and warnings go to standard error. False: there is nothing to
 * show. Always to be followed by trace_close(). */
bool trace_open(struct trace_file *f, const char *path, const struct symcache_images *images,
		enum symtrace_order order);
void trace_close(struct trace_file *f);

/* Reports an error in the file; those after the first few are only counted. */
void trace_fault(struct trace_file *f, const struct symtrace_error *err);

/* ---- places: what is at an address ------------------------------------------------ */

/* Of one file: its lines in the summary stay with places. */
struct places {
	const struct symcache_images *images;
	struct symcache_places *of;
};

/* `image`: that holds the address, or NULL. Each is valid until the next call of the same
 * function. */
struct place {
	const struct symcache_image *image;
	struct symcache_code_place *at;
};
struct place places_code(const struct places *p, uint64_t address);
const struct symcache_data_place *places_data(const struct places *p, uint64_t address);

/* Are `len` bytes from there a whole variable that is a number? Its type is not known. */
static inline bool place_is_number(const struct symcache_data_place *d, uint64_t len)
{
	return d->found && !d->offset && d->size == len &&
	       (len == 1 || len == 2 || len == 4 || len == 8);
}

/* The name of a function, "?" if it is unknown. */
static inline struct symcache_str place_name(const struct symcache_place_frame *f)
{
	return f->function.ptr ? f->function : (struct symcache_str){ "?", 1 };
}

/* ---- stacks: who called it ---------------------------------------------------------- */

/* frames[1] and so on, and why there are no more, as text. */
void trace_stack_put(const struct trace_file *f, const struct places *places,
		     struct symtrace_stack *s, const struct symtrace_frame *frame,
		     struct symtrace_pc pc);

/* ---- words ---------------------------------------------------------------------------- */

/* Where the program counter is from, or why there is none. */
const char *words_pc(enum symtrace_pc_kind kind);
/* Prints the lines GDB's tstatus says. */
void words_status(const struct symtrace_status *status);
/* Why the run stopped, as one word for programs. */
const char *words_stop(const struct symtrace_status *status);

/* ---- output ----------------------------------------------------------------------------- */

struct trace_options {
	bool registers, hexdump;
	struct symtrace_stack *stack;   /* of --backtrace; NULL: not wanted */
};

/* One form of output. */
struct trace_output {
	void (*start)(void);
	/* These for each file. */
	void (*header)(const struct trace_file *f);
	void (*definitions)(struct trace_file *f, const struct places *places);
	void (*frame)(struct trace_file *f, const struct places *places,
		      const struct trace_options *options, const struct symtrace_frame *frame,
		      struct symtrace_pc pc);
	void (*summary)(const struct symtrace_summary *s, const struct trace_file *f);
	void (*finish)(void);
};

extern const struct trace_output trace_text, trace_json;

#endif

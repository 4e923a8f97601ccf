/*
 * trace.h: what the files of `symcache trace` share; the trace file itself is read by
 * the library (symcache/trace.h).
 *
 *   trace.c         the command: options, files, the walk over the frames
 *   trace_file.c    opens one file; warnings and errors within it
 *   trace_place.c   addresses to functions, lines and data symbols, remembered
 *   trace_stack.c   stacks of frames
 *   trace_words.c   words for codes, in GDB's language
 *   trace_text.c, trace_json.c  the output
 */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

#include <stdio.h>

#include "cmd/trace/images.h"
#include "symcache/collected.h"
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
bool trace_open(struct trace_file *f, const char *path, const struct images *images,
		enum symtrace_order order);
void trace_close(struct trace_file *f);

/* Reports an error in the file; those after the first few are only counted. */
void trace_fault(struct trace_file *f, const struct symtrace_error *err);

/* The machine of the first module whose cache knows it; 0: none does. */
struct symtrace_target trace_target(const struct images *images);

/* ---- places: what is at an address ------------------------------------------------ */

struct place_frame {
	struct symcache_str function;   /* as it is shown; "?": unknown */
	const char *path;               /* "": unknown */
	uint32_t line, column;          /* 0: unknown */
	bool inlined;
};

struct place {
	uint64_t address;
	const struct image *image;     /* NULL: none holds it */
	struct place_frame *frames;     /* innermost first; with their texts */
	size_t num_frames;
	char *text;                     /* as the output shows it; NULL: not made yet */
	int wanted;                     /* by --line; −1: not tried yet */
	struct symtrace_line *line;     /* of the file's summary; NULL: not found yet */
};

struct data_place {
	uint64_t address;
	const struct image *image; 
	bool found;
	uint64_t offset;                /* in the symbol */
	uint64_t size;                  /* of the symbol; 0: unknown */
	char *name;                     /* demangled */
};

/* Are `len` bytes from there a whole variable that is a number? Its type is not known. */
static inline bool place_is_number(const struct data_place *d, uint64_t len)
{
	return d->found && !d->offset && d->size == len &&
	       (len == 1 || len == 2 || len == 4 || len == 8);
}

struct places;

/* Keeps the last few ten thousand places, for one file; flat memory. */
struct places *places_create(const struct images *images, bool demangled);
void places_destroy(struct places *p); /* NULL is fine */

/* Both are valid until the next call of the same function. */
struct place *places_code(struct places *p, uint64_t address);
const struct data_place *places_data(struct places *p, uint64_t address);

/* ---- stacks: who called it ---------------------------------------------------------- */

struct trace_stack_frame {
	uint64_t pc, lookup_pc, stack_pointer; /* see struct symcache_unwind_frame */
	enum symcache_trust trust;
	bool signal;
};

/* Zero but for `images` before the first walk. */
struct trace_stack {
	const struct images *images;
	struct symtrace_collected collected;
	struct sc_error err;      /* code 0: there is a stack, what follows is valid */
	struct trace_stack_frame *frames; /* frames[0] is the trace frame itself */
	size_t num_frames, cap_frames;
	unsigned word;            /* bytes of an address */
	enum symcache_stop stop;
	uint64_t address;         /* of SYMCACHE_STOP_MEMORY */
	uint64_t collected_end;   /* the stack was collected up to there; 0: it was not */
	const char *lacks;        /* the module that lacks unwind information; or NULL */
};

/* Walks the stack of a frame whose program counter is known. */
void trace_stack_walk(struct trace_stack *s, const struct trace_file *f,
		      const struct symtrace_frame *frame, struct symtrace_pc pc);
/* frames[1] and so on, and why there are no more, as text. */
void trace_stack_put(const struct trace_stack *s, struct places *places);
void trace_stack_deinit(struct trace_stack *s);

/* ---- words ---------------------------------------------------------------------------- */

/* Where the program counter is from, or why there is none. */
const char *words_pc(enum symtrace_pc_kind kind);
/* Prints the lines GDB's tstatus says. */
void words_status(const struct symtrace_status *status);
/* Why the run stopped, as one word for programs. */
const char *words_stop(const struct symtrace_status *status);
/* Text from the file, harmless to a terminal: control characters as \xHH. */
void words_escaped(FILE *out, const char *text, size_t len);

/* ---- output ----------------------------------------------------------------------------- */

struct trace_options {
	bool registers, hexdump;
	struct trace_stack *stack;      /* of --backtrace; NULL: not wanted */
};

/* One form of output. */
struct trace_output {
	void (*start)(void);
	/* These for each file. */
	void (*header)(const struct trace_file *f);
	void (*definitions)(struct trace_file *f, struct places *places);
	void (*frame)(struct trace_file *f, struct places *places,
		      const struct trace_options *options, const struct symtrace_frame *frame,
		      struct symtrace_pc pc);
	void (*summary)(const struct symtrace_summary *s, const struct trace_file *f);
	void (*finish)(void);
};

extern const struct trace_output trace_text, trace_json;

#endif

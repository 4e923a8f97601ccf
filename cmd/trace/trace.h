/*
 * trace.h: what the files of `symcache trace` share.
 *
 *   trace.c         the command: options, files, the walk over the frames
 *   trace_file.c    opens one file: map, definitions, registers, byte order
 *   trace_place.c   addresses to functions, lines and data symbols, remembered
 *   trace_select.c  which frames are wanted
 *   trace_words.c   words for codes, in GDB's language
 *   trace_text.c, trace_frame.c, trace_json.c, trace_summary.c  the output
 */
#ifndef CMD_TRACE_H
#define CMD_TRACE_H

#include <stdio.h>

#include "cmd/lookup/demangle.h"
#include "cmd/trace/images.h"
#include "cmd/cli/opt.h"
#include "libsymcache/trace/tdesc.h"
#include "libsymcache/trace/tfile.h"

/* ---- one file ------------------------------------------------------------------- */

struct trace_file {
	const char *path;
	void *map;
	size_t map_size;
	struct tfile tfile;
	struct tdesc tdesc;        /* the layout of the R blocks */
	struct tfile_pc_slot slot;
	bool opened;               /* it is a trace file; else nothing can be shown */
	uint64_t released;         /* pages before this offset were given back */
	unsigned faults;           /* errors, told or only counted */
	uint64_t last_fault;       /* offset of the last one */
};

enum { TRACE_ORDER_AUTO, TRACE_ORDER_LITTLE, TRACE_ORDER_BIG };

/* Maps and reads the definitions; tells errors and notices on standard error.
 * False: there is nothing to show. Always to be followed by trace_close(). */
bool trace_open(struct trace_file *f, const char *path, const struct images *images, int order);
void trace_close(struct trace_file *f);

/* Tells an error of the file; those after the first few are only counted. */
void trace_fault(struct trace_file *f, const struct tfile_error *err);

/* Gives pages far behind `offset` back to the system, so that a file larger than
 * memory passes through it. */
void trace_release(struct trace_file *f, uint64_t offset);

/* ---- places: what is at an address ------------------------------------------------ */

struct place {
	uint64_t address;
	const struct image *image;     /* NULL: none holds it */
	uint64_t rel;                   /* relative to the image */
	struct symcache_frame *frames;  /* innermost first */
	size_t num_frames;
	char *text;                     /* as the text output shows it; NULL: not made yet */
	char *json;                     /* as the JSON output shows it; NULL: not made yet */
	int wanted;                     /* by --line; −1: not tried yet */
	size_t line;                    /* of the file's summary, plus 1; 0: none yet */
};

struct data_place {
	uint64_t address;
	const struct image *image; 
	bool found;
	uint64_t offset;                /* in the symbol */
	uint64_t size;                  /* of the symbol; 0: unknown */
	char *name;                     /* demangled */
};

struct places;

/* Keeps the last few ten thousand places, for one file; flat memory. */
struct places *places_create(const struct images *images, bool demangled);
void places_destroy(struct places *p); /* NULL is fine */

/* Both are valid until the next call of the same function. */
struct place *places_code(struct places *p, uint64_t address);
const struct data_place *places_data(struct places *p, uint64_t address);

/* The function's name and the file's path as they are to be shown; both are valid
 * until the next call. The path is "" where it is unknown. */
struct symcache_str places_function(struct places *p, const struct symcache_frame *frame);
const char *places_path(struct places *p, const struct symcache_frame *frame);

/* ---- selection ---------------------------------------------------------------------- */

struct trace_range {
	uint64_t first, last;
	const char *file;  /* of --line */
};

struct trace_select {
	struct trace_range *list[5]; /* by enum trace_by */
	size_t len[5];
	uint64_t last_frame;         /* the highest one of --frame */
};

enum trace_by { BY_TRACEPOINT, BY_FRAME, BY_PC, BY_RANGE, BY_LINE };

/* Reads the values of one option. False: told what is wrong with one. */
bool select_add(struct trace_select *s, enum trace_by by, const struct opt_list *values);
void select_deinit(struct trace_select *s);

/* Is there anything but "all frames"? */
bool select_any(const struct trace_select *s);

/* Of one option any value will do, of several options each must agree. */
bool select_wants(const struct trace_select *s, struct places *places,
		  const struct tfile_frame *frame, struct tfile_pc pc);

/* ---- words ---------------------------------------------------------------------------- */

/* Where the program counter is from, or why there is none. */
const char *words_pc(enum tfile_pc_kind kind);
/* The lines GDB's tstatus says. */
void words_status(FILE *out, const struct tfile_status *status);
/* Why the run stopped, as one word for programs. */
const char *words_stop(const struct tfile_status *status);
/* Text from the file, harmless to a terminal: control characters as \xHH. */
void words_escaped(FILE *out, const char *text, size_t len);

/* ---- output ----------------------------------------------------------------------------- */

struct trace_options {
	bool registers, hexdump;
};

struct summary;

/* One form of output. */
struct trace_output {
	void (*start)(void);
	/* These for each file. */
	void (*header)(const struct trace_file *f);
	void (*definitions)(struct trace_file *f, struct places *places);
	void (*frame)(struct trace_file *f, struct places *places,
		      const struct trace_options *options, const struct tfile_frame *frame,
		      struct tfile_pc pc);
	void (*summary)(const struct summary *s, const struct trace_file *f);
	void (*finish)(void);
};

extern const struct trace_output trace_text, trace_json;

/* The text of one frame, trace_text's. */
void trace_text_frame(struct trace_file *f, struct places *places,
		      const struct trace_options *options, const struct tfile_frame *frame,
		      struct tfile_pc pc);
/* A place as lines of text, two blanks in front: a function, or "??". */
const char *trace_text_place(struct places *places, struct place *place);

/* ---- summary ------------------------------------------------------------------------------ */

#define TRACE_TRACEPOINTS (1u << 16) /* by the number as uint16_t */

struct summary_line {
	char *function; /* "??": unknown */
	char *path;     /* "": unknown */
	uint32_t line;
	uint64_t frames;
	size_t next;    /* in its chain of hashes, plus 1 */
};

struct summary {
	uint64_t frames;
	uint64_t by_tracepoint[TRACE_TRACEPOINTS];
	uint64_t by_pc[TFILE_PC_DAMAGED + 1];
	struct summary_line *lines;
	size_t num_lines, cap_lines;
	size_t *chains;
	size_t num_chains;
};

struct summary *summary_create(void);
void summary_destroy(struct summary *s); /* NULL is fine */
void summary_add(struct summary *s, struct places *places, const struct tfile_frame *frame,
		 struct tfile_pc pc);
/* Ends the adding: sorts the lines, those with the most frames first. */
void summary_finish(struct summary *s);
void summary_print_text(const struct summary *s, const struct trace_file *f);

#endif

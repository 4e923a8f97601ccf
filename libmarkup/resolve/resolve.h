/*
 * resolve.h: events → what they stand for: modules and maps of the log, frames and
 * symbols of the resolver, in memory what was asked before.
 *
 *   take.c     an event that changes the context → the context
 *   context.c  modules and maps of one process; place.c: Fuchsia's modules, placed as a whole
 *   demux.c    which process the context is of
 *   saved.c    the contexts ↔ bytes, for a log in parts
 *   read.c     what inputs find in a line, if it means something
 *   trace.c    frames that name their module, and what they leave to their neighbours
 *   bases.c    where the modules of a trace begin, as its lines say
 *   named.c    the modules that such frames name
 *   tables.c   tables of modules in the log, for frames that have an address alone
 *   stack.c    registers and bytes of a stack → frames
 *   lookup.c   address → frames, or what was made of them, through memo and resolver
 *   memo.c     the texts of addresses that were asked before
 *   ahead.c    finds what inputs may read, and announces its addresses to the resolver
 *   missing.c  modules with addresses that found nothing
 */
#ifndef MARKUP_RESOLVE_H
#define MARKUP_RESOLVE_H

#include "libmarkup/bytes/out.h"
#include "libmarkup/bytes/scan.h"
#include "libmarkup/bytes/where.h"
#include "libmarkup/bytes/words.h"
#include "libmarkup/event.h"
#include "libmarkup/input/input.h"
#include "libmarkup/resolve/context.h"
#include "libmarkup/resolve/demux.h"
#include "libmarkup/resolve/memo.h"
#include "libmarkup/resolve/missing.h"
#include "libmarkup/resolve/tables.h"

/* An address that was announced: what mk_lookup_address() needs not find again. */
struct mk_announced {
	struct mk_peek peek;
	const struct mk_map *map; /* of the context; NULL: none covers it */
	bool remembered; /* by the memo */
	bool worth;      /* to be remembered */
	uint8_t hit;     /* its number */
};

/* What is known of the bytes up to `upto`. */
struct mk_ahead {
	enum mk_scan_for scan_for;
	const struct mk_input *const *inputs;
	struct mk_words words;                /* of all inputs, if there is another one */
	const char *upto;
	uint64_t line_no;                /* lines before it */
	struct mk_hit hits[MARKUP_AHEAD];
	size_t num_hits, next_hit;
	struct mk_announced addresses[MARKUP_AHEAD];
	uint32_t num, next;
	uint64_t generation;             /* of the context, that they hold for */
	uint32_t kind;                   /* of their text */
};

#define MK_BASES_MAX 64u

/* Where a module begins in the process of a trace. */
struct mk_base {
	uint64_t generation; /* of the module */
	uint64_t address;
	bool by_symbol;      /* known by the start of a symbol alone */
	bool bad;            /* and lines of the trace contradict each other */
	uint32_t module;     /* of r->named, if that still is of the generation */
};

#define MK_ORDINARY 1024u

/* An address that was asked for, and is not that of a trampoline (trace.c). */
struct mk_ordinary {
	uint64_t generation; /* of the module */
	uint64_t vaddr;
};

/* What a line leaves to frames behind it: see struct mk_event. */
struct mk_carried {
	char name[1024], build_id[2 * MISSING_ID_MAX];
	size_t name_len, build_id_len;
	uint64_t lookup;
	bool is;             /* there is something */
};

struct mk_resolve {
	struct markup_resolver resolver;
	enum markup_dialect dialect;
	struct mk_where *where;
	struct mk_context context; /* of the process whose line it is */
	struct mk_demux demux;
	struct mk_tables *tables;  /* of the input; NULL: none */
	const struct mk_line *line; /* whose events are taken */
	struct mk_context named;   /* modules that are named by the lines of frames */
	uint64_t generations;      /* of contexts */
	struct mk_ahead ahead;
	struct mk_memo memo;
	uint32_t memo_kind;        /* of the address that was looked up last */
	struct mk_base bases[MK_BASES_MAX]; /* of the current trace */
	size_t num_bases;
	bool looked_ahead;         /* all lines of the trace were read for them */
	struct mk_line ahead_line; /* for that */
	const char *lines_end;     /* of those that follow `line` in memory; NULL: none do */
	struct mk_carried carried;
	struct mk_ordinary ordinary[MK_ORDINARY];
	bool interrupted;          /* its next frame was, by a signal */
	bool chained;              /* the line before may leave something to the next */
	bool trace_begins;         /* with the next line */
	bool in_trace;             /* the line before had a frame */
	struct mk_modules missing; /* modules in which addresses found nothing */
	bool fixes_base;           /* see struct mk_context */
	bool keep_modules;         /* of the options */
	bool wants_symbols;        /* struct markup_form; for the caller to set */
	struct mk_modules seen;    /* all modules, if so, or those in the context */
	struct mk_modules lines;   /* those that lines name */
	struct markup_stats stats;
	struct mk_out scratch;     /* text of one address */
	int error;                 /* sticky */
};

/* The others of its fields are for the caller to set. Returns as markup_filter_create(). */
int mk_resolve_init(struct mk_resolve *r, const struct markup_options *options,
		    const struct markup_resolver *resolver, struct mk_where *where);
void mk_resolve_deinit(struct mk_resolve *r);

/* Puts a module or map into the context: sets e->index, or makes the event bad. */
void mk_take(struct mk_resolve *r, struct mk_event *e);

/* ---- lookup.c ------------------------------------------------------------- */

/* What the output made of the frames of an address, and mk_remember() keeps: this, and behind it
 * what is the output's. */
struct mk_remembered {
	uint32_t map; /* number of the map in the context */
	uint32_t n;   /* the output's */
};

/* What is known of the code at an address. Valid until the next lookup. */
struct mk_found {
	const struct mk_remembered *remembered; /* NULL: nothing; else only this is set */
	const struct sc_frame *frames;
	size_t num_frames;
	void *module;        /* they are of */
	bool found;
	bool worth;          /* give mk_remember() what is made of it */
	uint32_t map;
	struct mk_memo_key key;
};

/* Keeps `text`, `len` bytes, for what was found. */
void mk_remember(struct mk_resolve *r, const struct mk_found *f, const struct mk_remembered *text,
		 size_t len);

/* The resolver's handle of a module, or NULL; warns the first time. */
void *mk_lookup_module(struct mk_resolve *r, uint32_t module);

/* Has the resolver symbols of the module? Nothing is said if not. */
bool mk_is_known(struct mk_resolve *r, struct mk_module *m);

/*
 * The code at an address of the process, and the map that covers it; NULL if none
 * does. Counts what it finds. Addresses that come again are remembered, those of each `kind`
 * of text apart.
 */
const struct mk_map *mk_lookup_address(struct mk_resolve *r, uint64_t address, uint32_t kind,
				       struct mk_found *ret);

/* The same for an address that was announced, as mk_ahead_frame() gives it. */
const struct mk_map *mk_lookup_announced(struct mk_resolve *r, const struct mk_announced *e,
					 struct mk_found *ret);

/* The code at `vaddr` of a module, which is not remembered. */
void mk_lookup_code(struct mk_resolve *r, uint32_t module, uint64_t vaddr, struct mk_found *ret);

/* The data symbol at `vaddr` of a module. */
bool mk_lookup_data(struct mk_resolve *r, uint32_t module, uint64_t vaddr,
		    struct markup_data *ret);

#define MK_KERNEL UINT64_MAX /* in the context: a kernel's release and build ID */

/* In the context: a module by its name, or the last part of a path. */
uint64_t mk_bound_id(struct sc_str name);

/* The module that is named on the line of a frame, by its build ID or its name alone; NULL:
 * no memory. */
struct mk_module *mk_named_module(struct mk_resolve *r, const struct mk_event *e);

/* The data or function at an address of it. */
bool mk_named_data(struct mk_resolve *r, struct mk_module *m, uint64_t vaddr,
		   struct markup_data *ret);

/* The address of it that is meant; false: there is none. */
bool mk_named_place(struct mk_resolve *r, struct mk_module *m, struct markup_place *place,
		    uint64_t *vaddr);

/* A frame in it has no address that could be looked up. */
void mk_count_unplaced(struct mk_resolve *r, struct mk_module *m, const struct markup_place *place);

/* ---- stack.c ---------------------------------------------------------------- */

/* The frames of a stack, until the next one, and what stands around it in its line. */
struct mk_walked {
	const struct markup_caller *frames;
	size_t n;
	const char *end; /* why there are no more; NULL: the last one is the outermost */
	size_t lines;    /* in place of its line: one for each frame, and one for `end` */
	struct sc_str before, behind;
};

/* Walks the stack that the line begins with, an element that is called "stack". False: there is
 * none, or it cannot be walked. */
bool mk_walk_stack(struct mk_resolve *r, const struct mk_line *l, struct mk_walked *ret);

/* The line becomes line `i` of those: its text is made in `text`, as that of a bt element, with
 * what stands before the stack, the last one also with what stands behind it. 0 or -ENOMEM. */
int mk_walked_line(const struct mk_walked *w, size_t i, struct mk_line *l, struct mk_out *text);

/* ---- read.c ------------------------------------------------------------------ */

/* Reads the events of the line, by the first input that finds one. */
void mk_read_events(struct mk_resolve *r, struct mk_line *l);

/* ---- trace.c: see there ------------------------------------------------------ */

/* Completes a frame whose module is named on its line. */
void mk_take_frame(struct mk_resolve *r, struct mk_event *e);
/* A line begins: what its first event (NULL: it has none) says of the trace. */
void mk_begin_line(struct mk_resolve *r, const struct mk_event *first);

/* The code at `vaddr` of the module that such a frame names, as mk_lookup_address() has it. */
void mk_lookup_named(struct mk_resolve *r, struct mk_module *m, uint64_t vaddr, uint32_t kind,
		     struct mk_found *ret);

/* Keeps what an event leaves to frames behind it. */
void mk_carry(struct mk_resolve *r, const struct mk_event *e);

/* ---- bases.c: see there ------------------------------------------------------- */

/* The base of a module in the current trace, or NULL. */
const struct mk_base *mk_base_of(const struct mk_resolve *r, const struct mk_module *m);

/* What one of its lines says. */
void mk_note_base(struct mk_resolve *r, const struct mk_module *m, uint64_t address, bool by_symbol);

/* Reads the current line and those of its trace behind it for bases, once a trace. */
void mk_look_ahead(struct mk_resolve *r);

/* Does the next line have the frame e, too, by build ID and address (eu-stack -b)? */
bool mk_is_said_again(struct mk_resolve *r, const struct mk_event *e);

/* A name as it is to be shown. */
struct sc_str mk_lookup_demangled(struct mk_resolve *r, struct sc_str name);

/* Misses from now on are counted anew: `missing` was taken. */
void mk_forget_missing(struct mk_resolve *r);

/* ---- ahead.c --------------------------------------------------------------- */

/* The formats that are looked for; ends with NULL. */
void mk_ahead_init(struct mk_ahead *a, const struct mk_input *const *inputs,
		   enum mk_scan_for scan_for);

/* A block of lines begins at p; where->line_no is right there. */
void mk_ahead_start(struct mk_resolve *r, const char *p);

/* The next byte from p on that may begin an event, or an ESC if scan_for says so; or NULL;
 * where->line_no becomes the number of the line that it is in, or of `end`. Each is given
 * once. */
const char *mk_ahead_next(struct mk_resolve *r, const char *p, const char *end);

/* May any input find something in the line [p, eol)? For lines in their order. */
bool mk_ahead_in_line(struct mk_resolve *r, const char *p, const char *eol, const char *end);

/* May any input find something in [p, end), whole lines? If not, the newlines are added. */
bool mk_ahead_finds(const struct mk_ahead *a, const char *p, const char *end, uint64_t *newlines);

/* What is known of the hit that mk_ahead_next() gave last, if it is a frame of the usual
 * form; else NULL. `kind`: of the text that is wanted. */
const struct mk_announced *mk_ahead_frame(struct mk_resolve *r, uint32_t kind);

/* What is known of the address, in the order in which they come; may be NULL. */
const struct mk_announced *mk_ahead_address(struct mk_resolve *r, const struct mk_memo_key *key);

#endif

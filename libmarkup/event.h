/*
 * event.h: what an input finds in a line, and the other rooms work on:
 *
 *   bytes → input → events → resolve (modules and maps, look-up) → output
 *
 * A line is text with events in it, each a span of the line that means something:
 *
 *   Nov 21 host prog[1]: {{{bt:0:0x5612…:pc}}} some text {{{symbol:_Z1fv}}}
 *                        `----- frame ------'            `--- symbol ----'
 *
 * An input fills the events of one line at a time, from the line alone. The stream
 * (filter/stream.c) then takes them in turn: a module or a map is put into the context,
 * the event is handed to the output, and after that a reset empties the context. What
 * is wrong with an event travels with it; the output decides what to say of it.
 *
 * All texts borrow the line.
 */
#ifndef MARKUP_EVENT_H
#define MARKUP_EVENT_H

#include "libmarkup/markup.h"

struct mk_formats;

enum mk_event_kind {
	MK_RESET,
	MK_MODULE,
	MK_MAP,      /* the last of those that change the context: mk_is_context() */
	MK_FRAME,
	MK_PC,
	MK_DATA,
	MK_SYMBOL,
	MK_HEXDICT,
	MK_HEXDICT_OPEN, /* it goes on in the lines behind this one */
	MK_DUMPFILE,
	MK_UNKNOWN,  /* of the form of an element, but none that is known */
};

/* How a frame is written as text. */
enum mk_form {
	MK_FORM_MARKUP,    /* #N.K  0xADDRESS FUNC FILE:LINE:COL (MODULE+0xREL) */
	MK_FORM_SANITIZER, /* #N 0xADDRESS in FUNC FILE:LINE:COL; inlined ones are counted */
	MK_FORM_PLACES,    /* the text as it is, and " (FUNC FILE:LINE:COL, …)" behind it */
	MK_FORM_CALLS,     /* the same where the line does not name the function */
	MK_FORM_VALGRIND,  /* at 0xADDRESS: FUNC (FILE:LINE:COL); inlined into: by 0xADDRESS: … */
	MK_FORM_BEHIND,    /* the text, and " FUNC at FILE:LINE:COL" behind it */
	MK_FORM_BELOW,     /* the text as it is, and lines below its line */
	MK_FORM_MEMBER,    /* the text, and behind it a member of JSON, "symbolized":["…"] */
	MK_FORM_NDK,       /* the text as it is, and FUNC FILE:LINE:COL below its module */
};

enum mk_severity { MK_ERROR, MK_WARNING };

/* What is wrong with an event; mk_put_problem() makes it a sentence. */
struct mk_problem {
	enum mk_severity severity;
	enum {
		MK_SAID,      /* `what` is the sentence */
		MK_EXPECTED,  /* `what`; found `found` */
		MK_FIELDS,    /* `what` ("at least ") numbers[0] fields; found numbers[1] */
		MK_OVERLAP,   /* with the map of module numbers[0], from [1] to [2] */
	} kind;
	const char *at;       /* where in the line */
	const char *what;
	struct sc_str found;
	uint64_t numbers[3];
};

/* Is the address of a frame that of the call, or where the call returns to? */
enum mk_returns {
	MK_EXACT,
	MK_RETURN,
	MK_RETURN_BUT_FIRST, /* the first frame of a trace has the address itself */
	MK_RETURN_BUT_LEAD,  /* so has a frame where the line before had none */
};

/* What a line that has no frame says of a trace. */
enum mk_aside {
	MK_NO_ASIDE,
	MK_IN_TRACE,     /* the line counts as one with a frame */
	MK_BEGINS_TRACE, /* frames follow on the next line */
	MK_INTERRUPTS,   /* a signal interrupted the next frame */
	MK_CARRIES,      /* as MK_IN_TRACE, and `name`, `build_id` or `lookup` are those of frames
	                  * behind it that are `carried` */
};

/* `kind` says which member of the union holds, and what the common ones mean. */
struct mk_event {
	enum mk_event_kind kind;
	enum mk_aside aside;      /* MK_UNKNOWN */
	bool bad;                 /* it makes no sense: problems says why, and the values
	                           * below mean nothing */
	bool quiet;               /* its text stays as it is, whatever it means */
	bool kernel;              /* with in_module: `name` is one of the kernel's modules, or
	                           * "vmlinux"; with binds: its release */
	unsigned num_problems;
	struct sc_str text;       /* all of it */
	struct sc_str tag;
	struct sc_str rest;       /* all behind the tag's ':'; ptr NULL: no ':' */

	uint64_t number;          /* of the frame; ID of the module */
	uint64_t address;         /* as it stands in the log; of a map: its first */
	struct sc_str name;       /* of a module, symbol, dump file; of a map: the module's
	                           * ID as it is written */
	struct sc_str detail;     /* build ID of a module, in hex digits; type of a dump
	                           * file; message of a frame; mode of a map as written */
	union {
		struct { /* MK_MODULE, MK_MAP */
			uint32_t index;   /* in the context, once it is there */
			bool fresh;       /* was not there before */
			bool binds;       /* a module: lines that say no build ID mean this one by
			                   * the name, from now on; `number` means nothing */
			bool guid;        /* with binds: the build ID is a GUID, and a digit */
			bool late;        /* a map: its problem comes after that of its module */
			char mode[4];     /* of a map: "r", "rx" …, NUL-terminated */
			uint64_t size;    /* of a map */
			uint64_t vaddr;   /* of a map: address in the ELF file */
		};
		struct { /* MK_FRAME, MK_PC, MK_CARRIES */
			uint64_t lookup;  /* address to be looked up: one less for return
			                   * addresses */
			enum mk_form form;
			uint32_t reach;   /* the format has no numbers; so many lines further the
			                   * next frame of the stack may be. 0: it has */
			struct sc_str hole; /* MK_FORM_BEHIND: of its text, what the name of the
			                   * function replaces; len 0: nothing */
			bool in_module;   /* `name` (and `build_id`) name the module; `lookup`
			                   * counts from `origin`. But see `absolute` */
			struct sc_str function; /* as the line names it, without offset; len 0: it
			                   * does not */
			/* With in_module. */
			bool absolute;    /* `address` alone is known, not `lookup`; not even the
			                   * module if `name` is empty */
			bool unplaced;    /* it cannot be looked up */
			enum mk_returns returns;
			enum markup_origin origin; /* what `lookup` counts from; put into the
			                   * context it is MARKUP_FROM_ZERO, or unplaced */
			struct sc_str build_id; /* of the module, in hex digits; len 0: the line
			                   * has none */
			struct sc_str symbol; /* MARKUP_FROM_SYMBOL; with absolute: what `address`
			                   * is in */
			uint64_t symbol_size;
			uint64_t symbol_offset; /* with absolute: bytes behind its start */
			struct sc_str other_name; /* if the resolver does not know `name` */
			bool shared_object; /* `name` is without its ".so" */
			bool carried;     /* the line before has the rest of it */
			bool behind_header; /* a frame only behind what begins a trace, or another
			                   * of these */
			bool known_only;  /* a frame only if the resolver knows `name`, and code is
			                   * there; it is in no trace */
		};
	};
	struct mk_problem problems[2];
};

/* A line longer than MARKUP_LINE_MAX comes in pieces. */
enum mk_line_part {
	MK_LINE_FIRST = 1,
	MK_LINE_LAST = 2, /* with the newline, but at the end of the input */
	MK_LINE_WHOLE = MK_LINE_FIRST | MK_LINE_LAST,
};

struct mk_line {
	const char *p;            /* the line, or a piece of one */
	size_t len;
	enum mk_line_part part;
	const char *first;        /* its first "{{{", or NULL: unknown */
	const char *newline;      /* how it ends: "\n" or "\r\n" */
	struct mk_event *events;
	size_t num_events, cap_events;
	bool had_context;         /* a piece before had an event that changes the context */
	bool chained;             /* its events are of such an input: struct mk_input */
	bool no_memory;           /* for its events */
	struct mk_event unseen;   /* see mk_add_event() */
	enum markup_dialect dialect;
	const struct mk_formats *formats; /* that are looked for; NULL: all */
};

static inline bool mk_is_context(const struct mk_event *e)
{
	return e->kind <= MK_MAP;
}

/* A frame whose module is named on its line? */
static inline bool mk_names_module(const struct mk_event *e)
{
	return e->kind == MK_FRAME && e->in_module;
}

/* A new event of the line, all zero but for `kind`; the pointer is good until the next one.
 * Without memory it is one that no one sees, and l->no_memory is set. */
struct mk_event *mk_add_event(struct mk_line *l, enum mk_event_kind kind);

/* From now on the name stands for this build ID, in hex digits, as [start, end) says. */
struct mk_event *mk_add_binding(struct mk_line *l, const char *start, const char *end,
				struct sc_str name, struct sc_str build_id);

/* The event is bad, or, if it is a warning, has a flaw. Returns false, for `return`. */
bool mk_problem(struct mk_event *e, const struct mk_problem *p);

/* A frame of a format other than markup, [start, end), with what most of them have. */
struct mk_event *mk_add_frame(struct mk_line *l, const char *tag, const char *start,
			      const char *end);

struct mk_out;
void mk_put_problem(struct mk_out *o, const struct mk_problem *p);

#endif

/*
 * state.h: the filter from inside: what its parts share.
 *
 *   filter.c     cuts the input into lines; text without markup goes straight out
 *   render_*.c   one per dialect or output form: takes lines, writes output
 *   elements.c   nodes → values, with complaints
 *   lookup.c     address → rendered text, through memo and resolver
 *   ahead.c      finds markup, and announces its addresses to the resolver
 *   modline.c    the [[[ELF module …]]] line that is being collected
 *   frames.c     parts of a frame's line
 *   sgr.c        colour
 */
#ifndef MARKUP_STATE_H
#define MARKUP_STATE_H

#include "libmarkup/resolve/context.h"
#include "libmarkup/resolve/demux.h"
#include "libmarkup/bytes/fields.h"
#include "libmarkup/input/hexdict.h"
#include "libmarkup/markup.h"
#include "libmarkup/resolve/memo.h"
#include "libmarkup/resolve/missing.h"
#include "libmarkup/bytes/out.h"
#include "libmarkup/input/parse.h"
#include "libmarkup/bytes/scan.h"

/* A line longer than MARKUP_LINE_MAX comes in pieces. */
enum line_part {
	LINE_FIRST = 1,
	LINE_LAST = 2, /* with the newline, but at the end of the input */
	LINE_WHOLE = LINE_FIRST | LINE_LAST,
};

enum severity { SEV_ERROR, SEV_WARNING };

struct renderer {
	bool every_line; /* lines without markup come through line(), too */

	/* A line, or a piece of one, that may hold markup. */
	void (*line)(struct markup_filter *f, const char *p, size_t len, enum line_part part);
	/* A hexdict that line() had opened is in f->hexdict: to its end, or what
	 * there is of one that is given up. */
	void (*held)(struct markup_filter *f, bool complete);
	/* The next hit may be a bt element of the usual form, alone in its line: writes
	 * the text from p on and the frame, and returns where the element ends; NULL: it
	 * is not, and nothing was written. May be NULL. */
	const char *(*frame)(struct markup_filter *f, const char *p, const char *hit,
			     const char *end);
	/* Whole lines without markup (and without ESC, if f->scan_for says so); the
	 * first may be the rest of one. */
	void (*plain)(struct markup_filter *f, const char *p, size_t len);
	/* The end of an input. */
	void (*finish)(struct markup_filter *f);
	/* Something is wrong with element `n`, at the byte `at` of the line. */
	void (*report)(struct markup_filter *f, const struct markup_node *n,
		       enum severity severity, const char *at, struct markup_str message);
};

extern const struct renderer mk_text_renderer, mk_llvm_renderer, mk_fuchsia_renderer,
	mk_json_renderer, mk_html_renderer;

/* SGR state of the current line. */
struct sgr_state {
	signed char color; /* 0 to 7; −1: the default */
	bool bold;
};

/* The module line that is being collected. */
struct modline {
	bool open, crlf;
	uint32_t module;
	uint32_t *maps;    /* indices */
	uint32_t num_maps, cap_maps;
};

/* What a renderer of text knows of the line at hand. */
struct text_state {
	struct markup_str line;   /* for complaints; llvm only */
	const char *pending;      /* text from here on is not written yet */
	struct markup_str prefix; /* the log's own, up to the first element */
	bool has_prefix;
	bool after_context;       /* only blanks since a contextual element */
	bool newline_owed;        /* which has to end its line itself */
	uint64_t num_notes;       /* footnotes in f->notes */
};

/* What json_renderer knows. */
struct json_state {
	bool open;       /* the object of the line at hand is */
	size_t elements; /* in it */
	struct markup_str error; /* what is wrong with the element at hand */
};

/* What html_renderer knows. */
struct html_state {
	bool open;               /* the element of the line at hand is */
	bool colored;            /* and a span in it */
	uint64_t number;         /* of that line */
	uint64_t input;          /* number of the input */
	struct markup_str error; /* what is wrong with the element at hand */
};

/* What fuchsia_renderer knows. */
struct fuchsia_state {
	uint32_t *by_base; /* modules, ascending by base */
	bool dirty;        /* and has to be made again */
};

/* An address that was announced: what mk_lookup_address() needs not find again. */
struct announced {
	uint64_t address;
	const struct markup_mmap *map; /* of the context; NULL: none covers it */
	bool remembered; /* by the memo */
	bool worth;      /* to be remembered */
	bool return_address;
	uint8_t hit;     /* its number */
	uint32_t len;    /* of a bt element of the usual form; 0: it is something else */
	uint32_t number; /* of its frame */
};

/* What is known of the bytes up to `upto`. */
struct ahead {
	const char *upto;
	uint64_t line_no;                /* lines before it */
	struct markup_hit hits[MARKUP_AHEAD];
	size_t num_hits, next_hit;
	struct announced addresses[MARKUP_AHEAD];
	uint32_t num, next;
	uint64_t generation;             /* of the context, that they hold for */
	uint32_t kind;                   /* of their text */
};

#define MARKUP_OUT_BUFFER (128u << 10)

struct markup_filter {
	struct markup_options options;
	struct markup_resolver resolver;
	struct markup_sink sink;
	const struct renderer *renderer;
	enum markup_scan_for scan_for;

	const char *input;   /* name, or NULL */
	uint64_t line_no;    /* lines before the one at hand */
	const char *first;   /* the first "{{{" of the line at hand, or NULL: unknown */
	const char *newline; /* "\n" or "\r\n": that of the line at hand */
	char *tail;          /* bytes of a line whose end has not come */
	size_t tail_len, tail_cap;
	struct ahead ahead;
	bool mid_line;       /* pieces of the line at hand were handled */
	int error;           /* sticky */
	bool silent;         /* follow the context; nothing else matters */
	/* What the complaint at hand warns of, once for each module; or NULL. */
	const struct markup_missing *warning_about;

	struct markup_context context; /* of the process at hand */
	struct demux demux;
	uint64_t generations; /* of contexts */
	struct markup_memo memo;
	uint32_t memo_kind;   /* of the address that was looked up last */
	struct missing_table missing;
	struct markup_stats stats;
	struct modline modline;
	struct sgr_state sgr;
	struct text_state text;
	struct fuchsia_state fuchsia;
	struct json_state json;
	struct html_state html;
	bool begun;                  /* the head of the output is written */
	bool inner;                  /* of a pool, which does that */
	struct missing_table seen;   /* all modules; MARKUP_HTML only */
	struct markup_str last_held; /* the line that ends a hexdict, whole */
	struct hexdict hexdict;

	struct markup_out out;
	struct markup_out scratch;   /* text of one address */
	struct markup_out notes;     /* footnotes of the line at hand */
	struct markup_out dumpfiles; /* JSON */
};

/* ---- sgr.c ---------------------------------------------------------------- */

/* Text that may hold SGR codes, which are followed, and written or swallowed. */
void mk_put_text(struct markup_filter *f, const char *p, size_t len);
/* A new line begins: its predecessor's state ends. */
void mk_sgr_line_start(struct markup_filter *f);
/* Colours of a replaced element, of a value inside, and back to the log's. */
void mk_sgr_highlight(struct markup_filter *f, struct markup_out *o);
void mk_sgr_restore(struct markup_filter *f, struct markup_out *o);
/* Colours of a line that is put in besides the log's: to its end; and text at its
 * beginning, whose codes are taken out or left. */
void mk_sgr_end_line(const struct markup_filter *f, struct markup_out *o);
void mk_sgr_put_line(const struct markup_filter *f, struct markup_out *o, const char *p,
		     size_t len);
void mk_put_colored(struct markup_filter *f, struct markup_out *o, const char *p, size_t len);
static inline void mk_put_value(struct markup_filter *f, struct markup_out *o, const char *p,
				size_t len)
{
	if (f->options.color == MARKUP_COLOR_ON)
		mk_put_colored(f, o, p, len);
	else
		mk_out_put(o, p, len);
}
void mk_put_hex_value(struct markup_filter *f, struct markup_out *o, uint64_t v);
/* Tells apart all states that mk_put_value() tells apart. */
unsigned mk_sgr_style(const struct markup_filter *f);

/* Length of the SGR code at p, which points to an ESC; 0: it is none of ours. */
size_t mk_sgr_code(const char *p, const char *end);
/* Applies such a code. */
void mk_sgr_follow(struct sgr_state *s, const char *code);

/* ---- html_page.c ----------------------------------------------------------- */

void mk_html_begin(struct markup_out *o, const char *title);
/* `seen`: all modules; `missing`: those with addresses that found nothing. */
void mk_html_end(struct markup_out *o, const struct missing_table *seen,
		 const struct missing_table *missing, const struct markup_stats *stats);

/* ---- frames.c -------------------------------------------------------------- */

/* "    #N.K  0xADDRESS " of a bt line; inline_number 0: the function itself. */
void mk_put_frame_head(struct markup_filter *f, uint64_t number, size_t inline_number,
		       uint64_t address);
/* "(module+0xrel)" */
void mk_put_place(struct markup_filter *f, struct markup_out *o, uint32_t module, uint64_t vaddr);
/* The newline of the line at hand. */
void mk_put_newline(struct markup_filter *f);

/* ---- modline.c ------------------------------------------------------------ */

/* Closes any open line, with its newline or without. */
void mk_modline_close(struct markup_filter *f, bool newline);
/* Opens a line for a module; `adds`: it was announced before. */
void mk_modline_open(struct markup_filter *f, uint32_t module, bool adds);
void mk_modline_add(struct markup_filter *f, uint32_t map);

/* ---- elements.c ----------------------------------------------------------- */

/* Complains through the renderer, with a printf message. */
void mk_report(struct markup_filter *f, const struct markup_node *n, enum severity severity,
	       const char *at, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Each reads one element and returns false, having complained, if it makes no
 * sense. Those of module and mmap put it into the context. */
bool mk_element_module(struct markup_filter *f, const struct markup_node *n, uint32_t *module);
bool mk_element_mmap(struct markup_filter *f, const struct markup_node *n, uint32_t *map);
bool mk_element_reset(struct markup_filter *f, const struct markup_node *n);
bool mk_element_symbol(struct markup_filter *f, const struct markup_node *n);
bool mk_element_data(struct markup_filter *f, const struct markup_node *n, uint64_t *address);

/* A bt or pc element. */
struct code_element {
	uint64_t number;    /* of the frame; bt only */
	uint64_t address;   /* as it stands in the log */
	uint64_t lookup;    /* one less for return addresses */
	struct markup_str message;
};
bool mk_element_bt(struct markup_filter *f, const struct markup_node *n, struct code_element *ret);
bool mk_element_pc(struct markup_filter *f, const struct markup_node *n, struct code_element *ret);

/* ---- lookup.c ------------------------------------------------------------- */

/* How the frames of an address are made into text. */
struct code_style {
	uint32_t kind; /* unlike all other styles of the same filter */
	bool chain;    /* all frames are one piece */
	/* Writes piece `i`: frame `i`, or all `n` frames if `chain`. */
	void (*render)(struct markup_filter *f, struct markup_out *o,
		       const struct markup_frame *frames, size_t n, size_t i);
};

/* Tells the texts of an address apart that are remembered. */
static inline uint32_t mk_memo_kind(const struct markup_filter *f, const struct code_style *style)
{
	return style->kind << 8 | mk_sgr_style(f);
}

/* The pieces of an address, rendered or not yet. Valid until the next lookup. */
struct code_text {
	size_t n;            /* pieces, at least one; it is empty if nothing is known */
	bool found;
	/* The rest is for mk_code_piece(). */
	const struct code_style *style;
	const struct markup_frame *frames;
	size_t num_frames;
	const uint32_t *ends;
	const char *text;
};

/* Writes piece `i`. */
void mk_code_piece(struct markup_filter *f, struct markup_out *o, const struct code_text *t,
		   size_t i);

/* The resolver's handle of a module, or NULL; warns the first time. */
void *mk_lookup_module(struct markup_filter *f, uint32_t module);

/*
 * The text of the code at an address of the process, and the map that covers it;
 * NULL if none does. Counts what it finds. Addresses that come again are
 * remembered.
 */
const struct markup_mmap *mk_lookup_address(struct markup_filter *f, uint64_t address,
					    const struct code_style *style,
					    struct code_text *ret);

/* The same for an address that was announced, as mk_ahead_frame() gives it. */
const struct markup_mmap *mk_lookup_announced(struct markup_filter *f, const struct announced *e,
					      const struct code_style *style,
					      struct code_text *ret);

/* The text of the code at `vaddr` of a module, which is not remembered. */
void mk_lookup_code(struct markup_filter *f, uint32_t module, uint64_t vaddr,
		    const struct code_style *style, struct code_text *ret);

/* The data symbol at `vaddr` of a module. */
bool mk_lookup_data(struct markup_filter *f, uint32_t module, uint64_t vaddr,
		    struct markup_data *ret);

/* A name as it is to be shown. */
struct markup_str mk_lookup_demangled(struct markup_filter *f, struct markup_str name);

/* ---- ahead.c --------------------------------------------------------------- */

/* A block of lines begins at p; line_no is right there. */
void mk_ahead_start(struct markup_filter *f, const char *p);

/* Scans the next bytes, and announces what is found there. */
void mk_ahead_look(struct markup_filter *f, const char *end);

/* The next byte from p on that f->scan_for wants, or NULL; f->line_no becomes the
 * number of the line that it is in, or of `end`. Each is given once. */
const char *mk_ahead_next(struct markup_filter *f, const char *p, const char *end);

/* What is known of the hit that mk_ahead_next() gave last, if it is a bt element of the
 * usual form; else NULL. `kind`: of the text that is wanted. */
const struct announced *mk_ahead_frame(struct markup_filter *f, uint32_t kind);

/* What is known of the address, in the order in which they come; may be NULL. */
const struct announced *mk_ahead_address(struct markup_filter *f, const struct memo_key *key);

/* ---- filter.c, dumpfile.c -------------------------------------------------- */

/* How a line ends: "\n" or "\r\n". */
const char *mk_newline_of(const char *p, size_t len);

/* Whole lines, but for the last one of an input. */
void mk_filter_lines(struct markup_filter *f, const char *p, const char *end);

/* A complaint, as it is shown. */
void mk_complain_text(struct markup_filter *f, const char *text, size_t len);

/* A complaint of one line: "NAME:LINE: " and a printf message. */
void mk_complain(struct markup_filter *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Writes `s` for a message: what is not mk_printable as '?', cut off if too long. */
struct markup_str mk_printable(struct markup_str s, char buf[], size_t size);

#define DUMPFILES_MAX (64u << 20) /* bytes of JSON */

/* Notes a dumpfile element with the modules and maps known now. */
void mk_dumpfile_note(struct markup_filter *f, struct markup_str type, struct markup_str name);

#endif

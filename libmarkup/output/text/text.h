/*
 * text.h: our dialect as text, from inside:
 *
 *   text.c           lines and contextual elements
 *   text_elements.c  the others; text_hexdict.c, hexdict with its footnotes
 *   text_frames.c    how frames are written; text_forms.c, in the manner of other tools
 *   usual.c          the way for usual frames that goes around all this
 */
#ifndef MARKUP_TEXT_H
#define MARKUP_TEXT_H

#include "libmarkup/output/output.h"

/* Kinds of mk_style. */
enum {
	TEXT_BT = 1, TEXT_PC, TEXT_NOTE, TEXT_SANITIZER, TEXT_PLACES, TEXT_CALLS, TEXT_VALGRIND,
	TEXT_BEHIND, TEXT_BELOW,
};

struct mk_text {
	const char *pending;      /* text from here on is not written yet */
	struct sc_str prefix;     /* the log's own, up to the first element of the line */
	bool after_context;       /* only blanks since a contextual element */
	bool newline_owed;        /* which has to end its line itself */
	struct mk_out notes;      /* footnotes of the line */
	uint64_t num_notes;       /* in it */
	const struct mk_event *event; /* whose frames are being written */
	uint64_t shift;           /* what inlined frames added to the numbers of a trace */
	bool in_trace;            /* the line has a frame of it */
	const char *quote_pos;    /* the line is known up to here: see text_forms.c */
	const char *text_begin;   /* where the text at quote_pos begins */
	bool quoted;              /* it is a string of JSON */
	struct mk_out held;       /* prefix of a hexdict that goes over lines */
};

static inline struct mk_text *mk_text_of(const struct mk_output *r)
{
	return r->state;
}

/* The text of [p, end), a line before its first element, as it is repeated: not at all if
 * it is very long. */
static inline struct sc_str mk_text_prefix(const char *p, const char *end)
{
	if (end - p > 4096)
		return (struct sc_str){ NULL, 0 };
	return sc_span(p, end);
}

/* ---- text_elements.c ---------------------------------------------------------- */

void mk_text_frame(struct mk_output *r, const struct mk_event *e);
void mk_text_pc(struct mk_output *r, const struct mk_event *e);
void mk_text_data(struct mk_output *r, const struct mk_event *e);
void mk_text_dumpfile(struct mk_output *r, const struct mk_event *e);

/* ---- text_forms.c ------------------------------------------------------------- */

/* A frame of a format other than markup; the text before it is written. */
void mk_text_named_frame(struct mk_output *r, const struct mk_line *l, const struct mk_event *e);

/* ---- text_hexdict.c ----------------------------------------------------------- */

/* Bytes of what is below one line; what comes then gets none. */
#define TEXT_NOTES_MAX (1u << 20)

/* The pairs of a whole hexdict, which are in [p, end), with marks; `prefix` stood
 * before it. */
void mk_text_pairs(struct mk_output *r, struct sc_str prefix, const char *p, const char *end);
/* The footnotes of the line that has just been written. */
void mk_text_notes(struct mk_output *r);

/* ---- text_frames.c ------------------------------------------------------------ */

extern const struct mk_style mk_text_bt_style;

/* "FILE:LINE:COL", without what is not known. */
void mk_text_location(struct mk_output *r, struct mk_out *o, struct sc_str file,
		      uint32_t line, uint32_t column);
/* "FUNC FILE:LINE:COL " */
void mk_text_render_frame(struct mk_output *r, struct mk_out *o,
			  const struct sc_frame *frames, size_t n, size_t i);
/* Lines of the source of frame `i`, as lines of their own. */
void mk_text_source(struct mk_output *r, struct mk_out *o, const struct mk_pieces *code, size_t i);
/* "name+0x4" */
void mk_text_data_name(struct mk_output *r, struct mk_out *o, const struct markup_data *data);

/* A line for each frame; the first one goes on where the text ends, the others begin with
 * `prefix`. `map` NULL: there are none. */
void mk_text_put_frames(struct mk_output *r, struct sc_str prefix, uint64_t number,
			uint64_t address, const struct mk_map *map, const struct mk_pieces *text);
/* "0x… is not in any module" without the address. */
extern const char mk_text_outside[];

/* ---- usual.c ------------------------------------------------------------------ */

const char *mk_text_usual(struct mk_output *r, const char *p, const char *hit, const char *end);

#endif

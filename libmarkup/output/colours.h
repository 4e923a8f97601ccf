/*
 * colours.h: the log's own SGR codes, and the highlighting of what we put in.
 */
#ifndef MARKUP_COLOURS_H
#define MARKUP_COLOURS_H

#include "libmarkup/bytes/out.h"

struct mk_output;

/* SGR state of the current line. */
struct mk_sgr {
	signed char color; /* 0 to 7; −1: the default */
	bool bold;
};

static const struct mk_sgr mk_no_colour = { -1, false };

/* Text that may hold SGR codes, which are followed, and written or swallowed. */
void mk_put_text(struct mk_output *r, const char *p, size_t len);
/* A new line begins: its predecessor's state ends. */
void mk_sgr_line_start(struct mk_output *r);
/* Colours of a replaced element, of a value inside, and back to the log's. */
void mk_sgr_highlight(struct mk_output *r, struct mk_out *o);
void mk_sgr_restore(struct mk_output *r, struct mk_out *o);
/* Colours of a line that is put in next to the log's: to its end; and text at its
 * beginning, whose codes are taken out or left. */
void mk_sgr_end_line(const struct mk_output *r, struct mk_out *o);
void mk_sgr_put_line(struct mk_output *r, struct mk_out *o, const char *p, size_t len);
/* A value inside of a highlighted element. */
void mk_put_colored(struct mk_output *r, struct mk_out *o, const char *p, size_t len);
/* A number for each state that mk_put_value() distinguishes. */
unsigned mk_sgr_style(const struct mk_output *r);

/* Length of the SGR code at p, which points to an ESC; 0: it is another sequence. */
size_t mk_sgr_code(const struct mk_output *r, const char *p, const char *end);
/* Applies such a code. */
void mk_sgr_follow(struct mk_sgr *s, const char *code);

#endif

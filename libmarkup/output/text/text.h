/*
 * text.h: our dialect as text, from inside: render_text.c has the lines and the
 * contextual elements, text_elements.c and text_hexdict.c the others.
 */
#ifndef MARKUP_TEXT_H
#define MARKUP_TEXT_H

#include "libmarkup/state.h"

/* Kinds of code_style. */
enum { TEXT_BT = 1, TEXT_PC, TEXT_NOTE };

/* Element `n` makes sense: the text before it goes out, and it is taken. */
void mk_text_begin_element(struct markup_filter *f, const struct markup_node *n);

/* The text of the line at hand before its first element. */
void mk_text_set_prefix(struct markup_filter *f, const char *p, const char *end);

/* See struct renderer. */
const char *mk_text_frame(struct markup_filter *f, const char *p, const char *hit,
			  const char *end);
void mk_text_bt(struct markup_filter *f, const struct markup_node *n);
void mk_text_pc(struct markup_filter *f, const struct markup_node *n);
void mk_text_data(struct markup_filter *f, const struct markup_node *n);
void mk_text_symbol(struct markup_filter *f, const struct markup_node *n);
void mk_text_dumpfile(struct markup_filter *f, const struct markup_node *n);
void mk_text_hexdict(struct markup_filter *f, const struct markup_node *n);

/* "FILE:LINE:COL", without what is not known. */
void mk_text_location(struct markup_filter *f, struct markup_out *o, struct markup_str file,
		      uint32_t line, uint32_t column);
/* "FUNC FILE:LINE:COL " */
void mk_text_render_frame(struct markup_filter *f, struct markup_out *o,
			  const struct markup_frame *frames, size_t n, size_t i);
/* "name+0x4" */
void mk_text_data_name(struct markup_filter *f, struct markup_out *o,
		       const struct markup_data *data);

/* The pairs of a whole hexdict, which are in [p, end), with marks. */
void mk_text_pairs(struct markup_filter *f, const char *p, const char *end);
/* The footnotes of the line that has just been written. */
void mk_text_notes(struct markup_filter *f);

#endif

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
void text_begin_element(struct markup_filter *f, const struct markup_node *n);

void text_bt(struct markup_filter *f, const struct markup_node *n);
void text_pc(struct markup_filter *f, const struct markup_node *n);
void text_data(struct markup_filter *f, const struct markup_node *n);
void text_symbol(struct markup_filter *f, const struct markup_node *n);
void text_dumpfile(struct markup_filter *f, const struct markup_node *n);
void text_hexdict(struct markup_filter *f, const struct markup_node *n);

/* "FILE:LINE:COL", without what is not known. */
void text_location(struct markup_filter *f, struct markup_out *o, struct markup_str file,
		   uint32_t line, uint32_t column);
/* "FUNC FILE:LINE:COL " */
void text_render_frame(struct markup_filter *f, struct markup_out *o,
		       const struct markup_frame *frames, size_t n, size_t i);
/* "name+0x4" */
void text_data_name(struct markup_filter *f, struct markup_out *o,
		    const struct markup_data *data);

/* The pairs of a whole hexdict, which are in [p, end), with marks. */
void text_pairs(struct markup_filter *f, const char *p, const char *end);
/* The footnotes of the line that has just been written. */
void text_notes(struct markup_filter *f);

#endif

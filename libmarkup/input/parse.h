/*
 * parse.h: the parser, for those who need no nodes of text.
 */
#ifndef MARKUP_PARSE_H
#define MARKUP_PARSE_H

#include "libmarkup/markup.h"

/* The next element, or open element; false: only text is left. Not to be mixed
 * with markup_next_node() on one line. */
bool mk_next_element(struct markup_parser *p, struct markup_node *ret);

#endif

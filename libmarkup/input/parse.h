/*
 * parse.h: the parser from inside: elements alone, and what is in their fields.
 */
#ifndef MARKUP_PARSE_H
#define MARKUP_PARSE_H

#include "libmarkup/markup.h"

/* The next element, or open element; false: only text is left. Not to be mixed
 * with markup_next_node() on one line. */
bool mk_next_element(struct markup_parser *p, struct markup_node *ret);

/* What comes behind the address of pc and bt: a type and a message. */
struct mk_pc_type {
	bool return_address;
	struct markup_str message; /* ptr NULL: none */
};

/* Reads the fields of `n` from number `first` (< MARKUP_FIELDS − 1) on; without a
 * type it is `return_address`. */
struct mk_pc_type mk_read_pc_type(const struct markup_node *n, size_t first,
				  bool return_address);

/* ID, NAME and BUILDID of a module element whose name may hold colons: it ends
 * at the last ":elf:". False: it is not of that form. */
bool mk_split_module(const struct markup_node *n, struct markup_str *id,
		     struct markup_str *name, struct markup_str *build_id);

#endif

/* parse.h: the elements of a line of markup, whose texts lie in the line. */
#ifndef MARKUP_PARSE_H
#define MARKUP_PARSE_H

#include "libmarkup/input/input.h"

enum mk_node_kind {
	MK_ELEMENT, /* {{{tag:field:…}}} */
	MK_OPEN,    /* "{{{hexdict:" up to the end of the line, without "}}}" */
};

#define MK_NUM_FIELDS 8

struct mk_node {
	enum mk_node_kind kind;
	struct sc_str text;       /* the whole element, braces included */
	struct sc_str tag;
	struct sc_str rest;       /* all behind the tag's ':'; ptr NULL: no ':' */
	size_t num_fields;        /* all of them */
	struct sc_str fields[MK_NUM_FIELDS];     /* the first ones */
};

/* What counts as an element. */
enum mk_syntax {
	MK_SYNTAX,      /* the tag is of a to z; "{{{" inside an element starts
	                     * over; a hexdict may stay open */
	MK_SYNTAX_LLVM, /* from the first "{{{" to the next "}}}", with any tag
	                     * but an empty one */
	MK_SYNTAX_FUCHSIA, /* as LLVM's, but another "{{{" behind the first starts
	                        * over, and the tag may be empty */
};

struct mk_parser {
	const char *pos, *end;
	const char *hint;        /* the first "{{{", if that is known, or NULL */
	enum mk_syntax syntax;
};

/* Starts on one line; its newline, if any, is part of the text. */
void mk_parse_line(struct mk_parser *p, const char *line, size_t len,
		       enum mk_syntax syntax);

/* The next element, or open element; false: only text is left. Cost: one pass over the line,
 * whatever is in it. */
bool mk_next_element(struct mk_parser *p, struct mk_node *ret);

/* ID, NAME and BUILDID of a module element whose name may hold colons: it ends
 * at the last ":elf:". False: it is not of that form. */
bool mk_split_module(const struct mk_node *n, struct sc_str *id,
		     struct sc_str *name, struct sc_str *build_id);

/* markup_peek.c: of struct mk_input. */
bool mk_markup_peek(const char *p, const char *end, struct mk_peek *ret);

#endif

/*
 * own.h: which code is the program's own, and which the system's: format/pages.md has the table.
 *
 * Code is own if its module and its place are: the module is not where systems keep theirs, the
 * file is not of a system's library or header, and the function is none of those that every
 * process begins, dies or allocates with. Patterns of --own say so instead of all that.
 */
#ifndef MARKUP_OWN_H
#define MARKUP_OWN_H

#include "libmarkup/markup.h"

/* `patterns`: shell patterns of paths ('*' is also '/'), or beginnings of paths; ends with NULL.
 * NULL: none. Empty texts are unknown. */
bool mk_own_module(const char *const *patterns, struct sc_str module);
bool mk_own_place(const char *const *patterns, struct sc_str function, struct sc_str file);

/* Is it, as both say? With patterns one of them is enough. */
static inline bool mk_is_own(const char *const *patterns, bool module, bool place)
{
	return patterns && *patterns ? module || place : module && place;
}

#endif

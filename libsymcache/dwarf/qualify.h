/*
 * Qualified names of functions that have no linkage name: "ns::(anonymous namespace)::Item::total"
 * for `total`, made of the names of the entries around the function's.
 *
 * GCC writes no linkage name for functions that other units do not see: of anonymous namespaces,
 * static ones, of local classes, lambdas, and templates with such an argument. Such entries are
 * noted while the entries of a unit are walked, when those around them are known; what refers to
 * them, from before or behind, is qualified at the end.
 *
 * A scope that is a function with a linkage name begins the qualified name with that:
 * "_ZN2ns4Item5totalEv::<lambda(int)>::operator()".
 *
 * What stays bare: names of C, names that other units see (extern "C"), and names that another
 * unit's entry gives (LTO, dwz).
 */
#ifndef DW_QUALIFY_H
#define DW_QUALIFY_H

#include "libsymcache/dwarf/facts.h"
#include "libsymcache/dwarf/origin.h"

#define DW_QUALIFY_LEVELS 64 /* of scopes; what is deeper stays bare */
#define DW_QUALIFY_BYTES 4096 /* of a qualified name, likewise */

/* Do functions of this language have scopes, written with "::"? DW_LANG_… */
static inline bool dw_has_scopes(uint32_t lang)
{
	switch (lang) {
	case 0x04: /* C++ */
	case 0x11: /* Objective-C++ */
	case 0x19: /* C++03 */
	case 0x1a: /* C++11 */
	case 0x21: /* C++14 */
	case 0x2a: /* C++17 */
	case 0x2b: /* C++20 */
	case 0x3a: /* C++23 */
		return true;
	}
	return false;
}

/* What an entry with children adds to the names in it. */
enum dw_scope_kind {
	DW_SCOPE_NONE,     /* nothing: a block */
	DW_SCOPE_NAMED,    /* its name: a namespace, a type */
	DW_SCOPE_FUNCTION, /* a function's, which may begin elsewhere */
	DW_SCOPE_END,      /* it is the unit */
};
enum dw_scope_kind dw_scope_kind(uint16_t tag);

/* The name of a scope that has none, around an entry of the name `inner`; NULL: it has to have
 * one. GCC does not name the classes of lambdas. */
const char *dw_unnamed_scope(uint16_t tag, const char *inner);

/* Names from the innermost scope outwards, which become one text. */
struct dw_scope_names {
	const char *list[DW_QUALIFY_LEVELS];
	unsigned n;
};
bool dw_scope_names_add(struct dw_scope_names *names, const char *name); /* false: too many */

/* Appends "outer::inner::name" to u->texts; *ret is its offset, 0 without names or if it were
 * too long. `name` may be NULL. False: out of memory. */
bool dw_scope_names_write(const struct dw_scope_names *names, const char *name,
			  struct dw_facts *u, uint32_t *ret);

/* The qualified name of a scope; NULL: it has none. Valid until the facts are filled again. */
static inline const char *dw_qualified(const struct dw_facts *u, const struct dw_scope *s)
{
	return s->qualified ? u->texts.data + s->qualified : NULL;
}

/* ---- the fast reader's ------------------------------------------------------------------ */

/* An open level of the walk. */
struct dw_level {
	uint32_t scope; /* innermost scope, for entries.c */
	uint32_t entry; /* that has the level as its children: offset in the unit */
};

struct dw_noted {
	uint32_t entry;     /* offset in the unit */
	uint32_t scopes;    /* text; 0: none */
	uint32_t qualified; /* text, once it is asked for; 0: not yet */
};

struct dw_to_qualify {
	uint32_t scope; /* of the facts */
	uint32_t entry; /* that gave its name */
};

/* Of one unit; all zero: of none. */
struct dw_qualifier {
	struct dw_origin_memo *origins;
	const struct dw_unit *u;
	struct dw_facts *facts;     /* of the unit: texts go there */
	VEC(struct dw_noted) noted; /* ascending by entry */
	VEC(struct dw_to_qualify) wanted;
	uint32_t last_parent, last_scopes; /* of the entry noted last; 0: none */
	uint64_t most_texts; /* bytes; many entries may refer to one long name */
};

/* For unit `u`, which is read into `facts` next. */
void dw_qualifier_begin(struct dw_qualifier *q, struct dw_origin_memo *origins,
			const struct dw_unit *u, struct dw_facts *facts);
void dw_qualifier_deinit(struct dw_qualifier *q);

/* Notes the entry at `entry`, which is .local (abbrev.h); levels[0, depth) are open. False: out
 * of memory. */
bool dw_qualifier_note(struct dw_qualifier *q, const struct dw_level *levels, size_t depth,
		       uint32_t entry);

/* Scope number `scope` is named by this origin. False: out of memory. */
bool dw_qualifier_want(struct dw_qualifier *q, const struct dw_origin *origin, uint32_t scope);

/* Qualifies what was wanted. False: out of memory. */
bool dw_qualifier_finish(struct dw_qualifier *q);

#endif

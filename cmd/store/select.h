/*
 * select.h: options that choose among the entries of a store, for all commands
 * that have to do with some of them.
 *
 *   static struct selection sel = SELECTION_ALL;
 *   static const struct opt opts[] = { OPTS_SELECTION(&sel) { 0 } };
 *
 * An entry is chosen if all of the options given hold for it; of several tags,
 * one is enough.
 */
#ifndef CMD_SELECT_H
#define CMD_SELECT_H

#include <time.h>

#include "cmd/cli/opt.h"
#include "libsymcache/store/upkeep.h"

struct selection {
	struct opt_list tags;
	struct opt_age older, newer;
	struct symstore_selection by;
};

#define SELECTION_ALL { .by = { SYMSTORE_ANY } }

#define OPTS_SELECTION(s) \
	{ "tag", 0, OPT_LIST, &(s)->tags, "TAG", \
	  "entries with this tag, or a tag with this key; may be repeated: any of them" }, \
	{ "name", 0, OPT_STRING, &(s)->by.name, "PATTERN", \
	  "entries of files whose name matches this shell pattern, or the whole path if it has a '/'" }, \
	{ "kind", 0, OPT_ENUM, &(s)->by.kind, "KIND", \
	  "entries with symbols of this kind: dwarf, gopclntab (Go's), symtab, names (names only), minidebuginfo or dynsym", \
	  .choices = symstore_kinds }, \
	{ "older", 0, OPT_AGE, &(s)->older, "AGE", \
	  "entries indexed longer ago than this: 90d, 12h, 4w (m: minutes, y: years)" }, \
	{ "newer", 0, OPT_AGE, &(s)->newer, "AGE", "entries indexed more recently than this" }, \
	{ "larger", 0, OPT_SIZE, &(s)->by.larger, "SIZE", \
	  "entries whose cache is larger than this: 500, 64K, 10M, 2G" }, \
	{ "smaller", 0, OPT_SIZE, &(s)->by.smaller, "SIZE", "entries whose cache is smaller than this" }

/* What symstore_selected() wants, of the options. */
static inline const struct symstore_selection *selection_of(struct selection *s)
{
	const int64_t now = time(NULL);

	s->by.tags = s->tags.items;
	s->by.before = s->older.given ? now - s->older.seconds : INT64_MAX;
	s->by.after = s->newer.given ? now - s->newer.seconds : INT64_MIN;
	return &s->by;
}

static inline bool selection_given(const struct selection *s)
{
	return s->tags.items || s->by.name || s->by.kind >= 0 || s->older.given || s->newer.given ||
	       s->by.larger || s->by.smaller != UINT64_MAX;
}

/* The row of --pin. */
#define OPT_PIN(where) \
	{ "pin", 0, OPT_FLAG, (where), NULL, \
	  "pin the entries (the tag '" SYMSTORE_PINNED "'): nothing replaces them until they are " \
	  "removed" }

#endif

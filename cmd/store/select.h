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

#include "cmd/cli/opt.h"
#include "cmd/store/entry.h"

struct selection {
	struct opt_list tags;
	const char *name;
	int kind;                  /* index into symstore_kinds, -1: any */
	const char *older, *newer, *larger, *smaller;

	/* What selection_init() makes of them. */
	int64_t before, after;     /* seconds since 1970 */
	uint64_t least, most;      /* bytes */
};

#define SELECTION_ALL { .kind = -1 }

#define OPTS_SELECTION(s) \
	{ "tag", 0, OPT_LIST, &(s)->tags, "TAG", \
	  "those with this tag, or with this key of tags; may be repeated: one of them" }, \
	{ "name", 0, OPT_STRING, &(s)->name, "PATTERN", \
	  "those of files whose name matches the shell pattern; the whole path if it has a '/'" }, \
	{ "kind", 0, OPT_ENUM, &(s)->kind, "KIND", \
	  "those with symbols of this kind: dwarf, symtab, minidebuginfo or dynsym", \
	  .choices = symstore_kinds }, \
	{ "older", 0, OPT_STRING, &(s)->older, "AGE", \
	  "those indexed longer ago than this: 90d, 12h, 4w (m: minutes, y: years)" }, \
	{ "newer", 0, OPT_STRING, &(s)->newer, "AGE", "those indexed since then" }, \
	{ "larger", 0, OPT_STRING, &(s)->larger, "SIZE", \
	  "those with a cache above this: 500, 64K, 10M, 2G" }, \
	{ "smaller", 0, OPT_STRING, &(s)->smaller, "SIZE", "those with a cache below this" }

/* Reads the values of the options. SC_EINVAL: the message says what is wrong. */
int selection_init(struct selection *s, struct sc_error *err);

bool selection_has(const struct selection *s, const struct symstore_entry *entry);

/* Does the shell pattern fit the file name of `path`, or all of it if it has a '/'? */
bool name_matches(const char *pattern, const char *path);

/* "90d" → seconds; a number alone is days. SC_EINVAL. */
int parse_age(const char *text, int64_t *ret, struct sc_error *err);

/* "64K" → bytes. SC_EINVAL. */
int parse_size(const char *text, uint64_t *ret, struct sc_error *err);

/* The row of --pin. */
#define OPT_PIN(where) \
	{ "pin", 0, OPT_FLAG, (where), NULL, \
	  "pin the entries (the tag '" SYMSTORE_PINNED "'): nothing takes their place until they are " \
	  "removed" }

/* Tags from the command line as one string, on the heap; NULL: none. SC_EINVAL. */
int parse_tags(const struct opt_list *list, bool pin, char **ret, struct sc_error *err);

#endif

/* store.h: where the store is, and how it is opened. */
#ifndef CMD_STORE_H
#define CMD_STORE_H

#include "libsymcache/base/build_id.h"
#include "libsymcache/store/store.h"

/* The row of the --store option. */
#define OPT_STORE(where) \
	{ "store", 0, OPT_STRING, (where), "FILE", \
	  "the store (default: $SYMCACHE_STORE, else symcache/symcache.store under " \
	  "$XDG_CACHE_HOME or ~/.cache)" }

/* The rows of commands that only read it. */
#define OPTS_STORE_READ(where) \
	OPT_STORE(where), \
	{ "frozen", 0, OPT_FLAG, &store_frozen, NULL, \
	  "read the store without a lock file and without recording its use, for read-only and " \
	  "network file systems; no process may write to it meanwhile (also: SYMCACHE_FROZEN=1)" }

/* No process changes the store: --frozen, or what implies it. */
extern bool store_frozen;

/* Where sources are, and how many lines of them are shown. */
#define OPTS_SOURCE(lines, maps, folders) \
	OPT_SECTION("Sources"), \
	{ "source", 0, OPT_NUMBER, (lines), "N", \
	  "show N source lines (3 without N) around each place, if the file is found; " \
	  "it must have the suffix of a source file, or be in a folder of --map-path or " \
	  "--source-directory, because debug information can name any file", \
	  .implied = "3" }, \
	{ "map-path", 0, OPT_LIST, (maps), "FROM=TO", \
	  "look for sources of the folder FROM in TO; may be repeated, the first match " \
	  "counts" }, \
	{ "source-directory", 0, OPT_LIST, (folders), "DIR", \
	  "also look in this folder for sources, by the ends of their paths; may be repeated" }

/* The row of --debug-file-directory. */
#define OPT_DEBUG_DIRS(where) \
	{ "debug-file-directory", 0, OPT_LIST, (where), "DIR", \
	  "look here for .build-id/xx/rest.debug of ELF files; may be repeated " \
	  "(default: /usr/lib/debug)" }

/* The same of commands that index what they find there. */
#define OPT_DEBUG_DIRS_OF_LACKING(where) \
	{ "debug-file-directory", 0, OPT_LIST, (where), "DIR", \
	  "look here for .build-id/xx/rest.debug of what the store lacks; it is indexed on first " \
	  "use; may be repeated (default: /usr/lib/debug)" }

/* The path of the store, on the heap: `option` if not NULL, else symstore_default_path(). */
int store_path(const char *option, char **ret, struct sc_error *err);

/* SC_ENOTFOUND, with a message that says how to get a store. */
int no_store_at(const char *path, struct sc_error *err);

/* Opens the store that store_path() names. SC_ENOTFOUND: no_store_at(). One that is frozen is
 * read as such; SC_EINVAL: it was to be written. */
int open_store(const char *option, enum symstore_mode mode, struct symstore **ret,
	       struct sc_error *err);

/* A store that is being read; all zero: none. */
struct snapshot {
	struct symstore *store;
	struct symstore_reader *reader;
};
#define SNAPSHOT struct snapshot __attribute__((cleanup(close_snapshot)))

/* As open_store(), and begins to read. What is open after an error is to be closed, too. */
int open_snapshot(const char *option, enum symstore_mode mode, struct snapshot *ret,
		  struct sc_error *err);
void close_snapshot(struct snapshot *s);
void close_store(struct symstore **store); /* for __attribute__((cleanup)) */

/* Opens it for writing; it is made if it is not there, with the directories above it. */
int make_store(const char *option, struct symstore **ret, struct sc_error *err);

/* True, with the same message printed: the store that is named, by the option or by
 * $SYMCACHE_STORE, is not there. The default one need not be. */
bool named_store_missing(const char *option);

/* The build ID, as text, of the one entry of that store with this file name. Exit status,
 * with a message if it is not 0. */
int find_named(const char *option, const char *name, char id_text[SYMCACHE_BUILD_ID_TEXT]);

/* symstore_identity() of the store that store_path() names. */
int store_identity(const char *option, char ret[SC_HASH_TEXT], struct sc_error *err);

#endif

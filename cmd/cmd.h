/*
 * cmd.h: the subcommands, and what they share.
 *
 * To add a subcommand: a file cmd/NAME.c that defines NAME_command, and the
 * line X(NAME) here.
 *
 * Exit status: 0 fine, 1 something was not found or only partly done, 2 error.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/cli/opt.h"
#include "format/symcache_format.h"
#include "symcache/build_id.h"
#include "symcache/symcache.h"
#include "symcache/store.h"

/* In the order of --help. */
#define FOR_EACH_COMMAND(X) \
	X(index) \
	X(build) \
	X(lookup) \
	X(filter) \
	X(trace) \
	X(list) \
	X(show) \
	X(verify) \
	X(stats) \
	X(remove) \
	X(prune) \
	X(compact) \
	X(export) \
	X(import)

#define DECLARE_COMMAND(name) extern const struct command name##_command;
FOR_EACH_COMMAND(DECLARE_COMMAND)
#undef DECLARE_COMMAND

enum {
	STATUS_OK = 0,
	STATUS_PARTLY = 1,
	STATUS_ERROR = 2,
};

/* ---- messages: "symcache COMMAND: …" on standard error ------------------- */

/* The name that stands in front of messages; set by main(). */
extern const char *cmd_name;

void cmd_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cmd_verror(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Flushes standard output. A failed write (full disk) is told and ends the
 * program with status 2. main() calls it at the end. */
void out_flush(void);

/* `message` without "PATH: " in front, where it begins so. */
const char *without_path(const char *message, const char *path);

struct symcache_build_info;
/* Tells what of the file is not in its cache: broken units, what lies too far. */
void warn_of_gaps(const char *path, const struct symcache_build_info *info);

/* ---- memory: out of it is told and ends the program with status 2 -------- */

void *must_calloc(size_t n, size_t size);
void *must_realloc(void *p, size_t size);
/* Room for one more behind array[0, len): the array, maybe at another place. */
void *must_grow(void *array, size_t len, size_t *cap, size_t size);
char *must_asprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- numbers ------------------------------------------------------------- */

/* Writes `value` in base 10 or 16 right before `end`, without a NUL; returns where
 * it begins, 20 bytes before at most. For inner loops. */
char *format_number(char *end, uint64_t value, unsigned base);

/* ---- build IDs ----------------------------------------------------------- */

#define parse_build_id symcache_build_id_parse
#define format_build_id symcache_build_id_text

/* ---- where the store is --------------------------------------------------- */

/* The row of the --store option. */
#define OPT_STORE(where) \
	{ "store", 0, OPT_STRING, (where), "FILE", \
	  "the store (default: $SYMCACHE_STORE, else symcache/symcache.store under " \
	  "$XDG_CACHE_HOME or ~/.cache)" }

/* The row of --debug-file-directory. */
#define OPT_DEBUG_DIRS(where) \
	{ "debug-file-directory", 0, OPT_LIST, (where), "DIR", \
	  "for ELF files: where .build-id/xx/rest.debug is looked for; may be repeated " \
	  "(default: /usr/lib/debug)" }

/*
 * The path of the store, on the heap: `option` if not NULL, else
 * $SYMCACHE_STORE, else $XDG_CACHE_HOME/symcache/symcache.store, else
 * ~/.cache/symcache/symcache.store. SC_EINVAL: there is no home.
 */
int store_path(const char *option, char **ret, struct sc_error *err);

/* Writes `size` bytes to the file at `path` ("-": standard output), which is either
 * replaced as a whole or stays as it was. SC_ESYS, SC_EFULL. */
int replace_file(const char *path, const void *bytes, size_t size, struct sc_error *err);

/* Makes the directories above `path` that are missing; `path` is written to, and
 * restored. SC_ESYS, SC_EFULL. */
int make_parents(char *path, struct sc_error *err);

/*
 * Opens the store that store_path() names; for writing, the directories above
 * it are made. The message of SC_ENOTFOUND says how to get one.
 */
int open_store(const char *option, enum symstore_mode mode, struct symstore **ret,
	       struct sc_error *err);

/*
 * The one build ID in the store that begins with the hex digits of `text`.
 * SC_EINVAL: no hex digits, or several build IDs begin so (the message has the
 * first two); SC_ENOTFOUND: none does.
 */
int find_build_id(struct symstore_reader *reader, const char *text,
		  uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);

/* ---- SymCache files ------------------------------------------------------- */

/* A SymCache file, mapped. All zero: none. */
struct cache_file {
	void *bytes;             /* NULL: the file is empty */
	size_t size;
	struct symcache cache;
};

/* Maps and opens it. SC_ESYS, SC_EINVAL: not a regular file; SC_EFORMAT. The
 * message begins with the path. */
int cache_file_open(const char *path, struct cache_file *ret, struct sc_error *err);
void cache_file_close(struct cache_file *file);

/* ---- progress ------------------------------------------------------------
 * One line on standard error, redrawn ten times a second at most; nothing at
 * all where that is no terminal. Not for several threads at once. */

struct progress {
	bool shown;         /* a terminal, and not quiet */
	bool drawn;         /* there is a line to erase */
	const char *verb;   /* "indexing" */
	uint64_t next_draw; /* monotonic milliseconds */
};

void progress_init(struct progress *p, const char *verb, bool quiet);
/* `done` of `total` (0: not known yet) items; `item` is the one at hand or NULL. */
void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *item);
/* Erases the line: call it before other output, and at the end. */
void progress_erase(struct progress *p);

#endif

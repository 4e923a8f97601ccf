/*
 * session.h: a dialogue: lines in, answers out, as lookup, symbolizer and addr2line hold it.
 *
 * Someone may wait for an answer before they go on: so before more input is waited for, what
 * is known is out, and nothing of the store is held. Of input that is there already, large
 * pieces are answered at once, on several threads, in order.
 */
#ifndef CMD_SESSION_H
#define CMD_SESSION_H

#include "cmd/cli/caches.h"
#include "cmd/lookup/answer.h"

struct session {
	struct answer_options options;
	enum query_numbers numbers;
	enum module_kind kind;          /* the command line's module, or MODULE_NONE */
	const char *name;
	/* Set by session_begin(). */
	struct cmd_caches caches;
	struct symcache_names *names;
	struct symcache_module *module; /* the command line's */
	char *shown;
	struct worker *workers;
	unsigned num_workers;
};

/* `options`, `numbers`, `kind` and `name` are set; all else zero. Out of memory ends the
 * program. */
void session_begin(struct session *s, const char *store, struct symcache_caches_options from,
		   const struct symcache_names_options *names);

/* Whether the command line's module has a cache; *reported as of symcache_module_cache(). */
int session_open(struct session *s, bool *reported, struct sc_error *err);

/* Answers the lines that the operands make, or if there are none, those of standard input.
 * True: something was not found, or not understood. */
bool session_run(struct session *s, char **operands, size_t n);

/* Answers one line by itself, as from standard input. */
void session_answer(struct session *s, char *line);

/* Under others' names: is what is indexed on the way to be stored ($SYMCACHE_INDEX_ON_MISS)? */
bool session_stores(void);

void session_end(struct session *s); /* all zero is fine */

#endif

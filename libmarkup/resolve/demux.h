/*
 * demux.h: several processes in one log, each with modules and maps of its own,
 * distinguished by what stands in front of the markup:
 *
 *   [00169.291005][1234][5678][tags] …      Fuchsia: process 1234
 *   [00012.345] 1234.5678> …                the same, from the kernel's log
 *   Nov 21 10:00:00 host name[1234]: …      syslog, journal
 *
 * or by a regular expression. Lines without such share one context.
 *
 * Contexts are made by contextual lines alone. When they become too many, the
 * one that was announced longest ago is forgotten; what is forgotten therefore
 * depends on the contextual lines alone, too.
 */
#ifndef MARKUP_DEMUX_H
#define MARKUP_DEMUX_H

#include <regex.h>

#include "libmarkup/resolve/context.h"
#include "libsymcache/base/vec.h"

#define DEMUX_KEY_MAX 64u           /* a longer key counts as its beginning */
#define DEMUX_MAX 1024u             /* processes */
#define DEMUX_BYTES_MAX (256u << 20) /* of their contexts, about */

struct mk_process {
	char key[DEMUX_KEY_MAX];
	size_t key_len;
	uint64_t announced; /* number of its last contextual line */
	size_t bytes;       /* about, when it was last current */
	struct mk_context context;
};

struct mk_demux {
	bool on, has_regex;
	regex_t regex;
	VEC(struct mk_process *) processes; /* in no order */
	struct mk_process *current;    /* whose context is current; NULL: one that
	                             * is shared or, for an unknown process, empty */
	bool shared;                /* it is the shared one */
	struct mk_context other;/* the one of these two that is not current */
	uint64_t lines;             /* contextual ones so far */
	void (*leaving)(void *ctx); /* called before the context becomes another one */
	void *ctx;
	size_t bytes;               /* sum over the processes */
};

struct mk_resolve;

/* `how`: "" for the forms above, else a POSIX extended regular expression whose
 * first group, or all of it, is the key. Returns 0, -EINVAL or -ENOMEM. */
int mk_demux_init(struct mk_resolve *r, const char *how);
void mk_demux_deinit(struct mk_resolve *r);

/* Gives the look-up the context of a line whose first element is at `markup`;
 * `announces`: it may change it. */
void mk_demux_switch(struct mk_resolve *r, const char *line, const char *markup, bool announces);

/* Puts the current context back where it belongs; the shared one becomes current. */
void mk_demux_hold(struct mk_resolve *r);

/* A new process with an empty context; nothing is forgotten for it. NULL: no memory. */
struct mk_process *mk_demux_add(struct mk_resolve *r, struct sc_str key);

/* Forgets all processes. */
void mk_demux_reset(struct mk_resolve *r);

/* Gives `to` copies of the contexts of `from`. False: no memory. */
bool mk_demux_copy(struct mk_resolve *to, struct mk_resolve *from);

/* Calls `fn` for each context there is. */
void mk_demux_each(struct mk_resolve *r, void (*fn)(struct mk_context *c));

/* The key in the text before the markup, by the forms above; len 0: none. */
struct sc_str mk_demux_key(const char *p, const char *end);

#define DEMUX_REGEX_MAX 1024u /* bytes before the markup that a regular expression sees */

/* The same, by the regular expression if there is one: it may be in `buf`. */
struct sc_str mk_demux_key_of(const struct mk_demux *d, const char *p, const char *end,
			      char buf[DEMUX_REGEX_MAX]);

#endif

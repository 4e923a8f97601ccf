/*
 * messages.h: messages on standard error, each with the command's name in front, and
 * exit statuses.
 */
#ifndef CMD_MESSAGES_H
#define CMD_MESSAGES_H

#include <stdarg.h>

enum {
	STATUS_OK = 0,
	STATUS_PARTLY = 1, /* something was not found, or only partly done */
	STATUS_ERROR = 2,
	STATUS_AGAIN = 75, /* of tasks: not now or not here; EX_TEMPFAIL of sysexits.h */
};

/* The name that stands in front of messages, "symcache COMMAND"; set by main(). */
extern const char *cmd_name;

/* A line; control characters in it are escaped. */
void cmd_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void cmd_complain(void *ctx, const char *message); /* the same, for libraries; ctx is not used */
void cmd_verror(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

/* Says what is absent; STATUS_PARTLY. */
struct sc_error;
int cmd_absent(const struct sc_error *err);

struct symcache_build_info;
/* Says what of the file at `path` is not in its cache: broken units, what lies too far. */
void warn_of_gaps(const char *path, const struct symcache_build_info *info);

#endif

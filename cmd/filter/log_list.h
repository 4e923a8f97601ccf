/*
 * log_list.h: the logs of an archive, and where their outputs go.
 */
#ifndef CMD_LOG_LIST_H
#define CMD_LOG_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmarkup/markup.h"

/* The logs in files and folders, in order of their names. */
struct log_list {
	struct log_file {
		char *path;
		const char *rest; /* of the path: what its output's keeps */
		uint64_t size;    /* bytes */
		int64_t mtime;    /* nanoseconds since 1970 */
	} *logs;
	size_t num, cap;
	const char *except; /* a folder whose files are no logs, or NULL */
	bool failed;      /* something could not be read: that was reported */
};

/* A file, or the files below a folder but for links. `alone`: no other is added, so that
 * names need not keep their folders. */
void log_list_add(struct log_list *l, const char *path, bool alone);
void log_list_deinit(struct log_list *l);

/* The path of the output of a log below `dir` (NULL: relative to it), on the heap. */
char *log_output(const struct log_file *log, const char *dir, enum markup_format format);

/* No two logs may go into one file: of those that would all but the first one's paths become
 * NULL, with a message. Returns how many. */
size_t log_outputs_check(const struct log_list *l, char **outputs);

bool same_file(const char *a, const char *b);

#endif

/* group_pages.h: filter --group --format html -o DIR: the page of groups next to those of the
 * logs. */
#ifndef CMD_GROUP_PAGES_H
#define CMD_GROUP_PAGES_H

#include "libmarkup/markup.h"
#include "libsymcache/base/file.h"
#include "libsymcache/logs/logs.h"

struct group_pages {
	struct markup_page *pages; /* of the logs that have one */
	struct sc_new_file file;   /* DIR/groups.html */
};

/* Finds the pages that symlog_batch() writes into `dir`, and opens the file. SC_EINVAL: a log's
 * page would be this file; else as sc_new_file_below(). */
int group_pages_open(struct group_pages *g, struct symlog_list *logs, const char *dir,
		     enum markup_format format, struct sc_error *err);
/* The file gets its name, unless `status` is an error or STATUS_ERROR. Returns `status`, or
 * STATUS_ERROR after a message. */
int group_pages_close(struct group_pages *g, int status);

#endif

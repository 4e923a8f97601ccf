/* See group_pages.h. */
#include "cmd/filter/group_pages.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cmd.h"
#include "libsymcache/base/cleanup.h"

#define NAME "groups.html"

/* What is left out was reported by symlog_batch(). */
static void silent(void *ctx, const char *message)
{
	(void)ctx, (void)message;
}

static int find_pages(struct group_pages *g, struct symlog_list *logs, const char *dir,
		      enum markup_format format, struct sc_error *err)
{
	void (*const fault)(void *ctx, const char *message) = logs->fault;
	size_t left_out, n = 0;
	char **outputs;
	int rc;

	logs->fault = silent;
	rc = symlog_outputs(logs, dir, format, &outputs, &left_out, err);
	logs->fault = fault;
	if (rc)
		return rc;
	g->pages = calloc(logs->num + 1, sizeof(*g->pages));
	for (size_t i = 0; g->pages && i < logs->num; i++) {
		if (!outputs[i])
			continue;
		g->pages[n].input = logs->logs[i].path;
		g->pages[n].url = outputs[i] + strlen(dir) + 1;
		if (!strcmp(g->pages[n++].url, NAME))
			rc = sc_error_set(err, SC_EINVAL, "%s: its page would overwrite that of the groups, %s",
					  logs->logs[i].path, outputs[i]);
	}
	free(outputs);
	return g->pages ? rc : sc_no_memory(err);
}

int group_pages_open(struct group_pages *g, struct symlog_list *logs, const char *dir,
		     enum markup_format format, struct sc_error *err)
{
	char *path __attribute__((cleanup(sc_free_text))) = must_asprintf("%s/" NAME, dir);
	int rc;

	*g = (struct group_pages){ .file = { .fd = -1 } };
	rc = find_pages(g, logs, dir, format, err);
	if (!rc)
		rc = sc_new_file_below(path, strlen(dir), &g->file, err);
	if (rc)
		free(g->pages);
	return rc;
}

int group_pages_close(struct group_pages *g, int status)
{
	struct sc_error err;

	free(g->pages);
	if (status < 0 || status == STATUS_ERROR) {
		sc_new_file_discard(&g->file);
	} else if (sc_new_file_commit(&g->file, &err)) {
		cmd_error("%s", err.msg);
		return STATUS_ERROR;
	}
	return status;
}

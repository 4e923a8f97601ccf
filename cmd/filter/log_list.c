/* The logs of an archive, and where their outputs go: see log_list.h. */
#include "cmd/filter/log_list.h"

#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/filter/log_input.h"

bool same_file(const char *a, const char *b)
{
	struct stat x, y;
	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- which logs ---------------------------------------------------------------- */

static void add_log(struct log_list *l, const char *path, size_t skip, const struct stat *st)
{
	if (l->num == l->cap) {
		l->cap = 2 * l->cap + 16;
		l->logs = must_realloc(l->logs, l->cap * sizeof(*l->logs));
	}
	struct log_file *log = &l->logs[l->num++];

	*log = (struct log_file){
		.path = must_asprintf("%s", path), .size = (uint64_t)st->st_size,
		.mtime = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
	};
	log->rest = log->path + skip;
}

/* Where the part of a path begins that its output keeps. */
static size_t kept_from(const char *path)
{
	size_t from = 0;

	for (const char *at = path; *at; at += *at == '/') {
		const size_t len = strcspn(at, "/");

		if (!len || (len == 1 && *at == '.') || (len == 2 && !memcmp(at, "..", 2)))
			from = (size_t)(at - path) + len + (at[len] == '/');
		at += len;
	}
	return from;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void add_folder(struct log_list *l, const char *path, bool alone)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	const FTSENT *e;
	uint64_t links = 0;

	while (fts && (e = fts_read(fts))) {
		switch (e->fts_info) {
		case FTS_D:
			if (l->except && same_file(e->fts_path, l->except))
				fts_set(fts, (FTSENT *)e, FTS_SKIP);
			break;
		case FTS_F: {
			size_t skip = alone ? strlen(path) : kept_from(e->fts_path);

			while (e->fts_path[skip] == '/')
				skip++;
			add_log(l, e->fts_path, skip, e->fts_statp);
			break;
		}
		case FTS_SL:
		case FTS_SLNONE:
			links++;
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			cmd_error("%s: %s", e->fts_path, strerror(e->fts_errno));
			l->failed = true;
		}
	}
	if (links)
		cmd_error("%s: %" PRIu64 " symbolic link%s left out", path, links,
			  links == 1 ? "" : "s");
	if (fts)
		fts_close(fts);
}

void log_list_add(struct log_list *l, const char *path, bool alone)
{
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st))
		st = (struct stat){ 0 };
	if (S_ISDIR(st.st_mode))
		add_folder(l, path, alone);
	else
		add_log(l, path, !alone ? kept_from(path) :
			slash ? (size_t)(slash + 1 - path) : 0, &st);
}

void log_list_deinit(struct log_list *l)
{
	for (size_t i = 0; i < l->num; i++)
		free(l->logs[i].path);
	free(l->logs);
}

/* ---- where to --------------------------------------------------------------------- */

char *log_output(const struct log_file *log, const char *dir, enum markup_format format)
{
	return must_asprintf("%s%s%.*s%s", dir ? dir : "", dir ? "/" : "",
			     (int)(strlen(log->rest) - packed_suffix(log->rest)), log->rest,
			     markup_format_suffixes[format]);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(**(char **const *)a, **(char **const *)b);
}

size_t log_outputs_check(const struct log_list *l, char **outputs)
{
	const size_t num = l->num;
	char ***sorted = must_calloc(num + 1, sizeof(*sorted));
	size_t left_out = 0;

	for (size_t i = 0; i < num; i++)
		sorted[i] = &outputs[i];
	if (num)
		qsort(sorted, num, sizeof(*sorted), by_text);
	for (size_t i = 1; i < num; i++) {
		if (strcmp(*sorted[i - 1], *sorted[i]))
			continue;
		/* The one that is left keeps its place in the comparison. */
		size_t first = (size_t)(sorted[i - 1] - outputs);
		size_t second = (size_t)(sorted[i] - outputs);
		size_t out = first > second ? first : second;
		cmd_error("%s and %s would both become %s: the second is left out",
			  l->logs[first + second - out].path, l->logs[out].path,
			  outputs[out]);
		sorted[i] = &outputs[first + second - out];
		free(outputs[out]);
		outputs[out] = NULL;
		left_out++;
	}
	free(sorted);
	return left_out;
}

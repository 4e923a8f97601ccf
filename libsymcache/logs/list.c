/* The logs of an archive, and where their outputs go: see symcache/logs.h. */
#include <fts.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libsymcache/base/text.h"
#include "symcache/logs.h"

static void report(const struct symlog_list *l, char *text)
{
	if (l->fault)
		l->fault(l->ctx, text ? text : "out of memory");
	free(text);
}

bool symlog_same_file(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* ---- which logs ---------------------------------------------------------------- */

/* False: out of memory. */
static bool add_log(struct symlog_list *l, const char *path, size_t skip, const struct stat *st)
{
	char *copy = sc_text("%s", path);

	if (copy && l->num == l->cap) {
		const size_t cap = 2 * l->cap + 16;
		struct symlog_file *more = realloc(l->logs, cap * sizeof(*more));

		l->logs = more ? more : l->logs;
		l->cap = more ? cap : l->cap;
	}
	if (!copy || l->num == l->cap) {
		free(copy);
		return false;
	}
	l->logs[l->num++] = (struct symlog_file){
		.path = copy, .rest = copy + skip, .size = (uint64_t)st->st_size,
		.mtime = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec,
	};
	return true;
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

static bool add_folder(struct symlog_list *l, const char *path, bool alone)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	const FTSENT *e;
	uint64_t links = 0;
	bool added = fts;

	while (added && (e = fts_read(fts))) {
		switch (e->fts_info) {
		case FTS_D:
			if (l->except && symlog_same_file(e->fts_path, l->except))
				fts_set(fts, (FTSENT *)e, FTS_SKIP);
			break;
		case FTS_F: {
			size_t skip = alone ? strlen(path) : kept_from(e->fts_path);

			while (e->fts_path[skip] == '/')
				skip++;
			added = add_log(l, e->fts_path, skip, e->fts_statp);
			break;
		}
		case FTS_SL:
		case FTS_SLNONE:
			links++;
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			report(l, sc_text("%s: %s", e->fts_path, strerror(e->fts_errno)));
			l->failed = true;
		}
	}
	if (links)
		report(l, sc_text("%s: %" PRIu64 " symbolic link%s left out", path, links,
				  links == 1 ? "" : "s"));
	if (fts)
		fts_close(fts);
	return added;
}

int symlog_list_add(struct symlog_list *l, const char *path, bool alone, struct sc_error *err)
{
	bool added;
	const char *slash = strrchr(path, '/');
	struct stat st;

	if (!strcmp(path, "-") || stat(path, &st))
		st = (struct stat){ 0 };
	if (S_ISDIR(st.st_mode))
		added = add_folder(l, path, alone);
	else
		added = add_log(l, path, !alone ? kept_from(path) :
				slash ? (size_t)(slash + 1 - path) : 0, &st);
	return added ? 0 : sc_error_set(err, SC_ENOMEM, "out of memory");
}

void symlog_list_deinit(struct symlog_list *l)
{
	for (size_t i = 0; i < l->num; i++)
		free(l->logs[i].path);
	free(l->logs);
}

/* ---- where to --------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(**(char **const *)a, **(char **const *)b);
}

/* Of those that are equal the first one alone stays: `sorted` has room for all of them. */
static size_t leave_out(const struct symlog_list *l, char **outputs, char ***sorted)
{
	size_t left_out = 0;

	for (size_t i = 0; i < l->num; i++)
		sorted[i] = &outputs[i];
	qsort(sorted, l->num, sizeof(*sorted), by_text);
	for (size_t i = 1; i < l->num; i++) {
		size_t first = (size_t)(sorted[i - 1] - outputs), second = (size_t)(sorted[i] - outputs);
		const size_t out = first > second ? first : second;

		if (strcmp(*sorted[i - 1], *sorted[i]))
			continue;
		/* The one that is left keeps its place in the comparison. */
		first += second - out;
		report(l, sc_text("%s and %s would both become %s: the second is left out",
				  l->logs[first].path, l->logs[out].path, outputs[out]));
		sorted[i] = &outputs[first];
		free(outputs[out]);
		outputs[out] = NULL;
		left_out++;
	}
	return left_out;
}

void symlog_outputs_free(const struct symlog_list *l, char **outputs)
{
	for (size_t i = 0; outputs && i < l->num; i++)
		free(outputs[i]);
	free(outputs);
}

int symlog_outputs(const struct symlog_list *l, const char *dir, enum markup_format format,
		   char ***ret, size_t *left_out, struct sc_error *err)
{
	char **outputs = calloc(l->num + 1, sizeof(*outputs));
	char ***sorted = calloc(l->num + 1, sizeof(*sorted));
	bool made = outputs && sorted;

	for (size_t i = 0; made && i < l->num; i++) {
		const char *rest = l->logs[i].rest;

		outputs[i] = sc_text("%s%s%.*s%s", dir ? dir : "", dir ? "/" : "",
				     (int)(strlen(rest) - symlog_packed_suffix(rest)), rest,
				     markup_format_suffixes[format]);
		made = outputs[i];
	}
	*left_out = made ? leave_out(l, outputs, sorted) : 0;
	free(sorted);
	*ret = made ? outputs : NULL;
	if (made)
		return 0;
	symlog_outputs_free(l, outputs);
	return sc_error_set(err, SC_ENOMEM, "out of memory");
}

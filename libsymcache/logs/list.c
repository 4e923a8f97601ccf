/*
 * The logs of an archive, and where their outputs go: see logs.h.
 *
 * Folders are read one after the other, and their names sorted; then threads ask for sizes
 * and dates, of files that are next to each other from their open folder. Cost: that of
 * getdents and one stat() for each file; memory: its path and 40 bytes.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/below.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/logs/input.h"
#include "libsymcache/logs/logs.h"
#include "libsymcache/plan/plan.h"

enum {
	TEXT_BLOCK = 1 << 18,
	AT_ONCE = 2048, /* files that a thread takes */
};

static void report(const struct symlog_list *l, char *text)
{
	if (l->fault)
		l->fault(l->ctx, text ? text : "out of memory");
	free(text);
}

/* ---- texts ----------------------------------------------------------------------- */

struct symlog_text {
	struct symlog_text *next;
	size_t left;  /* bytes at the end of the block */
	char *at;     /* where they are */
	char bytes[];
};

struct piece {
	const char *ptr;
	size_t len;
};

/* The pieces as one text, which lives as long as the list. NULL: no memory. */
static char *keep(struct symlog_list *l, const struct piece *pieces, size_t num)
{
	struct symlog_text *t = l->texts;
	size_t len = 1;
	char *ret, *at;

	for (size_t i = 0; i < num; i++)
		len += pieces[i].len;
	if (!t || len > t->left) {
		const size_t size = len > TEXT_BLOCK ? len : TEXT_BLOCK;

		t = malloc(sizeof(*t) + size);
		if (!t)
			return NULL;
		*t = (struct symlog_text){ .next = l->texts, .left = size, .at = t->bytes };
		l->texts = t;
	}
	ret = at = t->at;
	for (size_t i = 0; i < num; i++)
		at = mempcpy(at, pieces[i].ptr, pieces[i].len);
	*at = 0;
	t->at += len;
	t->left -= len;
	return ret;
}

void symlog_list_deinit(struct symlog_list *l)
{
	for (struct symlog_text *t = l->texts, *next; t; t = next) {
		next = t->next;
		free(t);
	}
	sc_big_free(l->logs, l->cap * sizeof(*l->logs));
}

/* ---- which logs ------------------------------------------------------------------ */

/* False: no memory. */
static bool add_log(struct symlog_list *l, const char *path, size_t skip)
{
	if (!path || !vec_reserve_((void **)&l->logs, &l->cap, l->num, 1, sizeof(*l->logs)))
		return false;
	l->logs[l->num++] = (struct symlog_file){ .path = path, .rest = path + skip };
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

struct walk {
	struct symlog_list *l;
	struct stat except;
	uint64_t links;
	size_t skip;       /* bytes of each path that its output's does not have */
	struct symlog_file *from; /* of the logs that are looked at */
	size_t num;
};

static void report_path(const struct walk *w, const char *path, int error)
{
	report(w->l, sc_text("%s: %s", path, strerror(error)));
	w->l->failed = true;
}

struct entry {
	const char *path, *name;
	bool folder;
};

typedef VEC(struct entry) entries;

static inline bool entry_before(const struct entry *a, const struct entry *b)
{
	return strcmp(a->name, b->name) < 0;
}

SC_SORT(sort_entries, struct entry, entry_before)

static unsigned char type_of(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) ? DT_REG /* says why later */
							       : IFTODT(st.st_mode);
}

/* What is in an open folder, in order of names. False: no memory. */
static bool read_entries(struct walk *w, const char *path, DIR *d, entries *ret)
{
	const size_t path_len = strlen(path);
	const bool slash = path_len && path[path_len - 1] != '/';
	const struct dirent *e;

	while (errno = 0, (e = readdir(d))) {
		const unsigned char type = e->d_type != DT_UNKNOWN ? e->d_type
								   : type_of(dirfd(d), e->d_name);
		struct entry *to;
		char *kept;

		w->links += type == DT_LNK;
		if ((type != DT_REG && type != DT_DIR) || !strcmp(e->d_name, ".") ||
		    !strcmp(e->d_name, "..") ||
		    (type == DT_DIR && !strcmp(e->d_name, MARKUP_FOLDER)))
			continue;
		kept = keep(w->l, (struct piece[]){ { path, path_len }, { "/", slash },
						    { e->d_name, strlen(e->d_name) } }, 3);
		to = kept ? vec_push(ret) : NULL;
		if (!to)
			return false;
		*to = (struct entry){ kept, kept + path_len + slash, type == DT_DIR };
	}
	if (errno)
		report_path(w, path, errno);
	return sort_entries(ret->data, ret->len);
}

/* False: no memory. */
static bool add_folder(struct walk *w, const char *path, bool top)
{
	const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (top ? 0 : O_NOFOLLOW));
	DIR *d = sc_folder_entries(fd);
	entries in = { 0 };
	struct stat st;
	bool added = true;

	if (!d) {
		report_path(w, path, errno);
		return true;
	}
	if (!w->l->except || fstat(fd, &st) || st.st_dev != w->except.st_dev ||
	    st.st_ino != w->except.st_ino)
		added = read_entries(w, path, d, &in);
	closedir(d);
	for (size_t i = 0; i < in.len && added; i++)
		added = in.data[i].folder ? add_folder(w, in.data[i].path, false)
					  : add_log(w->l, in.data[i].path, w->skip);
	vec_deinit(&in);
	return added;
}

static void take_stat(struct symlog_file *log, const struct stat *st)
{
	log->size = (uint64_t)st->st_size;
	log->mtime = st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec;
}

/* Asks for the sizes of some logs. Of several in a folder from the second on in that. */
static void look_at(void *ctx, unsigned worker, size_t job)
{
	const struct walk *w = ctx;
	const size_t begin = job * AT_ONCE,
		     end = begin + AT_ONCE < w->num ? begin + AT_ONCE : w->num;
	const char *folder = "";
	size_t len = 0;
	int fd = -1;

	(void)worker;
	for (size_t i = begin; i < end; i++) {
		struct symlog_file *log = &w->from[i];
		const char *slash = strrchr(log->path, '/');
		struct stat st;

		if (!slash || (size_t)(slash - log->path) != len ||
		    memcmp(folder, log->path, len)) {
			if (fd >= 0)
				close(fd);
			fd = -1;
			folder = log->path;
			len = slash ? (size_t)(slash - log->path) : 0;
		} else if (fd < 0 && len) {
			char *name = strndup(folder, len);

			fd = name ? open(name, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
			free(name);
		}
		if (fd < 0 ? lstat(log->path, &st) :
			     fstatat(fd, slash + 1, &st, AT_SYMLINK_NOFOLLOW))
			log->error = errno;
		else if (!S_ISREG(st.st_mode)) /* by now */
			log->error = EINVAL;
		else
			take_stat(log, &st);
	}
	if (fd >= 0)
		close(fd);
}

/* False: no memory. */
static bool add_folders(struct symlog_list *l, const char *path, bool alone, unsigned threads)
{
	struct walk w = { .l = l, .skip = alone ? strlen(path) : kept_from(path) };
	const size_t first = l->num;
	bool added;

	if (l->except && stat(l->except, &w.except))
		w.except = (struct stat){ 0 };
	while (path[w.skip] == '/')
		w.skip++;
	w.skip += !path[w.skip] && path[w.skip - 1] != '/'; /* the one that comes then */
	added = add_folder(&w, path, true);
	w.from = l->logs + first;
	w.num = l->num - first;
	if (added)
		sc_parallel(threads, (w.num + AT_ONCE - 1) / AT_ONCE, look_at, &w);
	l->num = first;
	for (size_t i = 0; i < w.num; i++) {
		if (w.from[i].error)
			report_path(&w, w.from[i].path, w.from[i].error);
		else
			l->logs[l->num++] = w.from[i];
	}
	if (w.links)
		report(l, sc_text("%s: %" PRIu64 " symbolic link%s left out", path, w.links,
				  w.links == 1 ? "" : "s"));
	return added;
}

int symlog_list_add(struct symlog_list *l, const char *path, bool alone, unsigned threads,
		    struct sc_error *err)
{
	const char *kept = keep(l, &(struct piece){ path, strlen(path) }, 1);
	const char *slash = strrchr(path, '/');
	struct stat st;
	bool added;

	if (!strcmp(path, "-") || stat(path, &st))
		st = (struct stat){ 0 };
	if (kept && S_ISDIR(st.st_mode))
		added = add_folders(l, kept, alone, threads);
	else
		added = add_log(l, kept, !alone ? kept_from(path) :
					 slash ? (size_t)(slash + 1 - path) : 0);
	if (!added)
		return sc_no_memory(err);
	if (!S_ISDIR(st.st_mode))
		take_stat(&l->logs[l->num - 1], &st);
	return 0;
}

/* ---- where to --------------------------------------------------------------------- */

struct output {
	const char *text;
	size_t log;
};

static inline bool output_before(const struct output *a, const struct output *b)
{
	return strcmp(a->text, b->text) < 0;
}

SC_SORT(sort_outputs, struct output, output_before)

/* Of those that are equal the first one alone stays. False: no memory. */
static bool leave_out_same(const struct symlog_list *l, char **outputs, size_t *left_out)
{
	struct output *sorted = calloc(l->num + 1, sizeof(*sorted));
	bool done = sorted;

	for (size_t i = 0; i < l->num && done; i++)
		sorted[i] = (struct output){ outputs[i], i };
	done = done && sort_outputs(sorted, l->num);
	for (size_t i = 1; i < l->num && done; i++) {
		const struct output first = sorted[i - 1], same = sorted[i];

		if (strcmp(first.text, same.text))
			continue;
		report(l, sc_text("%s and %s would both become %s: the second is left out",
				  l->logs[first.log].path, l->logs[same.log].path, same.text));
		sorted[i] = first; /* to compare the next with */
		outputs[same.log] = NULL;
		++*left_out;
	}
	free(sorted);
	return done;
}

int symlog_outputs(struct symlog_list *l, const char *dir, enum markup_format format,
		   char ***ret, size_t *left_out, struct sc_error *err)
{
	const char *suffix = l->suffix ? l->suffix : markup_format_suffixes[format];
	char **outputs = *ret = calloc(l->num + 1, sizeof(*outputs));
	bool made = outputs;

	*left_out = 0;
	for (size_t i = 0; i < l->num && made; i++) {
		const char *rest = l->logs[i].rest;

		outputs[i] = keep(l, (struct piece[]){
			{ dir ? dir : "", dir ? strlen(dir) : 0 }, { "/", dir != NULL },
			{ rest, strlen(rest) - (l->suffix ? 0 : symlog_packed_suffix(rest, NULL)) },
			{ suffix, strlen(suffix) } }, 4);
		made = outputs[i];
	}
	if (made && leave_out_same(l, outputs, left_out))
		return 0;
	free(outputs);
	*ret = NULL;
	return sc_no_memory(err);
}

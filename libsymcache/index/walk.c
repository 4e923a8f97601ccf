/*
 * Walks folders for ELF files: see walk.h.
 *
 * An ELF file is what begins like one, whatever its name. An archive begins like one,
 * and is named by the user or has the name of one. Nothing is opened that is not a
 * regular file: a pipe would wait, a device may act. Each file and folder is visited
 * once, known by device and inode, so links may lead anywhere; links to files are
 * followed, links to folders only if asked. Folders are sorted, so the order does not
 * depend on the file system. The kernel's own file systems are not entered.
 */
#include "libsymcache/index/walk.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "libsymcache/archive/nested.h"
#include "libsymcache/base/cleanup.h"

struct visited {
	dev_t dev;
	ino_t ino;
};

static int compare_visited(const void *a, const void *b)
{
	const struct visited *x = a, *y = b;

	if (x->dev != y->dev)
		return x->dev < y->dev ? -1 : 1;
	return (x->ino > y->ino) - (x->ino < y->ino);
}

/* Is this the first visit? SC_ENOMEM. */
static int visit(struct sc_walk *w, const struct stat *st, bool *first, struct sc_error *err)
{
	struct visited *v = malloc(sizeof(*v)), **node = NULL;

	if (v) {
		*v = (struct visited){ st->st_dev, st->st_ino };
		node = tsearch(v, &w->seen, compare_visited);
	}
	*first = node && *node == v;
	if (!*first)
		free(v);
	return node ? 0 : sc_no_memory(err);
}

int sc_walk_leave_out(struct sc_walk *w, const char *path, struct sc_error *err)
{
	struct stat st;
	bool first;

	return stat(path, &st) ? 0 : visit(w, &st, &first, err);
}

void sc_walk_deinit(struct sc_walk *w)
{
	for (size_t i = 0; i < w->files.len; i++) {
		if (w->files.data[i].is_open)
			close(w->files.data[i].fd);
		free(w->files.data[i].path);
	}
	vec_deinit(&w->files);
	tdestroy(w->seen, free);
	w->seen = NULL;
}

enum { OPEN_MAX_FILES = 4096 };

enum kind { UNREADABLE, ELF, ARCHIVE, OTHER };

/* What an open file begins like: an ELF file with code, an archive. */
static enum kind kind_of(int fd)
{
	unsigned char head[SYMARCHIVE_HEAD];
	const ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);

	if (n < 0)
		return UNREADABLE;
	if (sc_begins_elf(head, (size_t)n))
		return ELF;
	return symarchive_begins(head, (size_t)n) ? ARCHIVE : OTHER;
}

/* Half of the descriptors that the process may have: files are opened once, unless there are
 * very many. */
static size_t may_stay_open(void)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) ? 0 :
	       limit.rlim_cur < 2 * OPEN_MAX_FILES ? limit.rlim_cur / 2 : OPEN_MAX_FILES;
}

static int add_file(struct sc_walk *w, const char *path, const struct stat *st, bool named,
		    struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	enum kind kind = kind_of(fd);
	struct sc_found *file;
	char *copy;

	if (kind == UNREADABLE) {
		w->failed(w->ctx, path, strerror(errno));
		return 0;
	}
	if (kind == OTHER || (kind == ARCHIVE && !named && !sc_archive_name(path))) {
		if (named)
			w->failed(w->ctx, path, st->st_size ? "not an ELF file" : "empty file");
		w->other += !named;
		return 0;
	}
	copy = strdup(path);
	file = copy ? vec_push(&w->files) : NULL;
	if (!file) {
		free(copy);
		return sc_no_memory(err);
	}
	*file = (struct sc_found){
		.path = copy, .size = (uint64_t)st->st_size, .named = named,
		.archive = kind == ARCHIVE,
	};
	if (kind == ELF && w->num_open < may_stay_open()) {
		file->is_open = true;
		file->fd = fd;
		fd = -1;
		w->num_open++;
	}
	w->found(w->ctx, w->files.len, path);
	return 0;
}

static bool kernel_made(const char *path)
{
	enum { PROC = 0x9fa0, SYSFS = 0x62656572, DEBUGFS = 0x64626720, TRACEFS = 0x74726163 };
	struct statfs fs;

	return !statfs(path, &fs) && (fs.f_type == PROC || fs.f_type == SYSFS ||
				      fs.f_type == DEBUGFS || fs.f_type == TRACEFS);
}

enum { SUFFIX = sizeof("-lock") - 1 };

static bool ends_with_lock(const char *path)
{
	const size_t len = strlen(path);

	return len > SUFFIX && !strcmp(path + len - SUFFIX, "-lock");
}

/* The lock file of a store, which lies next to it. It must not be opened: closing it would
 * cost this process its locks, if it has that store open. */
static bool is_lock_file(const char *path)
{
	enum { MAGIC_AT = 16 };
	int fd __attribute__((cleanup(sc_close_fd))) = -1;
	char real[PATH_MAX];
	uint32_t magic = 0;

	if (!ends_with_lock(path) && readlink(path, real, 1) < 0)
		return false;
	if (!realpath(path, real) || !ends_with_lock(real))
		return false;
	real[strlen(real) - SUFFIX] = 0;
	fd = open(real, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return pread(fd, &magic, sizeof(magic), MAGIC_AT) == sizeof(magic) && magic == 0xbeefc0de;
}

/* What stat() says is not a folder. */
static int add_other(struct sc_walk *w, const char *path, const struct stat *st, bool named,
		     struct sc_error *err)
{
	bool first;
	int rc;

	if (!S_ISREG(st->st_mode)) {
		if (named)
			w->failed(w->ctx, path, "not a regular file");
		w->special += !named;
		return 0;
	}
	rc = visit(w, st, &first, err);
	if (rc || !first)
		return rc;
	if (is_lock_file(path)) {
		if (named)
			w->failed(w->ctx, path, "the lock file of a store");
		w->other += !named;
		return 0;
	}
	return add_file(w, path, st, named, err);
}

/* A link in a folder. */
static int add_link(struct sc_walk *w, FTS *fts, FTSENT *e, struct sc_error *err)
{
	struct stat st;

	if (stat(e->fts_path, &st)) {
		/* A broken link in a folder is not reported. */
		if (errno == ENOENT || errno == ELOOP)
			w->other++;
		else
			w->failed(w->ctx, e->fts_path, strerror(errno));
		return 0;
	}
	if (!S_ISDIR(st.st_mode))
		return add_other(w, e->fts_path, &st, false, err);
	w->links += !w->follow;
	if (w->follow)
		fts_set(fts, e, FTS_FOLLOW);
	return 0;
}

static int enter_folder(struct sc_walk *w, FTS *fts, FTSENT *e, struct sc_error *err)
{
	bool first;
	int rc = visit(w, e->fts_statp, &first, err);

	if (rc || !first || (e->fts_level > FTS_ROOTLEVEL && e->fts_parent->fts_dev != e->fts_dev &&
			     kernel_made(e->fts_path)))
		fts_set(fts, e, FTS_SKIP);
	return rc;
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static void close_fts(FTS **fts)
{
	if (*fts)
		fts_close(*fts);
}

int sc_walk_path(struct sc_walk *w, const char *path, struct sc_error *err)
{
	char *const roots[] = { (char *)path, NULL };
	FTS *fts __attribute__((cleanup(close_fts))) =
		fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	FTSENT *e;
	int rc = 0;

	if (!fts && errno == ENOMEM)
		return sc_no_memory(err);
	if (!fts)
		w->failed(w->ctx, path, strerror(errno));
	while (fts && !rc && (errno = 0, e = fts_read(fts))) {
		const bool named = e->fts_level == FTS_ROOTLEVEL;

		switch (e->fts_info) {
		case FTS_D:
			rc = enter_folder(w, fts, e, err);
			break;
		case FTS_DC:
			w->loops++;
			break;
		case FTS_SL:
			rc = add_link(w, fts, e, err);
			break;
		case FTS_F:
		case FTS_DEFAULT:
			rc = add_other(w, e->fts_path, e->fts_statp, named, err);
			break;
		case FTS_DNR:
		case FTS_ERR:
		case FTS_NS:
			w->failed(w->ctx, e->fts_path, strerror(e->fts_errno));
			break;
		case FTS_SLNONE: /* a path that was given, or a link that has broken meanwhile */
			w->failed(w->ctx, e->fts_path, strerror(ENOENT));
			break;
		}
	}
	return rc || !fts || !errno ? rc : sc_error_sys(err, "%s", path);
}

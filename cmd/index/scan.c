/*
 * Walks folders for ELF files: see scan.h.
 *
 * An ELF file is what begins like one, whatever its name. An archive begins like one,
 * and is named by the user or has the name of one. Nothing is opened
 * that is no regular file: a pipe would wait, a device may act. Each file and
 * folder is visited once, told by device and inode, so links may lead anywhere;
 * links to files are followed, links to folders only if asked. Folders are read
 * whole and sorted, so the order does not depend on the file system. The kernel's
 * own file systems are not entered.
 */
#include "cmd/index/scan.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/index/archive_walk.h"

/* A folder on the way down, for telling a loop from a second visit. */
struct trail {
	const struct trail *up;
	dev_t dev;
	ino_t ino;
};

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

/* Is this the first visit? */
static bool visit(struct scan *s, const struct stat *st)
{
	struct visited *v = must_calloc(1, sizeof(*v)), **node;

	*v = (struct visited){ st->st_dev, st->st_ino };
	node = tsearch(v, &s->seen, compare_visited);
	if (node && *node == v)
		return true;
	free(v);
	return false;
}

void scan_leave_out(struct scan *s, const char *path)
{
	struct stat st;

	if (!stat(path, &st))
		visit(s, &st);
}

void scan_deinit(struct scan *s)
{
	for (size_t i = 0; i < s->num_files; i++)
		free(s->files[i].path);
	free(s->files);
	tdestroy(s->seen, free);
	s->seen = NULL;
}

static void fail(struct scan *s, const char *path)
{
	s->failed(s->ctx, path, strerror(errno));
}

enum kind { UNREADABLE, ELF, ARCHIVE, OTHER };

/* What the file begins like: an ELF file with code, an archive. */
static enum kind kind_of(const char *path)
{
	unsigned char head[SYMARCHIVE_HEAD];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), saved;
	ssize_t n;

	if (fd < 0)
		return UNREADABLE;
	n = read(fd, head, sizeof(head));
	saved = errno;
	close(fd);
	errno = saved;
	if (n < 0)
		return UNREADABLE;
	if (n < SELFMAG || memcmp(head, ELFMAG, SELFMAG))
		return symarchive_begins(head, (size_t)n) ? ARCHIVE : OTHER;
	return n < EI_NIDENT + 2 ||
	       head[EI_NIDENT + (head[EI_DATA] == ELFDATA2MSB)] != ET_CORE ? ELF : OTHER;
}

static void add_file(struct scan *s, const char *path, const struct stat *st, bool named)
{
	enum kind kind = kind_of(path);

	if (kind == UNREADABLE) {
		fail(s, path);
		return;
	}
	if (kind == OTHER || (kind == ARCHIVE && !named && !archive_name(path))) {
		if (named)
			s->failed(s->ctx, path, st->st_size ? "not an ELF file" : "empty file");
		s->other += !named;
		return;
	}
	s->files = must_grow(s->files, s->num_files, &s->cap_files, sizeof(*s->files));
	s->files[s->num_files++] = (struct scan_file){
		.path = must_asprintf("%s", path), .size = (uint64_t)st->st_size, .named = named,
		.archive = kind == ARCHIVE,
	};
	s->found(s->ctx, s->num_files, path);
}

static bool kernel_made(const char *path)
{
	enum { PROC = 0x9fa0, SYSFS = 0x62656572, DEBUGFS = 0x64626720, TRACEFS = 0x74726163 };
	struct statfs fs;

	return !statfs(path, &fs) && (fs.f_type == PROC || fs.f_type == SYSFS ||
				      fs.f_type == DEBUGFS || fs.f_type == TRACEFS);
}

static void scan(struct scan *s, const char *path, const struct trail *up);

static void add_folder(struct scan *s, const char *path, const struct stat *st,
		       const struct trail *up)
{
	struct trail here = { up, st->st_dev, st->st_ino };
	size_t len = strlen(path);
	struct dirent **names;
	int n;

	for (const struct trail *t = up; t; t = t->up)
		if (t->dev == st->st_dev && t->ino == st->st_ino) {
			s->loops++;
			return;
		}
	if (!visit(s, st) || (up && up->dev != st->st_dev && kernel_made(path)))
		return;
	n = scandir(path, &names, NULL, alphasort);
	if (n < 0) {
		fail(s, path);
		return;
	}
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		char *child;

		if (strcmp(name, ".") && strcmp(name, "..")) {
			child = must_asprintf("%s%s%s", path, len && path[len - 1] == '/' ? "" : "/",
					      name);
			scan(s, child, &here);
			free(child);
		}
		free(names[i]);
	}
	free(names);
}

/* `up` NULL: a path of the command line. */
static void scan(struct scan *s, const char *path, const struct trail *up)
{
	struct stat st, link;

	if (stat(path, &st)) {
		int saved = errno;

		/* A link that leads nowhere, or in circles, is no fault of a folder's. */
		if (up && (saved == ENOENT || saved == ELOOP) && !lstat(path, &link)) {
			s->other++;
			return;
		}
		errno = saved;
		fail(s, path);
	} else if (S_ISDIR(st.st_mode)) {
		if (up && !s->follow && !lstat(path, &link) && S_ISLNK(link.st_mode))
			s->links++;
		else
			add_folder(s, path, &st, up);
	} else if (!S_ISREG(st.st_mode)) {
		if (!up)
			s->failed(s->ctx, path, "not a regular file");
		s->special += up != NULL;
	} else if (visit(s, &st)) {
		add_file(s, path, &st, !up);
	}
}

void scan_path(struct scan *s, const char *path)
{
	scan(s, path, NULL);
}

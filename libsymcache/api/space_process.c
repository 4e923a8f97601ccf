/*
 * What address spaces ask a process for, when it is first needed: build IDs and the names of its JIT. Its
 * files are read below its own root.
 */
#include <symcache-process.h>
#include <sys/uio.h>

#include "libsymcache/api/space.h"
#include "libsymcache/base/below.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/elf_id.h"

/* ---- its files ------------------------------------------------------------------------------ */

/* A file, and its first bytes: mostly all that is asked for. */
struct file {
	int fd;
	size_t have;
	uint8_t head[1024];
};

static bool read_file(void *ctx, uint64_t at, void *to, size_t bytes)
{
	const struct file *f = ctx;

	if (at > f->have || bytes > f->have - at)
		return pread(f->fd, to, bytes, (off_t)at) == (ssize_t)bytes;
	memcpy(to, f->head + at, bytes);
	return true;
}

static size_t build_id_of_file(int fd, uint8_t id[SYMCACHE_BUILD_ID_MAX])
{
	struct file f = { .fd = fd };
	const ssize_t n = pread(fd, f.head, sizeof(f.head), 0);

	f.have = n > 0 ? (size_t)n : 0;
	return sc_elf_build_id(read_file, &f, 0, id);
}

static bool read_memory(void *space, uint64_t at, void *to, size_t bytes)
{
	const struct iovec here = { to, bytes }, there = { (void *)(uintptr_t)at, bytes };

	return process_vm_readv((pid_t)((struct symcache_space *)space)->pid, &here, 1, &there, 1,
				0) == (ssize_t)bytes;
}

void api_space_close_folder(struct symcache_space *s)
{
	if (s->folder)
		close(s->folder_fd);
	free(s->folder);
	s->folder = NULL;
}

/* A file of the process, below its root; -1: see errno. Most are in the folder of the one before. */
static int open_file(struct symcache_space *s, const char *path)
{
	const size_t len = (size_t)(strrchr(path, '/') - path);
	const char *name;
	char at[4200];
	int root;

	if (!s->folder || strlen(s->folder) != len || memcmp(s->folder, path, len)) {
		root = snprintf(at, sizeof(at), "/proc/%u/root", s->pid);
		snprintf(at + root, sizeof(at) - (size_t)root, "%s", path);
		api_space_close_folder(s);
		s->folder_fd = sc_folder_below(at, (size_t)root, false, &name, NULL);
		if (s->folder_fd < 0)
			return -1;
		if (!(s->folder = strndup(path, len))) {
			close(s->folder_fd);
			return -1;
		}
	}
	return sc_open_in(s->folder_fd, path + len + 1);
}

size_t api_space_build_id(struct symcache_space *s, struct sc_str path,
			  uint8_t id[SYMCACHE_BUILD_ID_MAX])
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	const struct api_first_row *row = NULL;
	struct stat st;

	for (size_t i = 0; i < s->rows.len && !row; i++)
		if (sc_str_is(path, s->rows.data[i].path))
			row = &s->rows.data[i];
	if (!row)
		return 0;
	if (!row->deleted) /* the kernel's paths have no links; one would lead out of its root */
		fd = open_file(s, row->path);
	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) ? build_id_of_file(fd, id) :
			 sc_elf_build_id(read_memory, s, row->start, id);
}

/* ---- names of its JIT ----------------------------------------------------------------------- */

const char *api_space_jitted(struct symcache_space *s, uint64_t address)
{
	if (!s->pid)
		return NULL;
	if (!s->jitted_read)
		symcache_perf_map_of(s->pid, &s->jitted);
	s->jitted_read = true;
	return symcache_perf_map_name(&s->jitted, address);
}

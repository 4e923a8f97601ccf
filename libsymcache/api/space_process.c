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

size_t api_space_build_id(struct symcache_space *s, struct sc_str path,
			  uint8_t id[SYMCACHE_BUILD_ID_MAX])
{
	__attribute__((cleanup(sc_close_fd))) int fd = -1;
	const struct api_first_row *row = NULL;
	struct stat st;
	char name[4200];
	int root;

	for (size_t i = 0; i < s->rows.len && !row; i++)
		if (sc_str_is(path, s->rows.data[i].path))
			row = &s->rows.data[i];
	if (!row)
		return 0;
	root = snprintf(name, sizeof(name), "/proc/%u/root", s->pid);
	snprintf(name + root, sizeof(name) - (size_t)root, "%s", row->path);
	if (!row->deleted) /* the kernel's paths have no links; one would lead out of its root */
		fd = sc_open_below(name, (size_t)root);
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

/*
 * walk.h: paths → the ELF files and archives that they mean.
 */
#ifndef SC_INDEX_WALK_H
#define SC_INDEX_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libsymcache/base/error.h"
#include "libsymcache/base/vec.h"

struct sc_found {
	char *path;        /* as it was reached from what was given */
	uint64_t size;
	bool named;        /* itself given */
	bool archive;      /* no ELF file, but may hold some */
	bool is_open;      /* its bytes are in fd */
	int fd;
	/* Of a member of an archive, which is open: */
	bool unpacked;
	const char *real;  /* the archive's absolute path, which stands for */
	size_t archive_len;/* so many bytes of `path` */
};

struct sc_walk {
	VEC(struct sc_found) files; /* in the order of the paths; folders by name */
	bool follow;       /* go into linked folders, too */

	/* What was left out. */
	uint64_t other;    /* neither ELF files nor archives, or core dumps */
	uint64_t special;  /* pipes, sockets, devices */
	uint64_t links;    /* links to folders, not followed */
	uint64_t loops;    /* folders that lead back into themselves */

	/* Called for what cannot be read, and for a named file that is neither an ELF file
	 * nor an archive. */
	void (*failed)(void *ctx, const char *path, const char *reason);
	void (*found)(void *ctx, uint64_t files, const char *path); /* progress */
	void *ctx;

	void *seen;        /* what was visited: device and inode */
	size_t num_open;   /* of files */
};

/* Adds the file, or the ELF files in the folder, at `path`. Set failed, found, ctx and
 * follow before. A file that is reached twice is added once. SC_ENOMEM. */
int sc_walk_path(struct sc_walk *w, const char *path, struct sc_error *err);

/* Leaves out the file at `path`, should it be met: it is not even opened. SC_ENOMEM. */
int sc_walk_leave_out(struct sc_walk *w, const char *path, struct sc_error *err);

void sc_walk_deinit(struct sc_walk *w);

#endif

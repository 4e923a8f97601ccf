/*
 * scan.h: paths on the command line → the ELF files that they mean.
 */
#ifndef CMD_SCAN_H
#define CMD_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct scan_file {
	char *path;        /* as it was reached from the command line */
	uint64_t size;
	bool named;        /* itself on the command line */
	bool archive;      /* no ELF file, but may hold some */
	/* Of a member of an archive: */
	bool unpacked;     /* its bytes are in fd */
	int fd;
	const char *real;  /* the archive's absolute path, which stands for */
	size_t archive_len;/* so many bytes of `path` */
};

struct scan {
	/* In the order of the command line; folders by name. */
	struct scan_file *files;
	size_t num_files, cap_files;
	bool follow;       /* go into linked folders, too */

	/* What was left out. */
	uint64_t other;    /* files that are no ELF files, or core dumps */
	uint64_t special;  /* pipes, sockets, devices */
	uint64_t links;    /* links to folders, not followed */
	uint64_t loops;    /* folders that lead back into themselves */

	/* Called for what cannot be read, and for a named file that is neither an ELF file
	 * nor an archive. */
	void (*failed)(void *ctx, const char *path, const char *reason);
	void (*found)(void *ctx, uint64_t files, const char *path); /* progress */
	void *ctx;

	void *seen;        /* what was visited: device and inode */
};

/* Adds the file, or the ELF files in the folder, at `path`. Set failed, found,
 * ctx and follow before. A file that is reached twice is added once. */
void scan_path(struct scan *s, const char *path);

/* Leaves out the file at `path`, should it be met: it is not even opened. */
void scan_leave_out(struct scan *s, const char *path);

void scan_deinit(struct scan *s);

#endif

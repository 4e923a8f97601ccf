/*
 * archive_walk.h: an archive → the ELF files in it, those in archives in it, too.
 *
 * A member's name is the archive's, '!', and what the archive calls it: "x.deb!./bin/y";
 * "x.tar!sub/y.deb!./bin/z". The data.tar of a .deb is not named, nor is what a file was
 * merely compressed with. Names are for people: nothing is ever written under them.
 */
#ifndef CMD_ARCHIVE_WALK_H
#define CMD_ARCHIVE_WALK_H

#include "symcache/archive.h"
#include "symcache/error.h"

/* An ELF file in an archive, while the walk stands at it. */
struct archive_file {
	const char *name;
	const uint8_t *head;        /* the first bytes, read already */
	size_t head_len;
	struct symarchive *archive; /* gives the rest */
};

struct archive_walk {
	/* Called for each ELF file that is no core dump, in their order. An error stops
	 * the walk. */
	int (*elf)(void *ctx, const struct archive_file *file, struct sc_error *err);
	/* Called for what is broken; the walk goes on with what is not. */
	void (*failed)(void *ctx, const char *name, const char *reason);
	void *ctx;
	uint64_t budget;   /* bytes that may still be inflated; set by archive_walk() */
	uint64_t members;  /* regular files met */
};

/* Would this file in a folder be taken for an archive, by its name? */
bool archive_name(const char *path);

/*
 * Walks the archive in `fd`, which is `size` bytes large and called `name`. Returns
 * what elf() returned; or SC_ELIMIT: it is a bomb; SC_ENOMEM. All else is told to
 * failed().
 */
int archive_walk(struct archive_walk *w, int fd, uint64_t size, const char *name,
		 struct sc_error *err);

/* Writes the file to a descriptor of its own: in memory up to `memory` bytes, else an
 * unlinked file in $TMPDIR. SC_EFORMAT: damaged; SC_EFULL, SC_ESYS, SC_ELIMIT. */
int archive_file_unpack(const struct archive_file *file, uint64_t memory, int *ret_fd,
			uint64_t *ret_size, struct sc_error *err);

#endif

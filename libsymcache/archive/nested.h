/*
 * nested.h: an archive → the ELF files in it, those in archives in it, too.
 *
 * A member's name is the archive's, '!', and what the archive calls it: "x.deb!./bin/y";
 * "x.tar!sub/y.deb!./bin/z". The data.tar of a .deb is not named, nor is what a file was
 * merely compressed with. Names are for people: nothing is ever written under them.
 */
#ifndef SC_ARCHIVE_NESTED_H
#define SC_ARCHIVE_NESTED_H

#include "libsymcache/archive/archive.h"
#include "libsymcache/base/error.h"

/* The file that `outer` stands at is itself one; head[0, len) of it has been read. Close it
 * before `outer` moves on. `head` must live as long. */
int symarchive_open_inner(struct symarchive *outer, const uint8_t *head, size_t len,
			  struct symarchive **ret, struct sc_error *err);

/* An ELF file in an archive, while the walk stands at it. */
struct sc_archive_file {
	const char *name;
	const uint8_t *head;        /* the first bytes, read already */
	size_t head_len;
	struct symarchive *archive; /* gives the rest */
};

struct sc_archive_walk {
	/* Called for each ELF file that is not a core dump, in their order. An error stops
	 * the walk. */
	int (*elf)(void *ctx, const struct sc_archive_file *file, struct sc_error *err);
	/* Called for what is broken; the walk goes on with what is not. */
	void (*failed)(void *ctx, const char *name, const char *reason);
	void *ctx;
	uint64_t budget;   /* bytes that may still be inflated; set by sc_archive_walk() */
	uint64_t members;  /* regular files met */
};

/* Does data[0, len) begin an ELF file that is not a core dump? */
bool sc_begins_elf(const uint8_t *data, size_t len);

/* Would this file in a folder be taken for an archive, by its name? */
bool sc_archive_name(const char *path);

/*
 * Walks the archive in `fd`, which is `size` bytes large and called `name`. Returns
 * what elf() returned; or SC_ELIMIT: it is a bomb; SC_ENOMEM. All else is reported to
 * failed().
 */
int sc_archive_walk(struct sc_archive_walk *w, int fd, uint64_t size, const char *name,
		    struct sc_error *err);

/* Writes the file to a descriptor of its own: in memory up to `memory` bytes, else an
 * unlinked file in $TMPDIR. SC_EFORMAT: damaged; SC_EFULL, SC_ESYS, SC_ELIMIT. */
int sc_archive_unpack(const struct sc_archive_file *file, uint64_t memory, int *ret_fd,
		      uint64_t *ret_size, struct sc_error *err);

#endif

/*
 * members.h: the ELF files in an archive, and which of them are unpacked: for the
 * files that need others of the same archive (debug files, dwz's supplementary files).
 */
#ifndef CMD_MEMBERS_H
#define CMD_MEMBERS_H

#include "cmd/index/archive_walk.h"
#include "cmd/index/scan.h"
#include "symcache/build.h"
#include "symcache/store.h"

/* Unpacked files that are kept in case another one needs them: the same on every machine,
 * since the result may depend on it. */
#define HOLD_BYTES ((uint64_t)256 << 20)
enum { HOLD_FILES = 384 };

struct member {
	char *path;                      /* "archive!member"; found again by this pointer */
	uint64_t size;                   /* bytes */
	int fd;                          /* −1: not unpacked at the moment */
	bool done;                       /* what came of it is known */
	bool wanted;                     /* to be unpacked for others */
	bool lost;                       /* it could not be unpacked */
	struct symcache_elf_facts facts; /* all zero if it is broken */
	struct symstore_outcome outcome; /* once it is done */
};

struct members {
	struct member **all;             /* in the order of the archive */
	size_t num, cap;
	struct member **held;            /* those with a descriptor */
	size_t num_held, cap_held;
	uint64_t held_bytes;
	struct member **by_id;           /* those with DWARF, by build ID: members_sort() */
	size_t num_by_id;
};

struct member *members_add(struct members *m, const char *path);
void members_deinit(struct members *m);

/* Unpacks the file that the walk stands at. Errors as archive_file_unpack(). */
int member_unpack(struct members *m, struct member *member, const struct archive_file *file,
		  uint64_t memory, struct sc_error *err);
void member_release(struct members *m, struct member *member);

/* Is there room for all that is unpacked? */
bool members_room(const struct members *m);

/* Once all are there. */
void members_sort(struct members *m);

/* The supplementary file of a member, or NULL: it needs none, or it is not there. After
 * members_sort(). */
struct member *members_alt(const struct members *m, const struct member *member);

/* For a build's options: opens and finds what is unpacked. `m` must stay as it is. */
struct symcache_files members_files(struct members *m);

#endif

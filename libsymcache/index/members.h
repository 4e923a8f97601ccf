/*
 * members.h: the ELF files in an archive, and which of them are unpacked: for the
 * files that need others of the same archive (debug files, dwz's supplementary files).
 */
#ifndef SC_INDEX_MEMBERS_H
#define SC_INDEX_MEMBERS_H

#include "libsymcache/archive/nested.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/store/store.h"
#include "libsymcache/write/build.h"

/* Unpacked files that are kept in case another one needs them: the same on every machine,
 * since the result may depend on it. */
#define HOLD_BYTES ((uint64_t)256 << 20)
enum { HOLD_FILES = 384 };

struct sc_member {
	char *path;                      /* "archive!member"; found again by this pointer */
	uint64_t size;                   /* bytes */
	int fd;                          /* −1: not unpacked at the moment */
	bool done;                       /* what came of it is known */
	bool wanted;                     /* to be unpacked for others */
	bool lost;                       /* it could not be unpacked */
	struct symcache_elf_facts facts; /* all zero if it is broken */
	struct symstore_outcome outcome; /* once it is done */
};

struct sc_members {
	VEC(struct sc_member *) all;        /* in the order of the archive */
	VEC(struct sc_member *) held;       /* those with a descriptor */
	uint64_t held_bytes;
	VEC(struct sc_member *) by_id;      /* those with DWARF, by build ID: sc_members_sort() */
};

/* NULL: out of memory. */
struct sc_member *sc_members_add(struct sc_members *m, const char *path);
void sc_members_deinit(struct sc_members *m);

/* Unpacks the file that the walk stands at. Errors as sc_archive_unpack(). */
int sc_member_unpack(struct sc_members *m, struct sc_member *member,
		     const struct sc_archive_file *file, uint64_t memory, struct sc_error *err);
void sc_member_release(struct sc_members *m, struct sc_member *member);

/* Is there room for all that is unpacked? */
bool sc_members_room(const struct sc_members *m);

/* Once all are there. False: out of memory. */
bool sc_members_sort(struct sc_members *m);

/* The supplementary file of a member, or NULL: it needs none, or it is not there. After
 * sc_members_sort(). */
struct sc_member *sc_members_alt(const struct sc_members *m, const struct sc_member *member);

/* For a build's options: opens and finds what is unpacked. `m` must stay as it is. */
struct symcache_files sc_members_files(struct sc_members *m);

#endif

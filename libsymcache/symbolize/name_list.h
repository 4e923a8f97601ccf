/*
 * name_list.h: the entries of a store by the names of their files, with tags; and kernels, with
 * their modules, by the kernel's name and release. All entries are read once, when the first name
 * is asked for; a look-up is a binary search then, for kernels a walk. Of a list that was read any
 * thread may ask.
 */
#ifndef SC_NAME_LIST_H
#define SC_NAME_LIST_H

#include "libsymcache/base/vec.h"
#include "libsymcache/store/store.h"

struct sc_named {
	char *name, *path;
	char *tags; /* NULL: none */
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t id_len;
};

/* All zero: not read. */
struct sc_name_list {
	VEC(struct sc_named) all; /* sorted by name */
	struct symstore_id nameless_id; /* of the first entry without a name: of a debug file alone */
	size_t nameless;
	bool read;
};

/* Reads the entries, unless that was done. As symstore_each(), SC_ENOMEM. */
int sc_name_list_read(struct sc_name_list *l, struct symstore_reader *reader, struct sc_error *err);
void sc_name_list_deinit(struct sc_name_list *l); /* all zero again */

/* As symcache_caches_find_name() and symcache_caches_find_kernel(). */
int sc_name_list_find(const struct sc_name_list *l, const char *name, const char *tag,
		      uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);
int sc_name_list_kernel(const struct sc_name_list *l, const char *name, const char *release,
			uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len, struct sc_error *err);

#endif

/* file.h: files of bundles. */
#ifndef BUNDLE_FILE_H
#define BUNDLE_FILE_H

#include <stddef.h>

#include "symcache/error.h"

struct bundle_file {
	char *data; /* 8-aligned */
	size_t len, cap;
};

/* A regular file as a whole, copied: who changes it meanwhile does not change what is
 * checked. vec_deinit() it. SC_ESYS; SC_EINVAL: a device, pipe or folder; SC_EFORMAT:
 * above `max` bytes; SC_ENOMEM. */
int bundle_read_file(const char *path, size_t max, struct bundle_file *f, struct sc_error *err);

#endif

/* build_id.h: build IDs as people and tools write them. */
#ifndef SYMCACHE_BUILD_ID_H
#define SYMCACHE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "format/symcache_format.h"
#include "libsymcache/base/error.h"

enum { SYMCACHE_BUILD_ID_TEXT = 2 * SYMCACHE_BUILD_ID_MAX + 1 };

/* Writes `len` bytes as hex digits and a NUL: text[0, 2 * len + 1). Returns `text`. */
const char *symcache_build_id_text(char *text, const uint8_t *id, size_t len);

/* Reads hex digits into id, which is zero behind them; *nibbles is their number: a prefix
 * may be odd. SC_EINVAL: none at all, too many, or something that is not a hex digit. */
int symcache_build_id_parse(const char *text, uint8_t id[SYMCACHE_BUILD_ID_MAX],
			    size_t *nibbles, struct sc_error *err);

/* Reads a whole build ID, of *len bytes. False: it is none, or its beginning. */
bool symcache_build_id_read(const char *text, uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len);

/* Where a debug file lies under a directory of them: "DIR/.build-id/xx/rest.debug".
 * False: a build ID that is too short for that, or no room in buf[0, size). */
bool symcache_build_id_path(char *buf, size_t size, const char *dir, const uint8_t *id, size_t len);

/* The directories of them that are looked in by default; a NULL behind them. */
extern const char *const symcache_debug_dirs[];

#endif

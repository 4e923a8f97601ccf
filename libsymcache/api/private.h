/* private.h: what libsymcache-build.so needs of libsymcache.so and no one else may. */
#ifndef SC_API_PRIVATE_H
#define SC_API_PRIVATE_H

#include <stdbool.h>
#include <stdarg.h>
#include <stdio.h>
#include <symcache.h>

struct symstore;
struct symcache_finder;
struct symcache_mapping;
struct symcache_space;

/* The struct symstore of a handle, ready to be read or written. `version`: the caller's
 * symcache_version; another one has other structs: SYMCACHE_EUNSUPPORTED. */
SYMCACHE_API int symcache_private_store(struct symcache_store *s, const char *version, bool write,
					struct symstore **ret, struct symcache_error *err);

/* What the stores of a space lack is asked of `fallback`, which is copied; its ctx is destroyed
 * with the space, or if this fails. The same of versions. SYMCACHE_EINVAL: it has a fallback. */
SYMCACHE_API int symcache_private_space(struct symcache_space *s, const char *version,
					const struct symcache_finder *fallback,
					void (*destroy)(void *ctx), struct symcache_error *err);

/* Maps what another process has: the file is known by what its image says. */
SYMCACHE_API int symcache_private_map(struct symcache_space *s, const char *version,
				      const struct symcache_mapping *m, struct symcache_error *err);

/* The frame of code that a JIT made and named. */
static inline struct symcache_frame api_jit_frame(const char *name)
{
	return (struct symcache_frame){ .function = name, .file = "??",
		.function_id = SYMCACHE_UNKNOWN, .flags = SYMCACHE_FRAME_NO_FILE };
}

/* Does a struct of options, `size` bytes of it, have the `known` ones that we know, and nothing
 * but zeros behind them? A newer program may ask for what we do not know. */
static inline bool api_options_fit(const void *options, size_t size, size_t known)
{
	const char *bytes = options;

	for (size_t i = known; i < size; i++)
		if (bytes[i])
			return false;
	return size >= known;
}
#define api_fits(options) api_options_fit(options, (options)->size, sizeof(*(options)))

/* Fills an error; returns `code`. */
static inline int __attribute__((format(printf, 3, 4)))
api_error(struct symcache_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	if (err) {
		err->code = code;
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	}
	va_end(ap);
	return code;
}

/* Hands on a struct sc_error; returns its code. */
#define api_fail(err, e) api_error(err, (e)->code, "%s", (e)->msg)

#endif

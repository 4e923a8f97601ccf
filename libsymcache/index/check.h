/*
 * check.h: which files of a release lack symbols. Caches of ELF files, in folders and archives, are
 * built as for a store, and dropped; for bundles and stores their records are enough.
 */
#ifndef SYMCACHE_CHECK_H
#define SYMCACHE_CHECK_H

#include "libsymcache/write/build.h"

/* What a file lacks. To require one of these is to require those before it, too. */
enum symcache_lack { SYMCACHE_LACKS_ID, SYMCACHE_LACKS_SYMBOLS, SYMCACHE_LACKS_LINES };

struct symcache_finding {
	enum symcache_lack lacks;
	char *text;                /* one line */
};

enum { SYMCACHE_FINDINGS_MAX = 4 };

/* A file, or an entry of a bundle or store. */
struct symcache_checked {
	const char *path;
	uint8_t build_id[SYMCACHE_BUILD_ID_MAX];
	size_t build_id_len;       /* 0: not known */
	bool derived;              /* it has none of its own */
	uint32_t sources;          /* SYMCACHE_FROM_… */
	uint64_t bad_units;
	uint64_t code_bytes, line_bytes; /* of code, and of code with lines */
	struct symcache_finding findings[SYMCACHE_FINDINGS_MAX];
	size_t num_findings;
	bool breach;               /* it lacks what is required, */
	bool allowed;              /* but a pattern of `allow` matches it */
};

/* Sums over all files. */
struct symcache_check_sums {
	uint64_t checked, breaches, allowed; /* files; those allowed are not counted as breaches */
	uint64_t code_bytes, line_bytes;
};

struct symcache_check_options {
	struct symcache_build_options build;
	bool follow;               /* go into folders that links lead to */
	enum symcache_lack require; /* to lack this, or what is before it, is a breach */
	const char *const *allow;  /* shell patterns (symstore_name_matches()) of files that need not
				    * have it; ends with NULL; NULL: none */
	struct symcache_check_sums *sums; /* the sums of this call are added */
	void (*file)(void *ctx, const struct symcache_checked *file);
	/* The store with the entries that those of a bundle are packed against; NULL: there is
	 * none. */
	struct symstore *(*old_store)(void *ctx);
	/* Bytes of files, or entries of a bundle; `total` 0: not known. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total, const char *item);
	void *ctx;
};

/* Checks the files at paths[0, n). A file without debug information counts as having that of any
 * other file there with the same build ID. Object files and files that are not ELF files are left
 * out. Errors as symcache_index(). */
int symcache_check_files(const char *const *paths, size_t n,
			 const struct symcache_check_options *options, struct sc_error *err);

/* Checks the entries of a bundle or a store. Errors as symbundle_read(). */
int symcache_check_bundle(const char *path, const struct symcache_check_options *options,
			  struct sc_error *err);

#endif

/* write.h: writes what was chosen as a bundle; see bundle.h. */
#ifndef BUNDLE_WRITE_H
#define BUNDLE_WRITE_H

#include "libsymcache/bundle/manifest.h"

struct bundle_source {
	struct symstore_reader *reader;
	const struct manifest *manifest;
	const char *text;              /* the manifest as JSON */
	size_t text_len;
	const uint8_t *signature;      /* SIGNATURE_SIZE bytes, or NULL */
	int level;                     /* of packing */
	symbundle_progress_fn *progress;
	void *ctx;
};

/* The name of a bundle with a hash in it, on the heap. NULL: out of memory. */
char *bundle_name_with(const char *path, const char *hash);

/* As symbundle_export(). */
int bundle_write(const char *path, enum symbundle_shape shape, const struct bundle_source *source,
		 struct sc_error *err);

#endif

/*
 * Fuzz target: any bytes as a bundle in one file, an archive or a store. What is handed
 * on is a valid cache under a build ID.
 */
#include "libsymcache/bundle/bundle.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int take(void *ctx, const struct symstore_entry *entry, const void *bytes, size_t size,
		struct sc_error *err)
{
	struct symcache cache;

	(void)ctx;
	if (!entry->build_id_len || entry->build_id_len > SYMCACHE_BUILD_ID_MAX ||
	    symcache_open(&cache, bytes, size, err) || symcache_verify(&cache, NULL, NULL))
		abort();
	return 0;
}

static void fault(void *ctx, const char *name, const char *why)
{
	if (!name || !*why)
		abort();
	++*(size_t *)ctx;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t faults = 0;
	const struct symbundle_reader reader = {
		.entry = take, .fault = fault, .ctx = &faults,
	};
	struct sc_error err;
	char path[64];
	int fd = memfd_create("bundle", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	symbundle_read(path, &reader, &err);
	close(fd);
	return 0;
}

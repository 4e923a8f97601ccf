/*
 * Fuzz target: the pages of a file that says it is an LMDB file. The walk ends,
 * and reads nothing outside of the file's bytes.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libsymcache/store/pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool go_on(void *ctx, const char *fault)
{
	(void)fault;
	return --*(int *)ctx > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct symstore_snapshot snapshot;
	int faults = 1000;
	struct symstore_report report = { .fn = go_on, .ctx = &faults };

	if (fd < 0 && (fd = memfd_create("store", 0)) < 0)
		abort();
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (!symstore_snapshot_read(fd, SYMSTORE_ANY_TXN, &snapshot, NULL))
		symstore_snapshot_check(data, size, &snapshot, &report);
	return 0;
}

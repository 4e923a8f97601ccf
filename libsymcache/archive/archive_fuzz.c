/* Fuzz target: any archive is walked, and the ELF files in it are unpacked. */
#include "libsymcache/archive/nested.h"
#include "libsymcache/base/utf8.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int unpack(void *ctx, const struct sc_archive_file *file, struct sc_error *err)
{
	uint64_t bytes;
	int fd, rc;

	(void)ctx;
	/* Names go to terminals. */
	for (const char *c = file->name; *c; c++)
		if (sc_is_control(*c))
			abort();
	if (file->head_len < 4 || memcmp(file->head, "\177ELF", 4))
		abort();
	rc = sc_archive_unpack(file, 1 << 20, &fd, &bytes, err);
	if (rc)
		return rc == SC_ELIMIT || rc == SC_ENOMEM ? rc : 0;
	if ((uint64_t)lseek(fd, 0, SEEK_END) != bytes)
		abort();
	close(fd);
	return 0;
}

static void failed(void *ctx, const char *name, const char *reason)
{
	(void)ctx;
	if (!*name || !*reason)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sc_archive_walk walk = { .elf = unpack, .failed = failed };
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct sc_error err;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	sc_archive_walk(&walk, fd, size, "a", &err);
	close(fd);
	return 0;
}

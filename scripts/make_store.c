/*
 * make_store.c: a store of many entries, to see what its size costs.
 *
 *   make_store STORE ENTRIES CACHE [SIZE]
 *
 * Each entry has the SymCache file CACHE, filled up with zeros to SIZE bytes. Prints the
 * build ID of one in the middle. Zeros take no room on the disk: LMDB's pwrite() and
 * writev() are those below, which leave holes.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include "libsymcache/store/store.h"

enum { BATCH = 2000, BLOCK = 1 << 16 };

static uint8_t *cache;
static size_t cache_size, size;

ssize_t pwrite(int fd, const void *data, size_t n, off_t at)
{
	ssize_t (*real)(int, const void *, size_t, off_t) =
		(ssize_t (*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite64");
	static const uint8_t zeros[BLOCK];
	struct stat st;

	if (n <= 1 << 20 || fstat(fd, &st))
		return real(fd, data, n, at);
	if (st.st_size < at + (off_t)n && ftruncate(fd, at + (off_t)n))
		return -1;
	for (size_t i = 0; i < n; i += BLOCK) {
		const size_t part = n - i < BLOCK ? n - i : BLOCK;

		if (memcmp((const uint8_t *)data + i, zeros, part) &&
		    real(fd, (const uint8_t *)data + i, part, at + (off_t)i) != (ssize_t)part)
			return -1;
	}
	return (ssize_t)n;
}

/* LMDB's way with pages that lie together: from the file's position on. */
ssize_t writev(int fd, const struct iovec *parts, int n)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	ssize_t all = 0;

	for (int i = 0; i < n; i++) {
		if (pwrite(fd, parts[i].iov_base, parts[i].iov_len, at) !=
		    (ssize_t)parts[i].iov_len)
			return -1;
		at += (off_t)parts[i].iov_len;
		all += (ssize_t)parts[i].iov_len;
	}
	return lseek(fd, at, SEEK_SET) < 0 ? -1 : all;
}

static void fill(void *ctx, void *dst)
{
	(void)ctx;
	memcpy(dst, cache, cache_size);
	/* A large one is fresh memory: zeros that need not be touched. */
	if (size <= 1 << 20)
		memset((uint8_t *)dst + cache_size, 0, size - cache_size);
}

static void fail(const char *what)
{
	fprintf(stderr, "make_store: %s\n", what);
	exit(2);
}

/* Build IDs are spread as real ones are. */
static void make_id(uint64_t n, uint8_t id[20])
{
	for (int i = 0; i < 20; i++) {
		n = n * 6364136223846793005u + 1442695040888963407u;
		id[i] = (uint8_t)(n >> 56);
	}
}

int main(int argc, char **argv)
{
	struct symstore_writer *writer;
	struct symstore *store;
	struct sc_error err;
	uint8_t id[20];
	struct stat st;
	size_t entries;
	FILE *f;

	if (argc < 4 || !(f = fopen(argv[3], "re")) || fstat(fileno(f), &st))
		fail("usage: make_store STORE ENTRIES CACHE [SIZE]");
	cache_size = (size_t)st.st_size;
	cache = malloc(cache_size);
	if (!cache || fread(cache, 1, cache_size, f) != cache_size)
		fail("cannot read the cache");
	fclose(f);
	entries = strtoull(argv[2], NULL, 0);
	size = argc > 4 ? strtoull(argv[4], NULL, 0) : cache_size;
	if (size < cache_size)
		size = cache_size;
	if (symstore_open(argv[1], SYMSTORE_WRITE, &store, &err))
		fail(err.msg);
	for (size_t n = 0; n < entries;) {
		const size_t batch = size > 1 << 20 ? 1 : BATCH;

		if (symstore_write_begin(store, &writer, &err))
			fail(err.msg);
		for (size_t i = 0; i < batch && n < entries; i++, n++) {
			char path[64];
			struct symstore_entry e = {
				.build_id_len = 20, .sources = SYMCACHE_FROM_DWARF, .cache_size = size,
				.source_size = 5 * size, .source_hash = { n, ~n }, .time = 1700000000 + (int64_t)n,
				.source_path = path, .tool_version = "symcache", .tags = "release=1.4.2",
			};

			snprintf(path, sizeof(path), "/usr/lib/release/lib%zu.so.1.4.2", n);
			make_id(n, e.build_id);
			if (symstore_put(writer, &e, fill, NULL, NULL, &err))
				fail(err.msg);
		}
		if (symstore_commit(writer, &err))
			fail(err.msg);
	}
	symstore_close(store);
	make_id(entries / 2, id);
	for (int i = 0; i < 20; i++)
		printf("%02x", id[i]);
	putchar('\n');
	return 0;
}

/* The two meta pages of a file made by hand, and the same with one field changed: which snapshot is
 * read, or why none is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/store/pages.h"

/* In place of libc's: damaged meta pages are read again for 50 ms, since a writer may be at work.
 */
int nanosleep(const struct timespec *request, struct timespec *left)
{
	(void)request;
	(void)left;
	return 0;
}

/* Where the fields lie in a meta page; the tree of free pages, then the main tree. */
enum { FLAGS = 10, MAGIC = 16, VERSION = 20, PAGE_SIZE = 40, FREE_DEPTH = 46, FREE_ROOT = 80, DEPTH = 94,
       ROOT = 128, LAST = 136, TXN = 144, SIZE = 4096 };

static void put(uint8_t *page, size_t at, size_t width, uint64_t value)
{
	memcpy(page + at, &value, width);
}

/* Page `i` is of transaction 5 + i. */
static void make(uint8_t file[2 * SIZE])
{
	memset(file, 0, 2 * SIZE);
	for (size_t i = 0; i < 2; i++) {
		uint8_t *p = file + i * SIZE;

		put(p, 0, 8, i);
		put(p, FLAGS, 2, SYMSTORE_PAGE_META);
		put(p, MAGIC, 4, 0xbeefc0de);
		put(p, VERSION, 4, 1);
		put(p, PAGE_SIZE, 4, SIZE);
		put(p, FREE_ROOT, 8, UINT64_MAX);
		put(p, DEPTH, 2, 1);
		put(p, ROOT, 8, 2 + i);
		put(p, LAST, 8, 10 + i);
		put(p, TXN, 8, 5 + i);
	}
}

static void read_as(const uint8_t *file, size_t size, size_t txn, char *text, size_t room)
{
	const int fd = memfd_create("store", MFD_CLOEXEC);
	struct sc_error err = { .msg = "" };
	struct symstore_snapshot s;
	int rc;

	assert_int_equal(write(fd, file, size), size);
	rc = symstore_snapshot_read(fd, txn, &s, &err);
	if (rc)
		snprintf(text, room, "%d: %s", rc, err.msg);
	else
		snprintf(text, room, "%zu: pages of %zu up to %zu, root %zu, %zu bytes", s.txn, s.page_size,
			 s.last_page, s.trees[1].root, (size_t)s.file_size);
	close(fd);
}

#define NEWEST "6: pages of 4096 up to 11, root 3, 8192 bytes"
#define OLDER "5: pages of 4096 up to 10, root 2, 8192 bytes"

static void fields(void **state)
{
	enum { A = 1, B = 2, BOTH = 3 };
	static const struct {
		int pages;
		size_t at, width;
		uint64_t value;
		size_t txn;
		const char *want;
	} cases[] = {
		{ 0, 0, 0, 0, 0, NEWEST }, { 0, 0, 0, 0, 6, NEWEST }, { 0, 0, 0, 0, 5, OLDER },
		{ 0, 0, 0, 0, 4, "-1: transaction 4 is no longer there" },
		{ 0, 0, 0, 0, 7, "-1: transaction 7 is no longer there" },
		{ A, TXN, 8, 6, 0, "6: pages of 4096 up to 10, root 2, 8192 bytes" },
		{ A, TXN, 8, 7, 0, "7: pages of 4096 up to 10, root 2, 8192 bytes" },
		{ A, TXN, 8, 7, 6, NEWEST },
		{ A, FLAGS, 2, 0, 0, "-5: not a store: no LMDB meta page at offset 0" },
		{ B, FLAGS, 2, 2, 0, "-5: damaged: no meta page at offset 4096" },
		{ A, MAGIC, 4, 1, 0, "-5: not a store: no LMDB meta page at offset 0" },
		{ A, MAGIC, 4, 0xdec0efbe, 0, "-6: damaged, or written on a machine of another word size or byte order" },
		{ A, MAGIC - 4, 4, 0xbeefc0de, 0, NEWEST },
		{ B, MAGIC, 4, 1, 0, "-5: damaged: no meta page at offset 4096" },
		{ A, VERSION, 4, 2, 0, "-6: LMDB data version 2; this program knows 1" },
		{ B, VERSION, 4, 999, 0, "-6: LMDB data version 999; this program knows 1" },
		{ BOTH, PAGE_SIZE, 4, 256, 0, "-5: damaged: a page size of 256" },
		{ BOTH, PAGE_SIZE, 4, 511, 0, "-5: damaged: a page size of 511" },
		{ BOTH, PAGE_SIZE, 4, 512, 0, "-5: damaged: no meta page at offset 512" },
		{ BOTH, PAGE_SIZE, 4, 4095, 0, "-5: damaged: a page size of 4095" },
		{ BOTH, PAGE_SIZE, 4, 0x10000, 0, "-5: damaged: no meta page at offset 65536" },
		{ BOTH, PAGE_SIZE, 4, 0x10001, 0, "-5: damaged: a page size of 65537" },
		{ BOTH, PAGE_SIZE, 4, 0x20000, 0, "-5: damaged: a page size of 131072" },
		{ B, PAGE_SIZE, 4, 8192, 0, "-5: damaged: a page size of 8192, and of 4096" },
		{ A, PAGE_SIZE, 4, 8192, 0, "-5: damaged: no meta page at offset 8192" },
		{ B, LAST, 8, 0, 0, "-5: damaged: 0 as the last page" },
		{ B, LAST, 8, 1, 0, "-5: damaged: tree 1 has root page 3 of 1 and depth 1" },
		{ B, LAST, 8, SIZE_MAX, 0, "-5: damaged: 18446744073709551615 as the last page" },
		{ B, LAST, 8, 1 << 20, 0, "6: pages of 4096 up to 1048576, root 3, 8192 bytes" },
		{ B, LAST, 8, (1 << 20) + 2, 0, "6: pages of 4096 up to 1048578, root 3, 8192 bytes" },
		{ B, LAST, 8, (1 << 20) + 3, 0, "-5: damaged: cut off at 8192 bytes, it has 1048580 pages" },
		{ B, ROOT, 8, 1, 0, "-5: damaged: tree 1 has root page 1 of 11 and depth 1" },
		{ B, ROOT, 8, 2, 0, "6: pages of 4096 up to 11, root 2, 8192 bytes" },
		{ B, ROOT, 8, 11, 0, "6: pages of 4096 up to 11, root 11, 8192 bytes" },
		{ B, ROOT, 8, 12, 0, "-5: damaged: tree 1 has root page 12 of 11 and depth 1" },
		{ B, DEPTH, 2, 0, 0, "-5: damaged: tree 1 has root page 3 of 11 and depth 0" },
		{ B, DEPTH, 2, 33, 0, "-5: damaged: tree 1 has root page 3 of 11 and depth 33" },
		{ B, DEPTH, 2, 32, 0, NEWEST },
		{ B, FREE_ROOT, 8, 1, 0, "-5: damaged: tree 0 has root page 1 of 11 and depth 0" },
		/* The older one has no say, unless it is asked for. */
		{ A, ROOT, 8, 1, 0, NEWEST },
		{ A, ROOT, 8, 1, 5, "-5: damaged: tree 1 has root page 1 of 10 and depth 1" },
	};
	uint8_t file[2 * SIZE];
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		make(file);
		for (int p = 0; p < 2; p++)
			if (cases[i].pages & 1 << p)
				put(file + p * SIZE, cases[i].at, cases[i].width, cases[i].value);
		read_as(file, sizeof(file), cases[i].txn, text, sizeof(text));
		if (strcmp(text, cases[i].want))
			fail_msg("case %zu: %s", i, text);
	}
}

/* Other machines have the magic number elsewhere; a file may end anywhere. */
static void other_files(void **state)
{
	static const struct { size_t at; uint32_t magic; size_t size; const char *want; } cases[] = {
		{ 12, 0xbeefc0de, 100, "-6: " }, { 12, 0xdec0efbe, 100, "-6: " }, { 16, 0xdec0efbe, 100, "-6: " },
		{ 20, 0xbeefc0de, 100, "-5: not a store" }, { 8, 0xbeefc0de, 100, "-5: not a store" },
		{ 12, 0xbeefc0de, 15, "-5: not a store" }, { 12, 0xbeefc0de, 16, "-6: " }, { 0, 0, 0, "-5: not a store" },
	};
	uint8_t file[2 * SIZE];
	char text[300];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(file, 0, sizeof(file));
		put(file, cases[i].at, 4, cases[i].magic);
		read_as(file, cases[i].size, SYMSTORE_ANY_TXN, text, sizeof(text));
		if (strncmp(text, cases[i].want, strlen(cases[i].want)))
			fail_msg("case %zu: %s", i, text);
	}
	make(file);
	read_as(file, SIZE + TXN + 8, SYMSTORE_ANY_TXN, text, sizeof(text));
	assert_string_equal(text, "6: pages of 4096 up to 11, root 3, 4248 bytes");
	read_as(file, SIZE, SYMSTORE_ANY_TXN, text, sizeof(text));
	assert_string_equal(text, "-5: damaged: no meta page at offset 4096");
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(fields), cmocka_unit_test(other_files) };

	return cmocka_run_group_tests_name("snapshot", tests, NULL, NULL);
}

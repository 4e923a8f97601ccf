/* Archives that are written: what comes back of them, how small they are, and what is said where no more fits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <archive.h>

/* libarchive writes 2 GiB at once at most. */
static la_ssize_t write_piece(struct archive *a, const void *data, size_t size)
{
	return archive_write_data(a, data, size < 70000 ? size : 70000);
}

#define archive_write_data write_piece
#include "libsymcache/archive/archive.c"

#include <cmocka.h>

#include "libsymcache/base/testing.h"

/* What was written comes back, with its times; what was not finished is not an archive. */
static void test_writer(void **state)
{
	static uint8_t bytes[300000];
	char path[100], got[100], command[200];
	struct symarchive_writer *w;
	struct symarchive *a;
	struct sc_error err;
	const char *name;
	size_t len, total = 0;
	FILE *tar;
	int fd;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i >> 8 ^ i);
	snprintf(path, sizeof(path), "%s/w.tar.zst", testing_dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_int_equal(symarchive_create(fd, 3, &w, &err), 0);
	assert_int_equal(symarchive_add(w, "one", "1", 1, 1700000000, &err), 0);
	assert_int_equal(symarchive_add(w, "dir/two", bytes, sizeof(bytes), 0, &err), 0);
	assert_int_equal(symarchive_finish(w, &err), 0);
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(symarchive_open(fd, NULL, &a, &err), 0);
	assert_int_equal(symarchive_next(a, &name, &err), 0);
	assert_string_equal(name, "one");
	assert_int_equal(symarchive_read(a, got, sizeof(got), &len, &err), 0);
	assert_int_equal(len, 1);
	assert_int_equal(symarchive_next(a, &name, &err), 0);
	assert_string_equal(name, "dir/two");
	while (!symarchive_read(a, got, sizeof(got), &len, &err) && len) {
		assert_memory_equal(got, bytes + total, len);
		total += len;
	}
	assert_int_equal(total, sizeof(bytes));
	assert_int_equal(symarchive_next(a, &name, &err), SC_ENOTFOUND);
	symarchive_close(a);
	close(fd);
	snprintf(command, sizeof(command), "TZ=UTC tar --zstd --full-time -tvf %s", path);
	tar = popen(command, "r");
	assert_non_null(fgets(got, sizeof(got), tar));
	assert_int_equal(strncmp(got, "-rw-r--r-- ", 11), 0);
	assert_non_null(strstr(got, " 1 2023-11-14 22:13:20 one"));
	pclose(tar);
}

/* A higher level makes it smaller, with two digits, too. */
static void test_levels(void **state)
{
	static const int levels[] = { 1, 9, 10, 19 };
	static uint8_t bytes[1 << 18];
	off_t size, before = INT64_MAX;
	uint32_t x = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) {
		x = x * 1664525 + 1013904223;
		bytes[i] = (uint8_t)"0123456789abcdef"[x >> 24 & (i / 64 % 3 ? 15 : 3)];
		if (i > 5000 && i / 16 % 5)
			bytes[i] = bytes[i - 300 - i / 4096 % 7];
	}
	for (size_t i = 0; i < 4; i++) {
		const int fd = memfd_create("x", MFD_CLOEXEC);
		struct symarchive_writer *w;
		struct sc_error err;

		assert_int_equal(symarchive_create(fd, levels[i], &w, &err), 0);
		assert_int_equal(symarchive_add(w, "a", bytes, sizeof(bytes), 0, &err), 0);
		assert_int_equal(symarchive_finish(w, &err), 0);
		size = lseek(fd, 0, SEEK_END);
		assert_true(size < before);
		before = size;
		close(fd);
	}
}

/* Who cannot be written to. */
static void test_faults(void **state)
{
	static uint8_t bytes[1 << 19];
	struct symarchive_writer *w;
	struct sc_error err;
	int fd, rc;

	(void)state;
	for (size_t i = 0; i < sizeof(bytes); i++) /* so that it does not pack */
		bytes[i] = (uint8_t)(i * i * 2654435761u >> 13);
	fd = open("/dev/full", O_WRONLY);
	assert_int_equal(symarchive_create(fd, 1, &w, &err), 0);
	for (rc = 0; !rc;)
		rc = symarchive_add(w, "a", bytes, sizeof(bytes), 0, &err);
	assert_int_equal(rc, SC_EFULL);
	assert_string_equal(err.msg, "No space left on device");
	symarchive_abort(w);
	close(fd);
	fd = open("/dev/null", O_RDONLY);
	assert_int_equal(symarchive_create(fd, 1, &w, &err), 0);
	assert_int_equal(symarchive_finish(w, &err), SC_ESYS);
	assert_string_equal(err.msg, "Bad file descriptor");
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writer), cmocka_unit_test(test_levels), cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}

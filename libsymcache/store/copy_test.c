/* Private copies: all that is in the store, also where its file has holes; and why there is none. */
#include "libsymcache/store/testing.h"

#include <fcntl.h>
#include <sys/stat.h>

enum { LARGE = 4 << 20, SMALL = 300000 };

/* A store whose second entry was removed: a hole is where it lay, and behind the last page. */
static void make_with_holes(void)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	const struct symstore_entry e = test_entry(2, 0);
	struct symstore_writer *writer;
	struct symstore_reader *reader;
	const void *data;
	struct stat st;
	size_t size;
	off_t at;
	int fd;

	for (uint32_t n = 1; n <= 3; n++)
		assert_ok(test_put(store, n, n == 2 ? LARGE : SMALL, &test_err));
	reader = test_reader(store);
	assert_ok(symstore_get(reader, e.build_id, e.build_id_len, &data, &size, &test_err));
	at = ((const uint8_t *)data - store->map + 4095) / 4096 * 4096;
	symstore_read_end(reader);
	writer = test_writer(store);
	assert_ok(symstore_remove(writer, e.build_id, e.build_id_len, NULL, &test_err));
	assert_ok(symstore_commit(writer, &test_err));
	symstore_close(store);
	fd = open(test_path, O_RDWR);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at, LARGE - 8192), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(ftruncate(fd, st.st_size + LARGE), 0);
	close(fd);
}

static void with_holes(void **state)
{
	struct symstore_info info;
	struct symstore_reader *reader;
	struct symstore *copy;
	struct stat st;

	(void)state;
	make_with_holes();
	assert_int_equal(stat(test_path, &st), 0);
	unlink(test_lock);
	assert_ok(symstore_open_copy(test_path, &copy, &test_err));
	assert_string_equal(symstore_path(copy), test_path);
	assert_int_equal(access(test_lock, F_OK), -1);
	/* What becomes of the file is of no interest any more. */
	assert_int_equal(truncate(test_path, 4096), 0);
	unlink(test_path);
	reader = test_reader(copy);
	test_has(reader, 1, SMALL);
	test_has(reader, 3, SMALL);
	assert_ok(symstore_info(reader, &info, &test_err));
	assert_int_equal(info.entries, 2);
	assert_int_equal(info.file_size, st.st_size);
	assert_false(info.locked);
	symstore_read_end(reader);
	test_valid(copy);
	symstore_close(copy);
}

static void refused(void **state)
{
	struct symstore *copy = (void *)1;
	char want[200];

	(void)state;
	assert_int_equal(symstore_open_copy(test_path, &copy, &test_err), SC_ESYS);
	snprintf(want, sizeof(want), "store %s: cannot open: No such file or directory", test_path);
	assert_string_equal(test_err.msg, want);
	assert_null(copy);
	close(open(test_path, O_CREAT | O_WRONLY, 0600));
	assert_int_equal(symstore_open_copy(test_path, &copy, &test_err), SC_EFORMAT);
	unlink(test_path);
	make_with_holes();
	setenv("TMPDIR", "/nonexistent", 1);
	assert_int_equal(symstore_open_copy(test_path, &copy, &test_err), SC_ESYS);
	snprintf(want, sizeof(want), "store %s: cannot copy it to /nonexistent (TMPDIR): No such file or directory", test_path);
	assert_string_equal(test_err.msg, want);
	unsetenv("TMPDIR");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(with_holes, test_setup), cmocka_unit_test_setup(refused, test_setup),
	};

	return cmocka_run_group_tests_name("copy", tests, test_group_setup, test_group_teardown);
}

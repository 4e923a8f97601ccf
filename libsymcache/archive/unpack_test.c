/* A file in an archive → a descriptor: where its bytes go, how many there may be, and what is said if it fails. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/archive/nested.h"
#include "libsymcache/base/testing.h"

enum { SIZE = 700000 };

static const char folder_is_gone[] = "cannot unpack it in /nonexistent: No such file or directory",
	bomb[] = "it expands to too many bytes for its size";

static const struct {
	uint64_t budget, memory;
	int rc;
	const char *why; /* NULL: whatever libarchive says */
	bool cut;        /* the archive is cut off */
} cases[] = {
	{ SIZE, SIZE, 0, "", false }, { SIZE + 1, UINT64_MAX, 0, "", false }, { SIZE - 1, SIZE, SC_ELIMIT, bomb, false },
	{ 300000, SIZE, SC_ELIMIT, bomb, false }, { 1, SIZE, SC_ELIMIT, bomb, false }, { 0, SIZE, SC_ELIMIT, bomb, false },
	/* What does not fit into memory goes to a folder, which is not there. */
	{ SIZE, SIZE - 1, SC_ESYS, folder_is_gone, false }, { SIZE, 0, SC_ESYS, folder_is_gone, false },
	{ SIZE, SIZE, SC_EFORMAT, NULL, true }, { SIZE - 1, SIZE, SC_EFORMAT, NULL, true },
};

static void test_cases(void **state)
{
	(void)state;
	setenv("TMPDIR", "/nonexistent", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t budget = cases[i].budget, size = 7;
		struct sc_archive_file file = { .name = "big", .head = (const uint8_t *)"" };
		struct sc_error err = { .msg = "" };
		const char *name;
		char path[100];
		int fd, unpacked = 7, rc;

		snprintf(path, sizeof(path), "%s/%s", testing_dir, cases[i].cut ? "cut" : "whole");
		fd = open(path, O_RDONLY);
		assert_int_equal(symarchive_open(fd, &budget, &file.archive, &err), 0);
		assert_int_equal(symarchive_next(file.archive, &name, &err), 0);
		rc = sc_archive_unpack(&file, cases[i].memory, &unpacked, &size, &err);
		if (rc != cases[i].rc || (cases[i].why && strcmp(err.msg, cases[i].why)))
			fail_msg("case %zu: %d, %s", i, rc, err.msg);
		if (rc) {
			assert_int_equal(unpacked, -1);
			assert_true(*err.msg);
		} else {
			assert_int_equal(size, SIZE);
			assert_int_equal(testing_run("cmp /proc/%d/fd/%d %s/big", getpid(), unpacked, testing_dir), 0);
			close(unpacked);
		}
		symarchive_close(file.archive);
		close(fd);
	}
}

static int set_up(void **state)
{
	(void)state;
	return !mkdtemp(testing_dir) || testing_run("cd %s && seq 200000 | head -c %d > big && tar -czf whole big && "
						    "head -c 100000 whole > cut", testing_dir, SIZE);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cases) };

	return cmocka_run_group_tests(tests, set_up, testing_tear_down);
}

/* When entries were last used: what the table keeps, and what it does where it cannot. */
#include "libsymcache/store/testing.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

static char table[96];
static const uint8_t a[20] = { 1 }, b[20] = { 2 };

static int setup(void **state)
{
	test_setup(state);
	snprintf(table, sizeof(table), "%s-used", test_path);
	unlink(table);
	symstore_close(test_open(SYMSTORE_WRITE));
	return 0;
}

static int teardown(void **state)
{
	unlink(table);
	return test_group_teardown(state);
}

static int64_t today(void)
{
	return time(NULL) / 86400 * 86400;
}

static void kept(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	uint32_t marked = 0;
	struct stat first, second;

	(void)state;
	assert_int_equal(symstore_last_used(store, a, 20), 0);
	assert_int_equal(access(table, F_OK), -1); /* asking makes no file */
	symstore_mark_used(store, a, 20, &marked);
	assert_int_equal(symstore_last_used(store, a, 20), today());
	assert_int_equal(symstore_last_used(store, b, 20), 0);
	/* Today it is known already. */
	assert_int_equal(stat(table, &first), 0);
	usleep(20000);
	symstore_mark_used(store, a, 20, &marked);
	marked = 0;
	symstore_mark_used(store, a, 20, &marked);
	assert_int_equal(stat(table, &second), 0);
	assert_true(first.st_mtim.tv_nsec == second.st_mtim.tv_nsec);
	symstore_close(store);
}

/* Many more than one bucket has slots for: the others keep theirs, none is given the
 * day of another. */
static void many(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct stat st;
	size_t known = 0;

	(void)state;
	for (uint32_t i = 0; i < 20000; i++) {
		uint8_t id[4];
		uint32_t marked = 0;

		memcpy(id, &i, sizeof(id));
		if (i % 2)
			symstore_mark_used(store, id, sizeof(id), &marked);
	}
	for (uint32_t i = 0; i < 20000; i++) {
		uint8_t id[4];

		memcpy(id, &i, sizeof(id));
		if (i % 2)
			known += symstore_last_used(store, id, sizeof(id)) == today();
		else
			assert_int_equal(symstore_last_used(store, id, sizeof(id)), 0);
	}
	assert_int_equal(known, 10000);
	assert_int_equal(stat(table, &st), 0);
	assert_true(st.st_size <= 64 + 64 * (1 << 17));
	symstore_close(store);
}

/* Something else under that name is left alone. */
static void not_ours(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	int fd = open(table, O_RDWR | O_CREAT, 0600);
	uint32_t marked = 0;
	struct stat st;

	(void)state;
	assert_int_equal(write(fd, "somebody else's text", 20), 20);
	symstore_mark_used(store, a, 20, &marked);
	assert_int_equal(symstore_last_used(store, a, 20), 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 20);
	close(fd);
	unlink(table);
	assert_int_equal(mkdir(table, 0700), 0);
	symstore_mark_used(store, a, 20, &marked);
	assert_int_equal(symstore_last_used(store, a, 20), 0);
	rmdir(table);
	symstore_close(store);
}

/* On a full disk nothing is kept, and no other file is taken for the table. */
static void full_disk(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	struct rlimit before, none = { 0, RLIM_INFINITY };
	uint32_t marked = 0;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	symstore_mark_used(store, a, 20, &marked);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, handler);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), 0);
	assert_int_equal(marked, 0);
	assert_int_equal(symstore_last_used(store, a, 20), 0);
	symstore_mark_used(store, a, 20, &marked);
	assert_int_equal(symstore_last_used(store, a, 20), today());
	symstore_close(store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	static const struct CMUnitTest tests[] = { TEST(kept), TEST(many), TEST(not_ours), TEST(full_disk) };

	return cmocka_run_group_tests_name("used", tests, test_group_setup, teardown);
}

/* A file once in a process: the second is refused or shared, and the first keeps its locks. */
#include "libsymcache/store/testing.h"

#include <fcntl.h>
#include <sys/wait.h>

/* As another process sees it: has anyone locked the lock file? */
static bool locked(void)
{
	char name[sizeof(test_path) + 8];
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int status, fd;
	pid_t pid = fork();

	if (!pid) {
		snprintf(name, sizeof(name), "%s-lock", test_path);
		fd = open(name, O_RDWR);
		_exit(fd < 0 || fcntl(fd, F_GETLK, &lock) ? 2 : lock.l_type != F_UNLCK);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) < 2);
	return WEXITSTATUS(status);
}

static void second_is_refused(void **state)
{
	struct symstore *first = test_open(SYMSTORE_WRITE), *second;
	char link_path[sizeof(test_path) + 8];

	(void)state;
	snprintf(link_path, sizeof(link_path), "%s.link", test_path);
	unlink(link_path);
	assert_int_equal(link(test_path, link_path), 0);
	for (int mode = SYMSTORE_READ; mode <= SYMSTORE_WRITE; mode++) {
		if (mode == SYMSTORE_FROZEN) /* takes no locks */
			continue;
		assert_int_equal(symstore_open(test_path, mode, &second, &test_err), SC_EINVAL);
		assert_null(second);
		assert_non_null(strstr(test_err.msg, "this process has it open"));
		assert_true(locked());
	}
	assert_int_equal(symstore_open(link_path, SYMSTORE_WRITE, &second, &test_err), SC_EINVAL);
	assert_int_equal(symstore_open_shared(test_path, false, &second, &test_err), SC_EINVAL);
	assert_true(locked());
	assert_ok(test_put(first, 1, 1000, &test_err));
	symstore_close(first);
	assert_false(locked());
	unlink(link_path);
	symstore_close(test_open(SYMSTORE_READ));
}

static void sharers_have_one(void **state)
{
	struct symstore *a, *b;

	(void)state;
	assert_int_equal(symstore_open_shared(test_path, false, &a, &test_err), SC_ENOTFOUND);
	assert_ok(symstore_open_shared(test_path, true, &a, &test_err));
	assert_ok(symstore_open_shared(test_path, false, &b, &test_err));
	assert_ptr_equal(a, b);
	assert_ptr_equal(symstore_share(a), a);
	symstore_leave(a);
	symstore_leave(a);
	assert_true(locked());
	assert_ok(test_put(b, 1, 1000, &test_err));
	symstore_leave(b);
	assert_false(locked());
	symstore_leave(NULL);
	/* Who reads first does not keep others from writing. */
	assert_ok(symstore_open_shared(test_path, false, &a, &test_err));
	assert_ok(symstore_open_shared(test_path, true, &b, &test_err));
	assert_ok(test_put(b, 2, 1000, &test_err));
	symstore_leave(a);
	symstore_leave(b);
}

static void *come_and_go(void *failed)
{
	struct sc_error err;

	for (uint32_t i = 0; i < 200; i++) {
		struct symstore *store;
		struct symstore_reader *reader;

		if (symstore_open_shared(test_path, i % 2, &store, &err) ||
		    symstore_read_begin(store, &reader, &err))
			return failed;
		symstore_read_end(reader);
		symstore_leave(store);
	}
	return NULL;
}

static void threads_share(void **state)
{
	pthread_t thread[4];
	void *failed;

	(void)state;
	symstore_close(test_open(SYMSTORE_WRITE));
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, come_and_go, thread), 0);
	for (int i = 0; i < 4; i++) {
		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	assert_false(locked());
}

/* A child opens anew what its parent has open, and costs it nothing. */
static void children_open_anew(void **state)
{
	struct symstore *store, *anew;
	struct symstore_reader *reader;
	int status;
	pid_t pid;

	(void)state;
	assert_ok(symstore_open_shared(test_path, true, &store, &test_err));
	assert_true(symstore_is_ours(store));
	pid = fork();
	if (!pid) {
		const bool ours = symstore_is_ours(store);

		symstore_leave(store);
		if (ours || symstore_open_shared(test_path, true, &anew, &test_err))
			_exit(2);
		if (anew == store || test_put(anew, 7, 1000, &test_err))
			_exit(3);
		symstore_leave(anew);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(locked());
	reader = test_reader(store);
	test_has(reader, 7, 1000);
	symstore_read_end(reader);
	assert_ok(test_put(store, 8, 1000, &test_err));
	symstore_leave(store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(second_is_refused), TEST(sharers_have_one), TEST(threads_share),
		TEST(children_open_anew),
	};

	return cmocka_run_group_tests_name("once", tests, test_group_setup, test_group_teardown);
}

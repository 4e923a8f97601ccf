/* A file once in a process: who opens it again has the same store, whose locks stay. */
#include "libsymcache/store/testing.h"

#include <fcntl.h>
#include <stdatomic.h>
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

static void all_have_one(void **state)
{
	struct symstore *first = test_open(SYMSTORE_WRITE), *second, *frozen;
	char link_path[sizeof(test_path) + 8];

	(void)state;
	snprintf(link_path, sizeof(link_path), "%s.link", test_path);
	unlink(link_path);
	assert_int_equal(link(test_path, link_path), 0);
	for (int mode = SYMSTORE_READ; mode <= SYMSTORE_WRITE; mode++) {
		if (mode == SYMSTORE_FROZEN) /* takes no locks */
			continue;
		assert_ok(symstore_open(mode & 1 ? link_path : test_path, mode, &second, &test_err));
		assert_ptr_equal(second, first);
		symstore_close(second);
		assert_true(locked());
	}
	frozen = test_open(SYMSTORE_FROZEN);
	assert_ptr_not_equal(frozen, first);
	symstore_close(frozen);
	assert_ptr_equal(symstore_share(first), first);
	symstore_close(first);
	assert_true(locked());
	assert_ok(test_put(first, 1, 1000, &test_err));
	symstore_close(first);
	assert_false(locked());
	unlink(link_path);
}

/* Who reads does not keep others from writing, if it is opened so. */
static void writers_come_later(void **state)
{
	struct symstore *reader, *writer;

	(void)state;
	assert_int_equal(symstore_open_for_all(test_path, &reader, &test_err), SC_ENOTFOUND);
	symstore_close(test_open(SYMSTORE_WRITE));
	reader = test_open(SYMSTORE_READ);
	assert_int_equal(symstore_open(test_path, SYMSTORE_WRITE, &writer, &test_err), SC_EINVAL);
	assert_null(writer);
	assert_non_null(strstr(test_err.msg, "this process has it open"));
	assert_true(locked());
	symstore_close(reader);
	assert_ok(symstore_open_for_all(test_path, &reader, &test_err));
	writer = test_open(SYMSTORE_WRITE);
	assert_ok(test_put(writer, 2, 1000, &test_err));
	symstore_close(writer);
	symstore_close(reader);
	assert_false(locked());
}

static void *come_and_go(void *failed)
{
	struct sc_error err;

	for (uint32_t i = 0; i < 200; i++) {
		struct symstore *store;
		struct symstore_reader *reader;

		if ((i % 2 ? symstore_open(test_path, SYMSTORE_WRITE, &store, &err) :
		     symstore_open_for_all(test_path, &store, &err)) ||
		    symstore_read_begin(store, &reader, &err))
			return failed;
		symstore_read_end(reader);
		symstore_close(store);
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

struct round {
	pthread_barrier_t begin, opened;
	struct symstore *stores[4];
};

struct opener {
	struct round *round;
	struct symstore **store;
};

static void *open_with_others(void *ctx)
{
	const struct opener *o = ctx;

	for (int i = 0; i < 20; i++) {
		pthread_barrier_wait(&o->round->begin);
		if (symstore_open(test_path, SYMSTORE_WRITE, o->store, NULL))
			*o->store = NULL;
		pthread_barrier_wait(&o->round->opened);
		symstore_close(*o->store);
	}
	return NULL;
}

/* Who opens it at the same moment gets the same store: of two, the first that is closed would take
 * the locks of the other along. */
static void opened_at_once(void **state)
{
	struct round round;
	struct opener openers[3];
	pthread_t thread[3];

	(void)state;
	symstore_close(test_open(SYMSTORE_WRITE));
	pthread_barrier_init(&round.begin, NULL, 4);
	pthread_barrier_init(&round.opened, NULL, 4);
	for (int i = 0; i < 3; i++) {
		openers[i] = (struct opener){ &round, &round.stores[i] };
		assert_int_equal(pthread_create(&thread[i], NULL, open_with_others, &openers[i]), 0);
	}
	for (int i = 0; i < 20; i++) {
		pthread_barrier_wait(&round.begin);
		assert_ok(symstore_open(test_path, SYMSTORE_WRITE, &round.stores[3], &test_err));
		pthread_barrier_wait(&round.opened);
		for (int k = 0; k < 3; k++)
			assert_ptr_equal(round.stores[k], round.stores[3]);
		symstore_close(round.stores[3]);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
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
	store = test_open(SYMSTORE_WRITE);
	assert_true(symstore_is_ours(store));
	pid = fork();
	if (!pid) {
		if (symstore_is_ours(store) ||
		    symstore_open(test_path, SYMSTORE_WRITE, &anew, &test_err))
			_exit(2);
		if (anew == store || test_put(anew, 7, 1000, &test_err))
			_exit(3);
		symstore_close(anew);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_true(locked());
	reader = test_reader(store);
	test_has(reader, 7, 1000);
	symstore_read_end(reader);
	assert_ok(test_put(store, 8, 1000, &test_err));
	symstore_close(store);
}

static atomic_bool enough;

static void *open_and_close(void *failed)
{
	struct symstore *store;

	while (!enough) {
		if (symstore_open(test_path, SYMSTORE_WRITE, &store, NULL))
			return failed;
		symstore_close(store);
	}
	return NULL;
}

/* Whatever other threads do at the moment of fork(), a child does not wait for them: they are not in it. */
static void children_never_wait(void **state)
{
	pthread_t thread[3];
	void *failed;

	(void)state;
	symstore_close(test_open(SYMSTORE_WRITE));
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, open_and_close, thread), 0);
	for (int i = 0; i < 20; i++) {
		const pid_t pid = fork();
		struct symstore *anew;
		int status;

		if (!pid) {
			alarm(10);
			_exit(symstore_open(test_path, SYMSTORE_READ, &anew, &test_err) != 0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
	enough = true;
	for (int i = 0; i < 3; i++) {
		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(all_have_one), TEST(writers_come_later), TEST(threads_share),
		TEST(opened_at_once), TEST(children_open_anew), TEST(children_never_wait),
	};

	return cmocka_run_group_tests_name("once", tests, test_group_setup, test_group_teardown);
}

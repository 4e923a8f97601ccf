/*
 * Several processes, and the death of some: writers that queue, readers while
 * a writer works, kill -9 at random moments. TORTURE_ROUNDS sets the number of
 * kills (scripts/torture.sh); a short run belongs to the tests.
 */
#include "libsymcache/store/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static void wait_for(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (status)
		fail_msg("a process ended with status %#x", (unsigned)status);
}

static void give_up(int status)
{
	fprintf(stderr, "writer %ld: %s\n", (long)getpid(), test_err.msg);
	_exit(status);
}

/* In a child: entries [first, first + n), each in its own commit. */
static pid_t start_writer(uint32_t first, uint32_t n, size_t size)
{
	pid_t pid = fork();

	if (!pid) {
		struct symstore *store;

		if (symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err))
			give_up(2);
		for (uint32_t i = first; i < first + n; i++)
			if (test_put(store, i, size, &test_err))
				give_up(3);
		symstore_close(store);
		_exit(0);
	}
	return pid;
}

/* Writers that begin at the same moment, also to make the file: none is lost. */
static void writers_queue(void **state)
{
	pid_t pids[4];

	(void)state;
	for (int round = 0; round < 5; round++) {
		struct symstore_reader *reader;
		struct symstore *store;

		test_remove();
		for (uint32_t i = 0; i < 4; i++)
			pids[i] = start_writer(1000 * i, 10, 30000);
		for (int i = 0; i < 4; i++)
			wait_for(pids[i]);
		store = test_open(SYMSTORE_READ);
		reader = test_reader(store);
		for (uint32_t i = 0; i < 40; i++)
			test_has(reader, i / 10 * 1000 + i % 10, 30000);
		symstore_read_end(reader);
		test_valid(store);
		symstore_close(store);
	}
}

/* The entry that writers of the next test replace all the time. */
static uint64_t fill_version(void *ctx, void *dst)
{
	memset(dst, *(int *)ctx, 200000);
	return XXH3_64bits(dst, 200000);
}

static int replace(struct symstore *store, int version)
{
	struct symstore_entry entry = test_entry(1, 200000);
	struct symstore_writer *writer;

	entry.source_size = (uint64_t)version;
	return symstore_write_begin(store, &writer, NULL) ||
	       symstore_put(writer, &entry, fill_version, &version, NULL, NULL) ||
	       symstore_commit(writer, NULL);
}

/* Readers that open, look and close, or keep a snapshot for a while: the record
 * and the bytes always belong together. */
static int read_versions(void)
{
	static uint8_t want[200000];

	for (int i = 0; i < 20; i++) {
		struct symstore *store;
		struct symstore_reader *reader;
		struct symstore_entry entry = test_entry(1, 0), got;
		const void *data;
		size_t size;

		if (symstore_open(test_path, SYMSTORE_READ, &store, &test_err) ||
		    symstore_read_begin(store, &reader, &test_err)) {
			fprintf(stderr, "%s\n", test_err.msg);
			return 3;
		}
		if (symstore_entry(reader, entry.build_id, 20, &got, NULL) ||
		    symstore_get(reader, entry.build_id, 20, &data, &size, NULL))
			return 4;
		memset(want, (int)got.source_size, sizeof(want));
		for (int again = 0; again < 3; again++, usleep(1000))
			if (size != sizeof(want) || memcmp(data, want, size))
				return 5;
		symstore_read_end(reader);
		symstore_close(store);
	}
	return 0;
}

static void fifty_readers(void **state)
{
	enum { READERS = 50 };
	struct symstore *store = test_open(SYMSTORE_WRITE);
	pid_t pids[READERS];
	int version = 0, status, running = READERS;

	(void)state;
	assert_int_equal(replace(store, version), 0);
	for (int i = 0; i < READERS; i++)
		if (!(pids[i] = fork()))
			_exit(read_versions());
	while (running) {
		assert_int_equal(replace(store, ++version), 0);
		while (running && waitpid(-1, &status, WNOHANG) > 0) {
			assert_int_equal(status, 0);
			running--;
		}
	}
	test_valid(store);
	symstore_close(store);
}

/* A reader that dies keeps its pages only until the next commit. */
static void dead_reader(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;
	struct symstore_info before, after;
	int ready[2];
	pid_t pid;
	char c;

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(replace(store, i), 0);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct symstore *own;

		if (symstore_open(test_path, SYMSTORE_READ, &own, NULL) ||
		    symstore_read_begin(own, &reader, NULL) || write(ready[1], "x", 1) != 1)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	reader = test_reader(store);
	assert_ok(symstore_info(reader, &before, &test_err));
	symstore_read_end(reader);
	for (int i = 0; i < 50; i++)
		assert_int_equal(replace(store, i), 0);
	reader = test_reader(store);
	assert_ok(symstore_info(reader, &after, &test_err));
	symstore_read_end(reader);
	/* 50 × 200 KB would have been added. */
	assert_true(after.file_size >= before.file_size &&
		    after.file_size <= before.file_size + 1000000);
	symstore_close(store);
	close(ready[0]);
	close(ready[1]);
}

/* ---- kill -9 ------------------------------------------------------------- */

enum { BATCH = 20 };

static size_t torture_size(uint32_t n)
{
	return n * 7919 % 60000;
}

/* Commits batch after batch and says so through the pipe after each. */
static int torture(uint32_t batch, int tell)
{
	struct symstore *store;

	if (symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err))
		return 2;
	for (; ; batch++) {
		struct test_cache caches[BATCH];
		struct symstore_writer *writer;

		if (symstore_write_begin(store, &writer, &test_err))
			return 3;
		for (uint32_t i = 0; i < BATCH; i++) {
			/* Every third is one that already exists: freed pages. */
			uint32_t n = (i % 3 ? batch : batch / 2) * BATCH + i;
			struct symstore_entry entry = test_entry(n, torture_size(n));

			caches[i] = (struct test_cache){ n, entry.cache_size };
			if (symstore_put(writer, &entry, test_fill, &caches[i], NULL, &test_err))
				return 4;
		}
		if (symstore_commit(writer, &test_err))
			return 5;
		if (write(tell, &batch, sizeof(batch)) != sizeof(batch))
			return 6;
	}
}

/* All entries of the batches up to `committed` are there, and what is there is
 * whole. */
static void check_batches(uint32_t committed)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;

	test_valid(store);
	reader = test_reader(store);
	for (uint32_t n = 0; n < (committed + 1) * BATCH; n++)
		if (n % BATCH % 3)
			test_has(reader, n, torture_size(n));
	symstore_read_end(reader);
	symstore_close(store);
}

static void killed_writers(void **state)
{
	const char *env = getenv("TORTURE_ROUNDS");
	unsigned rounds = env ? (unsigned)atoi(env) : 20;
	uint32_t committed = 0;
	bool any = false;

	(void)state;
	srand((unsigned)time(NULL));
	for (unsigned round = 0; round < rounds; round++) {
		int tell[2], status;
		uint32_t batch;
		pid_t pid;

		assert_int_equal(pipe(tell), 0);
		pid = fork();
		if (!pid) {
			close(tell[0]);
			_exit(torture(any ? committed + 1 : 0, tell[1]));
		}
		close(tell[1]);
		usleep((useconds_t)(rand() % 60000));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		if (!WIFSIGNALED(status))
			fail_msg("the writer ended by itself: %#x", (unsigned)status);
		while (read(tell[0], &batch, sizeof(batch)) == sizeof(batch)) {
			committed = batch;
			any = true;
		}
		close(tell[0]);
		if (any)
			check_batches(committed);
		/* Begin anew from time to time: the making of the file is torn too. */
		if (round % 10 == 9 || committed > 200) {
			test_remove();
			any = false;
			committed = 0;
		}
	}
}

/* Opening and closing all the time, by many: no one is turned away. */
static void opening_at_once(void **state)
{
	enum { N = 8 };
	pid_t pids[N];

	(void)state;
	symstore_close(test_open(SYMSTORE_WRITE));
	for (int i = 0; i < N; i++) {
		pids[i] = fork();
		if (pids[i])
			continue;
		for (int j = 0; j < 50; j++) {
			struct symstore *store;

			if (symstore_open(test_path, (i + j) % 2 ? SYMSTORE_READ : SYMSTORE_WRITE,
					  &store, &test_err)) {
				fprintf(stderr, "%s\n", test_err.msg);
				_exit(1);
			}
			symstore_close(store);
		}
		_exit(0);
	}
	for (int i = 0; i < N; i++)
		wait_for(pids[i]);
}

/* A lock file in use that claims 2³¹ readers: LMDB would read behind its end. */
static void lying_lock_file(void **state)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	int ready[2], done[2];
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(test_put(store, 1, 1000, &test_err), 0);
	symstore_close(store);
	assert_false(pipe(ready) || pipe(done));
	pid = fork();
	if (!pid) {
		int fd = symstore_open(test_path, SYMSTORE_READ, &store, &test_err) ? -1 :
			open(test_lock, O_WRONLY);

		if (fd < 0 || pwrite(fd, "\0\0\0\x80", 4, 8 + sizeof(pthread_mutex_t) + sizeof(size_t)) != 4 ||
		    write(ready[1], "", 1) != 1 || read(done[0], &byte, 1) != 1)
			_exit(1);
		_exit(0);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	store = test_open(SYMSTORE_READ);
	symstore_close(store);
	assert_int_equal(symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err), SC_EFORMAT);
	assert_non_null(strstr(test_err.msg, "not a valid lock file"));
	assert_int_equal(write(done[1], "", 1), 1);
	wait_for(pid);
	store = test_open(SYMSTORE_WRITE); /* no one uses it now: LMDB makes it anew */
	test_valid(store);
	symstore_close(store);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(done[i]);
	}
}

/* Its blocks are taken before LMDB writes to it, as a full disk would kill who writes to mapped memory;
 * but it stays empty: who sees zeros in it takes it for another program's. */
static void new_lock_file(void **state)
{
	struct stat st;
	bool usable;

	(void)state;
	assert_ok(symstore_lock_file(test_path, "the store", SYMSTORE_WRITE, &usable, &test_err));
	assert_true(usable);
	assert_int_equal(stat(test_lock, &st), 0);
	assert_int_equal(st.st_size, 0);
	assert_true(st.st_blocks >= 8);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(writers_queue), TEST(fifty_readers), TEST(dead_reader), TEST(killed_writers),
		TEST(opening_at_once), TEST(lying_lock_file), TEST(new_lock_file),
	};

	return cmocka_run_group_tests_name("process", tests, test_group_setup, test_group_teardown);
}

/*
 * File systems that lack something: hard links, locks of files, room for the lock file or for much at
 * once, folders that can be synced; and lock files that someone has planted. The C library's calls are
 * replaced here, so that they fail.
 */
#include "libsymcache/store/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "libsymcache/store/upkeep.h"

/* errno of calls that fail; 0: they do not. Of flock(), how often (-1: always). */
static int no_link, no_flock, flock_times, no_room, no_sync;

int link(const char *from, const char *to)
{
	return no_link ? (errno = no_link, -1) : (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int flock(int fd, int how)
{
	if (no_flock && flock_times) {
		flock_times -= flock_times > 0;
		errno = no_flock;
		return -1;
	}
	return (int)syscall(SYS_flock, fd, how);
}

int fallocate(int fd, int mode, off_t from, off_t size)
{
	return no_room ? (errno = no_room, -1) : (int)syscall(SYS_fallocate, fd, mode, from, size);
}

int fsync(int fd)
{
	return no_sync ? (errno = no_sync, -1) : (int)syscall(SYS_fsync, fd);
}

/* What another process does while ours waits. */
static const char *meanwhile;

int usleep(useconds_t microseconds)
{
	const char *command = meanwhile;

	(void)microseconds;
	meanwhile = NULL;
	return command ? system(command) : 0;
}

/* Bytes that one commit may write. */
static size_t most = SIZE_MAX, written;

static bool is_full(size_t size)
{
	written += size;
	errno = ENOSPC;
	return written > most;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return is_full(size) ? -1 : syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t pwritev(int fd, const struct iovec *iov, int n, off_t offset)
{
	size_t size = 0;

	for (int i = 0; i < n; i++)
		size += iov[i].iov_len;
	return is_full(size) ? -1 : syscall(SYS_pwritev, fd, iov, n, offset, 0);
}

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	size_t size = 0;

	for (int i = 0; i < n; i++)
		size += iov[i].iov_len;
	return is_full(size) ? -1 : syscall(SYS_writev, fd, iov, n);
}

int fdatasync(int fd)
{
	written = 0;
	return (int)syscall(SYS_fdatasync, fd);
}

/* Another process, which writes as soon as there is a byte in `go`, and has some time for it while the
 * file is cut. */
static struct { pid_t pid; int go, status; bool asked, done; } other;

int ftruncate(int fd, off_t size)
{
	written = 0; /* what was written in vain is given back */
	other.asked = other.pid && write(other.go, "", 1) == 1;
	for (int i = 0; i < 30 && other.asked && !other.done; i++) {
		poll(NULL, 0, 10);
		other.done = waitpid(other.pid, &other.status, WNOHANG) == other.pid;
	}
	return (int)syscall(SYS_ftruncate, fd, size);
}

static int setup(void **state)
{
	most = SIZE_MAX;
	no_link = no_flock = flock_times = no_room = no_sync = 0;
	return test_setup(state);
}

/* The store is made, has what was put, and is all that there is but for its lock file. */
static void works(void)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;
	char pattern[100];
	glob_t found;

	assert_ok(test_put(store, 1, 5000, &test_err));
	reader = test_reader(store);
	test_has(reader, 1, 5000);
	symstore_read_end(reader);
	test_valid(store);
	symstore_close(store);
	snprintf(pattern, sizeof(pattern), "%s/*", test_dir);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	assert_int_equal(found.gl_pathc, 2);
	globfree(&found);
}

static void without_links(void **state)
{
	(void)state;
	no_link = EPERM;
	works();
	works(); /* it is there now */
}

static void without_locks(void **state)
{
	uint64_t before, after;
	char want[200];

	(void)state;
	no_flock = ENOLCK;
	flock_times = -1;
	works();
	assert_int_equal(symstore_compact(test_path, &before, &after, &test_err), SC_ESYS);
	snprintf(want, sizeof(want), "store %s: cannot lock: No locks available", test_path);
	assert_string_equal(test_err.msg, want);
	/* A signal is no reason. */
	no_flock = EINTR;
	flock_times = 2;
	works();
	assert_int_equal(flock_times, 0);
	flock_times = 1;
	assert_ok(symstore_compact(test_path, &before, &after, &test_err));
	assert_int_equal(flock_times, 0);
}

/* Another has it open: it can be read and written, but not replaced. */
static void not_alone(void **state)
{
	uint64_t before, after;
	char want[200];
	int fd;

	(void)state;
	works();
	fd = open(test_path, O_RDONLY);
	assert_int_equal(flock(fd, LOCK_SH), 0);
	works();
	assert_int_equal(symstore_compact(test_path, &before, &after, &test_err), SC_EINVAL);
	snprintf(want, sizeof(want), "store %s: another process has it open", test_path);
	assert_string_equal(test_err.msg, want);
	close(fd);
	assert_ok(symstore_compact(test_path, &before, &after, &test_err));
}

static void folders(void **state)
{
	static const struct { int error, rc; } cases[] = { { EINVAL, 0 }, { ENOSYS, 0 }, { EIO, SC_ESYS } };
	char want[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symstore *store;

		setup(state);
		no_sync = cases[i].error;
		assert_int_equal(symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err), cases[i].rc);
		if (cases[i].rc) {
			snprintf(want, sizeof(want), "store %s: cannot sync its directory: Input/output error", test_path);
			assert_string_equal(test_err.msg, want);
		}
		symstore_close(store);
	}
}

static bool reads_locked(void)
{
	struct symstore *store = test_open(SYMSTORE_READ);
	struct symstore_reader *reader = test_reader(store);
	struct symstore_info info;

	assert_ok(symstore_info(reader, &info, &test_err));
	test_has(reader, 1, 5000);
	symstore_read_end(reader);
	symstore_close(store);
	return info.locked;
}

/* Where the lock file has no room, or is not one, it is not used: the store is read without, and not
 * written. */
static void lock_files(void **state)
{
	static const struct { const char *command; int no_room, rc; const char *says; } cases[] = {
		{ "true", 0, 0, NULL }, { "rm store-lock", 0, 0, NULL }, { ": > store-lock", 0, 0, NULL },
		{ "head -c 100 /dev/zero > store-lock", 0, 0, NULL },
		{ "echo a text of others, as long as eight words > store-lock", 0, SC_EFORMAT, "is a link or not a valid lock file" },
		{ "printf ab > store-lock", 0, SC_EFORMAT, "is a link or not a valid lock file" },
		{ "mv store-lock storex; ln -s storex store-lock", 0, SC_EFORMAT, "is a link or not a valid lock file" },
		{ "ln -f store-lock storex", 0, SC_EFORMAT, "is a link or not a valid lock file" },
		{ "rm store-lock; mkfifo store-lock", 0, SC_EFORMAT, "is a link or not a valid lock file" },
		{ "true", ENOSPC, SC_EFULL, "cannot make or read the lock file" }, { "true", EDQUOT, SC_EFULL, "cannot make or read" },
		{ "true", EFBIG, SC_ESYS, "cannot make or read" }, { "true", EOPNOTSUPP, 0, NULL },
	};
	char command[400];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symstore *store;

		setup(state);
		works();
		snprintf(command, sizeof(command), "cd %s && %s", test_dir, cases[i].command);
		assert_int_equal(system(command), 0);
		no_room = cases[i].no_room;
		if (reads_locked() != !cases[i].rc)
			fail_msg("%s", cases[i].command);
		const int rc = symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err);
		if (rc != cases[i].rc || (rc && !strstr(test_err.msg, cases[i].says)))
			fail_msg("%s: %d, %s", cases[i].command, rc, rc ? test_err.msg : "");
		symstore_close(store);
	}
}

/* A lock file that another process is about to make: LMDB has written what stands behind its magic
 * number. */
static void half_a_lock_file(void **state)
{
	struct symstore *store;
	char command[400];

	works();
	snprintf(command, sizeof(command), "cd %s && { head -c 30 /dev/zero; echo mutex; } > store-lock", test_dir);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), ": > %s/store-lock", test_dir);
	meanwhile = command;
	assert_ok(symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err));
	assert_null(meanwhile);
	symstore_close(store);
	(void)state;
}

/* The entries [first, first + n) in one commit; returns its code. */
static int put_many(struct symstore *store, uint32_t first, uint32_t n, size_t size)
{
	struct symstore_writer *writer = test_writer(store);
	struct test_cache caches[400];

	assert_true(n <= 400);
	for (uint32_t i = 0; i < n; i++) {
		struct symstore_entry e = test_entry(first + i, size);

		caches[i] = (struct test_cache){ first + i, size };
		assert_ok(symstore_put(writer, &e, test_fill, &caches[i], NULL, &test_err));
	}
	return symstore_commit(writer, &test_err);
}

/* Where the disk has room for small commits alone, entries are removed some at a time; where it has
 * none, it is said which are gone. */
static void removed_by_and_by(void **state)
{
	enum { N = 400, PAGES = 20 };
	struct symstore *store = test_open(SYMSTORE_WRITE);
	struct symstore_reader *reader;
	struct symstore_info info;

	(void)state;
	assert_ok(put_many(store, 0, N, 900));
	for (int room = 0; room < 2; room++) {
		struct symstore_removals list = { 0 };

		for (uint32_t n = 0; n < N; n++) {
			struct symstore_entry e = test_entry(n, 900);

			assert_ok(symstore_removals_add(&list, &e, &test_err));
		}
		written = 0;
		most = room ? PAGES * 4096 : 1;
		assert_int_equal(symstore_remove_all(store, &list, &test_err), room ? 0 : SC_EFULL);
		most = SIZE_MAX;
		for (uint32_t n = 0; n < N; n++)
			assert_int_equal(list.data[n].removed, room);
		symstore_removals_deinit(&list);
		if (!room) { /* a meta page that could not be written needs a fresh start */
			symstore_close(store);
			store = test_open(SYMSTORE_WRITE);
		}
		reader = test_reader(store);
		assert_ok(symstore_info(reader, &info, &test_err));
		assert_int_equal(info.entries, room ? 0 : N);
		symstore_read_end(reader);
		test_valid(store);
	}
	symstore_close(store);
}

/* What a failed commit wrote is cut off while no other process can write. */
static void cut_alone(void **state)
{
	struct symstore_reader *reader;
	struct symstore *store;
	int go[2];
	char byte;

	(void)state;
	works();
	assert_int_equal(pipe(go), 0);
	other.go = go[1];
	other.pid = fork();
	if (!other.pid) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(2);
		_exit(put_many(test_open(SYMSTORE_WRITE), 1000, 200, 8000) != 0);
	}
	close(go[0]);
	store = test_open(SYMSTORE_WRITE);
	written = 0;
	most = 1 << 20;
	assert_int_equal(put_many(store, 2, 200, 8000), SC_EFULL);
	most = SIZE_MAX;
	assert_true(other.asked);
	assert_false(other.done);
	assert_int_equal(waitpid(other.pid, &other.status, 0), other.pid);
	assert_int_equal(other.status, 0);
	other.pid = 0;
	close(go[1]);
	reader = test_reader(store);
	test_has(reader, 1, 5000);
	for (uint32_t n = 1000; n < 1200; n++)
		test_has(reader, n, 8000);
	symstore_read_end(reader);
	test_valid(store);
	symstore_close(store);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, setup)
	static const struct CMUnitTest tests[] = {
		TEST(without_links), TEST(without_locks), TEST(not_alone), TEST(folders), TEST(lock_files),
		TEST(half_a_lock_file), TEST(removed_by_and_by), TEST(cut_alone),
	};

	return cmocka_run_group_tests_name("claim", tests, test_group_setup, test_group_teardown);
}

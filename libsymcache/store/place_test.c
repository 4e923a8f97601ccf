/*
 * Where a store lies: read-only folders, files and mounts, full disks, a
 * failure of each single write.
 *
 * The C library's calls by which LMDB writes are replaced here, so that the
 * n-th can be made to fail. What needs another user or a mount is done in a
 * child and skipped where we may not.
 */
#include "libsymcache/store/testing.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

/* ---- the calls by which LMDB writes --------------------------------------- */

static int fail_after = -1; /* writes that still succeed; −1: all */
static int fail_with;       /* errno; 0: the write is cut short */

static bool fails(void)
{
	if (fail_after < 0 || fail_after-- > 0)
		return false;
	fail_after = 0; /* a full disk stays full */
	errno = fail_with;
	return true;
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	if (!fails())
		return syscall(SYS_pwrite64, fd, data, size, offset);
	return fail_with ? -1 : syscall(SYS_pwrite64, fd, data, size / 2, offset);
}

ssize_t writev(int fd, const struct iovec *iov, int n)
{
	if (!fails())
		return syscall(SYS_writev, fd, iov, n);
	return fail_with ? -1 : syscall(SYS_writev, fd, iov, n / 2);
}

int fdatasync(int fd)
{
	return fails() ? (errno = fail_with ? fail_with : EIO, -1) :
			 (int)syscall(SYS_fdatasync, fd);
}

/* Puts entry `n` with its neighbours: some pages, large and small. */
static int put_three(struct symstore *store, uint32_t n, struct sc_error *err)
{
	struct test_cache caches[3] = { { n, 90000 }, { n + 1, 100 }, { n + 2, 8000 } };
	struct symstore_writer *writer;
	int rc = symstore_write_begin(store, &writer, err);

	for (int i = 0; i < 3 && !rc; i++) {
		struct symstore_entry entry = test_entry(caches[i].n, caches[i].size);

		rc = symstore_put(writer, &entry, test_fill, &caches[i], NULL, err);
	}
	return rc ? rc : symstore_commit(writer, err);
}

static void has_three(struct symstore *store, uint32_t n)
{
	struct symstore_reader *reader = test_reader(store);

	test_has(reader, n, 90000);
	test_has(reader, n + 1, 100);
	test_has(reader, n + 2, 8000);
	symstore_read_end(reader);
}

/* Each write of a commit fails once: the store is as before, and works on. */
static void each_write_fails(void **state)
{
	static const int with[] = { ENOSPC, EDQUOT, EIO, 0 };

	(void)state;
	for (size_t w = 0; w < sizeof(with) / sizeof(*with); w++) {
		int writes = 0;
		bool done = false;

		test_remove();
		for (; !done; writes++) {
			struct symstore *store = test_open(SYMSTORE_WRITE);
			struct symstore_reader *reader;
			struct symstore_entry entry, gone = test_entry(100, 0);
			struct sc_error err;
			int rc;

			assert_ok(put_three(store, 10, &test_err));
			fail_after = writes;
			fail_with = with[w];
			rc = put_three(store, 100, &err);
			done = fail_after > 0;
			fail_after = -1;
			if (done) {
				assert_int_equal(rc, 0);
				symstore_close(store);
				break;
			}
			assert_int_equal(rc, with[w] == ENOSPC || with[w] == EDQUOT ? SC_EFULL :
										      SC_ESYS);
			/* A failed meta page needs a fresh start, others do not. */
			if (put_three(store, 200, &err)) {
				symstore_close(store);
				store = test_open(SYMSTORE_WRITE);
				assert_ok(put_three(store, 200, &test_err));
			}
			test_valid(store);
			has_three(store, 10);
			has_three(store, 200);
			reader = test_reader(store);
			assert_int_equal(symstore_entry(reader, gone.build_id, 20, &entry, &err),
					 SC_ENOTFOUND);
			symstore_read_end(reader);
			symstore_close(store);
		}
		assert_true(writes >= 3);
	}
}

/* The making of a store fails: what is left is nothing, or a whole store. */
static void making_fails(void **state)
{
	(void)state;
	for (int writes = 0; writes < 16; writes++) {
		struct symstore *store;
		struct sc_error err;
		int rc;

		test_remove();
		fail_after = writes;
		fail_with = ENOSPC;
		rc = symstore_open(test_path, SYMSTORE_WRITE, &store, &err);
		fail_after = -1;
		assert_true(rc == 0 || rc == SC_EFULL);
		assert_int_equal(access(test_path, F_OK), rc ? -1 : 0);
		symstore_close(store);
		if (!rc)
			assert_ok(symstore_open(test_path, SYMSTORE_READ, &store, &err));
		symstore_close(store);
		store = test_open(SYMSTORE_WRITE);
		assert_ok(put_three(store, 1, &test_err));
		has_three(store, 1);
		symstore_close(store);
	}
}

/* What a program that was killed left of a store, and whose number is ours, is not in the way. */
static void half_made_before(void **state)
{
	char name[sizeof(test_path) + 32];
	struct symstore *store;
	FILE *f;

	(void)state;
	snprintf(name, sizeof(name), "%s.new.%ld", test_path, (long)getpid());
	f = fopen(name, "w");
	assert_true(f && fputs("half", f) >= 0 && !fclose(f));
	store = test_open(SYMSTORE_WRITE);
	assert_ok(put_three(store, 1, &test_err));
	has_three(store, 1);
	symstore_close(store);
	assert_int_equal(access(name, F_OK), -1);
}

/* ---- places that need a child --------------------------------------------- */

/* In a child as another user if we are root; else permissions are checked
 * for us as well. Returns 0, or the step that failed. */
static int in_child(int (*fn)(void), bool drop)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		if (drop && !geteuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(99);
		_exit(fn());
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static int reads(bool locked, bool lock_file)
{
	struct symstore_info info;
	struct symstore *store;
	struct symstore_reader *reader;
	struct symstore_entry entry = test_entry(1, 0);
	const void *data;
	size_t size;

	if (symstore_open(test_path, SYMSTORE_READ, &store, &test_err)) {
		fprintf(stderr, "%s\n", test_err.msg);
		return 1;
	}
	if (symstore_read_begin(store, &reader, &test_err) ||
	    symstore_get(reader, entry.build_id, 20, &data, &size, &test_err) ||
	    size != 90000 || !test_right(1, data, size))
		return 2;
	if (symstore_info(reader, &info, &test_err) || info.locked != locked)
		return 3;
	if (symstore_check(reader, test_fault, NULL))
		return 4;
	symstore_read_end(reader);
	symstore_close(store);
	return access(test_lock, F_OK) == (lock_file ? 0 : -1) ? 0 : 5;
}

static int reads_without_lock(void)
{
	return reads(false, false);
}

static int reads_beside_lock(void)
{
	return reads(false, true);
}

static int cannot_write(void)
{
	struct symstore *store;

	return symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err) != SC_ESYS ||
	       !strstr(test_err.msg, test_path);
}

static void make_one(void)
{
	struct symstore *store = test_open(SYMSTORE_WRITE);

	assert_ok(put_three(store, 1, &test_err));
	symstore_close(store);
}

static void read_only_places(void **state)
{
	(void)state;
	make_one();
	/* The file and the lock file are somebody else's. */
	chmod(test_dir, 0755);
	chmod(test_path, 0444);
	chmod(test_lock, 0400);
	assert_int_equal(in_child(reads_beside_lock, true), 0);
	assert_int_equal(in_child(cannot_write, true), 0);
	/* No lock file, and none can be made. */
	unlink(test_lock);
	chmod(test_dir, 0555);
	assert_int_equal(in_child(reads_without_lock, true), 0);
	assert_int_equal(in_child(cannot_write, true), 0);
	/* The file may be written, the folder may not. */
	chmod(test_path, 0666);
	assert_int_equal(in_child(reads_without_lock, true), 0);
	assert_int_equal(in_child(cannot_write, true), 0);
	chmod(test_dir, 0755);
}

/* Mounts of a child's own; exit status 77: we may not. */
static int own_mounts(void)
{
	return unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ? 77 : 0;
}

static int on_read_only_mount(void)
{
	if (own_mounts() || mount(test_dir, test_dir, NULL, MS_BIND, NULL) ||
	    mount(NULL, test_dir, NULL, MS_BIND | MS_REMOUNT | MS_RDONLY, NULL))
		return 77;
	return reads(false, false) || cannot_write();
}

static void read_only_mount(void **state)
{
	int rc;

	(void)state;
	make_one();
	unlink(test_lock);
	rc = in_child(on_read_only_mount, false);
	if (rc == 77) {
		print_message("skipped: no right to mount\n");
		skip();
	}
	assert_int_equal(rc, 0);
}

static int fill_disk(void)
{
	int fd = open("filler", O_WRONLY | O_CREAT, 0600);
	static char bytes[4096];

	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	return close(fd);
}

/* A disk of 2 MiB fills up: while a store is written, opened, and read. */
static int on_small_disk(void)
{
	struct symstore *store;
	struct symstore_reader *reader;
	struct stat before, after;
	uint32_t n = 0;
	int rc;

	if (own_mounts() || mount("none", test_dir, "tmpfs", 0, "size=2m") || chdir(test_dir))
		return 77;
	if (symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err))
		return 1;
	do {
		stat(test_path, &before);
		rc = test_put(store, ++n, 200000, &test_err);
	} while (!rc);
	if (rc != SC_EFULL || n < 4)
		return 2;
	stat(test_path, &after);
	if (after.st_size > before.st_size)
		return 3; /* the failed commit keeps space */
	if (symstore_read_begin(store, &reader, &test_err))
		return 4;
	if (symstore_check(reader, test_fault, NULL))
		return 5;
	for (uint32_t i = 1; i < n; i++)
		test_has(reader, i, 200000);
	symstore_read_end(reader);
	/* What is smaller may still fit. */
	if (test_put(store, n + 1, 1000, &test_err))
		return 6;
	symstore_close(store);

	/* No room for a lock file: reading goes on, writing says why it does not. */
	unlink(test_lock);
	fill_disk();
	if (symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err) != SC_EFULL)
		return 7;
	unlink(test_lock);
	fill_disk();
	if (symstore_open(test_path, SYMSTORE_READ, &store, &test_err) ||
	    symstore_read_begin(store, &reader, &test_err))
		return 8;
	test_has(reader, 1, 200000);
	symstore_read_end(reader);
	symstore_close(store);

	/* No room for a store. */
	test_remove();
	fill_disk();
	if (symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err) != SC_EFULL)
		return 9;
	return 0;
}

static void small_disk(void **state)
{
	int rc = in_child(on_small_disk, false);

	(void)state;
	if (rc == 77) {
		print_message("skipped: no right to mount\n");
		skip();
	}
	assert_int_equal(rc, 0);
}

/* By a link or by its name: one file, one lock file. */
static void through_a_link(void **state)
{
	char link[96], lock[112];
	struct symstore *store;
	struct sc_error err;

	(void)state;
	snprintf(link, sizeof(link), "%s/link", test_dir);
	snprintf(lock, sizeof(lock), "%s-lock", link);
	assert_int_equal(symlink("store", link), 0);
	assert_int_equal(symstore_open(link, SYMSTORE_WRITE, &store, &err), SC_ESYS);
	make_one();
	unlink(test_lock);
	assert_ok(symstore_open(link, SYMSTORE_WRITE, &store, &test_err));
	assert_ok(put_three(store, 4, &test_err));
	symstore_close(store);
	assert_int_equal(access(test_lock, F_OK), 0);
	assert_int_equal(access(lock, F_OK), -1);
	unlink(link);
}

/* ulimit -f is a full disk, too. */
static int under_file_limit(void)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	struct symstore *store;
	int rc;

	signal(SIGXFSZ, SIG_IGN);
	if (setrlimit(RLIMIT_FSIZE, &limit) ||
	    symstore_open(test_path, SYMSTORE_WRITE, &store, &test_err))
		return 1;
	if (put_three(store, 1, &test_err))
		return 2;
	rc = test_put(store, 50, 2 << 20, &test_err);
	if (rc != SC_EFULL) {
		fprintf(stderr, "%s\n", test_err.msg);
		return 3;
	}
	has_three(store, 1);
	if (put_three(store, 4, &test_err))
		return 4;
	has_three(store, 4);
	symstore_close(store);
	return 0;
}

static void file_limit(void **state)
{
	(void)state;
	assert_int_equal(in_child(under_file_limit, false), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup(f, test_setup)
	static const struct CMUnitTest tests[] = {
		TEST(each_write_fails), TEST(making_fails), TEST(half_made_before), TEST(read_only_places),
		TEST(read_only_mount), TEST(small_disk), TEST(through_a_link), TEST(file_limit),
	};

	return cmocka_run_group_tests_name("place", tests, test_group_setup, test_group_teardown);
}

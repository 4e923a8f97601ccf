/*
 * A log as a stream of bytes: all of it comes, once, however it is packed, read and unpacked; of
 * one that is damaged comes what was right; and of a pipe what it has by now.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include <cmocka.h>

#define XXH_STATIC_LINKING_ONLY /* for a state on the stack */
#include <xxhash.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/logs/input.h"

enum { MOST = 2200000 }; /* more than is unpacked ahead */

static char text[MOST], got[MOST + 1], file[2 * MOST];

static int set_up(void **state)
{
	uint64_t seed = 1;
	FILE *f;

	(void)state;
	for (size_t i = 0; i < MOST; i++)
		text[i] = i % 80 == 79 ? '\n' : i % 3 ? text[i - 1] : (char)('A' + testing_below(&seed, 32));
	if (!mkdtemp(testing_dir) || chdir(testing_dir))
		return -1;
	f = fopen("all", "w");
	if (!f || fwrite(text, 1, MOST, f) != MOST || fclose(f))
		return -1;
	return testing_run("for n in 0 1 5 6 65536 524288 2200000; do head -c $n all > $n && gzip "
			   "-1k $n && xz -0k $n && "
			   "zstd -q $n || exit; done; mkdir folder; cp 5 5.txt; cp 6 6b.gz; "
			   "for k in gz xz zst; do head -c 300000 2200000.$k > cut.$k; (cat "
			   "524288.$k; echo more) > more.$k; done");
}

static int tear_down(void **state)
{
	(void)state;
	return chdir("/") || testing_run("rm -r %s", testing_dir);
}

/* Reads what is left, up to `step` bytes at once, into got[]. */
static int read_all(struct symlog_input *in, size_t step, size_t *size, struct sc_error *err)
{
	size_t len = 1;
	int rc = 0;

	for (*size = 0; !rc && len; *size += len) {
		const size_t room = sizeof(got) - *size;

		len = 0;
		rc = symlog_read(in, got + *size, step < room ? step : room, &len, err);
	}
	return rc;
}

static size_t read_file(const char *name)
{
	FILE *f = fopen(name, "r");
	size_t n;

	assert_non_null(f);
	n = fread(file, 1, sizeof(file), f);
	fclose(f);
	return n;
}

static void test_all_of_it(void **state)
{
	static const size_t sizes[] = { 0, 1, 5, 6, 65536, 524288, MOST },
			    steps[] = { 5000, 65537, MOST };
	static const char *const suffixes[] = { "", ".gz", ".xz", ".zst" };

	(void)state;
	for (size_t i = 0; i < 7 * 4 * 3 * 3; i++) {
		const size_t size = sizes[i % 7], step = steps[i / 28 % 3];
		const unsigned way =
			(unsigned)(i / 84); /* as a file; by a thread of its own; out of a pipe */
		char name[40], command[60];
		struct symlog_input in;
		XXH3_state_t hash;
		struct sc_error err;
		size_t n, packed;
		FILE *pipe = NULL;

		snprintf(name, sizeof(name), "%zu%s", size, suffixes[i / 7 % 4]);
		packed = read_file(name);
		if (way == 2) {
			snprintf(command, sizeof(command), "cat %s", name);
			pipe = popen(command, "r");
			snprintf(name, sizeof(name), "/proc/self/fd/%d", fileno(pipe));
		}
		assert_int_equal(symlog_open(&in, name, &err), 0);
		XXH3_128bits_reset(&hash);
		in.hash = &hash;
		in.threads = way ? 2 : 1;
		if (read_all(&in, step, &n, &err))
			fail_msg("%s: %s", name, err.msg);
		if (n != size || memcmp(got, text, n))
			fail_msg("%s by %zu: %zu bytes, or others", name, step, n);
		assert_false(in.misnamed);
		assert_int_equal(in.live, way == 2);
		assert_int_equal(in.taken, packed);
		assert_true(XXH128_isEqual(XXH3_128bits_digest(&hash), XXH3_128bits(file, packed)));
		symlog_close(&in);
		if (pipe)
			pclose(pipe);
	}
}

/* Who needs no more of it, as the output cannot be written, does not wait for ever for what is unpacked
 * ahead. */
static void test_closed_early(void **state)
{
	static const char *const names[] = { "2200000.gz", "2200000.xz", "2200000.zst" };

	(void)state;
	alarm(20);
	for (size_t i = 0; i < 2 * sizeof(names) / sizeof(*names); i++) {
		struct symlog_input in;
		struct sc_error err;
		size_t n;

		assert_int_equal(symlog_open(&in, names[i / 2], &err), 0);
		in.threads = 2;
		assert_int_equal(symlog_read(&in, got, 1000, &n, &err), 0);
		assert_int_equal(n, 1000);
		if (i % 2)
			usleep(20000); /* until nothing has room any more */
		symlog_close(&in);
	}
	alarm(0);
}

/* What was right comes before what is wrong is said, also if it was unpacked ahead. */
static void test_damaged(void **state)
{
	static const struct { const char *name; size_t least; const char *why; } cases[] = {
		{ "cut.gz", 300000, "after 300000 bytes: gzip: the file is cut off" },
		{ "cut.xz", 300000, "after 300000 bytes: xz: the file is cut off" },
		{ "cut.zst", 300000, "after 300000 bytes: zstd: the file is cut off" },
		{ "more.gz", 524288, "bytes: gzip: damaged" },
		{ "more.xz", 524288, "bytes: xz: the file is cut off" },
		{ "more.zst", 524288, "bytes: zstd: " },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const char *name = cases[i / 2].name;
		struct symlog_input in;
		struct sc_error err;
		size_t n;

		assert_int_equal(symlog_open(&in, name, &err), 0);
		in.threads = 1 + i % 2;
		assert_int_equal(read_all(&in, 10000, &n, &err), SC_EFORMAT);
		assert_true(n >= cases[i / 2].least);
		assert_memory_equal(got, text, cases[i / 2].least);
		if (strncmp(err.msg, name, strlen(name)) || !strstr(err.msg, cases[i / 2].why))
			fail_msg("%s", err.msg);
		symlog_close(&in);
	}
}

static void test_open(void **state)
{
	static const struct {
		const char *path;
		int rc;
		bool misnamed;
		const char *message;
	} cases[] = {
		{ "5", 0, false, "" },
		{ "5.txt", 0, false, "" },
		{ "6b.gz", 0, true, "" },
		{ "6.gz", 0, false, "" },
		{ "none", SC_ESYS, false, "none: No such file or directory" },
		{ "folder", SC_EINVAL, false, "folder: is a directory" },
	};
	const int old = dup(STDIN_FILENO), fd = open("6.gz", O_RDONLY);
	struct symlog_input in;
	struct sc_error err;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		err.msg[0] = '\0';
		assert_int_equal(symlog_open(&in, cases[i].path, &err), cases[i].rc);
		assert_string_equal(err.msg, cases[i].message);
		if (cases[i].rc)
			continue;
		assert_int_equal(read_all(&in, 100, &n, &err), 0);
		assert_int_equal(in.misnamed, cases[i].misnamed);
		symlog_close(&in);
	}
	dup2(fd, STDIN_FILENO);
	assert_int_equal(symlog_open(&in, "-", &err), 0);
	assert_string_equal(in.name, "standard input");
	assert_int_equal(read_all(&in, 100, &n, &err), 0);
	assert_int_equal(n, 6);
	symlog_close(&in);
	assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), 0); /* others may read on */
	dup2(old, STDIN_FILENO);
	close(old);
	close(fd);
}

/* A part of a log, as the shards of a plan are. */
static void test_range(void **state)
{
	static const struct { uint64_t from, to; size_t n; } cases[] = {
		{ 0, 6, 6 }, { 0, 4, 4 }, { 2, 5, 3 }, { 3, 3, 0 }, { 4, 6, 2 }, { 4, 99, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symlog_input in;
		struct sc_error err;
		size_t n;

		assert_int_equal(symlog_open(&in, "6", &err), 0);
		assert_int_equal(symlog_range(&in, cases[i].from, cases[i].to, &err), 0);
		assert_int_equal(read_all(&in, 2, &n, &err), 0);
		assert_int_equal(n, cases[i].n);
		assert_memory_equal(got, text + cases[i].from, n);
		symlog_close(&in);
	}
}

static void test_suffixes(void **state)
{
	static const struct {
		const char *path;
		size_t len;
		enum symcache_packing packing;
	} cases[] = {
		{ "a", 0, SYMCACHE_PLAIN },	    { "a.gz", 3, SYMCACHE_GZIP },
		{ "a.xz", 3, SYMCACHE_XZ },	    { "a.zst", 4, SYMCACHE_ZSTD },
		{ "d/a.log.gz", 3, SYMCACHE_GZIP }, { "a.gz.txt", 0, SYMCACHE_PLAIN },
		{ ".gz", 0, SYMCACHE_PLAIN },	    { "d/.zst", 0, SYMCACHE_PLAIN },
		{ "x.zst.gz", 3, SYMCACHE_GZIP },   { "agz", 0, SYMCACHE_PLAIN },
		{ "", 0, SYMCACHE_PLAIN },
	};
	enum symcache_packing packing;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		assert_int_equal(symlog_packed_suffix(cases[i].path, &packing), cases[i].len);
		assert_int_equal(packing, cases[i].packing);
		assert_int_equal(symlog_packed_suffix(cases[i].path, NULL), cases[i].len);
	}
}

/* ---- pipes ------------------------------------------------------------------------------- */

struct made_pipe {
	struct symlog_input in;
	int read, write;
};

static void open_pipe(struct made_pipe *p, int flags)
{
	int ends[2];
	char name[32];
	struct sc_error err;

	assert_int_equal(pipe2(ends, flags | O_CLOEXEC), 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[0]);
	assert_int_equal(symlog_open(&p->in, name, &err), 0);
	if (flags) /* it was opened anew */
		fcntl(p->in.fd, F_SETFL, flags);
	p->read = ends[0];
	p->write = ends[1];
}

static void close_pipe(struct made_pipe *p)
{
	symlog_close(&p->in);
	close(p->read);
	close(p->write);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void test_wait(void **state)
{
	struct made_pipe p;
	struct sc_error err;
	double begin;
	size_t len;

	(void)state;
	open_pipe(&p, 0);
	begin = seconds();
	assert_false(symlog_wait(
		&p.in, 60)); /* a pause is as long as it says: the log is updated after it */
	assert_true(seconds() - begin > 0.05);
	assert_int_equal(write(p.write, "ab", 2), 2);
	assert_true(symlog_wait(&p.in, 0));
	assert_int_equal(symlog_read(&p.in, got, 10, &len, &err), 0);
	assert_int_equal(len, 2); /* what there is by now; it is not waited for more */
	assert_false(symlog_wait(&p.in, 0));
	close_pipe(&p);
	assert_int_equal(symlog_open(&p.in, "6", &err), 0);
	assert_true(symlog_wait(&p.in, 0));
	symlog_close(&p.in);
}

/* A file that cannot be read is an error, not an end. */
static void test_error(void **state)
{
	struct symlog_input in;
	struct sc_error err;
	size_t len;

	(void)state;
	assert_int_equal(symlog_open(&in, "6", &err), 0);
	assert_int_equal(dup2(open(".", O_RDONLY | O_DIRECTORY), in.fd), in.fd);
	assert_int_equal(symlog_read(&in, got, 10, &len, &err), SC_ESYS);
	assert_string_equal(err.msg, "6: Is a directory");
	assert_int_equal(len, 0);
	symlog_close(&in);
}

static void nothing(int signal)
{
	(void)signal;
}

/* A pipe that does not block, and reads that a signal interrupts, are waited for like others. */
static void test_interrupted(void **state)
{
	const struct sigaction action = { .sa_handler = nothing };
	const struct itimerval timer = { .it_interval = { 0, 5000 }, .it_value = { 0, 5000 } },
			       none = { 0 };

	(void)state;
	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	for (int blocks = 0; blocks < 2; blocks++) {
		struct made_pipe p;
		struct sc_error err;
		size_t len;
		pid_t child;

		open_pipe(&p, blocks ? 0 : O_NONBLOCK);
		child = fork();
		if (!child) {
			usleep(100000);
			_exit(write(p.write, "later", 5) != 5);
		}
		setitimer(ITIMER_REAL, &timer, NULL);
		assert_int_equal(symlog_read(&p.in, got, 10, &len, &err), 0);
		setitimer(ITIMER_REAL, &none, NULL);
		assert_int_equal(len, 5);
		close_pipe(&p);
	}
}

/* A profile has its table of modules at its end: it is kept, to be read twice. Other logs flow. */
static void test_hold(void **state)
{
	static const struct { const char *begin; bool held; } cases[] = {
		{ "heap profile: 1: 2\n", true }, { "heap_v2/524288\n", true }, { "heap profile", false },
		{ "heap_v3/1\n", false }, { "a line\n", false },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const char *begin = cases[i / 2].begin;
		const bool live = i % 2, held = live && cases[i / 2].held;
		const size_t begin_len = strlen(begin), size = begin_len + 200000;
		struct sc_error err;
		struct symlog_input in;
		char name[32];
		size_t len, n;
		FILE *f;

		f = fopen("profile", "w");
		assert_true(f && fputs(begin, f) >= 0 && fwrite(text, 1, 200000, f) == 200000 &&
			    !fclose(f));
		f = live ? popen("cat profile", "r") : NULL;
		if (f)
			snprintf(name, sizeof(name), "/proc/self/fd/%d", fileno(f));
		assert_int_equal(symlog_open(&in, f ? name : "profile", &err), 0);
		assert_int_equal(symlog_read(&in, got, begin_len, &len, &err), 0);
		assert_int_equal(len, begin_len);
		assert_int_equal(symlog_hold(&in, got, len), held);
		if (held) {
			struct symlog_again again = { .first = &in };

			assert_true(symlog_wait(&in, 0));
			for (n = 0; (len = symlog_read_again(&again, got + n, 50000)); n += len)
				;
			symlog_again_close(&again);
			assert_int_equal(n, size);
			assert_memory_equal(got + begin_len, text, 200000);
		}
		assert_int_equal(read_all(&in, 50000, &n, &err), 0);
		assert_int_equal(n, held ? size : size - begin_len);
		assert_memory_equal(got, held ? begin : text, held ? begin_len : 200000);
		assert_memory_equal(got + (held ? begin_len : 0), text, 200000);
		symlog_close(&in);
		if (f)
			pclose(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_of_it), cmocka_unit_test(test_closed_early),   cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_open),	    cmocka_unit_test(test_range),
		cmocka_unit_test(test_suffixes),    cmocka_unit_test(test_wait),
		cmocka_unit_test(test_interrupted), cmocka_unit_test(test_hold),
		cmocka_unit_test(test_error),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

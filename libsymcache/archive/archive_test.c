/* Archives in archives: which files are met, under which names, and what is said of broken ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "libsymcache/archive/nested.h"
#include "libsymcache/base/testing.h"

/* In the scratch folder: ELF heads, of which `core` is a core dump's, and other files. */
static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(testing_dir))
		return -1;
	return testing_run("cd %s && printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\3\\0rest' > elf && "
		"printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\4\\0rest' > core && "
		"printf '\\177ELF\\2\\2\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\0\\4rest' > core.big && "
		"printf '\\177ELF' > short && echo text > text && : > empty && mkdir dir && cp elf dir && "
		"ln -s elf link && printf 2.0 > debian-binary && cp elf control.so && "
		"printf 'elf' > 'a\tb' && cp elf 'a\033b'", testing_dir);
}

struct met {
	char elf[5000], failed[2000];
	int stop;        /* what elf() returns */
	uint64_t memory; /* what may be unpacked in memory */
};

static int on_elf(void *ctx, const struct sc_archive_file *file, struct sc_error *err)
{
	struct met *m = ctx;
	uint64_t size;
	char byte;
	int fd;

	strcat(strcat(m->elf, m->elf[0] ? " " : ""), file->name);
	if (m->stop)
		return sc_error_set(err, m->stop, "stop");
	assert_int_equal(sc_archive_unpack(file, m->memory, &fd, &size, err), 0);
	if (!strcmp(file->name, "x!big")) {
		assert_int_equal(testing_run("cmp /proc/%d/fd/%d %s/big", getpid(), fd, testing_dir), 0);
		close(fd);
		return 0;
	}
	assert_true(size == 22 || size == 4);
	assert_int_equal(pread(fd, &byte, 1, (off_t)size - 1), 1);
	assert_int_equal(byte, size == 4 ? 'F' : 't');
	close(fd);
	return 0;
}

static void on_failed(void *ctx, const char *name, const char *reason)
{
	struct met *m = ctx;

	sprintf(m->failed + strlen(m->failed), "%s%s: %s", m->failed[0] ? "; " : "", name, reason);
}

/* Makes a file in the scratch folder by a command, and walks it as "x". */
static int walk(const char *command, struct met *m, struct sc_error *err)
{
	struct sc_archive_walk w = { .elf = on_elf, .failed = on_failed, .ctx = m };
	char path[100];
	off_t size;
	int fd, rc;

	snprintf(path, sizeof(path), "%s/x", testing_dir);
	assert_int_equal(testing_run("cd %s && rm -rf x y z && { %s; } > /dev/null 2>&1", testing_dir, command), 0);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	size = lseek(fd, 0, SEEK_END);
	rc = sc_archive_walk(&w, fd, (uint64_t)size, "x", err);
	close(fd);
	return rc;
}

static void test_walk(void **state)
{
	static const struct { const char *command, *elf, *failed; } cases[] = {
		{ "tar -cf x elf core core.big short text empty dir link", "x!elf x!short x!dir/elf", "" },
		{ "tar -czf x elf text", "x!elf", "" },
		{ "tar -cf - elf | bzip2 > x", "x!elf", "" },
		{ "tar -cf - elf | zstd -q > x", "x!elf", "" },
		{ "tar -cf - elf | xz > x", "x!elf", "" },
		{ "gzip -c elf > x", "x", "" },
		{ "xz -c elf > x", "x", "" },
		{ "gzip -c text > x", "", "" },
		{ "gzip -c core > x", "", "" },
		{ "ar rc x elf text", "x!elf", "" },
		{ "gzip -kf elf && tar -cf x elf.gz", "x!elf.gz", "" },
		{ "tar -czf y.tar.gz elf && tar -cf x y.tar.gz", "x!y.tar.gz!elf", "" },
		/* A package: what controls it is not part of it, its data not named. */
		{ "tar -cJf control.tar.xz control.so && tar -cJf data.tar.xz ./elf && "
		  "ar rc x debian-binary control.tar.xz data.tar.xz", "x!./elf", "" },
		{ "tar -cJf control.tar.xz control.so && ar rc x control.tar.xz", "x!control.tar.xz!control.so", "" },
		{ "tar -cJf control.ta control.so && tar -cJf data.ta ./elf && ar rc x debian-binary control.ta data.ta",
		  "x!control.ta!control.so x!data.ta!./elf", "" },
		{ "{ printf '\\4\\42\\115\\30\\140\\100\\202\\26\\0\\0\\200'; cat elf; printf '\\0\\0\\0\\0'; } > x", "x", "" }, /* lz4 */
		/* Names are shown as text. */
		{ "tar -cf x 'a\033b'", "x!a?b", "" },
		/* What is broken is said, if it must be an archive; the rest is met. */
		{ "cp text x", "", "x: unknown archive format" },
		{ ": > x", "", "x: unknown archive format" },
		{ "tar -czf y elf && head -c 60 y > x", "", "x: truncated gzip input" },
		{ "tar -czf y.tar.gz elf && head -c 60 y.tar.gz > z.tar.gz && tar -cf x z.tar.gz elf",
		  "x!elf", "x!z.tar.gz: " },
		{ "tar -czf y.tar.gz elf && head -c 60 y.tar.gz > z && tar -cf x z elf", "x!elf", "" },
		{ "tar -cf z elf text && truncate -s 1100 z && tar -cf x z elf", "x!z!elf x!elf", "x!z: " },
		{ "seq 1000 | gzip > z && truncate -s -4 z && tar -cf x z elf", "x!elf", "" },
		{ "tar -cf x elf text && truncate -s 1538 x", "x!elf", "x!text: " },
		/* One in the other. */
		{ "cp elf 1 && for i in 1 2 3 4; do tar -cf y 1 && mv y 1; done && mv 1 x", "x!1!1!1!1", "" },
		{ "cp elf 1 && for i in 1 2 3 4 5 6; do tar -cf y 1 && mv y 1; done && mv 1 x", "x!1!1!1!1!1!1", "" },
		{ "cp elf 1 && for i in 1 2 3 4 5 6 7; do tar -cf y 1 && mv y 1; done && mv 1 x", "",
		  "x!1!1!1!1!1!1: archives in archives, too deep" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct met m = { .memory = i % 2 ? 8 : 1000 };
		struct sc_error err;

		assert_int_equal(walk(cases[i].command, &m, &err), 0);
		if (strcmp(m.elf, cases[i].elf) || strncmp(m.failed, cases[i].failed, strlen(cases[i].failed)) ||
		    !*m.failed != !*cases[i].failed)
			fail_msg("%s: \"%s\", \"%s\"", cases[i].command, m.elf, m.failed);
	}
}

/* A name is as long as a path at the most. */
static void test_long_name(void **state)
{
	struct met m = { .memory = 1000 };
	struct sc_error err;

	(void)state;
	assert_int_equal(walk("tar --transform \"s,.*,$(printf '%05000d' 0),\" -cf x elf", &m, &err), 0);
	assert_int_equal(strlen(m.elf), strlen("x!") + 4096);
}

/* What is unpacked is the file, byte by byte, wherever it goes on from memory to the disk. */
static void test_unpack(void **state)
{
	static const uint64_t memory[] = { 0, 511, 512, 513, 262656, 262657, 600000, 699999, 700000, 1 << 20 };

	(void)state;
	assert_int_equal(testing_run("cd %s && { cat elf; seq 200000; } | head -c 700000 > big", testing_dir), 0);
	for (size_t i = 0; i < sizeof(memory) / sizeof(*memory); i++) {
		struct met m = { .memory = memory[i] };
		struct sc_error err;

		assert_int_equal(walk("tar -cf x big elf", &m, &err), 0);
		assert_string_equal(m.elf, "x!big x!elf");
		assert_string_equal(m.failed, "");
	}
}

/* Each walk counts for itself, and leaves no file open. */
static void test_again(void **state)
{
	struct met m = { .memory = 4 };
	struct sc_archive_walk w = { .elf = on_elf, .failed = on_failed, .ctx = &m };
	struct sc_error err;
	char path[100];
	int fd, unused;

	(void)state;
	assert_int_equal(walk("tar -cf x elf text", &m, &err), 0);
	snprintf(path, sizeof(path), "%s/x", testing_dir);
	fd = open(path, O_RDONLY);
	unused = dup(fd);
	close(unused);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(sc_archive_walk(&w, fd, 10240, "x", &err), 0);
		assert_int_equal(w.members, 2);
	}
	assert_int_equal(dup(fd), unused);
	close(unused);
	close(fd);
}

static int unpack_small(void *ctx, const struct sc_archive_file *file, struct sc_error *err)
{
	uint64_t size;
	int fd, rc = sc_archive_unpack(file, 4, &fd, &size, err);

	(void)ctx;
	assert_int_equal(fd >= 0, !rc);
	if (fd >= 0)
		close(fd);
	return rc;
}

/* What does not stay in memory goes to $TMPDIR, else /tmp; it says so if it cannot. */
static void test_no_room(void **state)
{
	static const struct { const char *folder; int rc; } cases[] = { { "/nonexistent", SC_ESYS }, { "", 0 }, { NULL, 0 } };
	struct sc_archive_walk w = { .elf = unpack_small, .failed = on_failed };
	struct sc_error err;
	char path[100];

	(void)state;
	snprintf(path, sizeof(path), "%s/x", testing_dir);
	assert_int_equal(testing_run("cd %s && tar -cf x elf", testing_dir), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int fd = open(path, O_RDONLY);

		if (cases[i].folder)
			setenv("TMPDIR", cases[i].folder, 1);
		else
			unsetenv("TMPDIR");
		assert_int_equal(sc_archive_walk(&w, fd, 10240, "x", &err), cases[i].rc);
		if (cases[i].rc)
			assert_string_equal(err.msg, "cannot unpack it in /nonexistent: No such file or directory");
		close(fd);
	}
}

/* A caller that has had enough is asked no more; a bomb ends the walk. */
static void test_stops(void **state)
{
	struct met m = { .stop = SC_ESYS };
	struct sc_error err;

	(void)state;
	assert_int_equal(walk("cp elf elf2 && tar -cf x elf elf2", &m, &err), SC_ESYS);
	assert_string_equal(m.elf, "x!elf");
	m = (struct met){ .stop = 0 };
	assert_int_equal(walk("truncate -s 300M y && tar -cf - y elf | zstd -q > x", &m, &err), SC_ELIMIT);
	assert_string_equal(m.elf, "");
}

static void test_names(void **state)
{
	static const struct { const char *path; bool is; } cases[] = {
		{ "a.deb", true }, { "A.DEB", true }, { "x/a.tar.zst", true }, { "a.ko.xz", true }, { "a.rpm", true },
		{ ".deb", false }, { "a.gz", false }, { "deb", false }, { "a.deb/b", false }, { "a.xz", false }, { "", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(sc_archive_name(cases[i].path), cases[i].is);
}

/* By what files begin with that may be archives: with a byte less they are none, with another one
 * neither. */
static void test_begins(void **state)
{
	static const struct { size_t at, len; const char *magic; } kinds[] = {
		{ 0, 8, "!<arch>\n" }, { 0, 4, "\xed\xab\xee\xdb" }, { 0, 4, "PK\3\4" }, { 0, 5, "07070" },
		{ 257, 5, "ustar" }, { 0, 3, "\x1f\x8b\x08" }, { 0, 3, "BZh" }, { 0, 6, "\xfd" "7zXZ\0" },
		{ 0, 4, "\x28\xb5\x2f\xfd" }, { 0, 4, "\x04\x22\x4d\x18" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		uint8_t bytes[300] = { 0 };

		memcpy(bytes + kinds[i].at, kinds[i].magic, kinds[i].len);
		assert_true(symarchive_begins(bytes, kinds[i].at + kinds[i].len));
		assert_true(symarchive_begins(bytes, sizeof(bytes)));
		assert_false(symarchive_begins(bytes, kinds[i].at + kinds[i].len - 1));
		for (size_t k = 0; k < kinds[i].len; k++) {
			bytes[kinds[i].at + k] ^= 1;
			assert_false(symarchive_begins(bytes, sizeof(bytes)));
			bytes[kinds[i].at + k] ^= 1;
		}
	}
	/* A core dump is no program; where its type would stand is the end of short ones. */
	static const uint8_t elf[20] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 3 }, core[20] = { 0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 4 };
	for (size_t len = 0; len <= 20; len++) {
		assert_int_equal(sc_begins_elf(elf, len), len >= 4);
		assert_int_equal(sc_begins_elf(core, len), len >= 4 && len < 18);
	}
}

static int open_test(const char *command, uint64_t *budget, struct symarchive **ret, int *fd, struct sc_error *err)
{
	char path[100];

	snprintf(path, sizeof(path), "%s/x", testing_dir);
	assert_int_equal(testing_run("cd %s && rm -rf x y && { %s; } > /dev/null 2>&1", testing_dir, command), 0);
	*fd = open(path, O_RDONLY);
	return symarchive_open(*fd, budget, ret, err);
}

/* What may be inflated is counted by the byte, whether it is read or passed over; what is not
 * packed costs nothing to pass over. */
static void test_budget(void **state)
{
	static const struct { const char *command; uint64_t budget; bool read; int ends; uint64_t left; } cases[] = {
		{ "tar -czf x elf text", 27, true, SC_ENOTFOUND, 0 }, { "tar -czf x elf text", 30, true, SC_ENOTFOUND, 3 },
		{ "tar -czf x elf text", 26, true, SC_ELIMIT, 0 }, { "tar -czf x elf text", 27, false, SC_ENOTFOUND, 0 },
		{ "tar -czf x elf text", 26, false, SC_ELIMIT, 0 }, { "tar -czf x elf text", 21, false, SC_ELIMIT, 0 },
		{ "tar -cf x elf text", 5, false, SC_ENOTFOUND, 5 }, { "tar -cf x elf text", 26, true, SC_ELIMIT, 0 },
	};

	(void)state;
	assert_true(symarchive_budget(0) == 256 << 20);
	assert_true(symarchive_budget(3) == (256 << 20) + 3 * 256);
	assert_true(symarchive_budget(UINT64_MAX / 512 - 1) == (256 << 20) + (UINT64_MAX / 512 - 1) * 256);
	assert_true(symarchive_budget(UINT64_MAX / 512) == 256 << 20);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint64_t budget = cases[i].budget;
		struct symarchive *a;
		struct sc_error err;
		const char *name;
		char buf[10];
		size_t len;
		int fd, rc;

		assert_int_equal(open_test(cases[i].command, &budget, &a, &fd, &err), 0);
		do {
			rc = symarchive_next(a, &name, &err);
			for (len = cases[i].read; !rc && len;)
				rc = symarchive_read(a, buf, sizeof(buf), &len, &err);
		} while (!rc);
		if (rc != cases[i].ends || budget != cases[i].left)
			fail_msg("case %zu: %d, %d left", i, rc, (int)budget);
		if (rc == SC_ELIMIT)
			assert_string_equal(err.msg, "it expands to too many bytes for its size");
		symarchive_close(a);
		close(fd);
	}
}

/* Where the outer archive of another one cannot be read, that is what is said. */
static void test_outer(void **state)
{
	static const struct { uint64_t budget; const char *cut; int rc; const char *why; } cases[] = {
		{ 4000, "", SC_ELIMIT, "it expands to too many bytes for its size" },
		{ 400000, "", SC_ELIMIT, "it expands to too many bytes for its size" },
		{ 4000000, " && truncate -s -8 x", SC_EFORMAT, NULL }, /* whatever libarchive says */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symarchive *outer, *inner;
		uint64_t budget = cases[i].budget;
		char command[200];
		struct sc_error err;
		const char *name;
		uint8_t head[512];
		size_t len;
		int fd, rc;

		snprintf(command, sizeof(command), "seq 100000 > y && tar -cf z y elf && tar -czf x z%s", cases[i].cut);
		assert_int_equal(open_test(command, &budget, &outer, &fd, &err), 0);
		assert_int_equal(symarchive_next(outer, &name, &err), 0);
		assert_int_equal(symarchive_read(outer, head, sizeof(head), &len, &err), 0);
		rc = symarchive_open_inner(outer, head, len, &inner, &err);
		while (!rc)
			rc = symarchive_next(inner, &name, &err);
		assert_int_equal(rc, cases[i].rc);
		if (cases[i].why)
			assert_string_equal(err.msg, cases[i].why);
		symarchive_close(inner);
		symarchive_close(outer);
		close(fd);
	}
}

/* A file of cpio ("newc") with two names, and this inode. */
static void put_cpio(int fd, const char *name, unsigned inode, const char *bytes)
{
	const size_t name_len = strlen(name) + 1, size = strlen(bytes);
	char text[200] = "";

	snprintf(text, sizeof(text), "070701%08x%08x%08x%08x%08x%08x%08zx%08x%08x%08x%08x%08zx%08x%s", inode,
		 inode ? 0100644u : 0, 0, 0, 2, 0, size, 0, 0, 0, 0, name_len, 0, name);
	assert_int_equal(write(fd, text, (110 + name_len + 3) / 4 * 4), (110 + name_len + 3) / 4 * 4);
	memset(text, 0, sizeof(text));
	memcpy(text, bytes, size);
	assert_int_equal(write(fd, text, (size + 3) / 4 * 4), (size + 3) / 4 * 4);
}

/* Links, and who cannot be read. */
static void test_faults(void **state)
{
	uint8_t bytes[10];
	struct symarchive *a = (void *)1;
	struct sc_error err;
	const char *name;
	size_t len;
	int fd;

	(void)state;
	fd = open("/dev/null", O_WRONLY);
	assert_int_equal(symarchive_open(fd, NULL, &a, &err), SC_ESYS);
	assert_string_equal(err.msg, "cannot read: Bad file descriptor");
	assert_null(a);
	close(fd);
	assert_int_equal(open_test("cp text x", NULL, &a, &fd, &err), SC_EUNSUPPORTED);
	assert_string_equal(err.msg, "unknown archive format");
	close(fd);
	/* Of several names of one file cpio gives the bytes to the last, and tar to the first. */
	fd = memfd_create("x", MFD_CLOEXEC);
	put_cpio(fd, "one", 7, "");
	put_cpio(fd, "two", 7, "bytes");
	put_cpio(fd, "TRAILER!!!", 0, "");
	lseek(fd, 0, SEEK_SET);
	assert_int_equal(symarchive_open(fd, NULL, &a, &err), 0);
	assert_int_equal(symarchive_next(a, &name, &err), 0);
	assert_string_equal(name, "one");
	assert_int_equal(symarchive_next(a, &name, &err), 0);
	assert_string_equal(name, "two");
	assert_int_equal(symarchive_read(a, bytes, sizeof(bytes), &len, &err), 0);
	assert_int_equal(len, 5);
	assert_int_equal(symarchive_next(a, &name, &err), SC_ENOTFOUND);
	symarchive_close(a);
	close(fd);
	assert_int_equal(open_test("cp elf one && ln -f one two && tar -cf x one two", NULL, &a, &fd, &err), 0);
	assert_int_equal(symarchive_next(a, &name, &err), 0);
	assert_string_equal(name, "one");
	assert_int_equal(symarchive_next(a, &name, &err), SC_ENOTFOUND);
	assert_string_equal(err.msg, "the archive has no more files");
	symarchive_close(a);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_walk), cmocka_unit_test(test_unpack), cmocka_unit_test(test_stops),
		cmocka_unit_test(test_long_name), cmocka_unit_test(test_again), cmocka_unit_test(test_names),
		cmocka_unit_test(test_begins), cmocka_unit_test(test_budget), cmocka_unit_test(test_outer),
		cmocka_unit_test(test_faults), cmocka_unit_test(test_no_room),
	};

	return cmocka_run_group_tests(tests, set_up, testing_tear_down);
}

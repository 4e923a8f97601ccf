/* Unit tests of finding separate debug files: made with objcopy as distributions do, in
 * every place, right and wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/elf/elf.h"

/* Runs commands in the scratch folder; $P is the program to take apart. */
static void run(const char *commands)
{
	assert_int_equal(testing_run("P=$PWD/build/testprogs/layouts; cd %s && { %s; }",
				     testing_dir, commands),
			 0);
}

/* The debug file found for `name`, relative to the scratch folder; "" if none. */
static const char *found(const char *name)
{
	static char path[256];
	char file[128], root[128];
	const char *const dirs[] = { "/nonexistent", root, NULL };
	struct sc_elf *e, *d = (void *)1; /* it is set in any case */
	struct sc_error err = { .msg = "" };
	int rc;

	snprintf(file, sizeof(file), "%s/%s", testing_dir, name);
	snprintf(root, sizeof(root), "%s/usr", testing_dir);
	assert_int_equal(sc_elf_open(file, &e, &err), 0);
	rc = sc_elf_find_debug(e, dirs, &d, &err);
	path[0] = 0;
	if (rc) {
		assert_int_equal(rc, SC_ENOTFOUND);
		assert_null(d);
		assert_non_null(strstr(err.msg, name));
	} else {
		assert_true(sc_elf_has(d, ".debug_info"));
		assert_int_equal(strncmp(d->path, testing_dir, strlen(testing_dir)), 0);
		snprintf(path, sizeof(path), "%s", d->path + strlen(testing_dir) + 1);
	}
	sc_elf_close(d);
	sc_elf_close(e);
	return path;
}

/* What comes of looking for the supplementary file of a copy of $P with these bytes (for
 * printf) as .debug_sup. */
static int find_sup(const char *bytes)
{
	const char *const dirs[] = { NULL };
	char file[128], commands[300];
	struct sc_elf *e, *d = (void *)1; /* it is set in any case */
	struct sc_error err = { .msg = "" };
	int rc;

	snprintf(commands, sizeof(commands), "printf '%s' > sup;"
		 "objcopy --add-section .debug_sup=sup $P p", bytes);
	run(commands);
	snprintf(file, sizeof(file), "%s/p", testing_dir);
	assert_int_equal(sc_elf_open(file, &e, &err), 0);
	rc = sc_elf_find_alt(e, dirs, &d, &err);
	assert_true(!rc == !!d);
	sc_elf_close(d);
	sc_elf_close(e);
	return rc;
}

static int clean(void **state)
{
	(void)state;
	return testing_run("rm -rf %s/*", testing_dir);
}

/* Next to it, in .debug, under the directory of debug files: in this order. */
static void test_debuglink(void **state)
{
	char target[160], want[160];

	(void)state;
	/* No build ID, so that the link alone leads there. */
	run("objcopy --only-keep-debug -R .note.gnu.build-id $P p.debug &&"
	    "objcopy -g -R .note.gnu.build-id --add-gnu-debuglink=p.debug $P p");
	assert_string_equal(found("p"), "p.debug");
	run("mkdir .debug && mv p.debug .debug");
	assert_string_equal(found("p"), ".debug/p.debug");
	snprintf(target, sizeof(target), "mkdir -p usr%s && mv .debug/p.debug usr%s", testing_dir,
		 testing_dir);
	run(target);
	snprintf(want, sizeof(want), "usr%s/p.debug", testing_dir);
	assert_string_equal(found("p"), want);
	/* By a link to the program: next to the link, then next to the program itself. */
	run("mkdir other && ln -s ../p other/q");
	assert_string_equal(found("other/q"), want);
	snprintf(target, sizeof(target), "ln -s ../usr%s/p.debug other/p.debug", testing_dir);
	run(target);
	assert_string_equal(found("other/q"), "other/p.debug");
	run("rm -r usr");
	assert_string_equal(found("p"), "");
}

/* A file of the right name whose CRC is wrong is another one's. */
static void test_wrong_crc(void **state)
{
	char right[320], target[320];

	(void)state;
	run("objcopy --only-keep-debug -R .note.gnu.build-id $P p.debug &&"
	    "objcopy -g -R .note.gnu.build-id --add-gnu-debuglink=p.debug $P p &&"
	    "cp p.debug right && printf x >> p.debug");
	assert_string_equal(found("p"), "");
	snprintf(target, sizeof(target), "mkdir -p usr%s && cp right usr%s/p.debug", testing_dir,
		 testing_dir);
	run(target);
	snprintf(right, sizeof(right), "usr%s/p.debug", testing_dir);
	assert_string_equal(found("p"), right); /* the search goes on behind it */
}

/* Links that are cut off, lead elsewhere, or to nothing. */
static void test_odd_links(void **state)
{
	(void)state;
	run("objcopy --only-keep-debug -R .note.gnu.build-id $P p.debug;"
	    "objcopy -g -R .note.gnu.build-id $P bare;"
	    "printf 'p.debug' > link;"
	    "objcopy --add-section .gnu_debuglink=link bare unterminated;"
	    "printf 'p.debug\\0' > link;"
	    "objcopy --add-section .gnu_debuglink=link bare no_crc;"
	    "printf '\\0\\0\\0\\0\\0\\0\\0\\0' > link;"
	    "objcopy --add-section .gnu_debuglink=link bare empty;"
	    "printf '../p.debug\\0\\0\\0\\0\\0\\0' > link;"
	    "objcopy --add-section .gnu_debuglink=link bare slash;"
	    "{ head -c 5000 /dev/zero | tr '\\0' a; printf '\\0\\0\\0\\0\\0\\0\\0\\0'; } > link;"
	    "objcopy --add-section .gnu_debuglink=link bare long");
	assert_string_equal(found("bare"), "");
	assert_string_equal(found("unterminated"), "");
	assert_string_equal(found("no_crc"), "");
	assert_string_equal(found("empty"), "");
	assert_string_equal(found("slash"), "");
	assert_string_equal(found("long"), "");
}

/* By build ID, which must be the file's own. */
static void test_build_id(void **state)
{
	(void)state;
	run("objcopy --only-keep-debug $P d && objcopy -g $P p &&"
	    "id=$(readelf -n $P | sed -n 's/.*Build ID: //p') &&"
	    "f=usr/.build-id/$(echo $id | cut -c 1-2)/$(echo $id | cut -c 3-).debug &&"
	    "mkdir -p $(dirname $f) && cp d $f && echo $f > where");
	assert_int_equal(strncmp(found("p"), "usr/.build-id/", 14), 0);
	/* It goes before the link. */
	run("cp d p.debug && objcopy --add-gnu-debuglink=p.debug p linked");
	assert_int_equal(strncmp(found("linked"), "usr/.build-id/", 14), 0);
	/* One without a build ID in its place; then one without DWARF; then no ELF at all. */
	run("objcopy -R .note.gnu.build-id d $(cat where)");
	assert_string_equal(found("p"), "");
	assert_string_equal(found("linked"), "p.debug");
	run("cp p $(cat where)");
	assert_string_equal(found("p"), "");
	run("echo nothing > $(cat where)");
	assert_string_equal(found("p"), "");
	run("rm $(cat where) && mkfifo $(cat where)");
	assert_string_equal(found("p"), "");
}

/* .debug_sup leads to a file with the same checksum; what is damaged leads nowhere. */
static void test_sup(void **state)
{
	(void)state;
	run("printf '\\5\\0\\1\\0\\2ab' > sup && objcopy --add-section .debug_sup=sup $P alt");
	assert_int_equal(find_sup("\\5\\0\\0alt\\0\\2ab"), 0);
	assert_int_equal(find_sup("\\5\\0\\0alt\\0\\2ax"), SC_EFORMAT);
	assert_int_equal(find_sup("\\5\\0\\0alt\\0\\1a"), SC_EFORMAT);
	assert_int_equal(find_sup("\\5\\0\\0p\\0\\2ab"), SC_EFORMAT); /* no supplementary file */
	assert_int_equal(find_sup("\\5\\0\\0gone\\0\\2ab"), SC_EFORMAT);
	assert_int_equal(find_sup("\\5\\0\\1alt\\0\\2ab"), SC_ENOTFOUND);
	assert_int_equal(find_sup("\\6\\0\\0alt\\0\\2ab"), SC_ENOTFOUND);
	assert_int_equal(find_sup("\\5\\0\\0alt\\0\\3ab"), SC_ENOTFOUND);
	assert_int_equal(find_sup("\\5\\0\\0alt\\0"), SC_ENOTFOUND);
	assert_int_equal(find_sup("\\5\\0\\0alt"), SC_ENOTFOUND);
	assert_int_equal(find_sup("\\5\\0"), SC_ENOTFOUND);
}

/* The supplementary file that a file `in` the scratch folder leads to by `name`; "" if none. $T in both
 * is that folder. */
static const char *found_alt(const char *in, const char *name)
{
	static char path[256];
	char file[256], commands[600], root[128], want[300];
	const char *const dirs[] = { "/nonexistent", root, NULL };
	struct sc_elf *e, *d = (void *)1; /* it is set in any case */
	struct sc_error err = { .msg = "" };

	snprintf(commands, sizeof(commands), "T=$PWD; { printf '%%s\\0' \"%s\"; tail -c 20 note; } > link && mkdir -p $(dirname %s) && "
		 "objcopy --add-section .gnu_debugaltlink=link $P %s", name, in, in);
	run(commands);
	snprintf(file, sizeof(file), "%s/%s", testing_dir, in);
	snprintf(root, sizeof(root), "%s/usr", testing_dir);
	assert_int_equal(sc_elf_open(file, &e, &err), 0);
	path[0] = 0;
	if (sc_elf_find_alt(e, dirs, &d, &err)) {
		assert_null(d);
		snprintf(want, sizeof(want), "%s: no supplementary file %s", file, strncmp(name, "$T", 2) ? name : "");
		assert_int_equal(strncmp(err.msg, want, strlen(want)), 0);
		assert_int_equal(err.code, SC_EFORMAT);
	} else {
		assert_int_equal(strncmp(d->path, testing_dir, strlen(testing_dir)), 0);
		snprintf(path, sizeof(path), "%s", d->path + strlen(testing_dir) + 1);
		sc_elf_close(d);
	}
	sc_elf_close(e);
	return path;
}

/* By its name, from the folder of the file or from the root; in .dwz of the directories of debug files, and of
 * the tree that the file lies in, should that have been moved; by its build ID before all. */
static void test_alt(void **state)
{
	static const struct { const char *there, *in, *name, *found; } cases[] = {
		{ "a/alt", "a/p", "alt", "a/alt" }, { "a/b/alt", "a/p", "b/alt", "a/b/alt" },
		{ "alt", "a/p", "../alt", "a/../alt" }, { "b/alt", "a/p", "$T/b/alt", "b/alt" },
		{ "a/alt", "a/p", "/nonexistent/alt", "" }, { "b/alt", "a/p", "alt", "" },
		{ "usr/.dwz/alt", "a/p", "/nonexistent/.dwz/alt", "usr/.dwz/alt" },
		{ "usr/.dwz/b/alt", "a/p", "../../.dwz/b/alt", "usr/.dwz/b/alt" },
		{ "usr/dwz/alt", "a/p", "/nonexistent/dwz/alt", "" }, { "usr/alt", "a/p", "/nonexistent/alt", "" },
		{ "b/.dwz/alt", "b/.build-id/12/p", "/nonexistent/.dwz/alt", "b/.dwz/alt" },
		{ "b/.dwz/alt", "b/build-id/12/p", "/nonexistent/.dwz/alt", "" },
		{ "b/dwz/alt", "b/.build-id/12/p", "/nonexistent/dwz/alt", "" },
		{ "usr/.dwz/alt b/.dwz/alt", "b/.build-id/12/p", "/nonexistent/.dwz/alt", "usr/.dwz/alt" },
		{ "a/alt usr/.dwz/alt", "a/p", "../a/../a/alt", "a/../a/../a/alt" },
		{ "a/alt usr/$(cat id)", "a/p", "alt", "usr/.build-id" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char commands[400];
		const char *path;

		snprintf(commands, sizeof(commands), "rm -rf *; objcopy -O binary --only-section=.note.gnu.build-id --set-section-flags "
			 ".note.gnu.build-id=alloc $P note; readelf -n $P | sed -nE 's|.*Build ID: (..)(.*)|.build-id/\\1/\\2.debug|p' > id; "
			 "for f in %s; do mkdir -p $(dirname $f); cp $P $f; done", cases[i].there);
		run(commands);
		path = found_alt(cases[i].in, cases[i].name);
		if (strncmp(path, cases[i].found, *cases[i].found ? strlen(cases[i].found) : 1))
			fail_msg("%s: %s leads to '%s', not '%s'", cases[i].in, cases[i].name, path, cases[i].found);
	}
}

/* A name without a build ID, or a build ID without a name, or nothing. */
static void test_damaged_alt(void **state)
{
	static const char *const links[] = { "alt", "alt\\0", "\\0abcdef", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		const char *const dirs[] = { NULL };
		struct sc_error err = { .msg = "" };
		char commands[200], file[128];
		struct sc_elf *e, *d = (void *)1; /* it is set in any case */

		snprintf(commands, sizeof(commands), "printf '%s' > link; objcopy --add-section .gnu_debugaltlink=link $P p", links[i]);
		run(commands);
		snprintf(file, sizeof(file), "%s/p", testing_dir);
		assert_int_equal(sc_elf_open(file, &e, &err), 0);
		assert_int_equal(sc_elf_find_alt(e, dirs, &d, &err), SC_EFORMAT);
		assert_null(d);
		assert_non_null(strstr(err.msg, "/p: .gnu_debugaltlink is damaged"));
		sc_elf_close(e);
	}
}

/* A descriptor that was given back early is somebody else's when the file is closed. */
static void test_descriptor(void **state)
{
	struct sc_elf *elf;
	struct sc_error err;
	int fd;

	(void)state;
	assert_int_equal(sc_elf_open("/proc/self/exe", &elf, &err), 0);
	fd = elf->fd;
	sc_elf_close_fd(elf);
	assert_int_equal(dup2(STDERR_FILENO, fd), fd);
	sc_elf_close(elf);
	assert_int_equal(close(fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_debuglink, clean),
		cmocka_unit_test_teardown(test_wrong_crc, clean),
		cmocka_unit_test_teardown(test_odd_links, clean),
		cmocka_unit_test_teardown(test_build_id, clean),
		cmocka_unit_test_teardown(test_sup, clean),
		cmocka_unit_test_teardown(test_alt, clean),
		cmocka_unit_test_teardown(test_damaged_alt, clean),
		cmocka_unit_test(test_descriptor),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}

/*
 * Which file of a store a name means: an oops has the kernel's release and the names of modules, a
 * log the names of programs. The wrong one gives names and lines of another build, without a word.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <string.h>

#include "libsymcache/symbolize/name_list.h"

#define TWO "/lib/modules/6.1.0-9-amd64/kernel/"
#define THREE "/lib/modules/6.1.0-10-amd64/kernel/"

/* A store's files; the build ID is the letter. */
static const struct { char id; const char *name, *path, *tags; } files[] = {
	{ 'A', "kvm-intel.ko", TWO "kvm-intel.ko", "" },
	{ 'B', "kvm-intel.ko", THREE "kvm-intel.ko.xz", "" },
	{ 'C', "kvm.ko", TWO "kvm.ko", "" },
	{ 'C', "kvm.ko", "/srv/copy/kvm.ko", "" },        /* the same build, under a second path */
	{ 'P', "prog", "/usr/bin/prog", "new\ndebian" },
	{ 'Q', "prog", "/opt/prog", "debian" },
	{ 'S', "single", "/usr/bin/single", "" },
	{ 'V', "vmlinux", "/boot/vmlinux", "" },          /* of which release is not known */
	{ 'W', "vmlinux-6.1.0-10-amd64", "/usr/lib/debug/boot/vmlinux-6.1.0-10-amd64", "" },
	{ 'X', "vmlinux-6.1.0-9-amd64", "/usr/lib/debug/boot/vmlinux-6.1.0-9-amd64", "" },
	{ 'Y', "vmlinuxed", "/usr/bin/vmlinuxed", "" },
	{ 'Z', "zram.ko.zst", "/srv/zram.ko.zst", "" },   /* the path says no release */
};

static void make_list(struct sc_name_list *l)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		struct sc_named *n = vec_push(&l->all);

		assert_non_null(n);
		n->name = strdup(files[i].name);
		n->path = strdup(files[i].path);
		n->tags = strdup(files[i].tags);
		n->id[0] = (uint8_t)files[i].id;
		n->id_len = 1;
	}
	l->read = true;
}

/* The build ID, '?' for several, '-' for none. */
static void is(int rc, const struct sc_error *err, uint8_t id, char wants, const char *says)
{
	const char got = !rc ? (char)id : rc == SC_EINVAL ? '?' : '-';

	assert_true(!rc || rc == SC_EINVAL || rc == SC_ENOTFOUND);
	if (got != wants || (rc && !strstr(err->msg, says)))
		fail_msg("%c, %s", got, rc ? err->msg : "");
}

static void test_kernel(void **state)
{
	static const struct { const char *name, *release; char wants; const char *says; } cases[] = {
		{ "vmlinux", "6.1.0-9-amd64", 'X' },
		{ "vmlinux", "6.1.0-10-amd64", 'W' },
		{ "vmlinux", "6.1.0-1", 'V' },           /* of no other: what may be it */
		{ "vmlinux", "6.1.0-9-amd64-dbg", 'V' },
		{ "vmlinux", NULL, '?', "3 builds of that name" },
		{ "kvm_intel", "6.1.0-9-amd64", 'A' },
		{ "kvm-intel", "6.1.0-9-amd64", 'A' },
		{ "kvm_intel", "6.1.0-10-amd64", 'B' },
		{ "kvm_intel", "6.1.0-11-amd64", '-', "no file of that name and release 6.1.0-11-amd64" },
		{ "kvm_intel", NULL, '?', "2 builds of that name" },
		{ "kvm", "6.1.0-9-amd64", 'C' },
		{ "kvm", NULL, 'C' },
		{ "kvm", "7.0", 'C' },                   /* its copy says no release */
		{ "kvm_inte", "6.1.0-9-amd64", '-', "no file of that name" },
		{ "kvm_intell", "6.1.0-9-amd64", '-', "no file of that name" },
		{ "zram", "6.1.0-9-amd64", 'Z' },
		{ "prog", NULL, '-', "no file of that name" },
		{ "vmlinuxed", NULL, '-', "no file of that name" },
	};
	struct sc_name_list l = { 0 };

	(void)state;
	make_list(&l);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint8_t id[SYMCACHE_BUILD_ID_MAX];
		struct sc_error err;
		size_t len;
		const int rc = sc_name_list_kernel(&l, cases[i].name, cases[i].release, id, &len, &err);

		is(rc, &err, *id, cases[i].wants, cases[i].says);
	}
	sc_name_list_deinit(&l);
}

static void test_name(void **state)
{
	static const struct { const char *name, *tag; char wants; const char *says; } cases[] = {
		{ "single", NULL, 'S' },
		{ "prog", NULL, '?', "2 builds of that name: 50, 51" },
		{ "prog", "new", 'P' },
		{ "prog", "debian", '?', "2 builds of that name with the tag debian: 50, 51" },
		{ "prog", "ne", '-', "no file of that name with the tag ne" },
		{ "single", "new", '-', "no file of that name with the tag new" },
		{ "pro", NULL, '-', "no file of that name" },
		{ "zzz", NULL, '-', "no file of that name" },
	};
	struct sc_name_list l = { 0 };
	struct sc_error err;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;

	(void)state;
	assert_int_equal(sc_name_list_find(&l, "single", NULL, id, &len, &err), SC_ENOTFOUND); /* empty */
	make_list(&l);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const int rc = sc_name_list_find(&l, cases[i].name, cases[i].tag, id, &len, &err);

		is(rc, &err, *id, cases[i].wants, cases[i].says);
	}
	assert_int_equal(sc_name_list_read(&l, NULL, &err), 0); /* once is enough */
	sc_name_list_deinit(&l);
}

/* Of many builds three are named, and build IDs may be long. */
static void test_many(void **state)
{
	struct sc_name_list l = { .read = true };
	struct sc_error err;
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;

	(void)state;
	for (uint8_t i = 0; i < 4; i++) {
		struct sc_named *n = vec_push(&l.all);

		*n = (struct sc_named){ .name = strdup("many"), .path = strdup("/many"), .tags = strdup(""),
					.id_len = i < 3 ? SYMCACHE_BUILD_ID_MAX : 1 };
		memset(n->id, i + 1, n->id_len);
		if (i < 2)
			continue;
		assert_int_equal(sc_name_list_find(&l, "many", NULL, id, &len, &err), SC_EINVAL);
		assert_memory_equal(err.msg, i == 2 ? "the store has 3 builds of that name: 0101" :
				    "the store has 4 builds of that name: 0101", 41);
	}
	for (size_t i = 0; i < 4; i++)
		l.all.data[i].id_len = 1;
	assert_int_equal(sc_name_list_find(&l, "many", NULL, id, &len, &err), SC_EINVAL);
	assert_string_equal(err.msg, "the store has 4 builds of that name: 01, 02, 03, ...");
	sc_name_list_deinit(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_kernel), cmocka_unit_test(test_name), cmocka_unit_test(test_many) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

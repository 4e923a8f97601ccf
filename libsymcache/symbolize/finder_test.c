/*
 * Which module is meant by what is known of a file: a build ID, a path, a kernel's module, and what an
 * option binds a name to. The wrong one gives names of another build; what cannot be found says why,
 * and what the user can do.
 */
#include "libsymcache/read/tiny_test.h"

#include <limits.h>
#include <sys/wait.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/testing.h"
#include "libsymcache/symbolize/finder.h"
#include "libsymcache/symbolize/module.h"

#define MODULES "/lib/modules/6.1.0-9-amd64/kernel/"

/* The entries of the store; the build ID is 20 times the letter, of one the longest there is. */
static const struct { char id; const char *path, *names, *tags; } entries[] = {
	{ 'A', "/opt/bin/alpha", "alpha\nalpha-too", "new" },
	{ 'B', "/srv/alpha.debug", "alpha", "old" },
	{ 'C', "/opt/lib/libone.so", "libone.so", NULL },
	{ 'K', "/boot/vmlinux-6.1.0-9-amd64", "vmlinux-6.1.0-9-amd64", NULL },
	{ 'L', "/srv/kvm_intel.ko", "kvm_intel.ko", NULL },
	{ 'M', MODULES "kvm.ko", "kvm.ko", NULL },
	{ 'N', "/srv/.build-id/4e/4e4e.debug", NULL, NULL },
	{ 'Q', "/opt/longest", "longest", NULL },
	{ 'O', "/srv/.build-id/4f/4f4f.debug", NULL, NULL }, /* the second store alone */
};
enum { ENTRIES = sizeof(entries) / sizeof(*entries) };

static char dir[] = "/tmp/symcache-finder-XXXXXX", stores[2][64];
static char self[PATH_MAX], self_text[SYMCACHE_BUILD_ID_TEXT], link_to_self[64];
static uint8_t self_id[SYMCACHE_BUILD_ID_MAX];
static size_t self_id_len;

static size_t id_len(char id)
{
	return id == 'Q' ? SYMCACHE_BUILD_ID_MAX : 20;
}

static int write_store(const char *path, size_t n)
{
	struct tiny t = tiny_example_ext(9);
	uint8_t *bytes = tiny_bytes(&t); /* until it is committed */
	struct symstore_writer *writer;
	struct symstore *store;
	int rc;

	if (symstore_open(path, SYMSTORE_WRITE, &store, NULL) || symstore_write_begin(store, &writer, NULL))
		return 1;
	for (size_t i = 0; i < n; i++) {
		struct symstore_entry e = { .build_id_len = id_len(entries[i].id), .cache_size = t.size, .tool_version = "test",
			.source_path = entries[i].path, .names = entries[i].names, .tags = entries[i].tags };

		memset(e.build_id, entries[i].id, e.build_id_len);
		if (symstore_put(writer, &e, NULL, bytes, NULL, NULL))
			return 1;
	}
	rc = symstore_commit(writer, NULL) != 0;
	free(bytes);
	return rc;
}

/* Stores are written by other processes, as LMDB asks for. */
static int set_up(void **state)
{
	struct sc_error err;
	bool derived;

	(void)state;
	if (!mkdtemp(dir) || !realpath("/proc/self/exe", self) ||
	    symcache_elf_build_id(self, self_id, &self_id_len, &derived, &err))
		return -1;
	symcache_build_id_text(self_text, self_id, self_id_len);
	snprintf(link_to_self, sizeof(link_to_self), "%s/prog", dir);
	for (size_t i = 0; i < 2; i++) {
		int status;
		pid_t pid;

		snprintf(stores[i], sizeof(stores[i]), "%s/%zu.store", dir, i);
		pid = fork();
		if (!pid)
			_exit(write_store(stores[i], ENTRIES - 1 + i));
		if (waitpid(pid, &status, 0) != pid || status)
			return -1;
	}
	return symlink(self, link_to_self);
}

static int tear_down(void **state)
{
	(void)state;
	return testing_run("rm -r %s", dir);
}

/* The module, or what is said instead; paths of this run as SELF, DIR, ID. */
static void describe(char *to, size_t size, int rc, const struct symcache_module *m, const struct sc_error *err)
{
	const struct { const char *what, *as; } names[] = { { self, "SELF" }, { dir, "DIR" }, { self_text, "ID" } };
	char text[1200];

	if (rc)
		snprintf(text, sizeof(text), "%d %s", rc, err->msg);
	else if (m->kind == SC_MODULE_OF_ID)
		snprintf(text, sizeof(text), "id %c*%zu", *m->name, m->name_len);
	else
		snprintf(text, sizeof(text), "%s %s", m->kind == SYMCACHE_MODULE_FILE ? "file" : "hex", m->name);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		for (char *at; (at = strstr(text, names[i].what));) {
			char rest[1200];

			strcpy(rest, at + strlen(names[i].what));
			sprintf(at, "%s%s", names[i].as, rest);
		}
	snprintf(to, size, "%s", text);
}

static const char none[] = "-1 ";

/* `path`, `id`, `bound` and `module`: "SELF" and "LINK" are this program, and a link to it. */
struct question {
	const char *path, *id, *module;
	unsigned flags;
	const char *want, *bound, *release;
};
enum { KERNEL = 1, NO_FILES = 2, NO_OPTION = 4, TWO_NAMELESS = 8, FIRST = 16, NO_STORE = 32 };

static const char *real(const char *text)
{
	return !text || strcmp(text, "SELF") ? text && !strcmp(text, "LINK") ? link_to_self : text : self;
}

static void expect(const struct question *q)
{
	char row[2 * PATH_MAX] = "", got[1200];
	const char *rows[] = { "other=0000", row };
	struct symcache_caches *caches = symcache_caches_create(&(struct symcache_caches_options){
		.store = q->flags & NO_STORE ? NULL : stores[q->flags & TWO_NAMELESS ? 1 : 0] });
	const struct symcache_finder f = {
		.find = symcache_find_module, .caches = caches, .modules = rows, .num_modules = q->module ? 2 : 1,
		.option = q->flags & NO_OPTION ? NULL : "--module", .no_files = q->flags & NO_FILES,
		.first = q->flags & FIRST,
	};
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symcache_file_id of = { .kernel = q->flags & KERNEL, .bound = real(q->bound) };
	struct symcache_module *m = (void *)&f;
	struct sc_error err = { .msg = "" };
	int rc;

	if (q->path)
		of.path = sc_str_of(real(q->path));
	if (q->release)
		of.release = sc_str_of(q->release);
	if (q->id) {
		of.build_id = memset(id, *q->id, sizeof(id));
		of.build_id_len = (size_t)atoi(q->id + 1);
		if (!strcmp(q->id, "self")) {
			of.build_id = self_id;
			of.build_id_len = self_id_len;
		}
	}
	if (q->module) {
		const char *equals = strchr(q->module, '=');

		snprintf(row, sizeof(row), "%.*s=%s", (int)(equals - q->module), q->module, real(equals + 1));
	}
	rc = symcache_find_module(&f, &of, &m, &err);
	assert_int_equal(rc != 0, m == NULL);
	describe(got, sizeof(got), rc, m, &err);
	if (strcmp(got, q->want))
		fail_msg("%s %s %s: %s, not %s", q->path, q->id, q->module, got, q->want);
	symcache_caches_destroy(caches);
}

#define ALL(cases) for (size_t i = 0; i < sizeof(cases) / sizeof(*(cases)); i++) expect(&(cases)[i])

static void test_ids(void **state)
{
	static const struct question cases[] = {
		{ "/opt/bin/alpha", "A20", NULL, 0, "id A*20" },
		{ "alpha", "B20", NULL, 0, "id B*20" },
		{ NULL, "C20", NULL, 0, "id C*20" }, { "longest", "Q64", NULL, 0, "id Q*64" },
		{ NULL, "C16", NULL, 0, "hex 43434343434343434343434343434343" },  /* of a minidump */
		{ NULL, "C15", NULL, 0, "-1 not in store DIR/0.store" },
		{ "alpha", "Z20", NULL, 0, "-1 not in store DIR/0.store" },
		{ "SELF", "self", NULL, 0, "file SELF" },
		{ "SELF", "self", NULL, FIRST, "file SELF" },
		{ "SELF", "self", NULL, NO_FILES, "-1 not in store DIR/0.store" },
		{ "SELF", "Z20", NULL, 0, "-1 not in store DIR/0.store" },
		{ "LINK", "self", NULL, 0, "file DIR/prog" },
		{ "prog", "self", NULL, 0, "-1 not in store DIR/0.store" },
	};

	(void)state;
	ALL(cases);
}

static void test_names(void **state)
{
	static const struct question cases[] = {
		{ "/usr/lib/libone.so", NULL, NULL, 0, "id C*20" },
		{ "libone.so", NULL, NULL, 0, "id C*20" }, { "longest", NULL, NULL, 0, "id Q*64" },
		{ "base.apk!libone.so", NULL, NULL, 0, "id C*20" },
		{ "/x/alpha-too", NULL, NULL, 0, "id A*20" },
		{ "/x/alpha", NULL, NULL, 0, "-2 the store has 2 builds of that name: "
		  "4141414141414141414141414141414141414141, 4242424242424242424242424242424242424242; choose one with "
		  "--module NAME=BUILDID" },
		{ "/x/alpha", NULL, NULL, NO_OPTION, "-2 the store has 2 builds of that name: "
		  "4141414141414141414141414141414141414141, 4242424242424242424242424242424242424242" },
		{ "/x/alpha", NULL, "alpha=new", 0, "id A*20" },
		{ "/x/alpha", NULL, "alpha=old", 0, "id B*20" },
		{ "/x/alpha", NULL, "alpha=ne", 0, "-1 the store has no file of that name with the tag ne" },
		{ "/x/alpha", NULL, "/y/alpha=43", 0, "hex 43" },
		{ "/x/alpha", NULL, "alpha=SELF", 0, "file SELF" },
		{ "/x/alpha", NULL, "alpha=SELF", NO_FILES, "-1 the store has no file of that name with the tag SELF" },
		{ "/x/alpha-too", NULL, "alpha=43", 0, "id A*20" },
		{ "[vdso]", NULL, "[vdso]=43", 0, "hex 43" },
		{ "[vdso]", NULL, NULL, 0, none }, { "//anon", NULL, NULL, 0, none },
		{ "/memfd:libone.so", NULL, NULL, 0, none }, { "/dev/dri/libone.so", NULL, NULL, 0, none },
		{ "[x]/libone.so", NULL, NULL, 0, "id C*20" },
		{ "[libone.so", NULL, NULL, TWO_NAMELESS, none }, { "", NULL, NULL, 0, none }, { NULL, NULL, NULL, 0, none },
		{ "/x/", NULL, NULL, 0, none },
		{ "x", NULL, NULL, 0, "hex 43", "43" }, { "x", NULL, NULL, 0, "file SELF", "SELF" },
	};

	(void)state;
	ALL(cases);
}

/* What the user can do. Names and paths that a shell takes apart are in no advice. */
static void test_advice(void **state)
{
	static const struct question cases[] = {
		{ "LINK", NULL, NULL, 0, "-1 if DIR/prog on this machine is the file that ran, use --module prog=DIR/prog" },
		{ "/proc/self", NULL, NULL, 0, "-1 the store has one debug file without a name; if it belongs to this "
		  "module, use --module self=4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e" },
		{ "LINK", NULL, NULL, NO_FILES, "-1 the store has one debug file without a name; if it belongs to this "
		  "module, use --module prog=4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e" },
		{ "/none/x", NULL, NULL, TWO_NAMELESS, "-1 the store has 2 debug files without a name: index their programs, "
		  "too, or use --module x=BUILDID" },
		{ "LINK", NULL, NULL, NO_OPTION, none }, { "/none/x", NULL, NULL, NO_STORE, none },
		{ "/none/x y", NULL, NULL, 0, none }, { "/none/x;y", NULL, NULL, 0, none }, { "/none/-x", NULL, NULL, 0, none },
		{ "/proc/self/../self/exe", NULL, NULL, 0, "-1 if /proc/self/../self/exe on this machine is the file that "
		  "ran, use --module exe=/proc/self/../self/exe" },
		{ "-x/../../../../../../../../../../proc/self/exe", NULL, NULL, 0, "-1 the store has one debug file without a "
		  "name; if it belongs to this module, use --module exe=4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e" },
	};

	(void)state;
	ALL(cases);
}

static void test_kernels(void **state)
{
	static const struct question cases[] = {
		{ "vmlinux", NULL, NULL, KERNEL, "id K*20", NULL, "6.1.0-9-amd64" },
		{ "vmlinux", NULL, NULL, KERNEL, "id K*20" },
		{ "vmlinux", NULL, NULL, KERNEL, none, NULL, "6.1.0-10-amd64" },
		{ "vmlinux", NULL, NULL, 0, "-1 the store has one debug file without a name; if it belongs to this module, "
		  "use --module vmlinux=4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e4e" },
		{ "vmlinux", NULL, "vmlinux=43", KERNEL, "hex 43", NULL, "6.1.0-9-amd64" },
		{ "kvm", NULL, NULL, KERNEL, "id M*20", NULL, "6.1.0-9-amd64" },
		{ "kvm-intel", NULL, NULL, KERNEL, "id L*20", NULL, "6.1.0-9-amd64" },
		{ "kvm", NULL, NULL, KERNEL, none, NULL,
		  "0123456789012345678901234567890123456789012345678901234567890123456789" },
		{ "0123456789012345678901234567890123456789012345678901234567890123456789", NULL, NULL, KERNEL, none },
	};

	(void)state;
	ALL(cases);
}

static void test_check(void **state)
{
	static const char not[] = "-2 --module: '%s' is not NAME=BUILDID, NAME=FILE or NAME=TAG",
		neither[] = "-2 --module %s: '%s' is neither a build ID, nor a file, nor the tag of an entry in the store";
	static const struct { const char *row; bool no_files; const char *want; } cases[] = {
		{ "a=4e", false, NULL }, { "a=new", false, NULL }, { "a=/proc/self/exe", false, NULL },
		{ "a=/proc/self/exe", true, neither }, { "a=ne", false, neither }, { "a=", false, neither },
		{ "a=/none", false, neither }, { "a=4g", false, neither }, { "a", false, not }, { "=4e", false, not },
		{ "", false, not },
	};
	struct symcache_caches *caches = symcache_caches_create(&(struct symcache_caches_options){ .store = stores[0] });

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *rows[] = { "first=4e", cases[i].row }, *equals = strchr(cases[i].row, '=');
		const struct symcache_finder f = { .caches = caches, .modules = rows, .num_modules = 2,
						   .option = "--module", .no_files = cases[i].no_files };
		struct sc_error err = { .msg = "" };
		char want[300] = "0 ", got[300];
		const int rc = symcache_finder_check(&f, &err);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		if (cases[i].want)
			snprintf(want, sizeof(want), cases[i].want, cases[i].row, equals ? equals + 1 : "");
#pragma GCC diagnostic pop
		snprintf(got, sizeof(got), "%d %s", rc, err.msg);
		assert_string_equal(got, want);
	}
	symcache_caches_destroy(caches);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids), cmocka_unit_test(test_names), cmocka_unit_test(test_advice),
		cmocka_unit_test(test_kernels), cmocka_unit_test(test_check),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* An export that fails, as the disk is full, leaves nothing. */
#include "libsymcache/bundle/testing.h"

#include <signal.h>
#include <sys/resource.h>

static struct symstore *store;

static int set_up(void **state)
{
	struct own own[2];

	if (testing_set_up(state))
		return -1;
	own[0] = own_entry("inlines", "0011223344556677");
	own[1] = own_entry("threads", "8899aabbccddeeff");
	store = own_open("a.store");
	own_put(store, own, 2);
	for (int i = 0; i < 2; i++)
		free(own[i].cache);
	return 0;
}

static int tear_down(void **state)
{
	symstore_close(store);
	return testing_tear_down(state);
}

static const struct {
	const char *name;
	struct symbundle_export_options options;
} forms[] = {
	{ "a.store", { .format = 0 } }, { "plain", { .format = 1 } }, { "packed", { .format = 2 } },
	{ "plain.tar.zst", { .format = 1 } }, { "packed.tar.zst", { .format = 2 } },
};

/* Where files cannot grow, as on a full disk, an export fails, and leaves nothing, also in a process without
 * standard input: the first file that is opened has its number. */
static void failed_exports(void **state)
{
	const struct rlimit small = { 700, RLIM_INFINITY };
	struct rlimit before;
	void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
	const size_t n = sizeof(forms) / sizeof(*forms);

	(void)state;
	for (size_t i = 0; i < 2 * n; i++) {
		struct symbundle_export_options o = forms[i % n].options;
		struct symstore_reader *reader = own_reader(store);
		struct symbundle_exported done;
		char name[60];
		int rc, input = -1;

		snprintf(name, sizeof(name), "failed-%s", forms[i % n].name);
		if (i >= n) {
			input = dup(0);
			close(0);
		}
		assert_ok(getrlimit(RLIMIT_FSIZE, &before));
		assert_ok(setrlimit(RLIMIT_FSIZE, &small));
		rc = symbundle_export(reader, in_dir(name), symbundle_shape_of(name), &o, &done, &err);
		assert_ok(setrlimit(RLIMIT_FSIZE, &before));
		if (i >= n)
			assert_ok(dup2(input, 0) || close(input));
		symstore_read_end(reader);
		if (rc != SC_EFULL && rc != SC_ESYS)
			fail_msg("%s: %d %s", name, rc, rc ? err.msg : "");
		assert_int_equal(testing_run("[ -z \"$(find %s* -not -type d -not -name '.*' 2> /dev/null)\" ]",
					     in_dir(name)), 0);
		assert_int_equal(access(in_dir(name), F_OK), -1);
	}
	signal(SIGXFSZ, handler);
}

int main(void)
{
	static const struct CMUnitTest tests[] = { cmocka_unit_test(failed_exports) };

	return cmocka_run_group_tests_name("full disk", tests, set_up, tear_down);
}

/* Profiles by the public names: what each option changes, and an output that cannot be written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <symcache-build.h>

#include "libsymcache/profile/perf_file_test.h"
#include "libsymcache/profile/proto_test.h"

static char dir[] = "/tmp/symcache-profile-XXXXXX", store_path[64];
static struct symcache_store *store;

/* The program at 0x7000, in the store by its name. Below turn() are grind(), which has another name in the
 * profile, and where turn() begins: as a return address it is grind()'s. */
static const char pprof[] =
	"1{1:1 2:2} 1{1:3 2:4} 2{1(1 2 3) 2(3 4000)} 3{1:1 2:0x7000 3:0x8000 5:5} 4{1:1 2:1 3:0x7140} "
	"4{1:2 2:1 3:0x7110 4{1:1 2:7}} 4{1:3 2:1 3:0x7140} 5{1:1 2:6} 6\"\" 6\"alloc\" 6\"count\" 6\"space\" 6\"bytes\" 6\"/opt/prog\" 6\"named\"";

static int set_up(void **state)
{
	const struct symcache_put_options put = { sizeof(put), (const uint8_t *)"id", 2, "/opt/prog", NULL, 1 };
	struct symcache_cache *c;

	(void)state;
	make_program(&prof_fixture);
	if (!mkdtemp(dir) || symcache_make(strchr(prof_fixture.module, '=') + 1, NULL, &c, NULL))
		return -1;
	snprintf(store_path, sizeof(store_path), "%s/store", dir);
	assert_int_equal(symcache_store_open(store_path, SYMCACHE_STORE_WRITE, &store, NULL), 0);
	assert_int_equal(symcache_store_put(store, c, &put, NULL), 0);
	symcache_cache_unref(c);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	symcache_store_close(store);
	close(prof_fixture.fd);
	return testing_run("rm -r %s", dir);
}

static int keep(void *ctx, const void *data, size_t len)
{
	strncat(ctx, data, len);
	return 0;
}

static int refuse(void *ctx, const void *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
	return 1;
}

static void test_options(void **state)
{
	static const struct { const char *value; uint32_t flags; const char *wants; } cases[] = {
		{ NULL, 0, "mill::turn(int);named;mill::turn(int) 4000\n" },
		{ "alloc", 0, "mill::turn(int);named;mill::turn(int) 3\n" },
		{ NULL, SYMCACHE_PROFILE_FORCE, "mill::turn(int);grind;mill::turn(int) 4000\n" },
		{ NULL, SYMCACHE_PROFILE_RETURN_ADDRESSES, "grind;named;mill::turn(int) 4000\n" },
	};
	struct prof_bytes in = { 0 };
	struct symcache_error err;

	(void)state;
	proto_put(&in, pprof);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char got[300] = "";
		struct symcache_profile_options o = { .size = sizeof(o), .form = SYMCACHE_PROFILE_FOLDED,
			.flags = cases[i].flags, .value = cases[i].value, .write = keep, .ctx = got };

		assert_int_equal(symcache_profile(store, in.v.data, in.v.len, &o, &err), 0);
		assert_string_equal(got, cases[i].wants);
		o.write = refuse;
		assert_int_equal(symcache_profile(store, in.v.data, in.v.len, &o, &err), SYMCACHE_ESYS);
		assert_string_equal(err.msg, "the output could not be written");
	}
	prof_bytes_deinit(&in);
}

/* Code of a perf.data that a JIT made is named by the maps in a folder, if one is given. */
static void test_jit(void **state)
{
	static const uint64_t chain[] = { USER, 0x9010 };
	struct bytes records = { 0 }, file = { 0 };

	(void)state;
	put_mmap(&records, PID, 1, 0x9000, 0x1000, 0, "//anon");
	put_sample(&records, PID, 100, 10, chain, 2, NULL, 0);
	wrap(&file, &records, false);
	assert_int_equal(testing_run("echo '9000 20 py::f' > %s/perf-%d.map && chmod 644 %s/perf-%d.map", dir, PID,
				     dir, PID), 0);
	for (int with = 0; with < 2; with++) {
		char got[300] = "";
		const struct symcache_profile_options o = { .size = sizeof(o), .form = SYMCACHE_PROFILE_FOLDED,
			.value = "cpu-clock_event", .jit_dir = with ? dir : NULL, .write = keep, .ctx = got };

		assert_int_equal(symcache_profile(store, file.b.data, file.b.len, &o, NULL), 0);
		assert_string_equal(got, with ? "py::f 100\n" : "[anon] 0x9010 100\n");
	}
	bytes_deinit(&records);
	bytes_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_options), cmocka_unit_test(test_jit) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* perf.data: several events, forks and what is mapped over, kernels at random places, pipes,
 * registers and stacks of the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "libsymcache/profile/packing.h"
#include "libsymcache/profile/perf_file_test.h"

static const char *jit_dir; /* NULL: none */

/* As a file and as a pipe: the same comes out. */
static void expect(const struct bytes *records, const char *value, const char *want)
{
	const struct symprofile_options options = { .form = SYMPROFILE_FOLDED, .value = value,
						    .jit_dir = jit_dir };

	for (unsigned pipe = 0; pipe < 2; pipe++) {
		struct bytes file = { 0 };
		struct sc_error err;
		size_t len;
		char *got;

		wrap(&file, records, pipe);
		testing_seed(file.b.data, file.b.len);
		got = prof_symbolized(options, file.b.data, file.b.len, &len, &err);
		assert_string_equal(got ? got : err.msg, want);
		free(got);
		bytes_deinit(&file);
	}
}

/* ---- the tests ---------------------------------------------------------------------------------- */

/* Each event has its two values; the first address of a chain is exact, the others are return
 * addresses, and those below 4096 are none. */
static void test_events(void **state)
{
	static const uint64_t chain[] = { USER, 0x7140, 0x7140, 5 };
	struct bytes b = { 0 };

	(void)state;
	/* Records come in any order: their times count. */
	put_sample(&b, PID, 100, 10, chain, 4, NULL, 0);
	put_sample(&b, PID, 200, 11, chain, 4, NULL, 0);
	put_sample(&b, PID, 200, 12, chain, 4, NULL, 0);
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	expect(&b, "cpu-clock_sample", "grind;mill::turn(int) 1\n");
	expect(&b, "cpu-clock_event", "grind;mill::turn(int) 100\n");
	expect(&b, "task-clock_sample", "grind;mill::turn(int) 2\n");
	expect(&b, NULL, "grind;mill::turn(int) 400\n");
	bytes_deinit(&b);
}

/* Where addresses of callers begin and end. */
static void test_limits(void **state)
{
	static const struct { uint64_t address; const char *want; } cases[] = {
		{ 4096, "mill::turn(int) 1\n" }, { 4097, "0x1000;mill::turn(int) 1\n" },
		{ (uint64_t)-4095, "mill::turn(int) 1\n" },
		{ (uint64_t)-4096, "0xffffffffffffefff;mill::turn(int) 1\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t chain[] = { USER, 0x7150, cases[i].address };
		struct bytes b = { 0 };

		put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
		put_sample(&b, PID, 100, 2, chain, 3, NULL, 0);
		expect(&b, "cpu-clock_sample", cases[i].want);
		bytes_deinit(&b);
	}
}

/* A child has its parent's mappings until it runs another program; a mapping cuts what it covers. */
static void test_processes(void **state)
{
	static const uint64_t grind[] = { USER, 0x7110 }, turn[] = { USER, 0x7150 };
	struct bytes b = { 0 };

	(void)state;
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_comm(&b, PID, 2, false, "mill");
	put_fork(&b, 3);
	put_sample(&b, CHILD, 100, 4, grind, 2, NULL, 0);
	put_mmap(&b, PID, 5, 0x7100, 0x40, 0, "/opt/other");
	put_sample(&b, PID, 100, 6, grind, 2, NULL, 0);
	put_sample(&b, PID, 100, 7, turn, 2, NULL, 0);
	put_sample(&b, CHILD, 100, 8, grind, 2, NULL, 0);
	put_comm(&b, CHILD, 9, true, "new");
	put_sample(&b, CHILD, 100, 10, grind, 2, NULL, 0);
	expect(&b, "cpu-clock_sample",
	       "0x7110 1\n[other] 0x7110 1\ngrind 2\nmill::turn(int) 1\n");
	bytes_deinit(&b);
}

/* Code that a JIT made is named by the map of its process, where no file is. */
static void test_jit(void **state)
{
	static const uint64_t chain[] = { USER, 0x9010, 0x7141, 0x9021, 0xa001, 0xb011 };
	char dir[] = "/tmp/symcache-jit.XXXXXX", path[64], map[] = "9000 20 py::f;x\n9020 10 py::g\n"
		"7000 1000 never\na000 10 py::h\nb000 10 unused\n";
	struct bytes b = { 0 };
	FILE *f;

	(void)state;
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_mmap(&b, PID, 2, 0x9000, 0x1000, 0, "//anon");
	put_sample(&b, PID, 100, 10, chain, 5, NULL, 0);
	put_sample(&b, CHILD, 100, 11, chain, 2, NULL, 0);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/perf-%d.map", dir, PID);
	f = fopen(path, "w");
	assert_true(f && fputs(map, f) >= 0 && !fclose(f) && !chmod(path, 0644));
	jit_dir = dir;
	expect(&b, "cpu-clock_sample", "0x9010 1\npy::h;py::g;mill::turn(int);py::f:x 1\n");
	assert_int_equal(chmod(path, 0666), 0); /* anyone may have written it */
	expect(&b, "cpu-clock_sample", "0x9010 1\n0xa000;[anon] 0x9020;mill::turn(int);[anon] 0x9010 1\n");
	assert_true(!unlink(path) && !rmdir(dir));
	expect(&b, "cpu-clock_sample", "0x9010 1\n0xa000;[anon] 0x9020;mill::turn(int);[anon] 0x9010 1\n");
	jit_dir = NULL;
	bytes_deinit(&b);
}

/* A kernel that KASLR moved: the symbol in the mapping's name is at its start; without one _stext, if the
 * kernel was moved by whole pages; else where the code begins, 0x10000. "prog" stands for the kernel's
 * file. */
static void test_kernel(void **state)
{
#define K 0xffffffffa0000000
	static const struct { const char *name; uint64_t start, ip; const char *want; } cases[] = {
		{ "[kernel.kallsyms]grind", K, K + 0x50, "grind;mill::turn(int) 1\n" },
		{ "[kernel.kallsyms]_text", K, K + 0x50, "grind;[[kernel.kallsyms]_text] 0xffffffffa0000050 1\n" },
		{ "[kernel.kallsyms]", K + 0x180, K + 0x190, "grind;_stext 1\n" },
		{ "[kernel.kallsyms]", K, K + 0x150, "grind;mill::turn(int) 1\n" },
		{ "[kernel.kallsyms", K, K + 0x150, "grind;[[kernel.kallsyms] 0xffffffffa0000150 1\n" },
		{ "[guest.kernel.kallsyms.77]grind", K, K + 0x50, "grind;0xffffffffa0000050 1\n" },
	};
	char module[64];

	(void)state;
	snprintf(module, sizeof(module), "vmlinux=%s", strchr(prof_fixture.module, '=') + 1);
	prof_fixture.modules[1] = module;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t chain[] = { KERNEL, cases[i].ip, USER, 0x7110 };
		struct bytes b = { 0 };

		prof_fixture.num_modules = 2;
		put_mmap(&b, UINT32_MAX, 0, cases[i].start, 0x1000, cases[i].start, cases[i].name);
		put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
		put_sample(&b, PID, 100, 2, chain, 4, NULL, 0);
		expect(&b, "cpu-clock_sample", cases[i].want);
		prof_fixture.num_modules = 1;
		if (!i)
			expect(&b, "cpu-clock_sample", "grind;[[kernel.kallsyms]grind] 0xffffffffa0000050 1\n");
		bytes_deinit(&b);
	}
}

/* The pc is in turn(), the frame record on the stack says that grind() called it. */
static void test_stack(void **state)
{
	static const uint64_t stack[] = { 0x5020, 0x7120, 1, 2, 0, 0 };
	static const uint64_t chain[] = { KERNEL, 0xffffffffa0000050 };
	struct bytes b = { 0 };

	(void)state;
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_sample(&b, PID, 100, 2, NULL, 0, stack, 6);
	expect(&b, "cpu-clock_sample", "grind;mill::turn(int) 1\n");
	put_sample(&b, PID, 100, 3, chain, 2, stack, 6);
	expect(&b, "cpu-clock_sample",
	       "grind;mill::turn(int) 1\ngrind;mill::turn(int);0xffffffffa0000050 1\n");
	bytes_deinit(&b);
}

/* No frame record says who called turn(); what looks like a return address on its stack may be anything. */
static void test_scanned(void **state)
{
	static const uint64_t stack[] = { 1, 2, 0x7190, 0x7110, 0, 0 };
	struct bytes b = { 0 };

	(void)state;
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_sample(&b, PID, 100, 2, NULL, 0, stack, 6);
	expect(&b, "cpu-clock_sample", "mill::turn(int) 1\n");
	bytes_deinit(&b);
}

/* Who is meant by an address of the kernel says the mark in front of it, else the sample; and what comes
 * first behind one of a program is not a return address. */
static void test_marks(void **state)
{
	static const struct { uint64_t mark; const char *want; } cases[] = {
		{ (uint64_t)-512, "mill::turn(int);mill::turn(int);mill::turn(int) 1\n" }, /* a program */
		{ (uint64_t)-128, "mill::turn(int);grind;mill::turn(int) 1\n" },           /* the kernel */
		{ (uint64_t)-2047, "mill::turn(int);grind;mill::turn(int) 1\n" },
		{ (uint64_t)-2048, "mill::turn(int);0xffffffffa000003f;mill::turn(int) 1\n" }, /* a guest */
		{ (uint64_t)-2176, "mill::turn(int);0xffffffffa000003f;mill::turn(int) 1\n" },
		{ (uint64_t)-2560, "mill::turn(int);0xffffffffa0000040;mill::turn(int) 1\n" },
		{ (uint64_t)-2561, "mill::turn(int);grind;mill::turn(int) 1\n" },
	};
	char module[64];

	(void)state;
	snprintf(module, sizeof(module), "vmlinux=%s", strchr(prof_fixture.module, '=') + 1);
	prof_fixture.modules[1] = module;
	prof_fixture.num_modules = 2;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t chain[] = { USER, 0x7150, cases[i].mark, K + 0x40, 0x7150 };
		struct bytes b = { 0 };

		put_mmap(&b, UINT32_MAX, 0, K, 0x1000, K, "[kernel.kallsyms]grind");
		put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
		put_sample(&b, PID, 100, 2, chain, 5, NULL, 0);
		expect(&b, "cpu-clock_sample", cases[i].want);
		bytes_deinit(&b);
	}
	prof_fixture.num_modules = 1;
}

/* The n-th string of a profile. */
static struct sc_str string_of(const char *bytes, size_t len, uint64_t n)
{
	struct prof_wire w = prof_wire_of((const uint8_t *)bytes, len);
	struct prof_field f;

	do
		assert_true(prof_wire_find(&w, 6, &f));
	while (n--);
	return (struct sc_str){ (const char *)f.bytes, f.len };
}

/* Each sample of a pprof file: places, values; labels, of which the last is a text. */
static char *samples_of(const char *bytes, size_t len)
{
	struct prof_wire w = prof_wire_of((const uint8_t *)bytes, len), in, label;
	struct prof_field sample, f, of;
	char *ret;
	size_t size;
	FILE *to = open_memstream(&ret, &size);

	while (prof_wire_find(&w, 2, &sample)) {
		for (unsigned list = 1; list <= 2; list++) {
			for (in = prof_wire_in(&sample); prof_wire_find(&in, list, &f);) {
				struct prof_wire packed = prof_wire_in(&f);
				uint64_t n;

				while (prof_wire_number(&packed, &n))
					fprintf(to, "%u ", (unsigned)n);
			}
			fprintf(to, "%s", list == 1 ? ": " : "");
		}
		for (in = prof_wire_in(&sample); prof_wire_find(&in, 3, &f);)
			for (label = prof_wire_in(&f); prof_wire_next(&label, &of);) {
				const struct sc_str text = string_of(bytes, len, of.number == 3 ? 0 : of.value);

				if (of.number == 3)
					fprintf(to, "=%u ", (unsigned)of.value);
				else
					fprintf(to, "%s%.*s", of.number == 2 ? "=" : "", (int)text.len, text.ptr);
			}
		fprintf(to, "\n");
	}
	fclose(to);
	return ret;
}

/* Samples count together if process, thread, its name by then and all addresses are the same. */
static void test_samples(void **state)
{
	static const uint64_t grind[] = { USER, 0x7110 }, both[] = { USER, 0x7150, 0x7110 };
	const struct symprofile_options options = { 0 };
	struct bytes b = { 0 }, file = { 0 };
	struct prof_packing packing = { 0 };
	enum symcache_packing was;
	struct sc_error err;
	const uint8_t *bytes;
	char *got, *text;
	size_t len;

	(void)state;
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_comm(&b, PID, 2, false, "mill");
	put_fork(&b, 3);
	put_sample(&b, PID, 100, 4, grind, 2, NULL, 0);
	put_sample(&b, PID, 200, 5, grind, 2, NULL, 0);
	put_sample(&b, CHILD, 100, 6, grind, 2, NULL, 0);
	put_sample(&b, PID, 100, 7, both, 3, NULL, 0);
	put_comm(&b, PID, 8, false, "other");
	put_sample(&b, PID, 100, 9, grind, 2, NULL, 0);
	put_sample(&b, PID, 100, 10, grind, 0, NULL, 0);
	put_sample(&b, PID, 100, 11, grind, 2, NULL, 0);
	wrap(&file, &b, false);
	got = prof_symbolized(options, file.b.data, file.b.len, &len, &err);
	assert_non_null(got);
	bytes = (const uint8_t *)got;
	assert_int_equal(prof_unpack(&packing, &bytes, &len, &was, &err), 0);
	text = samples_of((const char *)bytes, len);
	assert_string_equal(text, "1 : 1 100 1 200 pid=7 tid=7 comm=mill\n1 : 1 100 0 0 pid=8 tid=8 comm=mill\n"
			    "2 3 : 1 100 0 0 pid=7 tid=7 comm=mill\n1 : 2 200 0 0 pid=7 tid=7 comm=other\n"
			    ": 1 100 0 0 pid=7 tid=7 comm=other\n");
	free(text);
	free(got);
	prof_packing_deinit(&packing);
	bytes_deinit(&b);
	bytes_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_jit),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_stack), cmocka_unit_test(test_scanned), cmocka_unit_test(test_marks),
		cmocka_unit_test(test_samples),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}

/* perf.data: several events, forks and what is mapped over, kernels at random places, pipes,
 * registers and stacks of the program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <sys/stat.h>

#include "libsymcache/profile/perf_file.h"
#include "libsymcache/profile/testing.h"

enum { PID = 7, CHILD = 8 };

/* ---- writing perf.data ------------------------------------------------------------------------ */

#define SAMPLE_TYPE \
	(PERF_IDENTIFIER | PERF_IP | PERF_TID | PERF_TIME | PERF_PERIOD | PERF_CALLCHAIN | \
	 PERF_REGS_USER | PERF_STACK_USER)

static size_t begin_record(struct bytes *b, unsigned type, unsigned misc)
{
	const size_t at = put(b, 4, type);

	put(b, 2, misc);
	put(b, 2, 0);
	return at;
}

static void end_record(struct bytes *b, size_t at)
{
	patch(b, at + 6, 2, b->b.len - at);
}

static void put_padded(struct bytes *b, const char *text)
{
	put_str(b, text);
	put(b, (unsigned)(-b->b.len & 7), 0);
}

/* What ends records other than samples. */
static void put_id(struct bytes *b, uint32_t pid, uint64_t time)
{
	put(b, 4, pid);
	put(b, 4, pid);
	put(b, 8, time);
	put(b, 8, 100); /* the id of the first event */
}

static void put_mmap(struct bytes *b, uint32_t pid, uint64_t time, uint64_t start, uint64_t len,
		     uint64_t offset, const char *name)
{
	const size_t at = begin_record(b, PERF_MMAP2, 0);

	put(b, 4, pid);
	put(b, 4, pid);
	put(b, 8, start);
	put(b, 8, len);
	put(b, 8, offset);
	put(b, 16, 0);
	put(b, 8, 0);
	put(b, 4, 5); /* PROT_READ | PROT_EXEC */
	put(b, 4, 0);
	put_padded(b, name);
	put_id(b, pid, time);
	end_record(b, at);
}

static void put_comm(struct bytes *b, uint32_t pid, uint64_t time, bool exec, const char *name)
{
	const size_t at = begin_record(b, PERF_COMM, exec ? 1 << 13 : 0);

	put(b, 4, pid);
	put(b, 4, pid);
	put_padded(b, name);
	put_id(b, pid, time);
	end_record(b, at);
}

static void put_fork(struct bytes *b, uint64_t time)
{
	const size_t at = begin_record(b, PERF_FORK, 0);

	put(b, 4, CHILD);
	put(b, 4, PID);
	put(b, 4, CHILD);
	put(b, 4, PID);
	put(b, 8, time);
	put_id(b, PID, time);
	end_record(b, at);
}

/* A sample of event 100 or 200; `stack` words from the stack pointer 0x5000 up, with the frame
 * pointer at the first of them, if there are any. */
static void put_sample(struct bytes *b, uint32_t pid, uint64_t id, uint64_t time,
		       const uint64_t *chain, size_t num_chain, const uint64_t *stack,
		       size_t num_stack)
{
	const size_t at = begin_record(b, PERF_SAMPLE, 2);

	put(b, 8, id);
	put(b, 8, num_chain ? chain[num_chain - 1] : 0);
	put(b, 4, pid);
	put(b, 4, pid);
	put(b, 8, time);
	put(b, 8, id); /* the period, too */
	put(b, 8, num_chain);
	for (size_t i = 0; i < num_chain; i++)
		put(b, 8, chain[i]);
	put(b, 8, num_stack ? 2 : 0); /* PERF_SAMPLE_REGS_ABI_64 */
	if (num_stack) { /* BP, SP, IP */
		put(b, 8, 0x5000);
		put(b, 8, 0x5000);
		put(b, 8, 0x7150);
	}
	put(b, 8, num_stack * 8);
	for (size_t i = 0; i < num_stack; i++)
		put(b, 8, stack[i]);
	if (num_stack)
		put(b, 8, num_stack * 8);
	end_record(b, at);
}

static void put_attr(struct bytes *b, uint64_t config)
{
	const size_t at = b->b.len;

	put(b, 4, 1); /* PERF_TYPE_SOFTWARE */
	put(b, 4, 96);
	put(b, 8, config);
	put(b, 8, 4000);
	put(b, 8, SAMPLE_TYPE);
	put(b, 8, 0);
	put(b, 8, 1 << 18 | 1 << 10); /* sample_id_all, freq */
	put(b, 16, 0);
	put(b, 16, 0);
	put(b, 8, 1 << 6 | 1 << 7 | 1 << 8);
	put(b, 16 - (unsigned)((b->b.len - at) & 15), 0);
	b->b.len = at + 96;
}

/* Records as a file, or as a pipe's. */
static void wrap(struct bytes *out, const struct bytes *records, bool pipe)
{
	enum { HEADER = 104, IDS = 2 * (96 + 16) };

	put_block(out, "PERFILE2", 8);
	put(out, 8, pipe ? 16 : HEADER);
	for (unsigned i = 0; pipe && i < 2; i++) {
		const size_t at = begin_record(out, 64, 0);

		put_attr(out, i);
		put(out, 8, 100 * (i + 1));
		end_record(out, at);
	}
	if (pipe) {
		const size_t at = begin_record(out, 80, 0);

		put(out, 8, 6); /* HEADER_ARCH */
		put(out, 4, 8);
		put_block(out, "x86_64\0\0", 8);
		put(out, 4, 0);
		end_record(out, at);
		put_block(out, records->b.data, records->b.len);
		return;
	}
	put(out, 8, 96 + 16);
	put(out, 8, HEADER);
	put(out, 8, IDS);
	put(out, 8, HEADER + IDS + 16);
	put(out, 8, records->b.len);
	put(out, 16, 0);
	put(out, 8, 1 << 6); /* features: the machine */
	put(out, 16, 0);
	put(out, 8, 0);
	for (unsigned i = 0; i < 2; i++) {
		put_attr(out, i);
		put(out, 8, HEADER + IDS + 8 * i);
		put(out, 8, 8);
	}
	put(out, 8, 100);
	put(out, 8, 200);
	put_block(out, records->b.data, records->b.len);
	put(out, 8, out->b.len + 16);
	put(out, 8, 12);
	put(out, 4, 8);
	put_block(out, "x86_64\0\0", 8);
}

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

#define USER ((uint64_t)-512)
#define KERNEL ((uint64_t)-128)

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

/* A kernel that KASLR moved: the symbol in the mapping's name is at its start. "prog" stands for
 * the kernel's file. */
static void test_kernel(void **state)
{
	static const uint64_t chain[] = { KERNEL, 0xffffffffa0000050, USER, 0x7110 };
	struct bytes b = { 0 };
	char module[64];

	(void)state;
	snprintf(module, sizeof(module), "vmlinux=%s", strchr(prof_fixture.module, '=') + 1);
	prof_fixture.modules[1] = module;
	prof_fixture.num_modules = 2;
	put_mmap(&b, UINT32_MAX, 0, 0xffffffffa0000000, 0x1000, 0xffffffffa0000000,
		 "[kernel.kallsyms]grind");
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_sample(&b, PID, 100, 2, chain, 4, NULL, 0);
	expect(&b, "cpu-clock_sample", "grind;mill::turn(int) 1\n");
	prof_fixture.num_modules = 1;
	expect(&b, "cpu-clock_sample", "grind;[[kernel.kallsyms]grind] 0xffffffffa0000050 1\n");
	bytes_deinit(&b);
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

/* Cut off anywhere, it is refused; nothing is read behind the end. */
static void test_cut(void **state)
{
	static const uint64_t chain[] = { USER, 0x7110 };
	struct symprofiler *p = prof_profiler((struct symprofile_options){ 0 });
	struct bytes b = { 0 }, file = { 0 };
	struct symprofile_output out;
	struct sc_error err;

	(void)state;
	put_mmap(&b, PID, 1, 0x7000, 0x1000, 0, "/opt/prog");
	put_sample(&b, PID, 100, 2, chain, 2, NULL, 0);
	wrap(&file, &b, false);
	for (size_t n = 8; n < file.b.len; n++) {
		uint8_t *bytes = malloc(n);
		int rc;

		memcpy(bytes, file.b.data, n);
		rc = symprofiler_run(p, bytes, n, &out, &err);
		assert_int_equal(rc, SC_EFORMAT);
		free(bytes);
	}
	symprofiler_destroy(p);
	bytes_deinit(&b);
	bytes_deinit(&file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_processes), cmocka_unit_test(test_jit),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, prof_set_up, prof_tear_down);
}

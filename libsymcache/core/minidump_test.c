/* Minidumps at the room's face: what Breakpad and Crashpad write, and what neither would. */
#include "libsymcache/core/testing.h"

#include <signal.h>

#include "libsymcache/core/parts.h"

enum { THREADS = 3, MODULES = 4, MEMORY = 5, EXCEPTION = 6, SYSTEM = 7, MEMORY_64 = 9, MISC = 15,
       KINDS = 16, NAMES = 24, STATUS = 0x47670004, COMMAND = 0x47670006, MAPS = 0x47670009 };

/* A minidump under construction: the directory has room for 16 streams. */
struct dump {
	struct bytes b;
	unsigned streams;
};

static void begin(struct dump *d)
{
	*d = (struct dump){ .streams = 0 };
	put_block(&d->b, "MDMP", 4);
	put(&d->b, 4, 0xa793);
	put(&d->b, 4, 16);
	put(&d->b, 4, 32);
	put(&d->b, 16, 0);
	for (int i = 0; i < 16; i++)
		put(&d->b, 12, 0);
}

/* The stream that begins at `at` ends here. */
static void stream(struct dump *d, uint32_t kind, size_t at)
{
	const size_t entry = 32 + 12 * d->streams++;

	patch(&d->b, entry, 4, kind);
	patch(&d->b, entry + 4, 4, d->b.b.len - at);
	patch(&d->b, entry + 8, 4, at);
}

static void put_system(struct dump *d, uint16_t processor, uint32_t platform)
{
	const size_t at = put(&d->b, 2, processor);

	put(&d->b, 10, 0);
	put(&d->b, 8, 0);
	put(&d->b, 4, platform);
	stream(d, SYSTEM, at);
}

/* The registers of x86-64: pc, and the stack pointer. */
static size_t put_context(struct dump *d, uint64_t pc, uint64_t sp)
{
	const size_t at = d->b.b.len;

	for (int i = 0; i < 16; i++)
		put(&d->b, 16, 0);
	patch(&d->b, at + 248, 8, pc);
	patch(&d->b, at + 120 + 4 * 8, 8, sp);
	return at;
}

/* A list of one thread, with `stack` bytes of stack at 0x7000 that begin with "stack". */
static void put_threads(struct dump *d, uint32_t tid, uint64_t pc, uint32_t stack)
{
	const size_t context = put_context(d, pc, 0x7000), bytes = d->b.b.len;
	size_t at;

	put_block(&d->b, "stack", 5);
	at = put(&d->b, 4, 1);
	put(&d->b, 4, tid);
	put(&d->b, 16, 0);
	put(&d->b, 4, 0);
	put(&d->b, 8, 0x7000);
	put(&d->b, 4, stack);
	put(&d->b, 4, bytes);
	put(&d->b, 4, 256);
	put(&d->b, 4, context);
	stream(d, THREADS, at);
}

static void put_exception(struct dump *d, uint32_t tid, uint32_t signal, uint64_t address)
{
	const size_t context = put_context(d, 0xdead0, 0x7000), at = put(&d->b, 4, tid);

	put(&d->b, 4, 0);
	put(&d->b, 4, signal);
	put(&d->b, 4, 1);
	put(&d->b, 8, 0);
	put(&d->b, 8, address);
	for (int i = 0; i < 8; i++)
		put(&d->b, 16, 0);
	put(&d->b, 4, 256);
	put(&d->b, 4, context);
	stream(d, EXCEPTION, at);
}

static size_t put_name(struct dump *d, const char *name)
{
	const size_t at = put(&d->b, 4, 2 * strlen(name));

	for (; *name; name++)
		put(&d->b, 2, *name == '?' ? 0x20ac : (uint64_t)*name);
	return at;
}

struct module {
	uint64_t start;
	uint32_t size;
	const char *path;
	uint32_t kind; /* of the record with the build ID */
	size_t id_len;
};

static void put_modules(struct dump *d, const struct module *list, unsigned n)
{
	size_t names[4], ids[4], at;

	for (unsigned i = 0; i < n; i++) {
		names[i] = put_name(d, list[i].path);
		ids[i] = put(&d->b, 4, list[i].kind);
		for (size_t k = 0; k < list[i].id_len; k++)
			put(&d->b, 1, 0xa0 + k);
	}
	at = put(&d->b, 4, n);
	for (unsigned i = 0; i < n; i++) {
		const size_t record = put(&d->b, 8, list[i].start);

		put(&d->b, 4, list[i].size);
		put(&d->b, 8, 0);
		put(&d->b, 4, names[i]);
		put(&d->b, 15, 0), put(&d->b, 15, 0), put(&d->b, 15, 0), put(&d->b, 7, 0);
		put(&d->b, 4, 4 + list[i].id_len);
		put(&d->b, 4, ids[i]);
		while (d->b.b.len < record + 108)
			put(&d->b, 1, 0);
	}
	stream(d, MODULES, at);
}

static void put_text(struct dump *d, uint32_t kind, const char *text, size_t len)
{
	const size_t at = d->b.b.len;

	put_block(&d->b, text, len);
	stream(d, kind, at);
}

static struct symcache_core *open_dump(struct dump *d)
{
	struct symcache_core *core;
	struct sc_error err;

	if (open_bytes(d->b.b.data, d->b.b.len, &core, &err))
		fail_msg("%s", err.msg);
	bytes_deinit(&d->b);
	return core;
}

/* ---- tests ------------------------------------------------------------------------------- */

static void test_systems(void **state)
{
	static const struct {
		uint16_t processor;
		uint32_t platform;
		uint16_t machine;    /* EM_NONE: it is refused */
		const char *says;
	} cases[] = {
		{ 9, 0x8201, EM_X86_64 }, { 9, 0x8203, EM_X86_64 }, { 9, 0x8206, EM_X86_64 },
		{ 0, 0x8201, EM_386 }, { 12, 0x8201, EM_AARCH64 }, { 0x8003, 0x8203, EM_AARCH64 },
		{ 9, 2, EM_NONE, "another system than Linux or Android (platform 0x2)" },
		{ 5, 0x8201, EM_NONE, "processor 0x5 are not read" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_core *core;
		struct sc_error err;
		struct dump d;
		int rc;

		begin(&d);
		put_system(&d, cases[i].processor, cases[i].platform);
		put_threads(&d, 7, 0x1234, 5);
		put(&d.b, 16, 0); /* an AArch64's context is longer */
		rc = open_bytes(d.b.b.data, d.b.b.len, &core, &err);
		bytes_deinit(&d.b);
		assert_int_equal(rc, cases[i].machine ? 0 : SC_EUNSUPPORTED);
		if (rc && !strstr(err.msg, cases[i].says))
			fail_msg("%s", err.msg);
		if (!rc)
			assert_int_equal(core->machine, cases[i].machine);
		symcache_core_close(core);
	}
}

/* Who died comes first, with the registers of that moment; a dump of a living process has no one. */
static void test_threads(void **state)
{
	static const struct {
		uint32_t died;   /* 0: no one */
		size_t threads;
		uint64_t first_pc;
	} cases[] = { { 0, 1, 0x1234 }, { 7, 1, 0xdead0 }, { 8, 2, 0xdead0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_core *core;
		struct dump d;

		begin(&d);
		put_system(&d, 9, 0x8201);
		put_threads(&d, 7, 0x1234, 5);
		if (cases[i].died)
			put_exception(&d, cases[i].died, SIGSEGV, 0xbad0);
		core = open_dump(&d);
		assert_int_equal(core->num_threads, cases[i].threads);
		assert_int_equal(core->threads[0].registers.pc, cases[i].first_pc);
		assert_int_equal(core->threads[0].registers.value[7], 0x7000);
		assert_int_equal(core->died, cases[i].died != 0);
		assert_int_equal(core->signal, cases[i].died ? SIGSEGV : 0);
		assert_int_equal(core->has_signal_address, cases[i].died != 0);
		if (cases[i].died)
			assert_int_equal(core->signal_address, 0xbad0);
		symcache_core_close(core);
	}
}

/* Where Windows' CONTEXT of each processor has which register, by the numbers that DWARF gives it. */
static void test_contexts(void **state)
{
	static const struct {
		uint16_t processor, size;
		unsigned word, pc, num;
		struct { uint8_t reg; uint16_t at; } registers[33];
	} cases[] = {
		{ 9, 1232, 8, 248, 16, { { 0, 120 }, { 2, 128 }, { 1, 136 }, { 3, 144 }, { 7, 152 }, { 6, 160 }, { 4, 168 },
			{ 5, 176 }, { 8, 184 }, { 9, 192 }, { 10, 200 }, { 11, 208 }, { 12, 216 }, { 13, 224 }, { 14, 232 },
			{ 15, 240 } } },
		{ 0, 716, 4, 184, 8, { { 7, 156 }, { 6, 160 }, { 3, 164 }, { 2, 168 }, { 1, 172 }, { 0, 176 }, { 5, 180 },
			{ 4, 196 } } },
		{ 12, 912, 8, 264, 5, { { 0, 8 }, { 1, 16 }, { 29, 240 }, { 30, 248 }, { 31, 256 } } },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const unsigned w = cases[i].word;
		struct symcache_core *core;
		struct dump d;
		size_t context, at;

		begin(&d);
		put_system(&d, cases[i].processor, 0x8201);
		context = d.b.b.len;
		for (unsigned k = 0; k < cases[i].size; k += w)
			put(&d.b, w, 0x1000 + k); /* each says where it is */
		at = put(&d.b, 4, 1);
		put(&d.b, i ? 4 : 0, 0); /* some writers align the first record */
		put(&d.b, 4, 7);
		put(&d.b, 16, 0), put(&d.b, 16, 0);
		put(&d.b, 4, 0);
		put(&d.b, 4, cases[i].size), put(&d.b, 4, context);
		stream(&d, THREADS, at);
		core = open_dump(&d);
		assert_int_equal(core->num_threads, 1);
		assert_int_equal(core->threads[0].registers.pc, 0x1000 + cases[i].pc);
		for (unsigned k = 0; k < cases[i].num; k++)
			assert_int_equal(core->threads[0].registers.value[cases[i].registers[k].reg],
					 0x1000 + cases[i].registers[k].at);
		symcache_core_close(core);
	}
}

/* Where the process ID stands: of the system's information, if its flag says so, else of the text. */
static void test_ids(void **state)
{
	static const struct { uint32_t size, flags, id, want; } cases[] = {
		{ 12, 1, 77, 77 }, { 24, 3, 77, 77 }, { 24, 2, 77, 4242 }, { 24, 0, 77, 4242 }, { 8, 1, 0, 4242 },
	};
	static const char status[] = "Name:\tprog\nPid:\t4242\n";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_core *core;
		struct dump d;
		size_t at;

		begin(&d);
		put_system(&d, 9, 0x8201);
		put_threads(&d, 7, 0x1234, 5);
		put_text(&d, STATUS, status, strlen(status));
		at = put(&d.b, 4, cases[i].size);
		put(&d.b, 4, cases[i].flags);
		for (uint32_t k = 8; k < cases[i].size; k += 4)
			put(&d.b, 4, k == 8 ? cases[i].id : 0);
		stream(&d, MISC, at);
		core = open_dump(&d);
		assert_int_equal(core->pid, cases[i].want);
		symcache_core_close(core);
	}
}

/* Ranges that lie outside of the file, or around the end of all addresses, are not there; what is
 * valid stays. */
static void test_memory(void **state)
{
	static const struct {
		uint64_t start, size, at; /* of the second range; at 0: behind the first */
		bool first;
	} cases[] = {
		{ 0x9000, 4, 0, true }, { 0x9000, UINT64_C(1) << 63, 0, true }, { 0x9000, UINT64_MAX, 0, true },
		{ UINT64_MAX - 1, 4, 0, true }, { 0x9000, 0, 0, true }, { 0x9000, 4, UINT64_C(1) << 63, false },
		{ 0x9000, 4, UINT64_MAX - 4, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_core *core;
		struct dump d;
		size_t bytes, at;
		char got[4] = "";

		begin(&d);
		put_system(&d, 9, 0x8201);
		put_threads(&d, 7, 0x1234, 5);
		bytes = d.b.b.len;
		put_block(&d.b, "AAAABBBB", 8);
		at = put(&d.b, 8, 2);
		put(&d.b, 8, cases[i].at ? cases[i].at : bytes);
		put(&d.b, 8, 0x8000);
		put(&d.b, 8, 4);
		put(&d.b, 8, cases[i].start);
		put(&d.b, 8, cases[i].size);
		stream(&d, MEMORY_64, at);
		core = open_dump(&d);
		assert_true(symcache_core_read(core, 0x7000, got, 3) && !memcmp(got, "sta", 3));
		assert_int_equal(symcache_core_read(core, 0x8000, got, 4), cases[i].first);
		if (cases[i].first)
			assert_memory_equal(got, "AAAA", 4);
		assert_int_equal(symcache_core_read(core, 0x9000, got, 4), i == 0);
		assert_false(symcache_core_read(core, UINT64_MAX - 1, got, 1));
		if (i == 0)
			assert_memory_equal(got, "BBBB", 4);
		symcache_core_close(core);
	}
}

static void test_modules(void **state)
{
	static const struct module modules[] = {
		{ 0x20000, 0x1000, "/lib/lib?.so", 0x4270454c, 20 },  /* not in ASCII */
		{ 0x10000, 0x1000, "/bin/prog", 0x53445352, 20 },     /* Breakpad's: the first 16 bytes */
		{ 0x30000, 0, "/empty", 0x4270454c, 20 },
		{ 0x40000, 0x1000, "linux-gate.so", 0x1234, 20 },     /* of no known kind */
	};
	static const struct { const char *path; uint64_t start; size_t id_len; } wants[] = {
		{ "/bin/prog", 0x10000, 16 }, { "/lib/lib?.so", 0x20000, 20 }, { "linux-gate.so", 0x40000, 0 },
	};
	struct symcache_core *core;
	struct dump d;

	(void)state;
	begin(&d);
	put_system(&d, 9, 0x8201);
	put_threads(&d, 7, 0x1234, 5);
	put_modules(&d, modules, 4);
	core = open_dump(&d);
	assert_int_equal(core->num_modules, 3);
	for (size_t i = 0; i < 3; i++) {
		const struct symcache_image *m = core->modules[i];

		assert_string_equal(m->path, wants[i].path);
		assert_int_equal(m->start, wants[i].start);
		assert_int_equal(m->end, wants[i].start + 0x1000);
		assert_int_equal(m->build_id_len, wants[i].id_len);
		for (size_t k = 0; k < wants[i].id_len; k++)
			assert_int_equal(m->build_id[k], 0xa0 + k);
	}
	assert_ptr_equal(core->vdso, core->modules[2]);
	/* Without maps, modules are code, and nothing else is. */
	assert_true(symcache_core_executable(core, 0x10fff));
	assert_false(symcache_core_executable(core, 0x11000));
	symcache_core_close(core);
}

/* Where code is, by the process's maps; and who it was. */
static void test_process(void **state)
{
	static const char maps[] = "10000-11000 r-xp 00000000 00:00 0 /bin/prog\n"
				   "11000-12000 rw-p 00000000 00:00 0 /bin/prog\nnonsense\n-\n"
				   "13000-12000 r-xp 00000000 00:00 0 backwards\n14000-15000 --xp";
	static const char status[] = "Name:\tprog\nPid:\t4242\n", command[] = "/bin/prog\0-x\0y z\0";
	static const uint64_t code[] = { 0x10000, 0x10fff, 0x14000 }, other[] = { 0xffff, 0x11000, 0x12800, 0x15000 };
	struct symcache_core *core;
	struct dump d;
	size_t name, at;

	(void)state;
	begin(&d);
	put_system(&d, 9, 0x8201);
	put_threads(&d, 7, 0x1234, 5);
	put_text(&d, MAPS, maps, strlen(maps));
	put_text(&d, STATUS, status, strlen(status));
	put_text(&d, COMMAND, command, sizeof(command));
	name = put_name(&d, "worker");
	at = put(&d.b, 4, 2);
	put(&d.b, 4, 6), put(&d.b, 8, name); /* of no thread */
	put(&d.b, 4, 7), put(&d.b, 8, name);
	stream(&d, NAMES, at);
	core = open_dump(&d);
	for (size_t i = 0; i < 3; i++)
		assert_true(symcache_core_executable(core, code[i]));
	for (size_t i = 0; i < 4; i++)
		assert_false(symcache_core_executable(core, other[i]));
	assert_int_equal(core->pid, 4242);
	assert_string_equal(core->arguments, "/bin/prog -x y z");
	assert_string_equal(core->threads[0].name, "worker");
	symcache_core_close(core);
}

/* A dump cut off anywhere gives what it has, or a message; never what is not there. */
static void test_cut_off(void **state)
{
	static const struct module module = { 0x10000, 0x1000, "/bin/prog", 0x4270454c, 20 };
	struct dump d;

	(void)state;
	begin(&d);
	put_modules(&d, &module, 1);
	put_system(&d, 9, 0x8201);
	put_threads(&d, 7, 0x1234, 5);
	for (size_t size = 4; size < d.b.b.len; size++) {
		struct symcache_core *core;
		struct sc_error err;

		if (!open_bytes(d.b.b.data, size, &core, &err))
			fail_msg("%zu of %zu bytes", size, d.b.b.len); /* the list of threads is at the end */
		assert_true(strstr(err.msg, "cut off") != NULL);
	}
	bytes_deinit(&d.b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_systems), cmocka_unit_test(test_threads), cmocka_unit_test(test_contexts), cmocka_unit_test(test_ids), cmocka_unit_test(test_memory),
		cmocka_unit_test(test_modules), cmocka_unit_test(test_process), cmocka_unit_test(test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

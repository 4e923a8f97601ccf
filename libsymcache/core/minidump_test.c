/* Minidumps at the room's face: what Breakpad and Crashpad write, and what neither would. */
#include "libsymcache/core/made_dump_test.h"

#include <signal.h>

#include "libsymcache/core/parts.h"

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

		begin_amd64(&d);
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

/* Where the process ID stands: of the system's information, if its flag says so, else of the text; also
 * if the dump ends in front of the flag. */
static void test_ids(void **state)
{
	static const struct { uint32_t size, flags, id, want, cut_off; } cases[] = {
		{ 12, 1, 77, 77 }, { 24, 3, 77, 77 }, { 24, 2, 77, 4242 }, { 24, 0, 77, 4242 }, { 8, 1, 0, 4242 },
		{ 12, 1, 77, 4242, 8 },
	};
	static const char status[] = "Name:\tprog\nPid:\t4242\n";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_core *core;
		struct dump d;
		size_t at;

		begin_amd64(&d);
		put_text(&d, STATUS, status, strlen(status));
		at = put(&d.b, 4, cases[i].size);
		put(&d.b, 4, cases[i].flags);
		for (uint32_t k = 8; k < cases[i].size; k += 4)
			put(&d.b, 4, k == 8 ? cases[i].id : 0);
		stream(&d, MISC, at);
		d.b.b.len -= cases[i].cut_off;
		core = open_dump(&d);
		assert_int_equal(core->pid, cases[i].want);
		symcache_core_close(core);
	}
}

static void test_modules(void **state)
{
	static const struct library modules[] = {
		{ 0x20000, 0x1000, "/lib/lib?!.so", 0x4270454c, 20, false }, /* not in ASCII */
		{ 0x10000, 0x1000, "/bin/prog", 0x53445352, 20, false }, /* Breakpad's: the first 16 bytes */
		{ 0x30000, 0, "/empty", 0x4270454c, 20, false },
		{ 0x40000, 0x1000, "linux-gate.so", 0x1234, 20, false }, /* of no known kind */
	};
	static const struct { const char *path; uint64_t start; size_t id_len; } wants[] = {
		{ "/bin/prog", 0x10000, 16 }, { "/lib/lib??.so", 0x20000, 20 }, { "linux-gate.so", 0x40000, 0 },
	};
	struct symcache_core *core;

	(void)state;
	core = open_modules(modules, 4);
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
	assert_true(symcache_core_executable(core, 0x20fff));
	assert_true(symcache_core_executable(core, 0x40000));
	symcache_core_close(core);
}

/* A build ID of zeros is none; and the vDSO has two names. */
static void test_vdso(void **state)
{
	static const struct library modules[] = {
		{ 0x10000, 0x1000, "/bin/prog", 0x4270454c, 20, true }, { 0x20000, 0x1000, "[vdso]", 0x4270454c, 20, false },
	};
	struct symcache_core *core;

	(void)state;
	core = open_modules(modules, 2);
	assert_int_equal(core->num_modules, 2);
	assert_int_equal(core->modules[0]->build_id_len, 0);
	assert_int_equal(core->modules[1]->build_id_len, 20);
	assert_ptr_equal(core->vdso, core->modules[1]);
	symcache_core_close(core);
}

/* Names are in ASCII; what is not is '?'. One that is longer than any path is none. */
static void test_names(void **state)
{
	static const struct { size_t len; bool there; } cases[] = { { 3, true }, { 4096, true }, { 4097, false } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char name[4098] = "\x7f?";
		const struct library module = { 0x10000, 0x1000, name, 0x4270454c, 20, false };
		struct symcache_core *core;

		memset(name + 2, 'a', cases[i].len - 2);
		core = open_modules(&module, 1);
		assert_int_equal(core->num_modules, 1);
		assert_string_equal(core->modules[0]->path, cases[i].there ? name : "");
		symcache_core_close(core);
	}
}

/* Texts that are longer than there is room for are cut off. */
static void test_lengths(void **state)
{
	enum { ROOM_ARGUMENTS = 80, ROOM_NAME = 31 };

	(void)state;
	for (size_t len = 28; len < 84; len++) {
		char text[100] = "", want[100];
		struct symcache_core *core;
		struct dump d;
		size_t name, at;

		memset(text, 'a', len);
		text[len - 1] = 'z';
		begin_amd64(&d);
		put_text(&d, COMMAND, text, len + len % 2); /* with and without a NUL */
		name = put_name(&d, text);
		at = put(&d.b, 4, 1);
		put(&d.b, 4, 7), put(&d.b, 8, name);
		stream(&d, NAMES, at);
		core = open_dump(&d);
		snprintf(want, sizeof(want), "%.*s", ROOM_ARGUMENTS, text);
		assert_string_equal(core->arguments, want);
		snprintf(want, sizeof(want), "%.*s", ROOM_NAME, text);
		assert_string_equal(core->threads[0].name, want);
		symcache_core_close(core);
	}
}

/* The longest build ID, and one that is longer. */
static void test_build_ids(void **state)
{
	static const struct { size_t len, want; } cases[] = { { 1, 1 }, { 64, 64 }, { 65, 0 }, { 0, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct library module = { 0x10000, 0x1000, "/bin/prog", 0x4270454c, cases[i].len, false };
		struct symcache_core *core;

		core = open_modules(&module, 1);
		assert_int_equal(core->modules[0]->build_id_len, cases[i].want);
		symcache_core_close(core);
	}
}

/* Where code is, by the process's maps; and who it was. */
static void test_process(void **state)
{
	static const char maps[] = "10000-11000 r-xp 00000000 00:00 0 /bin/prog\n"
				   "11000-12000 rw-p 00000000 00:00 0 /bin/prog\nnonsense\n-\n"
				   "13000-12000 r-xp 00000000 00:00 0 backwards\n14000-15000 --xp\n16000-17000 r-x";
	static const char status[] = "Name:\tprog\nPid:\t4242\n", command[] = "/bin/prog\0-x\0y z\0";
	static const uint64_t code[] = { 0x10000, 0x10fff, 0x14000 }, other[] = { 0xffff, 0x11000, 0x12800, 0x15000, 0x16000 };
	struct symcache_core *core;
	struct dump d;
	size_t name, at;

	(void)state;
	begin_amd64(&d);
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
	for (size_t i = 0; i < 5; i++)
		assert_false(symcache_core_executable(core, other[i]));
	assert_int_equal(core->pid, 4242);
	assert_string_equal(core->arguments, "/bin/prog -x y z");
	assert_string_equal(core->threads[0].name, "worker");
	symcache_core_close(core);
}

/* A dump cut off anywhere gives what it has, or a message; never what is not there. */
static void test_cut_off(void **state)
{
	static const struct library module = { 0x10000, 0x1000, "/bin/prog", 0x4270454c, 20, false };
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
		cmocka_unit_test(test_systems), cmocka_unit_test(test_threads), cmocka_unit_test(test_contexts),
		cmocka_unit_test(test_ids), cmocka_unit_test(test_names), cmocka_unit_test(test_vdso), cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_modules), cmocka_unit_test(test_process), cmocka_unit_test(test_cut_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

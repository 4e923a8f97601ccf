/*
 * Core files at the room's face: what a kernel may leave out, and where it writes what is too
 * large for a header's field.
 */
#include "libsymcache/core/testing.h"

#include <signal.h>

#include "libsymcache/core/parts.h"

/* ---- headers ----------------------------------------------------------------------------- */

/* Of a process with many mappings the number of headers takes two bytes, or stands elsewhere. */
static void test_many_headers(void **state)
{
	static const struct {
		size_t null_headers;
		bool elsewhere;
	} cases[] = { { 0, false }, { 254, false }, { 300, false }, { 65533 - 1, false }, { 66000, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_core m = { .null_headers = cases[i].null_headers,
				       .number_elsewhere = cases[i].elsewhere };
		struct symcache_core *core;
		char word[5] = "";

		put_thread(&m, 7, SIGABRT, 0x1000, 0x2000);
		add_segment_bytes(&m, 0x2000, PF_R, "last", 4);
		core = open_made(&m);
		assert_true(symcache_core_read(core, 0x2000, word, 4));
		assert_string_equal(word, "last");
		symcache_core_close(core);
	}
}

/* A message that names what is wrong, for each kind of file that is none that can be read. */
static void test_refused(void **state)
{
	static const struct {
		size_t at, bytes;
		uint64_t value;  /* written over a good file */
		size_t size;     /* 0: all of it */
		const char *says;
	} cases[] = {
		{ 0, 0, 0, 1, "neither an ELF file nor a minidump" },
		{ 0, 1, 0, 0, "neither an ELF file nor a minidump" },
		{ 0, 0, 0, 60, "cut off in its header" },
		{ 0, 0, 0, 63, "cut off in its header" },
		{ 0, 0, 0, 64, "cut off in its program headers" },
		{ 0, 0, 0, 64 + 55, "cut off in its program headers" },
		{ 5, 1, ELFDATA2MSB, 0, "big-endian core files are not read" },
		{ 16, 2, ET_DYN, 0, "an ELF file, but not a core file" },
		{ 18, 2, EM_S390, 0, "core files of machine 22 are not read" },
		{ 4, 1, ELFCLASS32, 0, "core files of machine 62 are not read" },
		{ 56, 2, 0, 0, "the core file has no threads" },
		{ 56, 2, PN_XNUM, 0, "the core file has no threads" }, /* there is no section */
	};
	struct made_core m = { 0 };
	struct bytes good = { 0 };

	(void)state;
	put_thread(&m, 7, SIGABRT, 0x1000, 0x2000);
	put_core(&good, &m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes b = { 0 };
		struct symcache_core *core;
		struct sc_error err;

		put_block(&b, good.b.data, cases[i].size ? cases[i].size : good.b.len);
		patch(&b, cases[i].at, (unsigned)cases[i].bytes, cases[i].value);
		assert_int_not_equal(open_bytes(b.b.data, b.b.len, &core, &err), 0);
		if (!strstr(err.msg, cases[i].says))
			fail_msg("case %zu: %s", i, err.msg);
		bytes_deinit(&b);
	}
	bytes_deinit(&good);
	bytes_deinit(&m.notes);
}

/* As many program headers as are read, of a file that has none of them, and one more. */
static void test_most_headers(void **state)
{
	enum { HEADERS_END = 64 + 56 + 56 }; /* where the section header stands */

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct made_core m = { .number_elsewhere = true };
		struct bytes o = { 0 };
		struct symcache_core *core;
		struct sc_error err;

		put_thread(&m, 7, SIGABRT, 0x1000, 0x2000);
		add_segment_bytes(&m, 0x2000, PF_R, "last", 4);
		put_core(&o, &m);
		patch(&o, HEADERS_END + 44, 4, (1 << 20) + more);
		assert_int_equal(open_bytes(o.b.data, o.b.len, &core, &err), more ? SC_ELIMIT : SC_EFORMAT);
		assert_string_equal(strchr(err.msg + 10, ':') + 2, more ?
				    "1048577 program headers: more than 1048576 are not read" :
				    "cut off in its program headers");
		bytes_deinit(&o);
		bytes_deinit(&m.notes);
	}
}

static void test_empty(void **state)
{
	struct symcache_core *core;
	struct sc_error err;

	(void)state;
	assert_int_equal(open_bytes("", 0, &core, &err), SC_EFORMAT);
	assert_non_null(strstr(err.msg, ": empty file"));
	assert_null(core);
}

/* ---- notes ------------------------------------------------------------------------------- */

static void put_signal(struct made_core *m, uint32_t signal, uint32_t code, uint64_t address)
{
	const uint64_t words[] = { signal, code, address };

	put_words(m, NT_SIGINFO, words, 3);
}

/* The signal is that of the first thread: of NT_SIGINFO, and without it of its registers. */
static void test_signal(void **state)
{
	static const struct {
		bool has_info;
		int in_status, in_info, code;
		int signal;
		bool has_address;
	} cases[] = {
		{ false, SIGSEGV, 0, 0, SIGSEGV, false },
		{ false, SIGABRT, 0, 0, SIGABRT, false },
		{ true, SIGSEGV, SIGSEGV, 1, SIGSEGV, true },
		{ true, SIGSEGV, SIGSEGV, -6, SIGSEGV, false }, /* sent by tgkill() */
		{ true, 0, SIGABRT, 1, SIGABRT, false },
		{ true, SIGBUS, SIGBUS, 2, SIGBUS, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_core m = { 0 };
		struct symcache_core *core;

		put_thread(&m, 7, cases[i].in_status, 0x1000, 0x2000);
		if (cases[i].has_info)
			put_signal(&m, (uint32_t)cases[i].in_info, (uint32_t)cases[i].code, 0xdead0);
		put_thread(&m, 8, SIGUSR1, 0x1010, 0x3000);
		if (cases[i].has_info)
			put_signal(&m, SIGUSR1, 1, 0xbeef0);
		core = open_made(&m);
		assert_int_equal(core->signal, cases[i].signal);
		assert_int_equal(core->signal_code, cases[i].code);
		assert_int_equal(core->has_signal_address, cases[i].has_address);
		if (cases[i].has_info)
			assert_int_equal(core->signal_address, 0xdead0);
		assert_int_equal(core->num_threads, 2);
		assert_int_equal(core->threads[0].tid, 7);
		assert_int_equal(core->threads[1].registers.pc, 0x1010);
		assert_int_equal(core->threads[1].registers.value[7], 0x3000);
		symcache_core_close(core);
	}
}

/* NT_FILE with more rows than it has bytes for, or without the last name, gives what is valid. */
static void test_hostile_mappings(void **state)
{
	static const struct {
		uint64_t count;
		size_t words;
		size_t modules;
		bool another; /* a valid one behind it: the first one counts */
	} cases[] = { { 1, 7, 1, false }, { 2, 7, 0, false }, { UINT64_MAX / 8, 7, 0, false }, { 1, 5, 0, false },
		      { 1, 1, 0, false }, { 1, 1, 1, true }, { 0, 2, 0, false }, { 0, 2, 0, true }, { 1, 7, 1, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t words[] = { cases[i].count, 1, 0x400000, 0x401000, 0,
					   0x0078652f6e69622f /* "/bin/ex" */, 0 };
		struct made_core m = { 0 };
		struct symcache_core *core;

		put_thread(&m, 7, SIGABRT, 0x400010, 0x2000);
		put_words(&m, NT_FILE, words, cases[i].words);
		if (cases[i].another)
			put_words(&m, NT_FILE, (uint64_t[]){ 1, 1, 0x400000, 0x401000, 0, words[5], 0 }, 7);
		add_segment_bytes(&m, 0x400000, PF_R | PF_X, "code", 4);
		m.segments[0].more = 0xffc;
		core = open_made(&m);
		assert_int_equal(core->num_modules, cases[i].modules);
		if (cases[i].modules)
			assert_string_equal(core->modules[0]->path, "/bin/ex");
		symcache_core_close(core);
	}
}

/* Rows of files become modules, from a row of offset 0 to the last of the file, but not into the next
 * module; code, and the first page, is mapped with its offset in the file. */
static void test_rows(void **state)
{
	static const char names[] = "/lib/early.so\0/bin/ex\0/bin/ex\0/lib/a.so\0/lib/a.so\0/lib/b.so\0/bin/ex\0"
				    "/lib/c.so\0/lib/d.so\0/lib/late.so";
	const uint64_t rows[] = {
		10, 0x1000,
		0x300000, 0x301000, 3,                          /* its beginning is not mapped */
		0x400000, 0x401000, 0, 0x401000, 0x403000, 1,   /* /bin/ex */
		0x500000, 0x501000, 0, 0x501000, 0x502000, 1,   /* a.so */
		0x502000, 0x503000, 0,                          /* b.so begins where a.so ends */
		0x504000, 0x505000, 4,                          /* ex again: another place */
		0x510000, 0x514000, 0, 0x512000, 0x513000, 0,   /* c.so, over d.so: that cannot be */
		0x600000, 0x601000, 3,
	};
	static const struct { const char *path; uint64_t start, end; } modules[] = {
		{ "/bin/ex", 0x400000, 0x403000 }, { "/lib/a.so", 0x500000, 0x502000 }, { "/lib/b.so", 0x502000, 0x503000 },
		{ "/lib/c.so", 0x510000, 0x512000 }, { "/lib/d.so", 0x512000, 0x513000 },
	};
	static const struct { uint64_t at; const char *path; uint64_t offset; } places[] = {
		{ 0x400010, "/bin/ex", 0 }, { 0x402ffe, "/bin/ex", 1 }, { 0x403000, NULL, 0 }, { 0x501000, "/lib/a.so", 1 },
		{ 0x502000, "/lib/b.so", 0 }, { 0x600000, NULL, 0 },
		{ 0x300000, NULL, 0 }, { 0x511fff, "/lib/c.so", 0 }, { 0x512000, "/lib/d.so", 0 },
	};
	struct made_core m = { 0 };
	struct bytes note = { 0 };
	struct symcache_core *core;

	(void)state;
	put_block(&note, rows, sizeof(rows));
	put_block(&note, names, sizeof(names));
	patch(&note, 8, 8, 0x1000); /* offsets count pages */
	put_thread(&m, 7, SIGABRT, 0x401010, 0x2000);
	put_note(&m, NT_FILE, note.b.data, note.b.len);
	add_segment_bytes(&m, 0x400000, PF_R, "ex", 2);
	add_segment_bytes(&m, 0x401000, PF_R | PF_X, "code", 4);
	add_segment_bytes(&m, 0x501000, PF_R | PF_X, "code", 4);
	add_segment_bytes(&m, 0x502000, PF_R | PF_X, "code", 4);
	m.segments[0].more = 0xffe;
	m.segments[1].more = 0x1ffc;
	add_segment_bytes(&m, 0x510000, PF_R | PF_X, "code", 4);
	m.segments[2].more = m.segments[3].more = 0xffc;
	m.segments[4].more = 0x3ffc;
	core = open_made(&m);
	bytes_deinit(&note);
	for (size_t i = 0; i < core->num_modules && i < 5; i++) {
		assert_string_equal(core->modules[i]->path, modules[i].path);
		assert_int_equal(core->modules[i]->start, modules[i].start);
		assert_int_equal(core->modules[i]->end, modules[i].end);
	}
	assert_int_equal(core->num_modules, 5);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		const struct symcache_mapping *at = symcache_process_at(core->process, places[i].at);

		if (!at != !places[i].path)
			fail_msg("0x%llx", (unsigned long long)places[i].at);
		if (!at)
			continue;
		assert_string_equal(at->image->path, places[i].path);
		assert_int_equal(at->offset, 0x1000 * places[i].offset);
	}
	symcache_core_close(core);
}

/* Of two files at one address, which cannot be, the first one has no room. */
static void test_same_place(void **state)
{
	const uint64_t rows[] = { 2, 0x1000, 0x400000, 0x401000, 0, 0x400000, 0x401000, 0 };
	struct made_core m = { 0 };
	struct bytes note = { 0 };
	struct symcache_core *core;

	(void)state;
	put_block(&note, rows, sizeof(rows));
	put_block(&note, "/lib/a.so\0/lib/b.so", 20);
	put_thread(&m, 7, SIGABRT, 0x400010, 0x2000);
	put_note(&m, NT_FILE, note.b.data, note.b.len);
	add_segment_bytes(&m, 0x400000, PF_R | PF_X, "code", 4);
	m.segments[0].more = 0xffc;
	core = open_made(&m);
	bytes_deinit(&note);
	assert_int_equal(core->num_modules, 2);
	assert_string_equal(core->modules[0]->path, "/lib/a.so");
	assert_int_equal(core->modules[0]->end, 0x400000);
	assert_string_equal(core->modules[1]->path, "/lib/b.so");
	assert_int_equal(core->modules[1]->end, 0x401000);
	symcache_core_close(core);
}

/* A module without a build ID gets that of the file that it is said to be, up to the longest one. */
static void test_bound_build_id(void **state)
{
	const uint64_t words[] = { 1, 1, 0x400000, 0x401000, 0, 0x0078652f6e69622f /* "/bin/ex" */, 0 };

	(void)state;
	assert_non_null(mkdtemp(testing_dir));
	for (size_t len = 63; len <= 64; len++) {
		struct symcache_caches *caches = symcache_caches_create(NULL);
		struct symcache_stack stack = { 0 };
		struct made_core m = { 0 };
		struct symcache_core *core;
		struct sc_error err;
		char hex[200], spec[100];

		for (size_t i = 0; i < len; i++)
			sprintf(hex + 2 * i, "%02zx", i + 1);
		assert_int_equal(testing_run("cd %s && echo 'int f(int a) { return a + 1; }' > a.c && "
					     "gcc -shared -fPIC -Wl,--build-id=0x%s -o lib%zu.so a.c", testing_dir, hex, len), 0);
		put_thread(&m, 7, SIGABRT, 0x400010, 0x2000);
		put_words(&m, NT_FILE, words, 7);
		add_segment_bytes(&m, 0x400000, PF_R | PF_X, "code", 4);
		m.segments[0].more = 0xffc;
		core = open_made(&m);
		symcache_core_use(core, caches, "--module");
		snprintf(spec, sizeof(spec), "ex=%s/lib%zu.so", testing_dir, len);
		assert_int_equal(symcache_core_bind(core, spec, &err), 0);
		assert_int_equal(symcache_core_walk(core, core->threads, false, &stack, &err), 0);
		assert_int_equal(core->modules[0]->build_id_len, len);
		for (size_t i = 0; i < len; i++)
			assert_int_equal(core->modules[0]->build_id[i], i + 1);
		symcache_stack_deinit(&stack);
		symcache_core_close(core);
		symcache_caches_destroy(caches);
	}
	assert_int_equal(testing_run("rm -r %s", testing_dir), 0);
}

/* What a module is said to be: by its path or its name. */
static void test_bind(void **state)
{
	static const struct { const char *spec; int rc; const char *bound; } cases[] = {
		{ "/bin/ex", SC_EINVAL, NULL }, { "ex", SC_EINVAL, NULL }, { "none=/f", SC_ENOTFOUND, NULL },
		{ "e=/f", SC_ENOTFOUND, NULL }, { "=/f", SC_ENOTFOUND, NULL }, { "ex=/f", 0, "/f" },
		{ "/bin/ex=abcd", 0, "abcd" }, { "ex=a=b", SC_ENOTFOUND, NULL },
	};
	const uint64_t words[] = { 1, 1, 0x400000, 0x401000, 0, 0x0078652f6e69622f /* "/bin/ex" */, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct made_core m = { 0 };
		struct symcache_core *core;
		struct sc_error err;

		put_thread(&m, 7, SIGABRT, 0x400010, 0x2000);
		put_words(&m, NT_FILE, words, 7);
		add_segment_bytes(&m, 0x400000, PF_R | PF_X, "code", 4);
		m.segments[0].more = 0xffc;
		core = open_made(&m);
		assert_int_equal(symcache_core_bind(core, cases[i].spec, &err), cases[i].rc);
		if (cases[i].bound)
			assert_string_equal(core->modules[0]->bound, cases[i].bound);
		else
			assert_null(core->modules[0]->bound);
		symcache_core_close(core);
	}
}

/* ---- memory ------------------------------------------------------------------------------ */

/* Reads go on from one segment into the next; what was not dumped is not there, nor zeros. */
static void test_memory(void **state)
{
	static const struct {
		uint64_t at;
		size_t size;
		const char *wants; /* NULL: it is not there */
	} cases[] = {
		{ 0x1000, 4, "abcd" }, { 0x1002, 4, "cdEF" }, { 0x1006, 1, NULL }, { 0xfff, 2, NULL },
		{ 0x1004, 3, NULL }, { 0x3000, 2, "xy" }, { 0x3002, 1, NULL },
		{ 0x4004, 6, "5678EF" }, { 0x400c, 1, NULL }, /* of two that overlap */
	};
	struct made_core m = { 0 };
	struct symcache_core *core;

	(void)state;
	put_thread(&m, 7, SIGABRT, 0x1000, 0x2000);
	add_segment_bytes(&m, 0x1004, PF_R, "EF", 2);
	add_segment_bytes(&m, 0x1000, PF_R | PF_X, "abcd", 4);
	add_segment_bytes(&m, 0x3000, PF_R, "xy", 2);
	add_segment_bytes(&m, 0x4004, PF_R, "ABCDEFGH", 8);
	add_segment_bytes(&m, 0x4000, PF_R, "12345678", 8);
	m.segments[0].more = 0x100;
	m.segments[2].more = 0x100;
	core = open_made(&m);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char got[8] = "";
		const bool ok = symcache_core_read(core, cases[i].at, got, cases[i].size);

		assert_int_equal(ok, cases[i].wants != NULL);
		if (ok)
			assert_string_equal(got, cases[i].wants);
	}
	assert_true(symcache_core_executable(core, 0x1003));
	assert_false(symcache_core_executable(core, 0x3000));
	assert_false(symcache_core_executable(core, 0x5000));
	symcache_core_close(core);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_headers),
		cmocka_unit_test(test_most_headers),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_signal),
		cmocka_unit_test(test_hostile_mappings),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_bind),
		cmocka_unit_test(test_same_place),
		cmocka_unit_test(test_bound_build_id),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

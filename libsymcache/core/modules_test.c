/* Modules of a core file without the note NT_FILE: by the headers in memory, the dynamic linker's list and
 * the auxiliary vector. */
#include "libsymcache/core/testing.h"

#include <signal.h>

#include "libsymcache/core/parts.h"

/* The memory of a process: a program at 0x400000 with its dynamic section and the linker's list in
 * its page, a library at 0x700000. */
enum { PROGRAM = 0x400000, LIBRARY = 0x700000, LINKED = PROGRAM + 0x400 };

static void put_build_id(struct bytes *page, size_t at, uint8_t id)
{
	patch(page, at, 4, 4);
	patch(page, at + 4, 4, 2);
	patch(page, at + 8, 4, NT_GNU_BUILD_ID);
	memcpy(page->b.data + at + 12, "GNU", 4);
	page->b.data[at + 16] = page->b.data[at + 17] = id;
}

static void fill(struct bytes *page)
{
	while (page->b.len < 4096)
		put(page, 8, 0);
}

static void put_header(struct bytes *page, uint32_t type, uint64_t offset, uint64_t vaddr, uint64_t size)
{
	put_block(page, &(Elf64_Phdr){ type, PF_R | PF_X, offset, vaddr, 0, size, size, 1 }, 56);
}

static void make_library(struct bytes *page)
{
	put_elf_header(page, ET_DYN, 0, 3);
	put_header(page, PT_LOAD, 0, 0, 0x1000);
	put_header(page, PT_LOAD, 0x1000, 0x1000, 0x2000);
	put_header(page, PT_NOTE, 0x800, 0x800, 18);
	fill(page);
	put_build_id(page, 0x800, 0xbb);
}

static void make_program(struct bytes *page)
{
	put_elf_header(page, ET_EXEC, 0, 4);
	put_header(page, PT_PHDR, 64, PROGRAM + 64, 224);
	put_header(page, PT_LOAD, 0, PROGRAM, 0x1000);
	put_header(page, PT_DYNAMIC, 0x300, PROGRAM + 0x300, 48);
	put_header(page, PT_NOTE, 0x800, PROGRAM + 0x800, 18);
	fill(page);
	put_build_id(page, 0x800, 0xaa);
	patch(page, 0x300, 8, DT_NEEDED);
	patch(page, 0x310, 8, DT_DEBUG);
	patch(page, 0x318, 8, PROGRAM + 0x380);
	patch(page, 0x388, 8, LINKED); /* r_map */
	patch(page, 0x400 + 8, 8, PROGRAM + 0x7f0); /* l_name of the program: empty */
	patch(page, 0x400 + 16, 8, PROGRAM + 0x300); /* l_ld */
	patch(page, 0x400 + 24, 8, LINKED + 0x40); /* l_next */
	patch(page, 0x440 + 8, 8, PROGRAM + 0x500);
	patch(page, 0x440 + 16, 8, LIBRARY + 0x1010);
	memcpy(page->b.data + 0x500, "/lib/libx.so", 13);
	memcpy(page->b.data + 0x600, "./bin/run", 10);
}

static void test_without_mappings(void **state)
{
	static const struct {
		size_t at;          /* in the program's page, */
		uint64_t value;     /* that is written there */
		uint64_t run_as;    /* AT_EXECFN */
		const char *program, *library;
	} cases[] = {
		{ 0x7f0, 0, PROGRAM + 0x600, "./bin/run", "/lib/libx.so" },
		{ 0x7f0, 0, 0, "command", "/lib/libx.so" },
		{ 0x7f0, 0, 0xbad000, "command", "/lib/libx.so" },
		{ 0x440 + 24, LINKED, 0, "command", "/lib/libx.so" }, /* a list without an end */
		{ 0x400 + 24, 0, 0, "command", "" },                  /* and one that ends early */
		{ 0x400 + 24, 0xbad000, 0, "command", "" },
		{ 0x440 + 8, 0xbad000, 0, "command", "" },
		{ 0x440 + 16, LIBRARY - 1, 0, "command", "" },        /* of something else */
		{ 0x440 + 16, LIBRARY + 0x3000, 0, "command", "" },
		{ 0x310, DT_NULL, 0, "command", "" },                 /* linked statically */
		{ 0x318, 0xbad000, 0, "command", "" },
		{ 64, PT_NULL, 0, "command", "" },                    /* no PT_PHDR */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const uint64_t auxv[] = { AT_PHDR, PROGRAM + 64, AT_PHNUM, 4,
					  AT_EXECFN, cases[i].run_as, AT_NULL, 0 };
		struct made_core m = { 0 };
		struct bytes program = { 0 }, library = { 0 };
		struct symcache_core *core;
		char process[136] = "";

		strcpy(process + 40, "command");
		make_program(&program);
		make_library(&library);
		patch(&program, cases[i].at, 8, cases[i].value);
		if (cases[i].value == PT_NULL && cases[i].at == 64) /* what is not known is not taken for 0 */
			patch(&program, 64 + 2 * 56 + 16, 8, 0x300 - 64);
		put_note(&m, NT_PRPSINFO, process, sizeof(process));
		put_thread(&m, 7, SIGABRT, PROGRAM + 0x10, 0x2000);
		put_words(&m, NT_AUXV, auxv, 8);
		add_segment_bytes(&m, PROGRAM, PF_R | PF_X, program.b.data, 4096);
		add_segment_bytes(&m, LIBRARY, PF_R | PF_X, library.b.data, 4096);
		core = open_made(&m);
		assert_int_equal(core->num_modules, 2);
		assert_string_equal(core->modules[0]->path, cases[i].program);
		assert_string_equal(core->modules[1]->path, cases[i].library);
		assert_int_equal(core->modules[0]->start, PROGRAM);
		assert_int_equal(core->modules[0]->end, PROGRAM + 0x1000);
		assert_int_equal(core->modules[1]->end, LIBRARY + 0x3000);
		assert_int_equal(core->modules[0]->build_id_len, 2);
		assert_int_equal(core->modules[0]->build_id[0], 0xaa);
		assert_int_equal(core->modules[1]->build_id[1], 0xbb);
		symcache_core_close(core);
		bytes_deinit(&program);
		bytes_deinit(&library);
	}
}

static void test_steps(void **state)
{
	struct symcache_core_private p = { .steps_left = 2 };
	struct symcache_core core = { .private = &p };

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_int_equal(sc_core_step(&core), i < 2);
}

/* What lies in front of the program, up to its first page, is not the program, whose page may lack. */
static void test_neighbour(void **state)
{
	const uint64_t auxv[] = { AT_PHDR, PROGRAM + 64, AT_PHNUM, 4, AT_NULL, 0 };

	(void)state;
	for (int with_page = 0; with_page < 2; with_page++) {
		struct made_core m = { 0 };
		struct bytes program = { 0 }, library = { 0 };
		struct symcache_core *core;

		make_program(&program);
		make_library(&library);
		put_thread(&m, 7, SIGABRT, PROGRAM + 0x10, 0x2000);
		put_note(&m, NT_PRPSINFO, (char[136]){ [40] = 'p' }, 136);
		put_words(&m, NT_AUXV, auxv, 6);
		add_segment_bytes(&m, PROGRAM - 0x3000, PF_R | PF_X, library.b.data, 4096);
		if (with_page)
			add_segment_bytes(&m, PROGRAM, PF_R | PF_X, program.b.data, 4096);
		core = open_made(&m);
		assert_int_equal(core->num_modules, 2);
		assert_string_equal(core->modules[0]->path, "");
		assert_int_equal(core->modules[0]->end, PROGRAM);
		assert_string_equal(core->modules[1]->path, "p");
		assert_int_equal(core->modules[1]->start, PROGRAM);
		symcache_core_close(core);
		bytes_deinit(&program);
		bytes_deinit(&library);
	}
}

/* The vDSO begins as ELF does, too: it is a module once, and the one that has its code in the core. */
static void test_vdso(void **state)
{
	const uint64_t auxv[] = { AT_SYSINFO_EHDR, LIBRARY, AT_NULL, 0 };
	struct made_core m = { 0 };
	struct bytes image = { 0 };
	struct symcache_core *core;

	(void)state;
	make_library(&image);
	put_thread(&m, 7, SIGABRT, LIBRARY + 0x10, 0x2000);
	put_words(&m, NT_AUXV, auxv, 4);
	add_segment_bytes(&m, LIBRARY, PF_R | PF_X, image.b.data, 4096);
	core = open_made(&m);
	assert_int_equal(core->num_modules, 1);
	assert_ptr_equal(core->vdso, core->modules[0]);
	assert_string_equal(core->vdso->path, "[vdso]");
	symcache_core_close(core);
	bytes_deinit(&image);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_mappings),
		cmocka_unit_test(test_steps), cmocka_unit_test(test_neighbour),
		cmocka_unit_test(test_vdso),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

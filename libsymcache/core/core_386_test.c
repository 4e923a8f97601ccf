/* Core files of i386, where each field has another place: what notes say, and the modules that are found
 * without the note NT_FILE. */
#include "libsymcache/core/testing.h"

#include <signal.h>

#include "libsymcache/core/parts.h"

/* A note of a file of 32 bits. */
static void put_bytes(struct bytes *o, uint32_t type, const uint8_t *bytes, size_t size)
{
	put(o, 4, 5);
	put(o, 4, size);
	put(o, 4, type);
	put_block(o, "CORE\0\0\0", 8);
	put_block(o, bytes, size);
}

/* Each word of registers is the number of its byte. */
static void put_notes_386(struct bytes *o)
{
	uint8_t status[144] = { 0 }, process[124] = { 0 }, signal[128] = { SIGSEGV, 0, 0, 0, 9, 9, 9, 9, 1 };

	status[12] = SIGSEGV;
	memcpy(status + 24, &(uint32_t){ 4711 }, 4);
	for (uint32_t i = 72; i < 140; i += 4)
		memcpy(status + i, &i, 4);
	memcpy(process + 12, &(uint32_t){ 4700 }, 4);
	strcpy((char *)process + 28, "program");
	strcpy((char *)process + 44, "program -x");
	memcpy(signal + 12, &(uint32_t){ 0xfedcba98 }, 4);
	memset(signal + 16, 0xee, 16);
	put_bytes(o, NT_PRPSINFO, process, sizeof(process));
	put_bytes(o, NT_PRSTATUS, status, sizeof(status));
	put_bytes(o, NT_SIGINFO, signal, sizeof(signal));
}

static void test_notes(void **state)
{
	static const unsigned at[] = { 6, 1, 2, 0, 15, 5, 3, 4 }; /* words of eax ecx edx ebx esp ebp esi edi */
	Elf32_Ehdr header = { .e_ident = ELFMAG "\1\1\1", .e_type = ET_CORE, .e_machine = EM_386, .e_version = 1,
		.e_phoff = 52, .e_ehsize = 52, .e_phentsize = 32, .e_phnum = 1 };
	struct bytes notes = { 0 }, o = { 0 };
	struct symcache_core *core;
	struct sc_error err;

	(void)state;
	put_notes_386(&notes);
	put_block(&o, &header, sizeof(header));
	put_block(&o, &(Elf32_Phdr){ PT_NOTE, 84, 0, 0, (uint32_t)notes.b.len, 0, 0, 4 }, 32);
	put_block(&o, notes.b.data, notes.b.len);
	assert_int_equal(open_bytes(o.b.data, o.b.len, &core, &err), 0);
	assert_int_equal(core->pid, 4700);
	assert_string_equal(core->command, "program");
	assert_string_equal(core->arguments, "program -x");
	assert_true(core->signal == SIGSEGV && core->signal_code == 1 && core->has_signal_address);
	assert_int_equal(core->signal_address, 0xfedcba98);
	assert_int_equal(core->num_threads, 1);
	assert_int_equal(core->threads[0].tid, 4711);
	assert_int_equal(core->threads[0].registers.pc, 72 + 12 * 4);
	assert_int_equal(core->threads[0].registers.known, 0xff);
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(core->threads[0].registers.value[i], 72 + at[i] * 4);
	symcache_core_close(core);
	bytes_deinit(&notes);
	bytes_deinit(&o);
}

/* ---- modules ---------------------------------------------------------------------------------- */

enum { PROGRAM = 0x8048000, LIBRARY = 0x77c00000, PAGE = 4096, ID_AT = 0x800 };

static void put_header(struct bytes *page, uint32_t type, uint32_t offset, uint32_t vaddr, uint32_t size)
{
	put_block(page, &(Elf32_Phdr){ type, offset, vaddr, 0, size, size, PF_R | PF_X, 1 }, 32);
}

/* A page that begins as ELF does; headers follow. */
static void put_image(struct bytes *page, uint16_t type, uint16_t n)
{
	put_block(page, &(Elf32_Ehdr){ .e_ident = ELFMAG "\1\1\1", .e_type = type, .e_machine = EM_386, .e_version = 1,
		.e_phoff = 52, .e_ehsize = 52, .e_phentsize = 32, .e_phnum = n }, 52);
}

/* The rest of the page, with a build ID of two bytes. */
static void put_rest(struct bytes *page, uint8_t id)
{
	while (page->b.len < PAGE)
		put(page, 1, 0);
	patch(page, ID_AT, 4, 4);
	patch(page, ID_AT + 4, 4, 2);
	patch(page, ID_AT + 8, 4, NT_GNU_BUILD_ID);
	memcpy(page->b.data + ID_AT + 12, "GNU\0", 4);
	page->b.data[ID_AT + 16] = page->b.data[ID_AT + 17] = id;
}

/* The program was linked to lie 0x1000 below: its headers count from there. The linker's list is in its
 * page. */
static void make_pages(struct bytes *program, struct bytes *library)
{
	put_image(program, ET_DYN, 4);
	put_header(program, PT_PHDR, 52, PROGRAM - 0x1000 + 52, 128);
	put_header(program, PT_LOAD, 0, PROGRAM - 0x1000, 0x1000);
	put_header(program, PT_DYNAMIC, 0x300, PROGRAM - 0x1000 + 0x300, 16);
	put_header(program, PT_NOTE, ID_AT, PROGRAM - 0x1000 + ID_AT, 18);
	put_rest(program, 0xaa);
	patch(program, 0x300, 4, DT_NEEDED);
	patch(program, 0x308, 4, DT_DEBUG);
	patch(program, 0x30c, 4, PROGRAM + 0x380);
	patch(program, 0x384, 4, PROGRAM + 0x400);       /* r_map */
	patch(program, 0x400 + 4, 4, PROGRAM + 0x7f0);   /* l_name: empty */
	patch(program, 0x400 + 8, 4, PROGRAM + 0x300);   /* l_ld */
	patch(program, 0x400 + 12, 4, PROGRAM + 0x440);  /* l_next */
	patch(program, 0x440 + 4, 4, PROGRAM + 0x500);
	patch(program, 0x440 + 8, 4, LIBRARY + 0x1010);
	memcpy(program->b.data + 0x500, "/lib/libx.so", 13);
	put_image(library, ET_DYN, 3);
	put_header(library, PT_LOAD, 0, 0, 0x1000);
	put_header(library, PT_LOAD, 0x1000, 0x1000, 0x2000);
	put_header(library, PT_NOTE, ID_AT, ID_AT, 18);
	put_rest(library, 0xbb);
}

static void test_modules(void **state)
{
	static const uint32_t auxv[] = { AT_PHDR, PROGRAM + 52, AT_PHNUM, 4, AT_NULL, 0 };

	(void)state;
	/* The number of headers stands in the ELF header, or elsewhere. */
	for (int elsewhere = 0; elsewhere < 2; elsewhere++) {
		struct bytes notes = { 0 }, o = { 0 }, program = { 0 }, library = { 0 };
		const Elf32_Shdr section = { .sh_info = 3 };
		struct symcache_core *core;
		struct sc_error err;
		uint32_t at;

		make_pages(&program, &library);
		put_notes_386(&notes);
		put_bytes(&notes, NT_AUXV, (const uint8_t *)auxv, sizeof(auxv));
		at = 52 + 3 * 32 + sizeof(section) + (uint32_t)notes.b.len;
		put_image(&o, ET_CORE, elsewhere ? PN_XNUM : 3);
		patch(&o, 32, 4, 52 + 3 * 32);
		put_block(&o, &(Elf32_Phdr){ PT_NOTE, 52 + 3 * 32 + sizeof(section), 0, 0, (uint32_t)notes.b.len, 0, 0, 4 },
			  32);
		put_block(&o, &(Elf32_Phdr){ PT_LOAD, at, PROGRAM, 0, PAGE, PAGE, PF_R | PF_X, PAGE }, 32);
		put_block(&o, &(Elf32_Phdr){ PT_LOAD, at + PAGE, LIBRARY, 0, PAGE, 2 * PAGE, PF_R, PAGE }, 32);
		put_block(&o, &section, sizeof(section));
		put_block(&o, notes.b.data, notes.b.len);
		put_block(&o, program.b.data, PAGE);
		put_block(&o, library.b.data, PAGE);
		assert_int_equal(open_bytes(o.b.data, o.b.len, &core, &err), 0);
		assert_int_equal(core->num_modules, 2);
		assert_string_equal(core->modules[0]->path, "program"); /* the command */
		assert_string_equal(core->modules[1]->path, "/lib/libx.so");
		assert_true(core->modules[0]->start == PROGRAM && core->modules[0]->end == PROGRAM + 0x1000);
		assert_true(core->modules[1]->start == LIBRARY && core->modules[1]->end == LIBRARY + 0x3000);
		for (size_t i = 0; i < 2; i++) {
			assert_int_equal(core->modules[i]->build_id_len, 2);
			assert_int_equal(core->modules[i]->build_id[0], i ? 0xbb : 0xaa);
		}
		assert_true(symcache_core_executable(core, PROGRAM));
		assert_false(symcache_core_executable(core, LIBRARY));
		symcache_core_close(core);
		bytes_deinit(&notes);
		bytes_deinit(&o);
		bytes_deinit(&program);
		bytes_deinit(&library);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_notes), cmocka_unit_test(test_modules) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

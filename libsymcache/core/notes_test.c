/* Which notes of a core file count: those of the kernel, by their names. Others have types of their
 * own, and what is taken for a thread is shown as one. And what they say in files of 32 bits. */
#include "libsymcache/core/testing.h"

#include <signal.h>

static void put_named(struct made_core *m, const char *name, size_t name_size, uint32_t tid)
{
	uint8_t status[336] = { 0 };

	memcpy(status + 32, &tid, 4);
	put(&m->notes, 4, name_size);
	put(&m->notes, 4, sizeof(status));
	put(&m->notes, 4, NT_PRSTATUS);
	put_block(&m->notes, name, name_size);
	put(&m->notes, -name_size & 3, 0);
	put_block(&m->notes, status, sizeof(status));
}

static void test_names(void **state)
{
	static const struct { const char *name; size_t size; bool counts; } cases[] = {
		{ "CORE", 5, true }, { "CORE", 4, true }, { "LINUX", 6, true }, { "", 0, false }, { "", 1, false },
		{ "COR", 4, false }, { "GNU", 4, false }, { "FreeBSD", 8, false }, { "CORE of others", 15, false },
		{ "core", 5, false },
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const bool first = i % 2; /* in front of the one that is a thread */
		struct made_core m = { 0 };
		struct symcache_core *core;

		if (first)
			put_named(&m, cases[i / 2].name, cases[i / 2].size, 8);
		put_thread(&m, 7, SIGABRT, 0x1000, 0x2000);
		if (!first)
			put_named(&m, cases[i / 2].name, cases[i / 2].size, 8);
		core = open_made(&m);
		if (core->num_threads != 1u + cases[i / 2].counts)
			fail_msg("'%s', %zu bytes: %zu threads", cases[i / 2].name, cases[i / 2].size,
				 core->num_threads);
		assert_int_equal(core->threads[0].tid, cases[i / 2].counts && first ? 8 : 7);
		symcache_core_close(core);
	}
}

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

static void test_386(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_names), cmocka_unit_test(test_386) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

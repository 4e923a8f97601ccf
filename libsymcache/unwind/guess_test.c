/* Guesses: Go's return from signals, by the name of the function, and how far a stack is searched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include "libsymcache/unwind/testing.h"

/* Addresses are relative to their modules. */
static void expect(struct process *p, const struct symcache_registers *r, const char *wants)
{
	const struct symcache_unwind_source source = {
		.machine = EM_X86_64, .max_frames = 30, .read = read_memory, .module = find_module,
		.modules = p, .executable = is_executable, .ctx = p,
	};

	expect_stack(&source, r, true, wants);
}

/* The name may have something behind it; it is that of the function that begins at the pc. */
static void test_go(void **state)
{
	static const struct { const char *name; uint64_t pc, entry; bool is; } cases[] = {
		{ "\x11runtime.sigreturn", 0, 0, true }, { "\x1cruntime.sigreturn__sigaction", 0, 0, true },
		{ "\x10runtime.sigretur", 0, 0, false }, { "\x10runtime.sigreturn", 0, 0, false },
		{ "\x11runtime.sigreturX", 0, 0, false }, { "\x11runtime.sigreturn", 4, 0, false },
		{ "\x11runtime.sigreturn", 4, 4, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_function functions[3] = { { .entry_pc = (uint32_t)cases[i].entry } };
		const struct symcache_registers r = at(BASE + cases[i].pc, STACK, 0);
		struct symcache_header header;
		char wants[200];
		struct process p;

		make_process(&p, 7, 6, 16);
		header = *p.cache.header;
		header.string_bytes = (uint32_t)strlen(cases[i].name);
		p.cache.header = &header;
		p.cache.functions = functions;
		p.cache.strings = (const uint8_t *)cases[i].name;
		p.stack[5 + 15] = STACK + 512; /* the stack pointer that was interrupted */
		p.stack[5 + 16] = BASE + LAST;
		snprintf(wants, sizeof(wants), "%llx context%s", (unsigned long long)cases[i].pc,
			 cases[i].is ? " S; 300 signal; end" : "; no_row");
		expect(&p, &r, wants);
		sc_rows_deinit(&p.rows);
	}
}

/* Behind a frame that was guessed less of the stack is searched. */
static void test_scan(void **state)
{
	static const struct { unsigned word; const char *wants; } cases[] = {
		{ 4, "40008 context; 4000f frame pointer; 104 scan; 300 cfi; end" },
		{ 4 + 39, "40008 context; 4000f frame pointer; 104 scan; 300 cfi; end" },
		{ 4 + 40, "40008 context; 4000f frame pointer; no_cache" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_registers r = at(BARE + 8, STACK, STACK + 16);
		struct process p;

		make_process(&p, 7, 6, 16);
		p.stack[3] = BARE + 0x10; /* the record has no frame pointer */
		p.stack[cases[i].word] = BASE + USUAL + 5;
		p.stack[cases[i].word + 2] = BASE + LAST + 1;
		expect(&p, &r, cases[i].wants);
		sc_rows_deinit(&p.rows);
	}
}

/* A record whose frame pointer does not lead on is believed only with a row behind its return address. */
static void test_record(void **state)
{
	static const struct { uint64_t up, address; const char *wants; } cases[] = {
		{ 0, BARE + 0x10, "40008 context; 4000f frame pointer; no_cache" },
		{ STACK + 24, BARE + 0x10, "40008 context; 4000f frame pointer; no_cache" },
		{ STACK + 16, BARE + 0x10, "40008 context; no_cache" },
		{ STACK + 8, BARE + 0x10, "40008 context; no_cache" },
		{ STACK + 16, BASE + LAST + 1, "40008 context; 300 frame pointer; end" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_registers r = at(BARE + 8, STACK, STACK + 16);
		struct process p;

		make_process(&p, 7, 6, 16);
		p.stack[2] = cases[i].up;
		p.stack[3] = cases[i].address;
		expect(&p, &r, cases[i].wants);
		sc_rows_deinit(&p.rows);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_go), cmocka_unit_test(test_scan),
					   cmocka_unit_test(test_record) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

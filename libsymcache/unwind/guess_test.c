/* Guesses: Go's return from signals, by the name of the function, and how far a stack is searched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <stdio.h>

#include "libsymcache/unwind/testing.h"

static uint64_t module_end = BARE; /* of the module with rows */

static bool find_cut_module(void *ctx, uint64_t address, struct symcache_unwind_frame *ret)
{
	return (address < module_end || address >= BARE) && find_module(ctx, address, ret);
}

/* Addresses are relative to their modules. */
static void expect(struct process *p, const struct symcache_registers *r, const char *wants)
{
	const struct symcache_unwind_source source = {
		.machine = EM_X86_64, .max_frames = 30, .read = read_memory, .module = find_cut_module,
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

/* Which words of a stack are taken for return addresses: the call may be the last of its function, and
 * of its module. The stack pointer is at word 4, where the word is. */
static void test_words(void **state)
{
	enum { END = 0x10000 };
	static const struct { uint64_t word, up, end, fp; const char *wants; } cases[] = {
		{ BASE + USUAL + 5, BASE + LAST + 1, END, 0, "40008 context; 104 scan; 300 cfi; end" },
		{ BASE + USUAL + 5, BARE + 0x10, USUAL + 5, 0, "40008 context; 104 scan; 4000f cfi; no_cache" },
		{ BASE + USUAL + 6, BARE + 0x10, USUAL + 5, 0, "40008 context; no_cache" },
		{ BASE + USUAL + 1, BASE + LAST + 1, END, 0, "40008 context; 100 scan; 300 cfi; end" },
		{ BASE + USUAL, BASE + LAST + 1, END, 0, "40008 context; 300 scan; end" },
		{ BASE + USUAL + 0x100, BASE + LAST + 1, END, 0, "40008 context; 1ff scan; 300 cfi; end" },
		{ BASE + USUAL + 0x80, BASE + LAST + 1, END, 0, "40008 context; 300 scan; end" },
		{ BASE + USUAL + 0x81, BASE + LAST + 1, END, 0, "40008 context; 180 scan; 300 cfi; end" },
		{ BASE + USUAL + 5, 0, END, 0, "40008 context; no_cache" },
		{ BASE + USUAL + 5, BASE, END, 0, "40008 context; no_cache" },
		{ BASE + USUAL + 5, BASE + 1, END, 0, "40008 context; 104 scan; 0 cfi; no_row" },
		{ BASE + LAST + 1, 0, END, 0, "40008 context; 300 scan; end" },
		{ BASE + NOTHING + 1, BASE + LAST + 1, END, 0, "40008 context; 300 scan; end" },
		{ BASE, BASE + LAST + 1, END, 0, "40008 context; 300 scan; end" },
		{ BARE + 5, BASE + LAST + 1, END, 0, "40008 context; 300 scan; end" },
		{ 5, BASE + LAST + 1, END, 0, "40008 context; 300 scan; end" },
		{ BASE + BY_FP + 5, 0, END, 8, "40008 context; no_cache" },
		{ BASE + BY_FP + 5, 0, END, 16, "40008 context; no_cache" },
		{ BASE + BY_FP + 5, 0, END, 24, "40008 context; 504 scan; not_growing" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct symcache_registers r = at(BARE + 8, STACK + 32, STACK + cases[i].fp);
		struct process p;

		make_process(&p, 7, 6, 16);
		p.stack[3] = BASE + LAST + 1;
		p.stack[4] = cases[i].word;
		p.stack[6] = cases[i].up;
		module_end = BASE + cases[i].end;
		expect(&p, &r, cases[i].wants);
		sc_rows_deinit(&p.rows);
	}
	module_end = BARE;
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
					   cmocka_unit_test(test_words), cmocka_unit_test(test_record) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

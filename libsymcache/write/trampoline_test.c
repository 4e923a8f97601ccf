/*
 * Signal trampolines that no call frame information describes (musl, old AArch64): they are found by
 * their instructions, in the gaps, so that a stack goes on behind a signal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/testing_bytes.h"
#include "libsymcache/read/rows.h"
#include "libsymcache/write/indexed_test.h"

enum { TEXT = 0x1000, SIZE = 0x100, HEADERS = 120 /* in front of it in the file */ };

static const uint8_t amd64[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };
static const uint8_t arm64[] = { 0x68, 0x11, 0x80, 0xd2, 0x01, 0, 0, 0xd4 };

/* Is there a row at `vaddr`, and of a signal? 'S', 'r', or '-'. */
static char row_at(const struct symcache *c, uint64_t vaddr, unsigned rules)
{
	struct symcache_row row;

	if (!symcache_find_row(c, vaddr - symcache_load_base(c), &row))
		return '-';
	if (!(row.flags & SYMCACHE_ROW_SIGNAL_FRAME))
		return 'r';
	assert_true(row.flags & SYMCACHE_ROW_MADE);
	assert_int_equal(row.num_rules, rules);
	return 'S';
}

static void test_trampolines(void **state)
{
	static const struct {
		const char *what;
		uint16_t machine;
		uint64_t at, second;          /* of trampolines in the text; 0: none */
		uint64_t start, end;          /* of code with CFI; 0: there is none */
		char first, last, behind;     /* byte of it; and what is at `second` */
		char other;
	} cases[] = {
		{ "in code without any", EM_X86_64, 0x40, 0, 0, 0, 'S', 'S', '-', 0 },
		{ "at the beginning", EM_X86_64, 0, 0x80, 0, 0, 'S', 'S', '-', 'S' },
		{ "at the end", EM_X86_64, SIZE - 9, 0, 0, 0, 'S', 'S', '-', 0 },
		{ "two in a row", EM_X86_64, 0x40, 0x49, 0, 0, 'S', 'S', 'S', 'S' },
		{ "cut off by the end", EM_X86_64, SIZE - 8, 0, 0x10, 0x20, '-', '-', '-', 0 },
		{ "all of the code behind a function", EM_X86_64, SIZE - 9, 0, 0x10, SIZE - 9, 'S', 'S', '-', 0 },
		{ "in front of a function", EM_X86_64, 0x40, 0, 0x60, 0x80, 'S', 'S', '-', 0 },
		{ "right in front of one", EM_X86_64, 0x40, 0, 0x49, 0x80, 'S', 'S', 'r', 0 },
		{ "behind a function", EM_X86_64, 0x40, 0, 0x10, 0x40, 'S', 'S', '-', 0 },
		{ "a function has it", EM_X86_64, 0x40, 0, 0x40, 0x60, 'r', 'r', 'r', 0 },
		{ "a function has its beginning", EM_X86_64, 0x40, 0, 0x30, 0x41, 'r', '-', '-', 0 },
		{ "on both sides of one", EM_X86_64, 0x10, 0x90, 0x40, 0x60, 'S', 'S', '-', 'S' },
		{ "of AArch64", EM_AARCH64, 0x40, 0x80, 0, 0, 'S', 'S', '-', 'S' },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const bool arm = cases[i].machine == EM_AARCH64;
		const uint8_t *code = arm ? arm64 : amd64;
		const size_t size = arm ? sizeof(arm64) : sizeof(amd64);
		const unsigned rules = arm ? 33 : 17;
		struct bytes text = { 0 }, frame = { 0 }, file = { 0 };
		struct elf_section sections[] = {
			{ .name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR, .addr = TEXT,
			  .content = &text },
			{ .name = ".eh_frame", .type = SHT_PROGBITS, .flags = SHF_ALLOC, .addr = 0, .content = &frame },
		};
		const struct elf_shape shape = { .is_64 = true, .machine = cases[i].machine, .type = ET_DYN,
						 .load_vaddr = TEXT - HEADERS,
						 .load_size = HEADERS + SIZE };
		struct symcache cache;
		struct indexed r;

		for (size_t n = 0; n < SIZE; n++)
			put(&text, 1, 0x90);
		for (int second = 0; second < 2; second++) {
			const uint64_t at = second ? cases[i].second : cases[i].at;

			for (size_t n = 0; n < size && at + n < SIZE && (at || !second); n++)
				text.b.data[at + n] = code[n];
		}
		if (cases[i].end)
			put_eh_frame(&frame, TEXT + cases[i].start, TEXT + cases[i].end);
		put_elf(&file, &shape, sections, cases[i].end ? 2 : 1);
		index_bytes(file.b.data, file.b.len, &r);
		if (r.rc)
			fail_msg("%s: %s", cases[i].what, r.err.msg);
		assert_int_equal(symcache_open(&cache, r.bytes, r.size, NULL), 0);
		const char got[] = {
			row_at(&cache, TEXT + cases[i].at, rules), row_at(&cache, TEXT + cases[i].at + size - 1, rules),
			row_at(&cache, TEXT + cases[i].at + size, rules),
			cases[i].second ? row_at(&cache, TEXT + cases[i].second, rules) : 0, 0,
		};
		if (got[0] != cases[i].first || got[1] != cases[i].last || got[2] != cases[i].behind ||
		    got[3] != cases[i].other)
			fail_msg("%s: %s", cases[i].what, got);
		indexed_deinit(&r);
		bytes_deinit(&file);
		bytes_deinit(&text);
		bytes_deinit(&frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_trampolines) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Which addresses a line program may have rows for: whatever dw_read_lines() makes of random
 * programs must be held, and of plain ones little else.
 */
#include "libsymcache/dwarf/line_span.h"
#include "libsymcache/dwarf/line_test.h"

static uint64_t state = 1;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static bool may_hold(const struct line_table *t, uint64_t vaddr)
{
	const struct dw_sections s = line_sections(t);

	return dw_lines_may_hold(&s, 0, &(struct dw_wanted){ &vaddr, 1 });
}

/* The edges of all sequences, and in the middle of them. */
static void expect_held(const struct line_table *t)
{
	struct dw_sections s = line_sections(t);
	struct dw_facts u = {0};
	struct sc_error err;

	dw_read_lines(&s, 0, "/comp", &u, &err);
	for (size_t i = 0; i < u.sequences.len; i++) {
		const struct dw_sequence *q = &u.sequences.data[i];
		const uint64_t vaddrs[] = { q->start, q->end - 1, q->start + (q->end - q->start) / 2 };

		for (size_t k = 0; k < 3; k++)
			if (!may_hold(t, vaddrs[k]))
				fail_msg("0x%" PRIx64 " is in sequence %zu from 0x%" PRIx64
					 " to 0x%" PRIx64, vaddrs[k], i, q->start, q->end);
	}
	dw_facts_deinit(&u);
}

/* As compilers write them, mostly. */
static void put_operation(struct line_table *t, uint64_t *vaddr)
{
	switch (next_random() % 24) {
	case 0:
		*vaddr += next_random() % 4096;
		op_set_address(t, 8, next_random() % 16 ? *vaddr : 0 - next_random() % 64);
		break;
	case 1:
		op_end_sequence(t);
		break;
	case 2:
		op_uleb(t, DW_LNS_advance_pc, next_random() >> next_random() % 64);
		break;
	case 3:
		op(t, DW_LNS_fixed_advance_pc);
		put(&t->line, 2, next_random());
		break;
	case 4 ... 6: /* a discriminator */
		put(&t->line, 1, 0);
		put_uleb(&t->line, 2);
		put(&t->line, 1, DW_LNE_set_discriminator);
		put(&t->line, 1, next_random());
		break;
	case 7 ... 12:
		op_uleb(t, DW_LNS_set_column, next_random() >> (40 + next_random() % 24));
		break;
	case 13:
		op_line(t, (int64_t)next_random() >> (40 + next_random() % 24));
		break;
	case 14:
		op(t, DW_LNS_const_add_pc);
		break;
	case 15 ... 16:
		op(t, DW_LNS_copy);
		break;
	case 17:
		op(t, (uint8_t)(next_random() % 13));
		break;
	default:
		op(t, (uint8_t)(13 + next_random() % 243));
	}
}

static void test_random(void **unused)
{
	(void)unused;
	for (int round = 0; round < 20000; round++) {
		const struct line_shape shape = { (uint16_t)(2 + next_random() % 4), 4,
			next_random() % 8 == 0, 1, (uint8_t)(1 + next_random() % 4),
			(uint8_t)(round % 4 ? 14 : 1 + next_random() % 255),
			(uint8_t)(round % 3 ? 13 : 1 + next_random() % 20) };
		struct line_table t;
		uint64_t vaddr = next_random() >> next_random() % 63;

		line_begin(&t, &shape);
		line_standard_files(&t);
		for (uint64_t n = next_random() % 300; n; n--) {
			if (next_random() % 64 == 0)
				put(&t.line, 1, next_random());
			else
				put_operation(&t, &vaddr);
		}
		line_end(&t);
		expect_held(&t);
		line_deinit(&t);
	}
}

/* Far behind a sequence, and below it, nothing is held, so that units are passed over. */
static void test_plain(void **unused)
{
	struct line_table t;

	(void)unused;
	line_begin(&t, &line_plain);
	line_standard_files(&t);
	for (uint64_t start = 0x10000; start <= 0x40000; start += 0x10000) {
		op_set_address(&t, 8, start);
		op(&t, DW_LNS_copy);
		for (int i = 0; i < 500; i++) {
			op_uleb(&t, DW_LNS_set_column, (uint64_t)i);
			op_special(&t, 4, 1);
		}
		op_end_sequence(&t);
	}
	line_end(&t);
	expect_held(&t);
	for (uint64_t start = 0x10000; start <= 0x40000; start += 0x10000) {
		assert_true(may_hold(&t, start));
		assert_true(may_hold(&t, start + 2000 - 1));
		assert_false(may_hold(&t, start - 1));
		assert_false(may_hold(&t, start + 2000));
	}
	line_deinit(&t);
}

/* An opcode has a number behind it, or is a special one, as the header says. */
static void test_opcode_bases(void **unused)
{
	(void)unused;
	for (uint8_t base = DW_LNS_set_prologue_end; base <= DW_LNS_set_isa + 1; base++) {
		struct line_table t;

		line_begin(&t, &(struct line_shape){ 4, 4, false, 1, 1, 8, base });
		line_standard_files(&t);
		op_set_address(&t, 8, 0x10000);
		op(&t, DW_LNS_copy);
		for (int i = 0; i < 100; i++) {
			op(&t, DW_LNS_set_isa);
			if (base > DW_LNS_set_isa)
				put_uleb(&t.line, DW_LNS_advance_line);
			op(&t, 100);
		}
		op_end_sequence(&t);
		line_end(&t);
		expect_held(&t);
		assert_false(may_hold(&t, 0x10000 + 100 * 20));
		line_deinit(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_opcode_bases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Whole stacks: their frames and registers, why they end, and which are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "libsymcache/unwind/testing.h"

static void test_walk(void **state)
{
	struct symcache_registers r = at(BASE + USUAL, STACK, 7);
	struct symcache_stack s = { 0 };
	struct process p;
	struct symcache_unwind_source source = {
		.machine = EM_X86_64, .read = read_memory, .module = find_module, .modules = &p,
		.executable = is_executable, .ctx = &p,
	};

	(void)state;
	for (int registers = 0; registers < 2; registers++) {
		make_process(&p, 7, 6, 16);
		p.stack[0] = 8; /* the caller's frame pointer */
		p.stack[1] = BASE + USUAL + 9;
		p.stack[2] = 9;
		p.stack[3] = BASE + NOTHING + 1;
		assert_int_equal(symcache_stack_walk(&source, &r, registers, &s, NULL), 0);
		assert_int_equal(s.num_frames, 3);
		assert_int_equal(s.stop, SYMCACHE_STOP_NO_ROW);
		assert_ptr_equal(s.lacks, &p);
		assert_true(!s.registers == !registers);
		for (unsigned i = 0; i < 3 && registers; i++) {
			assert_int_equal(s.registers[i].value[7], STACK + 16 * i);
			assert_int_equal(s.registers[i].value[6], 7 + i);
			assert_int_equal(s.registers[i].pc, s.frames[i].pc);
		}
		p.stack[3] = BASE + BY_FP + 1;
		p.stack[2] = STACK + 8 * WORDS - 16;
		assert_int_equal(symcache_stack_walk(&source, &r, registers, &s, NULL), 0);
		assert_int_equal(s.num_frames, 3);
		assert_int_equal(s.stop, SYMCACHE_STOP_END); /* the return address is 0 */
		assert_null(s.lacks);
		p.stack[2] = STACK + 8 * WORDS;
		assert_int_equal(symcache_stack_walk(&source, &r, registers, &s, NULL), 0);
		assert_int_equal(s.num_frames, 3);
		assert_int_equal(s.stop, SYMCACHE_STOP_MEMORY);
		assert_int_equal(s.address, STACK + 8 * WORDS + 8);
		assert_null(s.lacks);
		sc_rows_deinit(&p.rows);
	}
	source.machine = EM_S390;
	assert_int_equal(symcache_stack_walk(&source, &r, false, &s, NULL), SC_EUNSUPPORTED);
	symcache_stack_deinit(&s);
}

static bool same_id(const struct symcache_stack *s, const struct symcache_stack_id *id)
{
	const struct symcache_stack_id of = symcache_stack_id(s);

	return of.low == id->low && of.high == id->high;
}

/* Stacks count as equal if all that is shown of them is: each frame, how it was found, and the end.
 */
static void test_id(void **state)
{
	struct symcache_unwind_frame frames[100] = { { 0 } };
	struct symcache_stack s = { .frames = frames };

	(void)state;
	for (size_t i = 0; i < 100; i++)
		frames[i].pc = 0x1000 + i;
	for (s.num_frames = 0; s.num_frames < 100; s.num_frames++) {
		const struct symcache_stack_id id = symcache_stack_id(&s);

		for (size_t i = 0; i < s.num_frames; i++) {
			frames[i].pc++;
			assert_false(same_id(&s, &id));
			frames[i].pc--;
			frames[i].trust++;
			assert_false(same_id(&s, &id));
			frames[i].trust--;
			frames[i].stack_pointer++; /* where it lies is not shown */
		}
		frames[s.num_frames].pc++; /* what is behind them */
		assert_true(same_id(&s, &id));
		frames[s.num_frames].pc--;
		s.stop = SYMCACHE_STOP_LOST;
		assert_false(same_id(&s, &id));
		s.stop = SYMCACHE_STOP_NONE;
		s.num_frames++;
		assert_false(same_id(&s, &id));
		s.num_frames--;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_walk), cmocka_unit_test(test_id) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

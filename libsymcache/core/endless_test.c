/* Stacks that do not end: of all threads together so many frames are found that the work stays in
 * proportion to a file; then only the first ones of each thread. */
#include "libsymcache/core/testing.h"

#include <signal.h>

enum { CODE = 0x400000, STACK = 0x7f0000, FRAMES = 120000, MOST = 100000, MOST_OF_ALL = 4 << 20, LEAST = 64 };

/* A thread in a chain of frame pointers. */
static struct symcache_core *open_chain(void)
{
	static uint8_t code[4096];
	static uint64_t stack[2 * FRAMES];
	const uint64_t row[] = { 1, 1, CODE, CODE + sizeof(code), 0, 0x0078652f6e69622f /* "/bin/ex" */, 0 };
	struct made_core m = { 0 };
	struct bytes status = { 0 };

	for (size_t i = 0; i < FRAMES; i++) {
		stack[2 * i] = STACK + 16 * (i + 1);
		stack[2 * i + 1] = CODE + 0x20;
	}
	memset(code, 0xe8, sizeof(code)); /* calls */
	for (int i = 0; i < 21; i++)
		put(&status, 16, 0);
	patch(&status, 112 + 4 * 8, 8, STACK);       /* rbp */
	patch(&status, 112 + 16 * 8, 8, CODE + 0x20); /* rip */
	patch(&status, 112 + 19 * 8, 8, STACK);
	put_words(&m, NT_FILE, row, 7);
	put_note(&m, NT_PRSTATUS, status.b.data, status.b.len);
	bytes_deinit(&status);
	add_segment_bytes(&m, CODE, PF_R | PF_X, code, sizeof(code));
	add_segment_bytes(&m, STACK, PF_R | PF_W, (uint8_t *)stack, sizeof(stack));
	return open_made(&m);
}

static void test_frames(void **state)
{
	/* A frame with its registers counts as much as eight. */
	enum { LEFT = (MOST_OF_ALL - MOST) / 8 - 5 * MOST };
	static const struct {
		bool registers;
		size_t frames;
	} walks[] = {
		{ false, MOST }, { true, MOST }, { true, MOST }, { true, MOST }, { true, MOST }, { true, MOST },
		{ true, LEFT }, { true, LEAST }, { false, LEAST }, { false, LEAST },
	};
	struct symcache_core *core = open_chain();
	uint64_t frames = 0;
	struct symcache_caches *caches = symcache_caches_create(NULL);
	struct symcache_stack stack = { 0 };
	struct sc_error err;

	(void)state;
	symcache_core_use(core, caches, "--module");
	for (size_t i = 0; i < sizeof(walks) / sizeof(*walks); i++) {
		assert_int_equal(symcache_core_walk(core, core->threads, walks[i].registers, &stack, &err), 0);
		if (stack.num_frames != walks[i].frames || stack.stop != SYMCACHE_STOP_LIMIT)
			fail_msg("walk %zu: %zu frames, %s", i, stack.num_frames, symcache_stop_word(stack.stop));
		frames += walks[i].frames;
		assert_int_equal(core->modules[0]->frames, frames);
	}
	symcache_stack_deinit(&stack);
	symcache_core_close(core);
	symcache_caches_destroy(caches);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_frames) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

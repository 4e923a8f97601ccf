/* What is said of each seed of the fuzz target, and of damaged ones: segments, sections, symbols,
 * links. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/elf/elf_text_test.h"

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	uint8_t *own = malloc(size + 1);
	struct sc_elf *e;
	struct sc_error err;

	if (sc_elf_open_memory(memcpy(own, bytes, size), size, "file", &e, &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	put_elf_text(to, e);
	sc_elf_close(e);
}

static void test_answers(void **state)
{
	static const char *const seeds[] = { "elf", NULL };

	(void)state;
	expect_answers("elf", seeds, 24, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

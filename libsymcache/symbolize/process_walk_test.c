/* What stacks are walked with: of each address the image, its cache, and where that is loaded. */
#include "libsymcache/symbolize/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/symbolize/module.h"
#include "libsymcache/unwind/unwind.h"

/* A file with one segment of code. */
struct file {
	uint64_t load_base;
	struct symcache_ext_segment segment;
};

static const struct file gnu_ld = { 0, { 0x1000, 0x1000, 0x700, 0, 0 } };
static const struct file mold = { 0x200000, { 0x4a0, 0x2014a0, 0x900, 0, 0 } };

static void test_unwind(void **state)
{
	static const struct {
		const struct file *of; /* NULL: it has no cache */
		uint64_t address;
		bool found, cache;
		uint64_t base;
	} cases[] = {
		{ &gnu_ld, 0x701010, true, true, 0x700000 },
		{ &gnu_ld, 0x6ffff0, false, false, 0 },
		{ &mold, 0x7004a0, true, true, 0x6ff000 },
		{ &mold, 0x7007ff, true, true, 0x6ff000 },
		{ &mold, 0x700800, false, true, 0x6ff000 },   /* behind the image */
		{ NULL, 0x701010, true, false, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_process *p = symcache_process_create(NULL);
		struct symcache_unwind_frame f = { 0 };
		struct symcache_image *image;
		struct symcache_ext_image ext = { .image_size = 0x1800 };
		struct symcache cache = { .image = &ext, .num_segments = 1 };
		struct symcache_module module = { .name = NULL };

		image = symcache_process_image(p, &(struct symcache_file_id){ .path = sc_str_of("/opt/prog") });
		if (cases[i].of) {
			ext.load_base = cases[i].of->load_base;
			cache.segments = &cases[i].of->segment;
			atomic_store(&module.cache, &cache);
			image->asked = true;
			image->module = &module;
		}
		symcache_process_map(p, &(struct symcache_mapping){ 0x700000, 0x704000, 0, SYMCACHE_FROM_FILE, image });
		if (symcache_process_unwind(p, cases[i].address, &f) != cases[i].found)
			fail_msg("%llx", (unsigned long long)cases[i].address);
		assert_ptr_equal(f.cache, cases[i].cache ? &cache : NULL);
		assert_int_equal(f.base, cases[i].base);
		assert_ptr_equal(f.owner, cases[i].address < 0x700000 ? NULL : image);
		symcache_process_destroy(p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_unwind) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Places of this program itself, as places.h and images.h remember them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/symbolize/process.h"
#include "libsymcache/symbolize/places.h"

struct fixture {
	struct symcache_caches *caches;
	struct symcache_names *names;
	struct symcache_places *places;
	struct symcache_module *module;
	uint64_t vaddr; /* of main() */
};

static int set_up(void **state)
{
	static struct fixture f;
	struct symcache_symbolizer *s;
	uint32_t at = 0;

	f.caches = symcache_caches_create(NULL);
	f.names = symcache_names_create(NULL);
	f.places = symcache_places_create(f.caches, f.names, true);
	f.module = symcache_caches_module(f.caches, SYMCACHE_MODULE_FILE, "/proc/self/exe");
	s = symcache_symbolizer_create(f.caches, f.names);
	assert_true(symcache_symbolize_name(s, f.module, (struct sc_str){ "main", 4 }, &at, &f.vaddr));
	symcache_symbolizer_destroy(s);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	symcache_places_destroy(f->places);
	symcache_names_destroy(f->names);
	symcache_caches_destroy(f->caches);
	return 0;
}

static void test_code(void **state)
{
	const struct fixture *f = *state;
	struct symcache_code_place *place = symcache_places_get(f->places, "a", f->module,
								f->vaddr);

	assert_int_equal(place->num_frames, 1);
	assert_string_equal(place->frames[0].function.ptr, "main");
	assert_string_equal(strrchr(place->frames[0].file.ptr, '/'), "/places_test.c");
	assert_false(place->frames[0].inlined);
	place->wanted = 7;
	assert_int_equal(symcache_places_get(f->places, "a", f->module, f->vaddr)->wanted, 7);
	/* That of another owner is another one. */
	assert_int_equal(symcache_places_get(f->places, "b", f->module, f->vaddr)->wanted, 0);
	assert_int_equal(symcache_places_get(f->places, NULL, NULL, f->vaddr)->num_frames, 0);
}

/* Whatever is asked for in between, what comes is right. */
static void test_many(void **state)
{
	const struct fixture *f = *state;

	for (uint64_t i = 0; i < 100000; i++)
		assert_int_equal(symcache_places_get(f->places, "a", f->module, 1ull << 40 | i)->num_frames, 0);
	assert_string_equal(symcache_places_get(f->places, "a", f->module, f->vaddr)->frames[0].function.ptr,
			    "main");
}

volatile uint64_t a_variable = 4711; /* read, or the linker drops it */

static void test_data(void **state)
{
	const struct fixture *f = *state;
	struct symcache_process *images = symcache_process_create(&(struct symcache_finder){ .find = symcache_find_module, .caches = f->caches });
	const uint64_t bias = (uintptr_t)set_up; /* anything */
	const struct symcache_data_place *data;
	const struct symcache_image *image;
	struct sc_error err;
	char spec[64];

	snprintf(spec, sizeof(spec), "/proc/self/exe@0x%llx", (unsigned long long)bias);
	assert_int_equal(symcache_process_load(images, spec, &err), 0);
	assert_int_equal(symcache_process_load(images, "no such file", &err), SC_EINVAL);
	assert_int_equal(symcache_process_load(images, "/proc/self/exe@x", &err), SC_EINVAL);
	assert_null(symcache_process_at(images, 1));
	image = symcache_process_at(images, bias + f->vaddr)->image;
	assert_non_null(image);
	assert_string_equal(image->name, "exe");
	data = symcache_places_data(f->places, image, image->module, f->vaddr);
	assert_false(data->found);
	for (uint64_t at = image->start; at < image->end; at++) {
		data = symcache_places_data(f->places, image, image->module, at - image->bias);
		if (data->found && !strcmp(data->name, "a_variable"))
			break;
	}
	assert_int_equal(a_variable, 4711);
	assert_true(data->found);
	assert_string_equal(data->name, "a_variable");
	assert_int_equal(data->size, sizeof(a_variable));
	symcache_process_destroy(images);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code), cmocka_unit_test(test_many), cmocka_unit_test(test_data),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

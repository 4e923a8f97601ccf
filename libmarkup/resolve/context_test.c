/*
 * Modules and maps: what is taken in which dialect, what is found, and how many there may be; where
 * Fuchsia's modules lie.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "libmarkup/resolve/context.h"

static uint64_t generations;

static enum mk_context_result add(struct mk_context *c, uint64_t id, const char *name, const char *build_id)
{
	uint32_t index;

	return mk_context_add_module(c, id, sc_str_of(name), sc_str_of(build_id), &index);
}

/* In any order of IDs; each change has a generation of its own. */
static void test_modules(void **state)
{
	struct mk_context c;
	uint32_t index;

	(void)state;
	mk_context_init(&c, MARKUP_DEFAULT, &generations);
	for (uint64_t i = 0; i < 1000; i++) {
		const uint64_t before = c.generation;

		assert_int_equal(add(&c, i * 7919 % 1000, "a", "aa"), MK_CTX_OK);
		assert_true(c.generation > before);
	}
	for (uint64_t i = 0; i < 1000; i++)
		assert_int_equal(mk_context_module(&c, i)->id, i);
	assert_null(mk_context_module(&c, 1000));
	assert_null(mk_context_module(&c, UINT64_MAX));
	const uint64_t generation = c.generation;
	assert_int_equal(add(&c, 3, "a", "aa"), MK_CTX_SAME);
	assert_int_equal(add(&c, 3, "a", "AA"), MK_CTX_SAME);
	assert_int_equal(add(&c, 3, "a", "0aa"), MK_CTX_DUPLICATE);
	assert_int_equal(add(&c, 3, "b", "aa"), MK_CTX_DUPLICATE);
	assert_int_equal(add(&c, 3, "ab", "aa"), MK_CTX_DUPLICATE);
	assert_int_equal(c.generation, generation);
	assert_int_equal(mk_context_bind(&c, 3, sc_str_of("ab"), sc_str_of("bb"), &index), MK_CTX_OK);
	assert_true(c.generation > generation && index == mk_context_module(&c, 3) - c.modules);
	assert_memory_equal(c.modules[index].name.ptr, "ab", 2);
	assert_memory_equal(c.modules[index].build_id, "\xbb", 1);
	assert_int_equal(mk_context_bind(&c, 3, sc_str_of("ab"), sc_str_of("bb"), &index), MK_CTX_SAME);
	assert_int_equal(mk_context_bind(&c, 5000, sc_str_of("n"), sc_str_of(""), &index), MK_CTX_OK);
	assert_int_equal(mk_context_module(&c, 5000)->build_id_len, 0);
	mk_context_reset(&c);
	assert_null(mk_context_module(&c, 3));
	mk_context_deinit(&c);
	mk_context_init(&c, MARKUP_FUCHSIA, &generations);
	assert_int_equal(add(&c, 3, "a", "AAx"), MK_CTX_OK);
	assert_int_equal(add(&c, 3, "other", "0BB"), MK_CTX_OK);
	assert_int_equal(c.num_modules, 1);
	assert_int_equal(c.modules->build_text.len, 3);
	assert_memory_equal(c.modules->build_text.ptr, "0BB", 3);
	mk_context_deinit(&c);
}

/* How many there may be, and how many bytes of names. */
static void test_limits(void **state)
{
	static char name[1 << 20];
	struct mk_context c;
	uint32_t index;

	(void)state;
	mk_context_init(&c, MARKUP_DEFAULT, &generations);
	for (uint64_t i = 0; i < MARKUP_MODULES_MAX; i++)
		assert_int_equal(add(&c, i, "", "aa"), MK_CTX_OK);
	assert_int_equal(add(&c, MARKUP_MODULES_MAX, "", "aa"), MK_CTX_FULL);
	assert_int_equal(add(&c, 7, "", "aa"), MK_CTX_SAME);
	assert_int_equal(c.num_modules, MARKUP_MODULES_MAX);
	for (uint64_t i = 0; i < MARKUP_MMAPS_MAX; i++)
		assert_int_equal(mk_context_add_map(&c, &(struct mk_map){ .address = 100 * i, .size = 10 }, &index),
				 MK_CTX_OK);
	assert_int_equal(mk_context_add_map(&c, &(struct mk_map){ .address = 50, .size = 10 }, &index), MK_CTX_FULL);
	assert_int_equal(c.num_maps, MARKUP_MMAPS_MAX);
	mk_context_note_map(&c, &(struct mk_map){ .address = 50, .size = 10 }, sc_str_of("r"));
	assert_int_equal(c.num_maps, MARKUP_MMAPS_MAX);
	mk_context_reset(&c);
	/* Two bytes of each are the build ID. */
	for (uint64_t i = 0; i < 32; i++)
		assert_int_equal(mk_context_add_module(&c, i, (struct sc_str){ name, sizeof(name) - 2 },
						       sc_str_of("aabb"), &index), MK_CTX_OK);
	assert_int_equal(add(&c, 77, "", "aa"), MK_CTX_FULL);
	assert_int_equal(add(&c, 78, "", ""), MK_CTX_OK);
	mk_context_reset(&c);
	assert_int_equal(add(&c, 77, "", "aa"), MK_CTX_OK);
	mk_context_deinit(&c);
}

/* Maps by "ADDRESS+SIZE", one after another, and what becomes of each in our dialect, and in LLVM's. */
static void test_maps(void **state)
{
	static const struct { uint64_t address, size; const char *mode; enum mk_context_result ours, llvm; } maps[] = {
		{ 0x1000, 0x1000, "r", MK_CTX_OK, MK_CTX_OK },
		{ 0x1000, 0x1000, "r", MK_CTX_SAME, MK_CTX_OVERLAP },
		{ 0x1000, 0x1000, "rx", MK_CTX_OVERLAP, MK_CTX_OVERLAP },
		{ 0x1000, 0x0fff, "r", MK_CTX_OVERLAP, MK_CTX_OVERLAP },
		{ 0x1fff, 1, "r", MK_CTX_OVERLAP, MK_CTX_OVERLAP },
		{ 0x0fff, 1, "r", MK_CTX_OK, MK_CTX_OK },
		{ 0x0ff0, 0x10, "r", MK_CTX_OVERLAP, MK_CTX_OVERLAP },
		{ 0x0ff0, 0x0f, "r", MK_CTX_OK, MK_CTX_OK },
		{ 0x2000, 0, "r", MK_CTX_OK, MK_CTX_OK },
		{ 0x2000, 0x10, "r", MK_CTX_OK, MK_CTX_SAME },
		{ 0x3000, 0, "r", MK_CTX_OK, MK_CTX_OK },
		{ 0x3000, 0, "r", MK_CTX_OK, MK_CTX_SAME },
		{ UINT64_MAX - 0xfff, 0x1000, "r", MK_CTX_OK, MK_CTX_OK },
		{ UINT64_MAX - 0x7ff, 0x10, "r", MK_CTX_OVERLAP, MK_CTX_OK },
	};

	(void)state;
	for (int llvm = 0; llvm < 2; llvm++) {
		struct mk_context c;
		uint32_t index;

		mk_context_init(&c, llvm ? MARKUP_LLVM : MARKUP_DEFAULT, &generations);
		for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); i++) {
			struct mk_map m = { .address = maps[i].address, .size = maps[i].size, .vaddr = 7 };

			strcpy(m.mode, maps[i].mode);
			const enum mk_context_result got = mk_context_add_map(&c, &m, &index);
			if (got != (llvm ? maps[i].llvm : maps[i].ours))
				fail_msg("%d: map %zu: %d", llvm, i, got);
		}
		assert_int_equal(mk_context_find(&c, 0x1fff)->address, 0x1000);
		assert_int_equal(mk_context_find(&c, 0x1000)->address, 0x1000);
		assert_int_equal(mk_context_find(&c, 0x0fff)->address, 0x0fff);
		assert_int_equal(mk_context_find(&c, 0x0ffe)->address, 0x0ff0);
		assert_null(mk_context_find(&c, 0x0fef));
		assert_int_equal(!mk_context_find(&c, 0x2000), llvm);
		assert_null(mk_context_find(&c, 0x2010));
		assert_null(mk_context_find(&c, 0));
		assert_int_equal(!mk_context_find(&c, UINT64_MAX), llvm);
		mk_context_deinit(&c);
	}
}

/* Any number of maps, which came in no order; each address in them is found, others are not. */
static void test_find(void **state)
{
	(void)state;
	for (uint64_t n = 1; n < 70; n++) {
		struct mk_context c;
		uint32_t index;

		mk_context_init(&c, MARKUP_DEFAULT, &generations);
		assert_null(mk_context_find(&c, 0));
		for (uint64_t i = 0; i < n; i++) {
			/* The odd ones upwards, then the even ones downwards. */
			const uint64_t k = i < n / 2 ? 2 * i + 1 : 2 * (n - 1 - i);
			const struct mk_map m = { .address = 10 * k + 10, .size = 9, .vaddr = 1000 * k };

			assert_int_equal(mk_context_add_map(&c, &m, &index), MK_CTX_OK);
			assert_int_equal(index, i);
		}
		for (uint64_t address = 0; address < 10 * n + 30; address++) {
			const bool covered = address >= 10 && address < 10 * n + 10 && address % 10 != 9;
			const struct mk_map *m = mk_context_find(&c, address);

			assert_int_equal(m != NULL, covered);
			if (m)
				assert_int_equal(mk_map_vaddr(m, address), (address / 10 - 1) * 1000 + address % 10);
		}
		mk_context_deinit(&c);
	}
}

/* A copy has all of it but what the resolver said. */
static void test_copy(void **state)
{
	struct mk_context from, to;
	uint32_t index;

	(void)state;
	for (int fuchsia = 0; fuchsia < 2; fuchsia++) {
		mk_context_init(&from, fuchsia ? MARKUP_FUCHSIA : MARKUP_DEFAULT, &generations);
		mk_context_init(&to, MARKUP_DEFAULT, &generations);
		add(&to, 1, "old", "00");
		from.fixes_base = true;
		for (uint64_t i = 0; i < 50; i++) {
			struct mk_map m = { .address = 5000 - 100 * i, .size = 10, .vaddr = i, .mode = "rx" };

			add(&from, 100 - i, "name", "aabb");
			m.module = (uint32_t)i;
			mk_context_add_map(&from, &m, &index);
			from.modules[i].base = i;
			from.modules[i].asked = true;
			from.modules[i].handle = &from;
		}
		assert_true(mk_context_copy(&to, &from));
		assert_true(to.dialect == from.dialect && to.fixes_base && to.num_modules == 50 && to.num_maps == 50);
		assert_true(to.generation > from.generation);
		assert_int_equal(to.name_bytes, from.name_bytes);
		assert_null(mk_context_module(&to, 1));
		for (uint64_t i = 0; i < 50; i++) {
			const struct mk_module *a = &from.modules[i], *b = mk_context_module(&to, 100 - i);
			const struct mk_map *m = mk_context_find(&to, 5000 - 100 * i);

			assert_true(b == &to.modules[i] && b->base == i && !b->asked && !b->handle && !b->missing);
			assert_true(a->name.ptr != b->name.ptr && a->build_id != b->build_id);
			assert_memory_equal(b->name.ptr, "name", b->name.len);
			assert_memory_equal(b->build_id, "\xaa\xbb", b->build_id_len);
			assert_int_equal(b->build_text.len, fuchsia ? 4 : 0);
			assert_memory_equal(fuchsia ? b->build_text.ptr : "", "aabb", b->build_text.len);
			assert_true(m && m->vaddr == i && m->module == i && !strcmp(m->mode, "rx"));
		}
		assert_int_equal(add(&to, 777, "more", "cc"), MK_CTX_OK); /* it goes on */
		assert_int_equal(mk_context_module(&to, 777) - to.modules, 50);
		mk_context_deinit(&from);
		mk_context_deinit(&to);
	}
}

/* Fuchsia's maps of a module, one after another, and where it lies then. */
static void test_place(void **state)
{
	static const struct {
		uint64_t address, size, offset;
		enum mk_context_result result;
		uint64_t base, reach, negative_base;
	} maps[] = {
		{ 0x5000, 0x1000, 0x1000, MK_CTX_OK, 0x4000, 0x2000, 0 },
		{ 0x4000, 0x1000, 0, MK_CTX_SAME, 0x4000, 0x2000, 0 },
		{ 0x7000, 0x800, 0x3000, MK_CTX_SAME, 0x4000, 0x3800, 0 },
		{ 0x7000, 0x800, 0x2000, MK_CTX_OVERLAP, 0x4000, 0x3800, 0 },
		{ 0x1000, 0x800, 0x2000, MK_CTX_OVERLAP, 0x4000, 0x3800, 0 },
	}, kernel[] = {
		{ 0x1000, 0x800, 0x5000, MK_CTX_OK, 0, 0x1800, 0x4000 },
		{ 0x2000, 0x800, 0x6000, MK_CTX_SAME, 0, 0x2800, 0x4000 },
		{ 0x2000, 0x800, 0x6001, MK_CTX_OVERLAP, 0, 0x2800, 0x4000 },
		{ 0x3000, 0x10, 0x3000, MK_CTX_SAME, 0, 0x3010, 0x4000 },
		{ 0x3000, 0x10, 0x1000, MK_CTX_OVERLAP, 0, 0x3010, 0x4000 },
	};

	(void)state;
	for (int fixes = 0; fixes < 2; fixes++) {
		for (int of_kernel = 0; of_kernel < 2; of_kernel++) {
			struct mk_context c;

			mk_context_init(&c, MARKUP_FUCHSIA, &generations);
			c.fixes_base = fixes;
			add(&c, 1, "a", "aa");
			for (size_t i = 0; i < 5; i++) {
				const uint64_t before = c.generation;
				const enum mk_context_result result = mk_context_place(&c, c.modules,
					of_kernel ? kernel[i].address : maps[i].address,
					of_kernel ? kernel[i].size : maps[i].size,
					of_kernel ? kernel[i].offset : maps[i].offset);

				assert_true(c.generation > before);
				if (!fixes) { /* the last one counts, and nothing contradicts it */
					assert_int_equal(result, MK_CTX_SAME);
					continue;
				}
				assert_int_equal(result, of_kernel ? kernel[i].result : maps[i].result);
				assert_int_equal(c.modules->base, of_kernel ? kernel[i].base : maps[i].base);
				assert_int_equal(c.modules->size, of_kernel ? kernel[i].reach : maps[i].reach);
				assert_int_equal(c.modules->negative_base,
						 of_kernel ? kernel[i].negative_base : maps[i].negative_base);
			}
			if (!fixes)
				assert_int_equal(c.modules->base, of_kernel ? 0x2000 : 0);
			mk_context_deinit(&c);
		}
	}
}

static uint64_t id_at(struct mk_context *c, uint64_t address)
{
	int error = 0;
	const struct mk_module *m = mk_context_module_at(c, address, &error);

	assert_int_equal(error, 0);
	return m ? m->id : 0;
}

/* A module reaches up to its end, that address included; of two at one base the one with the
 * higher ID has it, and below all others is a kernel. */
static void test_module_at(void **state)
{
	struct mk_context c;

	(void)state;
	mk_context_init(&c, MARKUP_FUCHSIA, &generations);
	c.fixes_base = true;
	assert_int_equal(id_at(&c, 0x1000), 0);
	for (uint64_t id = 5; id; id--)
		add(&c, id, "a", "aa");
	mk_context_place(&c, mk_context_module(&c, 1), 0x1000, 0x100, 0x8000); /* a kernel: up to 0x1100 */
	mk_context_place(&c, mk_context_module(&c, 2), 0x5000, 0x100, 0);
	mk_context_place(&c, mk_context_module(&c, 3), 0x5000, 0x80, 0);
	mk_context_place(&c, mk_context_module(&c, 4), 0x800, 0x100, 0);
	mk_context_place(&c, mk_context_module(&c, 5), 0x7000, 0, 0);
	assert_int_equal(id_at(&c, 0), 1);
	assert_int_equal(id_at(&c, 0x7ff), 1);
	assert_int_equal(id_at(&c, 0x800), 4);
	assert_int_equal(id_at(&c, 0x900), 4);
	assert_int_equal(id_at(&c, 0x901), 1);
	assert_int_equal(id_at(&c, 0x1100), 1);
	assert_int_equal(id_at(&c, 0x1101), 0);
	assert_int_equal(id_at(&c, 0x5000), 3);
	assert_int_equal(id_at(&c, 0x5080), 3);
	assert_int_equal(id_at(&c, 0x5081), 0);
	assert_int_equal(id_at(&c, 0x7000), 5);
	assert_int_equal(id_at(&c, 0x7001), 0);
	assert_int_equal(id_at(&c, UINT64_MAX), 0);
	/* It follows when something changes. */
	mk_context_place(&c, mk_context_module(&c, 3), 0x5100, 0x80, 0x100);
	assert_int_equal(id_at(&c, 0x5181), 0);
	assert_int_equal(id_at(&c, 0x5180), 3);
	mk_context_deinit(&c);
}

/* Random maps against a plain loop. */
static void test_search(void **state)
{
	static struct mk_map maps[500];
	struct mk_context c;
	uint32_t index, n = 0;

	(void)state;
	mk_context_init(&c, MARKUP_DEFAULT, &generations);
	srand(3);
	for (int i = 0; i < 3000 && n < 500; i++) {
		struct mk_map m = { .address = (uint64_t)rand() % 10000,
					 .size = (uint64_t)rand() % 20, .mode = "r" };
		bool overlaps = false;
		for (uint32_t j = 0; j < n; j++)
			overlaps |= m.address < maps[j].address + maps[j].size &&
				    maps[j].address < m.address + m.size;
		enum mk_context_result r = mk_context_add_map(&c, &m, &index);
		if (m.size && !(r == MK_CTX_SAME))
			assert_int_equal(r, overlaps ? MK_CTX_OVERLAP : MK_CTX_OK);
		if (r == MK_CTX_OK)
			maps[n++] = m;
	}
	assert_true(n > 300);
	for (uint64_t a = 0; a < 10100; a++) {
		const struct mk_map *found = mk_context_find(&c, a), *want = NULL;
		for (uint32_t j = 0; j < n; j++)
			if (a >= maps[j].address && a - maps[j].address < maps[j].size)
				want = &maps[j];
		assert_int_equal(!found, !want);
		if (want)
			assert_int_equal(found->address, want->address);
	}
	mk_context_deinit(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_modules), cmocka_unit_test(test_limits), cmocka_unit_test(test_maps),
		cmocka_unit_test(test_find), cmocka_unit_test(test_copy), cmocka_unit_test(test_place),
		cmocka_unit_test(test_module_at), cmocka_unit_test(test_search),
	};

	return cmocka_run_group_tests_name("context", tests, NULL, NULL);
}

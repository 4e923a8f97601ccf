/*
 * The address space of a process, by tables of cases: what is mapped in which order, and what
 * addresses are then; and this program itself, by its own /proc/self/maps.
 */
#include "libsymcache/symbolize/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "libsymcache/symbolize/module.h"

/* ---- offset → p_vaddr ------------------------------------------------------------------ */

enum { SEGMENTS = 2 };

/* A file: the executable PT_LOADs, and the p_vaddr of the first PT_LOAD. */
struct shape {
	const char *name;
	uint64_t load_base;
	struct symcache_ext_segment segments[SEGMENTS];
	size_t num_segments;
};

static const struct shape gnu_ld = { "gnu-ld", 0, { { 0x1000, 0x1000, 0x13d9, 0, 0 } }, 1 };
/* Its code begins in the page of the file that has the headers. */
static const struct shape lld = { "lld", 0, { { 0x6d0, 0x16d0, 0x320, 0, 0 } }, 1 };
static const struct shape mold = { "mold", 0x200000, { { 0x4a0, 0x2014a0, 0x900, 0, 0 } }, 1 };
static const struct shape fixed = { "non-pie", 0x400000, { { 0x1000, 0x401000, 0x800, 0, 0 } }, 1 };
static const struct shape two = { "two", 0, { { 0x1000, 0x1000, 0x500, 0, 0 },
					      { 0x2000, 0x12000, 0x500, 0, 0 } }, 2 };
/* Of a debug file, whose offset is a guess, which is wrong. */
static const struct shape debug = { "debug", 0, { { 0x3000, 0x3000, 0x900, 1, 0 } }, 1 };
static const struct shape old = { "without-segm", 0x10040, { { 0 } }, 0 };

/* A module that has its cache already. */
struct fake {
	struct symcache_ext_image ext;
	struct symcache cache;
	struct symcache_module module;
};

static void fake_init(struct fake *f, const struct shape *of)
{
	*f = (struct fake){ .ext = { .load_base = of->load_base } };
	f->cache.image = &f->ext;
	f->cache.segments = of->segments;
	f->cache.num_segments = of->num_segments;
	atomic_store(&f->module.cache, &f->cache);
}

static struct symcache_image *add_image(struct symcache_process *p, const char *path)
{
	struct symcache_image *image = symcache_process_image(p,
		&(struct symcache_file_id){ .path = sc_str_of(path) });

	assert_non_null(image);
	return image;
}

static struct symcache_image *add_fake(struct symcache_process *p, struct fake *f)
{
	struct symcache_image *image = add_image(p, "/opt/fake");

	image->asked = true;
	image->module = &f->module;
	return image;
}

#define FILE_AT(s, e, o) { .start = (s), .end = (e), .offset = (o), .origin = SYMCACHE_FROM_FILE }

static const struct {
	const struct shape *of;
	struct symcache_mapping rows[4];
	uint64_t address;
	enum symcache_pc pc;
	enum symcache_reason reason;
	uint64_t vaddr;
} vaddr_cases[] = {
	{ &gnu_ld, { FILE_AT(0x5000, 0x6000, 0), FILE_AT(0x6000, 0x8000, 0x1000) },
	  0x6123, SYMCACHE_EXACT, SYMCACHE_FOUND, 0x1123 },
	{ &gnu_ld, { FILE_AT(0x5000, 0x6000, 0), FILE_AT(0x6000, 0x8000, 0x1000) },
	  0x6123, SYMCACHE_RETURNS, SYMCACHE_FOUND, 0x1122 },
	/* The first page is no code, nor is what lies behind the segment in its page. */
	{ &gnu_ld, { FILE_AT(0x5000, 0x6000, 0), FILE_AT(0x6000, 0x8000, 0x1000) },
	  0x5123, SYMCACHE_EXACT, SYMCACHE_OUTSIDE, 0 },
	{ &gnu_ld, { FILE_AT(0x5000, 0x6000, 0), FILE_AT(0x6000, 0x8000, 0x1000) },
	  0x73d9, SYMCACHE_EXACT, SYMCACHE_OUTSIDE, 0 },
	/* The code alone, as perf records it. */
	{ &gnu_ld, { FILE_AT(0x6000, 0x8000, 0x1000) },
	  0x73d9, SYMCACHE_RETURNS, SYMCACHE_FOUND, 0x23d8 },
	/* Two rows of offset 0: the second has the code, one page higher. */
	{ &lld, { FILE_AT(0x7000, 0x8000, 0), FILE_AT(0x8000, 0x9000, 0),
		  FILE_AT(0x9000, 0xa000, 0), FILE_AT(0xa000, 0xb000, 0) },
	  0x8933, SYMCACHE_RETURNS, SYMCACHE_FOUND, 0x1932 },
	{ &lld, { FILE_AT(0x8000, 0x9000, 0) }, 0x86d0, SYMCACHE_EXACT, SYMCACHE_FOUND,
	  0x16d0 },
	{ &lld, { FILE_AT(0x8000, 0x9000, 0) }, 0x86d0, SYMCACHE_RETURNS, SYMCACHE_OUTSIDE,
	  0 },
	{ &mold, { FILE_AT(0x7000, 0x8000, 0), FILE_AT(0x8000, 0x9000, 0) }, 0x8500,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, 0x201500 },
	{ &fixed, { FILE_AT(0x400000, 0x401000, 0), FILE_AT(0x401000, 0x402000, 0x1000) },
	  0x401234, SYMCACHE_EXACT, SYMCACHE_FOUND, 0x401234 },
	{ &two, { FILE_AT(0x8000, 0x9000, 0x2000) }, 0x8111, SYMCACHE_EXACT,
	  SYMCACHE_FOUND, 0x12111 },
	{ &two, { FILE_AT(0x8000, 0x9000, 0x1000) }, 0x8111, SYMCACHE_EXACT,
	  SYMCACHE_FOUND, 0x1111 },
	/* Without segments: from the lowest row of offset 0 on, or not at all. */
	{ &old, { FILE_AT(0x7000, 0x8000, 0), FILE_AT(0x8000, 0x9000, 0x1000) }, 0x8123,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, 0x11123 },
	{ &old, { FILE_AT(0x7000, 0x8000, 0), FILE_AT(0x8000, 0x9000, 0) }, 0x8123,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, 0x11123 },
	{ &old, { FILE_AT(0x8000, 0x9000, 0x1000) }, 0x8123, SYMCACHE_EXACT,
	  SYMCACHE_OUTSIDE, 0 },
	/* What is assumed is better than nothing alone. */
	{ &debug, { FILE_AT(0x7000, 0x8000, 0), FILE_AT(0xa000, 0xb000, 0x2000) }, 0xa123,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, 0x3123 },
	{ &debug, { FILE_AT(0xa000, 0xb000, 0x3000) }, 0xa123, SYMCACHE_EXACT, SYMCACHE_FOUND,
	  0x3123 },
	/* What counts from elsewhere. */
	{ &fixed, { { 0, UINT64_MAX, 0, SYMCACHE_FROM_ZERO, NULL } }, 0x401234,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, 0x401234 },
	{ &fixed, { { 0x7000, 0x9000, 0, SYMCACHE_FROM_LOAD_BASE, NULL } }, 0x8234,
	  SYMCACHE_RETURNS, SYMCACHE_FOUND, 0x401233 },
	{ &old, { { 0x7000, 0x9000, 0, SYMCACHE_FROM_LOAD_BASE, NULL } }, 0x7001,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, 0x10041 },
	{ &old, { { 0x7000, 0x9000, 0, SYMCACHE_FROM_PAGE, NULL } }, 0x7041,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, 0x10041 },
	/* The ends of mappings, and of all addresses. */
	{ &fixed, { FILE_AT(0x401000, 0x402000, 0x1000) }, 0x402000, SYMCACHE_EXACT,
	  SYMCACHE_NO_IMAGE, 0 },
	{ &fixed, { FILE_AT(0x401000, 0x402000, 0x1000) }, 0x401000, SYMCACHE_RETURNS,
	  SYMCACHE_NO_IMAGE, 0 },
	{ &fixed, { { 0, UINT64_MAX, 0, SYMCACHE_FROM_ZERO, NULL } }, 0, SYMCACHE_RETURNS,
	  SYMCACHE_NO_IMAGE, 0 },
	{ &fixed, { { 0, UINT64_MAX, 0, SYMCACHE_FROM_ZERO, NULL } }, UINT64_MAX,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, UINT64_MAX },
	{ &gnu_ld, { FILE_AT(0x6000, UINT64_MAX, UINT64_MAX - 0x10) }, 0x6000 + 0x1011,
	  SYMCACHE_EXACT, SYMCACHE_FOUND, 0x1000 }, /* around the end: no harm */
	{ &gnu_ld, { FILE_AT(0x6000, 0x6000, 0x1000), FILE_AT(0x6001, 0x6000, 0x1000) },
	  0x6000, SYMCACHE_EXACT, SYMCACHE_NO_IMAGE, 0 },
};

static void test_vaddr(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(vaddr_cases) / sizeof(*vaddr_cases); i++) {
		struct symcache_process *p = symcache_process_create(NULL);
		struct symcache_address at;
		struct fake fake;
		struct symcache_image *image;

		fake_init(&fake, vaddr_cases[i].of);
		image = add_fake(p, &fake);
		for (size_t k = 0; k < 4; k++) {
			struct symcache_mapping row = vaddr_cases[i].rows[k];

			row.image = image;
			assert_int_equal(symcache_process_map(p, &row), 0);
		}
		if (symcache_process_find(p, vaddr_cases[i].address, vaddr_cases[i].pc, &at) !=
		    vaddr_cases[i].reason || (!at.reason && at.vaddr != vaddr_cases[i].vaddr))
			fail_msg("case %zu (%s): reason %d, vaddr 0x%llx", i, vaddr_cases[i].of->name,
				 at.reason, (unsigned long long)at.vaddr);
		assert_ptr_equal(at.image, vaddr_cases[i].reason == SYMCACHE_NO_IMAGE ? NULL : image);
		symcache_process_destroy(p);
	}
}

/* ---- what is mapped where --------------------------------------------------------------- */

/* The mappings as "a 10-20+0 b 20-30+5 ", in hex. */
static void expect_maps(const struct symcache_process *p, const char *want)
{
	char got[512] = "";
	size_t n, len = 0;
	const struct symcache_mapping *list = symcache_process_mappings(p, &n);

	for (size_t i = 0; i < n; i++)
		len += (size_t)snprintf(got + len, sizeof(got) - len, "%s %llx-%llx+%llx ",
					list[i].image->path, (unsigned long long)list[i].start,
					(unsigned long long)list[i].end,
					(unsigned long long)list[i].offset);
	assert_string_equal(got, want);
}

/* Maps by a text as above; "-" is no image. */
static void map_all(struct symcache_process *p, const char *text)
{
	unsigned long long start, end, offset;
	char path[8];
	int used;

	for (; sscanf(text, " %7s %llx-%llx+%llx%n", path, &start, &end, &offset, &used) == 4;
	     text += used)
		assert_int_equal(symcache_process_map(p, &(struct symcache_mapping){
			start, end, offset, SYMCACHE_FROM_FILE,
			*path == '-' ? NULL : add_image(p, path) }), 0);
}

static void test_cuts(void **state)
{
	static const struct { const char *added, *want; } cases[] = {
		{ "a 10-20+0 b 20-30+5", "a 10-20+0 b 20-30+5 " },
		{ "b 20-30+5 a 10-20+0", "a 10-20+0 b 20-30+5 " },
		{ "a 10-20+0 a 10-20+0", "a 10-20+0 " },
		{ "a 10-20+0 b 10-20+7", "b 10-20+7 " },
		{ "a 10-40+100 b 20-30+0", "a 10-20+100 b 20-30+0 a 30-40+120 " },
		{ "a 10-40+100 b 8-18+0", "b 8-18+0 a 18-40+108 " },
		{ "a 10-40+100 b 38-48+0", "a 10-38+100 b 38-48+0 " },
		{ "a 10-20+0 b 20-30+0 c 30-40+0 d 18-38+1", "a 10-18+0 d 18-38+1 c 38-40+8 " },
		{ "a 10-20+0 b 20-30+0 c 30-40+0 d 0-100+1", "d 0-100+1 " },
		{ "a 10-20+0 b 20-30+0 - 18-28+0", "a 10-18+0 b 28-30+8 " },
		{ "a 10-20+0 - 0-ffffffffffffffff+0", "" },
		{ "a 10-ffffffffffffffff+0 b 20-30+0",
		  "a 10-20+0 b 20-30+0 a 30-ffffffffffffffff+20 " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_process *p = symcache_process_create(NULL);

		map_all(p, cases[i].added);
		expect_maps(p, cases[i].want);
		symcache_process_destroy(p);
	}
}

static void test_fork(void **state)
{
	struct symcache_process *parent = symcache_process_create(NULL), *child, *other;

	(void)state;
	map_all(parent, "a 10-20+0 b 20-30+0");
	child = symcache_process_fork(parent);
	other = symcache_process_fork(child);
	map_all(parent, "c 18-28+0");
	map_all(child, "a 40-50+0");
	symcache_process_clear(other);
	expect_maps(parent, "a 10-18+0 c 18-28+0 b 28-30+8 ");
	expect_maps(child, "a 10-20+0 b 20-30+0 a 40-50+0 ");
	expect_maps(other, "");
	assert_ptr_equal(symcache_process_at(parent, 0x10)->image,
			 symcache_process_at(child, 0x44)->image);
	symcache_process_destroy(parent);
	map_all(other, "d 10-20+0");
	expect_maps(other, "d 10-20+0 ");
	assert_string_equal(symcache_process_image_at(other, 2)->path, "c");
	symcache_process_destroy(child);
	symcache_process_destroy(other);
}

static void test_limits(void **state)
{
	struct symcache_process *p = symcache_process_create(NULL);
	struct symcache_mapping m = { .image = add_image(p, "a") };
	static const uint8_t id[SYMCACHE_BUILD_ID_MAX + 1];

	(void)state;
	for (uint64_t i = 0; i < SYMCACHE_MAPPINGS_MAX; i++) {
		m.start = 0x1000 * i;
		m.end = m.start + 0x800;
		assert_int_equal(symcache_process_map(p, &m), 0);
	}
	m.start += 0x100;
	m.end = m.start + 1; /* would be two more */
	assert_int_equal(symcache_process_map(p, &m), SC_ELIMIT);
	m = (struct symcache_mapping){ 0, UINT64_MAX, 0, SYMCACHE_FROM_ZERO, m.image };
	assert_int_equal(symcache_process_map(p, &m), 0);
	assert_int_equal(symcache_process_at(p, 12345)->end, UINT64_MAX);
	assert_null(symcache_process_image(p, &(struct symcache_file_id){ .build_id = id,
						.build_id_len = sizeof(id) }));
	symcache_process_destroy(p);
}

/* What tells images apart. */
static void test_images(void **state)
{
	static const uint8_t id[SYMCACHE_BUILD_ID_MAX] = { 1 }, other[20] = { 2 };
	const struct symcache_file_id of[] = {
		{ .path = sc_str_of("/bin/a") },
		{ .path = sc_str_of("/bin/b") },
		{ .build_id = id, .build_id_len = 20 },
		{ .path = sc_str_of("/bin/a"), .build_id = id, .build_id_len = 20 },
		{ .path = sc_str_of("/bin/a"), .build_id = other, .build_id_len = 20 },
		{ .path = sc_str_of("vmlinux"), .kernel = true },
		{ .path = sc_str_of("vmlinux"), .kernel = true,
		  .release = sc_str_of("6.1.0-56-amd64") },
		{ .path = sc_str_of("vmlinux") },
		{ .path = sc_str_of("/bin/a"), .build_id = id, .build_id_len = sizeof(id) },
	};
	const size_t n = sizeof(of) / sizeof(*of);
	struct symcache_process *p = symcache_process_create(NULL);
	struct symcache_address at;

	(void)state;
	for (int again = 0; again < 2; again++)
		for (size_t i = 0; i < n; i++)
			assert_int_equal(symcache_process_image(p, &of[i])->number, i);
	assert_null(symcache_process_image_at(p, n));
	assert_string_equal(symcache_process_image_at(p, 0)->name, "a");
	assert_string_equal(symcache_process_image_at(p, 2)->name, "");
	symcache_process_map(p, &(struct symcache_mapping){ 0x1000, 0x2000, 0x3000,
			     SYMCACHE_FROM_FILE, symcache_process_image_at(p, 1) });
	assert_int_equal(symcache_process_find(p, 0x1010, SYMCACHE_EXACT, &at), SYMCACHE_NO_CACHE);
	assert_string_equal(at.image->name, "b");
	assert_int_equal(at.offset, 0x3010);
	assert_int_equal(at.image->why.code, SC_ENOTFOUND);
	symcache_process_destroy(p);
}

/* ---- this program ------------------------------------------------------------------------ */

struct itself {
	struct symcache_caches *caches;
	struct symcache_names *names;
	struct symcache_symbolizer *s;
	struct symcache_process *p;
	struct symcache_image *image;
};

static void open_itself(struct itself *t)
{
	static char program[4096], bound[sizeof(program) + 64];
	static const char *modules[] = { bound };
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long long start, end, offset;
	char line[4096 + 200], path[4096], mode[5];

	assert_true(realpath("/proc/self/exe", program) && maps);
	snprintf(bound, sizeof(bound), "process_test=%s", program);
	t->caches = symcache_caches_create(NULL);
	t->names = symcache_names_create(NULL);
	t->s = symcache_symbolizer_create(t->caches, t->names);
	t->p = symcache_process_create(&(struct symcache_finder){
		.find = symcache_find_module,
		.caches = t->caches, .modules = modules, .num_modules = 1 });
	t->image = add_image(t->p, program);
	while (fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %4095s", &start, &end, mode, &offset,
			   path) == 5)
			assert_int_equal(symcache_process_map(t->p, &(struct symcache_mapping){
				start, end, offset, SYMCACHE_FROM_FILE, add_image(t->p, path) }), 0);
	}
	fclose(maps);
}

static void close_itself(struct itself *t)
{
	symcache_process_destroy(t->p);
	symcache_symbolizer_destroy(t->s);
	symcache_names_destroy(t->names);
	symcache_caches_destroy(t->caches);
}

static int take_name(void *ctx, size_t i, const struct symcache_answer *a)
{
	char (*names)[32] = ctx;

	if (a->num_frames)
		snprintf(names[i], sizeof(names[i]), "%.*s", (int)a->frames[0].function.len,
			 a->frames[0].function.ptr);
	else
		snprintf(names[i], sizeof(names[i]), "reason %d", a->reason);
	return 0;
}

static int take_one(void *ctx, size_t i, const struct symcache_answer *a)
{
	(void)i;
	(void)a;
	return ++*(int *)ctx == 3 ? 7 : 0;
}

static void test_itself(void **state)
{
	enum { ADDRESSES = 60 };
	static char names[ADDRESSES][32];
	struct symcache_address list[ADDRESSES];
	struct itself t;
	int taken = 0;

	(void)state;
	open_itself(&t);
	assert_int_equal(symcache_process_find(t.p, (uintptr_t)test_cuts, SYMCACHE_EXACT, &list[0]),
			 SYMCACHE_FOUND);
	assert_ptr_equal(list[0].image, t.image);
	assert_int_equal(symcache_process_find(t.p, 16, SYMCACHE_EXACT, &list[0]), SYMCACHE_NO_IMAGE);

	/* The kernel's own code has no file to be looked for. */
	symcache_process_map(t.p, &(struct symcache_mapping){ 0x1000, 0x2000, 0,
			     SYMCACHE_FROM_FILE, add_image(t.p, "[vdso]") });
	assert_int_equal(symcache_process_find(t.p, 0x1010, SYMCACHE_EXACT, &list[1]),
			 SYMCACHE_NO_CACHE);

	for (size_t i = 0; i < ADDRESSES; i++) {
		static const uintptr_t of[] = { (uintptr_t)test_cuts, (uintptr_t)test_fork,
						(uintptr_t)test_images, 16 };

		symcache_process_find(t.p, of[i % 4] + i / 8, SYMCACHE_EXACT, &list[i]);
	}
	assert_int_equal(symcache_addresses_symbolize(t.s, list, ADDRESSES, take_name, names), 0);
	for (size_t i = 0; i < ADDRESSES; i++) {
		static const char *const want[] = { "test_cuts", "test_fork", "test_images" };

		if (i % 4 < 3)
			assert_string_equal(names[i], want[i % 4]);
		else
			assert_memory_equal(names[i], "reason ", 7);
	}
	assert_int_equal(symcache_addresses_symbolize(t.s, list, 0, take_name, names), 0);
	assert_int_equal(symcache_addresses_symbolize(t.s, list, ADDRESSES, take_one, &taken), 7);
	assert_int_equal(taken, 3);
	close_itself(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vaddr), cmocka_unit_test(test_cuts),
		cmocka_unit_test(test_fork), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_images), cmocka_unit_test(test_itself),
	};
	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}

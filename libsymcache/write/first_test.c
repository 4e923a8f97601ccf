/*
 * A cache for some addresses alone says about them what the whole one says: address by address,
 * over all programs and layouts that tests have.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/mman.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/dwarf/dwarf_writer.h"
#include "libsymcache/write/first_check.h"

#define PROGRAMS "build/testprogs"
#define MOST 200 /* addresses of a file that are asked one by one */

static unsigned num_files, num_compressed;
static uint64_t num_asked;

/* The edges of ranges, and what is just in front of them: every n-th, if there are many. */
static void compare(const char *path)
{
	struct symcache_build_options o = { .threads = 1 };
	struct built whole;
	struct sc_error err;
	uint64_t base, some[3];
	uint32_t n, step;
	char *fault;

	if (first_build(path, &o, &whole, &err))
		return;
	base = symcache_load_base(&whole.cache);
	n = whole.cache.header->num_ranges;
	step = n / (MOST / 2) + 1;
	num_files++;
	for (uint32_t i = num_files % step; i < n; i += step) {
		const uint64_t edge = base + whole.cache.ranges[i];

		for (uint64_t vaddr = edge ? edge - 1 : 0; vaddr <= edge; vaddr++, num_asked++)
			if ((fault = first_differs(path, &o, &whole.cache, &vaddr, 1)))
				fail_msg("%s: %s", path, fault);
	}
	/* Below, above, and several at once. */
	some[0] = n ? base + whole.cache.ranges[n / 2] : 0;
	some[1] = base ? base - 1 : UINT64_MAX;
	some[2] = n ? base + whole.cache.ranges[n - 1] : 1;
	o.threads = 3;
	if ((fault = first_differs(path, &o, &whole.cache, some, 3)))
		fail_msg("%s: %s", path, fault);
	free(whole.bytes);
}

static void compare_bytes(const uint8_t *file, size_t size)
{
	char name[32];
	const int fd = testing_memfd(file, size, name);

	compare(name);
	close(fd);
}

static void compare_compressed(const char *path, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint8_t *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0), *compressed;
	size_t len;

	assert_true(file != MAP_FAILED);
	close(fd);
	compressed = first_compressed(file, size, &len);
	if (compressed) {
		compare_bytes(compressed, len);
		num_compressed++;
	}
	free(compressed);
	munmap(file, size);
}

static int visit(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)ftw;
	if (type == FTW_F && st->st_size > 64 && st->st_size < 16 << 20) {
		compare(path);
		compare_compressed(path, (size_t)st->st_size);
	}
	return 0;
}

static void test_programs(void **state)
{
	(void)state;
	if (nftw(PROGRAMS, visit, 16, FTW_PHYS) || !num_files || !num_compressed)
		fail_msg("no files below " PROGRAMS);
	print_message("%u files, %u of them compressed, %llu addresses\n", num_files, num_compressed,
		      (unsigned long long)num_asked);
}

/* A function ff, or gg by a linkage name, in .debug_str with both at these places, which has `size`
 * bytes; its bytes, compressed. */
static uint8_t *named(size_t name, size_t linkage_name, size_t size, size_t *len)
{
	struct bytes file = {0};
	struct dwarf w;
	uint8_t *ret;

	dwarf_init(&w, &(struct dwarf_shape){ .version = 5 });
	for (size_t i = 0; i < size; i++)
		put(&w.str, 1, i - name < 2 ? 'f' : i - linkage_name < 2 && i > 1 ? 'g' : 0);
	unit_begin(&w);
	compile_unit(&w, "a.c");
	entry(&w, DW_TAG_subprogram, false);
	attr_pcs(&w, DWARF_TEXT, DWARF_TEXT + 0x10);
	attr(&w, DW_AT_name, DW_FORM_strp, name);
	attr(&w, DW_AT_linkage_name, DW_FORM_strp, linkage_name);
	children_end(&w);
	unit_end(&w);
	dwarf_file(&w, &file);
	ret = first_compressed(file.b.data, file.b.len, len);
	assert_non_null(ret);
	bytes_deinit(&file);
	dwarf_deinit(&w);
	return ret;
}

/* Names that come late: on other pages, also the last but one; one that is asked for as another is
 * empty; up to the end of the section; damaged; without an end. */
static void test_names(void **state)
{
	static const struct { size_t name, linkage_name, size; bool damaged; } all[] = {
		{ 2, 50001, 60000, false }, { 50001, 0, 60000, false }, { 59997, 0, 60000, false },
		{ 59998, 0, 60000, false }, { 2, 59999, 60000, false }, { 2, 50001, 60000, true },
		{ 4095, 8191, 8192, false }, { 20000, 4095, 60000, false }, { 54000, 0, 60000, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		size_t len;
		uint8_t *file = named(all[i].name, all[i].linkage_name, all[i].size, &len);

		file[len - 1] ^= all[i].damaged;
		compare_bytes(file, len);
		free(file);
	}
}

/* A function without a linkage name is called by what it stands in, whose name is on another page. */
static void test_scope_names(void **state)
{
	struct bytes file = {0};
	struct dwarf w;
	uint8_t *compressed;
	size_t len;

	(void)state;
	dwarf_init(&w, &(struct dwarf_shape){ .version = 5 });
	for (size_t i = 0; i < 60000; i++)
		put(&w.str, 1, i - 2 < 2 ? 'f' : i - 30000 < 2 ? 'n' : 0);
	unit_begin(&w);
	entry(&w, DW_TAG_compile_unit, true);
	attr(&w, DW_AT_language, DW_FORM_data1, DW_LANG_C_plus_plus_11);
	entry(&w, DW_TAG_namespace, true);
	attr(&w, DW_AT_name, DW_FORM_strp, 30000);
	entry(&w, DW_TAG_subprogram, false);
	attr_pcs(&w, DWARF_TEXT, DWARF_TEXT + 0x10);
	attr(&w, DW_AT_name, DW_FORM_strp, 2);
	children_end(&w);
	children_end(&w);
	unit_end(&w);
	dwarf_file(&w, &file);
	compressed = first_compressed(file.b.data, file.b.len, &len);
	assert_non_null(compressed);
	compare_bytes(compressed, len);
	free(compressed);
	bytes_deinit(&file);
	dwarf_deinit(&w);
}

/* It says that inflated it has no bytes. */
static void test_no_names(void **state)
{
	const Elf64_Chdr header = { .ch_type = ELFCOMPRESS_ZLIB, .ch_size = 60000, .ch_addralign = 1 };
	size_t len;
	uint8_t *file = named(2, 0, 60000, &len), *at = memmem(file, len, &header, sizeof(header));

	(void)state;
	assert_non_null(at);
	memset(at + offsetof(Elf64_Chdr, ch_size), 0, sizeof(header.ch_size));
	compare_bytes(file, len);
	free(file);
}

/* A unit that does not say where its code is: its abbreviations say that it may have a function, whatever
 * their codes are. */
static void test_codes(void **state)
{
	static const struct { unsigned unit, function; } codes[] = { { 1, 2 }, { 2, 1 }, { 10, 1 }, { 1, 10 }, { 10, 20 } };

	(void)state;
	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		struct bytes file = {0};
		struct dwarf w;

		dwarf_init(&w, &(struct dwarf_shape){ .version = 5 });
		unit_begin(&w);
		w.code = codes[i].unit - 1;
		compile_unit(&w, "a.c");
		w.code = codes[i].function - 1;
		function(&w, "f", DWARF_TEXT, DWARF_TEXT + 0x10);
		children_end(&w);
		unit_end(&w);
		dwarf_file(&w, &file);
		compare_bytes(file.b.data, file.b.len);
		bytes_deinit(&file);
		dwarf_deinit(&w);
	}
}

/* A file with this unit, which is a split one or its skeleton, below testing_dir. */
static void write_unit(struct dwarf *w, const char *name, bool split)
{
	const struct elf_shape shape = { .is_64 = true, .machine = EM_X86_64, .type = ET_DYN,
					 .load_size = DWARF_DATA };
	const struct elf_section sections[] = {
		{ split ? ".debug_info.dwo" : ".debug_info", SHT_PROGBITS, 0, 0, &w->info, 0, 0, 0 },
		{ split ? ".debug_abbrev.dwo" : ".debug_abbrev", SHT_PROGBITS, 0, 0, &w->abbrev, 0, 0, 0 },
		{ ".text", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, DWARF_TEXT, NULL, DWARF_TEXT_SIZE, 0, 0 },
	};
	struct bytes file = {0};
	char path[100];
	FILE *out;

	unit_end(w);
	put_elf(&file, &shape, sections, split ? 2 : 3);
	snprintf(path, sizeof(path), "%s/%s", testing_dir, name);
	out = fopen(path, "w");
	assert_non_null(out);
	assert_int_equal(fwrite(file.b.data, 1, file.b.len, out), file.b.len);
	assert_int_equal(fclose(out), 0);
	bytes_deinit(&file);
	dwarf_deinit(w);
}

/* A skeleton that says nothing of code: what the split unit says counts. */
static void test_split(void **state)
{
	const struct dwarf_shape shape = { .version = 4 };
	const uint64_t vaddr = DWARF_TEXT + 0x10;
	const struct symcache_build_options o = { .only = &vaddr, .num_only = 1 };
	struct symcache_frames frames;
	struct symcache_raw_frame f;
	struct sc_error err;
	struct built first;
	struct dwarf w;
	char path[100];

	(void)state;
	dwarf_init(&w, &shape);
	unit_begin(&w);
	compile_unit(&w, "a.c");
	attr(&w, DW_AT_GNU_dwo_id, DW_FORM_data8, 7);
	function(&w, "f", vaddr, vaddr + 0x10);
	children_end(&w);
	write_unit(&w, "x.dwo", true);
	dwarf_init(&w, &shape);
	unit_begin(&w);
	entry(&w, DW_TAG_compile_unit, false);
	attr_str(&w, DW_AT_GNU_dwo_name, "x.dwo");
	attr_str(&w, DW_AT_comp_dir, testing_dir);
	attr(&w, DW_AT_GNU_dwo_id, DW_FORM_data8, 7);
	write_unit(&w, "x", false);
	snprintf(path, sizeof(path), "%s/x", testing_dir);
	compare(path);
	assert_int_equal(first_build(path, &o, &first, &err), 0);
	assert_true(symcache_lookup(&first.cache, vaddr - symcache_load_base(&first.cache), &frames));
	assert_true(symcache_next_frame(&frames, &f));
	assert_int_equal(f.function.len, 1);
	assert_memory_equal(f.function.ptr, "f", 1);
	free(first.bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_scope_names),
		cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_codes),
		cmocka_unit_test(test_split),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}

/* Unit tests of opening ELF files: what the headers say, in each class and byte order,
 * and what is wrong with files that are not ELF. */
#include "libsymcache/elf/elf.h"

#include <elf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_bytes.h"

static const struct elf_shape shape_64 = { true, false, EM_X86_64, ET_DYN, 0x1000, 0x5000 };

/* Opens bytes as a file. */
static int open_bytes(const struct bytes *b, struct sc_elf **ret, struct sc_error *err)
{
	char path[32];
	int fd = testing_memfd(b->b.data, b->b.len, path);
	int rc = sc_elf_open(path, ret, err);

	close(fd);
	return rc;
}

static struct sc_elf *must_open(struct bytes *b)
{
	struct sc_error err = { .msg = "" };
	struct sc_elf *e;

	assert_int_equal(open_bytes(b, &e, &err), 0);
	bytes_deinit(b);
	return e;
}

/* By its path, by a descriptor, and as bytes. */
static void must_fail(struct bytes *b, int code, const char *why)
{
	struct sc_error err = { .msg = "" };
	struct sc_elf *const none = (void *)1, *e = none;
	char path[32];
	int fd = testing_memfd(b->b.data, b->b.len, path);

	assert_int_equal(sc_elf_open_fd(fd, path, &e, &err), code);
	assert_null(e);
	e = none;
	assert_int_equal(sc_elf_open_memory(memcpy(malloc(b->b.len + 1), b->b.data ? b->b.data : (uint8_t *)"", b->b.len),
					    b->b.len, path, &e, &err), SC_EFORMAT);
	assert_null(e);
	e = none;
	assert_int_equal(open_bytes(b, &e, &err), code);
	assert_null(e);
	if (!strstr(err.msg, why))
		fail_msg("'%s' does not say '%s'", err.msg, why);
	bytes_deinit(b);
}

static void put_note(struct bytes *o, const char *name, uint32_t type, const void *desc,
		     size_t size, unsigned align)
{
	put(o, 4, strlen(name) + 1);
	put(o, 4, size);
	put(o, 4, type);
	put_str(o, name);
	put(o, (unsigned)(-o->b.len & (align - 1)), 0);
	put_block(o, desc, size);
	put(o, (unsigned)(-o->b.len & (align - 1)), 0);
}

/* ---- what the headers say ----------------------------------------------------------- */

static void test_shapes(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct elf_shape shape = shape_64;
		struct bytes b = {0}, note = {0};
		struct elf_section sections[] = {
			{ .name = ".text", .type = SHT_PROGBITS, .flags = SHF_ALLOC | SHF_EXECINSTR,
			  .addr = 0x2000, .content = &note },
			{ .name = ".note.gnu.build-id", .type = SHT_NOTE, .flags = SHF_ALLOC,
			  .addr = 0x1200, .content = &note },
			{ .name = ".bss", .type = SHT_NOBITS, .flags = SHF_ALLOC, .addr = 0x4000,
			  .size = 0x800 },
			{ .name = ".tbss", .type = SHT_NOBITS, .flags = SHF_ALLOC | SHF_TLS,
			  .addr = 0x4800, .size = 0x800 },
		};
		struct sc_elf *e;

		shape.is_64 = i & 1;
		shape.big_endian = i & 2;
		shape.machine = shape.big_endian ? EM_MIPS : EM_386;
		note.big_endian = shape.big_endian;
		put_note(&note, "Other", NT_GNU_BUILD_ID, "xxxxxxx", 7, 4);
		put_note(&note, "GNU", NT_GNU_ABI_TAG, "yyyyyyyy", 8, 4);
		put_note(&note, "GNU", NT_GNU_BUILD_ID, "abcdefghijklm", 13, 4);
		put_note(&note, "GNU", NT_GNU_BUILD_ID, "second", 6, 4);
		put_elf(&b, &shape, sections, 4);
		bytes_deinit(&note);
		e = must_open(&b);
		assert_int_equal(e->is_64, shape.is_64);
		assert_int_equal(e->big_endian, shape.big_endian);
		assert_int_equal(e->machine, shape.machine);
		assert_int_equal(e->type, ET_DYN);
		assert_int_equal(e->load_base, 0x1000);
		assert_int_equal(e->load_end, 0x6000);
		assert_int_equal(e->build_id_len, 13);
		assert_memory_equal(e->build_id, "abcdefghijklm", 13);
		assert_int_equal(e->exec.list.len, 1);
		assert_int_equal(e->alloc.list.len, 3);
		assert_non_null(sc_elf_range_at(&e->exec, 0x2000));
		assert_null(sc_elf_range_at(&e->exec, 0x1200));
		assert_non_null(sc_elf_range_at(&e->alloc, 0x4000));
		assert_non_null(sc_elf_range_at(&e->alloc, 0x47ff));
		assert_null(sc_elf_range_at(&e->alloc, 0x4800)); /* thread-local */
		assert_null(sc_elf_range_at(&e->exec, 0));
		assert_null(sc_elf_range_at(&e->exec, UINT64_MAX));
		sc_elf_close(e);
	}
	sc_elf_close(NULL);
}

/* Sections that touch or overlap are one range; the end is not in it. */
static void test_ranges(void **state)
{
	struct bytes b = {0};
	struct elf_section s[] = {
		{ ".c", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x3000, NULL, 0x100, 0, 0 },
		{ ".a", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, NULL, 0x100, 0, 0 },
		{ ".b", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2100, NULL, 0x80, 0, 0 },
		{ ".in", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2010, NULL, 0x10, 0, 0 },
		{ ".wrap", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, UINT64_MAX - 9, NULL, 0x100, 0, 0 },
		{ ".empty", SHT_NOBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2800, NULL, 0, 0, 0 },
		{ ".noalloc", SHT_NOBITS, SHF_EXECINSTR, 0x9000, NULL, 0x100, 0, 0 },
	};
	struct sc_elf *e;

	(void)state;
	put_elf(&b, &shape_64, s, 7);
	e = must_open(&b);
	assert_int_equal(e->exec.list.len, 2);
	assert_int_equal(sc_elf_range_at(&e->exec, 0x2000)->end, 0x2180);
	assert_int_equal(sc_elf_range_at(&e->exec, 0x217f)->start, 0x2000);
	assert_null(sc_elf_range_at(&e->exec, 0x2180));
	assert_null(sc_elf_range_at(&e->exec, 0x1fff));
	assert_int_equal(sc_elf_range_at(&e->exec, 0x3000)->end, 0x3100);
	assert_null(sc_elf_range_at(&e->exec, UINT64_MAX - 5));
	sc_elf_close(e);
}

/* A second PT_LOAD below the first does not move the base; one that wraps
 * around the address space does not shrink the image. */
static void test_load_base(void **state)
{
	struct bytes b = {0};
	struct sc_elf *e;
	size_t ph = 64;

	(void)state;
	put_elf(&b, &shape_64, NULL, 0);
	/* Room for two more program headers: the table is moved to the end. */
	patch(&b, 32, 8, b.b.len);
	patch(&b, 56, 2, 3);
	vec_reserve(&b.b, 3 * 56);
	put_block(&b, b.b.data + ph, 56);
	put_block(&b, b.b.data + ph, 56);
	put_block(&b, b.b.data + ph, 56);
	ph = b.b.len - 2 * 56;
	patch(&b, ph + 16, 8, 0);               /* p_vaddr */
	patch(&b, ph + 56 + 16, 8, 0x3000);
	patch(&b, ph + 56 + 40, 8, UINT64_MAX); /* p_memsz */
	e = must_open(&b);
	assert_int_equal(e->load_base, 0x1000);
	assert_int_equal(e->load_end, 0x6000);
	sc_elf_close(e);

	put_elf(&b, &shape_64, NULL, 0);
	patch(&b, 64 + 40, 8, UINT64_MAX);
	e = must_open(&b);
	assert_int_equal(e->load_base, 0x1000);
	assert_int_equal(e->load_end, 0x1000);
	sc_elf_close(e);
}

/* A note of a segment counts, but not before that of a section. */
static void test_note_segment(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct bytes b = {0}, note = {0};
		struct elf_section s = { .name = ".n", .type = SHT_NOTE, .content = &note };
		struct sc_elf *e;
		size_t ph, at;

		put_note(&note, "GNU", NT_GNU_BUILD_ID, "section", 7, 4);
		put_elf(&b, &shape_64, &s, i);
		bytes_deinit(&note);
		at = b.b.len;
		put_note(&b, "GNU", NT_GNU_BUILD_ID, "segment", 7, 4);
		ph = b.b.len;
		patch(&b, 32, 8, ph);
		put(&b, 4, PT_NOTE);
		put(&b, 4, PF_R);
		put(&b, 8, at);
		put(&b, 16, 0);
		put(&b, 8, ph - at);
		put(&b, 8, ph - at);
		put(&b, 8, 4);
		e = must_open(&b);
		assert_int_equal(e->build_id_len, 7);
		assert_memory_equal(e->build_id, i ? "section" : "segment", 7);
		sc_elf_close(e);
	}
}

/* Without section headers, code is where segments are executable. */
static void test_no_sections(void **state)
{
	struct bytes b = {0};
	const uint8_t *data;
	struct sc_elf *e;
	uint8_t id[16];
	size_t size;

	(void)state;
	put_elf(&b, &shape_64, NULL, 0);
	patch(&b, 40, 8, 0); /* e_shoff */
	patch(&b, 60, 4, 0); /* e_shnum, e_shstrndx */
	e = must_open(&b);
	assert_int_equal(sc_elf_range_at(&e->exec, 0x1000)->end, 0x6000);
	assert_int_equal(sc_elf_section(e, ".text", &data, &size, NULL), SC_ENOTFOUND);
	assert_false(sc_elf_has(e, ".text"));
	assert_null(sc_elf_soname(e));
	sc_elf_fold_text(e, id);
	assert_memory_equal(id, "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 16);
	sc_elf_close(e);
}

/* Notes that are cut off, too large, empty, or aligned to 8. */
static void test_build_ids(void **state)
{
	static const struct {
		const char *name;
		uint32_t type;
		size_t size, found;
		unsigned align;
	} cases[] = {
		{ "GNU", NT_GNU_BUILD_ID, 20, 20, 4 },
		{ "GNU", NT_GNU_BUILD_ID, 20, 20, 8 },
		{ "GNU", NT_GNU_BUILD_ID, 1, 1, 4 },
		{ "GNU", NT_GNU_BUILD_ID, 64, 64, 4 },
		{ "GNU", NT_GNU_BUILD_ID, 65, 0, 4 },
		{ "GNU", NT_GNU_BUILD_ID, 0, 0, 4 },
		{ "GN", NT_GNU_BUILD_ID, 20, 0, 4 },
		{ "GNU", NT_GNU_BUILD_ID + 1, 20, 0, 4 },
	};
	static const char desc[65] =
		"0123456789012345678901234567890123456789012345678901234567890123";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct bytes note = {0}, b = {0};
		struct elf_section s = { .name = ".note", .type = SHT_NOTE, .content = &note };
		struct sc_elf *e;
		size_t align_at;

		put_note(&note, cases[i].name, cases[i].type, desc, cases[i].size, cases[i].align);
		put_elf(&b, &shape_64, &s, 1);
		align_at = b.b.len - 2 * 64 + 48;
		patch(&b, align_at, 8, cases[i].align);
		e = must_open(&b);
		assert_int_equal(e->build_id_len, cases[i].found);
		assert_memory_equal(e->build_id, desc, cases[i].found);
		sc_elf_close(e);
		/* Cut off anywhere, it is not read. */
		for (size_t cut = 1; cut < note.b.len && cases[i].size == 20; cut++) {
			struct bytes short_note = {0};

			put_block(&short_note, note.b.data, note.b.len - cut);
			s.content = &short_note;
			put_elf(&b, &shape_64, &s, 1);
			patch(&b, b.b.len - 2 * 64 + 48, 8, cases[i].align);
			e = must_open(&b);
			if (cut > 4) /* else it lacks padding alone */
				assert_int_equal(e->build_id_len, 0);
			sc_elf_close(e);
			bytes_deinit(&short_note);
		}
		bytes_deinit(&note);
	}
}

static void test_soname_and_fold(void **state)
{
	struct bytes strings = {0}, dynamic = {0}, text = {0}, b = {0};
	struct elf_section s[] = {
		{ ".dynstr", SHT_STRTAB, SHF_ALLOC, 0x1100, &strings, 0, 0, 0 },
		{ ".dynamic", SHT_DYNAMIC, SHF_ALLOC, 0x1200, &dynamic, 0, 1, 16 },
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x2000, &text, 0, 0, 0 },
	};
	uint8_t id[16], want[16] = {0};
	struct sc_elf *e;

	(void)state;
	put_str(&strings, "");
	put_str(&strings, "libthing.so.3");
	put(&dynamic, 8, DT_NEEDED);
	put(&dynamic, 8, 4);
	put(&dynamic, 8, DT_SONAME);
	put(&dynamic, 8, 1);
	put(&dynamic, 8, DT_NULL);
	put(&dynamic, 8, 0);
	for (unsigned i = 0; i < 5000; i++) {
		put(&text, 1, i * 7 / 3);
		if (i < 4096)
			want[i % 16] ^= (uint8_t)(i * 7 / 3);
	}
	put_elf(&b, &shape_64, s, 3);
	e = must_open(&b);
	assert_string_equal(sc_elf_soname(e), "libthing.so.3");
	sc_elf_fold_text(e, id);
	assert_memory_equal(id, want, 16);
	sc_elf_close(e);
	s[1].entsize = 0; /* then it is not known how many there are */
	put_elf(&b, &shape_64, s, 3);
	e = must_open(&b);
	assert_null(sc_elf_soname(e));
	sc_elf_close(e);
	bytes_deinit(&strings);
	bytes_deinit(&dynamic);
	bytes_deinit(&text);
}

/* ---- files that are not ELF ---------------------------------------------------------------- */

static void test_no_elf(void **state)
{
	struct bytes b = {0};
	struct sc_error err;
	struct sc_elf *e;
	char dir[] = "/tmp/elf_test.XXXXXX", fifo[64];

	(void)state;
	assert_int_equal(sc_elf_open("/nonexistent/x", &e, &err), SC_ESYS);
	assert_non_null(strstr(err.msg, "/nonexistent/x: "));
	assert_non_null(strstr(err.msg, strerror(ENOENT)));
	assert_int_equal(sc_elf_open("/", &e, &err), SC_ESYS);
	assert_non_null(strstr(err.msg, strerror(EISDIR)));
	assert_int_equal(sc_elf_open("/dev/null", &e, &err), SC_ESYS);
	assert_non_null(mkdtemp(dir));
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(sc_elf_open(fifo, &e, &err), SC_ESYS);
	unlink(fifo);
	rmdir(dir);
	assert_int_equal(sc_elf_open("/nonexistent/x", &e, NULL), SC_ESYS);

	must_fail(&b, SC_EFORMAT, "empty");
	put_str(&b, "a text file, and not even a long one");
	must_fail(&b, SC_EFORMAT, "not an ELF file");
	put_block(&b, "!<arch>\n", 8);
	must_fail(&b, SC_EFORMAT, "not an ELF file");
	put_block(&b, ELFMAG "\2\1\1", 7);
	must_fail(&b, SC_EFORMAT, "cut off");
}

static void test_outside(void **state)
{
	struct bytes b = {0}, text = {0};
	struct elf_section s = { ".debug_line", SHT_PROGBITS, 0, 0, &text, 0, 0, 0 };
	struct sc_elf *e;
	const uint8_t *data;
	size_t size;

	(void)state;
	put_str(&text, "some bytes");
	put_elf(&b, &shape_64, &s, 1);
	patch(&b, 40, 8, b.b.len - 10);
	must_fail(&b, SC_EFORMAT, "section headers");
	put_elf(&b, &shape_64, &s, 1);
	patch(&b, 40, 8, UINT64_MAX - 100);
	must_fail(&b, SC_EFORMAT, "section headers");
	put_elf(&b, &shape_64, &s, 1);
	patch(&b, 32, 8, UINT64_MAX - 10);
	must_fail(&b, SC_EFORMAT, "program headers");
	put_elf(&b, &shape_64, &s, 1);
	patch(&b, b.b.len - 2 * 64 + 24, 8, UINT64_MAX - 4); /* sh_offset */
	must_fail(&b, SC_EFORMAT, "cut off: section 1");
	put_elf(&b, &shape_64, &s, 1);
	patch(&b, b.b.len - 2 * 64 + 32, 8, UINT64_MAX - 4); /* sh_size */
	must_fail(&b, SC_EFORMAT, "cut off: section 1");

	/* A null section has no bytes, whatever its header says. */
	put_elf(&b, &shape_64, &s, 1);
	patch(&b, b.b.len - 2 * 64 + 4, 4, SHT_NULL);
	patch(&b, b.b.len - 2 * 64 + 24, 8, 1ull << 40);
	e = must_open(&b);
	assert_false(sc_elf_has(e, ".debug_line"));
	assert_int_equal(sc_elf_section(e, ".debug_line", &data, &size, NULL), SC_ENOTFOUND);
	assert_null(data);
	sc_elf_close(e);
	bytes_deinit(&text);
}

/* Cut off at every byte: never more than an error. */
static void test_truncated(void **state)
{
	struct bytes b = {0}, text = {0};
	struct elf_section s[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC, 0x2000, &text, 0, 0, 0 },
		{ ".note", SHT_NOTE, SHF_ALLOC, 0x2100, &text, 0, 0, 0 },
	};

	(void)state;
	put_note(&text, "GNU", NT_GNU_BUILD_ID, "0123456789", 10, 4);
	for (int i = 0; i < 2; i++) {
		struct elf_shape shape = shape_64;

		shape.is_64 = i;
		put_elf(&b, &shape, s, 2);
		for (size_t n = 0; n < b.b.len; n++) {
			struct bytes cut = {0};

			put_block(&cut, b.b.data, n);
			must_fail(&cut, SC_EFORMAT, n < 4 ? "" : "cut off");
		}
		bytes_deinit(&b);
	}
	bytes_deinit(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes), cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_load_base),
		cmocka_unit_test(test_note_segment),
		cmocka_unit_test(test_no_sections),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_soname_and_fold),
		cmocka_unit_test(test_no_elf),
		cmocka_unit_test(test_outside),
		cmocka_unit_test(test_truncated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

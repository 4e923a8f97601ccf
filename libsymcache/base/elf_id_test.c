/* Build IDs of made files of both classes: what is taken for one that is none, finds another program's
 * cache. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "libsymcache/base/elf_id.h"

enum { START = 64, NOTES = 400 };

struct image {
	uint8_t bytes[1024];
	size_t size;
};

static bool read_image(void *ctx, uint64_t at, void *to, size_t bytes)
{
	const struct image *m = ctx;

	if (at > m->size || bytes > m->size - at)
		return false;
	memcpy(to, m->bytes + at, bytes);
	return true;
}

/* Notes, each as owner, type, and length of its content, whose bytes count from 1. */
struct note {
	const char *owner;
	uint32_t type, content;
};

static size_t put_notes(uint8_t *to, const struct note *notes, size_t n)
{
	size_t at = 0;

	for (size_t i = 0; i < n && notes[i].owner; i++) {
		const uint32_t head[3] = { (uint32_t)strlen(notes[i].owner) + 1, notes[i].content, notes[i].type };

		memcpy(to + at, head, 12);
		memcpy(to + at + 12, notes[i].owner, head[0]);
		at += 12 + ((head[0] + 3) & ~3u);
		for (uint32_t k = 0; k < notes[i].content; k++)
			to[at + k] = (uint8_t)(k + 1);
		at += (notes[i].content + 3) & ~3u;
	}
	return at;
}

#define ID(n) { "GNU", NT_GNU_BUILD_ID, n }

static void test_ids(void **state)
{
	static const struct { struct note notes[4]; size_t cut, len; } cases[] = {
		{ { ID(20) }, 0, 20 }, { { ID(1) }, 0, 1 }, { { ID(64) }, 0, 64 }, { { ID(65) }, 0, 0 }, { { ID(0) }, 0, 0 },
		{ { { "GNU", NT_GNU_ABI_TAG, 16 }, ID(20) }, 0, 20 },
		{ { { "stapsdt", NT_GNU_BUILD_ID, 7 }, { "FDO", NT_GNU_BUILD_ID, 9 }, ID(8) }, 0, 8 },
		{ { { "GNU", NT_GNU_ABI_TAG, 16 } }, 0, 0 }, { { { "GNUx", NT_GNU_BUILD_ID, 16 } }, 0, 0 },
		{ { { "", NT_GNU_BUILD_ID, 16 } }, 0, 0 }, { { ID(8), ID(20) }, 0, 8 }, { { ID(0), ID(20) }, 0, 20 },
		{ { ID(20) }, 1, 0 },                             /* the image ends within it */
	};

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(*cases); i++) {
		const bool wide = i % 2;
		struct image m = { .size = 0 };
		const size_t size = put_notes(m.bytes + START + NOTES, cases[i / 2].notes, 4);
		uint8_t id[SYMCACHE_BUILD_ID_MAX], want[SYMCACHE_BUILD_ID_MAX];
		size_t len;

		m.size = START + NOTES + size - cases[i / 2].cut;
		if (wide) {
			const Elf64_Phdr headers[] = { { .p_type = PT_LOAD, .p_offset = 0, .p_filesz = 9 },
						       { .p_type = PT_NOTE, .p_offset = NOTES, .p_filesz = 0 },
						       { .p_type = PT_NOTE, .p_offset = NOTES, .p_filesz = size } };

			memcpy(m.bytes + START, &(Elf64_Ehdr){ .e_ident = ELFMAG "\2\1\1", .e_phoff = 100, .e_phnum = 3,
								.e_phentsize = sizeof(*headers) }, sizeof(Elf64_Ehdr));
			memcpy(m.bytes + START + 100, headers, sizeof(headers));
		} else {
			const Elf32_Phdr headers[] = { { .p_type = PT_LOAD, .p_offset = 0, .p_filesz = 9 },
						       { .p_type = PT_NOTE, .p_offset = NOTES, .p_filesz = 0 },
						       { .p_type = PT_NOTE, .p_offset = NOTES, .p_filesz = (Elf32_Word)size } };

			memcpy(m.bytes + START, &(Elf32_Ehdr){ .e_ident = ELFMAG "\1\1\1", .e_phoff = 100, .e_phnum = 3,
								.e_phentsize = sizeof(*headers) }, sizeof(Elf32_Ehdr));
			memcpy(m.bytes + START + 100, headers, sizeof(headers));
		}
		for (size_t k = 0; k < sizeof(want); k++)
			want[k] = (uint8_t)(k + 1);
		len = sc_elf_build_id(read_image, &m, START, id);
		if (len != cases[i / 2].len)
			fail_msg("case %zu of %d bits: %zu", i / 2, wide ? 64 : 32, len);
		assert_memory_equal(id, want, len);
		/* One program header fewer, of another size, and of another byte order. */
		m.bytes[START + (wide ? 56 : 44)] = 2;
		assert_int_equal(sc_elf_build_id(read_image, &m, START, id), 0);
		m.bytes[START + (wide ? 56 : 44)] = 3;
		m.bytes[START + (wide ? 54 : 42)]++;
		assert_int_equal(sc_elf_build_id(read_image, &m, START, id), 0);
		m.bytes[START + (wide ? 54 : 42)]--;
		m.bytes[START + EI_DATA] ^= 3;
		assert_int_equal(sc_elf_build_id(read_image, &m, START, id), 0);
	}
}

/* A file of 2,000 program headers, one of which has a note. */
static bool read_many(void *ctx, uint64_t at, void *to, size_t bytes)
{
	const Elf64_Ehdr first = { .e_ident = ELFMAG "\2\1\1", .e_phoff = 64, .e_phnum = 2000,
				   .e_phentsize = sizeof(Elf64_Phdr) };
	const bool is_it = (at - 64) / sizeof(Elf64_Phdr) == *(unsigned *)ctx;
	const Elf64_Phdr header = { .p_type = is_it ? PT_NOTE : PT_LOAD, .p_offset = 1 << 20, .p_filesz = 20 };
	uint8_t notes[100];

	put_notes(notes, &(struct note)ID(4), 1);
	memcpy(to, at < 64 ? (const void *)&first : at < 1 << 20 ? (const void *)&header :
	       notes + (at - (1 << 20)), bytes);
	return true;
}

/* The first 1,024 program headers are looked at. */
static void test_many(void **state)
{
	static const unsigned at[] = { 0, 1, 1022, 1023, 1024, 1025, 1999 };
	uint8_t id[SYMCACHE_BUILD_ID_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		assert_int_equal(sc_elf_build_id(read_many, (void *)&at[i], 0, id), at[i] < 1024 ? 4 : 0);
}

/* 2,000 notes without an owner, one of which is a build ID. */
static bool read_notes(void *ctx, uint64_t at, void *to, size_t bytes)
{
	const uint32_t other[4] = { 0, 4, 7, 0 };
	const size_t mine = 16 * *(const unsigned *)ctx;
	uint8_t notes[100];

	if (bytes == 4)
		bytes = put_notes(notes, &(struct note)ID(4), 1) - 16, memcpy(to, notes + 16, bytes);
	else
		memcpy(to, at == mine && put_notes(notes, &(struct note)ID(4), 1) ? (const void *)notes :
		       (const void *)other, bytes);
	return true;
}

/* The first 1,024 notes are looked at. */
static void test_many_notes(void **state)
{
	static const unsigned at[] = { 0, 1, 1023, 1024, 1999 };
	uint8_t id[SYMCACHE_BUILD_ID_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++)
		assert_int_equal(sc_notes_build_id(read_notes, (void *)&at[i], 0, 16 * 2000, id), at[i] < 1024 ? 4 : 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_ids), cmocka_unit_test(test_many),
					   cmocka_unit_test(test_many_notes) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Where a core file or a minidump has which field: for the fuzz target and for tests. */
#ifndef SC_CORE_TESTING_FIELDS_H
#define SC_CORE_TESTING_FIELDS_H

#include <elf.h>

#include "libsymcache/base/testing_fields.h"

static inline void add_note_fields(struct fields *f, uint64_t at, uint64_t size)
{
	const uint64_t end = size > f->size || at > f->size - size ? f->size : at + size;

	while (at + 12 <= end && f->num < FIELDS_MAX) {
		const uint64_t name = fields_add(f, at, 4), bytes = fields_add(f, at + 4, 4);
		const uint64_t desc = at + 12 + ((name + 3) & ~(uint64_t)3);

		fields_add(f, at + 8, 4);
		fields_run(f, desc, 8, bytes < 512 ? bytes / 8 : 64);
		at = desc + ((bytes + 3) & ~(uint64_t)3);
	}
}

/* Of the first page of a module: its header, and the numbers that its headers, notes and the dynamic
 * linker's list consist of. */
static inline void add_page_fields(struct fields *f, uint64_t at, uint64_t size)
{
	static const uint8_t elf[] = ELFMAG;

	if (at > f->size || f->size - at < 64 || memcmp(f->data + at, elf, SELFMAG))
		return;
	fields_run(f, at, 4, 4);
	fields_run(f, at + 16, 4, 9);
	fields_run(f, at + 52, 2, 6);
	for (uint64_t i = 64; i + 4 <= size && i < 4096; i += 4)
		if (fields_get(f, at + i, 4))
			fields_add(f, at + i, 4);
}

static inline void add_core_fields(struct fields *f)
{
	const bool is_64 = f->data[EI_CLASS] == ELFCLASS64;
	const uint32_t w = is_64 ? 8 : 4;
	const uint64_t headers = fields_add(f, is_64 ? 32 : 28, w);
	const uint64_t n = fields_add(f, is_64 ? 56 : 44, 2);

	fields_run(f, 16, 2, 2);
	fields_add(f, is_64 ? 40 : 32, w);
	fields_run(f, is_64 ? 52 : 40, 2, 6);
	for (uint64_t i = 0; i < n && i < 64; i++) {
		const uint64_t at = headers + i * (is_64 ? 56 : 32), place = at + (is_64 ? 8 : 4);
		const uint64_t offset = fields_get(f, place, w), size = fields_get(f, place + 3 * w, w);

		fields_run(f, at, 4, is_64 ? 2 : 1);
		fields_run(f, place, w, is_64 ? 6 : 7);
		if (fields_get(f, at, 4) == PT_NOTE)
			add_note_fields(f, offset, size);
		else
			add_page_fields(f, offset, size);
	}
}

static inline void add_minidump_fields(struct fields *f)
{
	const uint64_t n = fields_add(f, 8, 4), directory = fields_add(f, 12, 4);

	for (uint64_t i = 0; i < n && i < 64; i++) {
		const uint64_t at = directory + 12 * i, size = fields_add(f, at + 4, 4);

		fields_add(f, at, 4);
		fields_run(f, fields_add(f, at + 8, 4), 4, size < 1024 ? size / 4 : 256);
	}
}

static inline void core_fields(struct fields *f)
{
	if (f->size > 64 && !memcmp(f->data, ELFMAG, SELFMAG))
		add_core_fields(f);
	else if (f->size > 32 && !memcmp(f->data, "MDMP", 4))
		add_minidump_fields(f);
}

#endif

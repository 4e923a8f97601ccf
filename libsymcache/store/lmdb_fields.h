/* lmdb_fields.h: the fields of an LMDB file, for fuzz targets. */
#ifndef SYMSTORE_LMDB_FIELDS_H
#define SYMSTORE_LMDB_FIELDS_H

#include "libsymcache/base/testing_fields.h"

enum { LMDB_PAGE = 4096, LMDB_HEADER = 16 };

/* A page of a tree: its header, the places of its nodes, the nodes, and what small values begin
 * with: records of trees and of entries. */
static inline void lmdb_page_fields(struct fields *f, uint64_t page)
{
	const uint64_t lower = fields_get(f, page + 12, 2);
	const bool sound = lower > LMDB_HEADER && lower <= LMDB_PAGE;
	const uint64_t nodes = sound ? (lower - LMDB_HEADER) / 2 : 0;

	fields_add(f, page, 8);
	fields_run(f, page + 8, 2, 4);
	for (uint64_t i = 0; i < nodes && f->num < FIELDS_MAX; i++) {
		const uint64_t node = page +
				      fields_add(f, page + LMDB_HEADER + 2 * i, 2) % LMDB_PAGE;
		const uint64_t value = node + 8 + fields_get(f, node + 6, 2);

		fields_run(f, node, 2, 4);
		fields_run(f, value, 8, 12);
	}
}

/* Both meta pages, which have trees of free pages and of names, and the first pages behind them. */
static inline void lmdb_fields(struct fields *f)
{
	for (uint64_t page = 0; page < 2; page++) {
		fields_run(f, page * LMDB_PAGE + 8, 2, 4);
		fields_run(f, page * LMDB_PAGE + LMDB_HEADER, 4, 2);
		fields_run(f, page * LMDB_PAGE + LMDB_HEADER + 8, 8, 16);
	}
	for (uint64_t page = 2; page < 32 && page * LMDB_PAGE < f->size; page++)
		lmdb_page_fields(f, page * LMDB_PAGE);
}

#endif

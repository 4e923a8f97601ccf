/*
 * All units of a file → flat ranges, variables and tables, on one core or many.
 * What comes out does not depend on the number of threads.
 */
#ifndef SC_UNITS_H
#define SC_UNITS_H

#include "libsymcache/base/error.h"
#include "libsymcache/dwarf/entries.h"
#include "libsymcache/dwarf/line_span.h"
#include "libsymcache/dwarf/reader.h"
#include "libsymcache/write/flatten/flatten.h"
#include "libsymcache/write/image/data.h"
#include "libsymcache/write/input/kept.h"

struct sc_units {
	struct sc_tables tables;
	struct sc_flat flat;
	struct sc_data data;
	uint64_t count;     /* units read */
	uint64_t bad;       /* of them broken */
	uint64_t entries, rows; /* read in them */
	uint64_t facts;         /* rows, scopes, ranges and variables */
	struct sc_error first_fault; /* of the broken one that comes first */
	size_t first_bad;            /* its number */
	bool too_early; /* something was given back that would have been needed */
};

void sc_units_deinit(struct sc_units *u);

/* Adds what another thread found to `to`, in the numbers of `to`; its ranges stay in their own,
 * with a translation. False: out of memory. */
bool sc_units_add(struct sc_units *to, struct sc_units *from);

/* Where units come from. */
struct sc_unit_source {
	struct dw_debug *debug;
	/* dw_abbrevs_self_contained(), and no type units: the headers need not be read yet. */
	bool self_contained;
	/* NULL: .debug_info is there. Else it is still being inflated: sc_elf_stream_more().
	 * If that says that it is damaged, there are no units. */
	size_t (*more)(void *ctx, size_t done);
	void *ctx;
	/* All units are read, and what the threads found is about to be joined: the sections that
	 * hold no strings have served and may go. */
	void (*all_read)(void *input);
	void *input;
	/* The units that these addresses need are read, the others are passed over; NULL: all. */
	const struct dw_wanted *wanted;
	/* .debug_line is given back behind the units that were read. If a unit wants what was given
	 * back already, all is in vain: too_early. For self-contained units alone. */
	bool drop_lines;
	/* NULL: .debug_str is there. Else those of its pages come, when all units were looked at, that
	 * the ones to be read ask for (debug->sections.str_pages); of .debug_info these are kept. False:
	 * out of memory, or .debug_str is damaged. For self-contained units alone. */
	bool (*fetch_names)(void *input, const struct sc_kept *units);
};

/*
 * With the fast reader. `env` says all but the tables. SC_ENOMEM; SC_ELIMIT: the units have
 * more facts than a file of this size; SC_EFORMAT: ret->too_early.
 */
int sc_units_scan(const struct sc_unit_source *source, const struct sc_flatten_env *env,
		  unsigned threads, struct sc_units *ret, struct sc_error *err);

/* What `next` gives, a unit a call, until SC_ENOTFOUND: with the slow reader, the oracle, and of Go's
 * table. After SC_EFORMAT it goes on behind the unit. SC_ENOMEM; SC_ELIMIT as it comes. */
int sc_units_each(int (*next)(void *ctx, struct dw_facts *ret, struct sc_error *err), void *ctx,
		  const struct sc_flatten_env *env, struct sc_units *ret, struct sc_error *err);

#endif

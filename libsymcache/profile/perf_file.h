/*
 * perf_file.h: what is in perf.data: events, records in the order of their times, build IDs. Of
 * files and of pipes (perf record -o -), with records that zstd packed; little-endian.
 *
 * Debian has no library that reads it. Described in perf.data-file-format.txt and
 * linux/perf_event.h.
 */
#ifndef SC_PROFILE_PERF_FILE_H
#define SC_PROFILE_PERF_FILE_H

#include "libsymcache/archive/inflate.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/dwarf/cursor.h"
#include "libsymcache/profile/pprof.h"
#include "libsymcache/profile/texts.h"

enum { PERF_EVENTS_MAX = 256 };

/* Bits of sample_type. */
enum {
	PERF_IP = 1, PERF_TID = 2, PERF_TIME = 4, PERF_ADDR = 8, PERF_READ = 16, PERF_CALLCHAIN = 32,
	PERF_ID = 64, PERF_CPU = 128, PERF_PERIOD = 256, PERF_STREAM_ID = 512, PERF_RAW = 1024,
	PERF_BRANCH_STACK = 2048, PERF_REGS_USER = 4096, PERF_STACK_USER = 8192,
	PERF_IDENTIFIER = 1 << 16,
};

/* Types of records. */
enum {
	PERF_MMAP = 1, PERF_COMM = 3, PERF_FORK = 7, PERF_SAMPLE = 9, PERF_MMAP2 = 10,
};

struct perf_event {
	uint64_t period; /* 1 unless it is fixed */
	uint64_t sample_type, read_format, flags, branch_type, regs;
	uint32_t type;
	uint64_t config;
	char name[64];
};

struct perf_record {
	uint64_t time; /* 0: it has none */
	uint64_t at;   /* where it is: see perf_bytes() */
};

struct perf_id { /* a build ID */
	uint8_t bytes[SYMCACHE_BUILD_ID_MAX];
	size_t len;
};

/* All zero at first; what is in it serves for the next file. */
struct perf_file {
	struct prof_input in;
	struct symcache_inflate *inflate;
	struct prof_bytes inflated;
	size_t parsed;                 /* of `inflated`: whole records */
	VEC(struct perf_event) events;
	struct prof_ids ids;          /* ids of events, and which: */
	VEC(uint32_t) event_of;
	VEC(struct perf_record) records; /* by time; equal times in the file's order */
	struct prof_texts names;       /* of files whose build IDs are known: */
	VEC(struct perf_id) id_of;
	char arch[16];                 /* of the machine, "x86_64"; "": unknown */
};

/* SC_EFORMAT, SC_EUNSUPPORTED, SC_ELIMIT, SC_ENOMEM. */
int perf_file_read(struct perf_file *f, const struct prof_input *in, struct sc_error *err);
void perf_file_deinit(struct perf_file *f);

/* The build ID of a file by its name; NULL: unknown. */
const struct perf_id *perf_file_id(const struct perf_file *f, struct sc_str name);

/* ---- bytes of a record ---------------------------------------------------------------------- */

/* Its bytes, `*size` of them; at least 8. */
const uint8_t *perf_bytes(const struct perf_file *f, uint64_t at, size_t *size);

/* The files are little-endian. */
static inline struct dw_cursor perf_cursor_of(const uint8_t *bytes, size_t size, size_t from)
{
	return dw_cursor_at(&(struct dw_section){ bytes, size }, from,
			    __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__);
}

/* The next n bytes; NULL: there are not so many. */
static inline const uint8_t *perf_take(struct dw_cursor *c, uint64_t n)
{
	const uint8_t *p = c->p;

	dw_skip(c, n);
	return c->bad ? NULL : p;
}

/* What is left up to a NUL. */
static inline struct sc_str perf_string(struct dw_cursor *c)
{
	const size_t left = (size_t)(c->end - c->p);
	const void *nul = left ? memchr(c->p, 0, left) : NULL;
	const struct sc_str s = { (const char *)c->p, nul ? (size_t)((const uint8_t *)nul - c->p) :
							    left };

	c->p = c->end;
	return s;
}

/* ---- samples --------------------------------------------------------------------------------- */

struct perf_sample {
	uint32_t event;
	uint32_t pid, tid;
	uint64_t ip, period;
	const uint8_t *chain;   /* num_chain words; NULL: none */
	uint64_t num_chain;
	uint64_t abi;           /* of the registers; 0: there are none */
	const uint8_t *regs;    /* words, one for each bit of the event's `regs` */
	const uint8_t *stack;   /* stack_size bytes from the stack pointer up */
	uint64_t stack_size;
	bool guest;             /* `ip` is of a guest */
};

/* False: it is cut off, or of no event. */
bool perf_read_sample(const struct perf_file *f, const uint8_t *bytes, size_t size,
		      struct perf_sample *ret);

/* The time of a record; 0: it has none. */
uint64_t perf_time_of(const struct perf_file *f, const uint8_t *bytes, size_t size);

/* ---- perf_header.c: what stands once in a file, in records of a pipe, or both ---------------- */

/* SC_EFORMAT: what is wrong, and where. */
int perf_bad(const struct perf_file *f, const uint8_t *where, const char *why,
	     struct sc_error *err);

/* An event, by its struct perf_event_attr, and its ids. SC_EFORMAT, SC_ELIMIT, SC_ENOMEM. */
int perf_add_event(struct perf_file *f, const uint8_t *attr, size_t size, struct dw_cursor ids,
		   struct sc_error *err);

/* The name of an event, of a pipe. */
void perf_read_update(struct perf_file *f, const uint8_t *bytes, size_t size);

/* The build ID of a file; or a record that has it. SC_EFORMAT, SC_ENOMEM. */
int perf_add_id(struct perf_file *f, struct sc_str name, const uint8_t *id, size_t len,
		struct sc_error *err);
int perf_read_id(struct perf_file *f, const uint8_t *bytes, size_t size, struct sc_error *err);

/* A feature. SC_EFORMAT, SC_ENOMEM. */
int perf_read_feature(struct perf_file *f, unsigned feature, struct dw_cursor c,
		      struct sc_error *err);

#endif

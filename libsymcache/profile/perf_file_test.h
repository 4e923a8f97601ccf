/* For tests: perf.data, record by record, as a file or as a pipe's. */
#ifndef SC_PROFILE_PERF_FILE_TEST_H
#define SC_PROFILE_PERF_FILE_TEST_H

#include "libsymcache/profile/perf_file.h"
#include "libsymcache/profile/testing.h"

enum { PID = 7, CHILD = 8 };

#define SAMPLE_TYPE \
	(PERF_IDENTIFIER | PERF_IP | PERF_TID | PERF_TIME | PERF_PERIOD | PERF_CALLCHAIN | \
	 PERF_REGS_USER | PERF_STACK_USER)

static inline size_t begin_record(struct bytes *b, unsigned type, unsigned misc)
{
	const size_t at = put(b, 4, type);

	put(b, 2, misc);
	put(b, 2, 0);
	return at;
}

static inline void end_record(struct bytes *b, size_t at)
{
	patch(b, at + 6, 2, b->b.len - at);
}

static inline void put_padded(struct bytes *b, const char *text)
{
	put_str(b, text);
	put(b, (unsigned)(-b->b.len & 7), 0);
}

/* What ends records other than samples. */
static inline void put_id(struct bytes *b, uint32_t pid, uint64_t time)
{
	put(b, 4, pid);
	put(b, 4, pid);
	put(b, 8, time);
	put(b, 8, 100); /* the id of the first event */
}

static inline void put_mmap(struct bytes *b, uint32_t pid, uint64_t time, uint64_t start, uint64_t len,
		     uint64_t offset, const char *name)
{
	const size_t at = begin_record(b, PERF_MMAP2, 0);

	put(b, 4, pid);
	put(b, 4, pid);
	put(b, 8, start);
	put(b, 8, len);
	put(b, 8, offset);
	put(b, 16, 0);
	put(b, 8, 0);
	put(b, 4, 5); /* PROT_READ | PROT_EXEC */
	put(b, 4, 0);
	put_padded(b, name);
	put_id(b, pid, time);
	end_record(b, at);
}

static inline void put_comm(struct bytes *b, uint32_t pid, uint64_t time, bool exec, const char *name)
{
	const size_t at = begin_record(b, PERF_COMM, exec ? 1 << 13 : 0);

	put(b, 4, pid);
	put(b, 4, pid);
	put_padded(b, name);
	put_id(b, pid, time);
	end_record(b, at);
}

static inline void put_fork(struct bytes *b, uint64_t time)
{
	const size_t at = begin_record(b, PERF_FORK, 0);

	put(b, 4, CHILD);
	put(b, 4, PID);
	put(b, 4, CHILD);
	put(b, 4, PID);
	put(b, 8, time);
	put_id(b, PID, time);
	end_record(b, at);
}

/* A sample of event 100 or 200; `stack` words from the stack pointer 0x5000 up, with the frame
 * pointer at the first of them, if there are any. */
static inline void put_sample(struct bytes *b, uint32_t pid, uint64_t id, uint64_t time,
		       const uint64_t *chain, size_t num_chain, const uint64_t *stack,
		       size_t num_stack)
{
	const size_t at = begin_record(b, PERF_SAMPLE, 2);

	put(b, 8, id);
	put(b, 8, num_chain ? chain[num_chain - 1] : 0);
	put(b, 4, pid);
	put(b, 4, pid);
	put(b, 8, time);
	put(b, 8, id); /* the period, too */
	put(b, 8, num_chain);
	for (size_t i = 0; i < num_chain; i++)
		put(b, 8, chain[i]);
	put(b, 8, num_stack ? 2 : 0); /* PERF_SAMPLE_REGS_ABI_64 */
	if (num_stack) { /* BP, SP, IP */
		put(b, 8, 0x5000);
		put(b, 8, 0x5000);
		put(b, 8, 0x7150);
	}
	put(b, 8, num_stack * 8);
	for (size_t i = 0; i < num_stack; i++)
		put(b, 8, stack[i]);
	if (num_stack)
		put(b, 8, num_stack * 8);
	end_record(b, at);
}

static inline void put_attr(struct bytes *b, uint64_t config)
{
	const size_t at = b->b.len;

	put(b, 4, 1); /* PERF_TYPE_SOFTWARE */
	put(b, 4, 96);
	put(b, 8, config);
	put(b, 8, 4000);
	put(b, 8, SAMPLE_TYPE);
	put(b, 8, 0);
	put(b, 8, 1 << 18 | 1 << 10); /* sample_id_all, freq */
	put(b, 16, 0);
	put(b, 16, 0);
	put(b, 8, 1 << 6 | 1 << 7 | 1 << 8);
	put(b, 16 - (unsigned)((b->b.len - at) & 15), 0);
	b->b.len = at + 96;
}

/* Records as a file, or as a pipe's. */
static inline void wrap(struct bytes *out, const struct bytes *records, bool pipe)
{
	enum { HEADER = 104, IDS = 2 * (96 + 16) };

	put_block(out, "PERFILE2", 8);
	put(out, 8, pipe ? 16 : HEADER);
	for (unsigned i = 0; pipe && i < 2; i++) {
		const size_t at = begin_record(out, 64, 0);

		put_attr(out, i);
		put(out, 8, 100 * (i + 1));
		end_record(out, at);
	}
	if (pipe) {
		const size_t at = begin_record(out, 80, 0);

		put(out, 8, 6); /* HEADER_ARCH */
		put(out, 4, 8);
		put_block(out, "x86_64\0\0", 8);
		put(out, 4, 0);
		end_record(out, at);
		put_block(out, records->b.data, records->b.len);
		return;
	}
	put(out, 8, 96 + 16);
	put(out, 8, HEADER);
	put(out, 8, IDS);
	put(out, 8, HEADER + IDS + 16);
	put(out, 8, records->b.len);
	put(out, 16, 0);
	put(out, 8, 1 << 6); /* features: the machine */
	put(out, 16, 0);
	put(out, 8, 0);
	for (unsigned i = 0; i < 2; i++) {
		put_attr(out, i);
		put(out, 8, HEADER + IDS + 8 * i);
		put(out, 8, 8);
	}
	put(out, 8, 100);
	put(out, 8, 200);
	put_block(out, records->b.data, records->b.len);
	put(out, 8, out->b.len + 16);
	put(out, 8, 12);
	put(out, 4, 8);
	put_block(out, "x86_64\0\0", 8);
}

/* Markers in chains. */
#define USER ((uint64_t)-512)
#define KERNEL ((uint64_t)-128)

#endif

/* Minidumps under construction, for this room's tests. */
#ifndef SC_CORE_MADE_DUMP_TEST_H
#define SC_CORE_MADE_DUMP_TEST_H

#include "libsymcache/core/testing.h"

enum { THREADS = 3, MODULES = 4, MEMORY = 5, EXCEPTION = 6, SYSTEM = 7, MEMORY_64 = 9, MISC = 15,
       KINDS = 16, NAMES = 24, STATUS = 0x47670004, COMMAND = 0x47670006, MAPS = 0x47670009 };

/* A minidump under construction: the directory has room for 16 streams. */
struct dump {
	struct bytes b;
	unsigned streams;
};

static inline void begin(struct dump *d)
{
	*d = (struct dump){ .streams = 0 };
	put_block(&d->b, "MDMP", 4);
	put(&d->b, 4, 0xa793);
	put(&d->b, 4, 16);
	put(&d->b, 4, 32);
	put(&d->b, 16, 0);
	for (int i = 0; i < 16; i++)
		put(&d->b, 12, 0);
}

/* The stream that begins at `at` ends here. */
static inline void stream(struct dump *d, uint32_t kind, size_t at)
{
	const size_t entry = 32 + 12 * d->streams++;

	patch(&d->b, entry, 4, kind);
	patch(&d->b, entry + 4, 4, d->b.b.len - at);
	patch(&d->b, entry + 8, 4, at);
}

static inline void put_system(struct dump *d, uint16_t processor, uint32_t platform)
{
	const size_t at = put(&d->b, 2, processor);

	put(&d->b, 10, 0);
	put(&d->b, 8, 0);
	put(&d->b, 4, platform);
	stream(d, SYSTEM, at);
}

/* The registers of x86-64: pc, and the stack pointer. */
static inline size_t put_context(struct dump *d, uint64_t pc, uint64_t sp)
{
	const size_t at = d->b.b.len;

	for (int i = 0; i < 16; i++)
		put(&d->b, 16, 0);
	patch(&d->b, at + 248, 8, pc);
	patch(&d->b, at + 120 + 4 * 8, 8, sp);
	return at;
}

/* A list of one thread, with `stack` bytes of stack at 0x7000 that begin with "stack". */
static inline void put_threads(struct dump *d, uint32_t tid, uint64_t pc, uint32_t stack)
{
	const size_t context = put_context(d, pc, 0x7000), bytes = d->b.b.len;
	size_t at;

	put_block(&d->b, "stack", 5);
	at = put(&d->b, 4, 1);
	put(&d->b, 4, tid);
	put(&d->b, 16, 0);
	put(&d->b, 4, 0);
	put(&d->b, 8, 0x7000);
	put(&d->b, 4, stack);
	put(&d->b, 4, bytes);
	put(&d->b, 4, 256);
	put(&d->b, 4, context);
	stream(d, THREADS, at);
}

/* Of Linux on x86-64, with one thread. */
static inline void begin_amd64(struct dump *d)
{
	begin(d);
	put_system(d, 9, 0x8201);
	put_threads(d, 7, 0x1234, 5);
}

static inline void put_exception(struct dump *d, uint32_t tid, uint32_t signal, uint64_t address)
{
	const size_t context = put_context(d, 0xdead0, 0x7000), at = put(&d->b, 4, tid);

	put(&d->b, 4, 0);
	put(&d->b, 4, signal);
	put(&d->b, 4, 1);
	put(&d->b, 8, 0);
	put(&d->b, 8, address);
	for (int i = 0; i < 8; i++)
		put(&d->b, 16, 0);
	put(&d->b, 4, 256);
	put(&d->b, 4, context);
	stream(d, EXCEPTION, at);
}

static inline size_t put_name(struct dump *d, const char *name)
{
	const size_t at = put(&d->b, 4, 2 * strlen(name));

	for (; *name; name++)
		put(&d->b, 2, *name == '?' ? 0x20ac : *name == '!' ? 0x0141 : (uint64_t)*name);
	return at;
}

struct library {
	uint64_t start;
	uint32_t size;
	const char *path;
	uint32_t kind; /* of the record with the build ID */
	size_t id_len;
	bool zeros; /* instead of one */
};

static inline void put_modules(struct dump *d, const struct library *list, unsigned n)
{
	size_t names[4], ids[4], at;

	for (unsigned i = 0; i < n; i++) {
		names[i] = put_name(d, list[i].path);
		ids[i] = put(&d->b, 4, list[i].kind);
		for (size_t k = 0; k < list[i].id_len; k++)
			put(&d->b, 1, list[i].zeros ? 0 : 0xa0 + k);
	}
	at = put(&d->b, 4, n);
	for (unsigned i = 0; i < n; i++) {
		const size_t record = put(&d->b, 8, list[i].start);

		put(&d->b, 4, list[i].size);
		put(&d->b, 8, 0);
		put(&d->b, 4, names[i]);
		put(&d->b, 15, 0), put(&d->b, 15, 0), put(&d->b, 15, 0), put(&d->b, 7, 0);
		put(&d->b, 4, 4 + list[i].id_len);
		put(&d->b, 4, ids[i]);
		while (d->b.b.len < record + 108)
			put(&d->b, 1, 0);
	}
	stream(d, MODULES, at);
}

static inline void put_text(struct dump *d, uint32_t kind, const char *text, size_t len)
{
	const size_t at = d->b.b.len;

	put_block(&d->b, text, len);
	stream(d, kind, at);
}

static inline struct symcache_core *open_dump(struct dump *d)
{
	struct symcache_core *core;
	struct sc_error err;

	if (open_bytes(d->b.b.data, d->b.b.len, &core, &err))
		fail_msg("%s", err.msg);
	bytes_deinit(&d->b);
	return core;
}

/* A dump that has these modules, too. */
static inline struct symcache_core *open_modules(const struct library *list, unsigned n)
{
	struct dump d;

	begin_amd64(&d);
	put_modules(&d, list, n);
	return open_dump(&d);
}

#endif

/*
 * testing.h: for the tests: a resolver that knows a handful of addresses, and a
 * sink that keeps what it is given.
 *
 * Build ID aa (any length that begins with aa) has symbols, bb has symbols too
 * but of one address alone, all others have none. Of aa:
 *   0x1193  ns::get inl.cpp:4:97, inlined in ns::outer inl.cpp:9:79
 *   0x1200  main main.c:12:3          0x1300  start, no file
 *   0x1400  no function, x.S:7        0x1500  deep: 12 frames f1 … f12
 *   0x1700  a name of 39 bytes, main.c:12:3
 *   0x4010  data "counter", 8 bytes, declared at inl.cpp:2
 * Each address stands for itself and the 15 after it.
 */
#ifndef MARKUP_TESTING_H
#define MARKUP_TESTING_H

#include <stdlib.h>
#include <string.h>

#include "libmarkup/markup.h"

#define STR(literal) { literal, sizeof(literal) - 1 }
#define NOWHERE { NULL, 0 }

static inline void *fake_module(void *ctx, struct markup_module *m, const char **why)
{
	static char aa, bb;
	(void)ctx;
	if (m->build_id_len && m->build_id[0] == 0xaa)
		return &aa;
	if (m->build_id_len && m->build_id[0] == 0xbb)
		return &bb;
	*why = m->build_id_len == 1 && m->build_id[0] == 0xee ? "damaged" : NULL;
	return NULL;
}

static inline size_t fake_code(void *ctx, void *module, uint64_t vaddr, bool named,
			       const struct sc_frame **frames)
{
	static const struct sc_frame inlined[] = {
		{ STR("ns::get"), STR("/src/inl.cpp"), 4, 97 },
		{ STR("ns::outer"), STR("/src/inl.cpp"), 9, 79 },
	};
	static const char main_name[SC_PADDED] = "main", main_file[SC_PADDED] = "main.c";
	static const char long_name[] = "a_name_of_forty_characters_as_they_are_";
	static const struct sc_frame plain[] = {
		{ { main_name, 4 }, { main_file, 6 }, 12, 3, .padded = true },
	};
	static const struct sc_frame padded[] = {
		{ STR(long_name), { main_file, 6 }, 12, 3, .padded = true },
	};
	static const struct sc_frame no_file[] = { { STR("start"), NOWHERE, 0, 0 } };
	static const struct sc_frame no_function[] = { { NOWHERE, STR("x.S"), 7, 0 } };
	static const struct sc_frame deep[] = {
		{ STR("f1"), STR("d.c"), 1, 1 }, { STR("f2"), STR("d.c"), 2, 1 },
		{ STR("f3"), STR("d.c"), 3, 1 }, { STR("f4"), STR("d.c"), 4, 0 },
		{ STR("f5"), STR("d.c"), 0, 0 }, { STR("f6"), STR("d.c"), 6, 1 },
		{ STR("f7"), STR("d.c"), 7, 1 }, { STR("f8"), STR("d.c"), 8, 1 },
		{ STR("f9"), STR("d.c"), 9, 1 }, { STR("f10"), STR("d.c"), 10, 1 },
		{ STR("f11"), STR("d.c"), 11, 1 }, { STR("f12"), STR("d.c"), 12, 1 },
	};

	(void)ctx;
	(void)module;
	(void)named;
#define FRAMES(a) (*frames = (a), sizeof(a) / sizeof((a)[0]))
	switch (vaddr & ~15ull) {
	case 0x1190: return FRAMES(inlined);
	case 0x1200: return FRAMES(plain);
	case 0x1300: return FRAMES(no_file);
	case 0x1400: return FRAMES(no_function);
	case 0x1500: return FRAMES(deep);
	case 0x1700: return FRAMES(padded);
	default: return 0;
	}
#undef FRAMES
}

static inline bool fake_data(void *ctx, void *module, uint64_t vaddr, struct markup_data *ret)
{
	(void)ctx;
	(void)module;
	if (vaddr < 0x4010 || vaddr >= 0x4018)
		return false;
	*ret = (struct markup_data){ STR("counter"), vaddr - 0x4010, STR("/src/inl.cpp"), 2 };
	return true;
}

static inline struct sc_str fake_demangle(void *ctx, struct sc_str name)
{
	(void)ctx;
	if (name.len == 6 && !memcmp(name.ptr, "_Z1fv", 5))
		return name;
	if (name.len == 5 && !memcmp(name.ptr, "_Z1fv", 5))
		return (struct sc_str)STR("f()");
	return name;
}

/* The first register, then each word of the stack that is in a module. */
static inline size_t fake_unwind(void *ctx, const struct markup_stack *stack,
				 const struct markup_caller **callers, const char **end)
{
	static _Thread_local struct markup_caller list[100];
	uint64_t vaddr, word;
	size_t n = 1;
	void *module;

	(void)ctx;
	list[0] = (struct markup_caller){ stack->registers[0].value, true, NULL };
	for (size_t at = 0; at + 8 <= stack->len && n < 100; at += 8) {
		memcpy(&word, stack->bytes + at, 8);
		if (stack->find(stack->find_ctx, word, &module, &vaddr))
			list[n++] = (struct markup_caller){ word, false, module ? NULL : "scan" };
	}
	*callers = list;
	*end = n == 100 ? "too many frames" : NULL;
	return n;
}

static const struct markup_resolver fake_resolver = {
	.module = fake_module,
	.code = fake_code,
	.data = fake_data,
	.unwind = fake_unwind,
	.demangle = fake_demangle,
};

/* What came out. */
struct fake_text {
	char *buf;
	size_t len, cap;
};

static inline int fake_append(void *ctx, const char *data, size_t len)
{
	struct fake_text *t = ctx;
	if (len >= t->cap - t->len) {
		t->cap = (t->cap + len) * 2 + 64;
		t->buf = realloc(t->buf, t->cap);
		if (!t->buf)
			abort();
	}
	if (len) /* it may be NULL then */
		memcpy(t->buf + t->len, data, len);
	t->len += len;
	t->buf[t->len] = 0;
	return 0;
}

struct fake_sink {
	struct fake_text out, err;
};

static inline int fake_write(void *ctx, const char *data, size_t len)
{
	return fake_append(&((struct fake_sink *)ctx)->out, data, len);
}

static inline void fake_complain(void *ctx, const char *data, size_t len)
{
	fake_append(&((struct fake_sink *)ctx)->err, data, len);
}

static inline void fake_sink_deinit(struct fake_sink *s)
{
	free(s->out.buf);
	free(s->err.buf);
	memset(s, 0, sizeof(*s));
}

/* Filters a whole input, fed in pieces of `piece` bytes. */
static inline int fake_filter(const struct markup_options *options, const char *input, size_t len,
			      size_t piece, struct fake_sink *ret)
{
	struct markup_sink sink = { ret, fake_write, fake_complain };
	struct markup_filter *f;
	int rc = markup_filter_create(options, &fake_resolver, 1, &sink, &f);

	memset(ret, 0, sizeof(*ret));
	fake_append(&ret->out, "", 0);
	fake_append(&ret->err, "", 0);
	if (rc)
		return rc;
	markup_filter_input(f, "log");
	for (size_t at = 0; at < len && !rc; at += piece)
		rc = markup_filter_feed(f, input + at, len - at < piece ? len - at : piece);
	if (!rc)
		rc = markup_filter_finish(f);
	if (!rc)
		rc = markup_filter_end(f);
	markup_filter_destroy(f);
	return rc;
}

#endif

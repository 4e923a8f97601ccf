/*
 * For fuzz targets that know what a file consists of: a mutator that changes fields, not bytes. A
 * target finds the fields of its input, as far as that is in order, and one of them gets another
 * value: near the old one, that of another field, a place or size in the file, or one at a limit.
 *
 *   size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
 *   {
 *           struct fields fields = { .data = data, .size = size };
 *
 *           find_fields(&fields);
 *           return fields_mutate(&fields, max, seed);
 *   }
 *
 * Each third time libFuzzer's own mutator has its way, so that files also grow and shrink. Numbers
 * have this machine's byte order.
 */
#ifndef SC_TESTING_FIELDS_H
#define SC_TESTING_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { FIELDS_MAX = 8192 };

struct fields {
	uint8_t *data;
	size_t size;
	size_t num;
	struct field { uint32_t at, width; } list[FIELDS_MAX];
};

/* libFuzzer's; absent where seeds are replayed alone. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max) __attribute__((weak));
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

/* The number at `at`; 0: the file ends before. */
static inline uint64_t fields_get(const struct fields *f, uint64_t at, size_t width)
{
	uint64_t v = 0;

	if (at <= f->size && width <= f->size - at)
		memcpy(&v, f->data + at, width);
	return v;
}

/* There is a field, if the file has it; returns its value. */
static inline uint64_t fields_add(struct fields *f, uint64_t at, uint32_t width)
{
	if (at <= f->size && width <= f->size - at && f->num < FIELDS_MAX)
		f->list[f->num++] = (struct field){ (uint32_t)at, width };
	return fields_get(f, at, width);
}

/* `n` fields one behind the other. */
static inline void fields_run(struct fields *f, uint64_t at, uint32_t width, uint64_t n)
{
	for (uint64_t i = 0; i < n && at < f->size && f->num < FIELDS_MAX; i++, at += width)
		fields_add(f, at, width);
}

static inline uint32_t fields_below(uint64_t *seed, uint32_t n)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*seed >> 33) % n;
}

static inline uint64_t fields_value(const struct fields *f, uint64_t old, uint64_t *seed)
{
	static const uint64_t limits[] = { 0, 1, 2, UINT8_MAX, UINT16_MAX, INT32_MAX, UINT32_MAX,
					   (uint64_t)INT32_MAX + 1, INT64_MAX, UINT64_MAX };
	const uint32_t other = fields_below(seed, (uint32_t)f->num);

	switch (fields_below(seed, 6)) {
	case 0: return old + fields_below(seed, 33) - 16;
	case 1: return limits[fields_below(seed, sizeof(limits) / sizeof(*limits))];
	case 2: return fields_get(f, f->list[other].at, f->list[other].width);
	case 3: return f->size - fields_below(seed, 17) + 8;
	case 4: return fields_below(seed, (uint32_t)f->size + 1) & ~(uint64_t)7;
	default: return old ^ (uint64_t)1 << fields_below(seed, 64);
	}
}

static inline size_t fields_mutate(struct fields *f, size_t max, unsigned number)
{
	uint64_t seed = number, value;

	fields_below(&seed, 1);
	if (!f->num || !fields_below(&seed, 3))
		return LLVMFuzzerMutate ? LLVMFuzzerMutate(f->data, f->size, max) : f->size;
	for (uint32_t n = 1 + fields_below(&seed, 3); n; n--) {
		const struct field *one = &f->list[fields_below(&seed, (uint32_t)f->num)];

		value = fields_value(f, fields_get(f, one->at, one->width), &seed);
		memcpy(f->data + one->at, &value, one->width);
	}
	return f->size;
}

#endif

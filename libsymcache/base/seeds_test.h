/*
 * What a room answers to the seeds of its fuzz targets, and to seeds that are damaged: kept as text
 * in testdata/seeds/NAME, where a change of any answer is seen. For tests, which include it
 * behind cmocka.h.
 *
 *   static void answer(const uint8_t *bytes, size_t size, FILE *to) { … }
 *
 *   static const char *const seeds[] = { "pprof", "otlp", NULL };
 *   expect_answers("profile", seeds, 32, answer);
 *
 * Each seed is cut off, or one byte of it changed, in as many ways as the test says; with
 * expect_answers_of_fields() mostly one of its fields, as the fuzz target changes them. What gives
 * the same answer stands together. A long answer is a hash. With UPDATE=1 in the environment the
 * file is written: read with git diff what changed before you commit it.
 */
#ifndef SC_SEEDS_TEST_H
#define SC_SEEDS_TEST_H

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/hash.h"
#include "libsymcache/base/testing.h"
#include "libsymcache/base/testing_fields.h"

enum { ANSWERS_MOST = 256, ANSWERS_LINE = 160 };

typedef void answer_fn(const uint8_t *bytes, size_t size, FILE *to);
typedef void find_fields_fn(struct fields *fields);

/* What is done to each seed. */
struct damages {
	unsigned ways;
	find_fields_fn *find; /* NULL: bytes change, not fields */
};

/* Bytes, as a hash. */
static inline void put_digest(FILE *to, const void *bytes, size_t size)
{
	char hex[SC_HASH_TEXT];

	fprintf(to, "%zu bytes %.12s", size, sc_hash_text(sc_hash_of(bytes, size), hex));
}

/* The answer as it is kept: all of a short one, or its hash. */
static inline char *answer_to(const uint8_t *bytes, size_t size, answer_fn *fn, bool whole)
{
	/* Of exactly this size, so that the sanitizer sees what is read behind the end. */
	uint8_t *copy = malloc(size ? size : 1);
	char *text, *ret;
	size_t len, ret_len;
	FILE *to = open_memstream(&text, &len);

	fn(memcpy(copy, bytes, size), size, to);
	fclose(to);
	free(copy);
	if (whole || len <= ANSWERS_LINE)
		return text;
	to = open_memstream(&ret, &ret_len);
	put_digest(to, text, len);
	fputc('\n', to);
	fclose(to);
	free(text);
	return ret;
}

static inline struct fields *fields_of(uint8_t *bytes, size_t size, find_fields_fn *find)
{
	static struct fields fields;

	fields.data = bytes;
	fields.size = size;
	fields.num = 0;
	find(&fields);
	return &fields;
}

static inline void damage_field(const struct fields *fields, uint64_t *random, char how[48])
{
	const struct field *one = &fields->list[testing_below(random, (uint32_t)fields->num)];
	const uint64_t value = fields_value(fields, fields_get(fields, one->at, one->width), random);

	memcpy(fields->data + one->at, &value, one->width);
	snprintf(how, 48, "[%" PRIu32 "]=%#" PRIx64, one->at, fields_get(fields, one->at, one->width));
}

/* Damages the seed in its number-th way; says how. Returns the size. */
static inline size_t damage(uint8_t *bytes, size_t size, unsigned number, find_fields_fn *find,
			    uint64_t *random, char how[48])
{
	static const uint8_t other[] = { 0, 1, 0x7f, 0x80, 0xff };
	const uint32_t at = testing_below(random, (uint32_t)size), r = testing_below(random, 1000);

	if (find && number % 16) {
		damage_field(fields_of(bytes, size, find), random, how);
		return size;
	}
	if (number % 4 == 0) {
		snprintf(how, 48, "cut at %" PRIu32, at);
		return at;
	}
	bytes[at] = number % 4 == 1   ? other[r % sizeof(other)]
		    : number % 4 == 2 ? (uint8_t)(bytes[at] + 1)
				      : bytes[at] ^ (uint8_t)(1 << r % 8);
	snprintf(how, 48, "[%" PRIu32 "]=%u", at, bytes[at]);
	return size;
}

static inline void put_answers(FILE *to, const uint8_t *bytes, size_t size,
			       const struct damages *damages, answer_fn *fn)
{
	char *answers[ANSWERS_MOST], how[ANSWERS_MOST][48],
		*whole = answer_to(bytes, size, fn, true);
	uint64_t random = sc_hash_of(bytes, size).low64;
	uint8_t *copy = malloc(size);
	unsigned ways = damages->ways;

	assert_true(ways <= ANSWERS_MOST);
	memcpy(copy, bytes, size);
	if (damages->find && !fields_of(copy, size, damages->find)->num)
		ways = 0; /* what is packed: what a library makes of damage is its own */
	free(copy);
	fputs(whole, to);
	free(whole);
	for (unsigned i = 0; i < ways; i++) {
		uint8_t *damaged = malloc(size + 1);
		const size_t n = damage(memcpy(damaged, bytes, size), size, i, damages->find,
					&random, how[i]);

		answers[i] = answer_to(damaged, n, fn, false);
		free(damaged);
	}
	for (unsigned i = 0; i < ways; i++) {
		if (!answers[i])
			continue;
		fputs(how[i], to);
		for (unsigned k = i + 1; k < ways; k++)
			if (answers[k] && !strcmp(answers[k], answers[i])) {
				fprintf(to, ", %s", how[k]);
				free(answers[k]);
				answers[k] = NULL;
			}
		fprintf(to, ": %s", answers[i]);
		free(answers[i]);
	}
}

static inline uint8_t *answers_read(const char *path, size_t *size)
{
	FILE *in = fopen(path, "rb");
	uint8_t *bytes = NULL;

	*size = 0;
	for (size_t n = 1; in && n; *size += n) {
		bytes = realloc(bytes, *size + (1 << 16));
		n = fread(bytes + *size, 1, 1 << 16, in);
	}
	if (in)
		fclose(in);
	return bytes;
}

static inline void put_seeds(FILE *to, const char *corpus, const struct damages *damages,
			     answer_fn *fn)
{
	char folder[64], path[400];
	struct dirent **list;
	int n;

	snprintf(folder, sizeof(folder), "testdata/fuzz/%s", corpus);
	n = scandir(folder, &list, NULL, alphasort);
	assert_true(n > 2);
	for (int i = 0; i < n; i++) {
		uint8_t *bytes;
		size_t size;

		snprintf(path, sizeof(path), "%s/%s", folder, list[i]->d_name);
		bytes = list[i]->d_name[0] == '.' ? NULL : answers_read(path, &size);
		if (bytes && size) {
			fprintf(to, "== %s/%s\n", corpus, list[i]->d_name);
			put_answers(to, bytes, size, damages, fn);
		}
		free(bytes);
		free(list[i]);
	}
	free(list);
}

/* Fails at the first line that differs. */
static inline void same_answers(const char *path, const char *got, const char *want)
{
	const char *seed = "";

	while (*got || *want) {
		const size_t n = strcspn(got, "\n"), m = strcspn(want, "\n");

		if (n != m || memcmp(got, want, n))
			fail_msg("%s (UPDATE=1 writes it): %.*s\n%.*s\nnot %.*s", path,
				 (int)strcspn(seed, "\n"), seed, (int)n, got, (int)m, want);
		if (!strncmp(got, "== ", 3))
			seed = got;
		got += n + !!got[n];
		want += m + !!want[m];
	}
}

/* The answers, which are freed, are those that testdata/seeds/NAME has. */
static inline void expect_recorded(const char *name, char *got, size_t len)
{
	char path[64], *want;
	size_t size;

	snprintf(path, sizeof(path), "testdata/seeds/%s", name);
	if (getenv("UPDATE")) {
		FILE *to = fopen(path, "wb");

		assert_true(to && fwrite(got, 1, len, to) == len && !fclose(to));
	}
	want = (char *)answers_read(path, &size);
	if (!want)
		fail_msg("there is no %s", path);
	want = realloc(want, size + 1);
	want[size] = 0;
	same_answers(path, got, want);
	free(want);
	free(got);
}

/* The answers to all seeds of these fuzz targets (up to NULL), each damaged in so many ways. */
static inline void expect_answers_to(const char *name, const char *const *corpora,
				     const struct damages *damages, answer_fn *fn)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	for (; *corpora; corpora++)
		put_seeds(to, *corpora, damages, fn);
	fclose(to);
	expect_recorded(name, got, len);
}

/* The answers to the numbers below n: `fn` has the number's 8 bytes; of those from `whole`
 * on the answers are hashes. Each stands below "== WHAT NUMBER". */
static inline void expect_made(const char *name, const char *what, uint64_t n, uint64_t whole,
			       answer_fn *fn)
{
	char *got, *text;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	for (uint64_t i = 0; i < n; i++) {
		text = answer_to((uint8_t *)&i, sizeof(i), fn, i < whole);
		fprintf(to, "== %s %" PRIu64 "\n%s", what, i, text);
		free(text);
	}
	fclose(to);
	expect_recorded(name, got, len);
}

static inline void expect_answers(const char *name, const char *const *corpora, unsigned ways,
				  answer_fn *fn)
{
	expect_answers_to(name, corpora, &(struct damages){ ways, NULL }, fn);
}

static inline void expect_answers_of_fields(const char *name, const char *const *corpora,
					    unsigned ways, find_fields_fn *find, answer_fn *fn)
{
	expect_answers_to(name, corpora, &(struct damages){ ways, find }, fn);
}

#endif

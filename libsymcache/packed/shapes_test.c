/*
 * What caches are packed to that no writer makes, by the model or as they are; and what is said of a
 * packed file in which one stream is damaged: both recorded.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/packed/container.h"
#include "libsymcache/packed/made_test.h"
#include "libsymcache/read/tiny_test.h"

enum { MANY = 60 };

/* ---- other caches ------------------------------------------------------------------------------- */

/* The parts of a cache, to be changed. */
struct parts {
	struct symcache c;
	struct symcache_source_location *calls, *places; /* of calls, and of ranges */
	struct symcache_function *functions;
	struct symcache_ext_start *starts;
	uint32_t *ranges, num_calls, num_ranges;
	uint8_t *strings;
};

/* Also the last function reaches up to the end then, and no symbol says how far. */
static void no_gaps(struct parts *p)
{
	struct symcache_ext_symbol *symbols = (struct symcache_ext_symbol *)p->c.symbols;

	for (size_t i = 0; i < p->c.num_symbols; i++)
		symbols[i].size = 0;
	for (uint32_t i = 0; i < p->num_ranges; i++)
		if (p->places[i].function_idx == SYMCACHE_NONE)
			p->places[i] = p->places[0];
}

static void in_itself(struct parts *p)
{
	p->places[3].inlined_into_idx = 5;
	p->calls[5].inlined_into_idx = 5;
}

static void in_each_other(struct parts *p)
{
	p->places[3].inlined_into_idx = 5;
	p->calls[5].inlined_into_idx = 4;
	p->calls[4].inlined_into_idx = 5;
}

static void in_a_later_one(struct parts *p)
{
	p->places[3].inlined_into_idx = 5;
	p->calls[5].inlined_into_idx = 9;
	p->calls[9].inlined_into_idx = SYMCACHE_NONE;
}

/* As deep as is modelled, or one call deeper. */
static void chain(struct parts *p, uint32_t depth)
{
	for (uint32_t i = 0; i < p->num_calls; i++)
		p->calls[i].inlined_into_idx = i && i < depth ? i - 1 : SYMCACHE_NONE;
	p->places[3].inlined_into_idx = depth - 1;
}

static void all_calls_in_a_chain(struct parts *p)
{
	chain(p, p->num_calls);
}

static void unknown_numbers(struct parts *p)
{
	p->places[2].function_idx = 0x10000;
	p->places[3].file_idx = 0x10000;
	p->places[4].inlined_into_idx = 0x10000;
	p->calls[1].function_idx = SYMCACHE_NONE;
}

static void begins_at_0(struct parts *p)
{
	p->starts[0].start = 0;
	p->starts[1].start = 0;
	p->starts[2].start = 0xffff;
	p->starts[3].start = 0xffff;
}

static void begins_before_the_last(struct parts *p)
{
	p->ranges[7] = p->ranges[5];
	p->ranges[8] = 0;
}

static void a_function_with_a_folder(struct parts *p)
{
	p->functions[3].comp_dir = 0;
}

static void a_longer_length(struct parts *p)
{
	p->strings[0] = 0x80; /* of the first string, "" */
	p->strings[1] = 0;
}

static void a_length_beyond_the_end(struct parts *p)
{
	p->strings[0] = 0xff;
	p->strings[1] = 0xff;
	p->strings[2] = 0x7f;
}

static void a_length_without_an_end(struct parts *p)
{
	memset(p->strings, 0xff, 8);
}

static void as_it_is(struct parts *p)
{
	(void)p;
}

static const struct { const char *what; void (*change)(struct parts *); } changes[] = {
#define CHANGE(name) { #name, name }
	CHANGE(as_it_is), CHANGE(no_gaps), CHANGE(in_itself), CHANGE(in_each_other),
	CHANGE(in_a_later_one), CHANGE(all_calls_in_a_chain), CHANGE(unknown_numbers), CHANGE(begins_at_0),
	CHANGE(begins_before_the_last), CHANGE(a_function_with_a_folder), CHANGE(a_longer_length),
	CHANGE(a_length_beyond_the_end), CHANGE(a_length_without_an_end),
};

static void find_parts(const struct cache *cache, struct parts *p)
{
	assert_int_equal(symcache_open(&p->c, cache->bytes, cache->size, NULL), 0);
	p->num_ranges = p->c.header->num_ranges;
	p->num_calls = p->c.header->num_source_locations - p->num_ranges;
	p->calls = (struct symcache_source_location *)p->c.locations;
	p->places = p->calls + p->num_calls;
	p->functions = (struct symcache_function *)p->c.functions;
	p->starts = (struct symcache_ext_start *)p->c.unwind.starts;
	p->ranges = (uint32_t *)p->c.ranges;
	p->strings = (uint8_t *)p->c.strings;
}

/* How it is packed, by itself or against another one; packed_pack() sees to it that it comes back. */
static void put_packed(FILE *to, const struct cache *c, const struct cache *old)
{
	const struct packed_bytes cache = { c->bytes, c->size };
	void *packed;
	size_t size;
	int rc = old ? packed_pack_delta(cache, (struct packed_bytes){ old->bytes, old->size }, 0, &packed, &size, &err) :
		       packed_pack(&cache, 1, 0, &packed, &size, &err);

	assert_int_equal(rc, 0);
	fputs(", ", to);
	put_digest(to, packed, size);
	free(packed);
}

static void test_other_caches(void **state)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
		fputs(changes[i].what, to);
		for (uint32_t version = 7; version <= 9; version++) {
			const struct cache c = made_cache(version, MADE_RARE + version);
			struct parts p;

			find_parts(&c, &p);
			changes[i].change(&p);
			put_packed(to, &c, NULL);
			free(c.bytes);
		}
		fputc('\n', to);
	}
	fclose(to);
	expect_recorded("packed_shapes", got, len);
}

static void pack_at(uint8_t *at, const uint8_t *bytes, size_t size)
{
	const struct packed_bytes cache = { memcpy(at, bytes, size), size };
	void *packed;

	assert_int_equal(packed_pack(&cache, 1, 0, &packed, &size, &err), 0);
	free(packed);
}

/* The last string goes on behind the end of its cache, where nothing can be read. */
static void test_behind_the_end(void **state)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *room = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_true(room != MAP_FAILED);
	assert_int_equal(mprotect(room + page, page, PROT_NONE), 0);
	for (uint32_t version = 7; version <= 9; version++)
		for (size_t i = 0; i < 8; i++) {
			struct tiny t = tiny_example(version);
			const uint32_t last = tiny_string(&t, &"the last"[i]);
			uint8_t *bytes;

			t.strings[last]++;
			bytes = tiny_bytes(&t);
			if (t.size % 8 == 0) /* it begins where a cache may */
				pack_at(room + page - t.size, bytes, t.size);
			free(bytes);
		}
	munmap(room, 2 * page);
}

/* One word of a table is that of another record, or any. */
static void change_word(struct parts *p, uint64_t *seed)
{
	uint32_t *const tables[] = { (uint32_t *)p->calls, (uint32_t *)p->places, (uint32_t *)p->functions, p->ranges };
	const uint32_t words[] = { 4 * p->num_calls, 4 * p->num_ranges, 4 * p->c.header->num_functions, p->num_ranges };
	const uint32_t t = testing_below(seed, 4), at = testing_below(seed, words[t]), step = t == 3 ? 1 : 4;
	const uint32_t kind = testing_below(seed, 3), near = at + step < words[t] ? at + step : at - step;
	const uint32_t any = testing_below(seed, 300);

	tables[t][at] = kind == 0 ? tables[t][near] : kind == 1 ? any : SYMCACHE_NONE;
}

/* As writers make them, and with a few words changed; and against what they were before that. */
static void test_many(void **state)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (uint64_t seed = 0; seed < MANY; seed++) {
		struct cache c = made_cache(7 + seed % 3, seed % 2 ? MADE_RARE + seed : seed), old = c;
		uint64_t random = seed;
		struct parts p;

		old.bytes = memcpy(malloc(c.size), c.bytes, c.size);

		find_parts(&c, &p);
		for (uint64_t n = seed / 3 % 4; n; n--)
			change_word(&p, &random);
		fprintf(to, "%" PRIu64, seed);
		put_packed(to, &c, NULL);
		put_packed(to, &c, &old);
		fputc('\n', to);
		free(c.bytes);
		free(old.bytes);
	}
	fclose(to);
	expect_recorded("packed_many", got, len);
}

/* ---- damaged streams ------------------------------------------------------------------------------ */

/* What is wrong, behind `what` was done; nothing if it is the same as the last time. */
static void put_fault(FILE *to, const char *what, const uint8_t *packed, size_t size)
{
	static struct sc_error last;
	struct packed_caches back;

	if (!packed_unpack(packed, size, &back, &err))
		sc_error_set(&err, 0, "unpacked");
	packed_caches_deinit(&back);
	if (strcmp(err.msg, last.msg))
		fprintf(to, "%s: %d %s\n", what, err.code, err.msg);
	last = err;
}

/* One byte of a stream is another one. */
static void put_damages(FILE *to, const char *name, uint8_t *packed, size_t size, struct squeezed stream)
{
	const size_t n = stream.len, places[] = { 0, 1, n / 2, n - 1 };
	static const uint8_t others[] = { 0, 1, 0x50, 0xff };
	char what[40];

	for (size_t i = 0; n && i < sizeof(places) / sizeof(*places); i++)
		for (size_t k = 0; places[i] < n && k < sizeof(others); k++) {
			uint8_t *p = packed + (stream.data - packed) + places[i];
			const uint8_t was = *p;

			*p = others[k];
			snprintf(what, sizeof(what), "%s[%zu]=%u", name, places[i], *p);
			put_fault(to, what, packed, size);
			*p = was;
		}
}

static void put_streams(FILE *to, uint8_t *packed, size_t size)
{
	const uint8_t *at = packed + HEADER + CACHE, *end = packed + size;

	for (int s = 0; s < NUM_STREAMS; s++) {
		const struct squeezed stream = squeezed_next(&at, end);

		put_damages(to, coder_name((enum stream_id)s), packed, size, stream);
	}
	assert_ptr_equal(at, end);
}

static void test_damaged_streams(void **state)
{
	static const struct { uint32_t version; uint64_t seed; } caches[] = { { 9, 1 }, { 7, MADE_RARE }, { 8, MADE_RARE + 1 } };
	size_t size, len;
	uint8_t *packed;
	char *got;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches); i++) {
		const struct cache c = made_cache(caches[i].version, caches[i].seed);
		const struct packed_bytes cache = { c.bytes, c.size };

		assert_int_equal(packed_pack(&cache, 1, 0, (void **)&packed, &size, &err), 0);
		put_streams(to, packed, size);
		free(packed);
		free(c.bytes);
	}
	fclose(to);
	expect_recorded("packed_streams", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_other_caches), cmocka_unit_test(test_behind_the_end),
		cmocka_unit_test(test_many), cmocka_unit_test(test_damaged_streams),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

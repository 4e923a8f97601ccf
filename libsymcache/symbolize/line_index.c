/* An index of lines: see line_index.h. */
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "libsymcache/symbolize/line_index.h"
#include "libsymcache/symbolize/names.h"

void sc_line_index_destroy(struct sc_line_index *x)
{
	free(x);
}

/* The seed differs from run to run, so that no one can make files or lines that all share a chain. */
static uint32_t *file_head(const struct sc_line_index *x, struct sc_str basename)
{
	return &x->files[XXH3_64bits_withSeed(basename.ptr, basename.len, (uintptr_t)x) & x->file_mask];
}

static uint32_t bucket_of(const struct sc_line_index *x, uint32_t file, uint32_t line)
{
	const uint64_t both = (uint64_t)file << 32 | line;

	return (uint32_t)XXH3_64bits_withSeed(&both, sizeof(both), (uintptr_t)x) & x->line_mask;
}

uint32_t sc_line_index_file(const struct sc_line_index *x, struct sc_str basename)
{
	return *file_head(x, basename);
}

const uint32_t *sc_line_index_line(const struct sc_line_index *x, uint32_t file, uint32_t line,
				   const uint32_t **end)
{
	const uint32_t *starts = &x->line_starts[bucket_of(x, file, line)];

	*end = x->lines + starts[1];
	return x->lines + starts[0];
}

static uint32_t power_of_two(uint32_t least)
{
	uint32_t n = 64;

	while (n < least && n < 1u << 30)
		n *= 2;
	return n;
}

static void add(uint32_t *head, uint32_t *next, uint32_t item)
{
	next[item] = *head;
	*head = item + 1;
}

enum {
	SHARED_MAX = 16,    /* times that a part of a path has a file, on average */
	SHORT_PATH = 1024,  /* bytes */
};

static size_t path_bytes(const struct symcache *c, uint32_t file)
{
	const struct symcache_file f = symcache_file(c, file);

	return f.comp_dir.len + f.directory.len + f.name.len;
}

/* As the names in name_index.c: paths that are long, and made of parts that more files share than
 * real ones do, are not in the index. */
static size_t longest_path(const struct symcache *c)
{
	const uint32_t files = c->header->num_files;
	const uint64_t most = (uint64_t)SHARED_MAX * c->header->string_bytes + (uint64_t)SHORT_PATH * files;
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < files && bytes <= most; i++)
		bytes += path_bytes(c, i);
	return bytes <= most ? SIZE_MAX : SHORT_PATH;
}

static void fill_files(struct sc_line_index *x)
{
	const struct symcache *c = x->cache;
	const size_t longest = longest_path(c);

	for (uint32_t i = c->header->num_files; i--;) {
		const struct sc_str name = symcache_file(c, i).name;

		if (name.ptr && path_bytes(c, i) <= longest)
			add(file_head(x, sc_basename(name)), x->next_file, i);
	}
}

/* Makes beginnings of counts, which are two further on: the next pass makes ends of them. */
static void sum_up(uint32_t *starts, size_t n)
{
	for (size_t i = 1; i < n; i++)
		starts[i + 1] += starts[i];
}

static void fill_locations(struct sc_line_index *x)
{
	const struct symcache *c = x->cache;
	const uint32_t n = c->header->num_source_locations;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct symcache_source_location *l = &c->locations[i];
			const uint32_t call = l->inlined_into_idx;

			if (l->line && l->file_idx < c->header->num_files) {
				uint32_t *start = &x->line_starts[bucket_of(x, l->file_idx, l->line)];

				if (pass)
					x->lines[start[1]++] = i;
				else
					start[2]++;
			}
			/* Calls stand before what is inlined by them: there are no circles. */
			if (call < c->range_location && call < i) {
				if (pass)
					x->called[x->call_starts[call + 1]++] = i;
				else
					x->call_starts[call + 2]++;
			}
		}
		if (!pass) {
			sum_up(x->line_starts, x->line_mask + (size_t)2);
			sum_up(x->call_starts, c->range_location + (size_t)1);
		}
	}
}

struct sc_line_index *sc_line_index_create(const struct symcache *c, unsigned generation)
{
	const uint32_t files = c->header->num_files, locations = c->header->num_source_locations,
		       file_heads = power_of_two(files), line_heads = power_of_two(locations / 4);
	const size_t words = (size_t)file_heads + files + line_heads + 2 + 2 * (size_t)locations +
			     c->range_location + 2;
	struct sc_line_index *x;

	if (!symcache_valid(c, c->locations, locations * sizeof(*c->locations)) ||
	    !symcache_valid(c, c->ranges, c->header->num_ranges * sizeof(*c->ranges)))
		return NULL;
	x = calloc(1, sizeof(*x) + words * sizeof(*x->tables));
	if (!x)
		return NULL;
	x->cache = c;
	x->generation = generation;
	x->file_mask = file_heads - 1;
	x->line_mask = line_heads - 1;
	x->files = x->tables;
	x->next_file = x->files + file_heads;
	x->line_starts = x->next_file + files;
	x->lines = x->line_starts + line_heads + 2;
	x->call_starts = x->lines + locations;
	x->called = x->call_starts + c->range_location + 2;
	fill_files(x);
	fill_locations(x);
	return x;
}

/* Lines → addresses: see reverse.h. */
#include <stdlib.h>

#include "libsymcache/base/prefetch.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/symbolize/reverse.h"
#include "libsymcache/symbolize/symbolizer.h"

/* A range of the cache with a frame at the line. */
struct piece {
	uint32_t range;
	uint32_t location, function; /* of that frame */
	uint32_t depth;              /* so many are inlined into it */
};

static bool piece_before(const struct piece *a, const struct piece *b)
{
	return a->range < b->range;
}

SC_SORT(sort_pieces, struct piece, piece_before)

enum { AHEAD = 16 }; /* records that are fetched before they are read */

/* A location of the line, or of what is inlined into one. */
struct level {
	uint32_t location;
	uint32_t of, function, depth; /* the location of the line, its function, and how far below it */
};

struct search {
	struct symcache_symbolizer *s;
	const struct sc_seen *seen;
	const struct sc_line_index *x;
	VEC(struct piece) pieces;
	VEC(struct level) queue;
	bool *files; /* by number: is it the one that was asked for? */
	bool no_memory;
};

static struct sc_line_index *lines_of(struct sc_seen *seen)
{
	if (seen->lines && (seen->lines->cache != seen->cache ||
			    seen->lines->generation != seen->generation)) {
		sc_line_index_destroy(seen->lines);
		seen->lines = NULL;
	}
	if (!seen->lines)
		seen->lines = sc_line_index_create(seen->cache, seen->generation);
	return seen->lines;
}

/* In any file of the name: each of these locations is a beginning of its own. */
static bool is_at(const struct search *q, uint32_t location, uint32_t line)
{
	const struct symcache *c = q->x->cache;
	const struct symcache_source_location *l = &c->locations[location];

	return l->line == line && l->file_idx < c->header->num_files && q->files[l->file_idx];
}

/* What will be read of a location. */
static void fetch(const struct sc_line_index *x, uint32_t location)
{
	const struct symcache *c = x->cache;

	sc_prefetch(&c->locations[location]);
	if (location < c->range_location)
		sc_prefetch(&x->call_starts[location]);
}

static void add_level(struct search *q, struct level added)
{
	struct level *l = vec_push(&q->queue);

	if (l)
		*l = added;
	q->no_memory |= !l;
	fetch(q->x, added.location);
}

/* What is inlined into a location, whose own record was fetched. */
static void fetch_called(const struct sc_line_index *x, uint32_t location)
{
	if (location < x->cache->range_location)
		sc_prefetch(&x->called[x->call_starts[location]]);
}

/* The ranges of what is in the queue, and of all that is inlined into it, but for what is at the line
 * itself. A queue, so that others are looked at between the fetch of a location and its turn. */
static void add_pieces(struct search *q, uint32_t line)
{
	const struct symcache *c = q->x->cache;
	const uint32_t *call, *end;
	struct piece *p;

	for (size_t i = 0; i < q->queue.len && !q->no_memory; i++) {
		const struct level at = q->queue.data[i];

		if (i + AHEAD / 2 < q->queue.len)
			fetch_called(q->x, q->queue.data[i + AHEAD / 2].location);
		if (at.depth && is_at(q, at.location, line))
			continue;
		if (at.location >= c->range_location) {
			if ((p = vec_push(&q->pieces)))
				*p = (struct piece){ at.location - c->range_location, at.of, at.function, at.depth };
			q->no_memory |= !p;
			continue;
		}
		for (call = sc_line_index_called(q->x, at.location, &end); call < end; call++)
			add_level(q, (struct level){ *call, at.of, at.function, at.depth + 1 });
	}
}

/* Is the path `part`, or does it end with it behind a slash? */
static bool ends_with(struct sc_str path, struct sc_str part)
{
	return path.len >= part.len &&
	       !memcmp(path.ptr + path.len - part.len, part.ptr, part.len) &&
	       (path.len == part.len || path.ptr[path.len - part.len - 1] == '/' ||
		path.ptr[path.len - part.len - 1] == '\\');
}

static bool is_file(struct search *q, uint32_t idx, struct sc_str name)
{
	static const enum symcache_paths styles[] = { SYMCACHE_PATHS_CLEAN, SYMCACHE_PATHS_RAW };
	const struct symcache_file file = symcache_file(q->x->cache, idx);
	const size_t room = sc_path_room(&file);

	vec_clear(&q->s->path);
	if (!file.name.ptr || !vec_reserve(&q->s->path, room))
		return false;
	for (size_t i = 0; i < sizeof(styles) / sizeof(*styles); i++)
		if (ends_with((struct sc_str){ q->s->path.data,
				sc_write_path(&file, styles[i], q->s->path.data, room) }, name))
			return true;
	return false;
}

/* Of one of the files. */
static void add_line(struct search *q, uint32_t file, uint32_t line)
{
	const uint32_t *end, *at = sc_line_index_line(q->x, file, line, &end);

	for (const uint32_t *i = at; i < end && i < at + AHEAD; i++)
		fetch(q->x, *i);
	for (const uint32_t *i = at; i < end; i++) {
		if (end - i > AHEAD)
			fetch(q->x, i[AHEAD]);
		if (q->x->cache->locations[*i].file_idx == file && is_at(q, *i, line))
			add_level(q, (struct level){ *i, *i, q->x->cache->locations[*i].function_idx, 0 });
	}
}

static void find(struct search *q, struct sc_str name, uint32_t line)
{
	const struct sc_line_index *x = q->x;
	const uint32_t first = sc_line_index_file(x, sc_basename(name));

	q->files = calloc((size_t)x->cache->header->num_files + 1, sizeof(*q->files));
	q->no_memory |= !q->files;
	if (q->no_memory)
		return;
	for (uint32_t f = first; f; f = x->next_file[f - 1])
		q->files[f - 1] = is_file(q, f - 1, name);
	for (uint32_t f = first; f && !q->no_memory; f = x->next_file[f - 1])
		if (q->files[f - 1])
			add_line(q, f - 1, line);
	add_pieces(q, line);
}

static uint32_t range_end(const struct symcache *c, uint32_t range)
{
	return range + 1 < c->header->num_ranges ? c->ranges[range + 1] : UINT32_MAX;
}

/* Does a piece go on in the next one, in the same function at the same call? */
static bool goes_on(const struct symcache *c, const struct piece *a, const struct piece *b)
{
	return a->range + 1 == b->range && a->function == b->function &&
	       c->locations[a->location].inlined_into_idx == c->locations[b->location].inlined_into_idx;
}

/* Fetches the texts of a piece that will be shown `AHEAD` pieces later, and half of them later. */
static void fetch_texts(const struct search *q, size_t i)
{
	const struct symcache *c = q->x->cache;
	const struct sc_texts *texts = q->seen->texts;

	if (i + AHEAD < q->pieces.len) {
		const struct piece *p = &q->pieces.data[i + AHEAD];

		sc_prefetch(&c->locations[p->location]);
		if (p->function < c->header->num_functions)
			sc_prefetch(&texts->functions[p->function]);
		if (c->columns)
			sc_prefetch(&c->columns[p->location]);
		sc_prefetch(&c->ranges[p->range]);
	}
	if (i + AHEAD / 2 < q->pieces.len) {
		const uint32_t function = q->pieces.data[i + AHEAD / 2].function;

		if (function < c->header->num_functions)
			sc_prefetch(atomic_load_explicit(&texts->functions[function],
							 memory_order_relaxed));
	}
}

static ssize_t report(struct search *q,
		      int (*fn)(void *ctx, const struct symcache_found_line *found), void *ctx)
{
	const struct symcache *c = q->x->cache;
	const struct piece *list = q->pieces.data;
	ssize_t n = 0;
	int rc = 0;

	if (q->no_memory || !sort_pieces(q->pieces.data, q->pieces.len))
		return SC_ENOMEM;
	for (size_t i = 0, end; !rc && i < q->pieces.len; i = end, n++) {
		const struct piece *p = &list[i];
		struct symcache_found_line found = {
			.vaddr = q->seen->load_base + c->ranges[p->range], .depth = p->depth,
			.inlined = c->locations[p->location].inlined_into_idx < c->range_location,
		};
		struct sc_frame *f;

		fetch_texts(q, i);
		for (end = i + 1; end < q->pieces.len && goes_on(c, &list[end - 1], &list[end]);)
			fetch_texts(q, end++);
		found.end = q->seen->load_base + range_end(c, list[end - 1].range);
		q->s->num_ahead = 0;
		q->s->frames.len = 0;
		f = sc_add_frame(q->s, q->seen, p->location, true);
		if (!f)
			return SC_ENOMEM;
		f->function = f->function.ptr ?
			sc_text_str((const struct sc_text *)f->function.ptr) : f->function;
		f->file = f->file.ptr ? sc_text_str((const struct sc_text *)f->file.ptr) : f->file;
		found.frame = f;
		rc = fn(ctx, &found);
	}
	return rc ? rc : n;
}

ssize_t symcache_find_line(struct symcache_symbolizer *s, struct symcache_module *m,
			   struct sc_str file, uint32_t line,
			   int (*fn)(void *ctx, const struct symcache_found_line *found), void *ctx)
{
	struct sc_seen *seen = sc_symbolizer_begin(s, m);
	struct search q = { .s = s, .seen = seen, .x = seen ? lines_of(seen) : NULL };
	ssize_t n;

	if (!q.x)
		return seen && symcache_module_valid(m, seen->cache) ? SC_ENOMEM : SC_ENOTFOUND;
	while (file.len > 2 && file.ptr[0] == '.' && file.ptr[1] == '/')
		file = (struct sc_str){ file.ptr + 2, file.len - 2 };
	find(&q, file, line);
	n = symcache_module_valid(m, seen->cache) ? report(&q, fn, ctx) : SC_ENOTFOUND;
	free(q.files);
	vec_deinit(&q.pieces);
	vec_deinit(&q.queue);
	return n;
}

bool symcache_parse_line(const char *text, struct sc_str *file, uint32_t *line)
{
	const char *colon = strrchr(text, ':');
	char *end;
	unsigned long number;

	if (!colon || colon == text || colon[1] < '1' || colon[1] > '9')
		return false;
	number = strtoul(colon + 1, &end, 10);
	if (*end || number > UINT32_MAX)
		return false;
	*file = (struct sc_str){ text, (size_t)(colon - text) };
	*line = (uint32_t)number;
	return true;
}

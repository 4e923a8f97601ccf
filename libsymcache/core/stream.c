/*
 * Bytes of a core file, plain or compressed: see parts.h.
 *
 * A plain file is read in blocks, of which the last 64 stay. A compressed one is a stream:
 * ranges that are wanted are kept as it goes by, and it begins again only for what is
 * behind it.
 */
#include <errno.h>
#include <unistd.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/core/parts.h"

enum { MAX_PASSES = 16 };

/* ---- plain files --------------------------------------------------------------------- */

/* The bytes from `offset` on, *len of them; NULL: they are not there. */
static const uint8_t *plain_at(struct symcache_core_private *p, uint64_t offset, size_t *len)
{
	const uint64_t number = offset / BLOCK;
	unsigned slot = (unsigned)(number % BLOCKS);
	uint8_t *bytes = p->blocks + (size_t)slot * BLOCK;
	size_t have = 0, at = offset % BLOCK;
	ssize_t n;

	if (p->block_number[slot] != number + 1) {
		do {
			n = pread(p->fd, bytes + have, BLOCK - have,
				  (off_t)(number * BLOCK + have));
			have += n > 0 ? (size_t)n : 0;
		} while ((n > 0 && have < BLOCK) || (n < 0 && errno == EINTR));
		p->error = n < 0 ? errno : p->error;
		p->block_number[slot] = number + 1;
		p->block_size[slot] = (uint32_t)have;
	}
	if (p->block_size[slot] <= at)
		return NULL;
	*len = p->block_size[slot] - at;
	return bytes + at;
}

/* ---- compressed files ----------------------------------------------------------------- */

/* The piece that holds `offset`, or NULL. */
static const struct piece *piece_at(const struct symcache_core_private *p, uint64_t offset)
{
	const size_t n = SC_SEARCH(i, p->num_sorted, p->pieces.data[i].offset <= offset);
	const struct piece *last = n ? &p->pieces.data[n - 1] : NULL;

	return last && offset - last->offset < last->size ? last : NULL;
}

/* As plain_at(). */
static const uint8_t *kept_at(const struct symcache_core_private *p, uint64_t offset, size_t *len)
{
	const struct piece *piece = piece_at(p, offset);
	const size_t at = piece ? (size_t)(offset - piece->offset) : 0;

	*len = piece ? piece->size - at : 0;
	return piece ? piece->bytes + at : NULL;
}

/* Begins the stream, or begins it again. */
static bool restart(struct symcache_core_private *p)
{
	const char *name;

	symarchive_close(p->stream);
	p->stream = NULL;
	p->position = 0;
	p->budget = UINT64_MAX;
	return p->passes++ < MAX_PASSES && !lseek(p->fd, 0, SEEK_SET) &&
	       !symarchive_open_any(p->fd, &p->budget, &p->stream, NULL) &&
	       !symarchive_next(p->stream, &name, NULL);
}

/* Reads up to `bytes` of the stream. */
static size_t more(struct symcache_core *core, uint8_t *to, size_t bytes)
{
	struct symcache_core_private *p = core->private;
	size_t have = 0, n = 1;

	while (have < bytes && n) {
		if (symarchive_read(p->stream, to + have, bytes - have, &n, NULL))
			n = 0;
		have += n;
	}
	p->position += have;
	if (have < bytes)
		core->missing += !core->missing;
	return have;
}

static bool by_offset(const struct piece *a, const struct piece *b)
{
	return a->offset < b->offset;
}

SC_SORT(sort_pieces, struct piece, by_offset)

/* Keeps what the stream has of [from, end), which is not kept yet; memory grows with what
 * there is. Returns 0, SC_ENOMEM, or SC_ENOTFOUND at the end of the stream. */
static int keep_range(struct symcache_core *core, uint64_t from, uint64_t end)
{
	struct symcache_core_private *p = core->private;
	uint8_t skipped[16384], *bytes;
	struct piece *piece;

	while (p->position < from) {
		size_t n = from - p->position < sizeof(skipped) ? (size_t)(from - p->position) :
								   sizeof(skipped);
		if (more(core, skipped, n) < n)
			return SC_ENOTFOUND;
	}
	while (from < end) {
		size_t n = end - from < 1u << 20 ? (size_t)(end - from) : 1u << 20, have;

		if (n > p->keep_left) {
			core->missing += !core->missing;
			return SC_ENOTFOUND;
		}
		p->keep_left -= n;
		piece = vec_push(&p->pieces);
		bytes = piece ? malloc(n) : NULL;

		if (!bytes) {
			p->pieces.len -= piece != NULL;
			return SC_ENOMEM;
		}
		have = more(core, bytes, n);
		if (!have) {
			free(bytes);
			p->pieces.len--;
			return SC_ENOTFOUND;
		}
		*piece = (struct piece){ from, have, bytes };
		from += have;
		if (have < n)
			return SC_ENOTFOUND;
	}
	return 0;
}

static bool range_before(const struct range *a, const struct range *b)
{
	return a->offset < b->offset;
}

SC_SORT(sort_ranges, struct range, range_before)

/* The first byte at or behind `offset`, below `end`, that is not kept. */
static uint64_t first_unkept(const struct symcache_core_private *p, uint64_t offset, uint64_t end)
{
	const struct piece *piece;

	while (offset < end && (piece = piece_at(p, offset)))
		offset = piece->offset + piece->size;
	return offset;
}

/* The end of what is not kept from `offset` on. */
static uint64_t end_of_unkept(const struct symcache_core_private *p, uint64_t offset, uint64_t end)
{
	const size_t n = SC_SEARCH(i, p->num_sorted, p->pieces.data[i].offset <= offset);

	return n < p->num_sorted && p->pieces.data[n].offset < end ? p->pieces.data[n].offset : end;
}

/* Joins what is sorted and overlaps. */
static size_t unite(struct range *ranges, size_t n)
{
	size_t last = 0;

	for (size_t i = 1; i < n; i++) {
		if (ranges[i].offset > ranges[last].end)
			ranges[++last] = ranges[i];
		else if (ranges[i].end > ranges[last].end)
			ranges[last].end = ranges[i].end;
	}
	return n ? last + 1 : 0;
}

/* Keeps what is not kept of a range; ranges come in ascending order, so what was added meanwhile
 * lies in front of it. As keep_range(). */
static int keep_unkept(struct symcache_core *core, const struct range *r)
{
	struct symcache_core_private *p = core->private;
	uint64_t from, end;
	int rc = 0;

	for (from = first_unkept(p, r->offset, r->end); from < r->end && !rc;
	     from = first_unkept(p, end, r->end)) {
		if ((!p->stream || from < p->position) && !restart(p))
			return SC_ENOTFOUND;
		end = end_of_unkept(p, from, r->end);
		rc = keep_range(core, from, end);
	}
	return rc;
}

/* Sorts the pieces, if what was added does not stand behind the others anyway. */
static bool order_pieces(struct symcache_core_private *p)
{
	for (size_t i = p->num_sorted; i < p->pieces.len; i++)
		if (i && by_offset(&p->pieces.data[i], &p->pieces.data[i - 1]))
			return sort_pieces(p->pieces.data, p->pieces.len);
	return true;
}

int sc_core_keep(struct symcache_core *core, struct range *ranges, size_t n, struct sc_error *err)
{
	struct symcache_core_private *p = core->private;
	int rc = 0;

	if (!p->compressed)
		return 0;
	if (!sort_ranges(ranges, n))
		return sc_no_memory(err);
	n = unite(ranges, n);
	for (size_t i = 0; i < n && !rc; i++)
		rc = keep_unkept(core, &ranges[i]);
	if (!order_pieces(p))
		rc = SC_ENOMEM;
	p->num_sorted = p->pieces.len;
	return rc == SC_ENOMEM ? sc_error_set(err, rc, "out of memory") : 0;
}

uint64_t sc_core_file_end(struct symcache_core *core, uint64_t offset, uint64_t size)
{
	const struct symcache_core_private *p = core->private;
	const uint64_t end = offset + size < offset ? UINT64_MAX : offset + size;

	if (p->compressed)
		return first_unkept(p, offset, end);
	if (end <= p->file_size)
		return end;
	core->missing += !core->missing;
	return offset < p->file_size ? p->file_size : offset;
}

bool sc_core_file(struct symcache_core *core, uint64_t offset, void *to, size_t bytes)
{
	struct symcache_core_private *p = core->private;
	uint8_t *out = to;
	size_t n;

	if (!p->compressed && offset > INT64_MAX - bytes)
		return false;
	for (; bytes; bytes -= n, offset += n) {
		const uint8_t *from = kept_at(p, offset, &n);

		if (!from && !p->compressed)
			from = plain_at(p, offset, &n);
		if (!from)
			return false;
		n = n < bytes ? n : bytes;
		out = mempcpy(out, from, n);
	}
	return true;
}

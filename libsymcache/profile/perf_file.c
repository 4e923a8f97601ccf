/* What is in perf.data: see perf_file.h. Records are entered one by one, then sorted by time. */
#include "libsymcache/profile/perf_file.h"

#include "libsymcache/base/sort.h"
#include "libsymcache/profile/packing.h"

/* Records that perf adds to those of the kernel. */
enum {
	HEADER_ATTR = 64, HEADER_TRACING_DATA = 66, HEADER_BUILD_ID = 67, AUXTRACE = 71,
	EVENT_UPDATE = 78, HEADER_FEATURE = 80, COMPRESSED = 81, COMPRESSED2 = 83,
};

enum { PIPE_HEADER = 16, FILE_HEADER = 104, ATTR_SIZE_MIN = 64, NUM_FEATURES = 256 };

/* ---- records ------------------------------------------------------------------------------------ */

const uint8_t *perf_bytes(const struct perf_file *f, uint64_t at, size_t *size)
{
	const uint8_t *bytes = at < f->in.size ? f->in.bytes + at :
						 f->inflated.v.data + (at - f->in.size);

	*size = (size_t)(bytes[6] | bytes[7] << 8);
	return bytes;
}

/* One of the kernel's that matter. */
static int add_record(struct perf_file *f, const uint8_t *bytes, size_t size, uint64_t at,
		      struct sc_error *err)
{
	const uint8_t type = bytes[0];
	struct perf_record *r;

	if (bytes[1] | bytes[2] | bytes[3] ||
	    (type != PERF_MMAP && type != PERF_MMAP2 && type != PERF_COMM && type != PERF_FORK &&
	     type != PERF_SAMPLE))
		return 0;
	if (type == PERF_MMAP2 && bytes[5] & 1 << 6) { /* it has a build ID */
		struct dw_cursor id = perf_cursor_of(bytes, size, 44),
				   name = perf_cursor_of(bytes, size, 72);
		const uint8_t *p = perf_take(&id, 20);

		if (p && bytes[40] <= 20 && perf_add_id(f, perf_string(&name), p, bytes[40], err))
			return err->code;
	}
	r = vec_push(&f->records);
	if (!r)
		return sc_no_memory(err);
	*r = (struct perf_record){ perf_time_of(f, bytes, size), at };
	return 0;
}

/* Inflates what a record has, behind what is there. */
static int inflate(struct perf_file *f, const uint8_t *p, size_t size, struct sc_error *err)
{
	size_t taken = size;
	int rc = f->inflate ? 0 : symcache_inflate_create(p, size, 1, &f->inflate, err);

	if (!rc && !f->inflate)
		return perf_bad(f, p, "the compressed data is not zstd's", err);
	rc = rc ? rc : prof_inflate(f->inflate, &f->inflated, p, &taken, false, err);
	return rc && rc != SC_ELIMIT ? sc_error_prefix(err, "at 0x%zx: ",
						       (size_t)(p - f->in.bytes) + taken) : rc;
}

/* The records that are whole by now among what was compressed. */
static int add_inflated(struct perf_file *f, struct sc_error *err)
{
	int rc = 0;

	while (!rc && f->inflated.v.len - f->parsed >= 8) {
		size_t size;
		const uint8_t *bytes = perf_bytes(f, f->in.size + f->parsed, &size);

		if (size < 8)
			return perf_bad(f, bytes, "a record is shorter than its header", err);
		if (size > f->inflated.v.len - f->parsed)
			break;
		rc = add_record(f, bytes, size, f->in.size + f->parsed, err);
		f->parsed += size;
	}
	return rc;
}

/* What follows a record, and is not counted in its size. */
static uint64_t behind(unsigned type, const uint8_t *bytes, size_t size)
{
	struct dw_cursor c = perf_cursor_of(bytes, size, 8);

	return type == AUXTRACE ? dw_u64(&c) :
	       type == HEADER_TRACING_DATA ? ((uint64_t)dw_u32(&c) + 7) & ~(uint64_t)7 : 0;
}

static int read_record(struct perf_file *f, unsigned type, const uint8_t *bytes, size_t size,
		       struct sc_error *err)
{
	struct dw_cursor c = perf_cursor_of(bytes, size, 8);
	size_t attr;
	int rc;

	switch (type) {
	case HEADER_ATTR:
		dw_u32(&c);
		attr = dw_u32(&c);
		if (c.bad || attr < ATTR_SIZE_MIN || attr > size - 8)
			return perf_bad(f, bytes, "an event is cut off", err);
		return perf_add_event(f, bytes + 8, attr, perf_cursor_of(bytes, size, 8 + attr), err);
	case HEADER_BUILD_ID:
		return perf_read_id(f, bytes, size, err);
	case EVENT_UPDATE:
		perf_read_update(f, bytes, size);
		return 0;
	case HEADER_FEATURE:
		return perf_read_feature(f, (unsigned)dw_u64(&c), c, err);
	case COMPRESSED:
	case COMPRESSED2:
		attr = type == COMPRESSED2 ? (size_t)dw_u64(&c) : size - 8;
		attr = attr < (size_t)(c.end - c.p) ? attr : (size_t)(c.end - c.p);
		rc = inflate(f, c.p, attr, err);
		return rc ? rc : add_inflated(f, err);
	default:
		return add_record(f, bytes, size, (uint64_t)(bytes - f->in.bytes), err);
	}
}

static int read_records(struct perf_file *f, size_t at, size_t end, struct sc_error *err)
{
	int rc = 0;

	while (!rc && at < end) {
		const uint8_t *bytes = f->in.bytes + at;
		uint64_t more;
		unsigned type;
		size_t size;

		if (end - at < 8)
			return perf_bad(f, bytes, "a record is cut off", err);
		perf_bytes(f, at, &size);
		if (size < 8)
			return perf_bad(f, bytes, "a record is shorter than its header", err);
		type = bytes[0] | bytes[1] << 8;
		more = size <= end - at ? behind(type, bytes, size) : 0;
		if (size > end - at || more > end - at - size)
			return perf_bad(f, bytes, "a record goes past the end", err);
		rc = read_record(f, type, bytes, size, err);
		at += size + (size_t)more;
	}
	if (!rc && f->parsed < f->inflated.v.len)
		return sc_error_set(err, SC_EFORMAT, "in the uncompressed data: a record is cut off");
	return rc;
}

/* ---- files -------------------------------------------------------------------------------------- */

/* A part of the file, by the offset and the size at c. *ret is bad if it goes past the end. */
static struct dw_cursor section(const struct perf_file *f, struct dw_cursor *c)
{
	const uint64_t at = dw_u64(c), size = dw_u64(c);
	struct dw_cursor ret = perf_cursor_of(f->in.bytes, f->in.size,
						at < f->in.size ? (size_t)at : f->in.size);

	ret.bad = at > f->in.size || size > (size_t)(ret.end - ret.p);
	ret.end = ret.bad ? ret.p : ret.p + size;
	return ret;
}

static int read_attrs(struct perf_file *f, struct dw_cursor attrs, uint64_t attr_size,
		      struct sc_error *err)
{
	int rc = 0;

	if (attr_size < ATTR_SIZE_MIN + 16)
		return perf_bad(f, f->in.bytes + 16, "the size of events is too small", err);
	while (!rc && attrs.p < attrs.end) {
		const uint8_t *p = perf_take(&attrs, attr_size);
		struct dw_cursor at = perf_cursor_of(p, p ? (size_t)attr_size : 0,
						       (size_t)attr_size - 16), ids;

		if (!p)
			return perf_bad(f, attrs.p, "an event is cut off", err);
		ids = section(f, &at);
		if (ids.bad)
			return perf_bad(f, p, "the ids of an event go past the end", err);
		rc = perf_add_event(f, p, (size_t)attr_size - 16, ids, err);
	}
	return rc;
}

static int read_features(struct perf_file *f, const uint8_t *bits, struct dw_cursor data,
			 struct sc_error *err)
{
	struct dw_cursor at = perf_cursor_of(f->in.bytes, f->in.size,
					       (size_t)(data.end - f->in.bytes));
	int rc = 0;

	for (unsigned i = 0; i < NUM_FEATURES && !rc; i++) {
		struct dw_cursor of;

		if (!(bits[i / 8] >> i % 8 & 1))
			continue;
		of = section(f, &at);
		if (at.bad || of.bad)
			return perf_bad(f, data.end, "the sections behind the data go past the end", err);
		rc = perf_read_feature(f, i, of, err);
	}
	return rc;
}

static int read_whole(struct perf_file *f, struct sc_error *err)
{
	struct dw_cursor c = perf_cursor_of(f->in.bytes, f->in.size, 16), attrs, data;
	const uint64_t attr_size = dw_u64(&c);
	int rc;

	attrs = section(f, &c);
	data = section(f, &c);
	if (c.bad || f->in.size < FILE_HEADER || attrs.bad || data.bad)
		return perf_bad(f, f->in.bytes, "the file is cut off", err);
	if (data.p == data.end)
		return sc_error_set(err, SC_EUNSUPPORTED, "it has no data: perf record was not ended");
	rc = read_attrs(f, attrs, attr_size, err);
	rc = rc ? rc : read_features(f, f->in.bytes + 72, data, err);
	return rc ? rc : read_records(f, (size_t)(data.p - f->in.bytes),
				      (size_t)(data.end - f->in.bytes), err);
}

static inline bool record_before(const struct perf_record *a, const struct perf_record *b)
{
	return a->time < b->time;
}

SC_SORT(sort_records, struct perf_record, record_before)

int perf_file_read(struct perf_file *f, const struct prof_input *in, struct sc_error *err)
{
	struct dw_cursor c = perf_cursor_of(in->bytes, in->size, 8);
	int rc;

	f->in = *in;
	f->parsed = 0;
	f->arch[0] = 0;
	symcache_inflate_destroy(f->inflate);
	f->inflate = NULL;
	vec_clear(&f->inflated.v);
	vec_clear(&f->events);
	prof_ids_clear(&f->ids);
	vec_clear(&f->event_of);
	vec_clear(&f->records);
	prof_texts_clear(&f->names);
	vec_clear(&f->id_of);
	rc = dw_u64(&c) == PIPE_HEADER ? read_records(f, PIPE_HEADER, in->size, err) :
					   read_whole(f, err);
	if (!rc && !f->events.len)
		rc = sc_error_set(err, SC_EFORMAT, "it has no events");
	if (!rc && !sort_records(f->records.data, f->records.len))
		rc = sc_no_memory(err);
	return rc;
}

void perf_file_deinit(struct perf_file *f)
{
	symcache_inflate_destroy(f->inflate);
	prof_bytes_deinit(&f->inflated);
	vec_deinit(&f->events);
	prof_ids_deinit(&f->ids);
	vec_deinit(&f->event_of);
	vec_deinit(&f->records);
	prof_texts_deinit(&f->names);
	vec_deinit(&f->id_of);
}

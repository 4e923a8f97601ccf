/* Events of perf.data with their names, and build IDs: see perf_file.h. */
#include "libsymcache/profile/perf_file.h"

#include <stdio.h>

/* Features: sections behind the data. */
enum { FEATURE_BUILD_ID = 2, FEATURE_ARCH = 6, FEATURE_EVENT_DESC = 12 };

enum {
	MISC_MORE = 1 << 15, /* of a build ID: its length is there */
	FREQUENCY = 1 << 10, /* of an event's flags */
	UPDATE_NAME = 2,
	BUILD_IDS_MAX = 1 << 20,
};

int perf_bad(const struct perf_file *f, const uint8_t *where, const char *why,
	       struct sc_error *err)
{
	if (where < f->in.bytes || where > f->in.bytes + f->in.size)
		return sc_error_set(err, SC_EFORMAT, "in the uncompressed data: %s", why);
	return prof_bad(&f->in, where, why, err);
}

/* ---- events ----------------------------------------------------------------------------------- */

static void name_event(struct perf_event *e)
{
	static const char *const hardware[] = { "cycles", "instructions", "cache-references",
		"cache-misses", "branches", "branch-misses", "bus-cycles" };
	static const char *const software[] = { "cpu-clock", "task-clock", "page-faults",
		"context-switches", "cpu-migrations", "minor-faults", "major-faults" };
	const bool known = e->config < sizeof(hardware) / sizeof(*hardware);

	snprintf(e->name, sizeof(e->name), "%s", known && e->type == 0 ? hardware[e->config] :
		 known && e->type == 1 ? software[e->config] : "event");
}

/* An event, whose struct perf_event_attr is at c, and whose ids are `ids`. */
int perf_add_event(struct perf_file *f, const uint8_t *attr, size_t size, struct dw_cursor ids,
		     struct sc_error *err)
{
	struct dw_cursor c = perf_cursor_of(attr, size, 0);
	struct perf_event *e = f->events.len < PERF_EVENTS_MAX ? vec_push(&f->events) : NULL;

	if (!e)
		return f->events.len < PERF_EVENTS_MAX ? sc_no_memory(err) :
			sc_error_set(err, SC_ELIMIT, "it has more than %d events", PERF_EVENTS_MAX);
	e->type = dw_u32(&c);
	dw_u32(&c); /* its size */
	e->config = dw_u64(&c);
	e->period = dw_u64(&c); /* or a frequency */
	e->sample_type = dw_u64(&c);
	e->read_format = dw_u64(&c);
	e->flags = dw_u64(&c);
	if (c.bad)
		return perf_bad(f, attr, "an event is cut off", err);
	if (e->flags & FREQUENCY || !e->period)
		e->period = 1;
	perf_take(&c, 72 - 48);
	e->branch_type = dw_u64(&c); /* 0 in older ones, which are shorter */
	e->regs = dw_u64(&c);
	name_event(e);
	while (ids.p < ids.end) {
		const uint64_t id = dw_u64(&ids);
		uint32_t *of = vec_push(&f->event_of);

		if (!of || !prof_ids_add(&f->ids, id))
			return sc_no_memory(err);
		*of = (uint32_t)(f->events.len - 1);
	}
	return 0;
}

static void set_name(struct perf_file *f, size_t event, struct sc_str name)
{
	if (event < f->events.len && name.len)
		snprintf(f->events.data[event].name, sizeof(f->events.data[event].name), "%.*s",
			 (int)(name.len & 0xff), name.ptr);
}

/* Feature EVENT_DESC: a list of events with their names, in the order of the attributes. */
static void read_names(struct perf_file *f, struct dw_cursor c)
{
	const uint32_t n = dw_u32(&c), attr_size = dw_u32(&c);

	for (uint32_t i = 0; i < n && !c.bad; i++) {
		uint32_t num_ids, len;
		struct dw_cursor text;

		perf_take(&c, attr_size);
		num_ids = dw_u32(&c);
		len = dw_u32(&c);
		text = c;
		if (perf_take(&c, len)) {
			text.end = c.p;
			set_name(f, i, perf_string(&text));
		}
		perf_take(&c, (uint64_t)num_ids * 8);
	}
}

/* The name of the event with an id: of pipes. */
void perf_read_update(struct perf_file *f, const uint8_t *bytes, size_t size)
{
	struct dw_cursor c = perf_cursor_of(bytes, size, 8);
	const uint64_t kind = dw_u64(&c), id = dw_u64(&c);
	const uint32_t at = prof_ids_find(&f->ids, id);

	if (kind == UPDATE_NAME && at != PROF_NONE)
		set_name(f, f->event_of.data[at], perf_string(&c));
}

/* ---- build IDs --------------------------------------------------------------------------------- */

int perf_add_id(struct perf_file *f, struct sc_str name, const uint8_t *id, size_t len,
		  struct sc_error *err)
{
	uint32_t at;

	while (len > 8 && !id[len - 1]) /* of those whose length is not said */
		len--;
	if (!name.len || len > SYMCACHE_BUILD_ID_MAX || f->id_of.len >= BUILD_IDS_MAX)
		return 0;
	at = prof_texts_add(&f->names, name.ptr, name.len);
	if (at == PROF_NONE || (at == f->id_of.len && !vec_push(&f->id_of)))
		return sc_no_memory(err);
	memcpy(f->id_of.data[at].bytes, id, len);
	f->id_of.data[at].len = len;
	return 0;
}

/* A record of the feature, and of pipes. */
int perf_read_id(struct perf_file *f, const uint8_t *bytes, size_t size, struct sc_error *err)
{
	struct dw_cursor c = perf_cursor_of(bytes, size, 12), name = perf_cursor_of(bytes, size, 36);
	const uint8_t *id = perf_take(&c, 20);
	const uint16_t misc = (uint16_t)(bytes[4] | bytes[5] << 8);

	if (!id || name.bad)
		return perf_bad(f, bytes, "a build ID is cut off", err);
	return perf_add_id(f, perf_string(&name), id, misc & MISC_MORE && bytes[32] <= 20 ? bytes[32] : 20,
		      err);
}

static int read_ids(struct perf_file *f, struct dw_cursor c, struct sc_error *err)
{
	int rc = 0;

	while (!rc && c.end - c.p >= 8) {
		const uint8_t *bytes = c.p;
		const size_t size = (size_t)(bytes[6] | bytes[7] << 8);

		if (size < 8 || !perf_take(&c, size))
			return perf_bad(f, bytes, "a build ID is cut off", err);
		rc = perf_read_id(f, bytes, size, err);
	}
	return rc;
}

const struct perf_id *perf_file_id(const struct perf_file *f, struct sc_str name)
{
	const uint32_t at = prof_texts_find(&f->names, name);

	return at == PROF_NONE ? NULL : &f->id_of.data[at];
}

int perf_read_feature(struct perf_file *f, unsigned feature, struct dw_cursor c,
			struct sc_error *err)
{
	if (feature == FEATURE_BUILD_ID)
		return read_ids(f, c, err);
	if (feature == FEATURE_EVENT_DESC) {
		read_names(f, c);
	} else if (feature == FEATURE_ARCH) {
		const uint32_t len = dw_u32(&c);
		struct sc_str arch;

		c.end = len < (size_t)(c.end - c.p) ? c.p + len : c.end;
		arch = perf_string(&c);
		snprintf(f->arch, sizeof(f->arch), "%.*s", (int)(arch.len & 0xf), arch.ptr);
	}
	return 0;
}

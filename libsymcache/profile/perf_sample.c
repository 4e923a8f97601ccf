/* Fields of samples, and what follows other records: see perf_file.h. */
#include "libsymcache/profile/perf_file.h"

enum {
	SAMPLE_ID_ALL = 1 << 18, /* of an event's flags: other records end in times, too */
	BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19,
	READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16,
	CPUMODE = 7, GUEST_KERNEL = 4, GUEST_USER = 5,
};

/* Fields behind records other than samples, in this order; 8 bytes each. */
static const uint64_t id_fields[] = { PERF_TID, PERF_TIME, PERF_ID, PERF_STREAM_ID, PERF_CPU,
				      PERF_IDENTIFIER };
enum { NUM_ID_FIELDS = sizeof(id_fields) / sizeof(*id_fields) };

static bool is_sample(const uint8_t *bytes)
{
	return bytes[0] == PERF_SAMPLE && !bytes[1] && !bytes[2] && !bytes[3];
}

/* The field of a record other than a sample, or where it is none, `none`. */
static uint64_t id_field(const struct perf_event *e, const uint8_t *bytes, size_t size,
			 uint64_t field, uint64_t none)
{
	size_t back = 0;

	if (!(e->flags & SAMPLE_ID_ALL) || !(e->sample_type & field))
		return none;
	for (size_t i = NUM_ID_FIELDS; i--;) {
		back += e->sample_type & id_fields[i] ? 8 : 0;
		if (id_fields[i] == field)
			break;
	}
	if (size < 8 + back)
		return none;
	struct dw_cursor c = perf_cursor_of(bytes, size, size - back);

	return dw_u64(&c);
}

/* Where the id of a sample stands: bytes behind its header. */
static size_t place_of_id(const struct perf_event *e)
{
	static const uint64_t before[] = { PERF_IP, PERF_TID, PERF_TIME, PERF_ADDR };
	size_t at = 0;

	if (e->sample_type & PERF_IDENTIFIER)
		return 0;
	for (size_t i = 0; i < sizeof(before) / sizeof(*before); i++)
		at += e->sample_type & before[i] ? 8 : 0;
	return at;
}

/* The event of a record, by its id; PROF_NONE: none. With several events, all have their id at
 * the same place. */
static uint32_t event_of(const struct perf_file *f, const uint8_t *bytes, size_t size)
{
	const struct perf_event *e = f->events.data;
	struct dw_cursor c;
	uint32_t at;

	if (f->events.len < 2)
		return f->events.len ? 0 : PROF_NONE;
	if (!(e->sample_type & (PERF_IDENTIFIER | PERF_ID)))
		return 0;
	if (!is_sample(bytes)) {
		at = prof_ids_find(&f->ids, id_field(e, bytes, size, e->sample_type & PERF_IDENTIFIER ?
						PERF_IDENTIFIER : PERF_ID, 0));
		return at == PROF_NONE ? 0 : f->event_of.data[at];
	}
	c = perf_cursor_of(bytes, size, 8 + place_of_id(e));
	at = prof_ids_find(&f->ids, dw_u64(&c));
	return at == PROF_NONE ? PROF_NONE : f->event_of.data[at];
}

uint64_t perf_time_of(const struct perf_file *f, const uint8_t *bytes, size_t size)
{
	const uint32_t event = event_of(f, bytes, size);
	const struct perf_event *e = event == PROF_NONE ? NULL : &f->events.data[event];
	struct dw_cursor c;

	if (!e)
		return 0;
	if (!is_sample(bytes))
		return id_field(e, bytes, size, PERF_TIME, 0);
	if (!(e->sample_type & PERF_TIME))
		return 0;
	c = perf_cursor_of(bytes, size, 8);
	perf_take(&c, 8 * (size_t)(!!(e->sample_type & PERF_IDENTIFIER) +
				   !!(e->sample_type & PERF_IP) + !!(e->sample_type & PERF_TID)));
	return dw_u64(&c);
}

/* Steps over the counters of a sample. */
static void skip_read(struct dw_cursor *c, uint64_t format)
{
	const uint64_t times = !!(format & READ_ENABLED) + !!(format & READ_RUNNING),
		       each = 1 + !!(format & READ_ID) + !!(format & READ_LOST);
	const uint64_t n = format & READ_GROUP ? dw_u64(c) : 1;

	perf_take(c, times * 8);
	if (n > (size_t)(c->end - c->p) / 8)
		c->bad = true;
	else
		perf_take(c, n * each * 8);
}

static void skip_branches(struct dw_cursor *c, uint64_t type)
{
	const uint64_t n = dw_u64(c);

	if (type & BRANCH_HW_INDEX)
		dw_u64(c);
	if (n > (size_t)(c->end - c->p) / 24)
		c->bad = true;
	else
		perf_take(c, n * (type & BRANCH_COUNTERS ? 32 : 24));
}

/* Registers and stack of the program. */
static void read_user(const struct perf_event *e, struct dw_cursor *c, struct perf_sample *ret)
{
	if (e->sample_type & PERF_REGS_USER) {
		ret->abi = dw_u64(c);
		if (ret->abi)
			ret->regs = perf_take(c, 8 * (uint64_t)__builtin_popcountll(e->regs));
	}
	if (e->sample_type & PERF_STACK_USER) {
		const uint64_t size = dw_u64(c);

		if (size) {
			ret->stack = perf_take(c, size);
			ret->stack_size = dw_u64(c); /* of it that was there */
			ret->stack_size = ret->stack_size < size ? ret->stack_size : size;
		}
	}
}

bool perf_read_sample(const struct perf_file *f, const uint8_t *bytes, size_t size,
		      struct perf_sample *ret)
{
	const uint32_t event = event_of(f, bytes, size);
	struct dw_cursor c = perf_cursor_of(bytes, size, 8);
	const unsigned mode = bytes[4] & CPUMODE;
	const struct perf_event *e;
	uint64_t type;

	*ret = (struct perf_sample){ .event = event };
	if (event == PROF_NONE)
		return false;
	e = &f->events.data[event];
	type = e->sample_type;
	ret->guest = mode == GUEST_KERNEL || mode == GUEST_USER;
	perf_take(&c, type & PERF_IDENTIFIER ? 8 : 0);
	if (type & PERF_IP)
		ret->ip = dw_u64(&c);
	if (type & PERF_TID) {
		ret->pid = dw_u32(&c);
		ret->tid = dw_u32(&c);
	}
	perf_take(&c, 8 * (size_t)(!!(type & PERF_TIME) + !!(type & PERF_ADDR) + !!(type & PERF_ID) +
				   !!(type & PERF_STREAM_ID) + !!(type & PERF_CPU)));
	ret->period = type & PERF_PERIOD ? dw_u64(&c) : e->period;
	if (type & PERF_READ)
		skip_read(&c, e->read_format);
	if (type & PERF_CALLCHAIN) {
		ret->num_chain = dw_u64(&c);
		if (ret->num_chain > (size_t)(c.end - c.p) / 8)
			return false;
		ret->chain = perf_take(&c, ret->num_chain * 8);
	}
	if (type & PERF_RAW)
		perf_take(&c, dw_u32(&c));
	if (type & PERF_BRANCH_STACK)
		skip_branches(&c, e->branch_type);
	read_user(e, &c, ret);
	return !c.bad;
}

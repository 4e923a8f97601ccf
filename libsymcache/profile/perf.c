/*
 * perf.data → pprof: see perf.h. Records are replayed in the order of their times: what is mapped
 * where in each process, the names of threads, and samples, whose addresses become locations.
 */
#include "libsymcache/profile/perf.h"

#include <stdio.h>
#include <xxhash.h>

/* Markers in chains: what follows is of that; all numbers above MARKERS are some. */
#define MARKERS ((uint64_t)-4096)
#define MARK_USER ((uint64_t)-512)
#define MARK_GUEST ((uint64_t)-2048)
#define MARK_GUEST_USER ((uint64_t)-2560)

enum { LOWEST = 4096 }; /* no code is below */

/* ---- samples -------------------------------------------------------------------------------- */

static bool used_equal(const void *ctx, uint32_t i)
{
	const struct perf_profile *p = ctx;

	return !memcmp(&p->used.data[i], vec_end(&p->used) - 1, sizeof(*p->used.data));
}

/* The id of a mapping in the profile, which gets it if it is new; 0: out of memory. */
static uint64_t mapping_id(struct perf_profile *p, const struct symcache_mapping *m,
			   struct prof_builder *b)
{
	struct perf_mapping *to = p->used.len < PROF_NONE ? vec_push(&p->used) : NULL;
	char id[SYMCACHE_BUILD_ID_TEXT];
	uint32_t *slot;

	if (!to)
		return 0;
	*to = (struct perf_mapping){ m->image, m->start, m->end, m->offset };
	slot = sc_intern_find(&p->used_set, XXH3_64bits(to, sizeof(*to)), used_equal, p);
	if (!slot)
		return 0;
	if (*slot != SC_INTERN_NEW) {
		p->used.len--;
		return *slot + (uint64_t)1;
	}
	*slot = (uint32_t)(p->used.len - 1);
	symcache_build_id_text(id, m->image->build_id, m->image->build_id_len);
	return prof_build_mapping(b, m->start, m->end, m->offset, sc_str_of(m->image->path),
				  sc_str_of(id));
}

/* Adds a location of the stack that is read, of a process or of the kernel. */
static bool add_location(struct perf_profile *p, uint64_t pid, uint64_t address,
			 struct prof_builder *b)
{
	const struct symcache_process *process = perf_process_of(p, pid);
	const struct symcache_mapping *m = process ? symcache_process_at(process, address) : NULL;
	const uint64_t mapping = m ? mapping_id(p, m, b) : 0;
	uint64_t *to = vec_push(&p->locations);
	const char *name = "";

	if (!to || (m && !mapping) ||
	    (pid < PERF_KERNEL_PID && !perf_jitted(p, (uint32_t)pid, m, address, &name)))
		return false;
	*to = *name ? prof_build_named_location(b, mapping, address, sc_str_of(name)) :
		      prof_build_location(b, mapping, address);
	return true;
}

/* The frames of the chain; `no_user`: those of the program are found otherwise. */
static bool add_chain(struct perf_profile *p, const struct perf_sample *s, bool no_user,
		      struct prof_builder *b)
{
	const uint8_t *chain = s->chain ? s->chain : (const uint8_t *)&s->ip;
	const uint64_t n = s->chain ? s->num_chain : 1;
	bool first = true, guest = s->guest;

	for (uint64_t i = 0; i < n; i++) {
		struct dw_cursor c = perf_cursor_of(chain + i * 8, 8, 0);
		const uint64_t ip = s->chain ? dw_u64(&c) : s->ip;
		const bool kernel = ip >> 63;

		if (ip > MARKERS) {
			first |= ip == MARK_USER || ip == MARK_GUEST_USER;
			guest = ip <= MARK_GUEST && ip >= MARK_GUEST_USER;
			continue;
		}
		if (!(no_user && !kernel) && (first || ip > LOWEST) &&
		    !add_location(p, !kernel ? s->pid : guest ? PERF_GUEST_PID : PERF_KERNEL_PID,
				  ip - !first, b))
			return false;
		first = false;
	}
	return true;
}

/* The frames of the program, by its registers and its stack. */
static bool add_walked(struct perf_profile *p, uint32_t pid, struct prof_builder *b)
{
	for (size_t i = 0; i < p->walked.num_frames; i++) {
		const struct symcache_unwind_frame *f = &p->walked.frames[i];

		if (f->trust >= SYMCACHE_TRUST_SCAN) /* that may be anything */
			break;
		if (!add_location(p, pid, f->lookup_pc, b))
			return false;
	}
	return true;
}

static bool stack_equal(const void *ctx, uint32_t i)
{
	const struct perf_profile *p = ctx;
	const struct perf_stack *a = &p->stacks.data[i], *b = vec_end(&p->stacks) - 1;

	return a->pid == b->pid && a->tid == b->tid && a->comm == b->comm && a->num == b->num &&
	       (!a->num || !memcmp(p->locations.data + a->first, p->locations.data + b->first,
				   a->num * sizeof(*p->locations.data)));
}

/* Counts the sample whose locations are the last ones, from `first` on. */
static bool count(struct perf_profile *p, const struct perf_sample *s, size_t first)
{
	const size_t events = 2 * p->file.events.len;
	struct perf_stack *to = p->stacks.len < PROF_NONE ? vec_push(&p->stacks) : NULL;
	uint32_t *slot;
	int64_t *values;
	uint64_t hash;

	if (!to)
		return false;
	*to = (struct perf_stack){ s->pid, s->tid, perf_comm_of(p, s->tid), first,
				   p->locations.len - first };
	hash = prof_hash(to->num ? (const void *)(p->locations.data + first) : "",
			 to->num * sizeof(*p->locations.data));
	slot = sc_intern_find(&p->stack_set, hash + s->tid, stack_equal, p);
	if (!slot)
		return false;
	if (*slot == SC_INTERN_NEW) {
		*slot = (uint32_t)(p->stacks.len - 1);
		if (!vec_reserve(&p->values, events))
			return false;
		memset(vec_end(&p->values), 0, events * sizeof(*p->values.data));
		p->values.len += events;
	} else {
		p->stacks.len--;
		p->locations.len = first;
	}
	values = p->values.data + *slot * events + 2 * s->event;
	values[0]++;
	values[1] = (int64_t)((uint64_t)values[1] + s->period);
	return true;
}

static int read_sample(struct perf_profile *p, const uint8_t *bytes, size_t size,
		       struct prof_builder *b, struct sc_error *err)
{
	const size_t first = p->locations.len;
	struct symcache_process *process;
	struct perf_sample s;
	bool walked, added;

	if (!perf_read_sample(&p->file, bytes, size, &s))
		return sc_error_set(err, SC_EFORMAT, "a sample is cut off, or of no event");
	process = perf_process_of(p, s.pid);
	walked = process && perf_walk(p, process, &s);
	added = add_chain(p, &s, walked, b) && (!walked || add_walked(p, s.pid, b)) &&
		count(p, &s, first);
	return added ? 0 : sc_no_memory(err);
}

/* ---- all of it ------------------------------------------------------------------------------ */

static int replay(struct perf_profile *p, struct prof_builder *b, struct sc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < p->file.records.len && !rc; i++) {
		const uint64_t at = p->file.records.data[i].at;
		size_t size;
		const uint8_t *bytes = perf_bytes(&p->file, at, &size);

		switch (bytes[0]) {
		case PERF_COMM:
			rc = perf_read_comm(p, bytes, size, err);
			break;
		case PERF_FORK:
			rc = perf_read_fork(p, bytes, size, err);
			break;
		case PERF_SAMPLE:
			rc = read_sample(p, bytes, size, b, err);
			break;
		default:
			rc = perf_read_mmap(p, bytes, size, err);
		}
		if (rc == SC_EFORMAT && at < p->file.in.size)
			sc_error_prefix(err, "at 0x%llx: ", (unsigned long long)at);
	}
	return rc;
}

static void put_samples(const struct perf_profile *p, struct prof_builder *b)
{
	const size_t events = 2 * p->file.events.len;

	for (size_t i = 0; i < p->file.events.len; i++) {
		char type[80];

		snprintf(type, sizeof(type), "%s_sample", p->file.events.data[i].name);
		prof_build_type(b, type, "count");
		snprintf(type, sizeof(type), "%s_event", p->file.events.data[i].name);
		prof_build_type(b, type, "count");
	}
	for (size_t i = 0; i < p->stacks.len; i++) {
		const struct perf_stack *s = &p->stacks.data[i];
		const struct prof_label labels[] = {
			{ .key = "pid", .number = s->pid }, { .key = "tid", .number = s->tid },
			{ .key = "comm", .text = prof_texts_at(&p->comms, s->comm) },
		};

		prof_build_sample(b, &(struct prof_sample){
			s->num ? p->locations.data + s->first : NULL, s->num,
			p->values.data + i * events, events, labels, 3 });
	}
}

/* Forgets the last file. */
static void clear(struct perf_profile *p)
{
	for (size_t i = 0; i < p->processes.len; i++)
		symcache_process_destroy(p->processes.data[i]);
	symcache_process_destroy(p->root);
	p->root = NULL;
	vec_clear(&p->processes);
	prof_ids_clear(&p->pids);
	prof_ids_clear(&p->tids);
	vec_clear(&p->comm_of);
	prof_texts_clear(&p->comms);
	vec_clear(&p->used);
	sc_intern_clear(&p->used_set);
	vec_clear(&p->locations);
	vec_clear(&p->stacks);
	vec_clear(&p->values);
	sc_intern_clear(&p->stack_set);
	perf_jit_clear(p);
	p->work = 0;
}

int perf_to_pprof(struct perf_profile *p, const struct prof_input *in,
		  const struct symcache_finder *finder, struct prof_builder *b,
		  struct prof_bytes *to, struct sc_error *err)
{
	int rc;

	clear(p);
	p->root = symcache_process_create(finder);
	if (!p->root || prof_texts_add(&p->comms, "", 0) == PROF_NONE)
		return sc_no_memory(err);
	rc = perf_file_read(&p->file, in, err);
	if (rc)
		return rc;
	prof_build_begin(b);
	rc = replay(p, b, err);
	if (rc)
		return rc;
	put_samples(p, b);
	return prof_build_end(b, to, err);
}

void perf_deinit(struct perf_profile *p)
{
	clear(p);
	perf_file_deinit(&p->file);
	prof_ids_deinit(&p->pids);
	vec_deinit(&p->processes);
	prof_ids_deinit(&p->tids);
	vec_deinit(&p->comm_of);
	prof_texts_deinit(&p->comms);
	vec_deinit(&p->used);
	sc_intern_deinit(&p->used_set);
	vec_deinit(&p->locations);
	vec_deinit(&p->stacks);
	vec_deinit(&p->values);
	sc_intern_deinit(&p->stack_set);
	symcache_stack_deinit(&p->walked);
	prof_ids_deinit(&p->jit_pids);
	vec_deinit(&p->jitted);
}

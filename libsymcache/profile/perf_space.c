/*
 * What is mapped where in each process, and the names of threads, as records of perf.data say: see
 * perf.h.
 *
 * Bounded: mappings that are moved, as many small records could move very many.
 */
#include "libsymcache/profile/perf.h"

#include <errno.h>

enum {
	MAPPED_DATA = 1 << 13, /* misc: of MMAP */
	EXEC = 1 << 13,        /* misc: of COMM */
	PROT_CODE = 4,
};

static unsigned misc_of(const uint8_t *bytes)
{
	return bytes[4] | (unsigned)bytes[5] << 8;
}

/* ---- processes ------------------------------------------------------------------------------ */

/* The number of a process; a new one has none yet. PROF_NONE: out of memory. */
static uint32_t number_of(struct perf_profile *p, uint64_t pid)
{
	const uint32_t at = prof_ids_find(&p->pids, pid);

	if (at != PROF_NONE)
		return at;
	return prof_ids_add(&p->pids, pid) && vec_push(&p->processes) ?
		(uint32_t)(p->processes.len - 1) : PROF_NONE;
}

struct symcache_process *perf_process_of(const struct perf_profile *p, uint64_t pid)
{
	const uint32_t at = prof_ids_find(&p->pids, pid);

	return at == PROF_NONE ? NULL : p->processes.data[at];
}

/* The process, made if it is new. NULL: out of memory. */
static struct symcache_process *make_process(struct perf_profile *p, uint64_t pid)
{
	const uint32_t at = number_of(p, pid);

	if (at == PROF_NONE)
		return NULL;
	if (!p->processes.data[at])
		p->processes.data[at] = symcache_process_fork(p->root);
	return p->processes.data[at];
}

/* Mappings that have to be moved now: are there too many by now? */
static int charge(struct perf_profile *p, const struct symcache_process *process,
		  struct sc_error *err)
{
	size_t n;

	symcache_process_mappings(process, &n);
	p->work += n;
	if (p->work > ((uint64_t)1 << 28) + p->file.in.size * 16)
		return sc_error_set(err, SC_ELIMIT, "it maps more than any real program");
	return 0;
}

/* What a process maps. */
struct row {
	uint64_t pid, start, len, offset;
	struct sc_str name;
	const uint8_t *id; /* NULL: as the file has it by the name */
	size_t id_len;
};

static int map(struct perf_profile *p, const struct row *row, struct sc_error *err)
{
	const bool guest = row->pid == PERF_KERNEL_PID && sc_str_begins(row->name, "[guest");
	struct symcache_process *process = make_process(p, guest ? PERF_GUEST_PID : row->pid);
	const char *bracket = sc_str_begins(row->name, "[") ? memchr(row->name.ptr, ']', row->name.len) : NULL;
	struct symcache_file_id of = { .path = row->name, .build_id = row->id,
				       .build_id_len = row->id_len };
	const struct perf_id *id = row->id ? NULL : perf_file_id(&p->file, row->name);
	struct symcache_mapping m = { row->start, row->start + row->len, row->offset,
				      SYMCACHE_FROM_FILE, NULL };
	int rc;

	if (!row->id && !id && bracket) /* a kernel's, without the symbol behind it */
		id = perf_file_id(&p->file, sc_span(row->name.ptr, bracket + 1));
	if (id) {
		of.build_id = id->bytes;
		of.build_id_len = id->len;
	}
	if (m.end < m.start)
		m.end = UINT64_MAX;
	if (!process || !row->len)
		return process ? 0 : sc_no_memory(err);
	errno = 0;
	m.image = symcache_process_image(process, &of);
	if (!m.image)
		return errno == ENOMEM ? sc_no_memory(err) :
			sc_error_set(err, SC_ELIMIT, "it maps more files than any real program");
	rc = charge(p, process, err);
	if (rc)
		return rc;
	rc = symcache_process_map(process, &m);
	return rc == SC_ELIMIT ? sc_error_set(err, rc, "it maps more than any real program") :
	       rc ? sc_no_memory(err) : 0;
}

int perf_read_mmap(struct perf_profile *p, const uint8_t *bytes, size_t size,
		     struct sc_error *err)
{
	const bool second = bytes[0] == PERF_MMAP2;
	struct dw_cursor c = perf_cursor_of(bytes, size, 8),
			   name = perf_cursor_of(bytes, size, second ? 72 : 40);
	struct row row = { .pid = dw_u32(&c) };

	dw_u32(&c); /* tid */
	row.start = dw_u64(&c);
	row.len = dw_u64(&c);
	row.offset = dw_u64(&c);
	if (name.bad || c.bad)
		return sc_error_set(err, SC_EFORMAT, "a mapping is cut off");
	row.name = perf_string(&name);
	if (second) {
		if (misc_of(bytes) & 1 << 14 && bytes[40] && bytes[40] <= 20) {
			row.id = bytes + 44;
			row.id_len = bytes[40];
		}
		c = perf_cursor_of(bytes, size, 64);
		if (!(dw_u32(&c) & PROT_CODE) && row.pid != PERF_KERNEL_PID)
			return 0;
	} else if (misc_of(bytes) & MAPPED_DATA) {
		return 0;
	}
	return map(p, &row, err);
}

static int name_thread(struct perf_profile *p, uint32_t tid, uint32_t comm, struct sc_error *err)
{
	uint32_t at = prof_ids_find(&p->tids, tid);

	if (at == PROF_NONE) {
		if (!prof_ids_add(&p->tids, tid) || !vec_push(&p->comm_of))
			return sc_no_memory(err);
		at = (uint32_t)(p->comm_of.len - 1);
	}
	p->comm_of.data[at] = comm;
	return comm == PROF_NONE ? sc_no_memory(err) : 0;
}

uint32_t perf_comm_of(const struct perf_profile *p, uint32_t tid)
{
	const uint32_t at = prof_ids_find(&p->tids, tid);

	return at == PROF_NONE ? 0 : p->comm_of.data[at];
}

int perf_read_comm(struct perf_profile *p, const uint8_t *bytes, size_t size,
		     struct sc_error *err)
{
	struct dw_cursor c = perf_cursor_of(bytes, size, 8);
	const uint32_t pid = dw_u32(&c), tid = dw_u32(&c);
	struct symcache_process *process = perf_process_of(p, pid);
	struct sc_str name;

	if (c.bad)
		return sc_error_set(err, SC_EFORMAT, "a name of a thread is cut off");
	name = perf_string(&c);
	if (misc_of(bytes) & EXEC && process)
		symcache_process_clear(process);
	return name_thread(p, tid, prof_texts_add(&p->comms, name.ptr, name.len), err);
}

int perf_read_fork(struct perf_profile *p, const uint8_t *bytes, size_t size,
		     struct sc_error *err)
{
	struct dw_cursor c = perf_cursor_of(bytes, size, 8);
	const uint32_t pid = dw_u32(&c), parent = dw_u32(&c), tid = dw_u32(&c),
		       parent_tid = dw_u32(&c);
	struct symcache_process *from = perf_process_of(p, parent), **to;
	uint32_t at;

	if (c.bad)
		return sc_error_set(err, SC_EFORMAT, "a fork is cut off");
	if (pid != parent) {
		at = number_of(p, pid);
		if (at == PROF_NONE)
			return sc_no_memory(err);
		to = &p->processes.data[at];
		symcache_process_destroy(*to);
		*to = from ? symcache_process_fork(from) : NULL;
		if (from && !*to)
			return sc_no_memory(err);
	}
	return name_thread(p, tid, perf_comm_of(p, parent_tid), err);
}

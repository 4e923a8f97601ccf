/*
 * All units of a file → flat ranges, variables and tables: see units.h.
 *
 * Each worker fills tables of its own; afterwards the others' are added to the
 * first one's and their numbers are translated. Units are then put back into
 * their order, so that whoever read them leaves no trace: numbers themselves do
 * not matter, since the layout renumbers by first use.
 */
#include "libsymcache/build/units.h"

#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/parallel.h"

/* The pieces that one unit gave. */
struct unit_pieces {
	uint32_t worker;
	uint32_t first, num;
};

struct worker {
	struct sc_units result;
	struct sc_flattener *flattener;
	struct dw_scanner *scanner;
	struct dw_unit facts;
	size_t first_bad;     /* index of the unit of first_fault */
	uint32_t first_range; /* where its ranges went among all */
	bool oom;
};

struct crew {
	struct worker *workers;
	VEC(struct unit_pieces) units;
	size_t first; /* unit of the round at hand */
};

void sc_units_deinit(struct sc_units *u)
{
	sc_tables_deinit(&u->tables);
	sc_flat_deinit(&u->flat);
	sc_data_deinit(&u->data);
}

static bool worker_init(struct worker *w, const struct dw_debug *debug,
			const struct sc_flatten_env *env)
{
	struct sc_flatten_env own = *env;

	own.tables = &w->result.tables;
	if (debug) { /* .debug_info is given back when all units are read */
		own.tables->transient = (const char *)debug->sections.info.data;
		own.tables->transient_size = debug->sections.info.size;
	}
	w->flattener = sc_flattener_create(&own);
	w->scanner = debug ? dw_scanner_create(debug) : NULL;
	return w->flattener && (w->scanner || !debug);
}

static void worker_deinit(struct worker *w)
{
	sc_units_deinit(&w->result);
	sc_flattener_destroy(w->flattener);
	dw_scanner_destroy(w->scanner);
	dw_unit_deinit(&w->facts);
}

/* Takes in the facts of unit `index`, read with result `rc`. */
static void take(struct worker *w, size_t index, int rc, const struct sc_error *fault)
{
	struct sc_units *r = &w->result;

	r->count++;
	r->entries += w->facts.entries;
	r->rows += w->facts.rows.len;
	if (rc == SC_EFORMAT && !r->bad++) {
		r->first_fault = *fault;
		w->first_bad = index;
	}
	w->oom |= rc == SC_ENOMEM || !sc_flatten(w->flattener, &w->facts, &r->flat) ||
		  !sc_data_add_unit(&r->data, &w->facts, (uint32_t)index, &r->tables);
}

int sc_units_libdw(struct dw_libdw_reader *reader, const struct sc_flatten_env *env,
		   struct sc_units *ret, struct sc_error *err)
{
	struct worker w = {0};
	struct sc_error fault;
	int rc;

	w.oom = !worker_init(&w, NULL, env);
	for (size_t i = 0; !w.oom; i++) {
		rc = dw_libdw_next(reader, &w.facts, &fault);
		if (rc == SC_ENOTFOUND)
			break;
		take(&w, i, rc, &fault);
	}
	*ret = w.result;
	memset(&w.result, 0, sizeof(w.result));
	worker_deinit(&w);
	return w.oom ? sc_error_set(err, SC_ENOMEM, "out of memory") : 0;
}

/* ---- many cores -------------------------------------------------------------- */

#define ROUND_BYTES (32u << 20) /* of .debug_info */

static void scan_job(void *ctx, unsigned worker, size_t job)
{
	struct crew *crew = ctx;
	struct worker *w = &crew->workers[worker];
	size_t index = crew->first + job;
	struct unit_pieces *u = &crew->units.data[index];
	struct sc_error fault;

	if (w->oom)
		return;
	u->worker = worker;
	u->first = (uint32_t)w->result.flat.pieces.len;
	take(w, index, dw_scan_unit(w->scanner, index, &w->facts, &fault), &fault);
	u->num = (uint32_t)w->result.flat.pieces.len - u->first;
}

/* The unit behind those of a round that begins with unit `first`. */
static size_t round_end(const struct dw_debug *d, size_t first, bool self_contained)
{
	size_t last = first;

	if (!self_contained)
		return d->units.len;
	while (last < d->units.len &&
	       (last == first ||
		d->units.data[last].end - d->units.data[first].offset < ROUND_BYTES))
		last++;
	return last;
}

static bool scan_round(struct crew *crew, size_t last, unsigned threads)
{
	while (crew->units.len < last)
		if (!vec_push(&crew->units))
			return false;
	sc_parallel(threads, last - crew->first, scan_job, crew);
	return true;
}

/* What was read turned out to be damaged: it depends on the moment how much that is. */
static void forget(struct crew *crew, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++) {
		sc_units_deinit(&crew->workers[i].result);
		memset(&crew->workers[i].result, 0, sizeof(crew->workers[i].result));
	}
	vec_clear(&crew->units);
}

/*
 * Reads all units, in rounds if they are self-contained: what a round has read is
 * given back. While .debug_info is still being inflated, which takes one of the
 * threads, a round is what has come of it.
 */
static bool scan_rounds(struct crew *crew, unsigned threads, const struct sc_unit_source *source)
{
	struct dw_debug *d = source->debug;
	size_t size = d->sections.info.size, want = 0, ready = size, last;

	for (;;) {
		if (source->wait) {
			want = size - want > ROUND_BYTES / 2 ? want + ROUND_BYTES / 2 : size;
			ready = source->wait(source->ctx, want);
			if (!ready) {
				forget(crew, threads);
				return true;
			}
			if (dw_debug_read_more(d, ready, NULL))
				return false;
		}
		last = round_end(d, crew->first, source->self_contained);
		if (last == crew->first) {
			if (ready == size)
				return true;
			want = ready; /* the next unit is larger than what is there */
			continue;
		}
		if (!scan_round(crew, last, ready < size && threads > 1 ? threads - 1 : threads))
			return false;
		want = d->units.data[last - 1].end;
		if (source->self_contained)
			sc_big_drop(d->sections.info.data + d->units.data[crew->first].offset,
				    want - d->units.data[crew->first].offset);
		crew->first = last;
	}
}

static uint32_t at(const uint32_t *map, uint32_t number)
{
	return number == SC_NONE ? SC_NONE : map[number];
}

/* Numbers of one worker's tables → numbers of the first one's. */
struct maps {
	uint32_t *strings, *files, *functions;
	uint32_t first_call; /* calls are of one unit each, so of one worker */
};

static uint32_t *new_map(size_t n)
{
	return malloc((n ? n : 1) * sizeof(uint32_t));
}

static void maps_deinit(struct maps *m)
{
	free(m->strings);
	free(m->files);
	free(m->functions);
}

static void translate(struct sc_location *l, const struct maps *m)
{
	l->file = at(m->files, l->file);
	l->function = at(m->functions, l->function);
	if (l->inlined_into != SC_NONE)
		l->inlined_into += m->first_call;
}

static bool add_tables(struct sc_tables *to, struct sc_tables *from, struct maps *m)
{
	bool ok = (m->strings = new_map(from->strings.len)) &&
		  (m->files = new_map(from->files.len)) &&
		  (m->functions = new_map(from->functions.len));

	ok = ok && sc_tables_take_copies(to, from);
	for (size_t i = 0; ok && i < from->strings.len; i++)
		ok = sc_table_string(to, from->strings.data[i].ptr, &m->strings[i]);
	for (size_t i = 0; ok && i < from->files.len; i++) {
		struct sc_file f = from->files.data[i];
		f.comp_dir = at(m->strings, f.comp_dir);
		f.dir = at(m->strings, f.dir);
		f.name = at(m->strings, f.name);
		ok = sc_table_file_record(to, &f, &m->files[i]);
	}
	for (size_t i = 0; ok && i < from->functions.len; i++) {
		struct sc_function f = from->functions.data[i];
		f.name = at(m->strings, f.name);
		f.decl_file = at(m->files, f.decl_file);
		ok = sc_table_function(to, &f, &m->functions[i]);
	}
	m->first_call = (uint32_t)to->calls.len;
	ok = ok && vec_reserve(&to->calls, from->calls.len);
	for (size_t i = 0; ok && i < from->calls.len; i++) {
		struct sc_location *l = &to->calls.data[to->calls.len++];
		*l = from->calls.data[i];
		translate(l, m);
	}
	return ok;
}

/* Adds what `from` found to `to`, in the numbers of `to`. */
static bool add_worker(struct sc_units *to, size_t *to_first_bad, struct worker *w)
{
	__attribute__((cleanup(maps_deinit))) struct maps m = {0};
	const struct sc_units *from = &w->result;

	if (!add_tables(&to->tables, &w->result.tables, &m) ||
	    !vec_reserve(&to->flat.ranges, from->flat.ranges.len) ||
	    !vec_reserve(&to->data.variables, from->data.variables.len))
		return false;
	for (size_t i = 0; i < from->flat.ranges.len; i++) {
		struct sc_flat_range *r = &to->flat.ranges.data[to->flat.ranges.len++];
		*r = from->flat.ranges.data[i];
		translate(&r->loc, &m);
	}
	for (size_t i = 0; i < from->data.variables.len; i++) {
		struct sc_data_variable *v = &to->data.variables.data[to->data.variables.len++];
		*v = from->data.variables.data[i];
		v->name = at(m.strings, v->name);
		v->decl_file = at(m.files, v->decl_file);
	}
	to->flat.merged += from->flat.merged;
	to->flat.too_far += from->flat.too_far;
	to->count += from->count;
	to->entries += from->entries;
	to->rows += from->rows;
	if (from->bad && (!to->bad || w->first_bad < *to_first_bad)) {
		to->first_fault = from->first_fault;
		*to_first_bad = w->first_bad;
	}
	to->bad += from->bad;
	return true;
}

/* Joins the workers' results in the first one's and puts units into order. */
static bool join(struct crew *crew, unsigned threads, struct sc_units *ret)
{
	struct sc_flat ordered = {0};
	size_t total;

	*ret = crew->workers[0].result;
	memset(&crew->workers[0].result, 0, sizeof(crew->workers[0].result));
	ret->tables.transient_size = 0;
	total = ret->flat.pieces.len;
	for (unsigned i = 1; i < threads; i++) {
		struct worker *w = &crew->workers[i];
		w->first_range = (uint32_t)ret->flat.ranges.len;
		total += w->result.flat.pieces.len;
		if (!add_worker(ret, &crew->workers[0].first_bad, w))
			return false;
	}
	if (!vec_reserve(&ordered.pieces, total))
		return false;
	for (size_t i = 0; i < crew->units.len; i++) {
		const struct unit_pieces *u = &crew->units.data[i];
		const struct sc_piece *from = u->worker ?
			crew->workers[u->worker].result.flat.pieces.data : ret->flat.pieces.data;
		for (uint32_t k = 0; k < u->num; k++) {
			struct sc_piece *p = &ordered.pieces.data[ordered.pieces.len++];
			*p = from[u->first + k];
			p->first_range += crew->workers[u->worker].first_range;
		}
	}
	vec_deinit(&ret->flat.pieces);
	ret->flat.pieces.data = ordered.pieces.data;
	ret->flat.pieces.len = ordered.pieces.len;
	ret->flat.pieces.cap = ordered.pieces.cap;
	return true;
}

int sc_units_scan(const struct sc_unit_source *source, const struct sc_flatten_env *env,
		  unsigned threads, void (*all_read)(void *ctx), void *ctx,
		  struct sc_units *ret, struct sc_error *err)
{
	struct crew crew = {0};
	size_t n = source->debug->units.len;
	bool ok;

	memset(ret, 0, sizeof(*ret));
	if (threads < 1)
		threads = 1;
	if (threads > n / 4 + 1 && !source->wait)
		threads = (unsigned)(n / 4 + 1);
	crew.workers = calloc(threads, sizeof(*crew.workers));
	ok = crew.workers;
	for (unsigned i = 0; ok && i < threads; i++)
		ok = worker_init(&crew.workers[i], source->debug, env);
	ok = ok && scan_rounds(&crew, threads, source);
	all_read(ctx);
	for (unsigned i = 0; ok && i < threads; i++)
		ok = !crew.workers[i].oom;
	ok = ok && join(&crew, threads, ret);
	for (unsigned i = 0; crew.workers && i < threads; i++)
		worker_deinit(&crew.workers[i]);
	free(crew.workers);
	vec_deinit(&crew.units);
	return ok ? 0 : sc_error_set(err, SC_ENOMEM, "out of memory");
}

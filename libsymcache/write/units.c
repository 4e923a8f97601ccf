/*
 * All units of a file → flat ranges, variables and tables: see units.h.
 *
 * Each worker fills tables of its own; afterwards the others' are added to the
 * first one's and their numbers are translated. Units are then put back into
 * their order, so that whoever read them leaves no trace: numbers themselves do
 * not matter, since the layout renumbers by first use.
 */
#include "libsymcache/write/units.h"

#include <pthread.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/limits.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/process.h"
#include "libsymcache/write/ahead.h"
#include "libsymcache/write/lines_behind.h"
#include "libsymcache/write/needed.h"

/* A unit to be read, and then the pieces that it gave. */
struct handed_unit {
	struct dw_unit header; /* where units are self-contained */
	bool done;
	bool kept;
	uint32_t worker;
	uint32_t first, num;
};

struct worker {
	struct sc_units result;
	struct sc_flattener *flattener;
	struct dw_scanner *scanner;
	struct dw_unit header; /* of the current unit */
	struct dw_facts facts;
	struct dw_value values[DW_NUM_OPS]; /* for sc_unit_needed() */
	struct dw_abbrev_pool pool;         /* of units that were read partly */
	struct dw_abbrevs whole;            /* of the current one */
	bool oom;
};

struct crew {
	const struct sc_unit_source *source;
	/* What units see that are read while their list still grows: no other unit. */
	struct dw_debug view;
	struct worker *workers;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t more;  /* units were handed out */
	bool handing_out;     /* somebody is about to hand out more */
	bool over, oom, damaged, excess;
	uint64_t facts_left;  /* that the units may still have: sc_limit_facts() */
	VEC(struct handed_unit) units;
	size_t next;          /* unit to be read */
	size_t first;         /* that is not read yet */
	size_t ready;         /* bytes of .debug_info whose units are handed out */
	size_t done;          /* bytes before which all units are read */
	size_t dropped;       /* that were given back */
	struct sc_lines_behind lines;
	bool named;           /* .debug_str is there */
	struct sc_kept kept;  /* units that are read then */
	bool too_early;       /* struct sc_units */
};

void sc_units_deinit(struct sc_units *u)
{
	sc_tables_deinit(&u->tables);
	sc_flat_deinit(&u->flat);
	sc_data_deinit(&u->data);
}

static struct sc_str bytes_of(const struct dw_section *s)
{
	return (struct sc_str){ (const char *)s->data, s->size };
}

static bool worker_init(struct worker *w, const struct dw_debug *debug,
			const struct sc_flatten_env *env)
{
	struct sc_flatten_env own = *env;

	own.tables = &w->result.tables;
	own.tables->string_limit = sc_limit_strings(env->file_size);
	if (debug) { /* what is given back when all units are read */
		own.tables->transient[0] = bytes_of(&debug->sections.info);
		own.tables->transient[1] = bytes_of(&debug->sections.line);
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
	dw_abbrevs_deinit(&w->whole);
	dw_abbrev_pool_deinit(&w->pool);
	dw_facts_deinit(&w->facts);
}

/* Takes in the facts of unit `index`, read with result `rc`. */
static void take(struct worker *w, size_t index, int rc, const struct sc_error *fault)
{
	struct sc_units *r = &w->result;

	r->count++;
	r->entries += w->facts.entries;
	r->rows += w->facts.rows.len;
	r->facts += w->facts.rows.len + w->facts.scopes.len + w->facts.ranges.len +
		    w->facts.variables.len;
	if (rc == SC_EFORMAT && !r->bad++) {
		r->first_fault = *fault;
		r->first_bad = index;
	}
	w->oom |= rc == SC_ENOMEM || !sc_flatten(w->flattener, &w->facts, &r->flat) ||
		  !sc_data_add_unit(&r->data, &w->facts, (uint32_t)index, &r->tables);
}

int sc_units_each(int (*next)(void *ctx, struct dw_facts *ret, struct sc_error *err), void *ctx,
		  const struct sc_flatten_env *env, struct sc_units *ret, struct sc_error *err)
{
	struct worker w = {0};
	struct sc_error fault;
	int rc = 0;

	w.oom = !worker_init(&w, NULL, env);
	for (size_t i = 0; !w.oom; i++) {
		rc = next(ctx, &w.facts, &fault);
		if (rc == SC_ENOTFOUND || rc == SC_ELIMIT)
			break;
		take(&w, i, rc, &fault);
	}
	*ret = w.result;
	memset(&w.result, 0, sizeof(w.result));
	worker_deinit(&w);
	return w.oom ? sc_no_memory(err) : rc == SC_ELIMIT ? sc_error_set(err, rc, "%s", fault.msg) : 0;
}

/* ---- many cores -------------------------------------------------------------- */

/*
 * All workers do the same: hand out the next units, or read one. While units are
 * self-contained their headers are read, and .debug_info is inflated, a step at a
 * time, by the thread that is free; so no thread waits for a stage to end.
 */

#define STEP (256u << 10) /* bytes whose headers are read at once */
#define DROP (4u << 20)   /* that are given back at once */

static bool all_handed_out(const struct crew *crew)
{
	return crew->ready == crew->source->debug->sections.info.size;
}

static bool shall_hand_out(const struct crew *crew)
{
	const size_t taken = crew->next < crew->units.len ?
		crew->units.data[crew->next].header.offset : crew->ready;

	return !crew->handing_out && !all_handed_out(crew) &&
	       sc_ahead_too_little(crew->ready - crew->done, crew->ready - taken,
				   crew->source->more);
}

/* Hands out the units of the next step. The lock is held, but not all the time. */
static void hand_out(struct crew *crew)
{
	struct dw_debug *d = crew->source->debug;
	size_t size = d->sections.info.size, done = crew->done, ready = size;
	bool oom;

	crew->handing_out = true;
	pthread_mutex_unlock(&crew->lock);
	if (crew->source->more)
		ready = crew->source->more(crew->source->ctx, done);
	else if (size - crew->ready > STEP)
		ready = crew->ready + STEP;
	oom = ready && dw_debug_read_more(d, ready, NULL);
	pthread_mutex_lock(&crew->lock);
	for (size_t i = crew->units.len; i < d->units.len && !oom; i++) {
		struct handed_unit *u = vec_push(&crew->units);

		oom = !u;
		if (u) {
			u->header = d->units.data[i];
			u->header.debug = &crew->view;
			sc_lines_note(&crew->lines, &u->header);
		}
	}
	crew->over |= oom || !ready || crew->lines.too_early;
	crew->oom |= oom;
	crew->damaged = !ready;
	crew->ready = ready;
	crew->handing_out = false;
	pthread_cond_broadcast(&crew->more);
}

/* Notes that a unit is read, and gives back the bytes of all before which none is at
 * work. The lock is held. */
static void finish_unit(struct crew *crew, size_t index)
{
	struct handed_unit *list = crew->units.data;
	const uint8_t *info = crew->view.sections.info.data;

	list[index].done = true;
	if (!crew->source->self_contained)
		return;
	while (crew->first < crew->next && list[crew->first].done)
		crew->done = list[crew->first++].header.end;
	if (crew->first < crew->units.len)
		sc_lines_drop(&crew->lines, &list[crew->first].header);
	/* As long as more is inflated, the pages serve for that. */
	if (crew->done - crew->dropped >= DROP && all_handed_out(crew)) {
		sc_big_drop(info + crew->dropped, crew->done - crew->dropped);
		crew->dropped = crew->done;
	}
}

/* All abbreviations of the worker's unit. False: out of memory. */
static bool complete(struct worker *w)
{
	if (!w->header.partly)
		return true;
	dw_abbrevs_deinit(&w->whole);
	return !dw_unit_complete(&w->header, &w->pool, &w->whole, NULL);
}

/* Is this unit, which may be the worker's own, to be read? */
static bool is_needed(struct crew *crew, struct worker *w, const struct dw_unit *u)
{
	const struct dw_wanted *wanted = crew->source->wanted;
	const enum sc_need need = wanted ? sc_unit_needed(u, wanted, w->values, &w->facts) :
					   SC_NEEDED;

	if (need != SC_NOT_NEEDED)
		w->oom |= !complete(w);
	return !w->oom && (need == SC_NEEDED ||
			   (need == SC_NEEDED_IF_CODE && sc_unit_may_have_code(u)));
}

/* Reads the next unit. The lock is held, but not all the time. */
static void read_next(struct crew *crew, unsigned worker)
{
	struct worker *w = &crew->workers[worker];
	const struct dw_unit *header = &w->header;
	size_t index = crew->next++, first = w->result.flat.pieces.len;
	uint64_t facts = w->result.facts;
	struct sc_error fault;
	bool needed;
	int rc;

	if (crew->named && crew->source->fetch_names && !crew->units.data[index].kept)
		return;
	if (crew->source->self_contained)
		w->header = crew->units.data[index].header;
	else
		header = &crew->source->debug->units.data[index];
	pthread_mutex_unlock(&crew->lock);
	needed = is_needed(crew, w, header);
	rc = needed ? dw_scan_unit(w->scanner, header, &w->facts, &fault) : 0;
	if (needed && crew->named)
		take(w, index, rc, &fault);
	pthread_mutex_lock(&crew->lock);
	if (needed && !crew->named) {
		crew->units.data[index].kept = true;
		w->oom |= !sc_keep(&crew->kept, &crew->view.sections.info, header->offset,
				   header->end);
	}
	crew->units.data[index].worker = worker;
	crew->units.data[index].first = (uint32_t)first;
	crew->units.data[index].num = (uint32_t)(w->result.flat.pieces.len - first);
	facts = w->result.facts - facts;
	crew->excess |= facts > crew->facts_left ||
			sc_table_strings_refused(&w->result.tables);
	crew->facts_left -= facts < crew->facts_left ? facts : crew->facts_left;
	crew->oom |= w->oom;
	crew->over |= crew->oom || crew->excess;
	finish_unit(crew, index);
}

static void scan_job(void *ctx, unsigned worker, size_t job)
{
	struct crew *crew = ctx;

	(void)job;
	sc_process_heap();
	pthread_mutex_lock(&crew->lock);
	while (!crew->over) {
		if (shall_hand_out(crew))
			hand_out(crew);
		else if (crew->next < crew->units.len)
			read_next(crew, worker);
		else if (crew->handing_out)
			pthread_cond_wait(&crew->more, &crew->lock);
		else
			break;
	}
	pthread_mutex_unlock(&crew->lock);
}

/* What was read turned out to be damaged: it depends on the moment how much that is. */
static void forget(struct crew *crew, unsigned threads)
{
	for (unsigned i = 0; i < threads; i++) {
		sc_units_deinit(&crew->workers[i].result);
		memset(&crew->workers[i].result, 0, sizeof(crew->workers[i].result));
	}
	vec_clear(&crew->units);
	crew->source->debug->faults = 0;
}

/* Whether what is still to be inflated is damaged: then it counts as such, however much of it
 * was read before it proved to have too much. */
static bool rest_is_damaged(const struct sc_unit_source *s)
{
	size_t ready = 0, before;

	if (!s->more)
		return false;
	do {
		before = ready;
		ready = s->more(s->ctx, 0);
	} while (ready > before && ready < s->debug->sections.info.size);
	return !ready;
}

/* Reads the units that were kept, now that it is known which names they want. */
static void read_kept(struct crew *crew, unsigned threads)
{
	struct dw_sections *sections = &crew->view.sections;

	crew->too_early = !crew->source->fetch_names(crew->source->input, &crew->kept);
	if (crew->too_early)
		return;
	sections->str_pages.there = true;
	sections->str_pages.stand_in = false;
	crew->dropped = crew->done;
	crew->next = 0;
	crew->named = true;
	sc_parallel(threads, threads, scan_job, crew);
	crew->too_early = memchr(sections->str_pages.pages, DW_STR_MISSED,
				 sections->str.size / DW_STR_PAGE + 1);
}

/* Reads all units. False: out of memory. */
static bool scan_all(struct crew *crew, unsigned threads)
{
	struct dw_debug *d = crew->source->debug;

	if (!crew->source->self_contained) {
		crew->ready = d->sections.info.size;
		while (crew->units.len < d->units.len)
			if (!vec_push(&crew->units))
				return false;
	}
	crew->named = !crew->source->fetch_names;
	crew->lines.line = crew->source->drop_lines ? &crew->view.sections.line : NULL;
	crew->view.sections.str_pages.stand_in = !crew->named;
	sc_parallel(threads, threads, scan_job, crew);
	if (!crew->named && !crew->over)
		read_kept(crew, threads);
	if (crew->excess && rest_is_damaged(crew->source))
		crew->damaged = true;
	if (crew->damaged)
		forget(crew, threads);
	crew->excess &= !crew->damaged;
	return !crew->oom;
}

/* ---- one result of all ---------------------------------------------------------- */

/* Joins the workers' results in the first one's and puts units into order. */
static bool join(struct crew *crew, unsigned threads, struct sc_units *ret)
{
	struct sc_flat ordered = {0};
	size_t total;

	*ret = crew->workers[0].result;
	memset(&crew->workers[0].result, 0, sizeof(crew->workers[0].result));
	memset(ret->tables.transient, 0, sizeof(ret->tables.transient));
	total = ret->flat.pieces.len;
	for (unsigned i = 1; i < threads; i++) {
		total += crew->workers[i].result.flat.pieces.len;
		if (!sc_units_add(ret, &crew->workers[i].result))
			return false;
	}
	if (!vec_reserve(&ordered.pieces, total))
		return false;
	for (size_t i = 0; i < crew->units.len; i++) {
		const struct handed_unit *u = &crew->units.data[i];
		const struct sc_piece *from = u->worker ?
			crew->workers[u->worker].result.flat.pieces.data : ret->flat.pieces.data;
		for (uint32_t k = 0; k < u->num; k++) {
			struct sc_piece *p = &ordered.pieces.data[ordered.pieces.len++];
			*p = from[u->first + k];
			p->part = u->worker;
		}
	}
	vec_deinit(&ret->flat.pieces);
	ret->flat.pieces.data = ordered.pieces.data;
	ret->flat.pieces.len = ordered.pieces.len;
	ret->flat.pieces.cap = ordered.pieces.cap;
	return true;
}

#define WORTH_A_THREAD (64u << 10) /* bytes of .debug_info */

int sc_units_scan(const struct sc_unit_source *source, const struct sc_flatten_env *env,
		  unsigned threads, struct sc_units *ret, struct sc_error *err)
{
	struct crew crew = {
		.source = source,
		.view.sections = source->debug->sections,
		.facts_left = sc_limit_facts(env->file_size),
	};
	size_t most = source->debug->sections.info.size / WORTH_A_THREAD + 1;
	bool ok;

	memset(ret, 0, sizeof(*ret));
	threads = threads < 1 ? 1 : threads > most ? (unsigned)most : threads;
	pthread_mutex_init(&crew.lock, NULL);
	pthread_cond_init(&crew.more, NULL);
	crew.workers = calloc(threads, sizeof(*crew.workers));
	ok = crew.workers;
	for (unsigned i = 0; ok && i < threads; i++)
		ok = worker_init(&crew.workers[i],
				 source->self_contained ? &crew.view : source->debug, env);
	ok = ok && scan_all(&crew, threads);
	source->all_read(source->input);
	ok = ok && join(&crew, threads, ret);
	for (unsigned i = 0; crew.workers && i < threads; i++)
		worker_deinit(&crew.workers[i]);
	free(crew.workers);
	vec_deinit(&crew.units);
	sc_kept_deinit(&crew.kept);
	pthread_cond_destroy(&crew.more);
	pthread_mutex_destroy(&crew.lock);
	ret->too_early = crew.too_early || crew.lines.too_early;
	if (ret->too_early)
		return sc_error_set(err, SC_EFORMAT, "it is to be read otherwise");
	if (ok && crew.excess)
		return sc_error_set(err, SC_ELIMIT, "more line rows, functions, ranges, "
				    "variables or names than a file of %llu bytes has",
				    (unsigned long long)env->file_size);
	return ok ? 0 : sc_no_memory(err);
}

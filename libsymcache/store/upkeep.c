/* Work on many entries of a store: see upkeep.h. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/store/parts.h"
#include "libsymcache/store/upkeep.h"

/* ---- removing -------------------------------------------------------------------- */

int symstore_removals_add(struct symstore_removals *list, const struct symstore_entry *entry,
			  struct sc_error *err)
{
	char *source = strdup(entry->source_path);
	struct symstore_removal *r = source ? vec_push(list) : NULL;

	if (!r) {
		free(source);
		return sc_no_memory(err);
	}
	*r = (struct symstore_removal){
		.id.len = entry->build_id_len, .time = entry->time,
		.cache_size = entry->cache_size, .stored_size = symstore_stored_size(entry),
		.source_path = source,
	};
	memcpy(r->id.bytes, entry->build_id, entry->build_id_len);
	return 0;
}

void symstore_removals_deinit(struct symstore_removals *list)
{
	for (size_t i = 0; i < list->len; i++)
		free(list->data[i].source_path);
	vec_deinit(list);
}

static int remove_some(struct symstore *store, struct symstore_removal *at, size_t n,
		       struct sc_error *err)
{
	struct symstore_writer *writer;
	int rc = symstore_write_begin(store, &writer, err);

	if (rc)
		return rc;
	for (size_t i = 0; i < n && !rc; i++)
		rc = symstore_remove(writer, at[i].id.bytes, at[i].id.len, &at[i].removed, err);
	rc = symstore_end(writer, rc, err);
	for (size_t i = 0; i < n && rc; i++) /* a commit that failed may have set it */
		at[i].removed = false;
	return rc;
}

/* Removing takes room, too, until the next commits can use what was given up: on a full
 * disk one entry goes with what writer.c has reserved, then two, four ... */
int symstore_remove_all(struct symstore *store, struct symstore_removals *list,
			struct sc_error *err)
{
	struct sc_error again; /* the first reason is the one that is said */
	size_t done = 0, n = 1;
	int rc = remove_some(store, list->data, list->len, err);

	while (rc == SC_EFULL && done < list->len) {
		n = n < list->len - done ? n : list->len - done;
		if (!remove_some(store, list->data + done, n, &again)) {
			done += n;
			n *= 2;
		} else if (n > 1) {
			n /= 2;
		} else {
			return rc;
		}
	}
	return done < list->len ? rc : 0;
}

/* ---- pruning --------------------------------------------------------------------- */

struct pruning {
	const struct symstore *store;
	const struct symstore_prune_rules *rules;
	struct symstore_removals *condemned, rest;
	struct sc_error *err;
	int rc;
};

static bool is_kept(const struct symstore_prune_rules *rules, const struct symstore_id *id)
{
	const size_t at = SC_SEARCH(i, rules->num_keep,
				    memcmp(&rules->keep[i], id, sizeof(*id)) < 0);

	return at < rules->num_keep && !memcmp(&rules->keep[at], id, sizeof(*id));
}

static bool judge(void *ctx, const struct symstore_entry *entry)
{
	struct pruning *p = ctx;
	const struct symstore_prune_rules *rules = p->rules;
	const int64_t used = symstore_last_used(p->store, entry->build_id, entry->build_id_len);
	struct symstore_id id = { .len = entry->build_id_len };
	struct symstore_entry last = *entry;

	last.time = used > entry->time ? used : entry->time;
	memcpy(id.bytes, entry->build_id, id.len);
	if (rules->keep && is_kept(rules, &id))
		return true;
	if (rules->keep || entry->time < rules->indexed_before ||
	    last.time < rules->used_before)
		p->rc = symstore_removals_add(p->condemned, entry, p->err);
	else
		p->rc = symstore_removals_add(&p->rest, &last, p->err);
	return !p->rc;
}

static int newest_first(const void *a, const void *b)
{
	const struct symstore_removal *x = a, *y = b;

	return x->time != y->time ? (x->time < y->time) - (x->time > y->time) :
		memcmp(&x->id, &y->id, sizeof(x->id));
}

/* Of what is left the newest stay, as long as there is room. */
static int fit(struct pruning *p)
{
	uint64_t bytes = 0;

	if (p->rest.len)
		qsort(p->rest.data, p->rest.len, sizeof(*p->rest.data), newest_first);
	for (size_t i = 0; i < p->rest.len; i++) {
		struct symstore_removal *from = &p->rest.data[i], *to;

		bytes += from->stored_size;
		if (bytes <= p->rules->to_size)
			continue;
		if (!(to = vec_push(p->condemned)))
			return sc_no_memory(p->err);
		*to = *from;
		from->source_path = NULL; /* moved */
	}
	return 0;
}

int symstore_condemn(struct symstore *store, const struct symstore_prune_rules *rules,
		     struct symstore_removals *ret, struct sc_error *err)
{
	struct pruning p = { .store = store, .rules = rules, .condemned = ret, .err = err };
	struct symstore_reader *reader;
	int rc = symstore_read_begin(store, &reader, err);

	if (!rc)
		rc = symstore_each(reader, NULL, 0, judge, &p, err);
	symstore_read_end(reader);
	if (!rc && !(rc = p.rc))
		rc = fit(&p);
	symstore_removals_deinit(&p.rest);
	return rc;
}

/* ---- verifying ------------------------------------------------------------------- */

bool symstore_faults_add(void *ctx, const char *text)
{
	struct symstore_faults *f = ctx;

	f->num++;
	if (f->num_texts < SYMSTORE_FAULT_TEXTS && (f->texts[f->num_texts] = strdup(text)))
		f->num_texts++;
	return true;
}

void symstore_faults_deinit(struct symstore_faults *f)
{
	while (f->num_texts)
		free(f->texts[--f->num_texts]);
	f->num = 0;
}

struct job {
	struct symstore_entry entry; /* its only string is ours */
	char *source;
	struct symstore_faults faults;
	bool done;
};

struct verification {
	struct symstore_reader *reader; /* only read: all threads share it */
	VEC(struct job) jobs;
	size_t reported;
	pthread_mutex_t lock;           /* of what is reported */
	symstore_verified_fn *fn;
	void *ctx;
	bool out_of_memory;
};

static bool add_job(void *ctx, const struct symstore_entry *entry)
{
	struct verification *v = ctx;
	char *source = strdup(entry->source_path);
	struct job *job = source ? vec_push(&v->jobs) : NULL;

	v->out_of_memory = !job;
	if (!job) {
		free(source);
		return false;
	}
	*job = (struct job){ .entry = *entry, .source = source };
	job->entry.source_path = source;
	job->entry.debug_path = job->entry.tool_version = "";
	job->entry.tags = job->entry.names = job->entry.transforms = "";
	return true;
}

/* Verifies one, and reports those that are done, up to the first that is not. */
static void verify_job(void *ctx, unsigned worker, size_t i)
{
	struct verification *v = ctx;
	const ssize_t faults = symstore_check_entry(v->reader, &v->jobs.data[i].entry,
						    symstore_faults_add, &v->jobs.data[i].faults);

	(void)worker;
	pthread_mutex_lock(&v->lock);
	v->out_of_memory |= faults == SC_ENOMEM;
	v->jobs.data[i].done = true;
	for (; v->reported < v->jobs.len && v->jobs.data[v->reported].done &&
	       !v->out_of_memory; v->reported++) {
		struct job *job = &v->jobs.data[v->reported];

		v->fn(v->ctx, &job->entry, &job->faults, v->reported + 1, v->jobs.len);
		symstore_faults_deinit(&job->faults);
	}
	pthread_mutex_unlock(&v->lock);
}

int symstore_verify(struct symstore_reader *reader, unsigned threads, symstore_verified_fn *fn,
		    void *ctx, struct sc_error *err)
{
	struct verification v = {
		.reader = reader, .fn = fn, .ctx = ctx, .lock = PTHREAD_MUTEX_INITIALIZER,
	};
	int rc = symstore_each(reader, NULL, 0, add_job, &v, err);

	if (!rc && v.out_of_memory)
		rc = sc_no_memory(err);
	if (!rc)
		sc_parallel(threads ? threads : sc_cores(), v.jobs.len, verify_job, &v);
	if (!rc && v.out_of_memory)
		rc = sc_no_memory(err);
	for (size_t i = 0; i < v.jobs.len; i++) {
		free(v.jobs.data[i].source);
		symstore_faults_deinit(&v.jobs.data[i].faults);
	}
	vec_deinit(&v.jobs);
	return rc;
}

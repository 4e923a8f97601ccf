/*
 * symcache verify: reads everything and says what is wrong.
 *
 * First the structure of the store's file: LMDB would trust it. Then each
 * entry's cache, on all cores: the hashes that were stored when it was written, then
 * the rules of the format. Or bundles: their manifests, and each cache against them.
 * What is bad is named on standard output, in the order of the build IDs.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/json_gen.h"
#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/bundle.h"
#include "cmd/store/doomed.h"

static struct {
	const char *store, *verify_key;
	struct opt_list caches;
	uint64_t jobs;
	bool json, quiet, repair;
} o;

static const struct opt opts[] = {
	{ "cache", 0, OPT_LIST, &o.caches, "FILE", "verify this SymCache file; may be repeated" },
	OPT_STORE(&o.store),
	{ "repair", 0, OPT_FLAG, &o.repair, NULL,
	  "remove the bad entries from the store, so that indexing their files brings them back" },
	{ "verify-key", 0, OPT_STRING, &o.verify_key, "KEY",
	  "bundles must be signed by this Ed25519 public key (PEM)" },
	{ "jobs", 'j', OPT_NUMBER, &o.jobs, "N", "use N threads (default: as many as cores)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the result as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress, and nothing if all is well" },
	{ 0 },
};

enum {
	MAX_FAULTS = 10, /* told of each entry; counted: all */
	MAX_THREADS = 64,
};

/* An entry, file or bundle's member, and what is wrong with it. */
struct subject {
	const char *name;
	uint64_t faults;
	char *texts[MAX_FAULTS];
};

/* An entry of the store, which waits for its turn. */
struct job {
	struct symstore_entry entry;  /* without its strings */
	char *source;
	struct subject subject;
	bool done;
};

struct verification {
	struct progress progress;
	struct json_gen *json;   /* NULL: text */
	uint64_t verified, bad;
	struct symstore_reader *reader; /* only read: all threads share it */
	struct job *jobs;
	size_t num_jobs, cap_jobs, next_job; /* to be told */
	atomic_size_t next;      /* to be done */
	pthread_mutex_t lock;    /* of what is told */
	struct doomed doomed;    /* the bad entries, if they are to be removed */
};

/* A symcache_fault_fn; ctx is the subject. */
static bool fault(void *ctx, const char *text)
{
	struct subject *s = ctx;

	if (s->faults < MAX_FAULTS)
		s->texts[s->faults] = must_asprintf("%s", text);
	s->faults++;
	return true;
}

/* Tells what is wrong, if anything, and forgets it. */
static void tell(struct verification *v, struct subject *s)
{
	const size_t told = s->faults < MAX_FAULTS ? (size_t)s->faults : MAX_FAULTS;

	if (!s->faults)
		return;
	v->bad++;
	progress_erase(&v->progress);
	if (v->json) {
		json_gen_open_map(v->json, NULL);
		json_gen_text(v->json, "name", s->name);
		json_gen_open_array(v->json, "faults");
	}
	for (size_t i = 0; i < told; i++) {
		if (v->json)
			json_gen_text(v->json, NULL, s->texts[i]);
		else
			printf("%s: %s\n", s->name, s->texts[i]);
		free(s->texts[i]);
	}
	if (v->json) {
		json_gen_close_array(v->json);
		json_gen_number(v->json, "num_faults", s->faults);
		json_gen_close_map(v->json);
	} else if (s->faults > MAX_FAULTS) {
		printf("%s: %llu more\n", s->name, (unsigned long long)(s->faults - MAX_FAULTS));
	}
}

/* ---- the store --------------------------------------------------------------- */

static bool add_job(void *ctx, const struct symstore_entry *entry)
{
	struct verification *v = ctx;
	struct job *job;

	v->jobs = must_grow(v->jobs, v->num_jobs, &v->cap_jobs, sizeof(*v->jobs));
	job = &v->jobs[v->num_jobs++];
	*job = (struct job){ .entry = *entry, .source = must_asprintf("%s", entry->source_path) };
	job->entry.source_path = job->source;
	return true;
}

/* Tells of the entries that are done, up to the first that is not. */
static void tell_jobs(struct verification *v)
{
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1];

	for (; v->next_job < v->num_jobs && v->jobs[v->next_job].done; v->next_job++) {
		struct job *job = &v->jobs[v->next_job];

		if (job->subject.faults && o.repair)
			doomed_add(&v->doomed, &job->entry);
		symcache_build_id_text(id, job->entry.build_id, job->entry.build_id_len);
		job->subject.name = id;
		tell(v, &job->subject);
	}
}

static void *work(void *ctx)
{
	struct verification *v = ctx;
	struct job *job;
	size_t i;

	while ((i = atomic_fetch_add(&v->next, 1)) < v->num_jobs) {
		job = &v->jobs[i];
		symstore_check_entry(v->reader, &job->entry, fault, &job->subject);
		pthread_mutex_lock(&v->lock);
		job->done = true;
		progress_update(&v->progress, v->verified++, v->num_jobs, job->source);
		tell_jobs(v);
		pthread_mutex_unlock(&v->lock);
	}
	return NULL;
}

static int verify_entries(struct verification *v, struct sc_error *err)
{
	const uint64_t want = o.jobs ? o.jobs : (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	pthread_t others[MAX_THREADS];
	unsigned n = 0;
	int rc = symstore_each(v->reader, NULL, 0, add_job, v, err);

	if (!rc) {
		while (n + 1 < want && n < MAX_THREADS && n + 1 < v->num_jobs &&
		       !pthread_create(&others[n], NULL, work, v))
			n++;
		work(v);
		while (n)
			pthread_join(others[--n], NULL);
	}
	for (size_t i = 0; i < v->num_jobs; i++)
		free(v->jobs[i].source);
	free(v->jobs);
	return rc;
}

static int verify_store(struct verification *v, struct sc_error *err)
{
	struct subject file = { 0 };
	struct symstore *store;
	char *path = NULL;
	int rc = open_store(o.store, o.repair ? SYMSTORE_WRITE : SYMSTORE_READ, &store, err);

	if (!rc)
		rc = symstore_read_begin(store, &v->reader, err);
	if (!rc)
		rc = store_path(o.store, &path, err);
	if (!rc) {
		file.name = path;
		symstore_check(v->reader, fault, &file);
		tell(v, &file);
		if (!v->bad)
			rc = verify_entries(v, err);
	}
	free(path);
	symstore_read_end(v->reader);
	if (!rc && v->doomed.num)
		rc = doomed_remove(&v->doomed, store, err);
	symstore_close(store);
	return rc;
}

/* ---- files and bundles -------------------------------------------------------- */

static void verify_file(struct verification *v, const char *path)
{
	struct subject subject = { .name = path };
	struct symcache_map file;
	struct sc_error err;

	v->verified++;
	if (symcache_map_open(path, &file, &err))
		fault(&subject, without_path(err.msg, path));
	else
		symcache_verify(&file.cache, fault, &subject);
	tell(v, &subject);
	symcache_map_close(&file);
}

static int sound_member(void *ctx, const struct symstore_entry *entry, const void *cache,
			size_t size, struct sc_error *err)
{
	struct verification *v = ctx;

	(void)entry, (void)cache, (void)size, (void)err;
	v->verified++;
	return 0;
}

static void bad_member(void *ctx, const char *name, const char *why)
{
	struct subject subject = { .name = name };
	struct verification *v = ctx;

	v->verified++;
	fault(&subject, why);
	tell(v, &subject);
}

static void verify_bundle(struct verification *v, const char *path)
{
	const struct bundle_reader reader = {
		.verify_key = o.verify_key, .entry = sound_member, .fault = bad_member, .ctx = v,
		.progress = &v->progress,
	};
	struct subject subject = { .name = path };
	struct sc_error err;

	if (bundle_read(path, &reader, &err))
		fault(&subject, without_path(err.msg, path));
	tell(v, &subject);
}

static int check_arguments(int bundles)
{
	if (o.repair && (o.caches.len || bundles))
		cmd_error("--repair is for the store, not for bundles and --cache FILE");
	else if (o.verify_key && !bundles)
		cmd_error("--verify-key is for bundles: name one");
	else
		return 0;
	return STATUS_ERROR;
}

static int run(int argc, char **argv)
{
	struct verification v = { .json = o.json ? json_gen_create(true) : NULL };
	struct sc_error err;
	int rc = 0;

	if (check_arguments(argc))
		return STATUS_ERROR;
	pthread_mutex_init(&v.lock, NULL);
	progress_init(&v.progress, "verifying", o.quiet);
	if (v.json) {
		json_gen_open_map(v.json, NULL);
		json_gen_open_array(v.json, "bad");
	}
	if (!o.caches.len && !argc)
		rc = verify_store(&v, &err);
	for (int i = 0; i < argc; i++)
		verify_bundle(&v, argv[i]);
	for (size_t i = 0; i < o.caches.len; i++)
		verify_file(&v, o.caches.items[i]);
	progress_erase(&v.progress);
	if (v.json) {
		json_gen_close_array(v.json);
		json_gen_number(v.json, "verified", v.verified);
		if (o.repair)
			json_gen_number(v.json, "removed", rc ? 0 : v.doomed.num);
		json_gen_close_map(v.json);
		json_gen_end(v.json);
		json_gen_destroy(v.json);
	} else if (!rc && (!o.quiet || v.bad)) {
		printf("%llu verified, %llu bad", (unsigned long long)v.verified,
		       (unsigned long long)v.bad);
		if (v.doomed.num)
			printf(", %zu removed", v.doomed.num);
		putchar('\n');
	}
	if (rc)
		cmd_error("%s", err.msg);
	doomed_deinit(&v.doomed);
	return rc ? STATUS_ERROR : v.bad ? STATUS_PARTLY : STATUS_OK;
}

const struct command verify_command = {
	.name = "verify",
	.operands = "[BUNDLE...]",
	.summary = "read the whole store, or bundles, and name what is damaged",
	.description =
		"Checks the structure of the store's file, the hashes of each cache and each cache by "
		"the rules of its format; or what is named: bundles, each cache against the manifest, "
		"and SymCache files. Each fault is a line: the build ID "
		"or file, and what is wrong with it. A bad entry is mended by indexing its file again "
		"with --again, or removed by --repair. A file whose index pages are damaged is only "
		"named."
		"\n\n"
		"Exit status: 1 if anything is bad.",
	.opts = opts,
	.examples =
		"  symcache verify\n"
		"  symcache verify --repair; symcache index /usr/bin\n"
		"  symcache verify release.tar.zst --verify-key public.pem\n"
		"  symcache verify --cache python.symcache\n",
	.run = run,
};

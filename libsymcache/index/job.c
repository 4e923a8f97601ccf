/*
 * One file → what came of it: see job.h.
 *
 * The content's hash comes first: what this version has seen and the store still
 * has is done with. But where no DWARF was found, a debug file may have been installed
 * since, and is looked for. Large files of which the store has
 * nothing are built anyway, and hashed meanwhile. A build holds the file and its
 * sections; small caches are written out at once so that a batch can hold many,
 * large ones, and the only one, go straight into the store's pages. Where units were
 * broken, a file may have been missing: it is built again, and unchanged if nothing more
 * came of it.
 *
 * A large file is worked on alone and uses all cores itself; small ones, which have too
 * little to share out, are taken in groups, each file by one thread. Jobs come back in
 * the order of the files, so that what ends up in the store does not depend on who was
 * faster. Groups are bounded in bytes: a file at work takes a few times its size of memory.
 */
#include "libsymcache/index/job.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/text.h"
#include "libsymcache/index/content.h"

enum {
	KEEP_BUILD = 4 << 20,    /* caches above this are not copied */
	HASH_MEANWHILE = 8 << 20, /* files above this are hashed while they are built */
	SMALL = 8 << 20,          /* bytes of a file that one thread takes */
	MEMORY_PER_BYTE = 8,      /* that a file at work takes, inflated and read */
};

/* The content of a large file, hashed while it is built. */
struct hashing {
	int fd;
	size_t size;
	struct sc_hash *ret;
	int rc;
	bool started;
	pthread_t thread;
};

static void *hash_thread(void *arg)
{
	struct hashing *h = arg;

	h->rc = sc_content_hash(h->fd, h->size, h->ret);
	return NULL;
}

static int hash_end(struct hashing *h)
{
	if (h->started)
		pthread_join(h->thread, NULL);
	else
		hash_thread(h);
	return h->rc;
}

static bool is_debug_file(const char *path, const uint8_t *id, size_t len)
{
	struct symcache_elf_facts facts;
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd >= 0 && !symcache_elf_facts(fd, path, &facts, NULL) && facts.dwarf &&
	       facts.build_id_len == len && !memcmp(facts.build_id, id, len);
}

bool sc_debug_file_there(const uint8_t *id, size_t len, const char *const *dirs)
{
	char path[PATH_MAX];

	for (dirs = dirs ? dirs : symcache_debug_dirs; *dirs; dirs++)
		if (symcache_build_id_path(path, sizeof(path), *dirs, id, len) &&
		    is_debug_file(path, id, len))
			return true;
	return false;
}

/* Has the store the entry of this content, although not from here: imported? `path` says which
 * entry that would be. */
static bool imported(struct sc_job *job, int fd, struct symstore_reader *reader,
		     struct symstore_outcome *seen)
{
	struct symstore_entry entry;
	bool derived;

	seen->code = 0;
	return !symcache_elf_build_id_of(fd, job->file->path, seen->build_id, &seen->build_id_len,
					 &derived, NULL) &&
	       !symstore_entry(reader, seen->build_id, seen->build_id_len, &entry, NULL) &&
	       sc_hash_same(entry.source_hash, job->content) &&
	       !strcmp(entry.tool_version, symcache_version);
}

/* The names of a file that is there already, if the entry has not all of them. */
static bool add_names(struct sc_job *job, const struct symstore_entry *entry)
{
	job->names = symstore_names_of(job->file->path, NULL, NULL);
	if (job->names && !symstore_names_have(entry->names, job->names))
		job->entry.names = job->names;
	return job->names;
}

/* Has the store seen this content, and would it be the same now? *outcome: what came of it,
 * 0 or an SC_E… code. */
static bool unchanged(struct sc_job *job, struct symstore_reader *reader,
		      const struct sc_work *work, int *outcome)
{
	struct symstore_outcome seen;
	struct symstore_entry entry = { 0 };

	if (symstore_seen(reader, &job->content, symcache_version, &seen, NULL) &&
	    !imported(job, work->build.fd, reader, &seen))
		return false;
	*outcome = seen.code;
	memcpy(job->entry.build_id, seen.build_id, sizeof(seen.build_id));
	job->entry.build_id_len = seen.build_id_len;
	job->entry.tags = work->options->tags;
	if (!seen.code &&
	    (symstore_entry(reader, seen.build_id, seen.build_id_len, &entry, NULL) ||
	     sc_entry_differs(&entry, &work->build, work->transforms)))
		return false;
	if (entry.bad_units) {
		job->before = (struct sc_known){ entry.sources, entry.bad_units, entry.cache_size };
		return false;
	}
	if (!(entry.sources & SYMCACHE_FROM_DWARF) &&
	    symcache_debug_file_found(job->file->path, &work->build))
		return false;
	return seen.code || add_names(job, &entry);
}

/* The absolute path of a file, or of a member of an archive; else `path`. NULL: out of
 * memory. */
static char *recorded_path(const struct sc_found *file, const char *path)
{
	char *real = file->unpacked && !strncmp(path, file->path, file->archive_len) ?
		sc_text("%s%s", file->real, path + file->archive_len) : realpath(path, NULL);

	return real ? real : strdup(path);
}

/* May a file be built before it is known whether its content is new? Where the store
 * lacks its build ID, it will be. */
static bool surely_new(int fd, const char *path, struct symstore *store)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symstore_reader *reader;
	struct symstore_entry entry;
	bool derived;
	size_t len;
	int rc;

	if (symcache_elf_build_id_of(fd, path, id, &len, &derived, NULL) ||
	    symstore_read_begin(store, &reader, NULL))
		return false;
	rc = symstore_entry(reader, id, len, &entry, NULL);
	symstore_read_end(reader);
	return rc == SC_ENOTFOUND;
}

static int no_memory(struct sc_job *job)
{
	return sc_error_set(&job->err, SC_ENOMEM, "%s: out of memory", job->file->path);
}

/* Fills in the entry from what the build found. SC_ENOMEM. */
static int describe(struct sc_job *job, const struct sc_work *work)
{
	const struct symcache_build_info *info = symcache_build_info(job->build);
	struct symstore_entry *e = &job->entry;

	job->info = *info;
	job->source_path = recorded_path(job->file, job->file->path);
	job->debug_path = info->debug_path ? recorded_path(job->file, info->debug_path) : NULL;
	job->names = symstore_names_of(job->source_path, info->soname, info->debug_link);
	if (!job->source_path || (info->debug_path && !job->debug_path) || !job->names)
		return no_memory(job);
	*e = sc_entry_of_build(job->build, info->build_id, info->build_id_len, work->options->time);
	e->build_id_derived = info->build_id_derived;
	e->source_size = job->file->size;
	e->source_hash = job->content;
	e->source_path = job->source_path;
	e->debug_path = job->debug_path;
	e->names = job->names;
	e->tags = work->options->tags;
	e->transforms = work->transforms;
	if (e->cache_size > KEEP_BUILD || work->one_file)
		return 0;
	job->bytes = malloc(e->cache_size);
	if (!job->bytes)
		return no_memory(job);
	symcache_build_write(job->build, job->bytes);
	symcache_build_destroy(job->build);
	job->build = NULL;
	return 0;
}

/* Files without a build ID have a key derived from their code: debug files have no
 * code, and would all have the same. */
static bool has_key(const struct sc_job *job)
{
	static const uint8_t none[SYMCACHE_BUILD_ID_MAX];

	return memcmp(symcache_build_info(job->build)->build_id, none, sizeof(none));
}

/* Without a store: what there is to say. */
static enum symcache_index_result look(struct sc_job *job, int fd, int rc)
{
	struct symcache_elf_facts facts;

	if (!rc) {
		job->info = *symcache_build_info(job->build);
		job->entry.bad_units = job->info.bad_units > 0;
		job->entry.cache_size = symcache_build_size(job->build);
		symcache_build_coverage(job->build, &job->code_bytes, &job->line_bytes);
		symcache_build_destroy(job->build);
		job->build = NULL;
		return SYMCACHE_INDEX_BUILT;
	}
	if (!symcache_elf_facts(fd, job->file->path, &facts, NULL)) {
		memcpy(job->info.build_id, facts.build_id, sizeof(facts.build_id));
		job->info.build_id_len = facts.build_id_len;
		job->info.build_id_derived = !facts.build_id_len;
		memcpy(job->info.debug_link, facts.debug_link, sizeof(facts.debug_link));
	}
	return SYMCACHE_INDEX_NO_SYMBOLS;
}

static enum symcache_index_result cannot_read(struct sc_job *job)
{
	sc_error_sys(&job->err, "cannot read");
	return SYMCACHE_INDEX_FAILED;
}

/* `hashing`, if not NULL, is done meanwhile. */
static enum symcache_index_result build(struct sc_job *job, int fd, const struct stat *before,
					const struct sc_work *work, struct hashing *hashing)
{
	int rc;

	if (hashing)
		hashing->started = sc_thread_help(&hashing->thread, hash_thread, hashing);
	rc = symcache_build_create(job->file->path, &work->build, &job->build, &job->err);
	if (hashing && hash_end(hashing))
		return cannot_read(job);
	if (!work->store && (!rc || rc == SC_ENOSYMBOLS))
		return look(job, fd, rc);
	if (rc == SC_ENOSYMBOLS)
		return SYMCACHE_INDEX_NO_SYMBOLS;
	if (!rc && !has_key(job)) {
		sc_error_set(&job->err, SC_EUNSUPPORTED,
			     "it has no build ID, and no code to derive one from");
		return SYMCACHE_INDEX_FAILED;
	}
	if (rc)
		return rc == SC_EUNSUPPORTED && !job->file->named ? SYMCACHE_INDEX_UNSUPPORTED :
								    SYMCACHE_INDEX_FAILED;
	if (sc_content_changed(fd, before)) {
		sc_error_set(&job->err, SC_ESYS, "it changed while it was read");
		return SYMCACHE_INDEX_FAILED;
	}
	if (describe(job, work))
		return SYMCACHE_INDEX_FAILED;
	if (!job->before.bad_units || job->before.bad_units != job->entry.bad_units ||
	    job->before.sources != job->entry.sources ||
	    job->before.cache_size != job->entry.cache_size)
		return SYMCACHE_INDEX_BUILT;
	job->known = true;
	job->entry.names = NULL; /* the entry has them */
	return SYMCACHE_INDEX_UNCHANGED;
}

static enum symcache_index_result do_work(struct sc_job *job, int fd, const struct sc_work *work)
{
	struct hashing hashing = { .fd = fd, .ret = &job->content };
	const bool again = work->options->again;
	struct symstore_reader *reader;
	struct stat before;
	int outcome = 0;

	if (fd < 0 || fstat(fd, &before))
		return cannot_read(job);
	if (!work->store)
		return build(job, fd, &before, work, NULL);
	hashing.size = (size_t)before.st_size;
	if (before.st_size > HASH_MEANWHILE && work->build.threads > 1 &&
	    (again || surely_new(fd, job->file->path, work->store)))
		return build(job, fd, &before, work, &hashing);
	if (sc_content_hash(fd, hashing.size, &job->content))
		return cannot_read(job);
	if (!again) {
		if (symstore_read_begin(work->store, &reader, &job->err))
			return SYMCACHE_INDEX_FAILED;
		job->known = unchanged(job, reader, work, &outcome);
		symstore_read_end(reader);
		if (job->known)
			return outcome ? SYMCACHE_INDEX_NO_SYMBOLS : SYMCACHE_INDEX_UNCHANGED;
	}
	return build(job, fd, &before, work, NULL);
}

static _Thread_local const char *volatile at_work;

const char *symcache_index_at_work(void)
{
	return at_work;
}

struct sc_job *sc_job_known(const struct sc_found *file, const char *tags,
			    const struct symstore_entry *entry)
{
	struct sc_job *job = calloc(1, sizeof(*job));

	if (!job)
		return NULL;
	job->file = file;
	job->known = true;
	job->result = SYMCACHE_INDEX_UNCHANGED;
	job->entry.build_id_len = entry->build_id_len;
	memcpy(job->entry.build_id, entry->build_id, entry->build_id_len);
	job->entry.bad_units = entry->bad_units;
	job->entry.tags = tags;
	return job;
}

void sc_job_destroy(struct sc_job *job)
{
	if (!job)
		return;
	symcache_build_destroy(job->build);
	free(job->bytes);
	free(job->source_path);
	free(job->debug_path);
	free(job->names);
	free(job->outcomes);
	free(job);
}

/* ---- many files, on all cores --------------------------------------------------- */

size_t sc_job_group(const struct sc_found *files, size_t n, uint64_t memory)
{
	uint64_t total = 0;
	size_t k = 0;

	while (k < n && k < SC_GROUP_MAX && files[k].size <= SMALL && !files[k].archive) {
		total += files[k].size * MEMORY_PER_BYTE;
		if (k && total > memory)
			break;
		k++;
	}
	return k ? k : 1;
}

struct group {
	const struct sc_found *files;
	struct sc_work work;
	struct sc_job **jobs;
};

static void create(void *ctx, unsigned worker, size_t i)
{
	const struct group *g = ctx;
	const struct sc_found *file = &g->files[i];
	struct sc_job *job = g->jobs[i] = calloc(1, sizeof(*job));
	struct sc_work work = g->work;
	int fd __attribute__((cleanup(sc_close_fd))) = -1;

	(void)worker;
	if (!job)
		return;
	fd = file->is_open ? fcntl(file->fd, F_DUPFD_CLOEXEC, 0) :
		open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	job->file = file;
	at_work = file->path;
	work.build.is_open = true;
	work.build.fd = fd;
	job->result = do_work(job, fd, &work);
	at_work = NULL;
}

void sc_jobs_create(const struct sc_found *files, size_t n, const struct sc_work *work,
		    struct sc_job **ret)
{
	struct group group = { files, *work, ret };

	group.work.build.memory = work->memory;
	if (n > 1) {
		group.work.build.threads = 1;
		group.work.build.memory /= n < work->build.threads ? n : work->build.threads;
	}
	sc_parallel(work->build.threads, n, create, &group);
}

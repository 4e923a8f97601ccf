/*
 * One file → what came of it: see index.h.
 *
 * The content's hash comes first: what this version has seen and the store still
 * has is done with. The one exception: where no DWARF was found, a debug file may
 * have been installed since, and is looked for. Large files of which the store has
 * nothing are built anyway, and hashed meanwhile. A build holds the file and its
 * sections; small caches are written out at once so that a batch can hold many,
 * large ones, and the only one, go straight into the store's pages.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "libsymcache/index/content.h"
#include "libsymcache/index/entry.h"
#include "cmd/index/index.h"
#include "cmd/store/entry.h"
#include "symcache/build_id.h"

enum {
	KEEP_BUILD = 4 << 20,    /* caches above this are not copied */
	HASH_MEANWHILE = 8 << 20, /* files above this are hashed while they are built */
};

/* The content of a large file, hashed while it is built. */
struct hashing {
	int fd;
	size_t size;
	struct symstore_hash *ret;
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

static void hash_begin(struct hashing *h)
{
	h->started = !pthread_create(&h->thread, NULL, hash_thread, h);
}

static int hash_end(struct hashing *h)
{
	if (h->started)
		pthread_join(h->thread, NULL);
	else
		hash_thread(h);
	return h->rc;
}

bool index_new_debug_file(const uint8_t *id, size_t len, const char *const *dirs, int64_t time)
{
	static const char *const default_dirs[] = { "/usr/lib/debug", NULL };
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	bool there = false;
	struct stat st;

	if (len < 2)
		return false;
	symcache_build_id_text(hex, id, len);
	for (dirs = dirs ? dirs : default_dirs; *dirs && !there; dirs++) {
		char *debug = must_asprintf("%s/.build-id/%.2s/%s.debug", *dirs, hex, hex + 2);

		there = !stat(debug, &st) && st.st_ctim.tv_sec >= time;
		free(debug);
	}
	return there;
}

static bool unchanged(struct index_job *job, int fd, struct symstore_reader *reader,
		      const struct index_options *options, int *outcome)
{
	struct symcache_elf_facts facts;
	struct symstore_outcome seen;
	struct symstore_entry entry;

	if (symstore_seen(reader, &job->content, symcache_version, &seen, NULL))
		return false;
	*outcome = seen.code;
	memcpy(job->entry.build_id, seen.build_id, sizeof(seen.build_id));
	job->entry.build_id_len = seen.build_id_len;
	job->entry.tags = options->tags;
	if (!seen.code &&
	    symstore_entry(reader, seen.build_id, seen.build_id_len, &entry, NULL))
		return false;
	if (!seen.code && strcmp(entry.transforms, options->transforms))
		return false;
	if (!seen.code && entry.sources & SYMCACHE_FROM_DWARF)
		return true;
	return symcache_elf_facts(fd, job->file->path, &facts, NULL) ||
	       !index_new_debug_file(facts.build_id, facts.build_id_len,
				     options->build.debug_dirs, seen.time);
}

/* The absolute path of a file, or of a member of an archive. NULL: not to be had. */
static char *recorded_path(const struct scan_file *file, const char *path)
{
	return file->unpacked && !strncmp(path, file->path, file->archive_len) ?
		must_asprintf("%s%s", file->real, path + file->archive_len) :
		realpath(path, NULL);
}

/* May a file be built before it is known whether its content is new? Where the store
 * lacks its build ID, it will be. */
static bool surely_new(const char *path, struct symstore *store)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct symstore_reader *reader;
	struct symstore_entry entry;
	bool derived;
	size_t len;
	int rc;

	if (symcache_elf_build_id(path, id, &len, &derived, NULL) ||
	    symstore_read_begin(store, &reader, NULL))
		return false;
	rc = symstore_entry(reader, id, len, &entry, NULL);
	symstore_read_end(reader);
	return rc == SC_ENOTFOUND;
}

/* Fills in the entry from what the build found. */
static void describe(struct index_job *job, const struct index_options *options)
{
	const struct symcache_build_info *info = symcache_build_info(job->build);
	struct symstore_entry *e = &job->entry;

	job->info = *info;
	job->source_path = recorded_path(job->file, job->file->path);
	job->debug_path = info->debug_path ? recorded_path(job->file, info->debug_path) : NULL;
	*e = sc_entry_of_build(job->build, info->build_id, info->build_id_len, options->time);
	e->build_id_derived = info->build_id_derived;
	e->source_size = job->file->size;
	e->source_hash = job->content;
	e->source_path = job->source_path ? job->source_path : job->file->path;
	e->debug_path = job->debug_path ? job->debug_path : info->debug_path;
	e->tags = options->tags;
	e->transforms = options->transforms;
	if (e->cache_size > KEEP_BUILD || options->one_file)
		return;
	if (!job->debug_path && info->debug_path)
		e->debug_path = job->debug_path = must_asprintf("%s", info->debug_path);
	job->bytes = must_realloc(NULL, e->cache_size);
	symcache_build_write(job->build, job->bytes);
	symcache_build_destroy(job->build);
	job->build = NULL;
}

/* Files without a build ID have a key derived from their code: debug files have no
 * code, and would all have the same. */
static bool has_key(const struct index_job *job)
{
	static const uint8_t none[SYMCACHE_BUILD_ID_MAX];

	return memcmp(symcache_build_info(job->build)->build_id, none, sizeof(none));
}

static enum index_result cannot_read(struct index_job *job)
{
	sc_error_sys(&job->err, "cannot read");
	return INDEX_FAILED;
}

/* `hashing`, if not NULL, is done meanwhile. */
static enum index_result build(struct index_job *job, int fd, const struct stat *before,
			       const struct index_options *options, struct hashing *hashing)
{
	int rc;

	if (hashing)
		hash_begin(hashing);
	rc = symcache_build_create(job->file->path, &options->build, &job->build, &job->err);
	if (rc == SC_ENOMEM) {
		cmd_error("%s: %s", job->file->path, job->err.msg);
		exit(STATUS_ERROR);
	}
	if (hashing && hash_end(hashing))
		return cannot_read(job);
	if (rc == SC_ENOSYMBOLS)
		return INDEX_NO_SYMBOLS;
	if (!rc && !has_key(job)) {
		sc_error_set(&job->err, SC_EUNSUPPORTED,
			     "it has no build ID, and no code to derive one from");
		return INDEX_FAILED;
	}
	if (rc)
		return rc == SC_EUNSUPPORTED && !job->file->named ? INDEX_UNSUPPORTED : INDEX_FAILED;
	if (sc_content_changed(fd, before)) {
		sc_error_set(&job->err, SC_ESYS, "it changed while it was read");
		return INDEX_FAILED;
	}
	describe(job, options);
	return INDEX_BUILT;
}

static enum index_result work(struct index_job *job, int fd, struct symstore *store,
			      const struct index_options *options)
{
	struct hashing hashing = { .fd = fd, .ret = &job->content };
	struct symstore_reader *reader;
	struct stat before;
	int outcome = 0;

	if (fd < 0 || fstat(fd, &before))
		return cannot_read(job);
	hashing.size = (size_t)before.st_size;
	if (before.st_size > HASH_MEANWHILE && options->build.threads > 1 &&
	    (options->again || surely_new(job->file->path, store)))
		return build(job, fd, &before, options, &hashing);
	if (sc_content_hash(fd, hashing.size, &job->content))
		return cannot_read(job);
	if (!options->again) {
		if (symstore_read_begin(store, &reader, &job->err))
			return INDEX_FAILED;
		job->known = unchanged(job, fd, reader, options, &outcome);
		symstore_read_end(reader);
		if (job->known)
			return outcome ? INDEX_NO_SYMBOLS : INDEX_UNCHANGED;
	}
	return build(job, fd, &before, options, NULL);
}

_Thread_local const char *volatile index_at_work;

struct index_job *index_job_create(const struct scan_file *file, struct symstore *store,
				   const struct index_options *options)
{
	struct index_job *job = must_calloc(1, sizeof(*job));
	int fd = file->unpacked ? fcntl(file->fd, F_DUPFD_CLOEXEC, 0) :
		open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	job->file = file;
	index_at_work = file->path;
	job->result = work(job, fd, store, options);
	index_at_work = NULL;
	if (fd >= 0)
		close(fd);
	return job;
}

void index_job_destroy(struct index_job *job)
{
	if (!job)
		return;
	symcache_build_destroy(job->build);
	free(job->bytes);
	free(job->source_path);
	free(job->debug_path);
	free(job->outcomes);
	free(job);
}

/*
 * Parts → logs: see merging.h. A log that was cut is put together under a temporary name, its
 * parts' hashes compared meanwhile, and renamed; only then parts are removed. So this may be
 * killed at any moment and run again: what is there is whole, or still has its parts.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/plan/merging.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"

enum { BLOCK = 1 << 20 };

static bool has_size(const char *path, uint64_t size)
{
	struct stat st;

	return !lstat(path, &st) && S_ISREG(st.st_mode) && (uint64_t)st.st_size == size;
}

/* ---- one log --------------------------------------------------------------------- */

struct job {
	struct merging *m;
	size_t *cut;      /* first shards of the logs that were */
	size_t num;
	struct sc_error *err;
	int rc;
};

static void show_progress(struct merging *m, uint64_t more, const char *path)
{
	pthread_mutex_lock(&m->lock);
	progress_update(&m->progress, m->done += more, m->size, path);
	pthread_mutex_unlock(&m->lock);
}

/* Reads the bytes of a shard from where `from` stands, and copies them to `to` (-1: nowhere).
 * 1: they are not what was recorded; negative: `to` cannot be written. */
static int copy_shard(struct merging *m, size_t shard, int from, int to, char *block)
{
	const struct result *r = m->results[shard];
	XXH3_state_t *state = must(XXH3_createState());
	uint64_t left = r->written;
	char hash[HASH_TEXT];
	ssize_t n = 1;
	int rc = 0;

	XXH3_128bits_reset(state);
	while (left && !rc && (n = read(from, block, left < BLOCK ? left : BLOCK)) > 0) {
		XXH3_128bits_update(state, block, (size_t)n);
		left -= (uint64_t)n;
		if (to >= 0 && sc_write_all(to, block, (size_t)n))
			rc = -1;
		show_progress(m, (uint64_t)n, NULL);
	}
	hash_text(XXH3_128bits_digest(state), hash);
	XXH3_freeState(state);
	return rc ? rc : left || strcmp(hash, r->hash);
}

/* Is the log there already, from an earlier run? */
static bool is_merged(struct merging *m, size_t first, const char *path, char *block)
{
	const size_t end = merging_end_of_log(m, first);
	__attribute__((cleanup(sc_close_fd))) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	uint64_t size = 0;

	for (size_t i = first; i < end; i++)
		size += m->results[i]->written;
	if (fd < 0 || !has_size(path, size))
		return false;
	for (size_t i = first; i < end; i++)
		if (copy_shard(m, i, fd, -1, block))
			return false;
	return true;
}

/* The first shard of a log whose part is not there, or `end`. */
static size_t find_missing(const struct merging *m, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		__attribute__((cleanup(sc_free_text))) char *path = out_part_path(m->out, i);

		if (!has_size(path, m->results[i]->written))
			return i;
	}
	return end;
}

/* Parts → `file`. False: a part is not what it was, which was reported. */
static int put_together(struct merging *m, size_t first, size_t end, const struct sc_new_file *file,
			char *block, struct sc_error *err)
{
	for (size_t i = first; i < end; i++) {
		__attribute__((cleanup(sc_free_text))) char *path = out_part_path(m->out, i);
		__attribute__((cleanup(sc_close_fd))) int fd = open(path, O_RDONLY | O_CLOEXEC |
									  O_NOFOLLOW);
		const int rc = fd < 0 ? 1 : copy_shard(m, i, fd, file->fd, block);

		if (rc < 0)
			return sc_error_sys(err, "cannot write %s", file->path);
		if (rc)
			merging_fault(m, path, i);
		if (rc)
			return sc_error_set(err, SC_EFORMAT, "%s cannot be put together", file->path);
	}
	return 0;
}

static int merge_log(struct merging *m, size_t first, char *block, struct sc_error *err)
{
	const size_t end = merging_end_of_log(m, first), missing = find_missing(m, first, end);
	const struct plan_log *l = plan_log_of(&m->logs, &m->shards.data[first]);
	__attribute__((cleanup(sc_free_text))) char *path = must_asprintf("%s/%s", m->out, l->output);
	struct sc_new_file file = { .fd = -1 };
	int rc;

	if (missing < end && is_merged(m, first, path, block))
		return 0;
	if (missing < end) {
		__attribute__((cleanup(sc_free_text))) char *part = out_part_path(m->out, missing);

		merging_fault(m, part, missing);
		return sc_error_set(err, SC_EFORMAT, "%s cannot be put together", path);
	}
	rc = sc_make_parents(path, err);
	if (!rc)
		rc = sc_new_file_open(path, false, &file, err);
	if (!rc)
		rc = put_together(m, first, end, &file, block, err);
	if (!rc)
		rc = sc_new_file_commit(&file, err);
	sc_new_file_discard(&file);
	return rc;
}

static void work(void *ctx, unsigned worker, size_t i)
{
	struct job *job = ctx;
	char *block = must_calloc(1, BLOCK);
	struct sc_error err;
	const int rc = merge_log(job->m, job->cut[i], block, &err);

	(void)worker;
	free(block);
	pthread_mutex_lock(&job->m->lock);
	if (rc && !job->rc) {
		*job->err = err;
		job->rc = rc;
	}
	pthread_mutex_unlock(&job->m->lock);
}

/* ---- all logs ------------------------------------------------------------------------- */

int merging_logs(struct merging *m, struct sc_error *err)
{
	struct job job = { .m = m, .err = err };

	job.cut = must_calloc(m->shards.len + 1, sizeof(*job.cut));
	for (size_t i = 0; i < m->shards.len; i++) {
		const struct plan_shard *s = &m->shards.data[i];

		if (!plan_shard_is_whole(s)) {
			job.cut[job.num] = i;
			job.num += !s->from;
			m->size += m->results[i]->written;
			continue;
		}
		__attribute__((cleanup(sc_free_text))) char *path =
			must_asprintf("%s/%s", m->out, plan_log_of(&m->logs, s)->output);
		if (!has_size(path, m->results[i]->written))
			merging_fault(m, path, i);
	}
	progress_init(&m->progress, "merging", m->quiet);
	m->progress.bytes = true;
	sc_parallel(m->jobs, job.num, work, &job);
	progress_erase(&m->progress);
	free(job.cut);
	if (!job.rc && m->faults)
		job.rc = sc_error_set(err, SC_EFORMAT, "%llu logs are not whole",
				      (unsigned long long)m->faults);
	return job.rc;
}

/* ---- what is left ----------------------------------------------------------------------- */

/* Is it the temporary name of what stands before the last eight digits (base/file.h)? */
static size_t temporary(const char *name)
{
	const size_t len = strlen(name), stem = len > 9 ? len - 9 : 0;

	return stem && name[stem] == '.' && strspn(name + stem + 1, "0123456789abcdef") == 8 ? stem : 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* In a folder of outputs others may have files; `outputs` are ours. NULL: the folder is. */
static void clean_folder(const char *dir, const char *prefix, const char **outputs, size_t num)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const size_t stem = temporary(e->d_name);
		__attribute__((cleanup(sc_free_text))) char *of =
			must_asprintf("%s%.*s", prefix, (int)stem, e->d_name);
		__attribute__((cleanup(sc_free_text))) char *whole =
			must_asprintf("%s%s", prefix, e->d_name);

		if (stem && (!outputs ||
			     (bsearch(&of, outputs, num, sizeof(*outputs), by_text) &&
			      !bsearch(&whole, outputs, num, sizeof(*outputs), by_text))))
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}

void merging_clean(const struct merging *m)
{
	static const char *const ours[] = { "", "done", "parts" };
	const char **outputs = must_calloc(m->logs.len + 1, sizeof(*outputs));
	char *last = NULL;

	for (size_t i = 0; i < m->shards.len && !m->keep_parts; i++) {
		__attribute__((cleanup(sc_free_text))) char *path = out_part_path(m->out, i);

		if (!plan_shard_is_whole(&m->shards.data[i]))
			unlink(path);
	}
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++) {
		__attribute__((cleanup(sc_free_text))) char *dir = out_path(m->out, ours[i]);

		clean_folder(dir, "", NULL, 0);
	}
	for (size_t i = 0; i < m->logs.len; i++)
		outputs[i] = m->logs.data[i].output;
	qsort(outputs, m->logs.len, sizeof(*outputs), by_text);
	/* Outputs of a folder are next to each other, but for those of its folders. */
	for (size_t i = 0; i < m->logs.len; i++) {
		const char *slash = strrchr(outputs[i], '/');
		char *prefix = must_asprintf("%.*s", slash ? (int)(slash + 1 - outputs[i]) : 0, outputs[i]);

		if (!last || strcmp(prefix, last)) {
			__attribute__((cleanup(sc_free_text))) char *dir =
				must_asprintf("%s/%s", m->out, prefix);

			clean_folder(dir, prefix, outputs, m->logs.len);
		}
		free(last);
		last = prefix;
	}
	free(last);
	free(outputs);
}

/*
 * Parts → logs: see merge.h. A log that was cut is put together under a temporary name, its
 * parts' hashes compared meanwhile, and renamed; only then parts are removed. So this may be
 * killed at any moment and run again: what is there is whole, or still has its parts.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/plan/merge.h"

enum {
	BLOCK = 256 << 10,  /* stays in the processor's cache from reading to writing */
	SHOWN = 16 << 20,   /* bytes from one report of progress to the next */
};

/* Has this file of OUT the size? */
static bool has_size(const struct markup_merge *m, const char *path, uint64_t size)
{
	struct stat st;

	return !sc_stat_below(path, strlen(m->options.out), &st) && S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_size == size;
}

void mk_merge_fault(struct markup_merge *m, uint64_t task, const char *fmt, ...)
{
	const unsigned long long n = task;
	char text[2 * PATH_MAX + 256];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(text, PATH_MAX + 128, fmt, ap);
	va_end(ap);
	len = len < PATH_MAX + 128 ? len : PATH_MAX + 127;
	snprintf(text + len, sizeof(text) - (size_t)len, ": remove %s/" MARKUP_FOLDER "/done/%llu.json "
		 "and run task %llu again", m->options.out, n, n);
	pthread_mutex_lock(&m->lock);
	m->options.fault(m->options.ctx, text);
	m->faults++;
	pthread_mutex_unlock(&m->lock);
}

/* ---- one log --------------------------------------------------------------------- */

struct job {
	struct markup_merge *m;
	VEC(size_t) cut;  /* first shards of the logs that were */
	struct sc_error *err;
	int rc;
};

static void show_progress(struct markup_merge *m, uint64_t more)
{
	pthread_mutex_lock(&m->lock);
	m->done += more;
	if (m->options.progress)
		m->options.progress(m->options.ctx, m->done, m->size, NULL);
	pthread_mutex_unlock(&m->lock);
}

/* Reads the bytes of a shard from where `from` stands, and copies them to `to` (NULL: nowhere).
 * 1: they are not what was recorded; SC_ESYS, SC_EFULL. */
static int copy_shard(struct markup_merge *m, size_t shard, int from, const struct sc_new_file *to,
		      char *block, struct sc_error *err)
{
	const struct mk_result *r = m->results[shard];
	char hash[SC_HASH_TEXT];
	uint64_t left = r->written, shown = left;
	XXH3_state_t state;
	ssize_t n = 1;

	XXH3_128bits_reset(&state);
	while (left && (n = read(from, block, left < BLOCK ? left : BLOCK)) > 0) {
		XXH3_128bits_update(&state, block, (size_t)n);
		if (to && sc_write_all(to->fd, block, (size_t)n))
			return sc_error_sys(err, "cannot write %s", to->path);
		left -= (uint64_t)n;
		if (shown - left >= SHOWN || !left) {
			show_progress(m, shown - left);
			shown = left;
		}
	}
	if (n < 0)
		return sc_error_sys(err, "cannot read %s", mk_part_path(m->options.out, shard).text);
	sc_hash_text(sc_hash_digest(&state), hash);
	return left || strcmp(hash, r->hash);
}

/* Behind the last shard of the log of shard `i`. */
static size_t end_of_log(const struct markup_merge *m, size_t i)
{
	const uint64_t log = m->shards.data[i].log;

	while (i < m->shards.len && m->shards.data[i].log == log)
		i++;
	return i;
}

/* Is the log there already, from an earlier run? */
static bool is_merged(struct markup_merge *m, size_t first, size_t end, const char *path,
		      char *block)
{
	__attribute__((cleanup(sc_close_fd))) int fd = sc_open_below(path, strlen(m->options.out));
	uint64_t size = 0;

	for (size_t i = first; i < end; i++)
		size += m->results[i]->written;
	if (fd < 0 || !has_size(m, path, size))
		return false;
	for (size_t i = first; i < end; i++)
		if (copy_shard(m, i, fd, NULL, block, NULL))
			return false;
	return true;
}

/* The first shard of a log whose part is not there, or `end`. */
static size_t find_missing(const struct markup_merge *m, size_t first, size_t end)
{
	for (; first < end; first++) {
		const struct mk_path path = mk_part_path(m->options.out, first);

		if (!has_size(m, path.text, m->results[first]->written))
			break;
	}
	return first;
}

/* A file of a shard is not what its record says. */
static void report_shard(struct markup_merge *m, const char *path, size_t shard)
{
	mk_merge_fault(m, m->shards.data[shard].task,
		       "%s is not there, or not what its record says", path);
}

/* Parts → `file`. SC_EFORMAT: a part is not what it was, which was reported. */
static int put_together(struct markup_merge *m, size_t first, size_t end,
			const struct sc_new_file *file, char *block, struct sc_error *err)
{
	for (size_t i = first; i < end; i++) {
		const struct mk_path path = mk_part_path(m->options.out, i);
		__attribute__((cleanup(sc_close_fd))) int fd =
			sc_open_below(path.text, strlen(m->options.out));
		const int rc = fd < 0 ? 1 : copy_shard(m, i, fd, file, block, err);

		if (rc < 0)
			return rc;
		if (rc)
			report_shard(m, path.text, i);
		if (rc)
			return sc_error_set(err, SC_EFORMAT, "%s cannot be put together",
					    file->path);
	}
	return 0;
}

static int merge_log(struct markup_merge *m, size_t first, char *block, struct sc_error *err)
{
	const size_t end = end_of_log(m, first), missing = find_missing(m, first, end);
	const struct markup_log *l = &mk_log_of(&m->logs, &m->shards.data[first])->log;
	struct mk_path path = mk_path("%s/%s", m->options.out, l->output);
	struct sc_new_file file = { .fd = -1 };
	int rc;

	if (missing < end && is_merged(m, first, end, path.text, block))
		return 0;
	if (missing < end) {
		report_shard(m, mk_part_path(m->options.out, missing).text, missing);
		return sc_error_set(err, SC_EFORMAT, "%s cannot be put together", path.text);
	}
	rc = sc_new_file_below(path.text, strlen(m->options.out), &file, err);
	if (!rc)
		rc = put_together(m, first, end, &file, block, err);
	return sc_new_file_end(&file, rc, err);
}

static void work(void *ctx, unsigned worker, size_t i)
{
	struct job *job = ctx;
	char *block = malloc(BLOCK);
	struct sc_error err;
	const int rc = block ? merge_log(job->m, job->cut.data[i], block, &err) :
			       sc_no_memory(&err);

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

int mk_merge_logs(struct markup_merge *m, struct sc_error *err)
{
	struct job job = { .m = m, .err = err };

	for (size_t i = 0; i < m->shards.len && !job.rc; i++) {
		const struct mk_shard *s = &m->shards.data[i];

		if (mk_shard_is_whole(s)) {
			const struct mk_path path = mk_path("%s/%s", m->options.out,
							    mk_log_of(&m->logs, s)->log.output);

			if (!has_size(m, path.text, m->results[i]->written))
				report_shard(m, path.text, i);
			continue;
		}
		m->size += m->results[i]->written;
		if (!s->from && !vec_reserve(&job.cut, 1))
			job.rc = sc_no_memory(err);
		else if (!s->from)
			job.cut.data[job.cut.len++] = i;
	}
	if (!job.rc)
		sc_parallel(m->options.threads, job.cut.len, work, &job);
	vec_deinit(&job.cut);
	if (!job.rc && m->faults)
		job.rc = sc_error_set(err, SC_EFORMAT, "%llu log%s incomplete",
				      (unsigned long long)m->faults, m->faults == 1 ? " is" : "s are");
	return job.rc;
}

/* ---- what is left ----------------------------------------------------------------------- */

/* Is it the temporary name of what stands before the last eight digits (base/file.h)? */
static size_t temporary(const char *name)
{
	const size_t len = strlen(name), stem = len > 9 ? len - 9 : 0;

	return stem && name[stem] == '.' && strspn(name + stem + 1, "0123456789abcdef") == 8 ? stem : 0;
}

static inline bool text_before(const char *const *a, const char *const *b)
{
	return strcmp(*a, *b) < 0;
}

typedef const char *output_text;
SC_SORT(sort_texts, output_text, text_before)

struct outputs {
	output_text *data; /* in order */
	size_t len;
};

static bool is_output(const struct outputs *o, const char *path)
{
	const size_t at = SC_SEARCH(i, o->len, strcmp(o->data[i], path) < 0);

	return at < o->len && !strcmp(o->data[at], path);
}

/* In a folder of outputs others may have files; `outputs` are ours. NULL: the folder is. */
static void clean_folder(const struct markup_merge *m, const char *dir, const char *prefix,
			 const struct outputs *outputs)
{
	DIR *d = sc_folder_entries(sc_open_below(dir, strlen(m->options.out)));
	struct dirent *e;

	while (d && (e = readdir(d))) {
		const size_t stem = temporary(e->d_name);

		if (stem &&
		    (!outputs ||
		     (is_output(outputs, mk_path("%s%.*s", prefix, (int)stem, e->d_name).text) &&
		      !is_output(outputs, mk_path("%s%s", prefix, e->d_name).text))))
			unlinkat(dirfd(d), e->d_name, 0);
	}
	if (d)
		closedir(d);
}

int mk_merge_clean(struct markup_merge *m, struct sc_error *err)
{
	static const char *const ours[] = { "", "done", "parts" };
	struct outputs outputs = { calloc(m->logs.len + 1, sizeof(output_text)), m->logs.len };
	const char *last = NULL;
	size_t last_len = 0;

	if (!outputs.data)
		return sc_no_memory(err);
	for (size_t i = 0; i < m->shards.len && !m->options.keep_parts; i++)
		if (!mk_shard_is_whole(&m->shards.data[i]))
			sc_remove_below(mk_part_path(m->options.out, i).text,
					strlen(m->options.out));
	for (size_t i = 0; i < sizeof(ours) / sizeof(ours[0]); i++)
		clean_folder(m, mk_out_path(m->options.out, ours[i]).text, "", NULL);
	for (size_t i = 0; i < m->logs.len; i++)
		outputs.data[i] = m->logs.data[i].log.output;
	if (!sort_texts(outputs.data, outputs.len)) {
		free(outputs.data);
		return sc_no_memory(err);
	}
	/* Outputs of a folder are next to each other, but for those of its folders. */
	for (size_t i = 0; i < outputs.len; i++) {
		const char *slash = strrchr(outputs.data[i], '/');
		const size_t len = slash ? (size_t)(slash + 1 - outputs.data[i]) : 0;

		if (!last || len != last_len || memcmp(outputs.data[i], last, len))
			clean_folder(m, mk_path("%s/%.*s", m->options.out, (int)len, outputs.data[i])
					     .text,
				     mk_path("%.*s", (int)len, outputs.data[i]).text, &outputs);
		last = outputs.data[i];
		last_len = len;
	}
	free(outputs.data);
	return 0;
}

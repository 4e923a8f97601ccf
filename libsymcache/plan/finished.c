/*
 * Which outputs are finished: see plan.h. A JSON object for each on a line, added when the output
 * has its name; of several for one output the last one counts, and a line that cannot be read, one
 * that was cut off, say, is none. So a run that is killed loses what it was at, no more.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/plan/record.h"
#include "libsymcache/write/build.h"

struct row {
	XXH128_hash_t name; /* of the output */
	uint64_t number;    /* of its line */
	struct markup_finished_log log; /* without texts */
};

struct markup_finished {
	char *out;
	int fd;
	VEC(struct row) rows; /* by name, of each the last one */
};

static const struct mk_column columns[] = {
	{ "output", MK_PATH, offsetof(struct markup_finished_log, output), NULL },
	{ "size", MK_NUMBER, offsetof(struct markup_finished_log, size), NULL },
	{ "mtime", MK_SIGNED, offsetof(struct markup_finished_log, mtime), NULL },
	{ "xxh128", MK_HASH, offsetof(struct markup_finished_log, hash), NULL },
	{ "written", MK_NUMBER, offsetof(struct markup_finished_log, written), NULL },
	{ "written_at", MK_SIGNED, offsetof(struct markup_finished_log, written_at), NULL },
	{ "version", MK_TEXT, offsetof(struct markup_finished_log, version), NULL },
	{ 0 },
};

static inline bool row_before(const struct row *a, const struct row *b)
{
	const int order = XXH128_cmp(&a->name, &b->name);

	return order ? order < 0 : a->number < b->number;
}

SC_SORT(sort_rows, struct row, row_before)

static XXH128_hash_t name_of(const char *output)
{
	return XXH3_128bits(output, strlen(output));
}

/* ---- reading ------------------------------------------------------------------------ */

static int take_line(struct markup_finished *f, struct mk_object *object, uint64_t number)
{
	struct row row = { .number = number };
	bool ours;

	if (!mk_object_read(object, columns, &row.log))
		return 0;
	row.name = name_of(row.log.output);
	ours = !strcmp(row.log.version, symcache_version);
	row.log.output = row.log.version = NULL;
	if (!ours)
		return 0;
	if (!vec_reserve(&f->rows, 1))
		return SC_ENOMEM;
	f->rows.data[f->rows.len++] = row;
	return 0;
}

static void keep_last(struct markup_finished *f)
{
	size_t kept = 0;

	for (size_t i = 0; i < f->rows.len; i++)
		if (i + 1 == f->rows.len ||
		    !XXH128_isEqual(f->rows.data[i].name, f->rows.data[i + 1].name))
			f->rows.data[kept++] = f->rows.data[i];
	f->rows.len = kept;
}

static int read_lines(struct markup_finished *f, FILE *file)
{
	struct mk_object object = { 0 };
	size_t cap = 0;
	char *line = NULL;
	ssize_t len;
	bool whole = true;
	int rc = 0;

	for (uint64_t n = 0; !rc && (len = getline(&line, &cap, file)) > 0; n++) {
		whole = line[len - 1] == '\n';
		rc = mk_object_parse(&object, line, (size_t)len);
		if (!rc)
			rc = take_line(f, &object, n);
		else if (rc == SC_EFORMAT)
			rc = 0;
	}
	free(line);
	mk_object_deinit(&object);
	if (rc || !sort_rows(f->rows.data, f->rows.len))
		return SC_ENOMEM;
	keep_last(f);
	/* What is added does not become part of a line that was cut off. */
	return whole || !sc_write_all(f->fd, "\n", 1) ? 0 : SC_ESYS;
}

static int open_files(struct markup_finished *f, struct sc_error *err)
{
	const struct mk_path path = mk_out_path(f->out, "finished.jsonl");
	const char *name;
	const int dir = sc_folder_below(path.text, strlen(f->out), true, &name, err);
	struct stat st;
	FILE *file;
	int rc, fd;

	if (dir < 0)
		return err->code;
	f->fd = openat(dir, name, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC,
		       0666);
	close(dir);
	if (f->fd >= 0 && !fstat(f->fd, &st) && (!S_ISREG(st.st_mode) || st.st_nlink != 1))
		return sc_error_set(err, SC_EINVAL, "%s: not a regular file, or a hard link", path.text);
	fd = f->fd < 0 ? -1 : fcntl(f->fd, F_DUPFD_CLOEXEC, 0);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file)
		return sc_error_sys(err, "%s", path.text);
	rc = read_lines(f, file);
	if (rc == SC_ESYS || (!rc && !feof(file)))
		rc = sc_error_sys(err, "%s", path.text);
	fclose(file);
	return rc == SC_ENOMEM ? sc_no_memory(err) : rc;
}

int markup_finished_open(const char *out, struct markup_finished **ret, struct sc_error *err)
{
	struct markup_finished *f = *ret = calloc(1, sizeof(*f));
	int rc;

	if (!f)
		return sc_no_memory(err);
	f->fd = -1;
	f->out = strdup(out);
	rc = f->out ? open_files(f, err) : sc_no_memory(err);
	if (!rc)
		return 0;
	markup_finished_close(f);
	*ret = NULL;
	return rc;
}

void markup_finished_close(struct markup_finished *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		close(f->fd);
	vec_deinit(&f->rows);
	free(f->out);
	free(f);
}

/* ---- asking and adding ------------------------------------------------------------------ */

/* Size and date of the output; false: it is no file. */
static bool look_at(const struct markup_finished *f, const char *output, uint64_t *size,
		    int64_t *mtime)
{
	const struct mk_path path = mk_path("%s/%s", f->out, output);
	struct stat st;

	if (sc_stat_below(path.text, strlen(f->out), &st) || !S_ISREG(st.st_mode))
		return false;
	*size = (uint64_t)st.st_size;
	*mtime = st.st_mtim.tv_sec * INT64_C(1000000000) + st.st_mtim.tv_nsec;
	return true;
}

bool markup_finished_find(const struct markup_finished *f, const char *output,
			  struct markup_finished_log *ret)
{
	const XXH128_hash_t name = name_of(output);
	const size_t at = SC_SEARCH(i, f->rows.len, XXH128_cmp(&f->rows.data[i].name, &name) < 0);
	uint64_t size;
	int64_t mtime;

	if (at == f->rows.len || !XXH128_isEqual(f->rows.data[at].name, name) ||
	    !look_at(f, output, &size, &mtime))
		return false;
	*ret = f->rows.data[at].log;
	ret->output = output;
	return ret->written == size && ret->written_at == mtime;
}

int markup_finished_add(struct markup_finished *f, struct markup_finished_log *log,
			struct sc_error *err)
{
	struct mk_out line = { 0 };
	int rc = 0;

	log->version = symcache_version;
	if (!look_at(f, log->output, &log->written, &log->written_at))
		return sc_error_set(err, SC_ESYS, "%s/%s has vanished", f->out, log->output);
	mk_put_columns(&line, columns, log);
	mk_out_lit(&line, "}\n");
	if (line.error)
		rc = sc_no_memory(err);
	else if (sc_write_all(f->fd, line.buf, line.len)) /* at once, behind others' */
		rc = sc_error_sys(err, "cannot write %s/" MARKUP_FOLDER "/finished.jsonl", f->out);
	mk_out_deinit(&line);
	return rc;
}

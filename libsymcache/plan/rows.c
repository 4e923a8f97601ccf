/* Files of JSON objects: see rows.h. */
#include "libsymcache/plan/rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { GATHERED = 1 << 18 }; /* bytes that are written at once */

static const char last_line[] = "{\"lines\":";

struct mk_path mk_path(const char *fmt, ...)
{
	struct mk_path ret;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(ret.text, sizeof(ret.text), fmt, ap);
	va_end(ap);
	return ret;
}

/* ---- writing -------------------------------------------------------------------- */

static int write_out(void *ctx, const char *data, size_t len)
{
	struct mk_rows_out *w = ctx;

	XXH3_128bits_update(&w->hash, data, len);
	if (!sc_write_all(w->file.fd, data, len))
		return 0;
	w->error = errno;
	return 1;
}

int mk_rows_create(struct mk_rows_out *w, const char *path, size_t below, struct sc_error *err)
{
	int rc = below ? sc_new_file_below(path, below, &w->file, err) :
			 sc_new_file_open(path, false, &w->file, err);

	w->num = 0;
	w->error = 0;
	XXH3_128bits_reset(&w->hash);
	if (!rc && mk_out_init(&w->out, GATHERED, write_out, w)) {
		sc_new_file_discard(&w->file);
		rc = sc_no_memory(err);
	}
	return rc;
}

void mk_rows_put(struct mk_rows_out *w, const struct mk_column *columns, const void *from)
{
	mk_put_columns(&w->out, columns, from);
	mk_out_lit(&w->out, "}\n");
	w->num++;
}

int mk_rows_commit(struct mk_rows_out *w, char hash[SC_HASH_TEXT], struct sc_error *err)
{
	char text[SC_HASH_TEXT], line[128];
	int rc;

	mk_out_flush(&w->out);
	sc_hash_text(sc_hash_digest(&w->hash), text);
	if (hash)
		memcpy(hash, text, SC_HASH_TEXT);
	snprintf(line, sizeof(line), "%s%llu,\"xxh128\":\"%s\"}\n", last_line,
		 (unsigned long long)w->num, text);
	mk_out_put(&w->out, line, strlen(line));
	mk_out_flush(&w->out);
	errno = w->error ? w->error : ENOMEM;
	rc = w->out.error ? sc_error_sys(err, "cannot write %s", w->file.path) : 0;
	rc = sc_new_file_end(&w->file, rc, err);
	mk_out_deinit(&w->out);
	return rc;
}

/* ---- reading --------------------------------------------------------------------- */

int mk_rows_read(struct mk_rows_in *r, const char *path, size_t below, struct sc_error *err)
{
	const int fd = below ? sc_open_below(path, below) : open(path, O_RDONLY | O_CLOEXEC);

	r->path = path;
	r->file = fd < 0 ? NULL : fdopen(fd, "r");
	r->num = 0;
	if (!r->file)
		return errno == ENOENT ? sc_error_set(err, SC_ENOTFOUND, "there is no %s", path)
				       : sc_error_sys(err, "%s", path);
	XXH3_128bits_reset(&r->state);
	return 0;
}

int mk_rows_damaged(const struct mk_rows_in *r, struct sc_error *err)
{
	return sc_error_set(err, SC_EFORMAT, "%s: line %llu is damaged", r->path,
			    (unsigned long long)r->num);
}

/* The last line is the current one. */
static int check_last(struct mk_rows_in *r, struct sc_error *err)
{
	char line[128];

	sc_hash_text(sc_hash_digest(&r->state), r->hash);
	snprintf(line, sizeof(line), "%s%llu,\"xxh128\":\"%s\"}\n", last_line,
		 (unsigned long long)r->num - 1, r->hash);
	if (r->len != strlen(line) || memcmp(r->line, line, r->len) || getc(r->file) != EOF)
		return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one",
				    r->path);
	return 0;
}

int mk_rows_next(struct mk_rows_in *r, struct sc_error *err)
{
	const ssize_t len = getline(&r->line, &r->cap, r->file);

	if (len < 0 && !feof(r->file))
		return sc_error_sys(err, "%s", r->path);
	r->len = len < 0 ? 0 : (size_t)len;
	r->num++;
	if (!r->len || r->line[r->len - 1] != '\n')
		return sc_error_set(err, SC_EFORMAT, "%s is cut off", r->path);
	if (!strncmp(r->line, last_line, strlen(last_line)))
		return check_last(r, err);
	XXH3_128bits_update(&r->state, r->line, r->len);
	return 1;
}

int mk_rows_parse(struct mk_rows_in *r, const struct mk_column *columns, void *to,
		  struct sc_error *err)
{
	const int rc = mk_object_parse(&r->row, r->line, r->len);

	return rc == SC_ENOMEM ? sc_no_memory(err) :
	       rc || (to && !mk_object_read(&r->row, columns, to)) ? mk_rows_damaged(r, err) : 0;
}

void mk_rows_end(struct mk_rows_in *r)
{
	if (r->file)
		fclose(r->file);
	mk_object_deinit(&r->row);
	free(r->line);
	r->file = NULL;
	r->line = NULL;
}

/* Files of JSON objects: see rows.h. */
#include "cmd/plan/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/utf8.h"

enum { GATHERED = 1 << 18 }; /* bytes that are written at once */

static const char last_line[] = "{\"lines\":";

void hash_text(XXH128_hash_t hash, char ret[HASH_TEXT])
{
	snprintf(ret, HASH_TEXT, "%016llx%016llx", (unsigned long long)hash.high64,
		 (unsigned long long)hash.low64);
}

static XXH3_state_t *new_hash(void)
{
	XXH3_state_t *state = must(XXH3_createState());

	XXH3_128bits_reset(state);
	return state;
}

/* ---- writing -------------------------------------------------------------------- */

int rows_create(struct rows_out *w, const char *path, struct sc_error *err)
{
	*w = (struct rows_out){ .file.fd = -1 };
	int rc = sc_new_file_open(path, false, &w->file, err);

	if (rc)
		return rc;
	w->j = json_gen_create_text(false, &w->text);
	w->hash = new_hash();
	return 0;
}

struct json_gen *rows_open(struct rows_out *w)
{
	json_gen_open_map(w->j, NULL);
	return w->j;
}

static int flush(struct rows_out *w, struct sc_error *err)
{
	int rc = 0;

	if (sc_write_all(w->file.fd, w->text.bytes, w->text.len))
		rc = sc_error_sys(err, "cannot write %s", w->file.path);
	w->text.len = 0;
	return rc;
}

static int hash_and_flush(struct rows_out *w, struct sc_error *err)
{
	if (w->text.len)
		XXH3_128bits_update(w->hash, w->text.bytes, w->text.len);
	return flush(w, err);
}

int rows_close(struct rows_out *w, struct sc_error *err)
{
	json_gen_close_map(w->j);
	json_gen_end(w->j);
	w->num++;
	return w->text.len < GATHERED ? 0 : hash_and_flush(w, err);
}

int rows_commit(struct rows_out *w, char hash[HASH_TEXT], struct sc_error *err)
{
	char text[HASH_TEXT], line[128];
	int rc = hash_and_flush(w, err);

	hash_text(XXH3_128bits_digest(w->hash), text);
	if (hash)
		memcpy(hash, text, HASH_TEXT);
	snprintf(line, sizeof(line), "%s%llu,\"xxh128\":\"%s\"}\n", last_line,
		 (unsigned long long)w->num, text);
	text_str(&w->text, line);
	if (!rc)
		rc = flush(w, err);
	if (!rc)
		rc = sc_new_file_commit(&w->file, err);
	rows_discard(w);
	return rc;
}

void rows_discard(struct rows_out *w)
{
	if (!w->j)
		return;
	sc_new_file_discard(&w->file);
	json_gen_destroy(w->j);
	XXH3_freeState(w->hash);
	free(w->text.bytes);
	*w = (struct rows_out){ .file.fd = -1 };
}

void json_gen_bytes(struct json_gen *j, const char *key, const char *bytes, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char hex_key[64], *hex;

	if (sc_utf8_valid(bytes, len) == len) {
		json_gen_string(j, key, bytes, len);
		return;
	}
	snprintf(hex_key, sizeof(hex_key), "%s_hex", key);
	hex = must_calloc(2, len);
	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[(unsigned char)bytes[i] >> 4];
		hex[2 * i + 1] = digits[bytes[i] & 15];
	}
	json_gen_string(j, hex_key, hex, 2 * len);
	free(hex);
}

/* ---- reading --------------------------------------------------------------------- */

int rows_read(struct rows_in *r, const char *path, struct sc_error *err)
{
	*r = (struct rows_in){ .path = path, .file = fopen(path, "re") };
	if (!r->file)
		return errno == ENOENT ? sc_error_set(err, SC_ENOTFOUND, "there is no %s", path)
				       : sc_error_sys(err, "%s", path);
	r->state = new_hash();
	return 0;
}

int rows_damaged(const struct rows_in *r, struct sc_error *err)
{
	return sc_error_set(err, SC_EFORMAT, "%s: line %llu is damaged", r->path,
			    (unsigned long long)r->num);
}

/* The last line is the current one. */
static int check_last(struct rows_in *r, struct sc_error *err)
{
	char line[128];

	hash_text(XXH3_128bits_digest(r->state), r->hash);
	snprintf(line, sizeof(line), "%s%llu,\"xxh128\":\"%s\"}\n", last_line,
		 (unsigned long long)r->num - 1, r->hash);
	if (r->len != strlen(line) || memcmp(r->line, line, r->len) || getc(r->file) != EOF)
		return sc_error_set(err, SC_EFORMAT, "%s is damaged: its hash is another one", r->path);
	return 0;
}

int rows_next(struct rows_in *r, struct sc_error *err)
{
	const ssize_t len = getline(&r->line, &r->cap, r->file);

	if (len < 0 && ferror(r->file))
		return sc_error_sys(err, "%s", r->path);
	r->len = len < 0 ? 0 : (size_t)len;
	r->num++;
	if (!r->len || r->line[r->len - 1] != '\n')
		return sc_error_set(err, SC_EFORMAT, "%s is cut off", r->path);
	if (!strncmp(r->line, last_line, strlen(last_line)))
		return check_last(r, err);
	XXH3_128bits_update(r->state, r->line, r->len);
	return 1;
}

int rows_parse(struct rows_in *r, struct sc_error *err)
{
	return row_parse(&r->row, r->line, r->len) ? 0 : rows_damaged(r, err);
}

void rows_end(struct rows_in *r)
{
	if (r->file)
		fclose(r->file);
	if (r->state)
		XXH3_freeState(r->state);
	row_deinit(&r->row);
	free(r->line);
	*r = (struct rows_in){ 0 };
}

/* Records of tasks: see record.h. */
#include "libsymcache/plan/record.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { RECORD_VERSION = 1, SAID_MAX = 1 << 20 /* bytes in memory */ };

/* ---- paths ---------------------------------------------------------------------- */

struct mk_path mk_out_path(const char *out, const char *name)
{
	return mk_path("%s/" MARKUP_FOLDER "/%s", out, name);
}

struct mk_path mk_record_path(const char *out, uint64_t task)
{
	return mk_path("%s/" MARKUP_FOLDER "/done/%llu.json", out, (unsigned long long)task);
}

struct mk_path mk_complaints_path(const char *out, uint64_t task)
{
	return mk_path("%s/" MARKUP_FOLDER "/done/%llu.complaints", out, (unsigned long long)task);
}

struct mk_path mk_part_path(const char *out, uint64_t shard)
{
	return mk_path("%s/" MARKUP_FOLDER "/parts/%06llu", out, (unsigned long long)shard);
}

int mk_read_claim(const struct mk_plan *plan, const char *out, const char *advice,
		  struct sc_error *err)
{
	const struct mk_path path = mk_out_path(out, "plan");
	char have[SC_HASH_TEXT] = "";
	const int fd = sc_open_below(path.text, strlen(out));
	ssize_t len;

	if (fd < 0)
		return errno == ENOENT ? 0 : sc_error_sys(err, "%s", path.text);
	len = read(fd, have, SC_HASH_TEXT - 1);
	if (len < 0)
		sc_error_sys(err, "%s", path.text);
	close(fd);
	return len < 0 ? SC_ESYS : len == SC_HASH_TEXT - 1 && !strcmp(have, plan->hash) ? 1 :
	       sc_error_set(err, SC_EINVAL, "%s is the output of another plan%s", out, advice);
}

/* ---- rows ------------------------------------------------------------------------- */

static const struct mk_column head_columns[] = {
	{ "record", MK_NUMBER, offsetof(struct mk_record, version), NULL },
	{ "plan", MK_HASH, offsetof(struct mk_record, plan), NULL },
	{ "task", MK_NUMBER, offsetof(struct mk_record, task), NULL },
	{ "host", MK_TEXT, offsetof(struct mk_record, host), NULL },
	{ "begun", MK_SIGNED, offsetof(struct mk_record, begun), NULL },
	{ "ended", MK_SIGNED, offsetof(struct mk_record, ended), NULL },
	{ "shards", MK_NUMBER, offsetof(struct mk_record, shards), NULL },
	{ "read", MK_NUMBER, offsetof(struct mk_record, read), NULL },
	{ "written", MK_NUMBER, offsetof(struct mk_record, written), NULL },
	{ "complaints", MK_NUMBER, offsetof(struct mk_record, complaints), NULL },
	{ "complaints_xxh128", MK_HASH, offsetof(struct mk_record, complaints_hash), NULL },
	{ 0 },
};

static const struct mk_column result_columns[] = {
	{ "shard", MK_NUMBER, offsetof(struct mk_result, shard), NULL },
	{ "status", MK_CHOICE, offsetof(struct mk_result, status),
	  (const char *const[]){ [MK_WHOLE] = "whole", [MK_CUT_OFF] = "cut off", NULL } },
	{ "read", MK_NUMBER, offsetof(struct mk_result, read), NULL },
	{ "written", MK_NUMBER, offsetof(struct mk_result, written), NULL },
	{ "xxh128", MK_HASH, offsetof(struct mk_result, hash), NULL },
	{ "frames", MK_NUMBER, offsetof(struct mk_result, stats.frames), NULL },
	{ "resolved", MK_NUMBER, offsetof(struct mk_result, stats.frames_resolved), NULL },
	{ "outside", MK_NUMBER, offsetof(struct mk_result, stats.frames_outside), NULL },
	{ "understood", MK_NUMBER, offsetof(struct mk_result, stats.understood), NULL },
	{ "guessed", MK_NUMBER, offsetof(struct mk_result, stats.guessed), NULL },
	{ "complaints", MK_NUMBER, offsetof(struct mk_result, complaints), NULL },
	{ 0 },
};

static const struct mk_column missed_columns[] = {
	{ "shard", MK_NUMBER, offsetof(struct mk_missed, shard), NULL },
	{ "module", MK_BYTES, offsetof(struct mk_missed, module.name), NULL },
	{ "build_id", MK_HEX, offsetof(struct mk_missed, module.build_id), NULL },
	{ "missed", MK_NUMBER, offsetof(struct mk_missed, module.frames), NULL },
	{ "unplaced", MK_NUMBER, offsetof(struct mk_missed, module.unplaced), NULL },
	{ "no_symbols", MK_BOOL, offsetof(struct mk_missed, module.no_symbols), NULL },
	{ "table_only", MK_BOOL, offsetof(struct mk_missed, module.table_only), NULL },
	{ "other_build", MK_BOOL, offsetof(struct mk_missed, module.other_build), NULL },
	{ 0 },
};

int mk_record_write(struct mk_record *r, const char *out, struct sc_error *err)
{
	const struct mk_path path = mk_record_path(out, r->task);
	struct mk_rows_out w;
	size_t next = 0;
	int rc = mk_rows_create(&w, path.text, strlen(out), err);

	if (rc)
		return rc;
	r->version = RECORD_VERSION;
	r->shards = r->results.len;
	mk_rows_put(&w, head_columns, r);
	for (size_t i = 0; i < r->results.len; i++) {
		mk_rows_put(&w, result_columns, &r->results.data[i]);
		for (; next < r->missed.len &&
		       r->missed.data[next].shard == r->results.data[i].shard; next++)
			mk_rows_put(&w, missed_columns, &r->missed.data[next]);
	}
	return mk_rows_commit(&w, NULL, err);
}

bool mk_misses_add(struct mk_misses *to, uint64_t shard, const struct markup_module *m)
{
	char *bytes = calloc(1, m->name.len + m->build_id_len + 1);
	struct mk_missed *missed = bytes ? vec_push(to) : NULL;

	if (!missed) {
		free(bytes);
		return false;
	}
	*missed = (struct mk_missed){ shard, *m };
	if (m->name.len)
		memcpy(bytes, m->name.ptr, m->name.len);
	if (m->build_id_len)
		memcpy(bytes + m->name.len, m->build_id, m->build_id_len);
	missed->module.name.ptr = bytes;
	missed->module.build_id = (const uint8_t *)bytes + m->name.len;
	return true;
}

bool mk_misses_move(struct mk_misses *to, struct mk_misses *from)
{
	if (!vec_reserve(to, from->len))
		return false;
	for (size_t i = 0; i < from->len; i++)
		to->data[to->len++] = from->data[i];
	from->len = 0;
	mk_misses_deinit(from);
	return true;
}

void mk_misses_deinit(struct mk_misses *m)
{
	for (size_t i = 0; i < m->len; i++)
		free((char *)m->data[i].module.name.ptr);
	vec_deinit(m);
}

void mk_record_deinit(struct mk_record *r)
{
	mk_misses_deinit(&r->missed);
	vec_deinit(&r->results);
}

/* ---- reading ----------------------------------------------------------------------- */

static int take_head(const struct mk_plan *plan, uint64_t task, struct mk_rows_in *in,
		     struct mk_record *r, struct sc_error *err)
{
	int rc = mk_rows_next(in, err);

	rc = rc < 0 ? rc : mk_rows_parse(in, head_columns, r, err);
	if (rc)
		return rc;
	r->host = NULL; /* for people alone */
	if (r->version != RECORD_VERSION)
		return mk_rows_damaged(in, err);
	if (strcmp(r->plan, plan->hash) || r->task != task)
		return sc_error_set(err, SC_EFORMAT, "%s is of another plan, or damaged: remove it and run "
				    "task %llu again", in->path, (unsigned long long)task);
	return 0;
}

static int take_result(struct mk_rows_in *in, struct mk_record *r, struct sc_error *err)
{
	const struct mk_result *last = r->results.len ? &r->results.data[r->results.len - 1] : NULL;
	struct mk_missed m = { 0 };
	struct mk_result s = { 0 };

	if (mk_object_has(&in->row, "build_id")) {
		if (!last || !mk_object_read(&in->row, missed_columns, &m) ||
		    m.shard != last->shard)
			return mk_rows_damaged(in, err);
		return mk_misses_add(&r->missed, m.shard, &m.module) ? 0 : sc_no_memory(err);
	}
	if (!mk_object_read(&in->row, result_columns, &s) || (last && s.shard <= last->shard))
		return mk_rows_damaged(in, err);
	s.stats.bytes = s.read;
	if (!vec_reserve(&r->results, 1))
		return sc_no_memory(err);
	r->results.data[r->results.len++] = s;
	return 0;
}

int mk_record_read(const struct mk_plan *plan, const char *out, uint64_t task, bool head,
		struct mk_record *ret, struct sc_error *err)
{
	__attribute__((cleanup(mk_rows_end))) struct mk_rows_in in = { 0 };
	const struct mk_path path = mk_record_path(out, task);
	uint64_t complaints = 0;
	int rc = mk_rows_read(&in, path.text, strlen(out), err);

	*ret = (struct mk_record){ 0 };
	if (!rc)
		rc = take_head(plan, task, &in, ret, err);
	if (rc || head)
		return rc;
	while ((rc = mk_rows_next(&in, err)) > 0) {
		rc = mk_rows_parse(&in, NULL, NULL, err);
		if (!rc)
			rc = take_result(&in, ret, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < ret->results.len; i++)
		complaints += ret->results.data[i].complaints;
	if (!rc && (ret->shards != ret->results.len || complaints != ret->complaints))
		return mk_rows_damaged(&in, err);
	return rc;
}

/* ---- complaints ---------------------------------------------------------------------- */

bool mk_complaint_next(const char **p, const char *end, struct markup_module *warns_of,
		    struct sc_str *text)
{
	struct mk_complaint_head h;
	const char *at = *p;

	*warns_of = (struct markup_module){ 0 };
	if ((size_t)(end - at) < sizeof(h))
		return false;
	memcpy(&h, at, sizeof(h));
	at += sizeof(h);
	warns_of->build_id_len = le16toh(h.build_id_len);
	warns_of->name.len = le16toh(h.name_len);
	text->len = le32toh(h.len);
	if (!text->len || warns_of->build_id_len > (size_t)(end - at) ||
	    warns_of->name.len > (size_t)(end - at) - warns_of->build_id_len ||
	    text->len > (size_t)(end - at) - warns_of->build_id_len - warns_of->name.len)
		return false;
	warns_of->build_id = (const uint8_t *)at;
	warns_of->name.ptr = at + warns_of->build_id_len;
	text->ptr = warns_of->name.ptr + warns_of->name.len;
	*p = text->ptr + text->len;
	return true;
}

void mk_complaint_put(struct mk_out *to, const struct markup_module *warns_of, const char *text,
		      size_t len)
{
	struct mk_complaint_head h = { .len = htole32((uint32_t)len) };

	if (warns_of) {
		h.build_id_len = htole16((uint16_t)warns_of->build_id_len);
		h.name_len = htole16((uint16_t)warns_of->name.len);
	}
	mk_out_put(to, (const char *)&h, sizeof(h));
	if (warns_of) {
		mk_out_put(to, (const char *)warns_of->build_id, warns_of->build_id_len);
		mk_out_str(to, warns_of->name);
	}
	mk_out_put(to, text, len);
}

/* A file without a name in OUT. -1: see errno. */
static int open_nameless(const char *out)
{
	const struct mk_path path = mk_out_path(out, "said");
	struct sc_new_file file;
	int fd;

	if (sc_new_file_below(path.text, strlen(out), &file, NULL))
		return -1;
	fd = fcntl(file.fd, F_DUPFD_CLOEXEC, 1); /* 0 is none */
	sc_new_file_discard(&file);
	return fd;
}

void markup_shard_say(void *ctx, const struct markup_module *warns_of, const char *text,
		      size_t len)
{
	struct mk_complaints *s = ctx;
	const size_t before = s->text.len;

	mk_complaint_put(&s->text, warns_of, text, len);
	s->bytes += s->text.len - before;
	if (s->text.error)
		s->error = ENOMEM;
	if (s->text.len <= SAID_MAX)
		return;
	if (s->fd <= 0)
		s->fd = open_nameless(s->out);
	if (s->fd < 0 || sc_write_all(s->fd, s->text.buf, s->text.len))
		s->error = errno;
	s->text.len = 0;
}

void markup_shard_miss(void *ctx, const struct markup_module *m)
{
	struct mk_complaints *s = ctx;

	if (!mk_misses_add(&s->missed, s->shard, m))
		s->error = ENOMEM;
}

int mk_complaints_copy(struct mk_complaints *s, int fd, XXH3_state_t *hash)
{
	char block[1 << 16];
	ssize_t n;

	if (s->fd > 0 && lseek(s->fd, 0, SEEK_SET) < 0)
		return -1;
	while (s->fd > 0 && (n = read(s->fd, block, sizeof(block)))) {
		if (n < 0 || sc_write_all(fd, block, (size_t)n))
			return -1;
		XXH3_128bits_update(hash, block, (size_t)n);
	}
	if (!s->text.len)
		return 0;
	XXH3_128bits_update(hash, s->text.buf, s->text.len);
	return sc_write_all(fd, s->text.buf, s->text.len);
}

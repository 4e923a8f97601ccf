/* Records of tasks: see record.h. */
#include "cmd/plan/record.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/cleanup.h"
#include "symcache/build_id.h"

enum { RECORD_VERSION = 1 };

/* ---- paths ---------------------------------------------------------------------- */

char *out_path(const char *out, const char *name)
{
	return must_asprintf("%s/" PLAN_FOLDER "/%s", out, name);
}

char *out_record_path(const char *out, uint64_t task)
{
	return must_asprintf("%s/" PLAN_FOLDER "/done/%llu.json", out, (unsigned long long)task);
}

char *out_complaints_path(const char *out, uint64_t task)
{
	return must_asprintf("%s/" PLAN_FOLDER "/done/%llu.complaints", out, (unsigned long long)task);
}

char *out_part_path(const char *out, uint64_t shard)
{
	return must_asprintf("%s/" PLAN_FOLDER "/parts/%06llu", out, (unsigned long long)shard);
}

/* ---- writing --------------------------------------------------------------------- */

static void put_head(struct json_gen *j, const struct record *r)
{
	json_gen_number(j, "record", RECORD_VERSION);
	json_gen_text(j, "plan", r->plan);
	json_gen_number(j, "task", r->task);
	json_gen_text(j, "host", r->host);
	json_gen_signed(j, "begun", r->begun);
	json_gen_signed(j, "ended", r->ended);
	json_gen_number(j, "shards", r->results.len);
	json_gen_number(j, "read", r->read);
	json_gen_number(j, "written", r->written);
	json_gen_number(j, "complaints", r->complaints);
	json_gen_text(j, "complaints_xxh128", r->complaints_hash);
}

static void put_result(struct json_gen *j, const struct result *s)
{
	json_gen_number(j, "shard", s->shard);
	json_gen_text(j, "status", s->cut_off ? "cut off" : "whole");
	json_gen_number(j, "read", s->read);
	json_gen_number(j, "written", s->written);
	json_gen_text(j, "xxh128", s->hash);
	json_gen_number(j, "frames", s->stats.frames);
	json_gen_number(j, "resolved", s->stats.frames_resolved);
	json_gen_number(j, "outside", s->stats.frames_outside);
	json_gen_number(j, "understood", s->stats.understood);
	json_gen_number(j, "complaints", s->complaints);
}

static void put_missed(struct json_gen *j, const struct missed *m)
{
	char *hex = must_calloc(2, m->module.build_id_len + 1);

	symcache_build_id_text(hex, m->module.build_id, m->module.build_id_len);
	json_gen_number(j, "shard", m->shard);
	json_gen_bytes(j, "module", m->module.name.ptr, m->module.name.len);
	json_gen_text(j, "build_id", hex);
	free(hex);
	json_gen_number(j, "missed", m->module.frames);
	json_gen_number(j, "unplaced", m->module.unplaced);
	json_gen_bool(j, "no_symbols", m->module.no_symbols);
	json_gen_bool(j, "table_only", m->module.table_only);
}

int record_write(const struct record *r, const char *path, struct sc_error *err)
{
	__attribute__((cleanup(rows_discard))) struct rows_out w = { 0 };
	size_t next = 0;
	int rc = rows_create(&w, path, err);

	if (rc)
		return rc;
	put_head(rows_open(&w), r);
	rc = rows_close(&w, err);
	for (size_t i = 0; i < r->results.len && !rc; i++) {
		put_result(rows_open(&w), &r->results.data[i]);
		rc = rows_close(&w, err);
		for (; !rc && next < r->missed.len &&
		     r->missed.data[next].shard == r->results.data[i].shard; next++) {
			put_missed(rows_open(&w), &r->missed.data[next]);
			rc = rows_close(&w, err);
		}
	}
	return rc ? rc : rows_commit(&w, NULL, err);
}

static struct missed *new_missed(struct misses *to)
{
	to->data = must_grow(to->data, to->len, &to->cap, sizeof(*to->data));
	return &to->data[to->len++];
}

void misses_add(struct misses *to, uint64_t shard, const struct markup_module *m)
{
	char *bytes = must_calloc(1, m->name.len + m->build_id_len + 1);
	struct missed *missed = new_missed(to);

	*missed = (struct missed){ shard, *m };
	if (m->name.len)
		memcpy(bytes, m->name.ptr, m->name.len);
	if (m->build_id_len)
		memcpy(bytes + m->name.len, m->build_id, m->build_id_len);
	missed->module.name.ptr = bytes;
	missed->module.build_id = (const uint8_t *)bytes + m->name.len;
}

void misses_move(struct misses *to, struct misses *from)
{
	for (size_t i = 0; i < from->len; i++)
		*new_missed(to) = from->data[i];
	from->len = 0;
	misses_deinit(from);
}

void misses_deinit(struct misses *m)
{
	for (size_t i = 0; i < m->len; i++)
		free((char *)m->data[i].module.name.ptr);
	free(m->data);
	*m = (struct misses){ 0 };
}

void record_deinit(struct record *r)
{
	misses_deinit(&r->missed);
	free(r->results.data);
	*r = (struct record){ 0 };
}

/* ---- reading ----------------------------------------------------------------------- */

static int take_head(const struct plan *plan, uint64_t task, struct rows_in *in,
		     struct record *r, uint64_t *shards, struct sc_error *err)
{
	struct row *row = &in->row;
	int rc = rows_next(in, err);

	rc = rc < 0 ? rc : rows_parse(in, err);
	if (rc)
		return rc;
	row_hash(row, "plan", r->plan);
	r->task = row_number(row, "task");
	snprintf(r->host, sizeof(r->host), "%s", row_text(row, "host"));
	r->begun = row_signed(row, "begun");
	r->ended = row_signed(row, "ended");
	*shards = row_number(row, "shards");
	r->read = row_number(row, "read");
	r->written = row_number(row, "written");
	r->complaints = row_number(row, "complaints");
	row_hash(row, "complaints_xxh128", r->complaints_hash);
	if (row->bad || row_number(row, "record") != RECORD_VERSION)
		return rows_damaged(in, err);
	if (strcmp(r->plan, plan->hash) || r->task != task)
		return sc_error_set(err, SC_EFORMAT, "%s is of another plan, or damaged: remove it and run "
				    "task %llu again", in->path, (unsigned long long)task);
	return 0;
}

static int take_missed(struct rows_in *in, uint64_t shard, struct record *r, struct sc_error *err)
{
	struct row *row = &in->row;
	struct markup_module m = {
		.frames = row_number(row, "missed"), .unplaced = row_number(row, "unplaced"),
		.no_symbols = row_bool(row, "no_symbols"), .table_only = row_bool(row, "table_only"),
	};
	char *name = row_bytes(row, "module", &m.name.len);
	char *id = row_hex(row, "build_id", &m.build_id_len);
	const bool bad = row->bad || row_number(row, "shard") != shard;

	m.name.ptr = name;
	m.build_id = (const uint8_t *)id;
	if (!bad)
		misses_add(&r->missed, shard, &m);
	free(name);
	free(id);
	return bad ? rows_damaged(in, err) : 0;
}

static int take_result(struct rows_in *in, struct record *r, struct sc_error *err)
{
	struct row *row = &in->row;
	const struct result *last = r->results.len ? &r->results.data[r->results.len - 1] : NULL;
	struct result s;

	if (row_has(row, "build_id"))
		return last ? take_missed(in, last->shard, r, err) : rows_damaged(in, err);
	s = (struct result){
		.shard = row_number(row, "shard"), .read = row_number(row, "read"),
		.cut_off = !strcmp(row_text(row, "status"), "cut off"),
		.written = row_number(row, "written"), .complaints = row_number(row, "complaints"),
		.stats = { row_number(row, "frames"), row_number(row, "resolved"),
			   row_number(row, "outside"), row_number(row, "understood") },
	};
	s.stats.bytes = s.read;
	row_hash(row, "xxh128", s.hash);
	if (row->bad || (last && s.shard <= last->shard))
		return rows_damaged(in, err);
	r->results.data = must_grow(r->results.data, r->results.len, &r->results.cap,
				    sizeof(*r->results.data));
	r->results.data[r->results.len++] = s;
	return 0;
}

int record_read(const struct plan *plan, const char *out, uint64_t task, bool head,
		struct record *ret, struct sc_error *err)
{
	__attribute__((cleanup(rows_end))) struct rows_in in = { 0 };
	__attribute__((cleanup(sc_free_text))) char *path = out_record_path(out, task);
	uint64_t shards = 0, complaints = 0;
	int rc = rows_read(&in, path, err);

	*ret = (struct record){ 0 };
	if (!rc)
		rc = take_head(plan, task, &in, ret, &shards, err);
	if (rc || head)
		return rc;
	while ((rc = rows_next(&in, err)) > 0) {
		rc = rows_parse(&in, err);
		if (!rc)
			rc = take_result(&in, ret, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < ret->results.len; i++)
		complaints += ret->results.data[i].complaints;
	if (!rc && (shards != ret->results.len || complaints != ret->complaints))
		return rows_damaged(&in, err);
	return rc;
}

/* ---- complaints ---------------------------------------------------------------------- */

bool complaint_next(const char **p, const char *end, struct markup_module *warns_of,
		    struct markup_str *text)
{
	struct complaint_head h;
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

void complaint_put(struct text *to, const struct markup_module *warns_of, const char *text,
		   size_t len)
{
	struct complaint_head h = { .len = htole32((uint32_t)len) };

	if (warns_of) {
		h.build_id_len = htole16((uint16_t)warns_of->build_id_len);
		h.name_len = htole16((uint16_t)warns_of->name.len);
	}
	text_put(to, &h, sizeof(h));
	if (warns_of && warns_of->build_id_len)
		text_put(to, warns_of->build_id, warns_of->build_id_len);
	if (warns_of && warns_of->name.len)
		text_put(to, warns_of->name.ptr, warns_of->name.len);
	text_put(to, text, len);
}

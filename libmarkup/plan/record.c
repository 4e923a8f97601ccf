/* Records of tasks: see record.h. */
#include "libmarkup/plan/record.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_VERSION = 1 };

/* ---- paths ---------------------------------------------------------------------- */

struct mk_path mk_out_path(const char *out, const char *name)
{
	return mk_path("%s/" MK_PLAN_FOLDER "/%s", out, name);
}

struct mk_path mk_record_path(const char *out, uint64_t task)
{
	return mk_path("%s/" MK_PLAN_FOLDER "/done/%llu.json", out, (unsigned long long)task);
}

struct mk_path mk_complaints_path(const char *out, uint64_t task)
{
	return mk_path("%s/" MK_PLAN_FOLDER "/done/%llu.complaints", out, (unsigned long long)task);
}

struct mk_path mk_part_path(const char *out, uint64_t shard)
{
	return mk_path("%s/" MK_PLAN_FOLDER "/parts/%06llu", out, (unsigned long long)shard);
}

/* ---- writing --------------------------------------------------------------------- */

static void put_head(struct mk_rows_out *w, const struct mk_record *r)
{
	struct mk_out *o = mk_rows_open(w, "record", RECORD_VERSION);

	mk_json_text(o, "plan", r->plan);
	mk_json_number(o, "task", r->task);
	mk_json_text(o, "host", r->host);
	mk_json_signed(o, "begun", r->begun);
	mk_json_signed(o, "ended", r->ended);
	mk_json_number(o, "shards", r->results.len);
	mk_json_number(o, "read", r->read);
	mk_json_number(o, "written", r->written);
	mk_json_number(o, "complaints", r->complaints);
	mk_json_text(o, "complaints_xxh128", r->complaints_hash);
	mk_rows_close(w);
}

static void put_result(struct mk_rows_out *w, const struct mk_result *s)
{
	struct mk_out *o = mk_rows_open(w, "shard", s->shard);

	mk_json_text(o, "status", s->cut_off ? "cut off" : "whole");
	mk_json_number(o, "read", s->read);
	mk_json_number(o, "written", s->written);
	mk_json_text(o, "xxh128", s->hash);
	mk_json_number(o, "frames", s->stats.frames);
	mk_json_number(o, "resolved", s->stats.frames_resolved);
	mk_json_number(o, "outside", s->stats.frames_outside);
	mk_json_number(o, "understood", s->stats.understood);
	mk_json_number(o, "complaints", s->complaints);
	mk_rows_close(w);
}

static void put_missed(struct mk_rows_out *w, const struct mk_missed *m)
{
	struct mk_out *o = mk_rows_open(w, "shard", m->shard);

	mk_json_bytes(o, "module", m->module.name.ptr, m->module.name.len);
	mk_json_hexes(o, "build_id", m->module.build_id, m->module.build_id_len);
	mk_json_number(o, "missed", m->module.frames);
	mk_json_number(o, "unplaced", m->module.unplaced);
	mk_json_bool(o, "no_symbols", m->module.no_symbols);
	mk_json_bool(o, "table_only", m->module.table_only);
	mk_rows_close(w);
}

int mk_record_write(const struct mk_record *r, const char *path, struct sc_error *err)
{
	struct mk_rows_out w;
	size_t next = 0;
	int rc = mk_rows_create(&w, path, err);

	if (rc)
		return rc;
	put_head(&w, r);
	for (size_t i = 0; i < r->results.len; i++) {
		put_result(&w, &r->results.data[i]);
		for (; next < r->missed.len &&
		       r->missed.data[next].shard == r->results.data[i].shard; next++)
			put_missed(&w, &r->missed.data[next]);
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
		     struct mk_record *r, uint64_t *shards, struct sc_error *err)
{
	struct mk_object *row = &in->row;
	int rc = mk_rows_next(in, err);

	rc = rc < 0 ? rc : mk_rows_parse(in, err);
	if (rc)
		return rc;
	mk_object_hash(row, "plan", r->plan);
	r->task = mk_object_number(row, "task");
	snprintf(r->host, sizeof(r->host), "%s", mk_object_text(row, "host"));
	r->begun = mk_object_signed(row, "begun");
	r->ended = mk_object_signed(row, "ended");
	*shards = mk_object_number(row, "shards");
	r->read = mk_object_number(row, "read");
	r->written = mk_object_number(row, "written");
	r->complaints = mk_object_number(row, "complaints");
	mk_object_hash(row, "complaints_xxh128", r->complaints_hash);
	if (row->bad || mk_object_number(row, "record") != RECORD_VERSION)
		return mk_rows_damaged(in, err);
	if (strcmp(r->plan, plan->hash) || r->task != task)
		return sc_error_set(err, SC_EFORMAT, "%s is of another plan, or damaged: remove it and run "
				    "task %llu again", in->path, (unsigned long long)task);
	return 0;
}

static int take_missed(struct mk_rows_in *in, uint64_t shard, struct mk_record *r,
		       struct sc_error *err)
{
	struct mk_object *row = &in->row;
	struct markup_module m = {
		.frames = mk_object_number(row, "missed"), .unplaced = mk_object_number(row, "unplaced"),
		.no_symbols = mk_object_bool(row, "no_symbols"), .table_only = mk_object_bool(row, "table_only"),
	};
	const struct markup_str id = mk_object_hex(row, "build_id");

	m.name = mk_object_bytes(row, "module");
	m.build_id = (const uint8_t *)id.ptr;
	m.build_id_len = id.len;
	if (row->bad || mk_object_number(row, "shard") != shard)
		return mk_rows_damaged(in, err);
	return mk_misses_add(&r->missed, shard, &m) ? 0 : sc_no_memory(err);
}

static int take_result(struct mk_rows_in *in, struct mk_record *r, struct sc_error *err)
{
	struct mk_object *row = &in->row;
	const struct mk_result *last = r->results.len ? &r->results.data[r->results.len - 1] : NULL;
	struct mk_result s;

	if (mk_object_has(row, "build_id"))
		return last ? take_missed(in, last->shard, r, err) : mk_rows_damaged(in, err);
	s = (struct mk_result){
		.shard = mk_object_number(row, "shard"), .read = mk_object_number(row, "read"),
		.cut_off = !strcmp(mk_object_text(row, "status"), "cut off"),
		.written = mk_object_number(row, "written"), .complaints = mk_object_number(row, "complaints"),
		.stats = { mk_object_number(row, "frames"), mk_object_number(row, "resolved"),
			   mk_object_number(row, "outside"), mk_object_number(row, "understood") },
	};
	s.stats.bytes = s.read;
	mk_object_hash(row, "xxh128", s.hash);
	if (row->bad || (last && s.shard <= last->shard))
		return mk_rows_damaged(in, err);
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
	uint64_t shards = 0, complaints = 0;
	int rc = mk_rows_read(&in, path.text, err);

	*ret = (struct mk_record){ 0 };
	if (!rc)
		rc = take_head(plan, task, &in, ret, &shards, err);
	if (rc || head)
		return rc;
	while ((rc = mk_rows_next(&in, err)) > 0) {
		rc = mk_rows_parse(&in, err);
		if (!rc)
			rc = take_result(&in, ret, err);
		if (rc)
			return rc;
	}
	for (size_t i = 0; i < ret->results.len; i++)
		complaints += ret->results.data[i].complaints;
	if (!rc && (shards != ret->results.len || complaints != ret->complaints))
		return mk_rows_damaged(&in, err);
	return rc;
}

/* ---- complaints ---------------------------------------------------------------------- */

bool mk_complaint_next(const char **p, const char *end, struct markup_module *warns_of,
		    struct markup_str *text)
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

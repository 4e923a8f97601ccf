/* What is written: see out.h. */
#include "libsymcache/profile/out.h"

#define RUN_MIN ((size_t)64 << 10) /* shorter runs of the input are copied */

void prof_out_begin(struct prof_out *o, size_t input)
{
	const size_t free_of_charge = (size_t)64 << 20;

	vec_clear(&o->own.v);
	vec_clear(&o->pieces);
	vec_clear(&o->vecs);
	o->own.failed = o->over = false;
	o->from = o->to = NULL;
	o->taken = o->size = 0;
	o->limit = input > (SIZE_MAX - free_of_charge) / 64 ? SIZE_MAX : 64 * input + free_of_charge;
}

void prof_out_deinit(struct prof_out *o)
{
	prof_bytes_deinit(&o->own);
	vec_deinit(&o->pieces);
	vec_deinit(&o->vecs);
}

static void add_piece(struct prof_out *o, const uint8_t *from, size_t at, size_t len)
{
	struct prof_piece *p = len ? vec_push(&o->pieces) : NULL;

	if (p)
		*p = (struct prof_piece){ from, at, len };
	else if (len)
		o->own.failed = true;
}

/* Counts the new bytes that are no piece yet, and makes one of them. */
static void end_own(struct prof_out *o)
{
	add_piece(o, NULL, o->taken, o->own.v.len - o->taken);
	o->taken = o->own.v.len;
}

static void end_run(struct prof_out *o)
{
	const size_t len = (size_t)(o->to - o->from);

	if (!len)
		return;
	if (len >= RUN_MIN && !o->in_one) {
		end_own(o);
		add_piece(o, o->from, 0, len);
		o->size += len;
	} else {
		prof_put(&o->own, o->from, len);
	}
	o->from = o->to = NULL;
}

void prof_out_input(struct prof_out *o, const uint8_t *from, const uint8_t *to)
{
	if (from == o->to) {
		o->to = to;
		return;
	}
	end_run(o);
	o->from = from;
	o->to = to;
}

struct prof_bytes *prof_out_own(struct prof_out *o)
{
	end_run(o);
	if (o->size + o->own.v.len > o->limit) { /* from now on nothing is kept */
		o->over = true;
		vec_clear(&o->own.v);
		vec_clear(&o->pieces);
		o->taken = o->size = 0;
	}
	return &o->own;
}

int prof_out_too_large(const struct prof_out *o, struct sc_error *err)
{
	return sc_error_set(err, SC_ELIMIT, "the output would have more than %zu MiB, which is 64 "
			    "times the input and 64 MiB", o->limit >> 20);
}

int prof_out_end(struct prof_out *o, struct sc_error *err)
{
	prof_out_own(o);
	end_own(o);
	o->size += o->own.v.len;
	if (o->over)
		return prof_out_too_large(o, err);
	if (o->own.failed || !vec_reserve(&o->vecs, o->pieces.len))
		return sc_no_memory(err);
	for (size_t i = 0; i < o->pieces.len; i++) {
		const struct prof_piece *p = &o->pieces.data[i];

		o->vecs.data[o->vecs.len++] = (struct iovec){
			(void *)(p->from ? p->from : o->own.v.data + p->at), p->len };
	}
	return 0;
}

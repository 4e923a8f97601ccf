/* Protobuf at the level of its wire: see wire.h. */
#include "libsymcache/profile/wire.h"

#include <string.h>

static bool fail(struct prof_wire *w, const uint8_t *where, const char *why)
{
	w->bad = where;
	w->why = why;
	w->at = w->end;
	return false;
}

bool prof_wire_number(struct prof_wire *w, uint64_t *ret)
{
	const uint8_t *from = w->at, *p = from;
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		if (p == w->end)
			return fail(w, from, "a number is cut off");
		value |= (uint64_t)(*p & 0x7f) << (shift < 63 ? shift : 63);
		if (*p++ < 0x80) {
			w->at = p;
			*ret = value;
			return true;
		}
	}
	return fail(w, from, "a number has more than 10 bytes");
}

bool prof_wire_next(struct prof_wire *w, struct prof_field *f)
{
	uint64_t tag;

	if (w->at == w->end)
		return false;
	f->from = w->at;
	if (!prof_wire_number(w, &tag))
		return false;
	f->number = tag >> 3;
	f->type = tag & 7;
	f->value = 0;
	f->bytes = NULL;
	f->len = 0;
	if (!f->number)
		return fail(w, f->from, "a field has the number 0");
	switch (f->type) {
	case PROF_VARINT:
		return prof_wire_number(w, &f->value);
	case PROF_FIXED64:
	case PROF_FIXED32:
		f->len = f->type == PROF_FIXED64 ? 8 : 4;
		break;
	case PROF_BYTES:
		if (!prof_wire_number(w, &f->value))
			return false;
		if (f->value > SIZE_MAX)
			return fail(w, f->from, "a field goes past the end");
		f->len = (size_t)f->value;
		break;
	default:
		return fail(w, f->from, "a field is of a kind that protobuf does not have");
	}
	if (f->len > (size_t)(w->end - w->at))
		return fail(w, f->from, "a field goes past the end");
	f->bytes = w->at;
	w->at += f->len;
	return true;
}

/* ---- writing ------------------------------------------------------------------------- */

void prof_put(struct prof_bytes *to, const void *bytes, size_t len)
{
	if (!len || to->failed)
		return;
	if (!vec_reserve(&to->v, len)) {
		to->failed = true;
		return;
	}
	memcpy(to->v.data + to->v.len, bytes, len);
	to->v.len += len;
}

/* Writes it, for which there is room. */
static void put_varint(struct prof_bytes *to, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		to->v.data[to->v.len++] = (uint8_t)(value | 0x80);
	to->v.data[to->v.len++] = (uint8_t)value;
}

/* Room for numbers of any length. */
static bool reserve(struct prof_bytes *to, size_t numbers)
{
	const size_t longest = 10;

	if (to->failed || numbers > SIZE_MAX / longest || !vec_reserve(&to->v, longest * numbers))
		to->failed = true;
	return !to->failed;
}

void prof_put_varint(struct prof_bytes *to, uint64_t value)
{
	if (reserve(to, 1))
		put_varint(to, value);
}

void prof_put_number(struct prof_bytes *to, unsigned number, uint64_t value)
{
	if (!value || !reserve(to, 2))
		return;
	put_varint(to, number << 3 | PROF_VARINT);
	put_varint(to, value);
}

void prof_put_list(struct prof_bytes *to, unsigned number, const uint64_t values[], size_t n)
{
	size_t size = 0;

	if (!reserve(to, n + 2))
		return;
	for (size_t i = 0; i < n; i++)
		size += prof_varint_size(values[i]);
	put_varint(to, number << 3 | PROF_BYTES);
	put_varint(to, size);
	for (size_t i = 0; i < n; i++)
		put_varint(to, values[i]);
}

void prof_put_bytes(struct prof_bytes *to, unsigned number, const void *bytes, size_t len)
{
	prof_put_varint(to, number << 3 | PROF_BYTES);
	prof_put_varint(to, len);
	prof_put(to, bytes, len);
}

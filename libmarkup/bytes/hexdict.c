/*
 * hexdict: pairs, and an element that is held until its end comes. See
 * hexdict.h. Cost: each byte is looked at a constant number of times.
 */
#include "libmarkup/bytes/hexdict.h"

#include <stdlib.h>
#include <string.h>

#include "libmarkup/bytes/fields.h"

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The next run of bytes that are not white space; len 0: no more. */
static struct sc_str word(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	const char *start = p;
	while (p < end && !is_space(*p))
		p++;
	return sc_span(start, p);
}

bool mk_next_pair(const char **pos, const char *end, struct mk_pair *ret)
{
	struct sc_str w = word(*pos, end);

	while (w.len) {
		const char *after = w.ptr + w.len;
		const char *colon = memchr(w.ptr, ':', w.len);
		struct sc_str next = word(after, end);

		if (colon && colon > w.ptr) {
			bool apart = colon + 1 == after;
			struct sc_str value = apart ? next : (struct sc_str){
				colon + 1, (size_t)(after - colon - 1) };
			if (mk_field_address(value, &ret->number)) {
				ret->key = sc_span(w.ptr, colon);
				ret->value = value;
				*pos = value.ptr + value.len;
				return true;
			}
		}
		w = next;
	}
	*pos = end;
	return false;
}

void mk_hexdict_deinit(struct mk_hexdict *h)
{
	mk_out_deinit(&h->text);
	*h = (struct mk_hexdict){ 0 };
}

static bool append(struct mk_hexdict *h, const char *p, size_t len)
{
	if (len > MARKUP_HEXDICT_MAX - h->text.len)
		return false;
	mk_out_put(&h->text, p, len);
	return !h->text.error;
}

bool mk_hexdict_open(struct mk_hexdict *h, struct sc_str text)
{
	h->text.len = 0;
	h->open = append(h, text.ptr, text.len);
	return h->open;
}

bool mk_hexdict_add(struct mk_hexdict *h, const char *p, size_t len)
{
	const size_t tag = strlen("{{{hexdict:"); /* no key begins in it */
	size_t last = h->text.len; /* where its last word begins */
	struct mk_pair pair;
	const char *pos;

	/* A key at the end of the line before goes with a value on this one. */
	while (last && is_space(h->text.buf[last - 1]))
		last--;
	while (last > tag && !is_space(h->text.buf[last - 1]))
		last--;
	if (!append(h, p, len))
		return false;
	pos = h->text.buf + last;
	if (memmem(p, len, "}}}", 3) || mk_next_pair(&pos, h->text.buf + h->text.len, &pair))
		return true;
	for (last = len; last && is_space(p[last - 1]);)
		last--;
	if (last && p[last - 1] == ':')
		return true;
	h->text.len -= len;
	return false;
}

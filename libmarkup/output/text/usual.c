/*
 * The bypass: a bt element of the usual form, alone in its line, goes from the scan to its
 * text without becoming an event. Nearly all elements of large logs are such, and this
 * takes a third of the time off. What it writes is what the events would: usual_test.c
 * compares the two on every log of testdata.
 *
 * It is used where nothing but frames is to be followed: no colours, one process.
 */
#include "libmarkup/output/text/text.h"

const char *mk_text_usual(struct mk_output *r, const char *p, const char *hit, const char *end)
{
	const struct mk_announced *a;
	struct sc_str prefix = { NULL, 0 };
	const char *close, *eol, *bol;
	const struct mk_map *map;
	struct mk_pieces text;

	if (r->follows || r->resolve->demux.on || r->resolve->resolver.source ||
	    !(a = mk_ahead_frame(r->resolve, mk_kind_of(&mk_text_bt_style, 0))))
		return NULL;
	close = eol = hit + a->peek.len;
	if (close == end || *close != '\n') {
		eol = memchr(close, '\n', (size_t)(end - close));
		if (mk_find3(close, eol ? eol : end, '{'))
			return NULL;
	}
	if (r->modline.open)
		mk_modline_close(r, true);
	r->resolve->stats.understood++;
	mk_out_put(&r->out, p, (size_t)(hit - p));
	map = mk_pieces_announced(r, a, &mk_text_bt_style, &text);
	if (text.n > 1) { /* they begin and end as this line does */
		bol = memrchr(p, '\n', (size_t)(hit - p));
		bol = bol ? bol + 1 : p;
		prefix = mk_text_prefix(bol, hit);
		r->newline = mk_newline_of(bol, (size_t)((eol ? eol + 1 : end) - bol));
	}
	mk_text_put_frames(r, prefix, a->peek.number, a->peek.address + a->peek.return_address,
			   map, &text);
	return close;
}

/*
 * tfile_tp.c: from the pieces of tracepoints to tracepoints, and the text of their
 * actions.
 *
 * The pieces are sorted by (number, address, offset) and folded in one pass, so
 * that a hostile file with a million tracepoints costs n log n. Where GDB would
 * run past the end of a line there is a notice.
 */
#include <stdlib.h>

#include "libsymcache/trace/tfile_reader.h"

static int compare_pieces(const void *a, const void *b)
{
	const struct symtrace_piece *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->offset < y->offset ? -1 : 1;
}

/* E|D:STEP:PASS[:F LEN][:S][:X LEN,BYTECODE] */
static void fold_definition(struct tfile_reader *r, struct symtrace_tracepoint *tp,
			    const struct symtrace_piece *piece)
{
	struct tfile_text t = tfile_text(piece->text);

	tp->defined = true;
	tp->state = 0;
	tp->kind = SYMTRACE_TP_TRAP;
	tp->fast_len = 0;
	tp->condition = (struct sc_str){ NULL, 0 };
	if (t.p < t.end) {
		tp->state = *t.p == 'E' ? 'E' : 'D';
		t.p++;
	}
	tfile_skip(&t, ':');
	tp->step = tfile_take_hex(&t);
	tfile_skip(&t, ':');
	tp->pass = tfile_take_hex(&t);
	while (tfile_skip(&t, ':')) {
		if (tfile_skip(&t, 'F')) {
			tp->kind = SYMTRACE_TP_FAST;
			tp->fast_len = tfile_take_hex(&t);
		} else if (tfile_skip(&t, 'S')) {
			tp->kind = SYMTRACE_TP_STATIC;
		} else if (tfile_skip(&t, 'X')) {
			uint64_t len = tfile_take_hex(&t), there;

			tfile_skip(&t, ',');
			there = (uint64_t)(t.end - t.p) / 2;
			if (len > there) {
				tfile_notice(r, piece->offset, "Tracepoint condition is cut short");
				len = there;
			}
			tp->condition = (struct sc_str){ t.p, (size_t)len * 2 };
			t.p += len * 2;
		} else {
			tfile_notice(r, piece->offset, "Unrecognized char '%.*s' in tracepoint "
				     "definition, skipping rest", t.p < t.end, t.p);
		}
	}
}

/* HITS:USAGE; several lines add up, as in GDB. */
static void fold_hits(struct symtrace_tracepoint *tp, const struct symtrace_piece *piece,
		      unsigned base)
{
	struct tfile_text t = tfile_text(piece->text);

	tp->has_hits = true;
	tp->hits += tfile_take_number(&t, base);
	tfile_skip(&t, ':');
	tp->usage += tfile_take_number(&t, base);
}

/* Decodes a source string. A long one comes in chunks: those that begin where
 * *last ends are joined to it. (GDB keeps the last chunk alone.) */
static void fold_source(struct symtrace *f, struct symtrace_piece *piece,
			struct symtrace_piece **last)
{
	struct tfile_text t = tfile_text(piece->text);
	struct symtrace_piece *before = *last;

	if (piece->start > 0 && before && before->kind == piece->kind &&
	    before->text.len == piece->start) {
		f->text_len--; /* its NUL */
		before->text.len += tfile_decode(f, t).len;
		piece->kind = SYMTRACE_PIECE_REPEAT;
		piece->text = (struct sc_str){ NULL, 0 };
	} else {
		piece->text = tfile_decode(f, t);
		*last = piece;
	}
}

static bool takes_registers(struct sc_str actions)
{
	struct symtrace_action action;

	while (symtrace_next_action(&actions, &action))
		if (action.kind == 'R')
			return true;
	return false;
}

void tfile_fold_pieces(struct tfile_reader *r)
{
	struct symtrace *f = r->file;
	struct symtrace_tracepoint *tp = NULL;
	struct symtrace_piece *source = NULL; /* the last one of this tracepoint */
	unsigned hits_base = 10;
	size_t n = 0;

	if (f->num_pieces)
		qsort(f->pieces, f->num_pieces, sizeof(*f->pieces), compare_pieces);
	for (size_t i = 0; i < f->num_pieces; i++) {
		const struct symtrace_piece *p = &f->pieces[i];

		n += i == 0 || p->number != p[-1].number || p->address != p[-1].address;
		/* gdbserver writes hits and usage in decimal, others may write hex:
		 * it shows by a digit above 9 in any of these lines. */
		for (size_t k = 0; p->kind == SYMTRACE_PIECE_STATUS && k < p->text.len; k++)
			if (sc_hex_digit(p->text.ptr[k]) > 9)
				hits_base = 16;
	}
	f->tracepoints = calloc(n ? n : 1, sizeof(*f->tracepoints));
	if (!f->tracepoints) {
		tfile_fail(r, SC_ENOMEM, r->offset, "out of memory");
		return;
	}
	for (size_t i = 0; i < f->num_pieces; i++) {
		struct symtrace_piece *p = &f->pieces[i];

		if (!tp || p->number != tp->number || p->address != tp->address) {
			tp = &f->tracepoints[f->num_tracepoints++];
			tp->number = p->number;
			tp->address = p->address;
			tp->offset = p->offset;
			tp->first_piece = i;
			source = NULL;
		}
		tp->num_pieces++;
		if (p->kind == SYMTRACE_PIECE_DEFINITION)
			fold_definition(r, tp, p);
		else if (p->kind == SYMTRACE_PIECE_STATUS)
			fold_hits(tp, p, hits_base);
		else if (p->kind == SYMTRACE_PIECE_ACTION)
			tp->takes_registers |= takes_registers(p->text);
		else if (p->kind != SYMTRACE_PIECE_STEP_ACTION)
			fold_source(f, p, &source);
	}
}

bool symtrace_next_action(struct sc_str *rest, struct symtrace_action *ret)
{
	struct tfile_text t;

	*ret = (struct symtrace_action){ .base = -1, .text = *rest };
	if (rest->len == 0)
		return false;
	t = tfile_text(*rest);
	if (tfile_skip(&t, 'R')) {
		ret->kind = 'R';
		ret->text.ptr = t.p;
		tfile_take_hex(&t);
		ret->text.len = (size_t)(t.p - ret->text.ptr);
	} else if (tfile_skip(&t, 'M')) {
		if (!tfile_skip_word(&t, "-1"))
			ret->base = (int32_t)tfile_take_hex(&t); /* FFFFFFFF: −1 too */
		if (tfile_skip(&t, ',')) {
			ret->offset = tfile_take_hex(&t);
			if (tfile_skip(&t, ',')) {
				ret->len = tfile_take_hex(&t);
				ret->kind = 'M';
			}
		}
	} else if (tfile_skip(&t, 'X')) {
		ret->len = tfile_take_hex(&t);
		if (tfile_skip(&t, ',') && ret->len <= (uint64_t)(t.end - t.p) / 2) {
			ret->kind = 'X';
			ret->text = (struct sc_str){ t.p, (size_t)ret->len * 2 };
			t.p += ret->len * 2;
		}
	} else if (tfile_skip(&t, 'L')) {
		ret->kind = 'L';
	}
	*rest = tfile_rest(&t);
	if (ret->kind == 0)
		rest->len = 0;
	return true;
}

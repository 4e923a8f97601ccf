/*
 * Our dialect, as text: the layout of LLVM's filter with what its users miss.
 *
 * A line is text, contextual elements (module, mmap, reset) and presentation
 * elements (the others). Text is not written when it is seen but when something
 * behind it is: until then it may turn out to be the prefix of a map that joins
 * the open module line, and is dropped. An element that makes no sense, and any
 * of an unknown tag, is text.
 *
 *   PREFIX {{{module:…}}}          PREFIX [[[ELF module …    (line stays open)
 *   PREFIX {{{mmap:…}}}                                       (joins it)
 *   PREFIX {{{bt:0:ADDR}}} REST     …]]] / PREFIX #0.1 … / PREFIX #0 … REST
 *
 * What follows a contextual element is written if it is not blank: nothing of a
 * log is lost but the prefixes of lines that were merged into another.
 */
#include "libmarkup/output/text/text.h"

static bool blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
		p++;
	return p == end;
}

/* Writes the text from t->pending up to `upto`. */
static void flush_text(struct mk_output *r, const char *upto)
{
	struct mk_text *t = r->state;

	/* Behind a contextual element of this line its end goes on the line. */
	mk_modline_close(r, !t->after_context);
	t->after_context = t->newline_owed = false;
	mk_put_text(r, t->pending, (size_t)(upto - t->pending));
	t->pending = upto;
}

/* The element makes sense: the text before it goes out, and it is taken. */
static void begin_element(struct mk_output *r, const struct mk_event *e)
{
	flush_text(r, e->text.ptr);
	mk_text_of(r)->pending = e->text.ptr + e->text.len;
}

/* ---- contextual elements --------------------------------------------------- */

/* What comes behind the element goes with its line. */
static void end_context(struct mk_text *t, const struct mk_event *e, bool newline_owed)
{
	t->pending = e->text.ptr + e->text.len;
	t->after_context = true;
	t->newline_owed = newline_owed;
}

/* The text before a contextual element that begins output of its own. */
static void context_text(struct mk_output *r, const struct mk_event *e)
{
	struct mk_text *t = r->state;

	if (t->after_context && blank(t->pending, e->text.ptr)) {
		mk_modline_close(r, true);
		if (t->newline_owed)
			mk_put_newline(r);
	} else {
		flush_text(r, e->text.ptr);
	}
}

static void put_module(struct mk_output *r, const struct mk_event *e)
{
	struct mk_text *t = r->state;

	context_text(r, e);
	mk_modline_open(r, e->index, false);
	end_context(t, e, false);
}

static void put_map(struct mk_output *r, const struct mk_event *e)
{
	const uint32_t module = r->resolve->context.maps[e->index].module;
	struct mk_text *t = r->state;

	if (!r->modline.open || r->modline.module != module ||
	    (t->after_context && !blank(t->pending, e->text.ptr))) {
		context_text(r, e);
		mk_modline_open(r, module, true);
	}
	mk_modline_add(r, e->index);
	end_context(t, e, false);
}

static void put_reset(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct mk_out *o = &r->out;

	if (mk_context_empty(&r->resolve->context)) {
		/* It says nothing new, and neither does its line if that is all. */
		if (!blank(e->text.ptr + e->text.len, l->p + l->len))
			begin_element(r, e);
		else
			end_context(r->state, e, false);
		return;
	}
	context_text(r, e);
	mk_sgr_highlight(r, o);
	mk_out_lit(o, "[[[");
	mk_put_value(r, o, e->tag.ptr, e->tag.len + (e->rest.ptr ? e->rest.len + 1 : 0));
	mk_out_lit(o, "]]]");
	mk_sgr_restore(r, o);
	end_context(r->state, e, true);
}

/* ---- lines ----------------------------------------------------------------- */

static void text_line(struct mk_output *r, const struct mk_line *l)
{
	struct mk_text *t = r->state;

	t->pending = t->quote_pos = t->text_begin = l->p;
	t->quoted = t->in_trace = false;
	t->prefix = (struct sc_str){ NULL, 0 };
	if (l->part & MK_LINE_FIRST) {
		t->after_context = t->newline_owed = false;
		mk_sgr_line_start(r);
		if (l->num_events)
			t->prefix = mk_text_prefix(l->p, l->events[0].text.ptr);
	}
}

static void put_hexdict(struct mk_output *r, const struct mk_event *e)
{
	struct mk_text *t = r->state;

	if (!e->rest.ptr)
		return;
	begin_element(r, e);
	mk_text_pairs(r, t->prefix, e->rest.ptr, e->rest.ptr + e->rest.len);
}

static void put_open_hexdict(struct mk_output *r, const struct mk_event *e)
{
	struct mk_text *t = r->state;

	begin_element(r, e);
	t->held.len = 0; /* text_held() goes on */
	mk_out_str(&t->held, t->prefix);
}

static void text_event(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	static void (*const put[])(struct mk_output *r, const struct mk_event *e) = {
		[MK_MODULE] = put_module,
		[MK_MAP] = put_map,
		[MK_FRAME] = mk_text_frame,
		[MK_PC] = mk_text_pc,
		[MK_DATA] = mk_text_data,
		[MK_SYMBOL] = mk_put_symbol,
		[MK_HEXDICT] = put_hexdict,
		[MK_HEXDICT_OPEN] = put_open_hexdict,
		[MK_DUMPFILE] = mk_text_dumpfile,
	};

	if (e->bad) {
		mk_complain_of(r, e);
		return;
	}
	if (e->quiet || e->kind == MK_UNKNOWN)
		return;
	if (e->kind == MK_RESET) {
		put_reset(r, l, e);
		return;
	}
	if (!mk_is_context(e) && e->kind != MK_HEXDICT && e->kind != MK_HEXDICT_OPEN)
		begin_element(r, e);
	if (mk_names_module(e)) {
		mk_text_named_frame(r, l, e);
		return;
	}
	put[e->kind](r, e);
}

static void text_line_end(struct mk_output *r, const struct mk_line *l)
{
	const char *end = l->p + l->len;
	struct mk_text *t = r->state;

	t->shift = t->in_trace ? t->shift : 0;
	if (!(t->after_context && blank(t->pending, end)))
		flush_text(r, end);
	if (!(l->part & MK_LINE_LAST))
		return;
	if (t->newline_owed)
		mk_put_newline(r);
	if (t->notes.len) {
		if (!l->len || end[-1] != '\n')
			mk_put_newline(r);
		mk_text_notes(r);
	}
}

static void text_held(struct mk_output *r, const struct mk_held *h)
{
	const size_t open = strlen("{{{hexdict:"), close = strlen("}}}");
	const struct mk_text *t = r->state;

	if (h->complete)
		mk_text_pairs(r, (struct sc_str){ t->held.buf, t->held.len },
			      h->text.ptr + open, h->text.ptr + h->text.len - close);
	else
		mk_put_text(r, h->text.ptr, h->text.len);
}

static void text_plain(struct mk_output *r, const char *p, size_t len)
{
	mk_modline_close(r, true);
	mk_sgr_line_start(r);
	if (len)
		mk_text_of(r)->shift = 0;
	mk_out_put(&r->out, p, len);
}

static void text_leaving(struct mk_output *r)
{
	mk_modline_close(r, true); /* it speaks of the other context */
}

static void text_finish(struct mk_output *r)
{
	mk_modline_close(r, true);
	mk_sgr_line_start(r);
}

static void text_init(struct mk_output *r)
{
	r->resolve->memo_kind = mk_kind_of(&mk_text_bt_style, mk_sgr_style(r)); /* most likely */
}

static void text_deinit(struct mk_output *r)
{
	struct mk_text *t = r->state;

	mk_out_deinit(&t->notes);
	mk_out_deinit(&t->held);
}

const struct mk_renderer mk_text_renderer = {
	.form = { .sources = true },
	.state_size = sizeof(struct mk_text),
	.line = text_line,
	.event = text_event,
	.line_end = text_line_end,
	.held = text_held,
	.plain = text_plain,
	.usual = mk_text_usual,
	.leaving = text_leaving,
	.finish = text_finish,
	.init = text_init,
	.deinit = text_deinit,
};

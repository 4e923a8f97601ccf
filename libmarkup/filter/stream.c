/*
 * The filter's frame: bytes → lines → events → output.
 *
 *   block   ……\n……\n……{{{……}}}……\n……\n……     (what feed() was given)
 *           plain     line          plain tail
 *
 * One scan finds what may begin an event; the whole lines before it go to the output
 * at once, in place, and straight on to the sink if they are many. Only the
 * tail, a line whose end has not come yet, is copied. A line that outgrows
 * MARKUP_LINE_MAX is handled in pieces, cut where no element is cut through.
 *
 * Cost: for text without markup one pass at the speed of memory. Memory: the
 * buffers of `struct mk_stream`, each with its bound.
 */
#include "libmarkup/filter/stream.h"

#include <errno.h>
#include <stdlib.h>

#include "libmarkup/bytes/fields.h"

static void leave_context(void *output)
{
	struct mk_output *r = output;

	if (r->renderer->leaving)
		r->renderer->leaving(r);
}

int mk_stream_create(const struct markup_options *options,
		     const struct markup_resolver *resolver, const struct markup_sink *sink,
		     struct mk_stream **ret)
{
	struct mk_stream *s = calloc(1, sizeof(*s));
	int rc;

	*ret = NULL;
	if (!s)
		return -ENOMEM;
	s->where.sink = *sink;
	s->resolve.wants_symbols = markup_form_of(options)->wants_symbols;
	rc = mk_resolve_init(&s->resolve, options, resolver, &s->where);
	if (!rc)
		rc = mk_out_init(&s->walked, 256, NULL, NULL);
	if (!rc)
		rc = mk_output_init(&s->output, options, &s->resolve, &s->where);
	if (rc) {
		mk_stream_destroy(s);
		return rc;
	}
	if (!mk_formats_init(&s->formats, options->dialect == MARKUP_DEFAULT ? options->inputs
									     : mk_markup_input.name)) {
		mk_stream_destroy(s);
		return -ENOMEM;
	}
	mk_ahead_init(&s->resolve.ahead, s->formats.inputs,
		      s->output.follows ? MK_SCAN_ESC : MK_SCAN_BRACES);
	for (const struct mk_input *const *in = s->resolve.ahead.inputs; *in; in++)
		for (const char *const *word = (*in)->words; !(*in)->cuttable && *word; word++)
			mk_words_add(&s->uncuttable, *word);
	s->line.dialect = options->dialect;
	s->line.formats = &s->formats;
	s->resolve.demux.leaving = leave_context;
	s->resolve.demux.ctx = &s->output;
	*ret = s;
	return 0;
}

void mk_stream_destroy(struct mk_stream *s)
{
	if (!s)
		return;
	mk_output_deinit(&s->output);
	mk_resolve_deinit(&s->resolve);
	mk_hexdict_deinit(&s->hexdict);
	mk_formats_deinit(&s->formats);
	mk_out_deinit(&s->walked);
	free(s->line.events);
	mk_out_deinit(&s->tail);
	free(s);
}

static int failed(const struct mk_stream *s)
{
	return s->error ? s->error : s->resolve.error ? s->resolve.error : s->output.out.error;
}

/* ---- lines ----------------------------------------------------------------- */

/* Reads the events of the current line. */
static void read_events(struct mk_stream *s)
{
	struct mk_line *l = &s->line;

	s->resolve.line = l;
	l->had_context &= !(l->part & MK_LINE_FIRST);
	l->num_events = 0;
	if (!s->plain)
		mk_read_events(&s->resolve, l);
}

/* The context follows the current line; nothing else matters. */
static void follow_line(struct mk_stream *s)
{
	read_events(s);
	for (size_t i = 0; i < s->line.num_events; i++) {
		struct mk_event *e = &s->line.events[i];

		mk_take(&s->resolve, e);
		if (e->kind == MK_RESET && !e->bad)
			mk_context_reset(&s->resolve.context);
	}
}

/* Lines of which nothing is written. */
static void look_for_uncuttable(struct mk_stream *s, const char *p, const char *end)
{
	uint64_t newlines = 0;

	s->whole |= s->uncuttable.num && mk_words_find(&s->uncuttable, p, end, &newlines);
}

/* Hands the current line, whose events were read, to the output. */
static void put_events(struct mk_stream *s)
{
	const struct mk_renderer *renderer = s->output.renderer;
	struct mk_line *l = &s->line;

	mk_begin_line(&s->resolve, l->num_events && l->chained ? &l->events[0] : NULL);
	s->resolve.stats.understood += l->num_events;
	renderer->line(&s->output, l);
	for (size_t i = 0; i < l->num_events; i++) {
		struct mk_event *e = &l->events[i];

		if (e->kind == MK_HEXDICT_OPEN && !mk_hexdict_open(&s->hexdict, e->text))
			break;
		mk_take(&s->resolve, e);
		l->had_context |= mk_is_context(e);
		renderer->event(&s->output, l, e);
		if (e->kind == MK_HEXDICT_OPEN)
			return;
		if (e->kind == MK_RESET && !e->bad)
			mk_context_reset(&s->resolve.context);
	}
	renderer->line_end(&s->output, l);
}

/* Hands the lines of the frames to the output, if the current line begins with a stack. */
static bool put_stack(struct mk_stream *s)
{
	struct mk_walked walked;

	if (!mk_walk_stack(&s->resolve, &s->line, &walked))
		return false;
	s->resolve.lines_end = NULL;
	for (size_t i = 0; i < walked.lines && !failed(s); i++) {
		s->error = mk_walked_line(&walked, i, &s->line, &s->walked);
		if (!s->error)
			put_events(s);
	}
	return true;
}

/* Hands the current line to the output. */
static void put_line(struct mk_stream *s)
{
	if (s->mute) {
		look_for_uncuttable(s, s->line.p, s->line.p + s->line.len);
		follow_line(s);
		return;
	}
	read_events(s);
	if (!put_stack(s))
		put_events(s);
}

/* The process of a line, or its first piece. */
static void switch_process(struct mk_stream *s, const char *p, size_t len, const char *first)
{
	const char *markup = first ? first : mk_find3(p, p + len, '{'), *line_end;

	if (!markup) { /* it may have events of another format */
		s->line.p = p;
		s->line.len = len;
		s->line.first = NULL;
		read_events(s);
		markup = s->line.num_events ? s->line.events[0].text.ptr : NULL;
	}
	if (markup)
		mk_demux_switch(&s->resolve, p, markup,
				mk_context_line(&s->formats, p, p + len, &line_end));
}

static void give_up_hexdict(struct mk_stream *s)
{
	struct mk_hexdict *h = &s->hexdict;

	h->open = false;
	mk_complain(&s->where,
		    "this line is not part of the hexdict before it, which does not end");
	s->output.renderer->held(&s->output, &(struct mk_held){ { h->text.buf, h->text.len } });
}

/* A line while a hexdict is open. False: it is given up, and this is a line
 * like any other. */
static bool held_line(struct mk_stream *s, const char *p, size_t len)
{
	const char *end = p + len;
	const char *open = mk_find3(p, end, '{'), *close = mk_find3(p, end, '}');
	struct mk_hexdict *h = &s->hexdict;

	if (close && (!open || close < open)) {
		if (mk_hexdict_add(h, p, (size_t)(close + 3 - p))) {
			h->open = false;
			s->output.renderer->held(&s->output, &(struct mk_held){
				{ h->text.buf, h->text.len }, true, { p, len } });
			s->line.p = close + 3;
			s->line.len = (size_t)(end - close - 3);
			s->line.first = NULL;
			s->line.part = MK_LINE_LAST;
			put_line(s);
			return true;
		}
	} else if (!open && mk_hexdict_add(h, p, len)) {
		return true;
	}
	give_up_hexdict(s);
	if (s->resolve.demux.on)
		switch_process(s, p, len, NULL);
	return false;
}

/* A whole line, or the last piece of one. */
static void one_line(struct mk_stream *s, const char *p, size_t len, const char *first)
{
	struct mk_line *l = &s->line;

	s->output.newline = l->newline = mk_newline_of(p, len);
	if (s->resolve.demux.on && !s->hexdict.open && !s->mid_line)
		switch_process(s, p, len, first);
	if (!s->hexdict.open || !held_line(s, p, len)) {
		l->p = p;
		l->len = len;
		l->first = first;
		l->part = s->mid_line ? MK_LINE_LAST : MK_LINE_WHOLE;
		put_line(s);
	}
	s->mid_line = false;
	s->where.line_no++;
}

void mk_stream_follow(struct mk_stream *s, const char *p, const char *end)
{
	const char *line_end;

	while (!failed(s) && (p = mk_context_line(&s->formats, p, end, &line_end))) {
		if (s->resolve.demux.on)
			switch_process(s, p, (size_t)(line_end - p), NULL);
		s->line.p = p;
		s->line.len = (size_t)(line_end - p);
		s->line.first = NULL;
		s->line.part = MK_LINE_WHOLE;
		follow_line(s);
		p = line_end;
	}
}

/* Whole lines, but for the last one of an input. */
static void put_lines(struct mk_stream *s, const char *p, const char *end)
{
	const struct mk_renderer *r = s->output.renderer;

	if (s->mute) {
		look_for_uncuttable(s, p, end);
		mk_stream_follow(s, p, end);
		return;
	}
	mk_ahead_start(&s->resolve, p);
	while (p < end && !failed(s)) {
		const bool each = s->hexdict.open || r->every_line;
		const char *hit = p, *first = NULL, *eol;

		if (!each) {
			hit = mk_ahead_next(&s->resolve, p, end);
			if (!hit) {
				mk_begin_line(&s->resolve, NULL);
				r->plain(&s->output, p, (size_t)(end - p));
				return;
			}
			if (r->usual && (eol = r->usual(&s->output, p, hit, end))) {
				p = eol;
				continue;
			}
			if (*hit == '{')
				first = hit;
			const char *before = memrchr(p, '\n', (size_t)(hit - p));
			if (before) {
				mk_begin_line(&s->resolve, NULL);
				r->plain(&s->output, p, (size_t)(before + 1 - p));
				p = before + 1;
			}
		}
		eol = memchr(hit, '\n', (size_t)(end - hit));
		eol = eol ? eol + 1 : end;
		s->plain = each && !mk_ahead_in_line(&s->resolve, p, eol, end);
		s->resolve.lines_end = end;
		one_line(s, p, (size_t)(eol - p), first);
		s->resolve.lines_end = NULL;
		s->plain = false;
		p = eol;
	}
}

/* ---- the tail -------------------------------------------------------------- */

/* Where to cut a piece of a line so that no element and no escape sequence is
 * cut through, as far as that can be known. */
static size_t cut(const char *p, size_t len)
{
	const char *end = p + len, *open = mk_rfind3(p, end, '{'), *esc;
	size_t at = len;

	if (open && open > p && !mk_find3(open, end, '}'))
		return (size_t)(open - p);
	while (at > len - 2 && p[at - 1] == '{')
		at--;
	esc = memrchr(p + at - 4, '\033', 4);
	return esc ? (size_t)(esc - p) : at;
}

/* The tail is full: handles what can be handled. */
static void tail_piece(struct mk_stream *s)
{
	size_t len = cut(s->tail.buf, s->tail.len);

	if (s->hexdict.open)
		give_up_hexdict(s);
	if (s->resolve.demux.on && !s->mid_line) { /* the first element may be in another piece */
		const char *end = s->tail.buf + len, *first = mk_find3(s->tail.buf, end, '{');

		switch_process(s, s->tail.buf, len, first ? first : end);
	}
	s->line.p = s->tail.buf;
	s->line.len = len;
	s->line.first = NULL;
	s->output.newline = s->line.newline = "\n";
	s->line.part = s->mid_line ? 0 : MK_LINE_FIRST;
	put_line(s);
	s->mid_line = true;
	s->tail.len -= len;
	memmove(s->tail.buf, s->tail.buf + len, s->tail.len);
}

/* Adds to the tail, which holds no newline but at its end. */
static void tail_add(struct mk_stream *s, const char *p, size_t len)
{
	while (len && !failed(s)) {
		size_t n = MARKUP_LINE_MAX - s->tail.len;
		if (n > len)
			n = len;
		mk_out_put(&s->tail, p, n);
		if (s->tail.error) {
			s->error = -ENOMEM;
			return;
		}
		p += n;
		len -= n;
		if (s->tail.len == MARKUP_LINE_MAX && (len || p[-1] != '\n'))
			tail_piece(s);
	}
}

/* The tail is a line, or the last piece of one. */
static void tail_line(struct mk_stream *s)
{
	size_t len = s->tail.len;

	s->tail.len = 0;
	if (s->mid_line)
		one_line(s, s->tail.buf, len, NULL);
	else if (len)
		put_lines(s, s->tail.buf, s->tail.buf + len);
}

/* ---- the interface --------------------------------------------------------- */

int mk_stream_feed(struct mk_stream *s, const char *data, size_t len)
{
	const char *end = data + len, *eol;

	if (failed(s) || !len)
		return failed(s);
	if (s->tail.len || s->mid_line) {
		eol = memchr(data, '\n', len);
		tail_add(s, data, eol ? (size_t)(eol + 1 - data) : len);
		if (!eol || failed(s))
			return failed(s);
		tail_line(s);
		data = eol + 1;
	}
	eol = memrchr(data, '\n', (size_t)(end - data));
	if (eol) {
		put_lines(s, data, eol + 1);
		data = eol + 1;
	}
	tail_add(s, data, (size_t)(end - data));
	return failed(s);
}

int mk_stream_flush(struct mk_stream *s)
{
	mk_out_flush(&s->output.out);
	return failed(s);
}

int mk_stream_finish(struct mk_stream *s)
{
	if (!failed(s)) {
		tail_line(s);
		if (s->hexdict.open)
			give_up_hexdict(s);
		if (s->output.renderer->finish)
			s->output.renderer->finish(&s->output);
	}
	s->whole = false;
	mk_demux_reset(&s->resolve);
	mk_context_reset(&s->resolve.context);
	return mk_stream_flush(s);
}

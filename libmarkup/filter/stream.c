/*
 * The filter's frame: bytes → lines → renderer.
 *
 *   block   ……\n……\n……{{{……}}}……\n……\n……     (what feed() was given)
 *           plain     line          plain tail
 *
 * One scan finds the next "{{{"; the whole lines before it go to the renderer
 * at once, in place, and straight on to the sink if they are many. Only the
 * tail, a line whose end has not come yet, is copied. A line that outgrows
 * MARKUP_LINE_MAX is handled in pieces, cut where no element is cut through.
 *
 * Cost: for text without markup one pass at the speed of memory. Memory: the
 * buffers of `struct markup_filter`, each with its bound.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "libmarkup/state.h"

int markup_filter_create(const struct markup_options *options,
			 const struct markup_resolver *resolver,
			 const struct markup_sink *sink, struct markup_filter **ret)
{
	struct markup_filter *f = calloc(1, sizeof(*f));
	int rc;

	*ret = NULL;
	if (!f)
		return -ENOMEM;
	f->options = *options;
	f->options.title = options->title ? strdup(options->title) : NULL;
	f->resolver = *resolver;
	f->sink = *sink;
	f->renderer = options->dialect == MARKUP_LLVM ? &mk_llvm_renderer :
		      options->dialect == MARKUP_FUCHSIA ? &mk_fuchsia_renderer :
		      options->format == MARKUP_JSON ? &mk_json_renderer :
		      options->format == MARKUP_HTML ? &mk_html_renderer :
		      &mk_text_renderer;
	/* LLVM follows SGR codes always, Fuchsia never. */
	f->scan_for = options->dialect == MARKUP_LLVM ||
		      (options->dialect == MARKUP_DEFAULT && options->color != MARKUP_COLOR_NONE)
			      ? MARKUP_SCAN_ESC : MARKUP_SCAN_BRACES;
	f->newline = "\n";
	f->sgr.color = -1;
	mk_context_init(&f->context, options->dialect, &f->generations);
	rc = mk_demux_init(f, options->demux);
	if (rc) {
		markup_filter_destroy(f);
		return rc;
	}
	if (mk_out_init(&f->out, MARKUP_OUT_BUFFER, sink->write, sink->ctx) ||
	    mk_out_init(&f->scratch, 4096, NULL, NULL) ||
	    mk_out_init(&f->notes, 4096, NULL, NULL) ||
	    mk_out_init(&f->dumpfiles, 4096, NULL, NULL)) {
		markup_filter_destroy(f);
		return -ENOMEM;
	}
	*ret = f;
	return 0;
}

void markup_filter_destroy(struct markup_filter *f)
{
	if (!f)
		return;
	mk_demux_deinit(f);
	mk_context_deinit(&f->context);
	mk_memo_deinit(&f->memo);
	mk_missing_deinit(&f->missing);
	mk_hexdict_deinit(&f->hexdict);
	mk_out_deinit(&f->out);
	mk_out_deinit(&f->scratch);
	mk_out_deinit(&f->notes);
	mk_out_deinit(&f->dumpfiles);
	mk_missing_deinit(&f->seen);
	free((char *)f->options.title);
	free(f->modline.maps);
	free(f->fuchsia.by_base);
	free(f->tail);
	free(f);
}

void markup_filter_input(struct markup_filter *f, const char *name)
{
	f->input = name;
	f->line_no = 0;
	f->html.input++;
}

/* ---- complaints ------------------------------------------------------------ */

void mk_complain_text(struct markup_filter *f, const char *text, size_t len)
{
	if (!f->silent && f->sink.complain)
		f->sink.complain(f->sink.ctx, text, len);
}

void mk_complain(struct markup_filter *f, const char *fmt, ...)
{
	char text[1024];
	size_t len = 0;
	va_list ap;

	if (f->silent || !f->sink.complain)
		return;
	if (f->input)
		len = (size_t)snprintf(text, sizeof(text) / 2, "%s:", f->input);
	else
		len = (size_t)snprintf(text, sizeof(text), "line ");
	if (len >= sizeof(text) / 2)
		len = sizeof(text) / 2 - 1;
	len += (size_t)snprintf(text + len, sizeof(text) - len, "%llu: ",
				(unsigned long long)f->line_no + 1);
	va_start(ap, fmt);
	vsnprintf(text + len, sizeof(text) - len - 1, fmt, ap);
	va_end(ap);
	len = strlen(text);
	text[len++] = '\n';
	mk_complain_text(f, text, len);
}

struct markup_str mk_printable(struct markup_str s, char buf[], size_t size)
{
	static const char more[] = "...";
	size_t len = s.len < size ? s.len : size;

	for (size_t i = 0; i < len; i++)
		buf[i] = (unsigned char)s.ptr[i] < ' ' || s.ptr[i] == 0x7f ? '?' : s.ptr[i];
	if (s.len > size)
		memcpy(buf + size - (sizeof(more) - 1), more, sizeof(more) - 1);
	return (struct markup_str){ buf, len };
}

/* ---- lines ----------------------------------------------------------------- */

static void switch_process(struct markup_filter *f, const char *p, size_t len)
{
	const char *markup = f->first ? f->first : markup_find3(p, p + len, '{');

	if (markup)
		mk_demux_switch(f, p, markup, p + len);
}

static void give_up_hexdict(struct markup_filter *f)
{
	f->hexdict.open = false;
	mk_complain(f, "this line is no part of the hexdict before it, which does not end");
	f->renderer->held(f, false);
}

/* A line while a hexdict is open. False: it is given up, and this is a line
 * like any other. */
static bool held_line(struct markup_filter *f, const char *p, size_t len)
{
	const char *end = p + len;
	const char *open = markup_find3(p, end, '{'), *close = markup_find3(p, end, '}');

	if (close && (!open || close < open)) {
		if (mk_hexdict_add(&f->hexdict, p, (size_t)(close + 3 - p))) {
			f->hexdict.open = false;
			f->last_held = (struct markup_str){ p, len };
			f->renderer->held(f, true);
			f->first = NULL;
			f->renderer->line(f, close + 3, (size_t)(end - close - 3), LINE_LAST);
			return true;
		}
	} else if (!open && mk_hexdict_add(&f->hexdict, p, len)) {
		return true;
	}
	give_up_hexdict(f);
	if (f->demux.on)
		switch_process(f, p, len);
	return false;
}

const char *mk_newline_of(const char *p, size_t len)
{
	len -= len && p[len - 1] == '\n'; /* the last line may lack it */
	return len && p[len - 1] == '\r' ? "\r\n" : "\n";
}

/* A whole line, or the last piece of one. */
static void one_line(struct markup_filter *f, const char *p, size_t len, const char *first)
{
	f->first = first;
	f->newline = mk_newline_of(p, len);
	if (f->demux.on && !f->hexdict.open && !f->mid_line)
		switch_process(f, p, len);
	if (!f->hexdict.open || !held_line(f, p, len))
		f->renderer->line(f, p, len, f->mid_line ? LINE_LAST : LINE_WHOLE);
	f->mid_line = false;
	f->line_no++;
}

void mk_filter_lines(struct markup_filter *f, const char *p, const char *end)
{
	const struct renderer *r = f->renderer;

	mk_ahead_start(f, p);
	while (p < end && !f->error && !f->out.error) {
		const char *hit = p, *first = NULL, *eol;

		if (!f->hexdict.open && !r->every_line) {
			hit = mk_ahead_next(f, p, end);
			if (!hit) {
				r->plain(f, p, (size_t)(end - p));
				return;
			}
			if (r->frame && (eol = r->frame(f, p, hit, end))) {
				p = eol;
				continue;
			}
			if (*hit == '{')
				first = hit;
			const char *before = memrchr(p, '\n', (size_t)(hit - p));
			if (before) {
				r->plain(f, p, (size_t)(before + 1 - p));
				p = before + 1;
			}
		} else if (p >= f->ahead.upto) {
			mk_ahead_look(f, end);
		}
		eol = memchr(hit, '\n', (size_t)(end - hit));
		eol = eol ? eol + 1 : end;
		one_line(f, p, (size_t)(eol - p), first);
		p = eol;
	}
}

/* ---- the tail -------------------------------------------------------------- */

/* Where to cut a piece of a line so that no element and no escape sequence is
 * cut through, as far as that can be known. */
static size_t cut(const char *p, size_t len)
{
	const char *end = p + len, *open = markup_rfind3(p, end, '{'), *esc;
	size_t at = len;

	if (open && open > p && !markup_find3(open, end, '}'))
		return (size_t)(open - p);
	while (at > len - 2 && p[at - 1] == '{')
		at--;
	esc = memrchr(p + at - 4, '\033', 4);
	return esc ? (size_t)(esc - p) : at;
}

/* The tail is full: handles what can be handled. */
static void tail_piece(struct markup_filter *f)
{
	size_t len = cut(f->tail, f->tail_len);

	if (f->hexdict.open)
		give_up_hexdict(f);
	f->newline = "\n";
	f->first = NULL;
	if (f->demux.on && !f->mid_line)
		switch_process(f, f->tail, len);
	f->renderer->line(f, f->tail, len, f->mid_line ? 0 : LINE_FIRST);
	f->mid_line = true;
	f->tail_len -= len;
	memmove(f->tail, f->tail + len, f->tail_len);
}

/* Adds to the tail, which holds no newline but at its end. */
static void tail_add(struct markup_filter *f, const char *p, size_t len)
{
	while (len && !f->error && !f->out.error) {
		size_t n = MARKUP_LINE_MAX - f->tail_len;
		if (n > len)
			n = len;
		if (f->tail_len + n > f->tail_cap) {
			size_t cap = f->tail_cap * 2 + n + 4096;
			if (cap > MARKUP_LINE_MAX)
				cap = MARKUP_LINE_MAX;
			char *tail = realloc(f->tail, cap);
			if (!tail) {
				f->error = -ENOMEM;
				return;
			}
			f->tail = tail;
			f->tail_cap = cap;
		}
		memcpy(f->tail + f->tail_len, p, n);
		f->tail_len += n;
		p += n;
		len -= n;
		if (f->tail_len == MARKUP_LINE_MAX && (len || p[-1] != '\n'))
			tail_piece(f);
	}
}

/* The tail is a line, or the last piece of one. */
static void tail_line(struct markup_filter *f)
{
	size_t len = f->tail_len;

	f->tail_len = 0;
	if (f->mid_line)
		one_line(f, f->tail, len, NULL);
	else if (len)
		mk_filter_lines(f, f->tail, f->tail + len);
}

/* The head of the output, if it has one and is not there yet. */
static void begin(struct markup_filter *f)
{
	if (!f->begun && !f->inner && f->options.format == MARKUP_HTML)
		mk_html_begin(&f->out, f->options.title);
	f->begun = true;
}

/* ---- the interface --------------------------------------------------------- */

static int failed(const struct markup_filter *f)
{
	return f->error ? f->error : f->out.error;
}

int markup_filter_feed(struct markup_filter *f, const char *data, size_t len)
{
	const char *end = data + len, *eol;

	if (failed(f) || !len)
		return failed(f);
	begin(f);
	if (f->tail_len || f->mid_line) {
		eol = memchr(data, '\n', len);
		tail_add(f, data, eol ? (size_t)(eol + 1 - data) : len);
		if (!eol || failed(f))
			return failed(f);
		tail_line(f);
		data = eol + 1;
	}
	eol = memrchr(data, '\n', (size_t)(end - data));
	if (eol) {
		mk_filter_lines(f, data, eol + 1);
		data = eol + 1;
	}
	tail_add(f, data, (size_t)(end - data));
	return failed(f);
}

int markup_filter_flush(struct markup_filter *f)
{
	mk_out_flush(&f->out);
	return failed(f);
}

int markup_filter_finish(struct markup_filter *f)
{
	if (!failed(f)) {
		tail_line(f);
		if (f->hexdict.open)
			give_up_hexdict(f);
		f->renderer->finish(f);
	}
	f->tail_len = 0;
	f->mid_line = f->hexdict.open = false;
	mk_demux_reset(f);
	mk_context_reset(&f->context);
	return markup_filter_flush(f);
}

int markup_filter_end(struct markup_filter *f)
{
	begin(f);
	if (f->options.format == MARKUP_HTML)
		mk_html_end(&f->out, &f->seen, &f->missing, &f->stats);
	return markup_filter_flush(f);
}

const struct markup_stats *markup_filter_stats(const struct markup_filter *f)
{
	return &f->stats;
}

int markup_filter_missing(const struct markup_filter *f,
			  void (*fn)(void *ctx, const struct markup_missing *m), void *ctx)
{
	return mk_missing_each(&f->missing, fn, ctx);
}

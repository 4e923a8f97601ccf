/* Lines → lists, folds, backtraces: the page of a log: see html.h. Memory is bounded: one
 * backtrace, the lines just before it, and the outline. */
#include "libmarkup/output/html/compose.h"

#include <errno.h>
#include <stdlib.h>

static void *page_create(const struct markup_options *options,
			 int (*write)(void *ctx, const char *data, size_t len), void *ctx)
{
	struct mk_page *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->options = *options;
	p->crash_severity = -1;
	if (!mk_out_init(&p->out, OUT_BUFFER, write, ctx))
		return p;
	free(p);
	return NULL;
}

static void page_destroy(void *whole)
{
	struct mk_page *p = whole;

	if (!p)
		return;
	mk_out_deinit(&p->out);
	mk_out_deinit(&p->pending);
	mk_out_deinit(&p->recent.text);
	mk_out_deinit(&p->trace.rows);
	mk_out_deinit(&p->trace.title);
	mk_out_deinit(&p->trace.next_title);
	mk_out_deinit(&p->trace.module);
	mk_out_deinit(&p->outline);
	mk_out_deinit(&p->crash);
	free(p);
}

static void begin(struct mk_page *p)
{
	const struct markup_options *options = &p->options;
	const char *path = options->title ? options->title : "log", *slash = strrchr(path, '/');
	const struct mk_page_links links = { options->link, options->path_maps };

	if (p->begun)
		return;
	p->begun = true;
	mk_page_begin(&p->out, MK_PAGE_LOG, mk_escaped_text(slash ? slash + 1 : path), &links);
	mk_page_bar(&p->out, MK_PAGE_LOG, path, "Backtraces");
	mk_out_lit(&p->out, "<div class=page>\n<main>\n<div id=log tabindex=-1>\n");
}

/* ---- lines and backtraces ----------------------------------------------------------- */

static void close_all(struct mk_page *p)
{
	if (p->at == AT_TRACE)
		mk_trace_end(p);
	mk_list_close(p);
}

/* A line without a frame begins; its text follows. */
static void take_line(struct mk_page *p, char kind)
{
	if (p->at == AT_TRACE && kind == 'L' && p->trace.loose < LOOSE_MAX) {
		if (!p->trace.loose++)
			p->trace.kept = p->trace.rows.len;
		mk_out_lit(&p->trace.rows, "\1L");
		return;
	}
	if (p->at == AT_TRACE)
		mk_trace_end(p);
	mk_list_line(p, kind);
}

/* ---- marks ------------------------------------------------------------------------- */

/* Behind the mark at p; NULL: it goes on. */
static const char *mark_end(const char *p, const char *end)
{
	const char *at = p + 2;

	if (end - p < 2)
		return NULL;
	for (int fields = strchr("FmI", p[1]) ? 1 : 0; fields && at; fields--) {
		at = memchr(at, '\2', (size_t)(end - at));
		at = at ? at + 1 : NULL;
	}
	return at;
}

static uint64_t number_at(const char **p)
{
	uint64_t n = 0;

	for (; **p >= '0' && **p <= '9'; ++*p)
		n = 10 * n + (uint64_t)(**p - '0');
	return n;
}

static void take_frames(struct mk_page *p, const char *text)
{
	struct mk_mark f = { .begins = p->begins };

	p->begins = false;
	if (*text == 'r') {
		text++;
		f.reach = (uint32_t)number_at(&text);
	} else {
		f.number = number_at(&text);
	}
	if (p->at != AT_TRACE || !mk_trace_goes_on(p, &f)) {
		close_all(p);
		mk_trace_begin(p, &f);
	}
	mk_trace_line(p, &f);
}

static void end_input(struct mk_page *p)
{
	p->line++;
	close_all(p);
	mk_part_end(p);
	p->line = 0;
	p->trace.severity = 0; /* it lends its name to none of the next input */
	mk_recent_clear(&p->recent);
}

static void take_mark(struct mk_page *p, const char *mark, const char *end)
{
	const char kind = mark[1];

	if (kind == 'E') {
		end_input(p);
	} else if (kind == 'I') {
		p->input++;
		mk_put(&p->out, "<h2 class=input>");
		mk_out_put(&p->out, mark + 2, (size_t)(end - 1 - (mark + 2)));
		mk_put(&p->out, "</h2>\n");
	} else if (kind == 'B') {
		p->begins = true;
	} else if (kind == 'm') {
		mk_trace_frame(p, sc_span(mark + 2, end - 1));
	} else if (kind == 'x') {
		p->trace.missing++;
	} else if (kind == 'o') {
		mk_out_lit(&p->trace.rows, "\1o");
	} else {
		p->line++;
		p->lines++;
		if (kind == 'F')
			take_frames(p, mark + 2);
		else
			take_line(p, kind);
	}
}

static void put_text(struct mk_page *p, const char *text, size_t len)
{
	if (p->at == AT_TRACE) {
		mk_out_put(&p->trace.rows, text, len);
		return;
	}
	mk_out_put(&p->out, text, len);
	if (p->at == AT_LINES)
		mk_recent_add(&p->recent, text, len);
}

/* How much of it was taken: all but the beginning of a mark. */
static size_t take_bytes(struct mk_page *p, const char *data, size_t len)
{
	const char *at = data, *end = data + len;

	while (at < end) {
		const char *mark = memchr(at, '\1', (size_t)(end - at)), *behind;

		put_text(p, at, (size_t)((mark ? mark : end) - at));
		if (!mark)
			return len;
		behind = mark_end(mark, end);
		if (!behind)
			return (size_t)(mark - data);
		take_mark(p, mark, behind);
		at = behind;
	}
	return len;
}

static int error_of(const struct mk_page *p)
{
	const struct mk_out *const outs[] = {
		&p->out, &p->pending, &p->recent.text, &p->trace.rows, &p->trace.title,
		&p->trace.next_title, &p->trace.module, &p->outline, &p->crash,
	};

	for (size_t i = 0; i < sizeof(outs) / sizeof(*outs); i++)
		if (outs[i]->error)
			return outs[i]->error;
	return 0;
}

static int page_take(void *whole, const char *data, size_t len)
{
	struct mk_page *p = whole;
	size_t taken;

	begin(p);
	if (p->pending.len) {
		mk_out_put(&p->pending, data, len);
		data = p->pending.buf;
		len = p->pending.len;
	}
	taken = take_bytes(p, data, len);
	if (p->pending.len)
		memmove(p->pending.buf, data + taken, len - taken);
	else
		mk_out_put(&p->pending, data + taken, len - taken);
	p->pending.len = len - taken;
	return error_of(p);
}

static int page_end(void *whole, const struct mk_modules *seen, const struct mk_modules *missing,
		    const struct markup_stats *stats)
{
	struct mk_page *p = whole;

	begin(p);
	mk_part_end(p);
	mk_out_lit(&p->out, "</div>\n");
	mk_page_head(p, seen, missing, stats);
	mk_page_end(&p->out, MK_PAGE_LOG);
	mk_out_flush(&p->out);
	return error_of(p);
}

const struct mk_whole mk_html_page = { page_create, page_take, page_end, page_destroy };

/* A backtrace of the page: its rows, its name, its entry in the outline: see compose.h. */
#include "libmarkup/output/html/compose.h"

enum { NAME_LENT = 12 }; /* lines */

bool mk_trace_goes_on(const struct mk_page *p, const struct mk_mark *f)
{
	const struct mk_backtrace *t = &p->trace;

	if (f->begins || f->reach != t->reach || t->lines >= TRACE_LINES ||
	    t->rows.len > TRACE_BYTES)
		return false;
	return f->reach ? p->line - t->line <= f->reach : f->number > t->number;
}

/* A frame alone, as kernels and Java have it before their traces, lends these its name. */
static void name(struct mk_page *p)
{
	struct mk_backtrace *t = &p->trace;
	const struct mk_out old = t->title;
	int severity;

	t->next_title.len = 0;
	severity = mk_html_title(&t->next_title, &p->recent);
	if (!severity && t->severity && t->frames == 1 && p->line - t->line <= NAME_LENT)
		return;
	t->title = t->next_title;
	t->next_title = old;
	t->severity = severity;
}

void mk_trace_begin(struct mk_page *p, const struct mk_mark *f)
{
	struct mk_backtrace *t = &p->trace;

	name(p);
	t->rows.len = t->module.len = 0;
	t->number = t->frames = t->missing = t->lines = 0;
	t->reach = f->reach;
	t->first_line = p->line;
	mk_recent_clear(&p->recent);
	p->at = AT_TRACE;
}

void mk_trace_frame(struct mk_page *p, struct sc_str module)
{
	struct mk_backtrace *t = &p->trace;

	t->frames++;
	if (!t->module.len) /* the crash is in it, as far as is known */
		mk_out_str(&t->module, module);
}

void mk_trace_line(struct mk_page *p, const struct mk_mark *f)
{
	struct mk_backtrace *t = &p->trace;

	t->loose = 0;
	t->line = p->line;
	t->number = f->number;
	t->lines++;
	if (p->line == t->first_line) {
		mk_put(&t->rows, "<li class=f value=", p->line, " id=");
		mk_page_line_id(p, &t->rows, p->line);
		mk_out_lit(&t->rows, ">");
	} else {
		mk_out_lit(&t->rows, "<li class=f>");
	}
}

/* ---- what matters ----------------------------------------------------------------- */

/* The first row of the program's own, else the first that has symbols, else the first. */
static const char *main_row(const struct mk_backtrace *t, size_t len)
{
	static const char *const classes[] = { "class=\"r o\">", "class=\"r\">", "class=\"r x\">" };
	const char *found = NULL;

	for (size_t i = 0; i < 3 && !found && len; i++)
		found = memmem(t->rows.buf, len, classes[i], strlen(classes[i]));
	return found;
}

static size_t row_len(const char *row, const char *end)
{
	const char *div = memmem(row, (size_t)(end - row), "</div>", 6);
	const char *summary = memmem(row, (size_t)((div ? div : end) - row), "</summary>", 10);

	return (size_t)((summary ? summary : div ? div : end) - row);
}

/* The beginning of the line that `at` is in. */
static const char *line_of(const struct mk_backtrace *t, const char *at)
{
	const char *line = t->rows.buf;

	for (const char *p = line; p && p <= at; p = memmem(p + 1, (size_t)(at - p), "<li", 3))
		line = p;
	return line;
}

static const char *line_after(const char *line, const char *end)
{
	const char *next = line < end ? memmem(line + 1, (size_t)(end - line - 1), "<li", 3) : NULL;

	return next ? next : end;
}

/* The rows, with folds open at frame 0 of the first crash and at its first own frame. */
static void put_rows(struct mk_page *p, const char *own, bool opens)
{
	const struct mk_backtrace *t = &p->trace;
	const char *at = t->rows.buf, *end = at + t->kept;
	const char *first_end = line_after(at, end), *own_line = own ? line_of(t, own) : end;
	const char *own_end = line_after(own_line, end);

	while (at < end) {
		const char *mark = memchr(at, '\1', (size_t)(end - at));

		mk_out_put(&p->out, at, (size_t)((mark ? mark : end) - at));
		if (!mark)
			break;
		if (mark[1] == 'L')
			mk_out_lit(&p->out, "<li>");
		else if (opens && (mark < first_end || (mark >= own_line && mark < own_end)))
			mk_out_lit(&p->out, " open");
		at = mark + 2;
	}
}

static void put_link(struct mk_page *p, struct mk_out *o)
{
	mk_out_lit(o, "<a href=\"#");
	mk_page_line_id(p, o, p->trace.first_line);
	mk_out_lit(o, "\">");
}

static void put_title(const struct mk_backtrace *t, struct mk_out *o)
{
	if (t->title.len)
		mk_out_put(o, t->title.buf, t->title.len);
	else
		mk_out_lit(o, "backtrace");
}

static void note_in_outline(struct mk_page *p, const char *row, size_t len)
{
	const struct mk_backtrace *t = &p->trace;
	struct mk_out *o = &p->outline;

	if (p->traces > OUTLINE_MAX)
		return;
	mk_out_lit(o, "<li>");
	put_link(p, o);
	mk_out_lit(o, "<span>");
	put_title(t, o);
	mk_put(o, "</span><small>", t->first_line, "</small><b class=mono>");
	mk_row_part(o, row, len, false);
	mk_out_lit(o, "</b><cite>");
	mk_row_part(o, row, len, true);
	mk_out_lit(o, "</cite></a>\n");
}

/* The head of the page is that of the first crash, else of the first backtrace. */
static void note_crash(struct mk_page *p, const char *row, size_t len)
{
	const struct mk_backtrace *t = &p->trace;
	struct mk_out *o = &p->crash;

	if (t->severity <= p->crash_severity)
		return;
	p->crash_severity = t->severity;
	o->len = 0;
	mk_out_lit(o, "<p class=why>");
	put_title(t, o);
	mk_out_lit(o, "</p>\n<h1>");
	mk_row_whole(o, row, len, false);
	mk_out_lit(o, "</h1>\n<p>");
	if (memmem(row, len, "<cite>", 6)) {
		mk_out_lit(o, "<cite>");
		mk_row_whole(o, row, len, true);
		mk_out_lit(o, "</cite> · ");
	}
	put_link(p, o);
	mk_put(o, "line ", t->first_line, "</a></p>\n<dl class=facts>\n");
	if (t->module.len) {
		mk_out_lit(o, "<div><dt>module<dd>");
		mk_out_put(o, t->module.buf, t->module.len);
		mk_out_lit(o, "</div>\n");
	}
}

/* ---- the end ----------------------------------------------------------------------- */

static void put_head(struct mk_page *p)
{
	const struct mk_backtrace *t = &p->trace;
	struct mk_out *o = &p->out;
	const uint64_t n = ++p->traces;

	mk_part_begin(p, t->first_line);
	mk_out_lit(o, "<section class=t data-l=");
	mk_page_line_id(p, o, t->first_line);
	mk_put(o, " aria-labelledby=t", n, "><h2 id=t", n, "><span>", n, " · ");
	put_title(t, o);
	mk_out_lit(o, "</span><small>");
	mk_page_count(o, t->frames, "frame");
	if (t->missing)
		mk_put(o, ", ", t->missing, " without symbols");
	mk_put(o, "</small><button data-k=c aria-label=\"Copy backtrace ", n,
	       " as text\">Copy</button></h2><ol class=b");
	if (p->input > 1)
		mk_put(o, " data-i=", p->input);
	mk_out_lit(o, ">");
}

/* The lines behind its last frame. */
static void put_loose(struct mk_page *p)
{
	struct mk_backtrace *t = &p->trace;
	const char *at = t->rows.buf + t->kept, *end = t->rows.buf + t->rows.len;
	const uint64_t line = p->line;

	p->at = AT_NOTHING;
	p->in_block = 0;
	p->line = t->line;
	while (at < end) {
		const char *text = at + 2;
		const char *next = memchr(text, '\1', (size_t)(end - text));

		at = next ? next : end;
		p->line++;
		mk_list_line(p, 'L');
		mk_out_put(&p->out, text, (size_t)(at - text));
		mk_recent_add(&p->recent, text, (size_t)(at - text));
	}
	p->line = line;
}

void mk_trace_end(struct mk_page *p)
{
	struct mk_backtrace *t = &p->trace;
	const char *row;
	size_t len;

	if (!t->loose)
		t->kept = t->rows.len;
	row = main_row(t, t->kept);
	len = row ? row_len(row, t->rows.buf + t->kept) : 0;
	put_head(p);
	put_rows(p, row, t->severity > 1 && p->crash_severity < 2);
	mk_out_lit(&p->out, "</ol></section>\n");
	if (row) {
		note_in_outline(p, row, len);
		note_crash(p, row, len);
	}
	put_loose(p);
}

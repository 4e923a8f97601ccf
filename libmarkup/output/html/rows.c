/* A frame as a row: see page.h. */
#include "libmarkup/bytes/name.h"
#include "libmarkup/output/html/page.h"

void mk_row_name(struct mk_out *o, struct sc_str function)
{
	static const char *const open[] = {
		[MK_NAME_KEPT] = "", [MK_NAME_RETURNS] = "<u class=y>", [MK_NAME_ARGUMENTS] = "<u>",
		[MK_NAME_PARAMETERS] = "<u>",
	};
	struct mk_name_part parts[MK_NAME_PARTS];
	const size_t n = mk_name_parts(function.ptr, function.len, parts);

	for (size_t i = 0; i < n; i++)
		mk_put(o, open[parts[i].kind],
		       mk_escaped((struct sc_str){ parts[i].ptr, parts[i].len }),
		       parts[i].kind == MK_NAME_KEPT ? "" : "</u>");
}

/* <span>/usr/src/shop/</span>money.hh:14<span>:54</span> */
static void row_place(struct mk_out *o, struct sc_str file, uint32_t line, uint32_t column)
{
	const struct sc_str name = sc_basename(file);

	if (name.len < file.len)
		mk_put(o, "<span>", mk_escaped((struct sc_str){ file.ptr, file.len - name.len }),
		       "</span>");
	mk_put(o, mk_escaped(name));
	if (line)
		mk_put(o, ":", line);
	if (line && column)
		mk_put(o, "<span>:", column, "</span>");
}

void mk_row_code(struct mk_out *o, const struct sc_frame *f)
{
	mk_out_lit(o, "<b>");
	if (f->function.ptr)
		mk_row_name(o, f->function);
	else
		mk_out_lit(o, "??");
	mk_out_lit(o, "</b>");
	if (!f->file.ptr)
		return;
	mk_out_lit(o, " <cite>");
	row_place(o, f->file, f->line, f->column);
	mk_out_lit(o, "</cite>");
}

/* `p` without what is between tags of this name, but "<…>" for arguments of templates. */
static void put_without(struct mk_out *o, const char *p, const char *end, const char *open,
			const char *close)
{
	const char *from;

	while (p < end && (from = memmem(p, (size_t)(end - p), open, strlen(open)))) {
		const char *text = memchr(from, '>', (size_t)(end - from));
		const char *to = text ? memmem(text, (size_t)(end - text), close, strlen(close)) : NULL;

		if (!to)
			break;
		mk_out_put(o, p, (size_t)(from - p));
		if (!memcmp(text, ">&lt;", 5))
			mk_out_lit(o, "&lt;…&gt;");
		p = to + strlen(close);
	}
	mk_out_put(o, p, (size_t)(end - p));
}

/* The function of a row, or its place; len 0: it has none. */
static struct sc_str inside(const char *row, size_t len, bool place)
{
	const char *open = place ? "<cite>" : "<b>", *close = place ? "</cite>" : "</b>";
	const char *p = memmem(row, len, open, strlen(open));
	const char *end = p ? memmem(p, len - (size_t)(p - row), close, strlen(close)) : NULL;

	return end ? sc_span(p + strlen(open), end) : (struct sc_str){ row, 0 };
}

void mk_row_whole(struct mk_out *o, const char *row, size_t len, bool place)
{
	mk_out_str(o, inside(row, len, place));
}

void mk_row_part(struct mk_out *o, const char *row, size_t len, bool place)
{
	const struct sc_str s = inside(row, len, place);

	put_without(o, s.ptr, s.ptr + s.len, place ? "<span" : "<u", place ? "</span>" : "</u>");
}

void mk_row_brief(struct mk_out *o, const char *row, size_t len, size_t more)
{
	mk_out_lit(o, "<b>");
	mk_row_part(o, row, len, false);
	mk_out_lit(o, "</b>");
	if (more)
		mk_put(o, " through ", more, " more");
	if (memmem(row, len, "<cite>", 6)) {
		mk_out_lit(o, " · ");
		mk_row_part(o, row, len, true);
	}
}

/* A line is "14 >: text", the one that is meant, or "15  : text". */
void mk_row_source(struct mk_out *o, struct sc_str lines)
{
	const char *p = lines.ptr, *end = p + lines.len;

	mk_out_lit(o, "<div class=\"src mono\">");
	while (p < end) {
		const char *eol = memchr(p, '\n', (size_t)(end - p));
		const char *stop = eol ? eol : end;
		const char *colon = memchr(p, ':', (size_t)(stop - p));
		const char *text = colon && stop - colon > 1 ? colon + 2 : stop;
		const char *mark = colon && colon - p >= 2 ? colon - 1 : p;

		mk_put(o, *mark == '>' ? "<span class=h>" : "<span>",
		       mk_escaped((struct sc_str){ p, (size_t)(mark - p) }), " ",
		       mk_escaped((struct sc_str){ text, (size_t)(stop - text) }), "\n</span>");
		p = eol ? eol + 1 : end;
	}
	mk_out_lit(o, "</div>");
}

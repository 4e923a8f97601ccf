/* Lists of lines, and folds of those of modules: see compose.h. */
#include "libmarkup/output/html/compose.h"

void mk_page_line_id(const struct mk_page *p, struct mk_out *o, uint64_t line)
{
	mk_out_lit(o, "L");
	if (p->input > 1)
		mk_put(o, p->input, ".");
	mk_out_dec(o, line);
}

/* With its script a browser takes what is in a <noscript> as text, which is read fifty times as
 * fast as elements are; without it, as elements. */
void mk_part_begin(struct mk_page *p, uint64_t line)
{
	if (p->lines <= PLAIN_LINES || (p->in_part && line - p->part_line < PART_LINES))
		return;
	mk_part_end(p);
	mk_put(&p->out, "<div class=c data-f=", line);
	if (p->input > 1)
		mk_put(&p->out, " data-i=", p->input);
	mk_out_lit(&p->out, "><noscript>");
	p->in_part = true;
	p->part_line = line;
}

void mk_part_end(struct mk_page *p)
{
	if (p->in_part)
		mk_out_lit(&p->out, "</noscript></div>\n");
	p->in_part = false;
}

void mk_list_close(struct mk_page *p)
{
	const uint64_t first = p->fold.first, last = p->line - 1;

	if (p->at != AT_NOTHING)
		mk_out_lit(&p->out, "</ol>");
	if (p->at == AT_MODULES) {
		mk_put(&p->out, "<summary>", first == last ? "line " : "lines ", first);
		if (first != last)
			mk_put(&p->out, "–", last);
		mk_out_lit(&p->out, ": ");
		if (p->fold.modules)
			mk_page_count(&p->out, p->fold.modules, "module");
		mk_put(&p->out, p->fold.modules && p->fold.maps ? ", " : "");
		if (p->fold.maps)
			mk_page_count(&p->out, p->fold.maps, "map");
		mk_out_lit(&p->out, "</summary></details>\n");
	}
	p->at = AT_NOTHING;
	p->in_block = 0;
}

void mk_list_line(struct mk_page *p, char kind)
{
	if (p->at != (kind == 'L' ? AT_LINES : AT_MODULES))
		mk_list_close(p);
	if (p->at == AT_NOTHING && kind != 'L') {
		mk_part_begin(p, p->line);
		mk_out_lit(&p->out, "<details class=m>");
		p->fold.first = p->line;
		p->fold.modules = p->fold.maps = 0;
	}
	p->fold.modules += kind == 'M';
	p->fold.maps += kind == 'A';
	if (p->in_block % BLOCK_LINES) {
		mk_out_lit(&p->out, "<li>");
	} else {
		mk_put(&p->out, p->in_block ? "</ol>\n" : "");
		if (kind == 'L')
			mk_part_begin(p, p->line);
		mk_out_lit(&p->out, "<ol class=b");
		if (p->input > 1)
			mk_put(&p->out, " data-i=", p->input);
		mk_put(&p->out, "><li value=", p->line, ">");
	}
	p->in_block++;
	p->at = kind == 'L' ? AT_LINES : AT_MODULES;
}

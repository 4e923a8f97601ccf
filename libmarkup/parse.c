/*
 * One line → nodes: text and elements.
 *
 * The nodes borrow the line and, put together, are the line again, so nothing
 * can be lost here. What an element is differs by dialect:
 *
 *   text  {{{ more {{{symbol:foo}}} text      ours: the "{{{" nearest to "}}}"
 *                  ^^^^^^^^^^^^^^^^
 *   text  {{{ more {{{symbol:foo}}} text      LLVM: the first one
 *         ^^^^^^^^^^^^^^^^^^^^^^^^^
 *
 * Ours wants a tag of a to z and takes anything else for text; LLVM's takes any
 * tag but the empty one, for the filter to complain about; Fuchsia's takes any.
 * Whether the fields make sense is for the filter to say.
 *
 * Cost: each byte is looked at a constant number of times, also in lines that
 * are full of braces: a search never starts again before where it ended.
 */
#include <string.h>

#include "libmarkup/markup.h"
#include "libmarkup/scan.h"

static const char open_hexdict[] = "{{{hexdict:";

/* Splits what is between the braces into tag and fields. */
static void split_fields(struct markup_node *n)
{
	const char *p = n->text.ptr + 3, *end = n->text.ptr + n->text.len - 3;
	const char *colon = memchr(p, ':', (size_t)(end - p));

	n->tag = (struct markup_str){ p, (size_t)((colon ? colon : end) - p) };
	n->rest = (struct markup_str){ NULL, 0 };
	n->num_fields = 0;
	if (!colon)
		return;
	n->rest = (struct markup_str){ colon + 1, (size_t)(end - colon - 1) };
	while (colon) {
		p = colon + 1;
		colon = memchr(p, ':', (size_t)(end - p));
		if (n->num_fields < MARKUP_FIELDS)
			n->fields[n->num_fields] = (struct markup_str){
				p, (size_t)((colon ? colon : end) - p) };
		n->num_fields++;
	}
}

/* Is there a tag of a to z, up to ':' or the end, in [p, end)? */
static bool is_tag(const char *p, const char *end)
{
	const char *start = p;
	while (p < end && *p >= 'a' && *p <= 'z')
		p++;
	return p > start && (p == end || *p == ':');
}

/* The element that begins at `open` or, by the rules of our dialect and of
 * Fuchsia's, at a later "{{{"; it ends at `close`. NULL: it is none. */
static const char *element_start(enum markup_syntax syntax, const char *open, const char *close)
{
	const char *next;

	switch (syntax) {
	case MARKUP_SYNTAX_LLVM:
		return open + 3 == close || open[3] == ':' ? NULL : open;
	case MARKUP_SYNTAX_FUCHSIA:
		while ((next = markup_find3(open + 3, close, '{')))
			open = next;
		return open;
	default:
		open = markup_rfind3(open, close, '{');
		return is_tag(open + 3, close) ? open : NULL;
	}
}

/* Looks for the next element in [from, p->end) and keeps it in p->next; what is
 * before it is text. */
static void find_element(struct markup_parser *p)
{
	const char *from = p->pos;
	struct markup_node *n = &p->next;

	p->has_next = false;
	p->text_end = p->end;
	while (1) {
		const char *open = markup_find3(from, p->end, '{');
		if (!open)
			return;
		const char *close = markup_find3(open + 3, p->end, '}');
		if (!close) {
			const size_t len = sizeof(open_hexdict) - 1;
			if (p->syntax != MARKUP_SYNTAX)
				return;
			open = markup_rfind3(open, p->end, '{');
			if ((size_t)(p->end - open) < len || memcmp(open, open_hexdict, len))
				return;
			n->kind = MARKUP_OPEN;
			n->text = (struct markup_str){ open, (size_t)(p->end - open) };
			n->tag = (struct markup_str){ open + 3, len - 4 };
			n->rest = (struct markup_str){ open + len,
						       (size_t)(p->end - open) - len };
			n->num_fields = 0;
			break;
		}
		from = close + 3;
		open = element_start(p->syntax, open, close);
		if (!open)
			continue;
		n->kind = MARKUP_ELEMENT;
		n->text = (struct markup_str){ open, (size_t)(close + 3 - open) };
		split_fields(n);
		break;
	}
	p->has_next = true;
	p->text_end = n->text.ptr;
}

void markup_parse_line(struct markup_parser *p, const char *line, size_t len,
		       enum markup_syntax syntax)
{
	p->pos = p->text_end = line;
	p->end = line + len;
	p->has_next = false;
	p->syntax = syntax;
}

bool markup_next_node(struct markup_parser *p, struct markup_node *ret)
{
	while (1) {
		if (p->pos < p->text_end) {
			*ret = (struct markup_node){
				.kind = MARKUP_TEXT,
				.text = { p->pos, (size_t)(p->text_end - p->pos) },
			};
			p->pos = p->text_end;
			return true;
		}
		if (p->has_next) {
			*ret = p->next;
			p->has_next = false;
			p->pos = p->text_end = ret->text.ptr + ret->text.len;
			return true;
		}
		if (p->pos == p->end)
			return false;
		find_element(p);
	}
}

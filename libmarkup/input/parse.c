/*
 * One line → its elements, which borrow it. What an element is differs by dialect:
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

#include "libmarkup/input/parse.h"
#include "libmarkup/bytes/scan.h"

static const char open_hexdict[] = "{{{hexdict:";

/* Splits what is between the braces into tag and fields. */
static void split_fields(struct mk_node *n)
{
	const char *p = n->text.ptr + 3, *end = n->text.ptr + n->text.len - 3;
	const char *colon = memchr(p, ':', (size_t)(end - p));

	n->tag = sc_span(p, colon ? colon : end);
	n->rest = (struct sc_str){ NULL, 0 };
	n->num_fields = 0;
	if (!colon)
		return;
	n->rest = (struct sc_str){ colon + 1, (size_t)(end - colon - 1) };
	while (colon) {
		p = colon + 1;
		colon = memchr(p, ':', (size_t)(end - p));
		if (n->num_fields < MK_NUM_FIELDS)
			n->fields[n->num_fields] = (struct sc_str){
				p, (size_t)((colon ? colon : end) - p) };
		n->num_fields++;
	}
}

static inline bool three(const char *p, const char *end, char c)
{
	return end - p >= 3 && p[0] == c && p[1] == c && p[2] == c;
}

/* `open` is the last "{{{" of a line and is not closed: a hexdict? */
static bool take_open(struct mk_node *n, const char *open, const char *end)
{
	const size_t len = sizeof(open_hexdict) - 1;

	if ((size_t)(end - open) < len || memcmp(open, open_hexdict, len))
		return false;
	n->kind = MK_OPEN;
	n->text = sc_span(open, end);
	n->tag = (struct sc_str){ open + 3, len - 4 };
	n->rest = (struct sc_str){ open + len, (size_t)(end - open) - len };
	n->num_fields = 0;
	return true;
}

enum taken { TAKEN, NOT_CLOSED, START_OVER };

/*
 * Reads the element that begins at *open. On
 * START_OVER *open is where the next one may begin: at a "{{{" inside of it, or
 * just behind its first brace if it has no tag.
 */
static enum taken take_element(struct mk_node *n, const char **open, const char *end)
{
	const char *p = *open + 3;

	while (p < end && *p >= 'a' && *p <= 'z')
		p++;
	if (p == *open + 3 || (p < end && *p != ':' && !three(p, end, '}'))) {
		++*open;
		return START_OVER;
	}
	n->kind = MK_ELEMENT;
	for (; (p = mk_scan_special(p, end)) < end; p++) {
		if (three(p, end, '{')) {
			*open = p;
			return START_OVER;
		}
		if (three(p, end, '}')) {
			n->text = sc_span(*open, p + 3);
			split_fields(n);
			return TAKEN;
		}
	}
	return NOT_CLOSED;
}

static bool find_ours(struct mk_parser *p, struct mk_node *n)
{
	const char *open = p->hint ? p->hint : mk_find3(p->pos, p->end, '{');

	p->hint = NULL;
	while (open) {
		switch (take_element(n, &open, p->end)) {
		case TAKEN:
			return true;
		case NOT_CLOSED:
			return take_open(n, open, p->end);
		case START_OVER:
			open = mk_find3(open, p->end, '{');
		}
	}
	return false;
}

/* By the rules of LLVM and of Fuchsia. */
static bool find_theirs(struct mk_parser *p, struct mk_node *n)
{
	const char *from = p->pos, *open, *close, *next;

	while ((open = mk_find3(from, p->end, '{')) &&
	       (close = mk_find3(open + 3, p->end, '}'))) {
		from = close + 3;
		if (p->syntax == MK_SYNTAX_FUCHSIA)
			while ((next = mk_find3(open + 3, close, '{')))
				open = next;
		else if (open + 3 == close || open[3] == ':')
			continue;
		n->kind = MK_ELEMENT;
		n->text = sc_span(open, close + 3);
		split_fields(n);
		return true;
	}
	return false;
}

bool mk_next_element(struct mk_parser *p, struct mk_node *ret)
{
	bool found = p->pos < p->end &&
		     (p->syntax == MK_SYNTAX ? find_ours(p, ret) : find_theirs(p, ret));

	p->pos = found ? ret->text.ptr + ret->text.len : p->end;
	return found;
}

void mk_parse_line(struct mk_parser *p, const char *line, size_t len,
		       enum mk_syntax syntax)
{
	p->pos = line;
	p->end = line + len;
	p->hint = NULL;
	p->syntax = syntax;
}

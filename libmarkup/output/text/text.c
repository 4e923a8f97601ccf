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

/* A longer prefix is not one, and is not repeated. */
#define PREFIX_MAX 4096u

static bool blank(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || (*p >= '\t' && *p <= '\r')))
		p++;
	return p == end;
}

/* Writes the text from f->text.pending up to `upto`. */
static void flush_text(struct markup_filter *f, const char *upto)
{
	struct text_state *t = &f->text;

	/* Behind a contextual element of this line its end goes on the line. */
	mk_modline_close(f, !t->after_context);
	t->after_context = t->newline_owed = false;
	mk_put_text(f, t->pending, (size_t)(upto - t->pending));
	t->pending = upto;
}

void mk_text_begin_element(struct markup_filter *f, const struct markup_node *n)
{
	flush_text(f, n->text.ptr);
	f->text.pending = n->text.ptr + n->text.len;
}

/* ---- contextual elements --------------------------------------------------- */

/* Element `n` is dealt with: what comes behind it goes with its line. */
static void end_context(struct markup_filter *f, const struct markup_node *n, bool newline_owed)
{
	f->text.pending = n->text.ptr + n->text.len;
	f->text.after_context = true;
	f->text.newline_owed = newline_owed;
}

/* The text before a contextual element that begins output of its own. */
static void context_text(struct markup_filter *f, const struct markup_node *n)
{
	const char *p = f->text.pending;

	if (f->text.after_context && blank(p, n->text.ptr)) {
		mk_modline_close(f, true);
		if (f->text.newline_owed)
			mk_put_newline(f);
	} else {
		flush_text(f, n->text.ptr);
	}
}

static void put_module(struct markup_filter *f, const struct markup_node *n)
{
	uint32_t module;

	if (!mk_element_module(f, n, &module))
		return;
	context_text(f, n);
	mk_modline_open(f, module, false);
	end_context(f, n, false);
}

static void put_mmap(struct markup_filter *f, const struct markup_node *n)
{
	const struct modline *line = &f->modline;
	uint32_t map;

	if (!mk_element_mmap(f, n, &map))
		return;
	const uint32_t module = f->context.maps[map].module;
	if (!line->open || line->module != module ||
	    (f->text.after_context && !blank(f->text.pending, n->text.ptr))) {
		context_text(f, n);
		mk_modline_open(f, module, true);
	}
	mk_modline_add(f, map);
	end_context(f, n, false);
}

/* `end` is the end of the line. */
static void put_reset(struct markup_filter *f, const struct markup_node *n, const char *end)
{
	struct markup_out *o = &f->out;

	if (!mk_element_reset(f, n))
		return;
	if (mk_context_empty(&f->context)) {
		/* It says nothing new, and neither does its line if that is all. */
		if (!blank(n->text.ptr + n->text.len, end))
			mk_text_begin_element(f, n);
		else
			end_context(f, n, false);
		return;
	}
	context_text(f, n);
	mk_sgr_highlight(f, o);
	mk_out_lit(o, "[[[");
	mk_put_value(f, o, n->tag.ptr, n->tag.len + (n->rest.ptr ? n->rest.len + 1 : 0));
	mk_out_lit(o, "]]]");
	mk_sgr_restore(f, o);
	mk_context_reset(&f->context);
	end_context(f, n, true);
}

/* ---- lines ----------------------------------------------------------------- */

static void put_element(struct markup_filter *f, const struct markup_node *n, const char *end)
{
	static const struct {
		const char *tag;
		void (*put)(struct markup_filter *f, const struct markup_node *n);
	} elements[] = {
		{ "bt", mk_text_bt },
		{ "mmap", put_mmap },
		{ "module", put_module },
		{ "pc", mk_text_pc },
		{ "data", mk_text_data },
		{ "symbol", mk_text_symbol },
		{ "hexdict", mk_text_hexdict },
		{ "dumpfile", mk_text_dumpfile },
	};

	for (size_t i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		if (mk_str_is(n->tag, elements[i].tag)) {
			elements[i].put(f, n);
			return;
		}
	}
	if (mk_str_is(n->tag, "reset"))
		put_reset(f, n, end);
}

void mk_text_set_prefix(struct markup_filter *f, const char *p, const char *end)
{
	f->text.has_prefix = true;
	if ((size_t)(end - p) <= PREFIX_MAX)
		f->text.prefix = (struct markup_str){ p, (size_t)(end - p) };
	else
		f->text.prefix = (struct markup_str){ NULL, 0 };
}

static void text_line(struct markup_filter *f, const char *p, size_t len, enum line_part part)
{
	struct text_state *t = &f->text;
	const char *end = p + len;
	struct markup_parser parser;
	struct markup_node n;

	t->pending = p;
	t->prefix = (struct markup_str){ NULL, 0 };
	t->has_prefix = !(part & LINE_FIRST);
	if (part & LINE_FIRST) {
		t->after_context = t->newline_owed = false;
		mk_sgr_line_start(f);
	}
	markup_parse_line(&parser, p, len, MARKUP_SYNTAX);
	parser.hint = f->first;
	while (mk_next_element(&parser, &n)) {
		if (!t->has_prefix)
			mk_text_set_prefix(f, p, n.text.ptr);
		if (n.kind == MARKUP_ELEMENT) {
			put_element(f, &n, end);
		} else if ((part & LINE_LAST) &&
			   mk_hexdict_open(&f->hexdict, n.text, t->prefix)) {
			mk_text_begin_element(f, &n);
			return; /* text_held() goes on */
		}
	}
	if (!(t->after_context && blank(t->pending, end)))
		flush_text(f, end);
	if (!(part & LINE_LAST))
		return;
	if (t->newline_owed)
		mk_put_newline(f);
	if (f->notes.len) {
		if (!len || end[-1] != '\n')
			mk_put_newline(f);
		mk_text_notes(f);
	}
}

static void text_held(struct markup_filter *f, bool complete)
{
	const struct hexdict *h = &f->hexdict;
	const size_t open = strlen("{{{hexdict:"), close = strlen("}}}");

	if (complete)
		mk_text_pairs(f, h->buf + open, h->buf + h->len - close);
	else
		mk_put_text(f, h->buf, h->len);
}

static void text_plain(struct markup_filter *f, const char *p, size_t len)
{
	mk_modline_close(f, true);
	mk_sgr_line_start(f);
	mk_out_put(&f->out, p, len);
}

static void text_finish(struct markup_filter *f)
{
	mk_modline_close(f, true);
	mk_sgr_line_start(f);
}

static void text_report(struct markup_filter *f, const struct markup_node *n,
			enum severity severity, const char *at, struct markup_str message)
{
	char element[160];
	struct markup_str shown = mk_printable(n->text, element, sizeof(element));
	struct markup_str said;
	char text[256];

	(void)severity;
	(void)at;
	said = mk_printable(message, text, sizeof(text));
	mk_complain(f, "%.*s: %.*s", (int)said.len, said.ptr, (int)shown.len, shown.ptr);
}

const struct renderer mk_text_renderer = {
	.line = text_line,
	.held = text_held,
	.frame = mk_text_frame,
	.plain = text_plain,
	.finish = text_finish,
	.report = text_report,
};

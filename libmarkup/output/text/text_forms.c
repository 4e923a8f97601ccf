/*
 * Frames of formats other than markup, each in the manner of the format's own tool:
 *
 *   sanitizers     asan_symbolize: a line for each inlined frame; the numbers go on
 *   heap profiles  lines below theirs: 0xADDRESS FUNC at FILE:LINE
 *   the kernel     decode_stacktrace: the places of all frames behind it, on its line
 *   valgrind       as it writes them itself, if it has the debug information
 *   MongoDB        a member of the object, with a string for each
 *   Android        ndk-stack: the functions below the module, a line for each
 *   others         as they have it themselves: FUNC in the place of "??" or "n/a", else behind
 *                  the text; " at FILE:LINE" behind it; and, as of addr2line -p, a line
 *                  " (inlined by) FUNC at FILE:LINE" for each frame further out
 *
 * What stands before a frame is repeated on lines that are put in. In a string of JSON they
 * are put into the string, escaped as it is. A frame of which nothing is found stays as it
 * is, but for its number.
 */
#include "libmarkup/bytes/json.h"
#include "libmarkup/output/text/text.h"

static void put_place(struct mk_output *r, struct mk_out *o, const struct sc_frame *f)
{
	const struct mk_event *e = mk_text_of(r)->event;

	if (f->file.ptr)
		mk_text_location(r, o, f->file, f->line, f->column);
	else
		mk_put_values(r, o, "(", e->name, "+", mk_hex(e->lookup), ")");
}

/* "FUNC FILE:LINE:COL" */
static void render_sanitizer(struct mk_output *r, struct mk_out *o,
			     const struct sc_frame *frames, size_t n, size_t i)
{
	(void)n;
	if (frames[i].function.ptr)
		mk_put_values(r, o, frames[i].function, " ");
	put_place(r, o, &frames[i]);
}

/* " (FUNC FILE:LINE:COL, …)"; the function that has the code is named if it is not the only
 * one, as the line names it already. */
static void render_places(struct mk_output *r, struct mk_out *o,
			  const struct sc_frame *frames, size_t n, size_t i)
{
	const bool named = mk_text_of(r)->event->form == MK_FORM_CALLS || n > 1;

	if (!named && !frames->file.ptr)
		return;
	mk_out_lit(o, " (");
	for (i = 0; i < n; i++) {
		if (i)
			mk_out_lit(o, ", ");
		if (named && frames[i].function.ptr)
			mk_put_values(r, o, frames[i].function);
		if (named && frames[i].function.ptr && frames[i].file.ptr)
			mk_out_char(o, ' ');
		if (frames[i].file.ptr)
			mk_text_location(r, o, frames[i].file, frames[i].line, frames[i].column);
	}
	mk_out_char(o, ')');
}

/* "FUNC at FILE:LINE:COL", with `between` behind the function. */
static void put_function(struct mk_output *r, struct mk_out *o, const struct sc_frame *f,
			 struct sc_str between)
{
	if (f->function.ptr)
		mk_put_values(r, o, f->function);
	else
		mk_out_lit(o, "??");
	mk_out_str(o, between);
	if (!f->file.ptr)
		return;
	mk_out_lit(o, " at ");
	mk_text_location(r, o, f->file, f->line, f->column);
}

/* With a NUL where text of the log may come. */
static void render_behind(struct mk_output *r, struct mk_out *o,
			  const struct sc_frame *frames, size_t n, size_t i)
{
	(void)n;
	put_function(r, o, &frames[i], (struct sc_str){ "", 1 });
}

static void render_below(struct mk_output *r, struct mk_out *o,
			 const struct sc_frame *frames, size_t n, size_t i)
{
	(void)n;
	put_function(r, o, &frames[i], (struct sc_str){ NULL, 0 });
}

/* "FUNC (FILE:LINE:COL)" */
static void render_valgrind(struct mk_output *r, struct mk_out *o,
			    const struct sc_frame *frames, size_t n, size_t i)
{
	const struct sc_frame *f = &frames[i];

	(void)n;
	if (f->function.ptr)
		mk_put_values(r, o, f->function);
	else
		mk_out_lit(o, "???");
	if (!f->file.ptr)
		return;
	mk_out_lit(o, " (");
	mk_text_location(r, o, f->file, f->line, f->column);
	mk_out_char(o, ')');
}

static const struct mk_style styles[] = {
	[MK_FORM_SANITIZER] = { TEXT_SANITIZER, false, render_sanitizer },
	[MK_FORM_PLACES] = { TEXT_PLACES, true, render_places },
	[MK_FORM_CALLS] = { TEXT_CALLS, true, render_places },
	[MK_FORM_VALGRIND] = { TEXT_VALGRIND, false, render_valgrind },
	[MK_FORM_BEHIND] = { TEXT_BEHIND, false, render_behind },
	[MK_FORM_BELOW] = { TEXT_BELOW, false, render_below },
	[MK_FORM_MEMBER] = { TEXT_BELOW, false, render_below },
	[MK_FORM_NDK] = { TEXT_SANITIZER, false, render_sanitizer },
};

/* Finds out where the text begins that the event is in: at the beginning of the line, or in a
 * string of JSON. */
static void find_text(struct mk_text *t, const struct mk_line *l, const struct mk_event *e)
{
	const char *p = t->quote_pos;

	if (*l->p != '{')
		return;
	for (; p < e->text.ptr; p++) {
		if (*p == '"') {
			t->quoted = !t->quoted;
			t->text_begin = t->quoted ? p + 1 : l->p;
		} else if (*p == '\\' && p + 1 < e->text.ptr) {
			if (*++p == 'n' && t->quoted)
				t->text_begin = p + 1;
		}
	}
	t->quote_pos = p;
}

/* Writes text of ours, escaped if it has to be. */
static void put_ours(struct mk_output *r, const char *p, size_t len)
{
	const struct mk_text *t = r->state;

	if (t->quoted)
		mk_json_escaped(&r->out, (struct sc_str){ p, len });
	else
		mk_out_put(&r->out, p, len);
}

/* Writes piece `i`. */
static void put_piece(struct mk_output *r, const struct mk_pieces *code, size_t i)
{
	if (!mk_text_of(r)->quoted) {
		mk_put_piece(&r->out, code, i);
		return;
	}
	r->scratch.len = 0;
	mk_put_piece(&r->scratch, code, i);
	put_ours(r, r->scratch.buf, r->scratch.len);
}

/* Writes piece `i` of render_behind(), with text of the log, [p, end), between the function and
 * its place. */
static void put_around(struct mk_output *r, const struct mk_pieces *code, size_t i, const char *p,
		       const char *end)
{
	const char *nul;
	size_t len;

	r->scratch.len = 0;
	mk_put_piece(&r->scratch, code, i);
	nul = memchr(r->scratch.buf, 0, r->scratch.len);
	len = nul ? (size_t)(nul - r->scratch.buf) : r->scratch.len;
	put_ours(r, r->scratch.buf, len);
	mk_put_text(r, p, (size_t)(end - p));
	if (nul)
		put_ours(r, nul + 1, r->scratch.len - len - 1);
}

/* Ends the line, and that of frame `i` − 1 with it; the next one begins as this text does. */
static void begin_next(struct mk_output *r, const struct mk_pieces *code, size_t i)
{
	const struct mk_text *t = r->state;
	const struct mk_sgr state = r->sgr;
	const char *end = t->event->text.ptr;
	struct sc_str prefix = mk_text_prefix(t->text_begin, end);

	if (t->quoted) {
		mk_put(&r->out, "\\n", prefix);
		return;
	}
	mk_sgr_end_line(r, &r->out);
	mk_put_newline(r);
	r->sgr = mk_no_colour;
	if (i)
		mk_text_source(r, &r->out, code, i - 1);
	mk_put_text(r, prefix.ptr, prefix.len);
	r->sgr = state;
	mk_sgr_highlight(r, &r->out);
}

/* "#3 0x7f926d5051f9 in " */
static void put_sanitizer_head(struct mk_output *r, const struct mk_event *e, uint64_t number)
{
	mk_put_values(r, &r->out, "#", number, " ");
	if (e->address)
		mk_put_values(r, &r->out, mk_hex(e->address), " in ");
}

/* The text of a frame as it is, with its number in the trace. */
static void put_unchanged(struct mk_output *r, const struct mk_event *e)
{
	const struct mk_text *t = r->state;
	const char *p = e->text.ptr, *end = p + e->text.len;

	if (e->form == MK_FORM_SANITIZER && t->shift) {
		for (p++; p < end && *p >= '0' && *p <= '9';)
			p++;
		mk_put(&r->out, "#", e->number + t->shift);
	}
	mk_put_text(r, p, (size_t)(end - p));
}

static void put_sanitizer(struct mk_output *r, const struct mk_event *e,
			  const struct mk_pieces *code)
{
	struct mk_text *t = r->state;

	for (size_t i = 0; i < code->n; i++) {
		if (i)
			begin_next(r, code, i);
		put_sanitizer_head(r, e, e->number + t->shift + i);
		put_piece(r, code, i);
	}
	t->shift += code->n - 1;
}

static void put_behind(struct mk_output *r, const struct mk_event *e, const struct mk_pieces *code)
{
	const char *begin = e->text.ptr, *end = begin + e->text.len;
	const char *hole = e->hole.len ? e->hole.ptr : end;

	mk_put_text(r, begin, (size_t)(hole - begin));
	if (!e->hole.len)
		mk_out_char(&r->out, ' ');
	put_around(r, code, 0, hole + e->hole.len, end);
	for (size_t i = 1; i < code->n; i++) {
		begin_next(r, code, i);
		mk_out_lit(&r->out, " (inlined by) ");
		put_around(r, code, i, end, end);
	}
}

static void put_places(struct mk_output *r, const struct mk_event *e, const struct mk_pieces *code)
{
	mk_put_text(r, e->text.ptr, e->text.len);
	put_piece(r, code, 0);
}

static void put_member(struct mk_output *r, const struct mk_event *e, const struct mk_pieces *code)
{
	mk_put_text(r, e->text.ptr, e->text.len);
	mk_out_lit(&r->out, ",\"symbolized\":");
	for (size_t i = 0; i < code->n; i++) {
		r->scratch.len = 0;
		mk_put_piece(&r->scratch, code, i);
		mk_out_char(&r->out, i ? ',' : '[');
		mk_json_string(&r->out, (struct sc_str){ r->scratch.buf, r->scratch.len });
	}
	mk_out_char(&r->out, ']');
}

/* The functions below the module of the frame. */
static void put_ndk(struct mk_output *r, const struct mk_event *e, const struct mk_pieces *code)
{
	mk_put_text(r, e->text.ptr, e->text.len);
	for (size_t i = 0; i < code->n; i++) {
		begin_next(r, code, i);
		mk_out_spaces(&r->out, (size_t)(e->name.ptr - e->text.ptr));
		put_piece(r, code, i);
	}
}

/* A line for each frame below that of the text, which stays. */
static void put_below(struct mk_output *r, const struct mk_event *e, const struct mk_pieces *code)
{
	struct mk_text *t = r->state;
	struct mk_out *o = &t->notes;

	mk_put_text(r, e->text.ptr, e->text.len);
	for (size_t i = 0; i < code->n && !t->quoted && o->len <= TEXT_NOTES_MAX; i++) {
		mk_out_spaces(o, 4);
		mk_put_values(r, o, mk_hex(e->address), i ? " (inlined by) " : " ");
		mk_put_piece(o, code, i);
		mk_put(o, r->newline);
	}
}

static void put_valgrind(struct mk_output *r, const struct mk_event *e,
			 const struct mk_pieces *code)
{
	const char *p = e->text.ptr + 3, *end = e->text.ptr + e->text.len;

	end = memchr(p, ' ', (size_t)(end - p)) + 1; /* behind "0xADDRESS:" */
	for (size_t i = 0; i < code->n; i++) {
		if (i)
			begin_next(r, code, i);
		mk_out_put(&r->out, i ? "by " : e->text.ptr, 3);
		mk_out_put(&r->out, p, (size_t)(end - p));
		put_piece(r, code, i);
	}
}

static void (*const put[])(struct mk_output *r, const struct mk_event *e,
			   const struct mk_pieces *code) = {
	[MK_FORM_SANITIZER] = put_sanitizer,
	[MK_FORM_PLACES] = put_places,
	[MK_FORM_CALLS] = put_places,
	[MK_FORM_VALGRIND] = put_valgrind,
	[MK_FORM_BEHIND] = put_behind,
	[MK_FORM_BELOW] = put_below,
	[MK_FORM_MEMBER] = put_member,
	[MK_FORM_NDK] = put_ndk,
};

void mk_text_named_frame(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct mk_module *m = e->unplaced ? NULL : mk_named_module(r->resolve, e);
	struct mk_text *t = r->state;
	struct mk_pieces code = { 0 };

	find_text(t, l, e);
	t->event = e;
	t->in_trace = true;
	if (!e->number)
		t->shift = 0;
	if (m)
		mk_pieces_named(r, m, e, &styles[e->form], &code);
	if (!code.found) {
		put_unchanged(r, e);
		return;
	}
	mk_sgr_highlight(r, &r->out);
	put[e->form](r, e, &code);
	mk_sgr_restore(r, &r->out);
	for (size_t i = code.n - 1; i < code.num_frames && !t->quoted && e->form != MK_FORM_MEMBER;
	     i++)
		mk_text_source(r, &t->notes, &code, i);
}

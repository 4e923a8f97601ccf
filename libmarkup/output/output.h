/*
 * output.h: events → what is written, in one of several forms.
 *
 * To add a form: a value of enum markup_format (markup.h), a file here with a struct
 * mk_renderer, what writes groups in this form (group.h), and a row in forms.c. A renderer
 * keeps what it knows behind `state`; the stream calls it with one line after another:
 *
 *   line()   event() event() …   line_end()        a line with events
 *   line()   event(open)                           a hexdict begins that goes over lines
 *            held()   line() … line_end()          its end has come; the rest of that line
 *   plain()                                        lines without events
 */
#ifndef MARKUP_OUTPUT_H
#define MARKUP_OUTPUT_H

#include "libmarkup/bytes/hexdict.h"
#include "libmarkup/output/colours.h"
#include "libmarkup/resolve/resolve.h"
#include "libsymcache/base/vec.h"

#define OUT_BUFFER (128u << 10)

/* A hexdict over several lines. */
struct mk_held {
	struct sc_str text;      /* from "{{{" on: to its end, or, if it is given up, what
	                          * there is of it */
	bool complete;
	struct sc_str last;      /* complete: the line that it ends in, whole */
};

/* One page, say: made of what the lines gave, of all threads and inputs, in their order. */
struct mk_whole {
	/* NULL: no memory. The options, and what they borrow, live longer. */
	void *(*create)(const struct markup_options *options,
			int (*write)(void *ctx, const char *data, size_t len), void *ctx);
	/* Both: 0, -EIO (`write` failed) or -ENOMEM. */
	int (*take)(void *whole, const char *data, size_t len);
	int (*end)(void *whole, const struct mk_modules *seen, const struct mk_modules *missing,
		   const struct markup_stats *stats);
	void (*destroy)(void *whole); /* NULL is fine */
};

struct mk_renderer {
	struct markup_form form;
	size_t state_size;
	bool every_line; /* lines without events come through line(), too */
	bool drops_plain; /* lines without events leave no trace */
	enum { COLOURS_AS_ASKED, COLOURS_FOLLOWED, COLOURS_LEFT } colours; /* of the log */

	void (*line)(struct mk_output *r, const struct mk_line *l);
	/* A module or map is in the context already; before a reset the context is still
	 * there. */
	void (*event)(struct mk_output *r, const struct mk_line *l, const struct mk_event *e);
	void (*line_end)(struct mk_output *r, const struct mk_line *l);
	void (*held)(struct mk_output *r, const struct mk_held *h);
	/* Whole lines without events (and without ESC, if colours are followed); the
	 * first may be the rest of one. */
	void (*plain)(struct mk_output *r, const char *p, size_t len);
	/* The way for usual frames: see text/usual.c. May be NULL. */
	const char *(*usual)(struct mk_output *r, const char *p, const char *hit, const char *end);
	/* The context is about to become that of another process. May be NULL. */
	void (*leaving)(struct mk_output *r);
	/* The end of an input. May be NULL, as all below. */
	void (*finish)(struct mk_output *r);
	const struct mk_whole *whole; /* made of the output, if it is one; or NULL */
	void (*init)(struct mk_output *r);
	void (*deinit)(struct mk_output *r);
};

extern const struct mk_renderer mk_text_renderer, mk_llvm_renderer, mk_fuchsia_renderer,
	mk_json_renderer, mk_html_renderer, mk_group_renderer, mk_group_page_renderer;

/* The module line that is being collected. */
struct mk_modline {
	bool open, crlf;
	uint32_t module;
	VEC(uint32_t) maps; /* indices */
};

struct mk_output {
	const struct mk_renderer *renderer;
	void *state;               /* the renderer's own */
	struct markup_options options;
	struct mk_resolve *resolve;
	struct mk_where *where;
	bool follows;              /* colours of the log */
	struct mk_sgr sgr;         /* they, in the current line */
	const char *newline;       /* "\n" or "\r\n": that of the current line */
	struct mk_out out;
	struct mk_out scratch;
	struct mk_out dumpfiles;   /* JSON */
	struct mk_modline modline; /* of the forms that have such lines */
};

/* The renderer for these options. */
const struct mk_renderer *mk_choose_renderer(const struct markup_options *options);

/* `out` goes to the sink of `where`. 0 or -ENOMEM. */
int mk_output_init(struct mk_output *r, const struct markup_options *options,
		   struct mk_resolve *resolve, struct mk_where *where);
void mk_output_deinit(struct mk_output *r);

/* How a line ends: "\n" or "\r\n". */
const char *mk_newline_of(const char *p, size_t len);

/* The newline of the current line. */
void mk_put_newline(struct mk_output *r);

/* Complains of a bad event in one line, and returns what is wrong with it, in
 * r->scratch. */
struct sc_str mk_complain_of(struct mk_output *r, const struct mk_event *e);

/* A value, highlighted if colours are on. */
static inline void mk_put_value(struct mk_output *r, struct mk_out *o, const char *p, size_t len)
{
	if (r->options.color == MARKUP_COLOR_ON)
		mk_put_colored(r, o, p, len);
	else
		mk_out_put(o, p, len);
}

/* As mk_put(), with all but texts highlighted, which are what stands between values. */
#define mk_put_values(r, o, ...) MK_EACH(MK_VALUE, ((struct mk_colored){ r, o }), __VA_ARGS__)
#define MK_VALUE(c, x) _Generic((x), char *: mk_between_, const char *: mk_between_, \
	struct sc_str: mk_value_str_, unsigned: mk_value_dec_, unsigned long: mk_value_dec_, \
	unsigned long long: mk_value_dec_, struct mk_hex: mk_value_hex_, \
	struct mk_addr: mk_value_addr_)(c, x)

struct mk_colored {
	struct mk_output *r;
	struct mk_out *o;
};

static inline void mk_between_(struct mk_colored c, const char *s)
{
	mk_out_put(c.o, s, strlen(s));
}

static inline void mk_value_str_(struct mk_colored c, struct sc_str s)
{
	mk_put_value(c.r, c.o, s.ptr, s.len);
}

static inline void mk_value_dec_(struct mk_colored c, uint64_t v)
{
	char buf[FMT_MAX];
	mk_put_value(c.r, c.o, buf, mk_fmt_dec(buf, v));
}

static inline void mk_value_hex_(struct mk_colored c, struct mk_hex n)
{
	char buf[FMT_MAX];
	mk_put_value(c.r, c.o, buf, mk_fmt_hex(buf, n.v));
}

static inline void mk_value_addr_(struct mk_colored c, struct mk_addr n)
{
	char buf[FMT_MAX];
	mk_put_value(c.r, c.o, buf, mk_fmt_addr(buf, n.v));
}

/* ---- pieces.c ---------------------------------------------------------------- */

/* How the frames of an address are made into text. */
struct mk_style {
	uint32_t kind; /* unlike all other styles of the same output */
	bool chain;    /* all frames are one piece */
	/* Writes piece `i`: frame `i`, or all `n` frames if `chain`. */
	void (*render)(struct mk_output *r, struct mk_out *o, const struct sc_frame *frames,
		       size_t n, size_t i);
};

/* Tells the texts of an address apart that are remembered. `colours`: mk_sgr_style(). */
static inline uint32_t mk_kind_of(const struct mk_style *style, unsigned colours)
{
	return style->kind << 8 | colours;
}

/* The text of the code at an address, rendered or not yet. Valid until the next lookup. */
struct mk_pieces {
	size_t n;            /* at least one; it is empty if nothing is known */
	bool found;
	const struct sc_frame *frames; /* NULL: their text was remembered */
	size_t num_frames;
	/* The rest is for mk_put_piece(). */
	void *module;        /* they are of */
	const struct mk_style *style;
	struct mk_output *output;
	const uint32_t *ends;
	const char *text;
};

/* The code at an address of the process, and the map that covers it; NULL if none does. */
const struct mk_map *mk_pieces_at(struct mk_output *r, uint64_t address,
				  const struct mk_style *style, struct mk_pieces *ret);

/* What was remembered. */
static inline void mk_use_text(struct mk_pieces *p, const struct mk_remembered *head)
{
	p->n = head->n;
	p->found = true;
	p->frames = NULL;
	p->num_frames = 0;
	p->ends = (const uint32_t *)(head + 1);
	p->text = (const char *)(p->ends + p->n);
}

/* What was found, remembered or not. */
void mk_take_pieces(struct mk_output *r, const struct mk_style *style, const struct mk_found *f,
		    struct mk_pieces *ret);

/* mk_pieces_at() of an address that was announced, as mk_ahead_frame() gives it: most of the
 * addresses of large logs. */
static inline const struct mk_map *
mk_pieces_announced(struct mk_output *r, const struct mk_announced *a,
		    const struct mk_style *style, struct mk_pieces *ret)
{
	struct mk_found f;
	const struct mk_map *map = mk_lookup_announced(r->resolve, a, &f);

	if (f.remembered)
		mk_use_text(ret, f.remembered);
	else
		mk_take_pieces(r, style, &f, ret);
	return map;
}

/* Of a frame whose module is named on its line. */
void mk_pieces_named(struct mk_output *r, struct mk_module *m, const struct mk_event *e,
		     const struct mk_style *style, struct mk_pieces *ret);

/* At `vaddr` of a module, which is not remembered. */
void mk_pieces_of_module(struct mk_output *r, uint32_t module, uint64_t vaddr,
			 const struct mk_style *style, struct mk_pieces *ret);

/* Writes piece `i`. */
void mk_put_piece(struct mk_out *o, const struct mk_pieces *p, size_t i);

/* Lines of the source of frame `i`, as the resolver gives them; ptr NULL: none. With sources,
 * nothing is remembered: all frames are there. */
struct sc_str mk_source_of(const struct mk_resolve *r, const struct mk_pieces *p, size_t i);

/* ---- frames.c ---------------------------------------------------------------- */

/* "    #N.K  0xADDRESS " of a bt line; inline_number 0: the function itself. */
void mk_put_frame_head(struct mk_output *r, uint64_t number, size_t inline_number,
		       uint64_t address);

/* The same without colours, of a number below 100: MK_HEAD_LEN bytes, and some behind them. */
enum { MK_HEAD_LEN = 29, MK_HEAD_ROOM = 32 };

static inline void mk_plain_head(char head[MK_HEAD_ROOM], unsigned number, uint64_t address)
{
	const unsigned tens = number * 103 >> 10; /* number / 10 */

	memcpy(head, tens ? "   #" : "    ", 4);
	head[4] = tens ? (char)('0' + tens) : '#';
	head[5] = (char)('0' + number - 10 * tens);
	memcpy(head + 6, "    0x", 6);
	mk_put_sixteen(head + 12, address);
	head[28] = ' ';
}

/* Puts a number below 100 into such a head. */
static inline void mk_plain_inline_number(char head[MK_HEAD_ROOM], unsigned number)
{
	head[6] = '.';
	head[7 + (number >= 10)] = (char)('0' + number % 10);
	if (number >= 10)
		head[7] = (char)('0' + number / 10);
}

/* "(module+0xrel)" */
void mk_put_place(struct mk_output *r, struct mk_out *o, uint32_t module, uint64_t vaddr);
/* The name of a symbol element, demangled. */
void mk_put_symbol(struct mk_output *r, const struct mk_event *e);

/* ---- modline.c --------------------------------------------------------------- */

/* Closes it if it is open, with its newline or without. */
void mk_modline_close(struct mk_output *r, bool newline);
/* Opens a line for a module; `adds`: it was announced before. */
void mk_modline_open(struct mk_output *r, uint32_t module, bool adds);
void mk_modline_add(struct mk_output *r, uint32_t map);

/* ---- dumpfile.c -------------------------------------------------------------- */

#define DUMPFILES_MAX (64u << 20) /* bytes of JSON */

/* Notes a dumpfile element with the modules and maps known now. */
void mk_note_dumpfile(struct mk_output *r, const struct mk_event *e);

#endif

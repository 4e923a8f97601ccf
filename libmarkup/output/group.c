/* Frames → records for the table of groups: see group.h. */
#include "libmarkup/bytes/own.h"
#include "libmarkup/output/group.h"
#include "libsymcache/base/utf8.h"

#include <stdlib.h>

enum { KIND_GROUP = 1 };

struct group_state {
	bool begins; /* the next frame begins a stack */
};

/* ---- names --------------------------------------------------------------------- */

/* Does [p, p + len) end with `text`? Then *len gets shorter. */
static bool drop(const char *p, size_t *len, const char *text)
{
	const size_t n = strlen(text);

	if (*len <= n || memcmp(p + *len - n, text, n))
		return false;
	*len -= n;
	return true;
}

/* Drops ".word" or ".word.1.2" of a part or copy of a function. */
static bool drop_suffix(const char *p, size_t *len)
{
	static const char *const words[] = { ".cold", ".isra", ".constprop", ".part", ".lto_priv",
					     ".llvm", ".localalias" };
	size_t n = *len;

	for (size_t at = n; at; n = at) {
		while (at && p[at - 1] >= '0' && p[at - 1] <= '9')
			at--;
		if (at == n || !at || p[at - 1] != '.')
			break;
		at--;
	}
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (drop(p, &n, words[i])) {
			*len = n;
			return true;
		}
	}
	return false;
}

/* The same as demanglers show it: " (.cold)", " [clone .isra.0]". */
static bool drop_clone(const char *p, size_t *len)
{
	const char *open;
	size_t n = *len, inner;

	if (!n || (p[n - 1] != ')' && p[n - 1] != ']'))
		return false;
	open = memrchr(p, ' ', n);
	if (open && p[n - 1] == ']' && open - p > 7 && !memcmp(open - 7, " [clone", 7))
		open -= 7;
	else if (!open || open[1] != '(')
		return false;
	inner = n - 1;
	if (open == p || !drop_suffix(p, &inner))
		return false;
	*len = (size_t)(open - p);
	return true;
}

/* "::h" and 16 digits */
static bool drop_hash(const char *p, size_t *len)
{
	size_t at = *len;

	while (at && *len - at < 16 && strchr("0123456789abcdef", p[at - 1]))
		at--;
	if (*len - at < 16 || !drop(p, &at, "::h"))
		return false;
	*len = at;
	return true;
}

/* What no terminal should get has no place in a name. */
static void put_name(struct mk_out *o, const char *p, size_t len)
{
	for (size_t i = 0; i < len;) {
		const int n = sc_printable_len(p + i, len - i);

		if (n > 0)
			mk_out_put(o, p + i, (size_t)n);
		else
			mk_out_char(o, '?');
		i += (size_t)abs(n);
	}
}

void mk_group_fold(struct mk_out *o, struct sc_str name)
{
	const char *p = name.ptr, *version = memchr(p, '@', name.len);
	size_t len = version && version > p ? (size_t)(version - p) : name.len;

	while (drop_suffix(p, &len) || drop_clone(p, &len) || drop_hash(p, &len))
		;
	put_name(o, p, len);
	mk_out_char(o, '\n');
}

/* ---- frames -------------------------------------------------------------------- */

static void render(struct mk_output *r, struct mk_out *o, const struct sc_frame *frames,
		   size_t n, size_t i)
{
	for (i = 0; i < n; i++) {
		const bool own = mk_own_place(r->options.own, frames[i].function, frames[i].file);

		mk_out_char(o, own ? GROUP_OWN : GROUP_OTHER);
		if (frames[i].function.len)
			mk_group_fold(o, frames[i].function);
		else
			mk_out_lit(o, "??\n");
	}
}

static const struct mk_style style = { KIND_GROUP, true, render };

/* "libc.so.6+0x2724a": nothing is known but this. */
static void put_place(struct mk_out *o, struct sc_str module, uint64_t vaddr)
{
	const struct sc_str name = sc_last_part(module);

	put_name(o, name.ptr, name.len);
	mk_put(o, "+", mk_hex(vaddr), "\n");
}

/* The marks of all functions of a frame say whether its place is the program's own; now its module
 * is known, too. */
static void judge(struct mk_output *r, bool module)
{
	char *p = r->scratch.buf, *end = p + r->scratch.len, *eol;

	for (; p < end && (eol = memchr(p, '\n', (size_t)(end - p))); p = eol + 1)
		*p = mk_is_own(r->options.own, module, *p == GROUP_OWN) ? GROUP_OWN : GROUP_OTHER;
}

/* The functions of a frame, into r->scratch. */
static void put_functions(struct mk_output *r, const struct mk_event *e)
{
	struct mk_out *o = &r->scratch;
	struct mk_pieces code = { 0 };
	const struct mk_map *map = NULL;
	struct mk_module *m = NULL;

	struct sc_str module = e->name;

	o->len = 0;
	if (!e->in_module)
		map = mk_pieces_at(r, e->lookup, &style, &code);
	else if (!e->unplaced && (m = mk_named_module(r->resolve, e)))
		mk_pieces_named(r, m, e, &style, &code);
	if (map)
		module = r->resolve->context.modules[map->module].name;
	if (code.found)
		mk_put_piece(o, &code, 0);
	else
		mk_out_char(o, GROUP_OTHER);
	if (code.found)
		judge(r, mk_own_module(r->options.own, module));
	else if (e->function.len)
		mk_group_fold(o, mk_lookup_demangled(r->resolve, e->function));
	else if (map)
		put_place(o, r->resolve->context.modules[map->module].name,
			  mk_map_vaddr(map, e->lookup));
	else if (m)
		put_place(o, e->name, e->lookup);
	else
		mk_out_lit(o, "??\n");
}

static void group_event(struct mk_output *r, const struct mk_line *l, const struct mk_event *e)
{
	struct group_state *x = r->state;
	const char *input = r->where->input ? r->where->input : "";
	char buf[DEMUX_REGEX_MAX];
	struct sc_str process;

	x->begins |= e->aside == MK_BEGINS_TRACE;
	if (e->kind != MK_FRAME || e->bad || e->quiet)
		return;
	process = mk_demux_key_of(&r->resolve->demux, l->p, e->text.ptr, buf);
	put_functions(r, e);
	const struct mk_group_record frame = {
		.line = r->where->line_no + 1, .number = e->number, .reach = e->reach,
		.begins = x->begins, .input_len = (uint32_t)strlen(input),
		.format_len = (uint32_t)e->tag.len, .process_len = (uint32_t)process.len,
		.functions_len = (uint32_t)r->scratch.len,
	};
	mk_out_put(&r->out, (const char *)&frame, sizeof(frame));
	mk_out_put(&r->out, input, frame.input_len);
	mk_out_str(&r->out, e->tag);
	mk_out_str(&r->out, process);
	mk_out_put(&r->out, r->scratch.buf, r->scratch.len);
	x->begins = false;
}

static void group_line(struct mk_output *r, const struct mk_line *l)
{
	(void)r, (void)l;
}

/* What a page says of stacks is taken from the lines before them. */
static void page_line(struct mk_output *r, const struct mk_line *l)
{
	const char *input = r->where->input ? r->where->input : "";
	struct mk_group_record line = { .reach = GROUP_LINE, .input_len = (uint32_t)strlen(input) };
	size_t len = l->len;

	if (!(l->part & MK_LINE_FIRST))
		return;
	while (len && strchr("\r\n", l->p[len - 1]))
		len--;
	line.functions_len = (uint32_t)(len < GROUP_LINE_MAX ? len : GROUP_LINE_MAX);
	mk_out_put(&r->out, (const char *)&line, sizeof(line));
	mk_out_put(&r->out, input, line.input_len);
	mk_out_put(&r->out, l->p, line.functions_len);
}

static void group_held(struct mk_output *r, const struct mk_held *h)
{
	(void)r, (void)h;
}

static void group_plain(struct mk_output *r, const char *p, size_t len)
{
	(void)r, (void)p, (void)len;
}

const struct mk_renderer mk_group_renderer = {
	.form = { .escapes = true },
	.state_size = sizeof(struct group_state),
	.colours = COLOURS_LEFT,
	.drops_plain = true,
	.line = group_line,
	.event = group_event,
	.line_end = group_line,
	.held = group_held,
	.plain = group_plain,
};

const struct mk_renderer mk_group_page_renderer = {
	.form = { .escapes = true },
	.state_size = sizeof(struct group_state),
	.colours = COLOURS_LEFT,
	.every_line = true,
	.line = page_line,
	.event = group_event,
	.line_end = group_line,
	.held = group_held,
	.plain = group_plain,
};

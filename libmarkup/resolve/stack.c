/*
 * A stack element → the frames that it stands for: see resolve.h.
 *
 *   {{{stack:TID:REGISTER=0x…:…:BYTES}}}   BYTES from the stack pointer on, in base64
 *
 * Memory is bounded by the element: each frame but those of signals takes a word of it. The text
 * before it is in front of each frame, unless it is very long: then of the first one only.
 */
#include <errno.h>
#include <stdlib.h>

#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"

enum {
	REGISTERS_MAX = 64,
	REPEATED_MAX = 4096, REPEATED_SUM_MAX = 16 << 20, /* of the text before the stack */
};

static int digit_of(char c)
{
	return c >= 'A' && c <= 'Z' ? c - 'A' : c >= 'a' && c <= 'z' ? c - 'a' + 26 :
	       c >= '0' && c <= '9' ? c - '0' + 52 : c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Up to 3 bytes for 4 characters; how many, or −1: it is not base64. */
static long decode(struct sc_str s, uint8_t *ret)
{
	uint32_t bits = 0;
	size_t n = 0, have = 0;

	while (s.len && s.ptr[s.len - 1] == '=')
		s.len--;
	for (size_t i = 0; i < s.len; i++) {
		const int digit = digit_of(s.ptr[i]);

		if (digit < 0)
			return -1;
		bits = bits << 6 | (uint32_t)digit;
		have += 6;
		if (have >= 8) {
			have -= 8;
			ret[n++] = (uint8_t)(bits >> have);
		}
	}
	return (long)n;
}

/* The field up to the next ':' is taken off *rest. */
static struct sc_str next_field(struct sc_str *rest)
{
	const char *colon = memchr(rest->ptr, ':', rest->len);
	struct sc_str field = { rest->ptr, colon ? (size_t)(colon - rest->ptr) : rest->len };

	rest->ptr += field.len + (colon != NULL);
	rest->len -= field.len + (colon != NULL);
	return field;
}

/* The registers, in front of the last field, which is left in *rest. */
static bool read_registers(struct sc_str *rest, struct markup_register *list, size_t *n)
{
	uint64_t tid;

	if (!mk_field_decimal(next_field(rest), &tid))
		return false;
	for (*n = 0; memchr(rest->ptr, ':', rest->len); (*n)++) {
		const struct sc_str field = next_field(rest);
		const char *is = memchr(field.ptr, '=', field.len), *end = field.ptr + field.len;

		if (!is || *n == REGISTERS_MAX ||
		    !mk_field_address((struct sc_str){ is + 1, (size_t)(end - is - 1) },
				      &list[*n].value))
			return false;
		list[*n].name = sc_span(field.ptr, is);
	}
	return *n > 0;
}

static bool find_module(void *ctx, uint64_t address, void **module, uint64_t *vaddr)
{
	struct mk_resolve *r = ctx;
	const struct mk_map *map = mk_context_find(&r->context, address);

	if (!map)
		return false;
	*module = strchr(map->mode, 'x') ? mk_lookup_module(r, map->module) : NULL;
	*vaddr = mk_map_vaddr(map, address);
	return strchr(map->mode, 'x');
}

bool mk_walk_stack(struct mk_resolve *r, const struct mk_line *l, struct mk_walked *ret)
{
	struct markup_register registers[REGISTERS_MAX];
	struct markup_stack stack = { .registers = registers, .find = find_module, .find_ctx = r };
	const struct mk_event *e = l->events;
	struct sc_str rest;
	uint8_t *bytes;
	long len;

	*ret = (struct mk_walked){ 0 };
	if (!l->num_events || e->kind != MK_UNKNOWN || l->part != MK_LINE_WHOLE ||
	    r->dialect != MARKUP_DEFAULT || !sc_str_is(e->tag, "stack") || !r->resolver.unwind)
		return false;
	rest = e->rest;
	if (!rest.ptr || !read_registers(&rest, registers, &stack.num_registers))
		return false;
	bytes = malloc(rest.len + 1);
	len = bytes ? decode(rest, bytes) : -1;
	stack.bytes = bytes;
	stack.len = len > 0 ? (size_t)len : 0;
	if (!bytes)
		r->error = -ENOMEM;
	else if (len >= 0)
		ret->n = r->resolver.unwind(r->resolver.ctx, &stack, &ret->frames, &ret->end);
	free(bytes);
	ret->lines = ret->n ? ret->n + (ret->end != NULL) : 0;
	ret->before = sc_span(l->p, e->text.ptr);
	ret->behind = sc_span(e->text.ptr + e->text.len, l->p + l->len);
	return ret->n;
}

/* The text of a frame, or, behind the last one, why there are no more. */
static void put_text(struct mk_out *o, const struct mk_walked *w, size_t i)
{
	const struct markup_caller *frame = &w->frames[i];

	if (i == w->n) {
		mk_put(o, "the stack ends here: ", w->end);
		return;
	}
	mk_put(o, "{{{bt:", i, ":", mk_addr(frame->pc), frame->exact ? ":pc" : ":ra");
	mk_put(o, frame->how ? ":" : "", frame->how ? frame->how : "", "}}}");
}

static void add_frame(struct mk_line *l, struct sc_str text, const struct markup_caller *frame,
		      size_t number)
{
	struct mk_event *e = mk_add_event(l, MK_FRAME);

	e->text = text;
	e->tag = sc_str_of("bt");
	e->number = number;
	e->address = frame->pc;
	e->lookup = frame->pc - !frame->exact;
	e->detail = sc_str_of(frame->how);
}

int mk_walked_line(const struct mk_walked *w, size_t i, struct mk_line *l, struct mk_out *text)
{
	const bool last = i + 1 == w->lines;
	const bool repeated = w->before.len <= REPEATED_MAX &&
			      w->before.len * w->lines <= REPEATED_SUM_MAX;
	size_t begin, end;

	text->len = l->num_events = 0;
	if (!i || repeated)
		mk_put(text, w->before);
	begin = text->len;
	put_text(text, w, i);
	end = text->len;
	mk_put(text, last ? w->behind : sc_str_of(l->newline));
	if (text->error)
		return text->error;
	l->first = NULL;
	if (i < w->n)
		add_frame(l, sc_span(text->buf + begin, text->buf + end), &w->frames[i], i);
	if (last) {
		l->p = text->buf + end;
		l->len = w->behind.len;
		mk_read_line(&mk_markup_input, l);
	}
	l->p = text->buf;
	l->len = text->len;
	return l->no_memory ? -ENOMEM : 0;
}

/*
 * A stack element → the frames that it stands for, as bt elements: see resolve.h.
 *
 *   {{{stack:TID:REGISTER=0x…:…:BYTES}}}   BYTES from the stack pointer on, in base64
 *
 * Memory is bounded by the element: each frame but those of signals takes a word of it.
 */
#include <errno.h>
#include <stdlib.h>

#include "libmarkup/bytes/fields.h"
#include "libmarkup/resolve/resolve.h"

enum { REGISTERS_MAX = 64 };

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

static void put_frame(struct mk_out *o, size_t number, const struct markup_caller *c)
{
	mk_put(o, "{{{bt:", number, ":", mk_addr(c->pc), c->exact ? ":pc" : ":ra");
	mk_put(o, c->how ? ":" : "", c->how ? c->how : "", "}}}");
}

bool mk_walk_stack(struct mk_resolve *r, const struct mk_line *l, const struct mk_event *e,
		   struct mk_out *ret)
{
	const char *behind = e->text.ptr + e->text.len;
	struct markup_register registers[REGISTERS_MAX];
	struct markup_stack stack = { .registers = registers, .find = find_module, .find_ctx = r };
	const struct markup_caller *callers;
	struct sc_str rest = e->rest;
	const char *end = NULL;
	uint8_t *bytes;
	size_t n = 0;
	long len;

	if (!r->resolver.unwind || !rest.ptr ||
	    !read_registers(&rest, registers, &stack.num_registers))
		return false;
	bytes = malloc(rest.len + 1);
	len = bytes ? decode(rest, bytes) : -1;
	stack.bytes = bytes;
	stack.len = len > 0 ? (size_t)len : 0;
	if (!bytes)
		r->error = -ENOMEM;
	else if (len >= 0)
		n = r->resolver.unwind(r->resolver.ctx, &stack, &callers, &end);
	free(bytes);
	for (size_t i = 0; n && i < n + (end != NULL); i++) {
		if (i)
			mk_put(ret, l->newline);
		mk_out_put(ret, l->p, (size_t)(e->text.ptr - l->p));
		if (i < n)
			put_frame(ret, i, &callers[i]);
		else
			mk_put(ret, "the stack ends here: ", end);
	}
	mk_out_put(ret, behind, (size_t)(l->p + l->len - behind));
	return n;
}

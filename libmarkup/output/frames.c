/* Parts of a frame's line that our dialect and LLVM's have in common, down to
 * what is highlighted. */
#include "libmarkup/output/output.h"

/* Without colour: in place. */
static void put_plain_head(struct mk_out *o, uint64_t number, size_t inline_number,
			   uint64_t address)
{
	const bool two = number >= 10;
	char digits[FMT_MAX], *p = mk_out_room(o, 8 + 4 * FMT_MAX);
	size_t len;

	if (!p)
		return;
	if (number < 100) { /* nearly all are */
		const unsigned n = (unsigned)number, tens = n * 103 >> 10; /* n / 10 */
		memcpy(p, &"    #"[two], 5);
		p[4] = two ? (char)('0' + tens) : '#';
		p[5] = (char)('0' + n - 10 * tens);
		p += 6;
	} else {
		len = mk_fmt_dec(digits, number);
		memcpy(p, "     ", 5);
		p += len < 5 ? 5 - len : 0;
		*p++ = '#';
		memcpy(p, digits, len);
		p += len;
	}
	if (inline_number) {
		*p++ = '.';
		len = mk_fmt_dec(p, inline_number);
		if (len < 2)
			p[len++] = ' ';
	} else {
		memcpy(p, "   ", 3);
		len = 3;
	}
	p += len;
	*p++ = ' ';
	p += mk_fmt_addr(p, address);
	*p++ = ' ';
	mk_out_used(o, p);
}

void mk_put_frame_head(struct mk_output *r, uint64_t number, size_t inline_number,
		       uint64_t address)
{
	struct mk_out *o = &r->out;
	char buf[FMT_MAX + 2];
	size_t len;

	if (r->options.color != MARKUP_COLOR_ON) {
		put_plain_head(o, number, inline_number, address);
		return;
	}
	len = mk_fmt_dec(buf, number);
	if (len < 5)
		mk_out_put(o, "     ", 5 - len);
	mk_out_char(o, '#');
	mk_put_value(r, o, buf, len);
	if (inline_number) {
		mk_out_char(o, '.');
		len = mk_fmt_dec(buf, inline_number);
		if (len < 2)
			buf[len++] = ' ';
		mk_put_value(r, o, buf, len);
	} else {
		mk_out_lit(o, "   ");
	}
	buf[0] = ' ';
	len = 1 + mk_fmt_addr(buf + 1, address);
	buf[len++] = ' ';
	mk_put_value(r, o, buf, len);
}

void mk_put_place(struct mk_output *r, struct mk_out *o, uint32_t module, uint64_t vaddr)
{
	const struct markup_str name = r->resolve->context.modules[module].name;
	char *p = r->options.color == MARKUP_COLOR_ON || name.len > 4096
			  ? NULL : mk_out_room(o, name.len + FMT_MAX + 3);

	if (p) {
		*p++ = '(';
		memcpy(p, name.ptr, name.len);
		p += name.len;
		*p++ = '+';
		p += mk_fmt_hex(p, vaddr);
		*p++ = ')';
		mk_out_used(o, p);
		return;
	}
	mk_put_values(r, o, "(", name, "+", mk_hex(vaddr), ")");
}

void mk_put_symbol(struct mk_output *r, const struct mk_event *e)
{
	mk_sgr_highlight(r, &r->out);
	mk_out_str(&r->out, mk_lookup_demangled(r->resolve, e->name));
	mk_sgr_restore(r, &r->out);
}

/* Parts of a frame's line that our dialect and LLVM's have in common, down to
 * what is highlighted. */
#include "libmarkup/output/output.h"

void mk_put_frame_head(struct mk_output *r, uint64_t number, size_t inline_number,
		       uint64_t address)
{
	struct mk_out *o = &r->out;
	char buf[FMT_MAX + 2], *p;
	size_t len;

	if (r->options.color != MARKUP_COLOR_ON && number < 100 && inline_number < 100) {
		p = mk_out_room(o, MK_HEAD_ROOM);
		if (!p)
			return;
		mk_plain_head(p, (unsigned)number, address);
		if (inline_number)
			mk_plain_inline_number(p, (unsigned)inline_number);
		mk_out_used(o, p + MK_HEAD_LEN);
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
	const struct sc_str name = r->resolve->context.modules[module].name;

	mk_put_values(r, o, "(", name, "+", mk_hex(vaddr), ")");
}

void mk_put_symbol(struct mk_output *r, const struct mk_event *e)
{
	mk_sgr_highlight(r, &r->out);
	mk_out_str(&r->out, mk_lookup_demangled(r->resolve, e->name));
	mk_sgr_restore(r, &r->out);
}

/* Parts of a frame's line that our dialect and LLVM's have in common, down to
 * what is highlighted. */
#include "libmarkup/state.h"

void put_frame_head(struct markup_filter *f, uint64_t number, size_t inline_number,
		    uint64_t address)
{
	struct markup_out *o = &f->out;
	char buf[FMT_MAX + 2];
	size_t len = fmt_dec(buf, number);

	if (len < 5)
		out_put(o, "     ", 5 - len);
	out_char(o, '#');
	put_value(f, o, buf, len);
	if (inline_number) {
		out_char(o, '.');
		len = fmt_dec(buf, inline_number);
		if (len < 2)
			buf[len++] = ' ';
		put_value(f, o, buf, len);
	} else {
		out_lit(o, "   ");
	}
	buf[0] = ' ';
	len = 1 + fmt_addr(buf + 1, address);
	buf[len++] = ' ';
	put_value(f, o, buf, len);
}

void put_place(struct markup_filter *f, struct markup_out *o, uint32_t module, uint64_t vaddr)
{
	const struct markup_str name = f->context.modules[module].name;

	out_char(o, '(');
	put_value(f, o, name.ptr, name.len);
	out_char(o, '+');
	put_hex_value(f, o, vaddr);
	out_char(o, ')');
}

void put_newline(struct markup_filter *f)
{
	out_put(&f->out, f->newline, strlen(f->newline));
}

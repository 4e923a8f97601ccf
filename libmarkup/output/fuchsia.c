/*
 * The fuchsia dialect: what Fuchsia's symbolizer prints on standard output.
 *
 * It knows reset, module, mmap, bt and dumpfile; all else is text, and so is an
 * element that makes no sense. Each line that an element prints has the text
 * before it (since the last element that printed) in front; the last element's
 * has the rest of the line behind it. A line of nothing but silent elements
 * (reset, module, dumpfile, most mmaps) vanishes, text and all.
 *
 * Modules are placed as a whole: the first map gives the base, and a module
 * reaches from there up to the end of its highest map, that address included. A
 * kernel that is mapped below its own addresses has base 0 and a negative_base.
 *
 * Not followed: prettified batches; C++ names get their types from the mangled
 * name, C names have none. Lines of more than MARKUP_LINE_MAX are text.
 */
#include <errno.h>
#include <stdlib.h>

#include "libmarkup/state.h"

enum { KIND_BT = 1 };

/* The line at hand. */
struct line {
	struct markup_str behind; /* of the element at hand */
	bool printed;             /* by the element at hand */
};

/* The text before the element at hand is gathered in f->notes. */
static void begin_print(struct markup_filter *f)
{
	mk_out_put(&f->out, f->notes.buf, f->notes.len);
}

static void end_print(struct markup_filter *f, struct line *l)
{
	mk_out_str(&f->out, l->behind);
	mk_out_char(&f->out, '\n');
	l->printed = true;
}

/* ---- values ---------------------------------------------------------------- */

/* Decimal, or 0x and hex digits. */
static bool number(struct markup_str s, uint64_t *ret)
{
	if (s.len > 2 && s.ptr[0] == '0' && s.ptr[1] == 'x')
		return mk_field_address(s, ret);
	return mk_field_decimal(s, ret);
}

/* ---- modules --------------------------------------------------------------- */

static bool put_module(struct markup_filter *f, const struct markup_node *n)
{
	struct markup_str id, name, build_id;
	uint64_t value;
	uint32_t index;

	if (!mk_field_split_module(n, &id, &name, &build_id) || !number(id, &value))
		return false;
	if (mk_context_add_module(&f->context, value, name, build_id, &index) == MARKUP_CTX_FULL)
		return false;
	f->fuchsia.dirty = true;
	return true;
}

/* Takes the map into its module. False: it contradicts the ones before. */
static bool place(struct markup_module *m, uint64_t address, uint64_t size, uint64_t offset)
{
	const bool negative = address < offset;
	const uint64_t base = negative ? 0 : address - offset;
	const uint64_t end = negative ? address + size : size + offset;
	bool consistent = true;

	if (m->printed) {
		consistent = m->base == base &&
			     (!negative || m->negative_base == offset - address);
	} else {
		m->base = base;
		if (negative)
			m->negative_base = offset - address;
	}
	if (end > m->size)
		m->size = end;
	return consistent;
}

static void put_module_line(struct markup_filter *f, struct line *l, struct markup_module *m)
{
	struct markup_out *o = &f->out;

	begin_print(f);
	mk_out_lit(o, "[[[ELF module #");
	mk_out_hex(o, m->id);
	mk_out_lit(o, " \"");
	mk_out_str(o, m->name);
	mk_out_lit(o, "\" BuildID=");
	mk_out_str(o, m->build_text);
	mk_out_char(o, ' ');
	mk_out_hex(o, m->base);
	mk_out_lit(o, "]]]");
	end_print(f, l);
	m->printed = true;
}

static bool put_mmap(struct markup_filter *f, struct line *l, const struct markup_node *n)
{
	uint64_t address, size, id, offset;
	struct markup_module *m;

	if (n->num_fields < 6 || !number(n->fields[0], &address) || !number(n->fields[1], &size) ||
	    !mk_str_is(n->fields[2], "load") || !number(n->fields[3], &id) ||
	    !number(n->fields[5], &offset))
		return false;
	m = mk_context_module(&f->context, id);
	if (!m) {
		begin_print(f);
		mk_out_lit(&f->out, "symbolizer: Invalid module id.");
		end_print(f, l);
		return true;
	}
	f->fuchsia.dirty = true;
	if (!place(m, address, size, offset)) {
		begin_print(f);
		mk_out_lit(&f->out, "symbolizer: Inconsistent base address.");
		end_print(f, l);
	} else if (!f->options.omit_module_lines && !m->printed) {
		put_module_line(f, l, m);
	}
	if (f->options.collect_dumpfiles)
		mk_context_note_map(&f->context, &(struct markup_mmap){
			.address = address, .size = size, .vaddr = offset,
			.module = (uint32_t)(m - f->context.modules) }, n->fields[4]);
	return true;
}

static int by_base(const void *a, const void *b, void *ctx)
{
	const struct markup_module *modules = ctx;
	const struct markup_module *x = &modules[*(const uint32_t *)a];
	const struct markup_module *y = &modules[*(const uint32_t *)b];

	if (x->base != y->base)
		return x->base < y->base ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static bool sort_modules(struct markup_filter *f)
{
	const uint32_t n = f->context.num_modules;
	uint32_t *sorted = realloc(f->fuchsia.by_base, (n + 1) * sizeof(*sorted));

	if (!sorted) {
		f->error = -ENOMEM;
		return false;
	}
	f->fuchsia.by_base = sorted;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = i;
	qsort_r(sorted, n, sizeof(*sorted), by_base, f->context.modules);
	f->fuchsia.dirty = false;
	return true;
}

/* The module with the highest base up to `limit`, if it reaches `address`. */
static struct markup_module *module_at(struct markup_filter *f, uint64_t limit, uint64_t address)
{
	struct markup_module *modules = f->context.modules;
	uint32_t low = 0, high = f->context.num_modules;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		if (modules[f->fuchsia.by_base[mid]].base <= limit)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	struct markup_module *m = &modules[f->fuchsia.by_base[low - 1]];
	return address - m->base <= m->size ? m : NULL;
}

static struct markup_module *find_module(struct markup_filter *f, uint64_t address)
{
	struct markup_module *m;

	if (f->fuchsia.dirty && !sort_modules(f))
		return NULL;
	m = module_at(f, address, address);
	return m ? m : module_at(f, 0, address); /* a kernel with base 0 */
}

/* ---- frames ---------------------------------------------------------------- */

/* " FUNC FILE:LINE" */
static void render_bt(struct markup_filter *f, struct markup_out *o,
		      const struct markup_frame *frames, size_t n, size_t i)
{
	(void)f;
	(void)n;
	if (frames[i].function.ptr) {
		mk_out_char(o, ' ');
		mk_out_str(o, frames[i].function);
	}
	if (frames[i].file.len && frames[i].line) {
		mk_out_char(o, ' ');
		mk_out_str(o, frames[i].file);
		mk_out_char(o, ':');
		mk_out_dec(o, frames[i].line);
	}
}

static const struct code_style bt_style = { KIND_BT, false, render_bt };

/* "   #N.K  0xADDRESS" */
static void put_head(struct markup_filter *f, uint64_t frame, size_t inline_number,
		     uint64_t address)
{
	struct markup_out *o = &f->out;
	char buf[FMT_MAX * 2] = "   #";
	size_t len = 4;

	len += mk_fmt_dec(buf + len, frame);
	if (inline_number) {
		buf[len++] = '.';
		len += mk_fmt_dec(buf + len, inline_number);
	}
	mk_out_put(o, buf, len);
	if (len < 9)
		mk_out_spaces(o, 9 - len);
	mk_out_addr(o, address);
}

static void put_message(struct markup_filter *f, struct markup_str message)
{
	if (message.len) {
		mk_out_char(&f->out, ' ');
		mk_out_str(&f->out, message);
	}
}

static bool put_bt(struct markup_filter *f, struct line *l, const struct markup_node *n)
{
	struct markup_out *o = &f->out;
	struct markup_str message = { NULL, 0 };
	bool precise = false;
	uint64_t frame, address;
	struct code_text text;

	if (n->num_fields < 2 || !number(n->fields[0], &frame) || frame > INT32_MAX ||
	    !number(n->fields[1], &address))
		return false;
	if (n->num_fields > 2) {
		precise = mk_str_is(n->fields[2], "pc");
		if (!precise && !mk_str_is(n->fields[2], "ra"))
			message = n->fields[2];
		if (n->num_fields > 3)
			message = n->fields[3];
	}
	struct markup_module *m = find_module(f, address);
	if (!m) {
		f->stats.frames++;
		f->stats.frames_outside++;
		begin_print(f);
		put_head(f, frame, 0, address);
		mk_out_lit(o, " is not covered by any module");
		put_message(f, message);
		end_print(f, l);
		return true;
	}
	const uint32_t module = (uint32_t)(m - f->context.modules);
	const uint64_t vaddr = address - m->base + m->negative_base;
	mk_lookup_code(f, module, vaddr - !precise, &bt_style, &text);
	for (size_t i = 0; i < text.n; i++) {
		begin_print(f);
		put_head(f, frame, text.n - 1 - i, address);
		mk_out_lit(o, " in");
		mk_code_piece(f, o, &text, i);
		mk_out_lit(o, " <");
		mk_out_str(o, f->context.modules[module].name);
		mk_out_lit(o, ">+");
		mk_out_hex(o, vaddr);
		put_message(f, message);
		end_print(f, l);
	}
	return true;
}

/* ---- lines ----------------------------------------------------------------- */

/* False: it is text. */
static bool put_element(struct markup_filter *f, struct line *l, const struct markup_node *n)
{
	if (mk_str_is(n->tag, "bt"))
		return put_bt(f, l, n);
	if (mk_str_is(n->tag, "mmap"))
		return put_mmap(f, l, n);
	if (mk_str_is(n->tag, "module"))
		return put_module(f, n);
	if (mk_str_is(n->tag, "reset")) {
		mk_context_reset(&f->context);
		f->fuchsia.dirty = true;
		return true;
	}
	if (mk_str_is(n->tag, "dumpfile") && n->num_fields >= 2) {
		mk_dumpfile_note(f, n->fields[0], n->fields[1]);
		return true;
	}
	return false;
}

/* Is there another element in what `p` has not seen yet? */
static bool more_elements(struct markup_parser p)
{
	struct markup_node n;

	while (markup_next_node(&p, &n))
		if (n.kind == MARKUP_ELEMENT)
			return true;
	return false;
}

static void fuchsia_line(struct markup_filter *f, const char *p, size_t len, enum line_part part)
{
	struct markup_out *before = &f->notes;
	struct markup_parser parser;
	struct markup_node n;
	bool silent = false, text_counts = false;
	const char *end = p + len;

	if (part != LINE_WHOLE) {
		mk_out_put(&f->out, p, len);
		if ((part & LINE_LAST) && (!len || end[-1] != '\n'))
			mk_out_char(&f->out, '\n');
		return;
	}
	if (len && end[-1] == '\n')
		end--;
	before->len = 0;
	markup_parse_line(&parser, p, (size_t)(end - p), MARKUP_SYNTAX_FUCHSIA);
	while (markup_next_node(&parser, &n)) {
		struct line l = { .behind = { end, 0 } };

		if (n.kind == MARKUP_TEXT) {
			mk_out_str(before, n.text);
			continue;
		}
		const char *rest = n.text.ptr + n.text.len;
		const bool last = !more_elements(parser);
		if (last)
			l.behind = (struct markup_str){ rest, (size_t)(end - rest) };
		if (!put_element(f, &l, &n)) {
			text_counts = true;
			mk_out_str(before, n.text);
		}
		if (l.printed) {
			text_counts = true;
			before->len = 0;
			if (last)
				return;
		} else {
			silent = true;
		}
	}
	if (before->error)
		f->error = before->error;
	/* What is left belongs to elements that printed nothing. */
	if (!silent || (text_counts && before->len)) {
		begin_print(f);
		mk_out_char(&f->out, '\n');
	}
}

static void fuchsia_plain(struct markup_filter *f, const char *p, size_t len)
{
	mk_out_put(&f->out, p, len);
	if (p[len - 1] != '\n')
		mk_out_char(&f->out, '\n');
}

static void fuchsia_finish(struct markup_filter *f)
{
	f->fuchsia.dirty = true; /* the context goes */
}

static void fuchsia_report(struct markup_filter *f, const struct markup_node *n,
			   enum severity severity, const char *at, struct markup_str message)
{
	(void)f;
	(void)n;
	(void)severity;
	(void)at;
	(void)message;
}

const struct renderer mk_fuchsia_renderer = {
	.line = fuchsia_line,
	.plain = fuchsia_plain,
	.finish = fuchsia_finish,
	.report = fuchsia_report,
};

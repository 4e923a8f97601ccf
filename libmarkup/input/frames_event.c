/* What a row of frames.h found in a line → its event. */
#include "libmarkup/input/frames.h"
#include "libmarkup/input/match.h"

static bool all_digits(struct sc_str s)
{
	size_t n = 0;

	while (n < s.len && s.ptr[n] >= '0' && s.ptr[n] <= '9')
		n++;
	return n == s.len;
}

bool mk_row_makes_sense(const struct mk_frame_row *row, const struct mk_parts *parts)
{
	const struct sc_str name = parts->module;
	const uint64_t *v = parts->values;

	if ((row->flags & MK_ROW_PATH) && !memchr(name.ptr, '/', name.len))
		return false;
	if ((row->flags & MK_ROW_TABBED) && name.len && mk_find(name.ptr, name.ptr + name.len, "+0x"))
		return false; /* that is another address */
	if ((row->flags & MK_ROW_HIGH) && !(v[MK_ADDRESS] >> 32))
		return false;
	if (!name.len && !(row->flags & MK_ROW_NULL) && mk_has(parts, MK_ADDRESS) &&
	    !mk_has(parts, MK_OFFSET) && v[MK_ADDRESS] < 4096)
		return false;
	/* Names that are numbers are columns of something else. */
	if (name.len && all_digits(name))
		return false;
	return !(v[MK_OFFSET] >> 40);
}

static enum mk_returns returns(const struct mk_frame_row *row, const struct mk_parts *parts)
{
	const uint64_t *v = parts->values;

	switch (row->kind) {
	case MK_ROW_EXACT:
		return MK_EXACT;
	case MK_ROW_RETURNS_1:
		return v[MK_NUMBER] ? MK_RETURN : MK_EXACT;
	case MK_ROW_FIRST:
		return MK_RETURN_BUT_FIRST;
	case MK_ROW_LEAD:
		return MK_RETURN_BUT_LEAD;
	case MK_ROW_LOW12:
		return parts->build_id.len || (v[MK_ADDRESS] ^ v[MK_OFFSET]) & 0xfff ? MK_EXACT
										     : MK_RETURN;
	default:
		return MK_RETURN;
	}
}

/* What is looked up. */
static void set_place(struct mk_event *e, const struct mk_frame_row *row,
		      const struct mk_parts *parts)
{
	const uint64_t *v = parts->values;

	e->address = v[MK_ADDRESS];
	e->origin = row->flags & (MK_ROW_VADDR | MK_ROW_LOW) ? MARKUP_FROM_ZERO :
		    row->flags & MK_ROW_FILE ? MARKUP_FROM_FILE :
		    row->form == MK_FORM_VALGRIND ? MARKUP_FROM_VALGRIND : MARKUP_FROM_LOAD_BASE;
	if (mk_has(parts, MK_OFFSET)) {
		e->lookup = v[MK_OFFSET];
		if (mk_has(parts, MK_BASE) && !e->address)
			e->address = v[MK_BASE] + e->lookup;
	} else if (mk_has(parts, MK_BASE)) {
		e->lookup = e->address - v[MK_BASE];
	} else if ((row->flags & MK_ROW_LOW) && !(e->address >> 32)) {
		e->lookup = e->address;
		e->absolute = !e->name.len;
	} else if (mk_has(parts, MK_ADDRESS)) {
		e->absolute = true;
		e->symbol = parts->symbol;
		e->symbol_offset = v[MK_SYMBOL_OFFSET];
		if (!mk_has(parts, MK_SYMBOL_OFFSET))
			e->symbol.len = 0;
	}
}

/* The module's name; that of a program whose other names only begin with it is cut. */
static struct sc_str module_of(const struct mk_frame_row *row, const struct mk_parts *parts)
{
	const struct sc_str name = parts->module, fixed = sc_str_of(row->module);
	const struct sc_str last = sc_last_part(name);

	if (fixed.len && !name.len)
		return fixed;
	if (!fixed.len || last.ptr == name.ptr || !sc_str_begins(last, row->module))
		return name;
	return sc_span(name.ptr, last.ptr + fixed.len);
}

struct mk_event *mk_row_frame(struct mk_line *l, const struct mk_frame_row *row,
			      const struct mk_parts *parts, const char *start, const char *end)
{
	struct mk_event *e = mk_add_frame(l, row->tag ? row->tag : row->name, start, end);

	e->form = row->form ? row->form : MK_FORM_BEHIND;
	e->name = module_of(row, parts);
	e->build_id = parts->build_id;
	if (!e->name.len)
		e->name = e->build_id;
	e->hole = parts->hole;
	e->function = parts->symbol;
	e->number = parts->values[MK_NUMBER];
	e->reach = row->reach ? row->reach : mk_has(parts, MK_NUMBER) ? 0 :
		   mk_has(parts, MK_BASE) || (row->flags & MK_ROW_CARRIED) ? 2 : 1;
	e->returns = returns(row, parts);
	e->known_only = row->flags & MK_ROW_KNOWN;
	e->behind_header = row->flags & MK_ROW_HEADED;
	e->carried = row->flags & MK_ROW_CARRIED;
	e->shared_object = row->flags & MK_ROW_SO;
	set_place(e, row, parts);
	return e;
}

void mk_row_mark(struct mk_line *l, const struct mk_frame_row *row, const struct mk_parts *parts,
		 const char *start, const char *end)
{
	static const enum mk_aside asides[] = {
		[MK_ROW_HEADER] = MK_BEGINS_TRACE, [MK_ROW_SIGNAL] = MK_INTERRUPTS,
		[MK_ROW_CARRIES] = MK_CARRIES, [MK_ROW_IN_TRACE] = MK_IN_TRACE,
	};
	struct mk_event *e;

	if (row->kind == MK_ROW_BINDS) {
		e = mk_add_binding(l, start, end, module_of(row, parts), parts->build_id);
		e->guid = row->flags & MK_ROW_GUID;
		return;
	}
	e = mk_add_event(l, MK_UNKNOWN);
	e->text = sc_span(start, end);
	e->quiet = true;
	e->aside = asides[row->kind];
	e->name = parts->module;
	e->build_id = parts->build_id;
	if (!e->name.len)
		e->name = e->build_id;
	e->lookup = parts->values[MK_OFFSET];
}

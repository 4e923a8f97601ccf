/*
 * .gopclntab → facts: see gopclntab.h.
 *
 * Tables of values are shared by functions, so time is bounded by the facts that they become, and
 * these by the size of the file.
 */
#include "libsymcache/dwarf/gopclntab_parts.h"

#include <dwarf.h>
#include <stdlib.h>


enum {
	PER_UNIT = 64, /* functions */
};

/* ---- the header ------------------------------------------------------------------------- */

static struct dw_section part(const struct dw_section *s, uint64_t at)
{
	return at <= s->size ? (struct dw_section){ s->data + at, s->size - at } :
			       (struct dw_section){ s->data, 0 };
}

/* The same up to its last NUL. */
static struct dw_section strings(const struct dw_section *s, uint64_t at)
{
	struct dw_section ret = part(s, at);
	const uint8_t *last = ret.size ? memrchr(ret.data, 0, ret.size) : NULL;

	ret.size = last ? (size_t)(last - ret.data) + 1 : 0;
	return ret;
}

static int read_header(struct dw_go_reader *r, struct sc_error *err)
{
	const struct dw_section *t = &r->s.table;
	struct dw_cursor c = dw_cursor_at(t, 0, r->s.swap);
	uint64_t at[5];

	r->version = dw_u32(&c);
	if (c.bad || (r->version != GO_1_16 && r->version != GO_1_18 && r->version != GO_1_20))
		return sc_error_set(err, SC_EUNSUPPORTED, ".gopclntab: unknown version 0x%x", r->version);
	dw_skip(&c, 2);
	r->quantum = dw_u8(&c);
	r->word = dw_u8(&c);
	r->num = dw_uint(&c, r->word);
	dw_uint(&c, r->word); /* files */
	if (r->version != GO_1_16)
		dw_uint(&c, r->word); /* runtime.text: a program that is moved has it elsewhere */
	for (int i = 0; i < 5; i++)
		at[i] = dw_uint(&c, r->word);
	r->names = strings(t, at[0]);
	r->units = part(t, at[1]);
	r->files = strings(t, at[2]);
	r->pairs = part(t, at[3]);
	r->functions = part(t, at[4]);
	if (c.bad || (r->word != 4 && r->word != 8) || !r->quantum || r->quantum > 4 ||
	    r->num > r->functions.size / 8)
		return sc_error_set(err, SC_EFORMAT, ".gopclntab: the header is damaged");
	return 0;
}

int dw_go_open(const struct dw_go_sections *sections, struct dw_go_reader **ret,
	       struct sc_error *err)
{
	struct dw_go_reader *r = *ret = calloc(1, sizeof(*r));
	int rc;

	if (!r)
		return sc_no_memory(err);
	r->s = *sections;
	rc = read_header(r, err);
	if (!rc)
		return 0;
	dw_go_close(r);
	*ret = NULL;
	return rc;
}

void dw_go_close(struct dw_go_reader *r)
{
	if (!r)
		return;
	vec_deinit(&r->file.list);
	vec_deinit(&r->line.list);
	vec_deinit(&r->inlined.list);
	vec_deinit(&r->calls);
	vec_deinit(&r->runs);
	free(r);
}

bool dw_go_has_inlines(const struct dw_go_reader *r)
{
	return go_has_inlines(r);
}

/* ---- tables of values ------------------------------------------------------------------- */

/* The table at `offset`, for a function of `size` bytes. False: out of memory; one that is broken is
 * empty, as is number 0. */
static bool read_values(struct dw_go_reader *r, uint32_t offset, uint64_t size, struct values *ret)
{
	struct dw_cursor c = dw_cursor_at(&r->pairs, offset, r->s.swap);
	uint64_t at = 0;
	uint32_t value = UINT32_MAX;

	vec_clear(&ret->list);
	ret->end = 0;
	while (offset && !c.bad) {
		const uint32_t step = (uint32_t)dw_uleb(&c);
		struct value *v;

		if ((!step && at) || c.bad)
			break;
		value += step & 1 ? ~(step >> 1) : step >> 1;
		if (!(v = vec_push(&ret->list)))
			return false;
		r->facts++;
		*v = (struct value){ (uint32_t)at, (int32_t)value };
		at += dw_uleb(&c) * r->quantum;
		if (c.bad || at <= v->start || at > size) {
			ret->list.len = 0;
			return true;
		}
		ret->end = (uint32_t)at;
	}
	return true;
}

/* ---- functions -------------------------------------------------------------------------- */

/* Function `i`; false: it is broken. */
static bool read_function(const struct dw_go_reader *r, uint64_t i, struct function *ret)
{
	const bool old = r->version == GO_1_16;
	const unsigned field = old ? r->word : 4;
	struct dw_cursor c = dw_cursor_at(&r->functions, 2 * field * i, r->s.swap);
	const uint64_t base = old ? 0 : r->s.text;
	uint64_t record;

	ret->start = base + dw_uint(&c, field);
	ret->record = record = dw_uint(&c, field);
	ret->end = base + dw_uint(&c, field);
	if (c.bad || ret->end <= ret->start || ret->end - ret->start > INT32_MAX)
		return false;
	c = dw_cursor_at(&r->functions, record, r->s.swap);
	dw_skip(&c, field); /* the start again */
	ret->name = string_at(&r->names, dw_u32(&c));
	dw_skip(&c, 3 * 4); /* args, deferreturn, pcsp */
	ret->pcfile = dw_u32(&c);
	ret->pcline = dw_u32(&c);
	ret->num_pcdata = dw_u32(&c);
	ret->unit = dw_u32(&c);
	ret->first_line = r->version == GO_1_20 ? dw_u32(&c) : 0;
	dw_skip(&c, 3);
	ret->num_funcdata = dw_u8(&c);
	ret->pcdata = (uint64_t)(c.p - r->functions.data);
	return !c.bad;
}

/* Rows where file or line change. False: out of memory. */
static bool add_rows(struct dw_go_reader *r, const struct function *f, struct dw_facts *facts)
{
	const struct values *lines = &r->line, *files = &r->file;
	struct dw_sequence *sequence;
	size_t k = 0;

	if (!lines->list.len)
		return true;
	if (!(sequence = vec_push(&facts->sequences)))
		return false;
	*sequence = (struct dw_sequence){ f->start, f->start + lines->end, (uint32_t)facts->rows.len, 0 };
	for (size_t i = 0; i < lines->list.len || k < files->list.len;) {
		const uint32_t line_at = i < lines->list.len ? lines->list.data[i].start : UINT32_MAX;
		const uint32_t file_at = k < files->list.len ? files->list.data[k].start : UINT32_MAX;
		const uint32_t at = line_at < file_at ? line_at : file_at;
		struct dw_row *row;
		int32_t line;

		i += line_at == at;
		k += file_at == at;
		if (at >= lines->end)
			break;
		if (!(row = vec_push(&facts->rows)))
			return false;
		line = value_at(lines, at);
		*row = (struct dw_row){ f->start + at, go_file(r, f, value_at(files, at), facts),
					line > 0 ? (uint32_t)line : 0, 0, DW_ROW_IS_STMT };
		sequence->num_rows++;
	}
	return true;
}

/* ---- all of a function ------------------------------------------------------------------ */

static bool add_function(struct dw_go_reader *r, struct function *f, struct dw_facts *facts)
{
	const uint64_t size = f->end - f->start;
	const size_t tree = go_tree(r, f);
	const uint32_t outer = (uint32_t)facts->scopes.len;
	struct dw_cursor c = dw_cursor_at(&r->functions, f->pcdata + 4 * GO_INLINE_INDEX, r->s.swap);
	struct dw_scope *scope;

	if (!read_values(r, f->pcline, size, &r->line) || !read_values(r, f->pcfile, size, &r->file) ||
	    !read_values(r, tree == SIZE_MAX ? 0 : dw_u32(&c), size, &r->inlined))
		return false;
	if (r->line.list.len) /* what is behind it is padding */
		f->end = f->start + r->line.end;
	if (!(scope = vec_push(&facts->scopes)))
		return false;
	*scope = (struct dw_scope){
		.name = f->name, .parent = DW_NONE, .first_range = (uint32_t)facts->ranges.len,
		.num_ranges = 1, .lang = DW_LANG_Go, .call_file = DW_NONE,
		.decl_file = f->first_line ? go_file(r, f, value_at(&r->file, 0), facts) : DW_NONE,
		.decl_line = f->first_line, .entry_vaddr = f->start,
	};
	r->facts++;
	return go_add_range(facts, f->start, f->end) && add_rows(r, f, facts) &&
	       (tree == SIZE_MAX || go_add_calls(r, f, tree, outer, facts));
}

int dw_go_next(void *reader, struct dw_facts *ret, struct sc_error *err)
{
	struct dw_go_reader *r = reader;
	struct function f;
	unsigned n = 0;

	dw_facts_clear(ret);
	for (; r->next < r->num && n < PER_UNIT; r->next++) {
		if (!read_function(r, r->next, &f) || !f.name || !*f.name ||
		    (r->s.wanted && !dw_wanted_in(r->s.wanted, f.start, f.end)))
			continue;
		n++;
		if (!add_function(r, &f, ret) || r->no_memory)
			return sc_no_memory(err);
		if (r->facts > r->s.most)
			return sc_error_set(err, SC_ELIMIT, ".gopclntab: more lines and inlined calls "
					    "than a file of this size has");
	}
	return n ? 0 : SC_ENOTFOUND;
}

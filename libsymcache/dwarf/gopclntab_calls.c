/* Files of .gopclntab, by their numbers in units, and inlined calls: a tree for each function, and the
 * number of the call for each address. See gopclntab_parts.h. */
#include "libsymcache/dwarf/gopclntab_parts.h"

#include <dwarf.h>
#include <stdlib.h>

enum {
	INLINE_TREE = 3, /* index in funcdata */
	CALL_SIZE = 20, CALL_SIZE_1_20 = 16,
};

uint32_t go_file(struct dw_go_reader *r, const struct function *f, int32_t number,
		 struct dw_facts *facts)
{
	struct dw_cursor c = dw_cursor_at(&r->units, 4 * ((uint64_t)f->unit + (uint32_t)number),
					  r->s.swap);
	const uint32_t offset = dw_u32(&c);
	const char *name = number < 0 || c.bad ? NULL : string_at(&r->files, offset);
	struct dw_file *file;

	if (!name)
		return DW_NONE;
	/* Functions of one file follow each other. */
	for (size_t i = facts->files.len, tries = 8; i-- > 0 && tries; tries--)
		if (facts->files.data[i].name == name)
			return (uint32_t)i;
	if (!(file = vec_push(&facts->files))) {
		r->no_memory = true;
		return DW_NONE;
	}
	file->name = name;
	return (uint32_t)facts->files.len - 1;
}

size_t go_tree(const struct dw_go_reader *r, const struct function *f)
{
	struct dw_cursor c = dw_cursor_at(&r->functions, f->pcdata + 4 * ((uint64_t)f->num_pcdata +
					  INLINE_TREE), r->s.swap);
	const uint32_t offset = dw_u32(&c);

	return !go_has_inlines(r) || f->num_funcdata <= INLINE_TREE || f->num_pcdata <= GO_INLINE_INDEX ||
	       c.bad || offset == UINT32_MAX || offset >= r->s.funcdata.size ? SIZE_MAX : offset;
}

/* What the tree says of a call. */
struct node {
	const char *name;
	int64_t parent;      /* number of the call that it is in; < 0: none */
	uint32_t call_file, call_line, first_line;
};

static bool read_node(struct dw_go_reader *r, const struct function *f, size_t tree,
		      uint32_t number, struct dw_facts *facts, struct node *ret)
{
	const bool later = r->version == GO_1_20;
	struct dw_cursor c = dw_cursor_at(&r->s.funcdata, tree + (uint64_t)number *
					  (later ? CALL_SIZE_1_20 : CALL_SIZE), r->s.swap);
	const int16_t parent = (int16_t)dw_u16(&c); /* of 1.18 */
	int32_t file, line, at;

	*ret = (struct node){ .parent = parent };
	dw_skip(&c, 2);
	if (!later) {
		file = (int32_t)dw_u32(&c);
		line = (int32_t)dw_u32(&c);
		ret->name = string_at(&r->names, dw_u32(&c));
	} else {
		ret->name = string_at(&r->names, dw_u32(&c));
		at = (int32_t)dw_u32(&c);
		ret->first_line = dw_u32(&c);
		file = at < 0 ? -1 : value_at(&r->file, (uint32_t)at);
		line = at < 0 ? -1 : value_at(&r->line, (uint32_t)at);
		ret->parent = at < 0 ? -1 : value_at(&r->inlined, (uint32_t)at);
	}
	ret->call_file = go_file(r, f, file, facts);
	ret->call_line = line > 0 ? (uint32_t)line : 0;
	/* Callers stand before what is inlined into them: there are no circles. */
	return !c.bad && ret->name && ret->parent < number;
}

static int by_number(const void *a, const void *b)
{
	const struct call *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

static int by_call(const void *a, const void *b)
{
	const struct run *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->start < y->start ? -1 : x->start > y->start;
}

static struct call *find_call(struct dw_go_reader *r, uint32_t number)
{
	struct call *list = r->calls.data;
	const size_t n = SC_SEARCH(i, r->calls.len, list[i].number < number);

	return n < r->calls.len && list[n].number == number ? &list[n] : NULL;
}

static void sort_calls(struct dw_go_reader *r)
{
	size_t left = 0;

	if (r->calls.len)
		qsort(r->calls.data, r->calls.len, sizeof(*r->calls.data), by_number);
	for (size_t i = 0; i < r->calls.len; i++)
		if (!left || r->calls.data[left - 1].number != r->calls.data[i].number)
			r->calls.data[left++] = r->calls.data[i];
	r->calls.len = left;
}

/* The runs of the calls that have code. False: out of memory. */
static bool gather_runs(struct dw_go_reader *r)
{
	const struct value *v = r->inlined.list.data;
	const size_t n = r->inlined.list.len;

	vec_clear(&r->runs);
	for (size_t i = 0; i < n; i++) {
		struct run *run = v[i].value >= 0 ? vec_push(&r->runs) : NULL;

		if (v[i].value >= 0 && !run)
			return false;
		if (run)
			*run = (struct run){ (uint32_t)v[i].value, v[i].start,
					     i + 1 < n ? v[i + 1].start : r->inlined.end };
	}
	if (r->runs.len)
		qsort(r->runs.data, r->runs.len, sizeof(*r->runs.data), by_call);
	return true;
}

/* The calls that have code, and those around them, by number. False: out of memory. */
static bool gather_calls(struct dw_go_reader *r, const struct function *f, size_t tree,
			 struct dw_facts *facts)
{
	struct node node;

	vec_clear(&r->calls);
	for (size_t i = 0; i < r->runs.len; i++) {
		const uint32_t number = r->runs.data[i].number;
		struct call *c = i && number == r->runs.data[i - 1].number ? NULL : vec_push(&r->calls);

		if (c)
			c->number = number;
		else if (!i || number != r->runs.data[i - 1].number)
			return false;
	}
	sort_calls(r);
	for (size_t i = 0; i < r->calls.len && r->facts <= r->s.most; i++) {
		struct call *c;

		r->facts++;
		r->calls.data[i].parent = DW_NONE;
		if (!read_node(r, f, tree, r->calls.data[i].number, facts, &node) || node.parent < 0)
			continue;
		r->calls.data[i].parent = (uint32_t)node.parent;
		/* Those at the end are not sorted yet: what is there twice goes below. */
		if (i && r->calls.data[i - 1].parent == r->calls.data[i].parent)
			continue;
		if (!(c = vec_push(&r->calls)))
			return false;
		c->number = (uint32_t)node.parent;
	}
	sort_calls(r);
	return true;
}

/* The ranges of call `c`: those of its runs. */
static bool add_ranges(struct dw_go_reader *r, const struct function *f, const struct call *c,
		       struct dw_facts *facts, struct dw_scope *scope)
{
	const struct run *list = r->runs.data;
	size_t i = SC_SEARCH(k, r->runs.len, list[k].number < c->number);

	for (; i < r->runs.len && list[i].number == c->number; i++, scope->num_ranges++)
		if (!go_add_range(facts, f->start + list[i].start, f->start + list[i].end))
			return false;
	r->facts += scope->num_ranges;
	return true;
}

bool go_add_calls(struct dw_go_reader *r, const struct function *f, size_t tree, uint32_t outer,
		  struct dw_facts *facts)
{
	if (!gather_runs(r) || !gather_calls(r, f, tree, facts))
		return false;
	for (size_t i = 0; i < r->calls.len && r->facts <= r->s.most; i++) {
		struct call *c = &r->calls.data[i];
		const struct call *around;
		struct dw_scope scope = { 0 }, *out;
		struct node node;

		if (!read_node(r, f, tree, c->number, facts, &node))
			return true; /* from here on it is broken */
		around = node.parent < 0 ? NULL : find_call(r, (uint32_t)node.parent);
		scope = (struct dw_scope){
			.name = node.name, .parent = around && around < c ? around->scope : outer,
			.first_range = (uint32_t)facts->ranges.len, .lang = DW_LANG_Go,
			.call_file = node.call_file, .call_line = node.call_line,
			.decl_file = DW_NONE, .decl_line = node.first_line, .entry_vaddr = UINT64_MAX,
		};
		if (!add_ranges(r, f, c, facts, &scope) || !(out = vec_push(&facts->scopes)))
			return false;
		if (scope.num_ranges == 1)
			scope.entry_vaddr = facts->ranges.data[scope.first_range].start;
		*out = scope;
		c->scope = (uint32_t)facts->scopes.len - 1;
	}
	return true;
}

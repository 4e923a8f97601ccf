/*
 * Symbolizer markup → events, in three dialects. What is wrong with an element is what
 * LLVM's filter complains of, in its order.
 *
 * Ours differs in what it accepts: further fields are ignored (LLVM warns), the name of
 * a module may hold colons, and what follows the type of a pc or bt is a message.
 * Fuchsia's numbers are others, and what makes no sense is unknown.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/bytes/scan.h"
#include "libmarkup/input/input.h"
#include "libmarkup/input/parse.h"

/* The element that is being read. */
struct element {
	const struct mk_node *n;
	struct mk_event *e;
	bool llvm;
};

static const char *tag_end(const struct mk_node *n)
{
	return n->tag.ptr + n->tag.len;
}

/* All of these return false. */
static bool said(const struct element *x, const char *at, const char *what)
{
	return mk_problem(x->e, &(struct mk_problem){ MK_ERROR, MK_SAID, at, what });
}

static bool expected(const struct element *x, struct sc_str field, const char *what)
{
	return mk_problem(x->e, &(struct mk_problem){ MK_ERROR, MK_EXPECTED, field.ptr, what,
						      field });
}

static bool fields(const struct element *x, enum mk_severity severity, const char *what,
		   size_t want)
{
	return mk_problem(x->e, &(struct mk_problem){
		severity, MK_FIELDS, tag_end(x->n), what, { NULL, 0 },
		{ want, x->n->num_fields } });
}

static bool at_least(const struct element *x, size_t want)
{
	return x->n->num_fields >= want || fields(x, MK_ERROR, "at least ", want);
}

static void at_most(const struct element *x, size_t want)
{
	if (x->n->num_fields > want && x->llvm)
		fields(x, MK_WARNING, "at most ", want);
}

static bool exactly(const struct element *x, size_t want)
{
	const bool more = x->n->num_fields > want;

	if (x->n->num_fields == want || (more && !x->llvm))
		return true;
	fields(x, more ? MK_WARNING : MK_ERROR, "", want);
	return more;
}

/* ---- elements ----------------------------------------------------------------- */

bool mk_split_module(const struct mk_node *n, struct sc_str *id,
		     struct sc_str *name, struct sc_str *build_id)
{
	const char *end, *at, *type = NULL;

	if (n->num_fields < 4)
		return false;
	end = n->rest.ptr + n->rest.len;
	/* The ':' before ":elf:" may be that after the ID: the name is empty. */
	for (at = n->fields[0].ptr + n->fields[0].len; end - at >= 5; at++) {
		at = memmem(at, (size_t)(end - at), ":elf:", 5);
		if (!at)
			break;
		type = at;
	}
	if (!type || type < n->fields[1].ptr)
		return false;
	*id = n->fields[0];
	*name = (struct sc_str){ n->fields[1].ptr, (size_t)(type - n->fields[1].ptr) };
	at = memchr(type + 5, ':', (size_t)(end - (type + 5)));
	*build_id = (struct sc_str){ type + 5, (size_t)((at ? at : end) - (type + 5)) };
	return true;
}

static bool read_module(const struct element *x)
{
	const struct mk_node *n = x->n;
	struct mk_event *e = x->e;
	struct sc_str id;

	if (!at_least(x, 3))
		return false;
	if (!mk_field_number(n->fields[0], &e->number))
		return expected(x, n->fields[0], "module ID");
	if (x->llvm || !mk_split_module(n, &id, &e->name, &e->detail)) {
		if (!sc_str_is(n->fields[2], "elf"))
			return said(x, n->fields[2].ptr, "unknown module type");
		if (!exactly(x, 4))
			return false;
		e->name = n->fields[1];
		e->detail = n->fields[3];
	}
	return mk_field_build_id(e->detail, NULL) || expected(x, e->detail, "build ID");
}

static bool read_mmap(const struct element *x)
{
	const struct mk_node *n = x->n;
	struct mk_event *e = x->e;

	if (!at_least(x, 3))
		return false;
	if (!mk_field_address(n->fields[0], &e->address))
		return expected(x, n->fields[0], "address");
	if (!mk_field_number(n->fields[1], &e->size))
		return expected(x, n->fields[1], "size");
	if (!sc_str_is(n->fields[2], "load"))
		return said(x, n->fields[2].ptr, "unknown mmap type");
	if (!exactly(x, 6))
		return false;
	if (!mk_field_number(n->fields[3], &e->number))
		return expected(x, n->fields[3], "module ID");
	if (!mk_field_mode(n->fields[4], e->mode))
		return expected(x, n->fields[4], "mode");
	e->name = n->fields[3];
	e->detail = n->fields[4];
	e->late = true; /* if the module is unknown, that is said */
	return mk_field_address(n->fields[5], &e->vaddr) ||
	       expected(x, n->fields[5], "address");
}

static bool read_reset(const struct element *x)
{
	return exactly(x, 0);
}

static bool read_symbol(const struct element *x)
{
	if (!exactly(x, 1))
		return false;
	x->e->name = x->n->fields[0];
	return true;
}

static bool read_data(const struct element *x)
{
	if (!exactly(x, 1))
		return false;
	return mk_field_address(x->n->fields[0], &x->e->address) ||
	       expected(x, x->n->fields[0], "address");
}

/* What comes behind the address of pc and bt from field number `at` on: a type, or the one that
 * *return_address is, and a message. */
static void read_pc_type(const struct element *x, size_t at, bool *return_address)
{
	const struct mk_node *n = x->n;

	if (n->num_fields > at && (sc_str_is(n->fields[at], "ra") || sc_str_is(n->fields[at], "pc")))
		*return_address = n->fields[at++].ptr[0] == 'r';
	if (n->num_fields > at)
		x->e->detail = (struct sc_str){
			n->fields[at].ptr,
			(size_t)(n->rest.ptr + n->rest.len - n->fields[at].ptr) };
}

/* The address in field number `at` and what comes behind it. */
static bool read_code(const struct element *x, size_t at, bool return_address)
{
	const struct mk_node *n = x->n;
	struct mk_event *e = x->e;

	if (!mk_field_address(n->fields[at], &e->address))
		return expected(x, n->fields[at], "address");
	if (!x->llvm) {
		read_pc_type(x, at + 1, &return_address);
	} else if (n->num_fields == at + 2) {
		/* With more fields than that LLVM ignores the type. */
		struct sc_str type = n->fields[at + 1];
		if (!sc_str_is(type, "ra") && !sc_str_is(type, "pc"))
			return expected(x, type, "PC type");
		return_address = type.ptr[0] == 'r';
	}
	e->lookup = e->address - return_address;
	return true;
}

static bool read_bt(const struct element *x)
{
	if (!at_least(x, 2))
		return false;
	at_most(x, 3);
	if (!mk_field_decimal(x->n->fields[0], &x->e->number))
		return expected(x, x->n->fields[0], "frame number");
	return read_code(x, 1, true);
}

static bool read_pc(const struct element *x)
{
	if (!at_least(x, 1))
		return false;
	at_most(x, 2);
	return read_code(x, 0, false);
}

static bool read_dumpfile(const struct element *x)
{
	if (!at_least(x, 2))
		return false;
	x->e->detail = x->n->fields[0];
	x->e->name = x->n->fields[1];
	return true;
}

static const struct tag {
	const char *tag;
	enum mk_event_kind kind;
	bool llvm; /* LLVM's filter knows it */
	bool (*read)(const struct element *x); /* NULL: all of it makes sense */
} tags[] = {
	{ "bt", MK_FRAME, true, read_bt },
	{ "mmap", MK_MAP, true, read_mmap },
	{ "module", MK_MODULE, true, read_module },
	{ "pc", MK_PC, true, read_pc },
	{ "data", MK_DATA, true, read_data },
	{ "symbol", MK_SYMBOL, true, read_symbol },
	{ "hexdict", MK_HEXDICT, false, NULL },
	{ "dumpfile", MK_DUMPFILE, false, read_dumpfile },
	{ "reset", MK_RESET, true, read_reset },
};

static struct mk_event *add(struct mk_line *l, const struct mk_node *n,
			    enum mk_event_kind kind)
{
	struct mk_event *e = mk_add_event(l, kind);

	e->text = n->text;
	e->tag = n->tag;
	e->rest = n->rest;
	return e;
}

/* The event of an element. */
static struct mk_event *read_element(struct mk_line *l, const struct mk_node *n, bool llvm)
{
	const struct tag *t = tags, *end = tags + sizeof(tags) / sizeof(tags[0]);
	struct element x = { .n = n, .llvm = llvm };

	while (t < end && !(sc_str_is(n->tag, t->tag) && (t->llvm || !llvm)))
		t++;
	x.e = add(l, n, t < end ? t->kind : MK_UNKNOWN);
	if (t < end && t->read)
		t->read(&x);
	return x.e;
}

static void read_ours(struct mk_line *l, struct mk_parser *p)
{
	struct mk_node n;

	while (mk_next_element(p, &n)) {
		if (n.kind == MK_ELEMENT) {
			read_element(l, &n, false);
		} else if (l->part & MK_LINE_LAST) {
			add(l, &n, MK_HEXDICT_OPEN);
		}
	}
}

/* What follows an element that changes the context is dropped. */
static void read_llvm(struct mk_line *l, struct mk_parser *p)
{
	struct mk_event *e;
	struct mk_node n;

	while (!l->had_context && mk_next_element(p, &n)) {
		e = read_element(l, &n, true);
		if (mk_is_context(e))
			return;
		for (size_t i = 0; e->kind == MK_UNKNOWN && !e->bad && i < n.tag.len; i++)
			if (n.tag.ptr[i] < 'a' || n.tag.ptr[i] > 'z')
				said(&(struct element){ &n, e, true }, n.tag.ptr,
				     "tags must be all lowercase characters");
	}
}

/* ---- Fuchsia ------------------------------------------------------------------ */

/* Decimal, or 0x and hex digits. */
static bool fuchsia_number(struct sc_str s, uint64_t *ret)
{
	if (s.len > 2 && s.ptr[0] == '0' && s.ptr[1] == 'x')
		return mk_field_address(s, ret);
	return mk_field_decimal(s, ret);
}

/* The kind of the element, whose values are read; else MK_UNKNOWN. */
static enum mk_event_kind fuchsia_values(const struct mk_node *n, struct mk_event *e)
{
	struct sc_str id;

	if (sc_str_is(n->tag, "bt")) {
		if (n->num_fields < 2 || !fuchsia_number(n->fields[0], &e->number) ||
		    e->number > INT32_MAX || !fuchsia_number(n->fields[1], &e->address))
			return MK_UNKNOWN;
		const bool typed = n->num_fields > 2 && (sc_str_is(n->fields[2], "pc") ||
							 sc_str_is(n->fields[2], "ra"));
		e->lookup = e->address - !(typed && n->fields[2].ptr[0] == 'p');
		if (n->num_fields > 3)
			e->detail = n->fields[3];
		else if (n->num_fields > 2 && !typed)
			e->detail = n->fields[2];
		return MK_FRAME;
	}
	if (sc_str_is(n->tag, "mmap")) {
		if (n->num_fields < 6 || !fuchsia_number(n->fields[0], &e->address) ||
		    !fuchsia_number(n->fields[1], &e->size) || !sc_str_is(n->fields[2], "load") ||
		    !fuchsia_number(n->fields[3], &e->number) ||
		    !fuchsia_number(n->fields[5], &e->vaddr))
			return MK_UNKNOWN;
		e->detail = n->fields[4];
		return MK_MAP;
	}
	if (sc_str_is(n->tag, "module"))
		return mk_split_module(n, &id, &e->name, &e->detail) &&
		       fuchsia_number(id, &e->number) ? MK_MODULE : MK_UNKNOWN;
	if (sc_str_is(n->tag, "dumpfile") && n->num_fields >= 2) {
		e->detail = n->fields[0];
		e->name = n->fields[1];
		return MK_DUMPFILE;
	}
	return sc_str_is(n->tag, "reset") ? MK_RESET : MK_UNKNOWN;
}

static void read_fuchsia(struct mk_line *l, struct mk_parser *p)
{
	struct mk_event *e;
	struct mk_node n;

	while (mk_next_element(p, &n)) {
		e = add(l, &n, MK_UNKNOWN);
		e->kind = fuchsia_values(&n, e);
	}
}

/* ---- the input ---------------------------------------------------------------- */

static void read_line(struct mk_line *l, const char *end)
{
	struct mk_parser p;
	size_t len = (size_t)(end - l->p);

	switch (l->dialect) {
	case MARKUP_LLVM:
		mk_parse_line(&p, l->p, len, MK_SYNTAX_LLVM);
		read_llvm(l, &p);
		return;
	case MARKUP_FUCHSIA:
		if (l->part != MK_LINE_WHOLE)
			return;
		len -= len && l->p[len - 1] == '\n';
		mk_parse_line(&p, l->p, len, MK_SYNTAX_FUCHSIA);
		read_fuchsia(l, &p);
		return;
	default:
		mk_parse_line(&p, l->p, len, MK_SYNTAX);
		p.hint = l->first;
		read_ours(l, &p);
	}
}

const struct mk_input mk_markup_input = {
	.name = "markup",
	.words = (const char *const[]){ "{{{", NULL },
	/* Without their first brace, as the third byte is the last that is scanned for. */
	.context_words = (const char *const[]){ "{{module", "{{mmap", "{{reset", NULL },
	.read = read_line,
	.peek = mk_markup_peek,
	.cuttable = true,
};

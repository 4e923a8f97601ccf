/*
 * Elements → values, with the complaints LLVM's filter makes, in its order.
 *
 * Ours differs in what it accepts: further fields are ignored (LLVM warns), the
 * name of a module may hold colons, a map may be announced again in the same
 * words, and what follows the type of a pc or bt is a message.
 */
#include <stdarg.h>
#include <stdio.h>

#include "libmarkup/state.h"

static bool llvm(const struct markup_filter *f)
{
	return f->options.dialect == MARKUP_LLVM;
}

void mk_report(struct markup_filter *f, const struct markup_node *n, enum severity severity,
	       const char *at, const char *fmt, ...)
{
	char message[128]; /* longer than any of ours */
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	f->renderer->report(f, n, severity, at,
			    (struct markup_str){ message, strlen(message) });
}

static const char *tag_end(const struct markup_node *n)
{
	return n->tag.ptr + n->tag.len;
}

static bool at_least(struct markup_filter *f, const struct markup_node *n, size_t want)
{
	if (n->num_fields >= want)
		return true;
	mk_report(f, n, SEV_ERROR, tag_end(n), "expected at least %zu field(s); found %zu", want,
		  n->num_fields);
	return false;
}

static void at_most(struct markup_filter *f, const struct markup_node *n, size_t want)
{
	if (n->num_fields > want && llvm(f))
		mk_report(f, n, SEV_WARNING, tag_end(n),
			  "expected at most %zu field(s); found %zu", want, n->num_fields);
}

static bool exactly(struct markup_filter *f, const struct markup_node *n, size_t want)
{
	if (n->num_fields == want || (n->num_fields > want && !llvm(f)))
		return true;
	mk_report(f, n, n->num_fields > want ? SEV_WARNING : SEV_ERROR, tag_end(n),
		  "expected %zu field(s); found %zu", want, n->num_fields);
	return n->num_fields > want;
}

/* Always false. */
static bool expected(struct markup_filter *f, const struct markup_node *n,
		     struct markup_str field, const char *what)
{
	/* The text is quoted whole, and may be long. */
	f->scratch.len = 0;
	mk_out_lit(&f->scratch, "expected ");
	mk_out_put(&f->scratch, what, strlen(what));
	mk_out_lit(&f->scratch, "; found '");
	mk_out_str(&f->scratch, field);
	mk_out_char(&f->scratch, '\'');
	f->renderer->report(f, n, SEV_ERROR, field.ptr,
			    (struct markup_str){ f->scratch.buf, f->scratch.len });
	return false;
}

bool mk_element_module(struct markup_filter *f, const struct markup_node *n, uint32_t *module)
{
	struct markup_str name, build_id, id;
	uint64_t number;

	if (!at_least(f, n, 3))
		return false;
	if (!mk_field_number(n->fields[0], &number))
		return expected(f, n, n->fields[0], "module ID");
	if (llvm(f) || !mk_field_split_module(n, &id, &name, &build_id)) {
		if (!mk_str_is(n->fields[2], "elf")) {
			mk_report(f, n, SEV_ERROR, n->fields[2].ptr, "unknown module type");
			return false;
		}
		if (!exactly(f, n, 4))
			return false;
		name = n->fields[1];
		build_id = n->fields[3];
	}
	if (!mk_field_build_id(build_id, NULL))
		return expected(f, n, build_id, "build ID");
	switch (mk_context_add_module(&f->context, number, name, build_id, module)) {
	case MARKUP_CTX_SAME:
		if (!llvm(f))
			return true;
		/* fall through */
	case MARKUP_CTX_DUPLICATE:
		mk_report(f, n, SEV_ERROR, n->fields[0].ptr, "duplicate module ID");
		return false;
	case MARKUP_CTX_FULL:
		mk_report(f, n, SEV_ERROR, n->fields[0].ptr, "too many modules");
		return false;
	default:
		if (f->options.format == MARKUP_HTML) {
			const struct markup_module *m = &f->context.modules[*module];
			mk_missing_entry(&f->seen, m->name, m->build_id, m->build_id_len);
		}
		return true;
	}
}

bool mk_element_mmap(struct markup_filter *f, const struct markup_node *n, uint32_t *map)
{
	struct markup_mmap m = { 0 };
	const struct markup_module *module;
	uint64_t id;

	if (!at_least(f, n, 3))
		return false;
	if (!mk_field_address(n->fields[0], &m.address))
		return expected(f, n, n->fields[0], "address");
	if (!mk_field_number(n->fields[1], &m.size))
		return expected(f, n, n->fields[1], "size");
	if (!mk_str_is(n->fields[2], "load")) {
		mk_report(f, n, SEV_ERROR, n->fields[2].ptr, "unknown mmap type");
		return false;
	}
	if (!exactly(f, n, 6))
		return false;
	if (!mk_field_number(n->fields[3], &id))
		return expected(f, n, n->fields[3], "module ID");
	if (!mk_field_mode(n->fields[4], m.mode))
		return expected(f, n, n->fields[4], "mode");
	module = mk_context_module(&f->context, id);
	if (!module) {
		mk_report(f, n, SEV_ERROR, n->fields[3].ptr, "unknown module ID");
		return false;
	}
	m.module = (uint32_t)(module - f->context.modules);
	if (!mk_field_address(n->fields[5], &m.vaddr))
		return expected(f, n, n->fields[5], "address");
	switch (mk_context_add_map(&f->context, &m, map)) {
	case MARKUP_CTX_OVERLAP: {
		const struct markup_mmap *o = &f->context.maps[*map];
		char first[FMT_MAX + 1], last[FMT_MAX + 1], of[FMT_MAX + 1];
		of[mk_fmt_hex(of, f->context.modules[o->module].id)] = 0;
		first[mk_fmt_hex(first, o->address)] = 0;
		last[mk_fmt_hex(last, o->address + o->size - 1)] = 0;
		mk_report(f, n, SEV_ERROR, n->fields[0].ptr, "overlapping mmap: #%s [%s-%s]", of,
			  first, last);
		return false;
	}
	case MARKUP_CTX_FULL:
		mk_report(f, n, SEV_ERROR, n->fields[0].ptr, "too many mmaps");
		return false;
	default:
		return true;
	}
}

bool mk_element_reset(struct markup_filter *f, const struct markup_node *n)
{
	return exactly(f, n, 0);
}

bool mk_element_symbol(struct markup_filter *f, const struct markup_node *n)
{
	return exactly(f, n, 1);
}

bool mk_element_data(struct markup_filter *f, const struct markup_node *n, uint64_t *address)
{
	if (!exactly(f, n, 1))
		return false;
	if (!mk_field_address(n->fields[0], address))
		return expected(f, n, n->fields[0], "address");
	return true;
}

/* The address in field number `at` and what comes behind it. */
static bool code_address(struct markup_filter *f, const struct markup_node *n, size_t at,
			 bool return_address, struct code_element *ret)
{
	if (!mk_field_address(n->fields[at], &ret->address))
		return expected(f, n, n->fields[at], "address");
	if (!llvm(f)) {
		struct markup_pc_type t = mk_field_pc_type(n, at + 1, return_address);
		return_address = t.return_address;
		ret->message = t.message;
	} else if (n->num_fields == at + 2) {
		/* With more fields than that LLVM ignores the type. */
		struct markup_str type = n->fields[at + 1];
		if (!mk_str_is(type, "ra") && !mk_str_is(type, "pc"))
			return expected(f, n, type, "PC type");
		return_address = type.ptr[0] == 'r';
	}
	ret->lookup = ret->address - return_address;
	return true;
}

bool mk_element_bt(struct markup_filter *f, const struct markup_node *n, struct code_element *ret)
{
	*ret = (struct code_element){ 0 };
	if (!at_least(f, n, 2))
		return false;
	at_most(f, n, 3);
	if (!mk_field_decimal(n->fields[0], &ret->number))
		return expected(f, n, n->fields[0], "frame number");
	return code_address(f, n, 1, true, ret);
}

bool mk_element_pc(struct markup_filter *f, const struct markup_node *n, struct code_element *ret)
{
	*ret = (struct code_element){ 0 };
	if (!at_least(f, n, 1))
		return false;
	at_most(f, n, 2);
	return code_address(f, n, 0, false, ret);
}

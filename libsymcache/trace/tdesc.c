/*
 * tdesc.c: target descriptions, read with expat as GDB does.
 *
 * Of the document only <architecture> and <reg name bitsize regnum> matter; types,
 * groups and features do not change where a register lies. Time and memory are
 * linear in the text: entities, the one way to make XML grow, end the parse.
 */
#include <expat.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/trace/tdesc.h"

/* Both together keep offsets far from overflowing. AArch64's largest register, ZA,
 * has 2^19 bits. */
#define REGISTER_BITS_MAX (1u << 20)
#define REGISTERS_MAX 10000u

#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
#define XML_GetCurrentLineNumber XML_GetCurrentLineNumber64
#endif

struct parse {
	XML_Parser parser;
	struct symtrace_layout *tdesc;
	uint64_t next_number;
	bool in_architecture;
	const char *fault; /* ours; NULL: see what expat says */
};

bool tdesc_add(struct symtrace_layout *tdesc, const char *name, uint64_t number, uint32_t size)
{
	struct symtrace_register *r = reallocarray(tdesc->registers, tdesc->num_registers + 1,
						   sizeof(*r));

	if (!r)
		return false;
	tdesc->registers = r;
	r += tdesc->num_registers++;
	*r = (struct symtrace_register){ .number = number, .size = size };
	if (tdesc->num_registers > 1)
		r->offset = r[-1].offset + r[-1].size;
	snprintf(r->name, sizeof(r->name), "%s", name);
	return true;
}

static void stop(struct parse *p, const char *fault)
{
	p->fault = fault;
	XML_StopParser(p->parser, XML_FALSE);
}

static void on_register(struct parse *p, const char **attrs)
{
	const char *name = "";
	uint64_t bits = 0, number = p->next_number;
	char *end;

	for (; attrs[0]; attrs += 2) {
		end = NULL;
		if (strcmp(attrs[0], "name") == 0)
			name = attrs[1];
		else if (strcmp(attrs[0], "bitsize") == 0)
			bits = strtoull(attrs[1], &end, 0);
		else if (strcmp(attrs[0], "regnum") == 0)
			number = strtoull(attrs[1], &end, 0);
		if (end && (end == attrs[1] || *end)) {
			stop(p, "a register's bitsize or regnum is not a number");
			return;
		}
	}
	if (bits > REGISTER_BITS_MAX)
		stop(p, "a register is too large");
	else if (p->tdesc->num_registers == REGISTERS_MAX)
		stop(p, "too many registers");
	else if (!tdesc_add(p->tdesc, name, number, (uint32_t)bits / 8))
		stop(p, "out of memory");
	p->next_number = number + 1;
}

static void XMLCALL on_start(void *ctx, const char *name, const char **attrs)
{
	struct parse *p = ctx;

	p->in_architecture = strcmp(name, "architecture") == 0;
	if (p->in_architecture)
		p->tdesc->architecture[0] = '\0';
	else if (strcmp(name, "reg") == 0)
		on_register(p, attrs);
	else if (strcmp(name, "xi:include") == 0)
		stop(p, "it includes a document that is not there");
}

static void XMLCALL on_end(void *ctx, const char *name)
{
	struct parse *p = ctx;

	(void)name;
	p->in_architecture = false;
}

static void XMLCALL on_text(void *ctx, const char *text, int len)
{
	struct parse *p = ctx;
	char *arch = p->tdesc->architecture;
	size_t have = strlen(arch);

	for (int i = 0; p->in_architecture && i < len; i++)
		if (have + 1 < sizeof(p->tdesc->architecture) && text[i] > ' ') {
			arch[have++] = text[i];
			arch[have] = '\0';
		}
}

static void XMLCALL on_entity(void *ctx, const XML_Char *name, int is_parameter,
			      const XML_Char *value, int len, const XML_Char *base,
			      const XML_Char *system, const XML_Char *public,
			      const XML_Char *notation)
{
	(void)name, (void)is_parameter, (void)value, (void)len, (void)base;
	(void)system, (void)public, (void)notation;
	stop(ctx, "it declares an entity");
}

static int by_number(const void *a, const void *b)
{
	const struct symtrace_register *x = a, *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

/* From the order of the document to that of the block. */
static void lay_out(struct symtrace_layout *tdesc)
{
	uint32_t offset = 0;

	if (tdesc->num_registers)
		qsort(tdesc->registers, tdesc->num_registers, sizeof(*tdesc->registers),
		      by_number);
	for (size_t i = 0; i < tdesc->num_registers; i++) {
		tdesc->registers[i].offset = offset;
		offset += tdesc->registers[i].size;
	}
}

int tdesc_parse(struct symtrace_layout *ret, const char *xml, size_t len, char *err,
		size_t err_size)
{
	struct parse p = { .tdesc = ret };
	bool fine = false;

	*ret = (struct symtrace_layout){ 0 };
	p.parser = XML_ParserCreate(NULL);
	if (!p.parser || len > INT32_MAX) {
		snprintf(err, err_size, p.parser ? "it is too large" : "out of memory");
	} else {
		XML_SetUserData(p.parser, &p);
		XML_SetElementHandler(p.parser, on_start, on_end);
		XML_SetCharacterDataHandler(p.parser, on_text);
		XML_SetEntityDeclHandler(p.parser, on_entity);
		fine = XML_Parse(p.parser, xml, (int)len, true) == XML_STATUS_OK;
	}
	if (fine)
		lay_out(ret);
	else if (p.parser && len <= INT32_MAX)
		snprintf(err, err_size, "line %lu: %s",
			 (unsigned long)XML_GetCurrentLineNumber(p.parser),
			 p.fault ? p.fault : XML_ErrorString(XML_GetErrorCode(p.parser)));
	if (!fine)
		tdesc_deinit(ret);
	if (p.parser)
		XML_ParserFree(p.parser);
	return fine ? 0 : -1;
}

void tdesc_deinit(struct symtrace_layout *tdesc)
{
	free(tdesc->registers);
	*tdesc = (struct symtrace_layout){ 0 };
}

const struct symtrace_register *tdesc_pc(const struct symtrace_layout *tdesc)
{
	static const char *const names[] = { "rip", "eip", "pc", "pswa" };

	for (size_t n = 0; n < sizeof(names) / sizeof(*names); n++)
		for (size_t i = 0; i < tdesc->num_registers; i++)
			if (strcmp(tdesc->registers[i].name, names[n]) == 0)
				return &tdesc->registers[i];
	return NULL;
}

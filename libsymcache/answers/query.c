/*
 * Parsing of input lines: see query.h. The order of the steps, the messages and
 * what counts as a blank in each of them are llvm-symbolizer's.
 */
#include "libsymcache/answers/query.h"

#include <ctype.h>
#include <string.h>

#include "libmarkup/bytes/fields.h"

static bool consume(const char **p, const char *prefix)
{
	size_t len = strlen(prefix);

	if (**p != *prefix || strncmp(*p, prefix, len))
		return false;
	*p += len;
	return true;
}

static void skip_blanks(const char **p)
{
	while (**p == ' ' || (**p >= '\t' && **p <= '\r'))
		++*p;
}

/* A word, or what stands in quotes; ptr NULL if the quotes are not closed. */
static struct sc_str next_word(const char **p)
{
	const char *start = *p + strspn(*p, " \n\r"), *end;

	if (*start == '"' || *start == '\'') {
		end = strchr(start + 1, *start);
		if (!end)
			return (struct sc_str){ NULL, 0 };
		*p = end + 1;
		return (struct sc_str){ start + 1, (size_t)(end - start - 1) };
	}
	*p = start + strcspn(start, " \n\r");
	return sc_span(start, *p);
}

/* Hex digits without 0x, of which one is a letter: 16, or behind a digit. */
static bool bare_hex(struct sc_str text, uint64_t *ret)
{
	bool letter = false;

	for (size_t i = 0; i < text.len; i++)
		letter |= isalpha((unsigned char)text.ptr[i]) != 0;
	return letter && (text.len == 16 || (text.len < 16 && isdigit((unsigned char)*text.ptr))) &&
	       mk_field_hex(text, ret);
}

/* "0x9d", or "0x9d/0x2d0" with the size of the function. */
static bool symbol_offset(struct sc_str text, struct mk_query *ret)
{
	const char *slash = memchr(text.ptr, '/', text.len);
	struct sc_str offset = text, size = { "0", 1 };

	if (slash) {
		offset.len = (size_t)(slash - text.ptr);
		size = (struct sc_str){ slash + 1, text.len - offset.len - 1 };
	}
	return mk_field_number(size, &ret->size) && mk_field_number(offset, &ret->offset);
}

/* The part of the line that names the module. */
static const char *parse_module(const char **p, bool has_module, struct mk_query *ret)
{
	enum symcache_module_kind kind = SYMCACHE_MODULE_FILE;
	bool prefixed = false;

	for (;; prefixed = true) {
		const bool file = (skip_blanks(p), consume(p, "FILE:"));

		if (!file && !consume(p, "BUILDID:"))
			break;
		if (prefixed)
			return "duplicate input file specification prefix";
		kind = file ? SYMCACHE_MODULE_FILE : SYMCACHE_MODULE_BUILD_ID;
	}
	if (has_module && !prefixed)
		return NULL;
	if (prefixed && !**p)
		return kind == SYMCACHE_MODULE_FILE ? "must be followed by an input file" :
						      "must be followed by a hash";
	if (has_module)
		return "input file has already been specified";
	ret->module = next_word(p);
	if (!ret->module.len)
		return prefixed ? "unbalanced quotes in input file name" :
				  "no input filename has been specified";
	if (kind == SYMCACHE_MODULE_BUILD_ID && !mk_field_build_id(ret->module, NULL)) {
		ret->module.len = 0;
		return "wrong format of build-id";
	}
	ret->module_kind = kind;
	return NULL;
}

/* A hex number, with or without 0x, and nothing behind it. */
static bool hex_number(struct sc_str text, uint64_t *ret)
{
	const size_t prefix = text.len > 1 && *text.ptr == '0' && (text.ptr[1] | 0x20) == 'x' ? 2 : 0;

	return mk_field_hex((struct sc_str){ text.ptr + prefix, text.len - prefix }, ret);
}

/* What most lines have: 0x and some hex digits, and no more. */
static bool plain_hex(const char *p, uint64_t *ret)
{
	uint64_t number = 0;
	unsigned n, value;

	if (p[0] != '0' || p[1] != 'x')
		return false;
	for (n = 2; (value = mk_digit(p[n])) < 16; n++)
		number = number << 4 | value;
	if (n == 2 || n > 2 + 16 || p[n])
		return false;
	*ret = number;
	return true;
}

const char mk_no_address[] = "no module offset has been specified (wanted: [MODULE] ADDRESS)";

/* An address, or a symbol with or without "+OFFSET". */
static const char *parse_address(const char *p, enum mk_query_numbers numbers, struct mk_query *ret)
{
	struct sc_str spec, offset;
	const char *plus;

	skip_blanks(&p);
	if (plain_hex(p, &ret->offset))
		return NULL;
	if (!*p)
		return mk_no_address;
	spec = (struct sc_str){ p, strcspn(p, " \n\r") };
	while (spec.len && strchr("\t\v\f", spec.ptr[spec.len - 1]))
		spec.len--;
	if (numbers == NUMBERS_HEX ? hex_number(spec, &ret->offset) :
				     mk_field_number(spec, &ret->offset))
		return NULL;
	if (numbers == NUMBERS_KERNEL && bare_hex(spec, &ret->offset))
		return NULL;
	if (isdigit((unsigned char)*p))
		return "expected a number as module offset (hexadecimal: 0x...)";
	ret->symbol = spec;
	plus = memrchr(spec.ptr, '+', spec.len);
	if (!plus)
		return NULL;
	offset = (struct sc_str){ plus + 1, (size_t)(spec.ptr + spec.len - plus - 1) };
	if (plus > spec.ptr && (numbers == NUMBERS_KERNEL ? symbol_offset(offset, ret) :
							    mk_field_number(offset, &ret->offset)))
		ret->symbol.len = (size_t)(plus - spec.ptr);
	return NULL;
}

const char *mk_query_parse(const char *line, bool has_module, enum mk_query_numbers numbers,
			struct mk_query *ret)
{
	const char *wrong;

	*ret = (struct mk_query){ .kind = QUERY_CODE };
	if (consume(&line, "DATA "))
		ret->kind = QUERY_DATA;
	else if (consume(&line, "FRAME "))
		ret->kind = QUERY_FRAME;
	else
		consume(&line, "CODE ");
	wrong = parse_module(&line, has_module, ret);
	return wrong ? wrong : parse_address(line, numbers, ret);
}

bool mk_query_parse_kernel(const char *line, struct mk_query *ret)
{
	const char *open = strstr(line, " ["), *close = open ? strchr(open, ']') : NULL;

	*ret = (struct mk_query){ .kind = QUERY_CODE };
	if (!close || close == open + 2 || close[1 + strspn(close + 1, " \r\n")] ||
	    parse_address(line, NUMBERS_KERNEL, ret) || !ret->symbol.len ||
	    ret->symbol.ptr[ret->symbol.len] != '+')
		return false;
	ret->module = sc_span(open + 2, close);
	return true;
}

/* The hex digits at the beginning; too large a number is the largest. */
static uint64_t leading_hex(const char *p)
{
	uint64_t number = 0;

	if (*p == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (unsigned digit; (digit = mk_digit(*p)) < 16; p++) {
		if (number >> 60)
			return UINT64_MAX;
		number = number << 4 | digit;
	}
	return number;
}

void mk_query_parse_hex(const char *line, struct mk_query *ret, uint64_t *number)
{
	const char *plus;

	*ret = (struct mk_query){ .kind = QUERY_CODE };
	skip_blanks(&line);
	*number = ret->offset = leading_hex(line);
	plus = strchr(line, '+');
	if (!*line || (isxdigit((unsigned char)*line) && !plus))
		return;
	ret->symbol = (struct sc_str){ line, plus ? (size_t)(plus - line) :
							  strcspn(line, " \t\r\n") };
	ret->offset = plus ? leading_hex(plus + 1) : 0;
}

/*
 * Parsing of input lines: see query.h. The order of the steps, the messages and
 * what counts as a blank in each of them are llvm-symbolizer's.
 */
#include "cmd/lookup/query.h"

#include <ctype.h>
#include <string.h>

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
static struct symcache_str next_word(const char **p)
{
	const char *start = *p + strspn(*p, " \n\r"), *end;

	if (*start == '"' || *start == '\'') {
		end = strchr(start + 1, *start);
		if (!end)
			return (struct symcache_str){ NULL, 0 };
		*p = end + 1;
		return (struct symcache_str){ start + 1, (size_t)(end - start - 1) };
	}
	*p = start + strcspn(start, " \n\r");
	return (struct symcache_str){ start, (size_t)(*p - start) };
}

bool query_number(struct symcache_str text, uint64_t *ret)
{
	const char *p = text.ptr, *end = text.ptr + text.len;
	unsigned radix = 10;
	uint64_t number = 0;

	if (text.len > 1 && *p == '0') {
		if ((p[1] | 0x20) == 'x')
			radix = 16;
		else if ((p[1] | 0x20) == 'b')
			radix = 2;
		else if (p[1] == 'o' || isdigit((unsigned char)p[1]))
			radix = 8;
		p += radix == 10 ? 0 : isdigit((unsigned char)p[1]) ? 1 : 2;
	}
	if (p == end)
		return false;
	for (; p < end; p++) {
		unsigned digit = isdigit((unsigned char)*p) ? (unsigned)(*p - '0') :
				 isalpha((unsigned char)*p) ? (unsigned)((*p | 0x20) - 'a' + 10) :
							      99;

		if (digit >= radix || __builtin_mul_overflow(number, radix, &number) ||
		    __builtin_add_overflow(number, digit, &number))
			return false;
	}
	*ret = number;
	return true;
}

/* Hex digits without 0x, of which one is a letter: 16, or behind a digit. */
static bool bare_hex(struct symcache_str text, uint64_t *ret)
{
	char prefixed[2 + 16];
	bool letter = false;

	for (size_t i = 0; i < text.len; i++)
		letter |= isalpha((unsigned char)text.ptr[i]) != 0;
	if (!letter || text.len > 16 || (text.len < 16 && !isdigit((unsigned char)*text.ptr)))
		return false;
	memcpy(prefixed, "0x", 2);
	memcpy(prefixed + 2, text.ptr, text.len);
	return query_number((struct symcache_str){ prefixed, 2 + text.len }, ret);
}

/* "0x9d", or "0x9d/0x2d0" with the size of the function. */
static bool symbol_offset(struct symcache_str text, uint64_t *ret)
{
	const char *slash = memchr(text.ptr, '/', text.len);
	struct symcache_str offset = text, size = { "0", 1 };
	uint64_t ignored;

	if (slash) {
		offset.len = (size_t)(slash - text.ptr);
		size = (struct symcache_str){ slash + 1, text.len - offset.len - 1 };
	}
	return query_number(size, &ignored) && query_number(offset, ret);
}

/* The part of the line that names the module. */
static const char *parse_module(const char **p, bool has_module, struct query *ret)
{
	enum module_kind kind = MODULE_NONE;

	for (;;) {
		enum module_kind prefix;

		skip_blanks(p);
		if (consume(p, "FILE:"))
			prefix = MODULE_FILE;
		else if (consume(p, "BUILDID:"))
			prefix = MODULE_BUILD_ID;
		else
			break;
		if (kind != MODULE_NONE)
			return "duplicate input file specification prefix";
		kind = prefix;
	}
	if (kind == MODULE_NONE && has_module)
		return NULL;
	if (kind != MODULE_NONE && !**p)
		return kind == MODULE_FILE ? "must be followed by an input file" :
					     "must be followed by a hash";
	if (kind != MODULE_NONE && has_module)
		return "input file has already been specified";
	ret->module = next_word(p);
	if (!ret->module.len)
		return kind == MODULE_NONE ? "no input filename has been specified" :
					     "unbalanced quotes in input file name";
	if (kind == MODULE_BUILD_ID) {
		for (size_t i = 0; i < ret->module.len; i++) {
			if (isxdigit((unsigned char)ret->module.ptr[i]))
				continue;
			ret->module.len = 0;
			return "wrong format of build-id";
		}
	}
	ret->module_kind = kind == MODULE_NONE ? MODULE_FILE : kind;
	return NULL;
}

/* A hex number, with or without 0x, and nothing behind it. */
static bool hex_number(struct symcache_str text, uint64_t *ret)
{
	const size_t prefix = text.len > 1 && *text.ptr == '0' && (text.ptr[1] | 0x20) == 'x' ? 2 :
												0;
	uint64_t number = 0;

	for (size_t i = prefix; i < text.len; i++) {
		const char c = text.ptr[i];

		if (!isxdigit((unsigned char)c) || number >> 60)
			return false;
		number = number << 4 | (uint64_t)(isdigit((unsigned char)c) ? c - '0' :
						  (c | 0x20) - 'a' + 10);
	}
	*ret = number;
	return text.len > prefix;
}

/* What most lines have: 0x and some hex digits, and no more. */
static bool plain_hex(const char *p, uint64_t *ret)
{
	static const uint8_t values[256] = { /* and one, so that others have 0 */
		['0'] = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10,
		['A'] = 11, 12, 13, 14, 15, 16, ['a'] = 11, 12, 13, 14, 15, 16,
	};
	uint64_t number = 0;
	unsigned n, value;

	if (p[0] != '0' || p[1] != 'x')
		return false;
	for (n = 2; (value = values[(unsigned char)p[n]]); n++)
		number = number << 4 | (value - 1);
	if (n == 2 || n > 2 + 16 || p[n])
		return false;
	*ret = number;
	return true;
}

/* An address, or a symbol with or without "+OFFSET". */
static const char *parse_address(const char *p, enum query_numbers numbers, struct query *ret)
{
	struct symcache_str spec, offset;
	const char *plus;

	skip_blanks(&p);
	if (plain_hex(p, &ret->offset))
		return NULL;
	if (!*p)
		return "no module offset has been specified (wanted: [MODULE] ADDRESS)";
	spec = (struct symcache_str){ p, strcspn(p, " \n\r") };
	while (spec.len && strchr("\t\v\f", spec.ptr[spec.len - 1]))
		spec.len--;
	if (numbers == NUMBERS_HEX ? hex_number(spec, &ret->offset) :
				     query_number(spec, &ret->offset))
		return NULL;
	if (numbers == NUMBERS_KERNEL && bare_hex(spec, &ret->offset))
		return NULL;
	if (isdigit((unsigned char)*p))
		return "expected a number as module offset (hexadecimal: 0x...)";
	ret->symbol = spec;
	plus = memrchr(spec.ptr, '+', spec.len);
	if (!plus)
		return NULL;
	offset = (struct symcache_str){ plus + 1, (size_t)(spec.ptr + spec.len - plus - 1) };
	if (plus > spec.ptr && (numbers == NUMBERS_KERNEL ? symbol_offset(offset, &ret->offset) :
							    query_number(offset, &ret->offset)))
		ret->symbol.len = (size_t)(plus - spec.ptr);
	return NULL;
}

const char *query_parse(const char *line, bool has_module, enum query_numbers numbers,
			struct query *ret)
{
	const char *wrong;

	*ret = (struct query){ .kind = QUERY_CODE };
	if (consume(&line, "DATA "))
		ret->kind = QUERY_DATA;
	else if (consume(&line, "FRAME "))
		ret->kind = QUERY_FRAME;
	else
		consume(&line, "CODE ");
	wrong = parse_module(&line, has_module, ret);
	return wrong ? wrong : parse_address(line, numbers, ret);
}

/* The hex digits at the beginning; too large a number is the largest. */
static uint64_t leading_hex(const char *p)
{
	uint64_t number = 0;

	if (*p == '0' && (p[1] | 0x20) == 'x')
		p += 2;
	for (; isxdigit((unsigned char)*p); p++) {
		if (number >> 60)
			return UINT64_MAX;
		number = number << 4 | (uint64_t)(isdigit((unsigned char)*p) ? *p - '0' :
						  (*p | 0x20) - 'a' + 10);
	}
	return number;
}

void query_parse_hex(const char *line, struct query *ret, uint64_t *number)
{
	const char *plus;

	*ret = (struct query){ .kind = QUERY_CODE };
	skip_blanks(&line);
	*number = ret->offset = leading_hex(line);
	plus = strchr(line, '+');
	if (!*line || (isxdigit((unsigned char)*line) && !plus))
		return;
	ret->symbol = (struct symcache_str){ line, plus ? (size_t)(plus - line) :
							  strcspn(line, " \t\r\n") };
	ret->offset = plus ? leading_hex(plus + 1) : 0;
}

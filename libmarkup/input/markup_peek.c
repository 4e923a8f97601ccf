/*
 * What the first bytes of markup say, before its line is read: see struct mk_input.
 */
#include "libmarkup/bytes/fields.h"
#include "libmarkup/bytes/number.h"
#include "libmarkup/bytes/scan.h"
#include "libmarkup/input/parse.h"

/*
 * Reads a bt element as programs write it: "{{{bt:1:0x7f00}}}", with ":ra" or ":pc"
 * behind the address or without. It is what read_line() would read; here it costs no
 * search for its fields. False: it is of another form, or too near to the end.
 */
static bool peek_usual(const char *p, const char *end, struct mk_peek *ret)
{
	enum { NUMBER_MAX = 8, LONGEST = 6 + NUMBER_MAX + 3 + 16 + 6 };
	const char *start = p;
	uint32_t number = 0;
	uint64_t address;
	unsigned digits;

	if (end - p < LONGEST || memcmp(p + 3, "bt:", 3))
		return false;
	p += 6;
	for (digits = 0; digits < NUMBER_MAX && *p >= '0' && *p <= '9'; digits++)
		number = number * 10 + (uint32_t)(*p++ - '0');
	if (!digits || memcmp(p, ":0x", 3))
		return false;
	p += 3;
	digits = mk_read_hex(p, &address);
	p += digits;
	ret->return_address = true;
	if (*p == ':') {
		if (memcmp(p, ":ra", 3) && memcmp(p, ":pc", 3))
			return false;
		ret->return_address = p[1] == 'r';
		p += 3;
	}
	if (!digits || memcmp(p, "}}}", 3))
		return false;
	ret->address = address - ret->return_address;
	ret->number = number;
	ret->len = (uint32_t)(p + 3 - start);
	return true;
}

bool mk_markup_peek(const char *p, const char *end, struct mk_peek *ret)
{
	const char *start;
	bool return_address;

	if (peek_usual(p, end, ret))
		return true;
	ret->len = 0;
	if (end - p < 12 || p[5] != ':')
		return false;
	return_address = p[3] == 'b' && p[4] == 't';
	if (!return_address && (p[3] != 'p' || p[4] != 'c'))
		return false;
	p += 6;
	if (return_address) {
		while (p < end && *p >= '0' && *p <= '9')
			p++;
		p++;
	}
	start = p;
	while (p < end && *p != ':' && *p != '}')
		p++;
	if (p >= end || !mk_field_address(sc_span(start, p),
					  &ret->address))
		return false;
	if (*p == ':' && end - p > 2)
		return_address = p[2] == 'a' ? true : p[2] == 'c' ? false : return_address;
	ret->address -= return_address;
	return true;
}

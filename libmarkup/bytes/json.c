/* Strings as JSON: see json.h. Runs of plain ASCII are copied at once. */
#include "libmarkup/bytes/json.h"

size_t mk_utf8_len(const char *p, const char *end)
{
	const unsigned char *s = (const unsigned char *)p;
	size_t left = (size_t)(end - p), len;
	uint32_t c, min;

	if (!left)
		return 0;
	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	min = len == 2 ? 0x80 : len == 3 ? 0x800 : 0x10000;
	if (left < len)
		return 0;
	c = s[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3fu);
	}
	return c >= min && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff) ? len : 0;
}

static void escape(struct mk_out *o, unsigned char c)
{
	static const char letters[] = "b\bt\tn\nf\fr\r\"\"\\\\";

	for (const char *l = letters; *l; l += 2) {
		if ((unsigned char)l[1] == c) {
			mk_out_char(o, '\\');
			mk_out_char(o, l[0]);
			return;
		}
	}
	mk_out_lit(o, "\\u00");
	mk_out_bytes(o, &c, 1);
}

/* Are the next eight bytes printable ASCII but " and \\? */
static inline bool eight_plain(const char *p)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t x, quote, slash;

	memcpy(&x, p, 8);
	quote = x ^ ones * '"';
	slash = x ^ ones * '\\';
	return !(((x - ones * ' ') | (quote - ones) | (slash - ones) | x | (x + ones)) &
		 ones << 7);
}

void mk_json_escaped(struct mk_out *o, struct markup_str s)
{
	const char *p = s.ptr, *end = p + s.len, *run = p;

	while (p < end) {
		if (end - p >= 8 && eight_plain(p)) {
			p += 8;
			continue;
		}
		unsigned char c = (unsigned char)*p;
		if (c >= ' ' && c != '"' && c != '\\' && c < 0x7f) {
			p++;
			continue;
		}
		size_t len = c < 0x80 ? 0 : mk_utf8_len(p, end);
		if (len) {
			p += len;
			continue;
		}
		mk_out_put(o, run, (size_t)(p - run));
		if (c < 0x80)
			escape(o, c);
		else
			mk_out_lit(o, "\xef\xbf\xbd");
		run = ++p;
	}
	mk_out_put(o, run, (size_t)(p - run));
}

void mk_json_string(struct mk_out *o, struct markup_str s)
{
	mk_out_char(o, '"');
	mk_json_escaped(o, s);
	mk_out_char(o, '"');
}

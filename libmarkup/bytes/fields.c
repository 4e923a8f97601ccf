/* The values inside elements: see fields.h. */
#include "libmarkup/bytes/fields.h"

/* All of [p, p + len) in one base; not empty, at most 64 bits. */
static bool digits(const char *p, size_t len, unsigned base, uint64_t *ret)
{
	uint64_t v = 0;

	if (!len)
		return false;
	for (size_t i = 0; i < len; i++) {
		unsigned d = mk_digit(p[i]);
		if (d >= base || v > UINT64_MAX / base || v * base > UINT64_MAX - d)
			return false;
		v = v * base + d;
	}
	*ret = v;
	return true;
}

bool mk_field_address(struct sc_str s, uint64_t *ret)
{
	if (s.len > 2 && s.ptr[0] == '0' && s.ptr[1] == 'x') {
		uint64_t v = 0;
		unsigned bad = 0;
		size_t i = 2;
		while (s.len - i > 16) /* only zeros may be in front */
			bad |= s.ptr[i++] == '0' ? 0 : 16;
		for (; i < s.len; i++) {
			unsigned d = mk_digit(s.ptr[i]);
			bad |= d;
			v = v << 4 | d;
		}
		if (bad > 15)
			return false;
		*ret = v;
		return true;
	}
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] != '0')
			return false;
	if (s.len)
		*ret = 0;
	return s.len;
}

bool mk_field_number(struct sc_str s, uint64_t *ret)
{
	if (s.len >= 2 && s.ptr[0] == '0') {
		char c = s.ptr[1];
		if (c == 'x' || c == 'X')
			return digits(s.ptr + 2, s.len - 2, 16, ret);
		if (c == 'b' || c == 'B')
			return digits(s.ptr + 2, s.len - 2, 2, ret);
		if (c == 'o')
			return digits(s.ptr + 2, s.len - 2, 8, ret);
		if (c >= '0' && c <= '9')
			return digits(s.ptr + 1, s.len - 1, 8, ret);
	}
	return digits(s.ptr, s.len, 10, ret);
}

bool mk_field_hex(struct sc_str s, uint64_t *ret)
{
	return digits(s.ptr, s.len, 16, ret);
}

bool mk_field_decimal(struct sc_str s, uint64_t *ret)
{
	return digits(s.ptr, s.len, 10, ret);
}

bool mk_field_mode(struct sc_str s, char ret[4])
{
	size_t at = 0;
	char mode[4] = { 0 };

	for (const char *want = "rwx"; *want; want++)
		if (at < s.len && (s.ptr[at] | 0x20) == *want)
			mode[at++] = *want;
	if (!at || at != s.len)
		return false;
	memcpy(ret, mode, 4);
	return true;
}

bool mk_field_build_id(struct sc_str s, uint8_t *ret)
{
	unsigned high = 0;

	for (size_t i = 0; i < s.len; i++) {
		unsigned d = mk_digit(s.ptr[i]);
		if (d > 15)
			return false;
		if ((s.len - i) % 2) {
			if (ret)
				*ret++ = (uint8_t)(high << 4 | d);
			d = 0;
		}
		high = d;
	}
	return s.len;
}

bool mk_field_build_id_is(struct sc_str s, const uint8_t *id, size_t len)
{
	if (len != (s.len + 1) / 2 || (s.len % 2 && id[0] >> 4))
		return false;
	for (size_t i = 0; i < s.len; i++) {
		size_t digit = i + s.len % 2; /* of the digits of id */
		unsigned d = digit % 2 ? id[digit / 2] & 15u : id[digit / 2] >> 4;
		if (mk_digit(s.ptr[i]) != d)
			return false;
	}
	return true;
}

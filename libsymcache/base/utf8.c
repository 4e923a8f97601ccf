/* Bytes that may be UTF-8: see utf8.h. */
#include "libsymcache/base/utf8.h"

#include <stdint.h>
#include <string.h>

int sc_utf8_len(const char *text, size_t len)
{
	const unsigned char *s = (const unsigned char *)text;
	unsigned char low = 0x80, high = 0xbf;
	int want = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	if (!want)
		return -1;
	if (*s == 0xe0)
		low = 0xa0; /* overlong */
	if (*s == 0xed)
		high = 0x9f; /* surrogates */
	if (*s == 0xf0)
		low = 0x90;
	if (*s == 0xf4)
		high = 0x8f; /* beyond U+10FFFF */
	for (int i = 1; i < want; i++) {
		if ((size_t)i >= len || s[i] < low || s[i] > high)
			return -i;
		low = 0x80;
		high = 0xbf;
	}
	return want;
}

size_t sc_utf8_valid(const char *s, size_t len)
{
	size_t done = 0;
	uint64_t eight;
	int n = 1;

	while (done < len && n > 0) {
		if (len - done >= sizeof(eight)) { /* ASCII, eight at a time */
			memcpy(&eight, s + done, sizeof(eight));
			if (!(eight & 0x8080808080808080)) {
				done += sizeof(eight);
				continue;
			}
		}
		n = sc_utf8_len(s + done, len - done);
		done += (size_t)(n > 0 ? n : 0);
	}
	return done;
}

int sc_printable_len(const char *s, size_t len)
{
	const int n = sc_utf8_len(s, len);

	if (sc_is_control(*s))
		return -1;
	return n == 2 && *s == '\xc2' && (unsigned char)s[1] < 0xa0 ? -2 : n; /* C1 */
}

/* Are these 32 bytes printable ASCII? A loop that compilers turn into vectors. */
static inline bool ascii32(const char *s)
{
	unsigned char other = 0;

	for (int i = 0; i < 32; i++)
		other |= (unsigned char)((unsigned char)(s[i] - 0x20) > 0x7e - 0x20);
	return !other;
}

bool sc_printable(const char *s, size_t len)
{
	size_t i = 0;
	int n = 1;

	while (len - i >= 32 && ascii32(s + i))
		i += 32;
	while (i < len && (unsigned char)s[i] >= 0x20 && (unsigned char)s[i] < 0x7f)
		i++;
	while (i < len && (n = sc_printable_len(s + i, len - i)) > 0)
		i += (size_t)n;
	return n > 0;
}

/* Writes each byte that `len_of` objects to as `mark` and two digits. */
static size_t escape(const char *s, size_t len, int (*len_of)(const char *, size_t),
		     const char *mark, const char *digits, char *ret)
{
	char *to = ret;

	for (size_t i = 0; i < len;) {
		int n = len_of(s + i, len - i);

		if (n > 0)
			to = mempcpy(to, s + i, (size_t)n);
		for (int k = 0; k < -n; k++) {
			const unsigned char c = (unsigned char)s[i + (size_t)k];

			to = stpcpy(to, mark);
			*to++ = digits[c >> 4];
			*to++ = digits[c & 15];
		}
		i += (size_t)(n > 0 ? n : -n);
	}
	return (size_t)(to - ret);
}

size_t sc_make_printable(const char *s, size_t len, char *ret)
{
	return escape(s, len, sc_printable_len, "\\x", "0123456789abcdef", ret);
}

static const char uri_digits[] = "0123456789ABCDEF";

size_t sc_utf8_escape(const char *s, size_t len, char *ret)
{
	return escape(s, len, sc_utf8_len, "%", uri_digits, ret);
}

/* The byte of "E9", 0x80 at least; -1: it is not one. */
static int escaped(const char *s)
{
	const char *high = strchr(uri_digits + 8, s[0]), *low = strchr(uri_digits, s[1]);

	return *s && s[1] && high && low ? (int)((high - uri_digits) * 16 + (low - uri_digits)) :
					   -1;
}

size_t sc_utf8_unescape(const char *s, size_t len, char *ret)
{
	char *to = ret;

	for (size_t i = 0; i < len; i++) {
		const int byte = s[i] == '%' && len - i > 2 ? escaped(s + i + 1) : -1;

		*to++ = byte < 0 ? s[i] : (char)byte;
		i += byte < 0 ? 0 : 2;
	}
	if (sc_utf8_valid(ret, (size_t)(to - ret)) < (size_t)(to - ret))
		return (size_t)(to - ret);
	if (len)
		memcpy(ret, s, len);
	return len;
}

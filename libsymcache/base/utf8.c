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

size_t sc_utf8_mend(const char *s, size_t len, char *ret)
{
	char *to = ret;

	for (size_t i = 0; i < len;) {
		int n = sc_utf8_len(s + i, len - i);

		to = n > 0 ? mempcpy(to, s + i, (size_t)n) : mempcpy(to, "\xef\xbf\xbd", 3);
		i += (size_t)(n > 0 ? n : -n);
	}
	return (size_t)(to - ret);
}

/* Text to JSON strings: see json.h. Well-formed is what RFC 3629 says: no overlong
 * forms, no surrogates, nothing above U+10FFFF. */
#include "cmd/json.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cmd/cmd.h"

/* Bytes of the character that begins p[0, len); 0: it is not one. */
static size_t character(const uint8_t *p, size_t len)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80 ? 1 : p[0] >> 5 == 6 ? 2 : p[0] >> 4 == 14 ? 3 :
		   p[0] >> 3 == 30 ? 4 : 0;
	uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if (p[i] >> 6 != 2)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || c >> 11 == 0x1b ? 0 : n;
}

struct json_object *json_text(const char *text, size_t len)
{
	const uint8_t *p = (const uint8_t *)text;
	struct json_object *o;
	char *fixed, *to;
	size_t good = 0, n;

	while (good < len && (n = character(p + good, len - good)))
		good += n;
	if (good == len)
		return json_object_new_string_len(text ? text : "", (int)len);
	to = fixed = must_calloc(len, 3);
	for (size_t i = 0; i < len; i += n ? n : 1) {
		n = character(p + i, len - i);
		memcpy(to, n ? (const char *)p + i : "\xef\xbf\xbd", n ? n : 3);
		to += n ? n : 3;
	}
	o = json_object_new_string_len(fixed, (int)(to - fixed));
	free(fixed);
	return o;
}

/* Build IDs as text: see build_id.h. */
#include "libsymcache/base/build_id.h"

#include <stdio.h>
#include <string.h>

#include "libsymcache/base/text.h"

const char *symcache_build_id_text(char *text, const uint8_t *id, size_t len)
{
	static const char digits[] = "0123456789abcdef";
	char *end = text;

	for (size_t i = 0; i < len; i++) {
		*end++ = digits[id[i] >> 4];
		*end++ = digits[id[i] & 15];
	}
	*end = 0;
	return text;
}

int symcache_build_id_parse(const char *text, uint8_t id[SYMCACHE_BUILD_ID_MAX],
			    size_t *nibbles, struct sc_error *err)
{
	size_t n;

	memset(id, 0, SYMCACHE_BUILD_ID_MAX);
	for (n = 0; text[n]; n++) {
		int digit = sc_hex_digit(text[n]);

		if (digit < 0)
			return sc_error_set(err, SC_EINVAL,
					    "build ID '%.140s': '%c' is not a hex digit", text,
					    text[n]);
		if (n == 2 * SYMCACHE_BUILD_ID_MAX)
			return sc_error_set(err, SC_EINVAL,
					    "build ID '%.140s' is longer than %u bytes", text,
					    SYMCACHE_BUILD_ID_MAX);
		id[n / 2] |= (uint8_t)(n % 2 ? digit : digit << 4);
	}
	if (!n)
		return sc_error_set(err, SC_EINVAL, "the build ID is empty");
	*nibbles = n;
	return 0;
}

bool symcache_build_id_read(const char *text, uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *len)
{
	size_t nibbles;

	if (symcache_build_id_parse(text, id, &nibbles, NULL) || nibbles % 2)
		return false;
	*len = nibbles / 2;
	return true;
}

const char *const symcache_debug_dirs[] = { "/usr/lib/debug", NULL };

bool symcache_build_id_path(char *buf, size_t size, const char *dir, const uint8_t *id, size_t len)
{
	char hex[SYMCACHE_BUILD_ID_TEXT];

	if (len < 2 || len > SYMCACHE_BUILD_ID_MAX)
		return false;
	symcache_build_id_text(hex, id, len);
	return snprintf(buf, size, "%s/.build-id/%.2s/%s.debug", dir, hex, hex + 2) < (int)size;
}

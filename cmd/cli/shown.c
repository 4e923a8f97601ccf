/* Names and paths for text output: see shown.h. */
#include "cmd/cli/shown.h"

#include <string.h>

#include "cmd/cli/memory.h"
#include "libsymcache/base/build_id.h"
#include "libsymcache/base/utf8.h"

const char *shown(const char *text)
{
	static char *copies[8];
	static unsigned next;
	const size_t len = strlen(text);
	char **copy;

	if (sc_printable(text, len))
		return text;
	copy = &copies[next++ % (sizeof(copies) / sizeof(*copies))];
	*copy = must_realloc(*copy, 4 * len + 1);
	(*copy)[sc_make_printable(text, len, *copy)] = 0;
	return *copy;
}

const char *shown_id(const uint8_t *build_id, size_t len)
{
	static char copies[8][2 * SYMCACHE_BUILD_ID_MAX + 1];
	static unsigned next;
	char *copy = copies[next++ % (sizeof(copies) / sizeof(*copies))];

	return symcache_build_id_text(copy, build_id,
				      len < SYMCACHE_BUILD_ID_MAX ? len : SYMCACHE_BUILD_ID_MAX);
}

/* Names and paths for text output: see shown.h. */
#include "cmd/cli/shown.h"

#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "libsymcache/base/utf8.h"
#include "symcache/build_id.h"

/* `text` as `make` writes it, with `growth` bytes for each of its own at most. */
static const char *made(const char *text, size_t growth,
			size_t (*make)(const char *s, size_t len, char *ret))
{
	static char *copies[8];
	static unsigned next;
	const size_t len = strlen(text);
	char **copy = &copies[next++ % (sizeof(copies) / sizeof(*copies))];

	*copy = must_realloc(*copy, growth * len + 1);
	(*copy)[make(text, len, *copy)] = 0;
	return *copy;
}

const char *shown(const char *text)
{
	return sc_printable(text, strlen(text)) ? text : made(text, 4, sc_make_printable);
}

const char *shown_id(const uint8_t *build_id, size_t len)
{
	static char copies[8][2 * SYMCACHE_BUILD_ID_MAX + 1];
	static unsigned next;
	char *copy = copies[next++ % (sizeof(copies) / sizeof(*copies))];

	symcache_build_id_text(copy, build_id,
			       len < SYMCACHE_BUILD_ID_MAX ? len : SYMCACHE_BUILD_ID_MAX);
	return copy;
}

void shown_put(FILE *to, const char *text, size_t len)
{
	char *copy = sc_printable(text, len) ? NULL : must_calloc(4, len);

	fwrite(copy ? copy : text, 1, copy ? sc_make_printable(text, len, copy) : len, to);
	free(copy);
}

const char *shown_of_cache(const char *text, bool raw)
{
	if (!raw)
		return shown(text);
	return strchr(text, '%') ? made(text, 1, sc_utf8_unescape) : text;
}

/* Names and paths for text output: see shown.h. */
#include "cmd/cli/shown.h"

#include <string.h>

#include "cmd/cli/memory.h"
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

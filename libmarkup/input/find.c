/* What may change modules and maps, in any format: see input.h. */
#include <string.h>

#include "libmarkup/input/input.h"

const char *mk_context_line(const char *p, const char *end, const char **line_end)
{
	const char *first = NULL, *eol, *bol;

	for (const struct mk_input *const *in = mk_inputs; *in; in++) {
		const char *at = (*in)->find_context
					 ? (*in)->find_context(p, first ? first : end) : NULL;
		first = at ? at : first;
	}
	if (!first)
		return NULL;
	bol = memrchr(p, '\n', (size_t)(first - p));
	eol = memchr(first, '\n', (size_t)(end - first));
	*line_end = eol ? eol + 1 : end;
	return bol ? bol + 1 : p;
}

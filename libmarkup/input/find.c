/* Which formats are read, and what in them may change modules and maps: see input.h. */
#include <stdlib.h>
#include <string.h>

#include "libmarkup/input/input.h"

/* The format whose name is the next of a list, which moves behind it; NULL: there is none. */
static const struct mk_input *next_listed(const char **names)
{
	const size_t len = strcspn(*names, ",");
	const struct mk_input *const *in = mk_inputs;

	while (*in && (strncmp((*in)->name, *names, len) || (*in)->name[len]))
		in++;
	*names += len + ((*names)[len] == ',');
	return *in;
}

bool markup_inputs_valid(const char *names)
{
	do {
		if (!next_listed(&names))
			return false;
	} while (*names);
	return true;
}

static bool is_listed(const char *names, const struct mk_input *in)
{
	while (*names)
		if (next_listed(&names) == in)
			return true;
	return false;
}

const struct mk_input **mk_choose_inputs(const char *names)
{
	const struct mk_input **chosen;
	size_t all = 0, n = 0;

	while (mk_inputs[all])
		all++;
	chosen = calloc(all + 1, sizeof(*chosen));
	for (size_t i = 0; chosen && i < all; i++)
		if (!names || is_listed(names, mk_inputs[i]))
			chosen[n++] = mk_inputs[i];
	return chosen;
}

const char *mk_context_line(const struct mk_input *const *inputs, const char *p, const char *end,
			    const char **line_end)
{
	const char *first = NULL, *eol, *bol;

	for (; *inputs; inputs++) {
		const struct mk_input *in = *inputs;
		const char *stop = first ? first : end, *word = in->context_word;
		const char *at = word ? memmem(p, (size_t)(stop - p), word, strlen(word)) :
				 in->find_context ? in->find_context(p, stop) : NULL;
		first = at ? at : first;
	}
	if (!first)
		return NULL;
	bol = memrchr(p, '\n', (size_t)(first - p));
	eol = memchr(first, '\n', (size_t)(end - first));
	*line_end = eol ? eol + 1 : end;
	return bol ? bol + 1 : p;
}

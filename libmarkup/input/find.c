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

bool mk_formats_init(struct mk_formats *f, const char *names)
{
	size_t n = 0;

	while (mk_inputs[n])
		n++;
	*f = (struct mk_formats){ .inputs = calloc(n + 1, sizeof(*f->inputs)) };
	if (!f->inputs)
		return false;
	n = 0;
	for (const struct mk_input *const *in = mk_inputs; *in; in++) {
		if (names && !is_listed(names, *in))
			continue;
		f->inputs[n++] = *in;
		for (const char *const *w = (*in)->context_words; w && *w; w++)
			mk_words_add(&f->context, *w);
	}
	return true;
}

void mk_formats_deinit(struct mk_formats *f)
{
	free(f->inputs);
}

/* Does a context word begin there? */
static bool is_context(const struct mk_formats *f, const char *p, const char *end)
{
	for (const struct mk_input *const *in = f->inputs; *in; in++)
		for (const char *const *w = (*in)->context_words; w && *w; w++)
			if ((size_t)(end - p) >= strlen(*w) && !memcmp(p, *w, strlen(*w)))
				return true;
	return false;
}

const char *mk_context_line(const struct mk_formats *f, const char *p, const char *end,
			    const char **line_end)
{
	const char *at = p, *bol, *eol;
	uint64_t newlines = 0;

	while ((at = mk_words_find(&f->context, at, end, &newlines)) && !is_context(f, at, end))
		at++;
	if (!at)
		return NULL;
	bol = memrchr(p, '\n', (size_t)(at - p));
	eol = memchr(at, '\n', (size_t)(end - at));
	*line_end = eol ? eol + 1 : end;
	return bol ? bol + 1 : p;
}

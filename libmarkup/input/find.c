/* Which formats are read, and what in them may change modules and maps: see input.h. */
#include <stdlib.h>
#include <string.h>

#include "libmarkup/input/frames.h"

/* The next name of a list, which moves behind it. */
static struct sc_str next_listed(const char **names)
{
	const struct sc_str name = { *names, strcspn(*names, ",") };

	*names += name.len + ((*names)[name.len] == ',');
	return name;
}

static bool is_name(struct sc_str name)
{
	const char *const *of = markup_input_names;

	while (*of && !sc_str_same(name, (struct sc_str){ *of, strlen(*of) }))
		of++;
	return *of;
}

bool markup_inputs_valid(const char *names)
{
	do {
		if (!is_name(next_listed(&names)))
			return false;
	} while (*names);
	return true;
}

/* NULL lists all. */
static bool is_listed(const char *names, const char *name)
{
	while (names && *names)
		if (sc_str_same(next_listed(&names), (struct sc_str){ name, strlen(name) }))
			return true;
	return !names;
}

/* Adds the rows that are listed. */
static void add_rows(struct mk_formats *f, const char *names)
{
	for (size_t i = 0; i < mk_num_frame_rows; i++)
		if (is_listed(names, mk_frame_rows[i].name))
			f->rows[i / 64] |= 1ull << i % 64;
}

bool mk_formats_init(struct mk_formats *f, const char *names)
{
	size_t n = 0;
	bool any_row = false;

	while (mk_inputs[n])
		n++;
	*f = (struct mk_formats){ .inputs = calloc(n + 1, sizeof(*f->inputs)) };
	if (!f->inputs)
		return false;
	add_rows(f, names);
	for (size_t i = 0; i < mk_num_frame_rows; i++)
		any_row |= mk_format_has_row(f, i);
	n = 0;
	for (const struct mk_input *const *in = mk_inputs; *in; in++) {
		if ((*in)->name ? !is_listed(names, (*in)->name) : !any_row)
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

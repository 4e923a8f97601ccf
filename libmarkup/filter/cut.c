/* Where a log may be cut: see cut.h. */
#include "libmarkup/filter/cut.h"

#include <string.h>

#include "libmarkup/bytes/scan.h"

/* How many lines are tried before an input counts as one that cannot be cut. */
#define LINES_TRIED 256

/* May the line be part of a trace that goes on behind it? */
static bool goes_on(const struct mk_formats *f, const char *line, const char *end)
{
	for (const struct mk_input *const *in = f->inputs; *in; in++)
		for (const char *const *w = (*in)->words; (*in)->chained && *w; w++)
			if (memmem(line, (size_t)(end - line), *w, strlen(*w)))
				return true;
	return false;
}

/* Is nothing open behind the line [line, end)? */
static bool closes(const struct mk_formats *f, const char *line, const char *end,
		   bool colors)
{
	const char *line_end, *esc;

	if (mk_context_line(f, line, end, &line_end) || goes_on(f, line, end))
		return false;
	esc = colors ? memrchr(line, '\033', (size_t)(end - line)) : NULL;
	/* The state is reset, and that is not a part of some element. */
	return !esc || (end - esc >= 4 && !memcmp(esc, "\033[0m", 4) &&
			!mk_find3(esc, end, '}'));
}

size_t mk_clean_cut(const struct mk_formats *f, const char *p, size_t len, bool colors,
		    bool clean)
{
	const char *end = memrchr(p, '\n', len), *line;

	if (!end)
		return 0;
	end++;
	for (int i = 0; i < LINES_TRIED; i++) {
		line = memrchr(p, '\n', (size_t)(end - 1 - p));
		line = line ? line + 1 : p;
		/* The first line may have begun before p. */
		if (line == p && !clean)
			return 0;
		if (closes(f, line, end, colors)) {
			const char *open = mk_rfind3(p, end, '{');
			if (open ? mk_find3(open + 3, end, '}') != NULL : clean)
				return (size_t)(end - p);
		}
		if (line == p)
			return 0;
		end = line;
	}
	return 0;
}

/* Fuzz target: a line table, its strings from the same bytes; the rows must be valid. */
#include "libsymcache/dwarf/line.h"
#include "libsymcache/dwarf/line_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte says in which byte order the rest is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_facts unit = {0}, files = {0};
	struct dw_sections s = {0};
	struct sc_error err;

	if (!size)
		return 0;
	s.swap = *data & 1;
	s.line = s.str = s.line_str = (struct dw_section){ data + 1, size - 1 };
	dw_read_lines(&s, 0, "/comp", &unit, &err);
	line_check(&unit);
	dw_read_line_files(&s, 0, NULL, &files, NULL);
	line_must(files.files.len <= unit.files.len);
	dw_facts_deinit(&unit);
	dw_facts_deinit(&files);
	return 0;
}

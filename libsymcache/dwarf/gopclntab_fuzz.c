/* Fuzz target: .gopclntab of any version, and what its inlined calls are in; the facts must be as
 * readers of facts expect them. */
#include <stdlib.h>

#include "libsymcache/dwarf/gopclntab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool condition)
{
	if (!condition)
		abort();
}

static void check(const struct dw_facts *u)
{
	for (size_t i = 0; i < u->scopes.len; i++) {
		const struct dw_scope *s = &u->scopes.data[i];

		must(s->parent == DW_NONE || s->parent < i);
		must(s->name && (s->call_file == DW_NONE || s->call_file < u->files.len));
		must(s->decl_file == DW_NONE || s->decl_file < u->files.len);
		must(s->first_range <= u->ranges.len && s->num_ranges <= u->ranges.len - s->first_range);
	}
	for (size_t i = 0; i < u->ranges.len; i++)
		must(u->ranges.data[i].start < u->ranges.data[i].end);
	for (size_t i = 0; i < u->sequences.len; i++) {
		const struct dw_sequence *s = &u->sequences.data[i];
		const struct dw_row *rows = u->rows.data + s->first_row;

		must(s->num_rows && s->first_row <= u->rows.len && s->num_rows <= u->rows.len - s->first_row);
		for (uint32_t k = 0; k < s->num_rows; k++)
			must(rows[k].vaddr >= (k ? rows[k - 1].vaddr + 1 : s->start) &&
			     rows[k].vaddr < s->end &&
			     (rows[k].file == DW_NONE || rows[k].file < u->files.len));
	}
}

/* The first byte: 1: in the other byte order. Two bytes: how much of the end is funcdata. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct dw_go_sections s = { .text = 0x1000, .most = 64 << 10 };
	struct dw_facts facts = {0};
	struct dw_go_reader *r;
	size_t behind;
	uint64_t functions = 0;
	int rc;

	if (size < 3)
		return 0;
	behind = (size_t)(data[1] | data[2] << 8) % (size - 2);
	s.swap = data[0] & 1;
	s.table = (struct dw_section){ data + 3, size - 3 - behind };
	s.funcdata = (struct dw_section){ data + size - behind, behind };
	if (dw_go_open(&s, &r, NULL))
		return 0;
	while (!(rc = dw_go_next(r, &facts, NULL))) {
		check(&facts);
		functions += facts.scopes.len;
	}
	must(rc == SC_ENOTFOUND || rc == SC_ELIMIT);
	must(functions <= s.most);
	dw_facts_deinit(&facts);
	dw_go_close(r);
	return 0;
}

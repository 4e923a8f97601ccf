/* Which units an address needs: see needed.h. */
#include "libsymcache/write/needed.h"

#include "libsymcache/dwarf/ranges.h"

bool sc_unit_may_have_code(const struct dw_unit *u)
{
	const struct dw_abbrevs *a = u->abbrevs;

	for (size_t i = 0; i < a->dense; i++)
		if (a->by_code[i]->wanted && a->by_code[i]->tag != DW_TAG_variable)
			return true;
	for (size_t i = 0; i < a->rest.len; i++)
		if (a->rest.data[i].abbrev->wanted &&
		    a->rest.data[i].abbrev->tag != DW_TAG_variable)
			return true;
	return false;
}

enum sc_need sc_unit_needed(const struct dw_unit *u, const struct dw_wanted *wanted,
			    struct dw_value values[DW_NUM_OPS], struct dw_facts *scratch)
{
	uint64_t steps;

	if (u->broken || !u->tag || u->type == DW_UT_type || u->type == DW_UT_split_type)
		return SC_NOT_NEEDED; /* it has no facts: dw_scan_unit() */
	dw_facts_clear(scratch);
	steps = dw_most_facts(u);
	if (dw_read_covers(u, values, &steps, scratch))
		return SC_NEEDED;
	for (uint32_t i = 0; i < scratch->num_covers; i++)
		if (dw_wanted_in(wanted, scratch->ranges.data[i].start, scratch->ranges.data[i].end))
			return SC_NEEDED;
	if (!scratch->num_covers && u->split_name)
		return SC_NEEDED;
	if (u->has_stmt_list && u->tag != DW_TAG_partial_unit &&
	    dw_lines_may_hold(&u->debug->sections, u->stmt_list, wanted))
		return SC_NEEDED;
	/* Without ranges of its own, all that its entries say counts. */
	return scratch->num_covers ? SC_NOT_NEEDED : SC_NEEDED_IF_CODE;
}

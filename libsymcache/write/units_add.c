/* What two threads found, in one: see units.h. */
#include "libsymcache/write/units.h"

bool sc_units_add(struct sc_units *to, struct sc_units *from)
{
	struct sc_flat_part *part = vec_push(&to->flat.more);

	if (!part || !sc_tables_add(&to->tables, &from->tables, &part->maps) ||
	    !vec_reserve(&to->data.variables, from->data.variables.len) ||
	    !vec_reserve(&to->flat.inlined, from->flat.inlined.len))
		return false;
	part->ranges.data = from->flat.ranges.data;
	part->ranges.len = from->flat.ranges.len;
	part->ranges.cap = from->flat.ranges.cap;
	memset(&from->flat.ranges, 0, sizeof(from->flat.ranges));
	for (size_t i = 0; i < from->data.variables.len; i++) {
		struct sc_data_variable *v = &to->data.variables.data[to->data.variables.len++];
		*v = from->data.variables.data[i];
		v->name = sc_moved(part->maps.strings, v->name);
		v->decl_file = sc_moved(part->maps.files, v->decl_file);
	}
	for (size_t i = 0; i < from->flat.inlined.len; i++) {
		to->flat.inlined.data[to->flat.inlined.len] = from->flat.inlined.data[i];
		to->flat.inlined.data[to->flat.inlined.len++].call += part->maps.first_call;
	}
	to->flat.merged += from->flat.merged;
	to->flat.too_far += from->flat.too_far;
	to->count += from->count;
	to->entries += from->entries;
	to->rows += from->rows;
	if (from->bad && (!to->bad || from->first_bad < to->first_bad)) {
		to->first_fault = from->first_fault;
		to->first_bad = from->first_bad;
	}
	to->bad += from->bad;
	return true;
}

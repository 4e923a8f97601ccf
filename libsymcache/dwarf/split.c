/* Split units: see split.h. Cost: the headers of the file they stand in. */
#include "libsymcache/dwarf/split.h"

#include <dwarf.h>

static struct dw_unit *find_unit(struct dw_debug *d, uint64_t id)
{
	for (size_t i = 0; i < d->units.len; i++) {
		struct dw_unit *u = &d->units.data[i];
		if (!u->broken && u->tag == DW_TAG_compile_unit && u->id == id)
			return u;
	}
	return NULL;
}

/* Addresses and the GNU lists of ranges stand in the linked file. */
static void borrow(const struct dw_unit *skeleton, struct dw_sections *s)
{
	const struct dw_sections *linked = &skeleton->debug->sections;

	s->addr = linked->addr;
	if (skeleton->sizes.version < 5)
		s->ranges = linked->ranges;
	s->swap = linked->swap;
}

/* What the unit leaves to its skeleton. */
static void join(struct dw_unit *u, const struct dw_unit *skeleton)
{
	u->skeleton = skeleton;
	u->addr_base = skeleton->addr_base;
	u->ranges_base = skeleton->ranges_base;
	u->base_vaddr = skeleton->base_vaddr;
	if (!u->comp_dir)
		u->comp_dir = skeleton->comp_dir;
}

int dw_split_read(const struct dw_unit *skeleton, struct dw_debug *ret,
		  const struct dw_unit **unit, struct sc_error *err)
{
	const struct dw_split_source *source = skeleton->debug->split;
	struct sc_error first = {0}, fault;
	int rc = SC_ENOTFOUND;

	for (unsigned i = 0; source; i++) {
		struct dw_unit *u;

		rc = source->find(source->ctx, skeleton, i, &ret->sections, &fault);
		if (rc == SC_ENOTFOUND || rc == SC_ENOMEM)
			break;
		if (!rc) {
			borrow(skeleton, &ret->sections);
			rc = dw_debug_read(ret, &fault);
			if (rc == SC_ENOMEM)
				break;
			u = find_unit(ret, skeleton->id);
			if (u) {
				join(u, skeleton);
				*unit = u;
				return 0;
			}
			dw_debug_deinit(ret);
			memset(ret, 0, sizeof(*ret));
			sc_error_set(&fault, SC_EFORMAT, "%s: no unit 0x%016llx in it",
				     skeleton->split_name, (unsigned long long)skeleton->id);
		}
		if (!first.code)
			first = fault;
	}
	if (rc == SC_ENOMEM)
		return sc_error_set(err, rc, "out of memory");
	if (first.code)
		return sc_error_set(err, SC_EFORMAT, "%s", first.msg);
	return sc_error_set(err, SC_EFORMAT, "%s is not there", skeleton->split_name);
}

/*
 * Discriminators and the starts of inlined functions: what DISC and INLS have no room for, and
 * whether there is anything at all: see layout_parts.h. One pass over all source locations.
 */
#include "libsymcache/write/image/layout_parts.h"

static bool add(struct sc_details *to, size_t location, uint32_t from, uint32_t value)
{
	struct symcache_ext_detail *d;

	to->any = true;
	d = vec_push(&to->list);
	if (d)
		*d = (struct symcache_ext_detail){ (uint32_t)location, from, value };
	return d;
}

static bool place_calls(struct sc_layout *l)
{
	const struct sc_starts *s = l->c.starts;

	for (size_t i = 0; i < l->calls.order.len; i++) {
		const uint32_t old = l->calls.order.data[i];
		const uint32_t value = l->c.tables->calls.data[old].discriminator;
		const uint32_t first = s ? s->first.data[old] : 0;
		const uint32_t end = s ? s->first.data[old + 1] : 0;

		l->discriminators.any |= value;
		if (value >= SYMCACHE_DISCRIMINATOR_MORE &&
		    !add(&l->discriminators, i, 0, value))
			return false;
		l->starts.any |= end == first + 1 && s->list.data[first].start != SC_NONE;
		for (uint32_t k = first; end > first + 1 && k < end; k++)
			if (!add(&l->starts, i, s->list.data[k].from, s->list.data[k].start))
				return false;
	}
	return true;
}

bool sc_layout_place_details(struct sc_layout *l)
{
	const struct sc_final *f = l->c.ranges;
	const size_t calls = l->calls.order.len, n = f->ranges.len;
	const struct sc_discriminator *d = f->discriminators.data, *end = d + f->discriminators.len;

	if (!place_calls(l))
		return false;
	for (size_t i = 0; i < n; i++) {
		const struct sc_final_range *r = &f->ranges.data[i];
		const uint32_t value = r->loc.discriminator;
		const uint64_t stop = i + 1 < n ? r[1].start : UINT64_MAX;

		l->discriminators.any |= value;
		if (value < SYMCACHE_DISCRIMINATOR_MORE && (d == end || d->start >= stop))
			continue;
		if (!add(&l->discriminators, calls + i, r->start, value))
			return false;
		for (; d < end && d->start < stop; d++)
			if (!add(&l->discriminators, calls + i, d->start, d->value))
				return false;
	}
	return true;
}

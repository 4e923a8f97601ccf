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

/* Those within range `r`, which ends at `stop`; *d is the first of them, if there is one. */
static bool place_range(struct sc_layout *l, const struct sc_final_range *r, uint64_t stop,
			const struct sc_discriminator **d)
{
	const struct sc_final *f = l->c.ranges;
	const struct sc_discriminator *end = vec_end(&f->discriminators);
	const size_t location = l->calls.order.len + (size_t)(r - f->ranges.data);

	if (r->loc.discriminator < SYMCACHE_DISCRIMINATOR_MORE && (*d == end || (*d)->start >= stop))
		return true;
	if (!add(&l->discriminators, location, r->start, r->loc.discriminator))
		return false;
	for (; *d < end && (*d)->start < stop; ++*d)
		if (!add(&l->discriminators, location, (*d)->start, (*d)->value))
			return false;
	return true;
}

bool sc_layout_place_details(struct sc_layout *l)
{
	const struct sc_final *f = l->c.ranges;
	const struct sc_discriminator *d = f->discriminators.data;
	const struct sc_discriminator *end = vec_end(&f->discriminators);
	const struct sc_final_range *r = f->ranges.data, *last;
	uint32_t any = 0, next = d < end ? d->start : UINT32_MAX;

	if (!place_calls(l))
		return false;
	if (!f->ranges.len)
		return true;
	last = r + f->ranges.len - 1;
	for (; r < last; r++) {
		any |= r->loc.discriminator;
		if (r->loc.discriminator < SYMCACHE_DISCRIMINATOR_MORE && r[1].start <= next)
			continue;
		if (!place_range(l, r, r[1].start, &d))
			return false;
		next = d < end ? d->start : UINT32_MAX;
	}
	l->discriminators.any |= any | last->loc.discriminator;
	return place_range(l, last, UINT64_MAX, &d);
}

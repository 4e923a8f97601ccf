/* Local variables of an address: see symcache/locals.h. */
#include "symcache/locals.h"

#include "libsymcache/base/parallel.h"
#include "libsymcache/dwarf/locals.h"
#include "libsymcache/write/input/input.h"

struct symcache_locals {
	struct sc_input input;
	struct dw_location_sections locations;
	struct dw_locals found;
	VEC(struct symcache_local) shown;
};

void symcache_locals_close(struct symcache_locals *l)
{
	if (!l)
		return;
	vec_deinit(&l->found.list);
	vec_deinit(&l->shown);
	sc_input_close(&l->input);
	free(l);
}

/* Broken lists of locations cost the places in them. */
static int load_locations(struct symcache_locals *l, unsigned threads, struct sc_error *err)
{
	struct sc_elf_wanted wanted[] = { { .name = ".debug_loc" }, { .name = ".debug_loclists" } };

	sc_elf_load(l->input.dwarf, threads, wanted, 2);
	for (int i = 0; i < 2; i++)
		if (wanted[i].rc == SC_ENOMEM)
			return sc_error_set(err, SC_ENOMEM, "%s", wanted[i].err.msg);
	l->locations = (struct dw_location_sections){ { wanted[0].data, wanted[0].size },
						      { wanted[1].data, wanted[1].size } };
	return 0;
}

static int open_input(struct symcache_locals *l, const char *path,
		      const struct symcache_build_options *o, struct sc_error *err)
{
	struct sc_input *in = &l->input;
	const unsigned threads = o->threads ? o->threads : sc_cores();
	int rc = sc_input_open(in, path, o, err);

	if (rc || !in->dwarf)
		return rc;
	rc = sc_input_load(in, threads, err);
	if (rc)
		return rc;
	sc_input_end_stream(in);
	rc = load_locations(l, threads, err);
	if (!rc)
		rc = dw_debug_read(&in->alt_debug, err);
	if (!rc)
		rc = dw_debug_read(&in->debug, err);
	return rc ? rc : sc_input_find_split(in, o, threads, err);
}

int symcache_locals_open(const char *path, const struct symcache_build_options *options,
			 struct symcache_locals **ret, struct sc_error *err)
{
	static const struct symcache_build_options defaults;
	struct symcache_locals *l = calloc(1, sizeof(*l));
	int rc;

	*ret = NULL;
	if (!l)
		return sc_no_memory(err);
	rc = open_input(l, path, options ? options : &defaults, err);
	if (rc)
		symcache_locals_close(l);
	else
		*ret = l;
	return rc;
}

int symcache_locals_at(struct symcache_locals *l, uint64_t vaddr, const struct symcache_local **ret,
		       size_t *n, struct sc_error *err)
{
	vec_clear(&l->found.list);
	vec_clear(&l->shown);
	if (!dw_read_locals(&l->input.debug, &l->locations, vaddr, &l->found) ||
	    !vec_reserve(&l->shown, l->found.list.len))
		return sc_no_memory(err);
	for (size_t i = 0; i < l->found.list.len; i++) {
		const struct dw_local *from = &l->found.list.data[i];

		l->shown.data[l->shown.len++] = (struct symcache_local){
			from->function, from->name,
			{ symcache_str_of(from->file.comp_dir), symcache_str_of(from->file.dir), symcache_str_of(from->file.name) },
			from->line, from->has_offset, from->has_size, from->has_tag, from->offset,
			from->size, from->tag,
		};
	}
	*ret = l->shown.data;
	*n = l->shown.len;
	return 0;
}

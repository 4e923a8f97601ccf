/* What a cache is made from: see input.h. */
#include "libsymcache/build/input.h"

void sc_input_close(struct sc_input *in)
{
	dw_debug_deinit(&in->debug);
	dw_debug_deinit(&in->alt_debug);
	vec_deinit(&in->code_symbols);
	sc_elf_symbols_deinit(&in->symbols);
	sc_elf_close(in->alt);
	sc_elf_close(in->separate);
	sc_elf_close(in->image);
}

static int open_files(struct sc_input *in, const char *path,
		      const struct symcache_build_options *o, struct sc_error *err)
{
	static const char *const default_dirs[] = { "/usr/lib/debug", NULL };
	const char *const *dirs = o->debug_dirs ? o->debug_dirs : default_dirs;
	int rc = sc_elf_open(path, &in->image, err);

	if (rc)
		return rc;
	if (!sc_elf_has(in->image, ".debug_info") && !o->no_debug_search)
		sc_elf_find_debug(in->image, dirs, &in->separate, NULL);
	in->dwarf = in->separate ? in->separate :
		    sc_elf_has(in->image, ".debug_info") ? in->image : NULL;
	if (in->dwarf)
		sc_elf_find_alt(in->dwarf, dirs, &in->alt, NULL);
	return 0;
}

/* ---- symbols ------------------------------------------------------------------- */

static int read_tables(struct sc_input *in, struct sc_error *err)
{
	struct sc_elf_symbols whole;
	int rc = sc_elf_symbols(in->image, &in->symbols, err);

	/* A stripped image has .dynsym only; its debug file has the whole table. */
	if (rc || !in->separate || !in->symbols.from_dynsym)
		return rc;
	rc = sc_elf_symbols(in->separate, &whole, err);
	if (rc)
		return rc;
	if (whole.from_dynsym) {
		sc_elf_symbols_deinit(&whole);
	} else {
		sc_elf_symbols_deinit(&in->symbols);
		in->symbols = whole;
	}
	return 0;
}

static int read_symbols(struct sc_input *in, struct sc_error *err)
{
	uint64_t base = in->image->load_base, limit = base + UINT32_MAX;
	int rc = read_tables(in, err);

	if (rc)
		return rc;
	if (limit < base)
		limit = UINT64_MAX;
	for (size_t i = 0; i < in->symbols.code.len; i++) {
		const struct sc_elf_symbol *s = &in->symbols.code.data[i];
		const struct sc_elf_range *code = sc_elf_range_at(&in->image->exec, s->vaddr);
		struct sc_code_symbol *c;
		uint64_t end;

		if (!code)
			continue;
		if (s->vaddr < base || s->vaddr >= limit) {
			in->symbols_too_far++;
			continue;
		}
		end = code->end - s->vaddr < s->size ? code->end : s->vaddr + s->size;
		c = end > s->vaddr ? vec_push(&in->code_symbols) : NULL;
		if (end > s->vaddr && !c)
			return sc_error_set(err, SC_ENOMEM, "out of memory");
		if (c)
			*c = (struct sc_code_symbol){ s->vaddr, end < limit ? end : limit, s->name };
	}
	return 0;
}

uint64_t sc_input_code_end(const void *input, uint64_t vaddr)
{
	const struct sc_input *in = input;
	const struct sc_elf_range *r = sc_elf_range_at(&in->image->exec, vaddr);

	return r ? r->end : 0;
}

const char *sc_input_symbol_at(const void *input, uint64_t vaddr)
{
	const struct sc_input *in = input;
	const struct sc_elf_symbol *list = in->symbols.code.data;
	size_t lo = 0, hi = in->symbols.code.len;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (list[mid].vaddr < vaddr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < in->symbols.code.len && list[lo].vaddr == vaddr ? list[lo].name : NULL;
}

/* ---- sections ------------------------------------------------------------------- */

static int load_sections(struct sc_input *in, struct sc_elf *elf, unsigned threads,
			 struct dw_debug *d, struct sc_error *err)
{
	struct sc_elf_wanted wanted[] = {
		{ .name = ".debug_info" }, { .name = ".debug_abbrev" },
		{ .name = ".debug_line" }, { .name = ".debug_str" },
		{ .name = ".debug_line_str" }, { .name = ".debug_str_offsets" },
		{ .name = ".debug_addr" }, { .name = ".debug_ranges" },
		{ .name = ".debug_rnglists" },
	};
	struct dw_section *to[] = {
		&d->sections.info, &d->sections.abbrev,
		&d->sections.line, &d->sections.str,
		&d->sections.line_str, &d->sections.str_offsets,
		&d->sections.addr, &d->sections.ranges,
		&d->sections.rnglists,
	};
	size_t n = sizeof(to) / sizeof(*to);

	sc_elf_load(elf, threads, wanted, n);
	for (size_t i = 0; i < n; i++) {
		*to[i] = (struct dw_section){ wanted[i].data, wanted[i].size };
		if (wanted[i].rc == SC_ENOMEM)
			return sc_error_set(err, SC_ENOMEM, "%s", wanted[i].err.msg);
		/* A damaged section is a fault, and as good as absent. */
		if (wanted[i].rc && wanted[i].rc != SC_ENOTFOUND && !in->faults++)
			in->first_fault = wanted[i].err;
	}
	dw_section_end_with_nul(&d->sections.str);
	dw_section_end_with_nul(&d->sections.line_str);
	d->sections.swap = elf->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	return 0;
}

int sc_input_open(struct sc_input *in, const char *path,
		  const struct symcache_build_options *options, struct sc_error *err)
{
	int rc = open_files(in, path, options, err);

	return rc ? rc : read_symbols(in, err);
}

int sc_input_load(struct sc_input *in, unsigned threads, struct sc_error *err)
{
	int rc = in->dwarf ? load_sections(in, in->dwarf, threads, &in->debug, err) : 0;

	if (!rc && in->alt) {
		rc = load_sections(in, in->alt, threads, &in->alt_debug, err);
		in->debug.alt = &in->alt_debug;
		in->debug.sections.alt = &in->alt_debug.sections;
	}
	return rc;
}

void sc_input_unload(void *input)
{
	struct sc_input *in = input;
	struct dw_sections *s = &in->debug.sections;
	/* .debug_str and .debug_line hold strings of the facts; so does .debug_info,
	 * but those were copied (struct sc_tables). */
	struct dw_section *done[] = { &s->info, &s->abbrev, &s->str_offsets, &s->addr,
				      &s->ranges, &s->rnglists };

	for (size_t i = 0; in->dwarf && i < sizeof(done) / sizeof(*done); i++) {
		sc_elf_unload(in->dwarf, done[i]->data, done[i]->size);
		*done[i] = (struct dw_section){0};
	}
}

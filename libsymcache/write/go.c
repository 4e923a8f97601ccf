/* Functions and lines of Go programs without debug information: see go.h. */
#include "libsymcache/write/go.h"

#include "libsymcache/base/limits.h"
#include "libsymcache/dwarf/gopclntab.h"
#include "libsymcache/elf/go.h"

static void note(struct sc_input *in, const struct sc_error *fault)
{
	if (!in->faults.count++)
		in->faults.first = *fault;
}

int sc_go_read(struct sc_input *in, const struct sc_flatten_env *env, const struct dw_wanted *wanted,
	       struct sc_units *ret, struct symcache_build_info *info, struct sc_error *err)
{
	struct dw_go_reader *reader;
	struct dw_go_sections sections;
	struct sc_elf_go go;
	struct sc_error fault;
	int rc = sc_input_symbols(in, err);

	if (rc || in->separate || !in->symbols.from_dynsym ||
	    (rc = sc_elf_go_find(in->image, &go, err)) || !go.table)
		return rc;
	sections = (struct dw_go_sections){
		{ go.table, go.size }, { go.funcdata, go.funcdata_size }, go.text,
		sc_limit_facts(in->image->size), wanted,
		in->image->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
	};
	rc = dw_go_open(&sections, &reader, &fault);
	if (rc == SC_ENOMEM)
		return sc_no_memory(err);
	if (rc) {
		note(in, &fault);
		return 0;
	}
	if (!dw_go_has_inlines(reader)) {
		sc_error_set(&fault, SC_EUNSUPPORTED, ".gopclntab: inlined calls are not found");
		note(in, &fault);
	}
	rc = sc_units_each(dw_go_next, reader, env, ret, err);
	dw_go_close(reader);
	if (ret->flat.pieces.len)
		info->sources |= SYMCACHE_FROM_GO;
	return rc;
}

/* Are the names of a symbol table in its strings? See symbols.h. */
#include "libsymcache/elf/headers.h"
#include "libsymcache/elf/symbols.h"

bool sc_elf_symbol_names(struct sc_elf *e, uint64_t *bad, uint64_t *size)
{
	GElf_Shdr sh;
	Elf_Scn *table = sc_elf_symbol_table(e, &sh);
	Elf_Data *bytes = table ? elf_getdata(table, NULL) : NULL;
	GElf_Sym sym;

	if (!bytes)
		return true;
	*size = sc_elf_strings(e, sh.sh_link).size;
	for (int i = 1; *size && gelf_getsym(bytes, i, &sym); i++) {
		*bad = sym.st_name;
		if (*bad >= *size)
			return false;
	}
	return true;
}

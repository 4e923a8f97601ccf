/*
 * The table of functions of a Go program: see go.h.
 *
 * runtime.firstmoduledata begins with the address of .gopclntab and that of the names in it. In a
 * program that is placed when it starts, they are relocations. Cost: a pass over the writable
 * sections, or over the relocations.
 */
#include "libsymcache/elf/go.h"

#include "libsymcache/elf/headers.h"

enum {
	CANDIDATES_MAX = 16, /* places that hold the address of the table */
	/* Words of runtime.moduledata, of Go 1.18 and of 1.20, which has two more before gofunc. */
	FUNCNAMETAB = 1, TEXT = 22, GOFUNC = 38, GOFUNC_1_20 = 40,
};

struct finding {
	struct sc_elf *e;
	uint64_t table;   /* vaddr of .gopclntab */
	uint64_t names;   /* vaddr of the names in it */
	unsigned word;    /* bytes: 4, 8 */
	unsigned gofunc;  /* the word that has it */
	unsigned tried;
	struct sc_elf_go *found;
};

static uint64_t number(const struct sc_elf *e, const uint8_t *p, unsigned bytes)
{
	uint64_t v = 0;

	for (unsigned i = 0; i < bytes; i++)
		v |= (uint64_t)p[i] << 8 * (e->big_endian ? bytes - 1 - i : i);
	return v;
}

/* The next relocation without a symbol, of those with addends. False: no more. */
static bool next_relocation(struct sc_elf *e, Elf_Scn **scn, int *at, GElf_Rela *ret)
{
	GElf_Shdr sh;

	for (; *scn || (*scn = elf_nextscn(e->elf, NULL)); *scn = elf_nextscn(e->elf, *scn), *at = 0) {
		Elf_Data *data = gelf_getshdr(*scn, &sh) && sh.sh_type == SHT_RELA ?
				 elf_getdata(*scn, NULL) : NULL;

		while (data && gelf_getrela(data, *at, ret)) {
			++*at;
			if (!GELF_R_SYM(ret->r_info))
				return true;
		}
		if (!elf_nextscn(e->elf, *scn))
			return false;
	}
	return false;
}

/* The pointer that is at `vaddr` when the program runs; 0: none. */
static uint64_t pointer_at(struct finding *f, uint64_t vaddr)
{
	size_t size;
	const uint8_t *bytes = sc_elf_bytes_at(f->e, vaddr, &size);
	const uint64_t there = bytes && size >= f->word ? number(f->e, bytes, f->word) : 0;
	Elf_Scn *scn = NULL;
	GElf_Rela rela;
	int at = 0;

	while (!there && next_relocation(f->e, &scn, &at, &rela))
		if (rela.r_offset == vaddr)
			return (uint64_t)rela.r_addend;
	return there;
}

/* Is the module data at `vaddr`, which has the address of the table? True: it need not be looked for
 * any more. */
static bool try_at(struct finding *f, uint64_t vaddr)
{
	uint64_t text, gofunc;

	if (f->tried++ >= CANDIDATES_MAX)
		return true;
	if (pointer_at(f, vaddr + FUNCNAMETAB * f->word) != f->names)
		return false;
	text = pointer_at(f, vaddr + TEXT * f->word);
	gofunc = pointer_at(f, vaddr + f->gofunc * f->word);
	if (!sc_elf_range_at(&f->e->exec, text))
		return false;
	f->found->text = text;
	f->found->funcdata = sc_elf_bytes_at(f->e, gofunc, &f->found->funcdata_size);
	return true;
}

static bool look_in_section(struct finding *f, Elf_Scn *scn)
{
	GElf_Shdr sh;
	size_t size;
	const uint8_t *bytes;

	if (!gelf_getshdr(scn, &sh) || sh.sh_type != SHT_PROGBITS || !(sh.sh_flags & SHF_WRITE) ||
	    !(bytes = sc_elf_bytes_at(f->e, sh.sh_addr, &size)))
		return false;
	size = size < sh.sh_size ? size : sh.sh_size;
	for (size_t at = -sh.sh_addr % f->word; at + f->word <= size; at += f->word)
		if (number(f->e, bytes + at, f->word) == f->table && try_at(f, sh.sh_addr + at))
			return true;
	return false;
}

static void look_everywhere(struct finding *f)
{
	Elf_Scn *scn = NULL;
	GElf_Rela rela;
	int at = 0;

	while ((scn = elf_nextscn(f->e->elf, scn)))
		if (look_in_section(f, scn))
			return;
	while (next_relocation(f->e, &scn, &at, &rela))
		if ((uint64_t)rela.r_addend == f->table && try_at(f, rela.r_offset))
			return;
}

int sc_elf_go_find(struct sc_elf *e, struct sc_elf_go *ret, struct sc_error *err)
{
	static const char *const names[] = { ".gopclntab", ".data.rel.ro.gopclntab" };
	struct finding f = { .e = e, .found = ret };
	const char *name = NULL;
	uint32_t magic;
	int rc;

	*ret = (struct sc_elf_go){ 0 };
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !name; i++)
		name = sc_elf_has(e, names[i]) ? names[i] : NULL;
	if (!name || e->type == ET_REL)
		return 0;
	rc = sc_elf_section(e, name, &ret->table, &ret->size, err);
	if (rc)
		return rc == SC_ENOMEM ? rc : 0;
	f.table = sc_elf_section_address(e, name);
	ret->text = sc_elf_section_address(e, ".text");
	f.word = ret->size > 7 ? ret->table[7] : 0;
	if ((f.word != 4 && f.word != 8) || ret->size < 8 + 4 * f.word)
		return 0;
	magic = (uint32_t)number(e, ret->table, 4);
	if (magic != 0xfffffff0 && magic != 0xfffffff1) /* before Go 1.18 all addresses are whole */
		return 0;
	f.gofunc = magic == 0xfffffff1 ? GOFUNC_1_20 : GOFUNC;
	f.names = f.table + number(e, ret->table + 8 + 3 * f.word, f.word);
	look_everywhere(&f);
	return 0;
}

/*
 * Opens an ELF file and reads what its headers say.
 *
 * libelf maps the file and parses headers; this file checks what libelf takes
 * on trust (that tables and sections lie inside the file), so that a file that
 * was cut off is named as such at once. No section is inflated here.
 */
#include "libsymcache/elf/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/bigmem.h"
#include "libsymcache/base/search.h"
#include "libsymcache/elf/notes.h"
#include "libsymcache/elf/relocate.h"

static int by_start(const void *a, const void *b)
{
	const struct sc_elf_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static bool add_range(struct sc_elf_ranges *ranges, uint64_t start, uint64_t size)
{
	struct sc_elf_range *r;

	if (!size || start + size < start)
		return true;
	r = vec_push(&ranges->list);
	if (!r)
		return false;
	*r = (struct sc_elf_range){ start, start + size };
	return true;
}

static void sort_ranges(struct sc_elf_ranges *ranges)
{
	struct sc_elf_range *list = ranges->list.data;
	size_t n = 0;

	if (!ranges->list.len)
		return;
	qsort(list, ranges->list.len, sizeof(*list), by_start);
	for (size_t i = 1; i < ranges->list.len; i++) {
		if (list[i].start > list[n].end)
			list[++n] = list[i];
		else if (list[i].end > list[n].end)
			list[n].end = list[i].end;
	}
	ranges->list.len = n + 1;
}

const struct sc_elf_range *sc_elf_range_at(const struct sc_elf_ranges *ranges, uint64_t vaddr)
{
	const struct sc_elf_range *list = ranges->list.data;
	const size_t at = SC_SEARCH(i, ranges->list.len, list[i].end <= vaddr);

	return at < ranges->list.len && list[at].start <= vaddr ? &list[at] : NULL;
}

uint64_t sc_elf_section_vaddr(const struct sc_elf *e, size_t index, uint64_t sh_addr)
{
	return index < e->placed.len ? e->placed.data[index] : sh_addr;
}

static bool inside(const struct sc_elf *e, uint64_t offset, uint64_t size)
{
	return offset <= e->size && size <= e->size - offset;
}

struct sc_elf_strings sc_elf_strings(struct sc_elf *e, size_t ndx)
{
	Elf_Scn *scn = elf_getscn(e->elf, ndx);
	const char *data, *nul;
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || sh.sh_type != SHT_STRTAB || !sh.sh_size ||
	    (sh.sh_flags & SHF_COMPRESSED) || !inside(e, sh.sh_offset, sh.sh_size))
		return (struct sc_elf_strings){0};
	data = (const char *)e->bytes + sh.sh_offset;
	nul = memrchr(data, 0, sh.sh_size);
	return (struct sc_elf_strings){ data, nul ? (size_t)(nul - data) + 1 : 0 };
}

#define PAGE 4096u /* at least, wherever there are pages */

/* A debug file has no bytes of a segment, and may have lost its offset. Where it begins a page,
 * that is the distance from the load base: linkers that have it otherwise begin elsewhere in a
 * page. */
static bool add_segment(struct sc_elf *e, const GElf_Phdr *ph)
{
	struct sc_elf_segment s = { .offset = ph->p_offset, .vaddr = ph->p_vaddr,
				    .size = ph->p_memsz,
				    .assumed = ph->p_filesz < ph->p_memsz };
	struct sc_elf_segment *list;
	size_t at = e->segments.len;

	if (!(ph->p_flags & PF_X) || !s.size || at == SC_SEGMENTS_MAX)
		return true;
	if (!ph->p_filesz && (s.vaddr % PAGE || s.vaddr < e->load_base))
		return true;
	if (!ph->p_filesz)
		s.offset = s.vaddr - e->load_base;
	if (s.offset + s.size < s.offset || s.vaddr + s.size < s.vaddr)
		return true;
	if (!vec_push(&e->segments))
		return false;
	for (list = e->segments.data; at && list[at - 1].vaddr > s.vaddr; at--)
		list[at] = list[at - 1];
	list[at] = s;
	return true;
}

static int read_segments(struct sc_elf *e, struct sc_error *err)
{
	bool first = true, no_sections;
	size_t n, sections;

	if (elf_getphdrnum(e->elf, &n) || elf_getshdrnum(e->elf, &sections))
		return sc_error_set(err, SC_EFORMAT, "program headers: %s", elf_errmsg(-1));
	no_sections = sections == 0;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;
		uint64_t end;

		if (!gelf_getphdr(e->elf, (int)i, &ph))
			return sc_error_set(err, SC_EFORMAT, "program header %zu: %s", i,
					    elf_errmsg(-1));
		if (ph.p_type == PT_NOTE && inside(e, ph.p_offset, ph.p_filesz))
			sc_elf_read_notes(e, e->bytes + ph.p_offset, ph.p_filesz, ph.p_align);
		if (ph.p_type != PT_LOAD)
			continue;
		if (first)
			e->load_base = e->load_end = ph.p_vaddr;
		first = false;
		if (!add_segment(e, &ph))
			return sc_no_memory(err);
		end = ph.p_vaddr + ph.p_memsz;
		if (end >= ph.p_vaddr && end > e->load_end)
			e->load_end = end;
		if (no_sections && (!add_range(&e->alloc, ph.p_vaddr, ph.p_memsz) ||
				    ((ph.p_flags & PF_X) &&
				     !add_range(&e->exec, ph.p_vaddr, ph.p_memsz))))
			return sc_no_memory(err);
	}
	return 0;
}

static int read_sections(struct sc_elf *e, struct sc_error *err)
{
	Elf_Scn *scn = NULL;

	while ((scn = elf_nextscn(e->elf, scn))) {
		uint64_t vaddr;
		GElf_Shdr sh;

		if (!gelf_getshdr(scn, &sh))
			return sc_error_set(err, SC_EFORMAT, "section header %zu: %s",
					    elf_ndxscn(scn), elf_errmsg(-1));
		if (sh.sh_type != SHT_NOBITS && sh.sh_type != SHT_NULL &&
		    !inside(e, sh.sh_offset, sh.sh_size))
			return sc_error_set(err, SC_EFORMAT,
				"cut off: section %zu ends at 0x%llx, the file at 0x%zx",
				elf_ndxscn(scn),
				(unsigned long long)(sh.sh_offset + sh.sh_size), e->size);
		if (sh.sh_type == SHT_NOTE)
			sc_elf_read_notes(e, e->bytes + sh.sh_offset, sh.sh_size,
					  sh.sh_addralign);
		if (!(sh.sh_flags & SHF_ALLOC) || (sh.sh_flags & SHF_TLS))
			continue;
		vaddr = sc_elf_section_vaddr(e, elf_ndxscn(scn), sh.sh_addr);
		if (!add_range(&e->alloc, vaddr, sh.sh_size) ||
		    ((sh.sh_flags & SHF_EXECINSTR) &&
		     !add_range(&e->exec, vaddr, sh.sh_size)))
			return sc_no_memory(err);
	}
	return 0;
}

/* What libelf does not open: it leaves errno as it was where memory is not what it lacks. */
static int not_whole(struct sc_error *err)
{
	return errno == ENOMEM ? sc_no_memory(err) :
		sc_error_set(err, SC_EFORMAT, "cut off: no whole ELF header");
}

/* Header tables that lie outside the file are an error of their own: libelf
 * would say that there are no sections. */
static int read_header(struct sc_elf *e, struct sc_error *err)
{
	GElf_Ehdr eh;
	uint64_t shentsize, phentsize;
	Elf_Scn *scn;
	GElf_Shdr sh;
	size_t names;

	if (elf_kind(e->elf) != ELF_K_ELF || !gelf_getehdr(e->elf, &eh))
		return not_whole(err);
	e->is_64 = eh.e_ident[EI_CLASS] == ELFCLASS64;
	e->big_endian = eh.e_ident[EI_DATA] == ELFDATA2MSB;
	e->machine = eh.e_machine;
	e->type = eh.e_type;
	shentsize = e->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
	phentsize = e->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	if (eh.e_shoff && !inside(e, eh.e_shoff, (eh.e_shnum ? eh.e_shnum : 1) * shentsize))
		return sc_error_set(err, SC_EFORMAT,
			"cut off: section headers at 0x%llx, the file ends at 0x%zx",
			(unsigned long long)eh.e_shoff, e->size);
	if (eh.e_phoff && eh.e_phnum && !inside(e, eh.e_phoff, eh.e_phnum * phentsize))
		return sc_error_set(err, SC_EFORMAT,
			"cut off: program headers at 0x%llx, the file ends at 0x%zx",
			(unsigned long long)eh.e_phoff, e->size);
	if (elf_getshdrstrndx(e->elf, &names))
		return 0;
	scn = elf_getscn(e->elf, names);
	if (scn && !gelf_getshdr(scn, &sh)) /* the table is inside of the file */
		return not_whole(err);
	e->section_names = sc_elf_strings(e, names);
	return 0;
}

/* Reads what e->elf has opened. */
static int read_file(struct sc_elf *e, struct sc_error *err)
{
	char *raw = e->elf ? elf_rawfile(e->elf, &e->size) : NULL;
	int rc;

	if (!raw)
		return not_whole(err);
	e->bytes = (const uint8_t *)raw;
	rc = read_header(e, err);
	if (!rc && e->type == ET_REL)
		rc = sc_elf_lay_out(e, err);
	/* Sections first: the segments of some debug files have the offsets of the
	 * program, so that their notes would be any bytes. */
	if (!rc)
		rc = read_sections(e, err);
	if (!rc)
		rc = read_segments(e, err);
	sort_ranges(&e->exec);
	sort_ranges(&e->alloc);
	return rc;
}

/* Opens e->fd, or `path` if that is −1. */
static int open_file(const char *path, struct sc_elf *e, struct sc_error *err)
{
	struct stat st;
	char magic[SELFMAG];
	ssize_t len;

	e->path = strdup(path);
	if (!e->path)
		return sc_no_memory(err);
	/* O_NONBLOCK: a FIFO must not hang us; it has no effect on files. */
	if (e->fd < 0)
		e->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (e->fd < 0)
		return sc_error_sys(err, "cannot open");
	if (fstat(e->fd, &st))
		return sc_error_sys(err, "cannot stat");
	if (!S_ISREG(st.st_mode)) {
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
		return sc_error_sys(err, "not a regular file");
	}
	if (st.st_size == 0)
		return sc_error_set(err, SC_EFORMAT, "empty file");
	len = pread(e->fd, magic, SELFMAG, 0);
	if (len < 0)
		return sc_error_sys(err, "cannot read");
	if (len < SELFMAG || memcmp(magic, ELFMAG, SELFMAG))
		return sc_error_set(err, SC_EFORMAT, "not an ELF file");
	elf_version(EV_CURRENT);
	errno = 0;
	e->elf = elf_begin(e->fd, ELF_C_READ_MMAP, NULL);
	return read_file(e, err);
}

static int open_bytes(uint8_t *bytes, size_t size, const char *name, struct sc_elf *e,
		      struct sc_error *err)
{
	e->memory = bytes;
	e->path = strdup(name);
	if (!e->path)
		return sc_no_memory(err);
	elf_version(EV_CURRENT);
	errno = 0;
	e->elf = elf_memory((char *)bytes, size);
	return read_file(e, err);
}

/* Hands out what was opened, or closes it. */
static int finish(struct sc_elf *e, int rc, const char *name, struct sc_elf **ret,
		  struct sc_error *err)
{
	if (rc) {
		sc_error_prefix(err, "%s: ", name);
		sc_elf_close(e);
		return rc;
	}
	*ret = e;
	return 0;
}

static struct sc_elf *new_file(struct sc_error *err)
{
	struct sc_elf *e = calloc(1, sizeof(*e));

	if (e)
		e->fd = -1;
	else
		sc_no_memory(err);
	return e;
}

int sc_elf_open(const char *path, struct sc_elf **ret, struct sc_error *err)
{
	struct sc_elf *e = new_file(err);

	*ret = NULL;
	return e ? finish(e, open_file(path, e, err), path, ret, err) : SC_ENOMEM;
}

int sc_elf_open_fd(int fd, const char *name, struct sc_elf **ret, struct sc_error *err)
{
	struct sc_elf *e = new_file(err);

	*ret = NULL;
	if (!e) {
		close(fd);
		return SC_ENOMEM;
	}
	e->fd = fd;
	return finish(e, open_file(name, e, err), name, ret, err);
}

int sc_elf_open_memory(uint8_t *bytes, size_t size, const char *name, struct sc_elf **ret,
		       struct sc_error *err)
{
	struct sc_elf *e = new_file(err);

	*ret = NULL;
	if (!e)
		free(bytes);
	return e ? finish(e, open_bytes(bytes, size, name, e, err), name, ret, err) : SC_ENOMEM;
}
void sc_elf_close_fd(struct sc_elf *e)
{
	elf_cntl(e->elf, ELF_C_FDDONE);
	close(e->fd);
	e->fd = -1;
}

void sc_elf_close(struct sc_elf *e)
{
	if (!e)
		return;
	if (e->elf)
		elf_end(e->elf);
	for (size_t i = 0; i < e->inflated.len; i++)
		sc_big_free(e->inflated.data[i].data, e->inflated.data[i].size);
	vec_deinit(&e->inflated);
	free(e->memory);
	vec_deinit(&e->placed);
	vec_deinit(&e->relocations);
	vec_deinit(&e->exec.list);
	vec_deinit(&e->alloc.list);
	vec_deinit(&e->segments);
	if (e->fd >= 0)
		close(e->fd);
	free(e->path);
	free(e);
}

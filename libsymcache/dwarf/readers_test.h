/*
 * The facts of a file as text, by the fast reader and by libdw's: for tests, which include it
 * behind cmocka.h.
 */
#ifndef DW_READERS_TEST_H
#define DW_READERS_TEST_H

#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/dwarf/entries.h"
#include "libsymcache/dwarf/reader.h"
#include "libsymcache/dwarf/split.h"

struct facts_text {
	char *text;
	size_t size;
};

/* ---- facts as text -------------------------------------------------------------------------- */

static inline void put_file(FILE *out, const char *what, const struct dw_facts *u, uint32_t file,
			    uint32_t line)
{
	const struct dw_file *f = file == DW_NONE ? NULL : &u->files.data[file];

	if (f)
		fprintf(out, "%s%s|%s|%s:%" PRIu32, what, f->comp_dir ? f->comp_dir : "",
			f->dir ? f->dir : "", f->name, line);
	else
		fprintf(out, "%s?:%" PRIu32, what, line);
}

static inline void put_ranges(FILE *out, const struct dw_facts *u, uint32_t first, uint32_t n)
{
	for (uint32_t i = first; i < first + n; i++)
		fprintf(out, " [%" PRIx64 " %" PRIx64 ")", u->ranges.data[i].start, u->ranges.data[i].end);
}

static inline void put_facts(FILE *out, const struct dw_facts *u, const char *fault)
{
	fprintf(out, "unit of %s, covers", u->entries ? "entries" : "none");
	put_ranges(out, u, 0, u->num_covers);
	fprintf(out, "%s%s\n", *fault ? " fault " : "", fault);
	for (size_t i = 0; i < u->scopes.len; i++) {
		const struct dw_scope *s = &u->scopes.data[i];

		fprintf(out, "%zu %" PRIx32 " %s", i, s->entry, s->name ? s->name : "-");
		if (s->qualified)
			fprintf(out, " qualified %s", u->texts.data + s->qualified);
		fprintf(out, " lang %" PRIu32, s->lang);
		put_file(out, " at ", u, s->decl_file, s->decl_line);
		if (s->parent != DW_NONE) {
			fprintf(out, " inlined into %" PRIu32, s->parent);
			put_file(out, " at ", u, s->call_file, s->call_line);
			fprintf(out, ":%" PRIu32 " %" PRIu32, s->call_column, s->call_discriminator);
		}
		fprintf(out, " from %" PRIx64, s->entry_vaddr);
		put_ranges(out, u, s->first_range, s->num_ranges);
		fputc('\n', out);
	}
	for (size_t i = 0; i < u->variables.len; i++) {
		const struct dw_variable *v = &u->variables.data[i];

		fprintf(out, "variable %s %" PRIx64 ", %" PRIu64 " bytes", v->name, v->vaddr, v->size);
		put_file(out, " at ", u, v->decl_file, v->decl_line);
		fputc('\n', out);
	}
	for (size_t i = 0; i < u->sequences.len; i++)
		fprintf(out, "%" PRIu32 " rows [%" PRIx64 " %" PRIx64 ")\n", u->sequences.data[i].num_rows,
			u->sequences.data[i].start, u->sequences.data[i].end);
}

/* ---- sections ------------------------------------------------------------------------------- */

/* Inflated by libelf, which libdw has asked to do so. */
static inline struct dw_section section_of(Elf *elf, const char *name, const char *suffix)
{
	Elf_Scn *scn = NULL;
	size_t names;
	char whole[64];

	snprintf(whole, sizeof(whole), "%s%s", name, suffix);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		gelf_getshdr(scn, &sh);
		if (strcmp(elf_strptr(elf, names, sh.sh_name), whole))
			continue;
		data = elf_getdata(scn, NULL);
		return (struct dw_section){ data->d_buf, data->d_size };
	}
	return (struct dw_section){ NULL, 0 };
}

static inline struct dw_sections sections_of(Dwarf *dbg, const char *suffix)
{
	Elf *elf = dwarf_getelf(dbg);
	struct dw_sections s = {
		.info = section_of(elf, ".debug_info", suffix),
		.abbrev = section_of(elf, ".debug_abbrev", suffix),
		.line = section_of(elf, ".debug_line", suffix),
		.addr = section_of(elf, ".debug_addr", suffix),
		.str_offsets = section_of(elf, ".debug_str_offsets", suffix),
		.str = section_of(elf, ".debug_str", suffix),
		.line_str = section_of(elf, ".debug_line_str", suffix),
		.ranges = section_of(elf, ".debug_ranges", suffix),
		.rnglists = section_of(elf, ".debug_rnglists", suffix),
		.types = section_of(elf, ".debug_types", suffix),
	};

	dw_section_end_with_nul(&s.str);
	dw_section_end_with_nul(&s.line_str);
	elf_rawfile(elf, &s.file_size);
	s.swap = elf_getident(elf, NULL)[EI_DATA] !=
		 (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB);
	return s;
}

/* An open file with DWARF. */
struct dwarf_of_file {
	int fd;
	Dwarf *dbg;
};

static inline struct dwarf_of_file dwarf_of_path(const char *path)
{
	struct dwarf_of_file f = { .fd = open(path, O_RDONLY) };

	f.dbg = f.fd < 0 ? NULL : dwarf_begin(f.fd, DWARF_C_READ);
	return f;
}

static inline void dwarf_of_file_close(struct dwarf_of_file *f)
{
	dwarf_end(f->dbg);
	if (f->fd >= 0)
		close(f->fd);
}

/* Where split units are: in the files that skeletons name, next to the program. */
struct split_files {
	const char *path, *other; /* other: the file that stands in their place; or NULL */
	struct dwarf_of_file open[8];
	size_t n;
};

static inline int find_split(void *ctx, const struct dw_unit *skeleton, unsigned attempt,
			     struct dw_sections *ret, struct sc_error *err)
{
	struct split_files *f = ctx;
	const char *name = strrchr(skeleton->split_name, '/');
	char path[PATH_MAX];

	if (attempt)
		return sc_error_set(err, SC_ENOTFOUND, "no more files");
	snprintf(path, sizeof(path), "%.*s%s", (int)(strrchr(f->path, '/') + 1 - f->path), f->path,
		 f->other ? f->other : name ? name + 1 : skeleton->split_name);
	assert_true(f->n < 8);
	f->open[f->n] = dwarf_of_path(path);
	if (!f->open[f->n].dbg)
		return sc_error_set(err, SC_EFORMAT, "%s is not there", path);
	*ret = sections_of(f->open[f->n++].dbg, ".dwo");
	return 0;
}

/* ---- both readers --------------------------------------------------------------------------- */

static inline struct facts_text facts_by_libdw(int fd, int alt_fd, const struct dw_sections *s)
{
	struct facts_text t;
	FILE *out = open_memstream(&t.text, &t.size);
	struct dw_libdw_reader *r;
	struct dw_facts u = {0};
	struct sc_error err = { .msg = "" };
	int rc = dw_libdw_open(fd, alt_fd, s, &r, &err);

	assert_int_equal(rc, 0);
	while ((rc = dw_libdw_next(r, &u, &err)) != SC_ENOTFOUND)
		put_facts(out, &u, rc ? "there is one" : "");
	dw_libdw_close(r);
	dw_facts_deinit(&u);
	fclose(out);
	return t;
}

static inline void put_all(FILE *out, const struct dw_debug *d)
{
	struct dw_scanner *s = dw_scanner_create(d);
	struct dw_facts u = {0};
	struct sc_error err;

	for (size_t i = 0; i < d->units.len; i++) {
		const int rc = dw_scan_unit(s, &d->units.data[i], &u, &err);

		put_facts(out, &u, !rc ? "" : d->split && ((struct split_files *)d->split->ctx)->other ?
			  err.msg : "there is one");
	}
	dw_facts_deinit(&u);
	dw_scanner_destroy(s);
}

static inline struct facts_text facts_by_us(const char *path, const struct dw_sections *s,
					    const char *other)
{
	struct split_files files = { .path = path, .other = other };
	const struct dw_split_source split = { .find = find_split, .ctx = &files };
	struct dw_debug d = { .sections = *s, .split = &split }, alt = {0};
	struct facts_text t;
	FILE *out = open_memstream(&t.text, &t.size);
	struct sc_error err;

	if (s->alt) {
		alt.sections = *s->alt;
		assert_int_equal(dw_debug_read(&alt, &err), 0);
		d.alt = &alt;
	}
	assert_int_equal(dw_debug_read(&d, &err), 0);
	put_all(out, &d);
	if (d.types)
		put_all(out, d.types);
	dw_debug_deinit(&d);
	dw_debug_deinit(&alt);
	while (files.n)
		dwarf_of_file_close(&files.open[--files.n]);
	fclose(out);
	return t;
}

/* Fails at the first line that differs. */
static inline void same_text(const char *path, const char *ours, const char *theirs)
{
	while (*ours || *theirs) {
		const size_t n = strcspn(ours, "\n"), m = strcspn(theirs, "\n");

		if (n != m || memcmp(ours, theirs, n))
			fail_msg("%s:\nours:   %.*s\nlibdw's: %.*s", path, (int)n, ours, (int)m, theirs);
		ours += n + !!ours[n];
		theirs += m + !!theirs[m];
	}
}

/* The facts of a file, which both readers give. */
static inline struct facts_text compare_readers(const char *path)
{
	struct dwarf_of_file f = dwarf_of_path(path), alt_file = { .fd = -1 };
	struct dw_sections s, alt;
	struct facts_text ours, theirs;
	char alt_path[PATH_MAX];
	const char *link;
	const void *id;

	if (!f.dbg)
		fail_msg("cannot read %s", path);
	s = sections_of(f.dbg, "");
	if (dwelf_dwarf_gnu_debugaltlink(f.dbg, &link, &id) > 0) {
		snprintf(alt_path, sizeof(alt_path), "%.*s%s", (int)(strrchr(path, '/') + 1 - path), path,
			 strrchr(link, '/') ? strrchr(link, '/') + 1 : link);
		alt_file = dwarf_of_path(alt_path);
		assert_non_null(alt_file.dbg);
		alt = sections_of(alt_file.dbg, "");
		s.alt = &alt;
	}
	theirs = facts_by_libdw(f.fd, alt_file.fd, &s);
	ours = facts_by_us(path, &s, NULL);
	same_text(path, ours.text, theirs.text);
	free(theirs.text);
	dwarf_of_file_close(&alt_file);
	dwarf_of_file_close(&f);
	return ours;
}

#endif

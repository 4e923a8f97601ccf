/*
 * Call frame information, the entries: see cfi.h; cfi_program.c runs their programs.
 *
 * Entries name the common entry (CIE) that they share by its place. Each of these is read
 * once, and its program run once, when the first entry names it: reading costs no more
 * than the section is long, whatever the bytes say.
 */
#include "libsymcache/dwarf/cfi_parts.h"

#include <elf.h>

#include "libsymcache/base/sort.h"

#define PRESERVED(from, to) ((2u << (to)) - (1u << (from)))

const struct dw_cfi_machine *dw_cfi_machine(uint16_t machine)
{
	static const struct dw_cfi_machine machines[] = {
		{ EM_X86_64, 7, 6, 255, 16, 1 << 3 | 1 << 6 | PRESERVED(12, 15) },
		{ EM_386, 4, 5, 255, 8, 1 << 3 | PRESERVED(5, 7) },
		{ EM_AARCH64, 31, 29, 30, 32, PRESERVED(19, 29) },
		{ EM_ARM, 13, 11, 14, 15, PRESERVED(4, 11) },
		{ EM_RISCV, 2, 8, 1, 31, PRESERVED(8, 9) | PRESERVED(18, 27) },
		{ EM_PPC64, 1, 31, DW_CFI_PPC64_LINK, DW_CFI_PPC64_LINK, 1 << 2 | PRESERVED(14, 30) | 1u << 31 },
		{ EM_S390, 15, 11, 14, 15, PRESERVED(6, 13) },
	};

	for (size_t i = 0; i < sizeof(machines) / sizeof(*machines); i++)
		if (machines[i].machine == machine)
			return &machines[i];
	return NULL;
}

static void broken(struct dw_cfi *c, uint64_t offset, const char *why)
{
	if (!c->broken++)
		sc_error_set(&c->first_fault, SC_EFORMAT, "section %s: entry at 0x%llx: %s",
			     c->section.eh ? ".eh_frame" : ".debug_frame",
			     (unsigned long long)offset, why);
}

/* ---- common entries ------------------------------------------------------------------ */

/* The personality routine may be an indirect pointer: only its size matters. */
static void skip_pointer(const struct dw_cfi_section *s, struct dw_cursor *c, uint8_t encoding)
{
	if (encoding != PE_OMIT)
		dw_cfi_pointer(s, c, encoding & (uint8_t)~PE_INDIRECT);
}

static const char *read_augmentation(const struct dw_cfi_section *s, struct dw_cursor *c,
				     const char *text, struct dw_cfi_common *ret)
{
	struct dw_cursor data;
	uint64_t size;

	if (!*text)
		return NULL;
	if (*text != 'z')
		return "unknown augmentation";
	size = dw_uleb(c);
	data = *c;
	dw_skip(c, size);
	data.end = c->p;
	ret->has_data = true;
	for (text++; *text; text++) {
		switch (*text) {
		case 'R': ret->encoding = dw_u8(&data); break;
		case 'L': dw_u8(&data); break;
		case 'P': skip_pointer(s, &data, dw_u8(&data)); break;
		case 'S': ret->row.flags |= DW_CFI_SIGNAL_FRAME; break;
		case 'B': ret->row.flags |= DW_CFI_KEY_B; break;
		default: return NULL; /* what follows is skipped by its size */
		}
	}
	return data.bad ? "augmentation data is cut off" : NULL;
}

/* Reads the common entry whose version stands at `c`. NULL, or what is wrong with it. */
static const char *read_common(struct dw_cfi *cfi, struct dw_cursor *c, struct dw_cfi_common *ret)
{
	const struct dw_cfi_section *s = &cfi->section;
	const char *augmentation, *fault;
	uint8_t version = dw_u8(c);

	if (version != 1 && version != 3 && version != 4)
		return "unknown version";
	augmentation = dw_str(c);
	if (version == 4) {
		if (dw_u8(c) != (s->is_64 ? 8 : 4))
			return "address size of another machine";
		ret->segment_size = dw_u8(c);
	}
	ret->code_factor = dw_uleb(c);
	ret->data_factor = dw_sleb(c);
	ret->return_column = version == 1 ? dw_u8(c) : dw_uleb(c);
	fault = read_augmentation(s, c, augmentation, ret);
	if (fault || c->bad)
		return fault ? fault : "cut off";
	return dw_cfi_run_common(cfi, ret, (uint32_t)(c->p - s->bytes.data),
				 (uint32_t)(c->end - s->bytes.data)) ? NULL : "bad program";
}

/* What the length and identity of an entry say. */
struct entry_head {
	uint64_t offset, id_at, id;
	struct dw_cursor c; /* behind the identity, up to its end */
	bool common;
};

/* Reads the length and identity of the entry at `c`; false: there is no further one. */
static bool next_head(const struct dw_cfi_section *s, struct dw_cursor *c, struct entry_head *ret)
{
	unsigned offset_size;
	uint64_t length;

	do {
		ret->offset = (uint64_t)(c->p - s->bytes.data);
		if (!dw_left(c))
			return false;
		length = dw_initial_length(c, &offset_size);
	} while (!length && !c->bad); /* a terminator */
	ret->id_at = (uint64_t)(c->p - s->bytes.data);
	ret->c = *c;
	dw_skip(c, length);
	if (c->bad)
		return false;
	ret->c.end = c->p;
	if (s->eh)
		offset_size = 4;
	ret->id = dw_uint(&ret->c, offset_size);
	ret->common = ret->id == (s->eh ? 0 : offset_size == 8 ? UINT64_MAX : UINT32_MAX);
	return true;
}

static bool is_common_at(const void *ctx, uint32_t index)
{
	const struct common_wanted *w = ctx;

	return w->cfi->commons.data[index].offset == w->offset;
}

/* The common entry at `offset`, read when it is named first. SC_ENOMEM. */
static int find_common(struct dw_cfi *cfi, struct sc_intern *known, uint64_t offset, uint32_t *ret)
{
	struct common_wanted wanted = { cfi, offset };
	struct dw_cfi_common *common;
	const char *fault = "no common entry";
	struct dw_cursor c;
	struct entry_head head;
	uint32_t *slot;

	if (cfi->commons.len && cfi->commons.data[*ret].offset == offset)
		return 0;
	slot = sc_intern_find(known, offset * 0x9e3779b97f4a7c15u, is_common_at, &wanted);
	if (slot && *slot != SC_INTERN_NEW) {
		*ret = *slot;
		return 0;
	}
	common = slot ? vec_push(&cfi->commons) : NULL;
	if (!common)
		return SC_ENOMEM;
	*ret = *slot = (uint32_t)(cfi->commons.len - 1);
	common->offset = offset;
	c = dw_cfi_cursor(&cfi->section, offset, UINT64_MAX);
	if (offset < cfi->section.bytes.size && next_head(&cfi->section, &c, &head) &&
	    head.offset == offset && head.common)
		fault = read_common(cfi, &head.c, common);
	common->bad = fault;
	if (fault)
		broken(cfi, offset, fault);
	return 0;
}

/* ---- entries ------------------------------------------------------------------------ */

static bool starts_before(const struct dw_cfi_entry *a, const struct dw_cfi_entry *b)
{
	return a->start < b->start;
}

SC_SORT(sort_entries, struct dw_cfi_entry, starts_before)

static int add_entry(struct dw_cfi *cfi, struct entry_head *h, uint32_t cie, dw_cfi_code_fn *code,
		     const void *ctx)
{
	const struct dw_cfi_section *s = &cfi->section;
	const struct dw_cfi_common *common = &cfi->commons.data[cie];
	struct dw_cfi_entry *e;
	uint64_t start, size;

	dw_skip(&h->c, common->segment_size);
	start = dw_cfi_pointer(s, &h->c, common->encoding);
	size = dw_cfi_number(s, &h->c, common->encoding & PE_FORMAT);
	if (common->has_data)
		dw_skip(&h->c, dw_uleb(&h->c));
	if (h->c.bad) {
		broken(cfi, h->offset, "cut off");
		return 0;
	}
	if (!s->is_64)
		size = (uint32_t)size;
	if (!size || start == UINT64_MAX || !code(ctx, start))
		return 0;
	e = vec_push(&cfi->entries);
	if (!e)
		return SC_ENOMEM;
	*e = (struct dw_cfi_entry){
		start, start + size < start ? UINT64_MAX : start + size, start, cie,
		(uint32_t)(h->c.p - s->bytes.data), (uint32_t)(h->c.end - s->bytes.data),
	};
	return 0;
}

/* Of what overlaps, the first has the addresses. */
static void cut_overlaps(struct dw_cfi *cfi)
{
	size_t n = 0;
	uint64_t end = 0;

	for (size_t i = 0; i < cfi->entries.len; i++) {
		struct dw_cfi_entry e = cfi->entries.data[i];

		if (e.end <= end)
			continue;
		if (e.start < end)
			e.start = end;
		end = e.end;
		cfi->entries.data[n++] = e;
	}
	cfi->entries.len = n;
}

int dw_cfi_read(const struct dw_cfi_section *section, dw_cfi_code_fn *code, const void *ctx,
		struct dw_cfi *ret, struct sc_error *err)
{
	struct sc_intern known = { 0 };
	struct dw_cursor c = dw_cfi_cursor(section, 0, UINT64_MAX);
	struct entry_head h;
	uint32_t cie = 0;
	int rc = 0;

	*ret = (struct dw_cfi){ .section = *section };
	if (section->bytes.size > INT32_MAX)
		return sc_error_set(err, SC_ELIMIT, "call frame information of more than 2 GiB");
	while (!rc && next_head(section, &c, &h)) {
		if (h.common)
			continue;
		if (section->eh && h.id > h.id_at) {
			broken(ret, h.offset, "names a common entry before the section");
			continue;
		}
		rc = find_common(ret, &known, section->eh ? h.id_at - h.id : h.id, &cie);
		if (rc)
			break;
		if (ret->commons.data[cie].bad)
			broken(ret, h.offset, "its common entry is broken");
		else
			rc = add_entry(ret, &h, cie, code, ctx);
	}
	if (c.bad)
		broken(ret, h.offset, "cut off");
	sc_intern_deinit(&known);
	if (rc || !sort_entries(ret->entries.data, ret->entries.len)) {
		dw_cfi_deinit(ret);
		return sc_no_memory(err);
	}
	cut_overlaps(ret);
	return 0;
}

void dw_cfi_deinit(struct dw_cfi *cfi)
{
	vec_deinit(&cfi->entries);
	vec_deinit(&cfi->commons);
}

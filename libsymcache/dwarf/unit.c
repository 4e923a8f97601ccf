/* The units of a .debug_info section: see unit.h. */
#include "libsymcache/dwarf/unit.h"

#include "libsymcache/base/limits.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"

void dw_debug_deinit(struct dw_debug *d)
{
	for (size_t i = 0; i < d->abbrevs.len; i++) {
		struct dw_abbrevs *abbrevs = d->abbrevs.data[i].abbrevs; /* NULL: out of memory */

		if (abbrevs)
			dw_abbrevs_deinit(abbrevs);
		free(abbrevs);
	}
	vec_deinit(&d->abbrevs);
	dw_abbrev_pool_deinit(&d->abbrev_pool);
	vec_deinit(&d->units);
	vec_deinit(&d->signatures);
	sc_intern_deinit(&d->abbrev_set);
	if (d->types) {
		dw_debug_deinit(d->types);
		free(d->types);
	}
}

static void note_fault(struct dw_debug *d, const struct sc_error *fault)
{
	if (!d->faults++)
		d->first_fault = *fault;
}

/* ---- abbreviations ------------------------------------------------------------ */

struct abbrev_key {
	const struct dw_debug *d;
	uint64_t offset;
	struct dw_form_sizes sizes;
};

static bool same_abbrevs(const void *ctx, uint32_t i)
{
	const struct abbrev_key *k = ctx;
	const struct dw_abbrev_cache *c = &k->d->abbrevs.data[i];

	return c->offset == k->offset && dw_same_sizes(&c->sizes, &k->sizes);
}

/* How many more records the tables may have. They do not overlap, and a record stands for
 * two bytes at least: more than the section has bytes, or twice, since units of two kinds
 * may share a table, are a lie. */
static uint64_t abbrevs_left(const struct dw_debug *d)
{
	uint64_t most = 2 * (uint64_t)d->sections.abbrev.size;
	uint64_t limit = sc_limit_abbrevs(d->sections.file_size);

	most = most < limit ? most : limit;
	return most > d->abbrev_records ? most - d->abbrev_records : 0;
}

/* Room for a table. NULL: out of memory. */
static struct dw_abbrevs *add_abbrevs(struct dw_debug *d, const struct dw_unit *u)
{
	struct dw_abbrev_cache *added = vec_push(&d->abbrevs);

	if (!added)
		return NULL;
	added->offset = u->abbrev_offset;
	added->sizes = u->sizes;
	added->abbrevs = calloc(1, sizeof(*added->abbrevs));
	return added->abbrevs;
}

static int find_whole_abbrevs(struct dw_debug *d, struct dw_unit *u, struct sc_error *err)
{
	const uint64_t offset = u->abbrev_offset;
	struct abbrev_key key = { d, offset, u->sizes };
	struct dw_abbrevs *added;
	uint32_t *slot = sc_intern_find(&d->abbrev_set, offset * 0x9e3779b97f4a7c15ull,
					same_abbrevs, &key);
	uint64_t left = abbrevs_left(d);
	int rc;

	if (!slot)
		return sc_no_memory(err);
	if (*slot == SC_INTERN_NEW) {
		if (!left)
			return sc_error_set(err, SC_EFORMAT, "abbreviation tables overlap");
		*slot = (uint32_t)d->abbrevs.len;
		added = add_abbrevs(d, u);
		if (!added)
			return sc_no_memory(err);
		rc = dw_abbrevs_read(dw_cursor_at(&d->sections.abbrev, offset, false), &u->sizes,
				     left, &d->abbrev_pool, added, err);
		u->abbrevs = added;
		d->abbrev_records += u->abbrevs->records;
		/* What was read of a broken table serves; entries that want
		 * what is missing are faults of their units. */
		return rc == SC_ENOMEM ? rc : 0;
	}
	u->abbrevs = d->abbrevs.data[*slot].abbrevs;
	return 0;
}

/* One of a few kinds of units? */
static bool is_of_few_kinds(struct dw_debug *d, const struct dw_form_sizes *sizes)
{
	for (unsigned i = 0; i < d->num_kinds; i++)
		if (dw_same_sizes(&d->kinds[i], sizes))
			return true;
	if (d->num_kinds == DW_KINDS)
		return false;
	d->kinds[d->num_kinds++] = *sizes;
	return true;
}

static bool same_code(struct dw_cursor a, struct dw_cursor b)
{
	return dw_uleb(&a) == dw_uleb(&b) && !a.bad && !b.bad;
}

/*
 * The root's alone. Tables that do not overlap have for each kind of units at most half as many
 * records as the section has bytes: none is refused, so that they need not be counted. If a unit
 * is of yet another kind, or its table is not one of those, all are read as ever.
 */
static int find_root_abbrev(struct dw_debug *d, struct dw_unit *u, struct sc_error *err)
{
	const struct dw_abbrev_starts *s = d->abbrev_starts;
	const size_t at = SC_SEARCH(i, s->list.len, s->list.data[i].offset < u->abbrev_offset);
	const size_t read = d->abbrevs.len;
	struct dw_cursor c = dw_entry_cursor(u, u->first_entry), root;
	struct dw_abbrevs *added;
	int rc = 0;

	if (at < s->list.len && s->list.data[at].offset == u->abbrev_offset &&
	    abbrevs_left(d) > DW_KINDS * (uint64_t)d->sections.abbrev.size / 2 &&
	    is_of_few_kinds(d, &u->sizes)) {
		added = add_abbrevs(d, u);
		if (!added)
			return sc_no_memory(err);
		u->abbrevs = added;
		root = dw_cursor_at(&d->sections.abbrev, s->list.data[at].root - 1, false);
		u->partly = s->list.data[at].root && same_code(c, root);
		rc = u->partly ?
			dw_abbrevs_read_one(root, &u->sizes, &d->abbrev_pool, added, err) :
			dw_abbrevs_read(dw_cursor_at(&d->sections.abbrev, u->abbrev_offset, false),
					&u->sizes, UINT64_MAX, &d->abbrev_pool, added, err);
		return rc == SC_ENOMEM ? rc : 0;
	}
	d->abbrev_starts = NULL;
	for (size_t i = 0; i < read && rc != SC_ENOMEM; i++) {
		struct dw_unit before = { .debug = d, .abbrev_offset = d->abbrevs.data[i].offset,
					  .sizes = d->abbrevs.data[i].sizes };

		rc = find_whole_abbrevs(d, &before, err);
	}
	return rc == SC_ENOMEM ? rc : find_whole_abbrevs(d, u, err);
}

static int find_abbrevs(struct dw_debug *d, struct dw_unit *u, struct sc_error *err)
{
	return d->abbrev_starts ? find_root_abbrev(d, u, err) : find_whole_abbrevs(d, u, err);
}

int dw_unit_complete(struct dw_unit *u, struct dw_abbrev_pool *pool, struct dw_abbrevs *ret,
		     struct sc_error *err)
{
	const struct dw_sections *s = &u->debug->sections;
	const int rc = dw_abbrevs_read(dw_cursor_at(&s->abbrev, u->abbrev_offset, false), &u->sizes,
				       UINT64_MAX, pool, ret, err);

	u->abbrevs = ret;
	u->partly = false;
	return rc == SC_ENOMEM ? rc : 0;
}

/* ---- headers -------------------------------------------------------------------- */

/* Offsets that DWARF 5 has behind a header where the attribute is missing. */
static void default_bases(struct dw_unit *u)
{
	bool v5 = u->sizes.version >= 5, wide = u->sizes.offset_size == 8;

	u->str_offsets_base = v5 ? (wide ? 16 : 8) : 0;
	/* It has no such offset in DWARF 5: without the attribute, an index means nothing. */
	u->addr_base = v5 ? UINT64_MAX : 0;
	u->rnglists_base = wide ? 20 : 12;
}

static int read_root(struct dw_unit *u, struct sc_error *err)
{
	struct dw_value v[DW_NUM_SLOTS] = {0};
	struct dw_cursor c = dw_entry_cursor(u, u->first_entry);
	const struct dw_abbrev *abbrev = dw_abbrev(u->abbrevs, dw_uleb(&c));
	uint64_t n;

	if (c.bad || !abbrev)
		return sc_error_set(err, SC_EFORMAT, "no root entry");
	dw_read_attributes(&c, u, abbrev, v);
	if (c.bad)
		return sc_error_set(err, SC_EFORMAT, "root entry is cut off");
	u->tag = abbrev->tag;
	default_bases(u);
	dw_value_number(&v[DW_SLOT_STR_OFFSETS_BASE], &u->str_offsets_base);
	dw_value_number(&v[DW_SLOT_ADDR_BASE], &u->addr_base);
	dw_value_number(&v[DW_SLOT_RNGLISTS_BASE], &u->rnglists_base);
	dw_value_number(&v[DW_SLOT_GNU_RANGES_BASE], &u->ranges_base);
	if (u->sizes.version < 5) /* in DWARF 5 it stands in the header */
		dw_value_number(&v[DW_SLOT_DWO_ID], &u->id);
	u->split_name = dw_value_string(u, &v[DW_SLOT_DWO_NAME]);
	u->has_stmt_list = dw_value_number(&v[DW_SLOT_STMT_LIST], &u->stmt_list);
	if (dw_value_number(&v[DW_SLOT_LANGUAGE], &n) && n <= UINT16_MAX)
		u->lang = (uint32_t)n;
	u->comp_dir = dw_value_string(u, &v[DW_SLOT_COMP_DIR]);
	if (!dw_value_address(u, &v[DW_SLOT_LOW_PC], &u->base_vaddr))
		dw_value_address(u, &v[DW_SLOT_ENTRY_PC], &u->base_vaddr);
	return 0;
}

/*
 * Units may share a line table, but not all of them a long one: the rows of a
 * table are read for each unit that names it. What all of them read together is
 * bounded by the size of the file; units beyond that go without lines. Of
 * partial and type units nothing but the header of the table is read.
 */
static void charge_lines(struct dw_debug *d, struct dw_unit *u)
{
	struct dw_cursor c = dw_cursor_at(&d->sections.line, u->stmt_list, d->sections.swap);
	unsigned offset_size;
	uint64_t bytes;
	struct sc_error fault;

	if (!u->has_stmt_list)
		return;
	bytes = dw_initial_length(&c, &offset_size);
	if (u->tag == DW_TAG_partial_unit || u->type == DW_UT_type || u->type == DW_UT_split_type) {
		dw_skip(&c, dw_u16(&c) >= 5 ? 2 : 0);
		bytes = dw_uint(&c, offset_size);
	}
	d->line_bytes += bytes < dw_left(&c) ? bytes : dw_left(&c);
	if (d->line_bytes <= sc_limit_line_bytes(d->sections.file_size))
		return;
	u->has_stmt_list = false;
	sc_error_set(&fault, SC_EFORMAT, "unit at 0x%llx: more line programs than a file of "
		     "%llu bytes has", (unsigned long long)u->offset,
		     (unsigned long long)d->sections.file_size);
	note_fault(d, &fault);
}

/* Reads one header at *c. SC_EFORMAT: the next header cannot be found. */
static int read_header(struct dw_debug *d, struct dw_cursor *c, struct sc_error *err)
{
	const uint8_t *start = d->sections.info.data;
	struct dw_unit *u;
	uint64_t length;
	unsigned offset_size;
	struct sc_error fault;
	int rc;

	if (d->units.len >= sc_limit_units(d->sections.file_size))
		return sc_error_set(err, SC_EFORMAT, "unit at 0x%llx: more units than a file of "
				    "%llu bytes has", (unsigned long long)(c->p - start),
				    (unsigned long long)d->sections.file_size);
	u = vec_push(&d->units);
	if (!u)
		return sc_no_memory(err);
	u->debug = d;
	u->offset = (uint64_t)(c->p - start);
	length = dw_initial_length(c, &offset_size);
	if (c->bad || length > dw_left(c)) {
		d->units.len--;
		return sc_error_set(err, SC_EFORMAT, "unit at 0x%llx is longer than .debug_info",
				    (unsigned long long)u->offset);
	}
	u->end = (uint64_t)(c->p - start) + length;
	u->sizes.offset_size = (uint8_t)offset_size;
	u->sizes.version = dw_u16(c);
	u->type = DW_UT_compile;
	if (u->sizes.version >= 5) {
		u->type = dw_u8(c);
		u->sizes.address_size = dw_u8(c);
		u->abbrev_offset = dw_uint(c, offset_size);
		if (u->type == DW_UT_skeleton || u->type == DW_UT_split_compile)
			u->id = dw_u64(c);
	} else {
		u->abbrev_offset = dw_uint(c, offset_size);
		u->sizes.address_size = dw_u8(c);
		if (d->is_types)
			u->type = DW_UT_type;
	}
	if (u->type == DW_UT_type || u->type == DW_UT_split_type) {
		u->id = dw_u64(c);
		u->type_offset = dw_uint(c, offset_size);
	}
	u->first_entry = (uint64_t)(c->p - start);
	if (c->bad || u->first_entry > u->end)
		rc = sc_error_set(&fault, SC_EFORMAT, "header is cut off");
	else if (u->sizes.version < 2 || u->sizes.version > 5)
		rc = sc_error_set(&fault, SC_EFORMAT, "unknown DWARF version %u",
				  u->sizes.version);
	else if (u->sizes.address_size != 2 && u->sizes.address_size != 4 &&
		 u->sizes.address_size != 8)
		rc = sc_error_set(&fault, SC_EFORMAT, "addresses of %u bytes",
				  u->sizes.address_size);
	else
		rc = find_abbrevs(d, u, &fault);
	if (!rc && u->first_entry < u->end) /* without entries it is empty, not broken */
		rc = read_root(u, &fault);
	if (!rc)
		charge_lines(d, u);
	if (rc == SC_ENOMEM)
		return sc_error_set(err, rc, "out of memory");
	if (rc) {
		sc_error_prefix(&fault, "unit at 0x%llx: ", (unsigned long long)u->offset);
		note_fault(d, &fault);
		u->broken = true;
	}
	c->p = start + u->end;
	c->bad = false;
	return 0;
}

/* True if the unit that begins at *c ends within `ready` bytes of the section, or
 * says that it does not end within the section: then reading it fails. */
static bool is_there(const struct dw_debug *d, struct dw_cursor c, uint64_t ready)
{
	uint64_t at = (uint64_t)(c.p - d->sections.info.data), length;
	unsigned offset_size;

	if (ready == d->sections.info.size)
		return true;
	if (ready - at < 12)
		return false;
	length = dw_initial_length(&c, &offset_size);
	return c.bad || length > dw_left(&c) ||
	       (uint64_t)(c.p - d->sections.info.data) + length <= ready;
}

int dw_debug_read_more(struct dw_debug *d, uint64_t ready, struct sc_error *err)
{
	struct dw_cursor c = dw_cursor_at(&d->sections.info, d->next, d->sections.swap);
	struct sc_error fault;

	while (dw_left(&c) && d->next < ready && is_there(d, c, ready)) {
		int rc = read_header(d, &c, &fault);
		if (rc == SC_ENOMEM)
			return sc_error_set(err, rc, "out of memory");
		if (rc) {
			note_fault(d, &fault);
			d->next = d->sections.info.size;
			return 0;
		}
		d->next = (uint64_t)(c.p - d->sections.info.data);
	}
	return 0;
}

static inline bool signature_before(const struct dw_signature *a, const struct dw_signature *b)
{
	return a->signature < b->signature;
}

SC_SORT(sort_signatures, struct dw_signature, signature_before)

static bool list_signatures(struct dw_debug *d)
{
	for (size_t i = 0; i < d->units.len; i++) {
		const struct dw_unit *u = &d->units.data[i];
		struct dw_signature *s;

		if (u->broken || (u->type != DW_UT_type && u->type != DW_UT_split_type))
			continue;
		s = vec_push(&d->signatures);
		if (!s)
			return false;
		*s = (struct dw_signature){ u->id, i };
	}
	return sort_signatures(d->signatures.data, d->signatures.len);
}

int dw_debug_read(struct dw_debug *d, struct sc_error *err)
{
	int rc = dw_debug_read_more(d, d->sections.info.size, err);

	if (!rc && !list_signatures(d))
		rc = sc_no_memory(err);
	if (rc || !d->sections.types.size)
		return rc;
	d->types = calloc(1, sizeof(*d->types));
	if (!d->types)
		return sc_no_memory(err);
	d->types->sections = d->sections;
	d->types->sections.info = d->sections.types;
	d->types->sections.types = (struct dw_section){0};
	d->types->is_types = true;
	d->types->alt = d->alt;
	rc = dw_debug_read(d->types, err);
	if (d->types->faults && !d->faults)
		d->first_fault = d->types->first_fault;
	d->faults += d->types->faults;
	return rc;
}

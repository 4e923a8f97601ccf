/*
 * One ELF file → the layout of its cache: opens the input, drives the readers
 * and the flattening, adds symbols, lays out.
 */
#include "libsymcache/write/build.h"

#include <elf.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "libsymcache/base/account.h"
#include "libsymcache/base/limits.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/process.h"
#include "libsymcache/write/arch.h"
#include "libsymcache/write/cache_locals.h"
#include "libsymcache/write/go.h"
#include "libsymcache/write/image/encode.h"
#include "libsymcache/write/image/layout.h"
#include "libsymcache/write/image/transform.h"
#include "libsymcache/write/image/unwind.h"
#include "libsymcache/write/input/files.h"
#include "libsymcache/write/input/input.h"
#include "libsymcache/write/units.h"
#include "libsymcache/write/watch.h"

struct symcache_build {
	struct sc_input input;
	struct dw_libdw_reader *libdw; /* strings of its facts are its own */
	struct sc_units units;
	struct sc_final ranges;
	struct sc_starts starts;
	struct sc_locals locals;
	struct sc_rows unwind;
	struct symcache_unwind unwind_view;
	struct sc_error cfi_fault; /* the first of what unwind.facts.broken counts */
	struct sc_layout *layout;
	struct dw_wanted wanted; /* the only addresses; n 0: all */
	unsigned threads;
	struct symcache_build_info info;
};

void symcache_build_destroy(struct symcache_build *b)
{
	if (!b)
		return;
	sc_layout_destroy(b->layout);
	sc_final_deinit(&b->ranges);
	sc_starts_deinit(&b->starts);
	sc_locals_deinit(&b->locals);
	sc_rows_deinit(&b->unwind);
	sc_units_deinit(&b->units);
	dw_libdw_close(b->libdw);
	sc_input_close(&b->input);
	free(b);
}

/* ---- DWARF --------------------------------------------------------------------------- */

static void note_faults(struct symcache_build *b, uint64_t n, const struct sc_error *first)
{
	if (n && !b->info.bad_units)
		memcpy(b->info.first_fault, first->msg, sizeof(b->info.first_fault));
	b->info.bad_units += n;
}

static int read_with_libdw(struct symcache_build *b, const struct sc_flatten_env *env,
			   struct sc_error *err)
{
	struct sc_error fault;
	int rc;

	if (b->input.dwarf->type == ET_REL)
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "%s: libdw's reader does not relocate objects",
				    b->input.dwarf->path);
	if (sc_elf_has_zstd(b->input.dwarf, ".debug_info"))
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "%s: libdw's reader does not know zstd", b->input.dwarf->path);
	rc = dw_libdw_open(b->input.dwarf->fd, b->input.alt ? b->input.alt->fd : -1,
			   &b->input.debug.sections, &b->libdw, &fault);

	if (!rc)
		return sc_units_each(dw_libdw_next, b->libdw, env, &b->units, err);
	if (rc == SC_ENOMEM)
		return sc_no_memory(err);
	note_faults(b, 1, &fault);
	return 0;
}

static size_t inflate_more(void *stream, size_t done)
{
	return sc_elf_stream_more(stream, done);
}

static int read_dwarf(struct symcache_build *b, const struct symcache_build_options *o,
		      unsigned threads, struct sc_watch *watch, struct sc_error *err)
{
	struct sc_input *in = &b->input;
	struct sc_flatten_env env = {
		.load_base = in->image->load_base,
		.code_end = sc_input_code_end,
		.symbol_at = sc_input_symbol_at,
		.shown_symbol_at = sc_input_shown_symbol_at,
		.ctx = in,
	};
	struct sc_unit_source source = {
		.debug = &in->debug,
		.self_contained = in->self_contained,
		.more = in->stream ? inflate_more : NULL,
		.ctx = in->stream,
		.all_read = sc_input_unload, .input = in,
		.wanted = b->wanted.n ? &b->wanted : NULL,
		.drop_lines = in->self_contained && !in->plainly && !b->wanted.n,
		.fetch_names = in->names ? sc_input_fetch_names : NULL,
	};
	int rc;

	if (!in->dwarf) {
		rc = sc_go_read(in, &env, source.wanted, &b->units, &b->info, err);
		note_faults(b, in->faults.count, &in->faults.first);
		return rc;
	}
	b->info.sources |= SYMCACHE_FROM_DWARF;
	if (o->reader == SYMCACHE_READER_LIBDW) {
		rc = read_with_libdw(b, &env, err);
	} else {
		rc = sc_input_read_headers(in, o, threads, err);
		/* .dwo files are found one by one: what they may have is not known yet. Each is bounded
		 * by its own size. */
		env.file_size = in->split.open ? 0 : sc_input_file_size(in);
		sc_lap(watch, SYMCACHE_STAGE_HEADERS);
		if (!rc)
			rc = sc_units_scan(&source, &env, threads, &b->units, err);
		if (rc == SC_ELIMIT)
			sc_error_prefix(err, "%s: ", in->dwarf->path);
		note_faults(b, in->debug.faults, &in->debug.first_fault);
	}
	note_faults(b, in->faults.count, &in->faults.first);
	b->info.units = b->units.count;
	b->info.entries = b->units.entries;
	b->info.rows = b->units.rows;
	note_faults(b, b->units.bad, &b->units.first_fault);
	sc_lap(watch, SYMCACHE_STAGE_UNITS);
	return rc;
}

/* ---- what was read, put together --------------------------------------------------- */

#define WORTH_PARTS 65536 /* ranges */

struct putting {
	struct symcache_build *b;
	unsigned threads;
	bool ok[4];
};

/* The ranges and the data symbols, which both add to the tables; the unwind information; where
 * inlined functions begin. */
static void put_job(void *ctx, unsigned worker, size_t job)
{
	struct putting *p = ctx;
	struct symcache_build *b = p->b;
	struct sc_input *in = &b->input;
	struct sc_units *u = &b->units;

	(void)worker;
	if (job == 0)
		p->ok[0] = sc_assemble(&u->flat, &(struct sc_code_symbols){
			in->code_symbols.data, in->code_symbols.len, in->image->load_base,
			sc_input_shown_symbol_at, in },
			&u->tables, p->threads, &b->ranges);
	else if (job == 1)
		p->ok[1] = sc_data_finish(&u->data, &in->symbols, in->image, &u->tables);
	else if (job == 2)
		p->ok[2] = b->wanted.n ||
			   !sc_unwind_read(in->image, in->separate, &b->unwind, &b->cfi_fault, NULL);
	else
		p->ok[3] = sc_starts_make(&u->flat, u->tables.calls.len, &b->starts);
}

static bool put_together(struct symcache_build *b)
{
	pthread_mutex_t lock = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP; /* it is held for a moment */
	struct putting p = { b, b->threads, {0} };

	if (b->units.flat.ranges.len < WORTH_PARTS)
		p.threads = 1;
	b->units.tables.lock = p.threads > 1 ? &lock : NULL;
	sc_parallel(p.threads, 4, put_job, &p);
	b->units.tables.lock = NULL;
	return p.ok[0] && p.ok[1] && p.ok[2] && p.ok[3];
}

/* ---- the file -------------------------------------------------------------------------- */

static int lay_out(struct symcache_build *b, uint32_t version, struct sc_error *err)
{
	struct sc_elf *e = b->input.image;
	struct sc_content c = {
		.version = version,
		.arch = sc_arch_of_elf(e->machine, e->is_64),
		.tables = &b->units.tables,
		.ranges = &b->ranges,
		.data = &b->units.data.symbols,
		.symbols = &b->units.data.table,
		.aliases = &b->units.data.aliases,
		.segments = e->segments.data,
		.num_segments = e->segments.len,
		.starts = &b->starts,
		.locals = b->info.sources & SYMCACHE_FROM_LOCALS ? &b->locals : NULL,
		.unwind = b->unwind_view.facts ? &b->unwind_view : NULL,
		.image = {
			.load_base = e->load_base,
			.image_size = e->load_end - e->load_base,
			.machine = e->machine,
			.elf_type = e->type,
			.elf_class = e->is_64 ? 64 : 32,
			.big_endian = e->big_endian,
			.build_id_derived = b->info.build_id_derived,
			.build_id_len = (uint8_t)b->info.build_id_len,
			.sources = b->info.sources,
			.broken_units = b->info.bad_units < UINT32_MAX ?
				(uint32_t)b->info.bad_units : UINT32_MAX,
		},
	};
	const char *soname = sc_elf_soname(e);
	struct sc_layout_counts n;
	int rc;

	memcpy(c.image.build_id, b->info.build_id, sizeof(c.image.build_id));
	sc_files_debug_uuid(b->info.build_id, b->info.build_id_len, e->big_endian, c.debug_uuid);
	if (soname && strlen(soname) < sizeof(b->info.soname))
		strcpy(b->info.soname, soname);
	if (!sc_encode_string(&b->units.tables, soname, &c.image.soname) ||
	    !sc_table_string(&b->units.tables, symcache_version, &c.image.writer))
		return sc_no_memory(err);
	rc = sc_layout_create(&c, &b->layout, err);
	if (rc)
		return rc;
	n = sc_layout_counts(b->layout);
	b->info.functions = n.functions;
	b->info.files = n.files;
	b->info.ranges = n.ranges;
	b->info.source_locations = n.source_locations;
	b->info.string_bytes = n.string_bytes;
	b->info.data_symbols = b->units.data.symbols.list.len;
	b->info.merged_ranges = b->units.flat.merged;
	return 0;
}

/* Before the symbols are being read, as libelf belongs to their reading. */
static void describe(struct symcache_build *b)
{
	const struct sc_input *in = &b->input;
	const char *link;
	uint32_t crc;

	sc_files_identity(in->image, b->info.build_id, &b->info.build_id_len,
			  &b->info.build_id_derived);
	b->info.relocatable = in->image->type == ET_REL;
	b->info.load_base = in->image->load_base;
	b->info.debug_path = in->separate && !in->program_found ? in->separate->path : NULL;
	if (sc_elf_debuglink(in->image, &link, &crc))
		snprintf(b->info.debug_link, sizeof(b->info.debug_link), "%s", link);
}

static void describe_sections(struct symcache_build *b)
{
	const struct sc_input *in = &b->input;
	const struct dw_sections *s = &in->debug.sections;

	b->info.section_bytes = s->info.size + s->abbrev.size + s->line.size + s->str.size +
				s->line_str.size + s->str_offsets.size + s->addr.size +
				s->ranges.size + s->rnglists.size + s->types.size;
	b->info.inflated = in->dwarf && in->dwarf->inflated_bytes;
}

/* Waits for the symbols, and says where they are from. */
static int finish_symbols(struct symcache_build *b, struct sc_error *err)
{
	struct sc_input *in = &b->input;
	int rc = sc_input_symbols(in, err);

	if (in->symbols.code.len || in->symbols.data.len)
		b->info.sources |= in->symbols.from_dynsym ? SYMCACHE_FROM_DYNSYM :
							     SYMCACHE_FROM_SYMTAB;
	if (in->mini)
		b->info.sources |= SYMCACHE_FROM_MINIDEBUGINFO;
	return rc;
}

/* Leaves what the only addresses need. */
static void narrow(struct symcache_build *b)
{
	sc_input_narrow(&b->input);
	vec_clear(&b->units.data.variables);
}

static int build(struct symcache_build *b, const char *path,
		 const struct symcache_build_options *o, struct sc_error *err)
{
	uint32_t version = o->format_version ? o->format_version : SYMCACHE_VERSION_MAX;
	unsigned threads = o->threads ? o->threads : sc_cores();
	struct sc_input *in = &b->input;
	struct sc_watch watch = { .seconds = b->info.seconds };
	bool some_code;
	int rc;

	b->threads = threads;
	sc_process_heap();
	b->wanted = (struct dw_wanted){ o->only, o->num_only };
	in->with_symbols = true;
	in->asked = (struct sc_elf_asked){ o->only, o->num_only };
	sc_watch_start(&watch);
	if (version < SYMCACHE_VERSION_MIN || version > SYMCACHE_VERSION_MAX)
		return sc_error_set(err, SC_EINVAL, "format version %u is not one of 7, 8, 9",
				    version);
	rc = sc_input_open(in, path, o, err);
	sc_lap(&watch, SYMCACHE_STAGE_OPEN);
	if (!rc)
		describe(b);
	if (!rc && o->outline) {
		b->info.sources |= in->dwarf ? SYMCACHE_FROM_DWARF : 0;
		return lay_out(b, version, err);
	}
	if (!rc)
		rc = sc_input_load(in, o->reader == SYMCACHE_READER_FAST ? threads : 1, err);
	sc_lap(&watch, SYMCACHE_STAGE_INFLATE);
	if (rc)
		return rc;
	describe_sections(b);
	if (!in->reading.begun)
		sc_input_begin_symbols(in, false);
	rc = read_dwarf(b, o, threads, &watch, err);
	if (!rc)
		rc = finish_symbols(b, err);
	b->units.tables.string_limit = sc_limit_strings(sc_input_file_size(in));
	if (!rc && o->locals && in->dwarf) {
		b->info.sources |= SYMCACHE_FROM_LOCALS;
		rc = sc_locals_read(in, o, &b->units.tables, &b->locals, err);
		sc_lap(&watch, SYMCACHE_STAGE_UNITS);
	}
	if (rc)
		return rc;
	some_code = in->code_symbols.len;
	if (b->wanted.n)
		narrow(b);
	if (!put_together(b))
		return sc_no_memory(err);
	if (sc_table_strings_refused(&b->units.tables))
		return sc_error_set(err, SC_ELIMIT, "%s: more names than a file of %llu bytes has",
				    path, (unsigned long long)sc_input_file_size(in));
	b->units.tables.string_limit = 0; /* transformations may make them longer */
	if ((o->num_transforms && !sc_transform(o->transforms, o->num_transforms, &b->units.tables,
						&b->ranges, &b->units.data, &b->locals)) ||
	    !sc_encode(&b->units.tables, &b->ranges, &b->units.data, &b->locals))
		return sc_no_memory(err);
	sc_flat_deinit(&b->units.flat); /* its memory serves for the cache */
	sc_lap(&watch, SYMCACHE_STAGE_ASSEMBLE);
	b->info.code_above_4g = b->units.flat.too_far + in->symbols_too_far;
	b->info.above_4g = b->info.code_above_4g + b->units.data.too_far;
	b->unwind_view = sc_rows_view(&b->unwind);
	if (b->unwind_view.facts)
		b->info.sources |= SYMCACHE_FROM_CFI;
	if (b->ranges.ranges.len || b->units.data.symbols.list.len || b->unwind.starts.len ||
	    (b->wanted.n && some_code)) { /* then there is a whole cache */
		rc = lay_out(b, version, err);
		sc_lap(&watch, SYMCACHE_STAGE_LAYOUT);
		return rc;
	}
	if (b->wanted.n)
		return sc_error_set(err, SC_ENOTFOUND, "%s: nothing at these addresses", path);
	if (b->info.bad_units)
		return sc_error_set(err, SC_EFORMAT, "%s: %s", path, b->info.first_fault);
	if (b->info.above_4g)
		return sc_error_set(err, SC_ELIMIT, "%s: all of its %llu ranges and symbols lie "
				    "outside of the 4 GiB above the load base 0x%llx", path,
				    (unsigned long long)b->info.above_4g,
				    (unsigned long long)b->info.load_base);
	return sc_error_set(err, SC_ENOSYMBOLS, "%s: no debug information and no symbols", path);
}

int symcache_build_create(const char *path, const struct symcache_build_options *options,
			  struct symcache_build **ret, struct sc_error *err)
{
	static const struct symcache_build_options defaults;
	const struct symcache_build_options *o = options ? options : &defaults;
	struct sc_account account = { .limit = o->memory };
	struct symcache_build *b = calloc(1, sizeof(*b));
	int rc;

	*ret = NULL;
	if (!b)
		return sc_no_memory(err);
	sc_account = o->memory ? &account : NULL;
	rc = build(b, path, o, err);
	if (b->units.too_early) {
		symcache_build_destroy(b);
		b = calloc(1, sizeof(*b));
		if (b)
			b->input.plainly = true;
		rc = b ? build(b, path, o, err) : sc_no_memory(err);
	}
	sc_account = NULL;
	if (!rc) {
		*ret = b;
		return 0;
	}
	symcache_build_destroy(b);
	if (rc == SC_ENOMEM && account.refused)
		return sc_error_set(err, SC_ELIMIT, "%s: it takes more than %llu MiB of memory",
				    path, (unsigned long long)(o->memory >> 20));
	return rc;
}

const struct symcache_build_info *symcache_build_info(const struct symcache_build *b)
{
	return &b->info;
}

void symcache_build_coverage(const struct symcache_build *b, uint64_t *code, uint64_t *lines)
{
	const struct sc_elf *image = b->input.image;
	const struct sc_final_range *r = b->ranges.ranges.data;

	*code = *lines = 0;
	for (size_t i = 0; i < image->exec.list.len; i++)
		*code += image->exec.list.data[i].end - image->exec.list.data[i].start;
	for (size_t i = 0; i + 1 < b->ranges.ranges.len; i++)
		if (r[i].loc.function != SC_NONE && r[i].loc.line)
			*lines += r[i + 1].start - r[i].start;
}

size_t symcache_build_size(const struct symcache_build *b)
{
	return sc_layout_counts(b->layout).size;
}

uint64_t symcache_build_write(const struct symcache_build *b, void *dst)
{
	return sc_layout_write(b->layout, b->threads, dst);
}

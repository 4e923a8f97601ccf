/* What a cache is made from: see input.h. */
#include "libsymcache/base/parallel.h"
#include "libsymcache/write/input/input.h"

#include "libsymcache/base/account.h"
#include "libsymcache/base/search.h"
#include "libsymcache/write/input/files.h"

static void join_symbols(struct sc_input *in)
{
	pthread_mutex_lock(&in->reading.lock);
	if (in->reading.running)
		pthread_join(in->reading.thread, NULL);
	in->reading.running = false;
	pthread_mutex_unlock(&in->reading.lock);
}

void sc_input_close(struct sc_input *in)
{
	join_symbols(in);
	pthread_mutex_destroy(&in->reading.lock);
	sc_elf_stream_close(in->stream);
	dw_debug_deinit(&in->debug);
	vec_deinit(&in->abbrev_starts.list);
	dw_debug_deinit(&in->alt_debug);
	sc_split_close(&in->split);
	vec_deinit(&in->code_symbols);
	sc_elf_symbols_deinit(&in->symbols);
	sc_elf_symbols_deinit(&in->all_symbols);
	sc_elf_close(in->mini);
	sc_elf_close(in->alt);
	sc_elf_close(in->separate);
	sc_elf_close(in->image);
}

static int open_files(struct sc_input *in, const char *path,
		      const struct symcache_build_options *o, struct sc_error *err)
{
	const char *const *dirs = o->debug_dirs ? o->debug_dirs : symcache_debug_dirs;
	struct sc_elf *program;
	struct sc_error fault;
	int rc = sc_files_open_built(o, path, &in->image, err);

	if (rc)
		return rc;
	if (!o->no_debug_search && sc_elf_has(in->image, ".debug_info") &&
	    !sc_files_find_program(o->files, in->image, &program)) {
		in->separate = in->image;
		in->image = program;
		in->separate->image = program;
		in->program_found = true;
	} else if (!sc_elf_has(in->image, ".debug_info") && !o->no_debug_search &&
	    !sc_files_find_debug(o->files, in->image, dirs, &in->separate, NULL))
		in->separate->image = in->image;
	in->dwarf = in->separate ? in->separate :
		    sc_elf_has(in->image, ".debug_info") ? in->image : NULL;
	rc = in->dwarf ? sc_files_find_alt(o->files, in->dwarf, dirs, &in->alt, &fault) :
			 SC_ENOTFOUND;
	if (rc && rc != SC_ENOTFOUND && !in->faults.count++)
		in->faults.first = fault;
	return rc == SC_ENOMEM ? sc_error_set(err, rc, "out of memory") : 0;
}

static int open_again(const struct sc_elf *elf, struct sc_elf **ret, struct sc_error *err)
{
	return elf ? sc_files_open_borrowed(elf->fd, elf->path, ret, err) : 0;
}

/* The files that another input has open. */
static int open_files_of(struct sc_input *in, const struct sc_input *other, struct sc_error *err)
{
	int rc;

	if ((rc = open_again(other->image, &in->image, err)) ||
	    (rc = open_again(other->separate, &in->separate, err)) ||
	    (rc = open_again(other->alt, &in->alt, err)))
		return rc;
	if (in->separate)
		in->separate->image = in->image;
	in->program_found = other->program_found;
	in->dwarf = !other->dwarf ? NULL : in->separate ? in->separate : in->image;
	return 0;
}

/* ---- symbols ------------------------------------------------------------------- */

/* The whole table of the debug file. SC_ENOTFOUND: it has none. */
static int read_separate_table(struct sc_input *in, const struct sc_elf_asked *only,
			       struct sc_elf_symbols *ret, struct sc_error *err)
{
	struct sc_elf_symbols whole;
	int rc = in->separate ? sc_elf_symbols_of_both(in->separate, NULL, only, &whole, err) :
				SC_ENOTFOUND;

	if (rc)
		return rc;
	if (whole.from_dynsym) {
		sc_elf_symbols_deinit(&whole);
		return SC_ENOTFOUND;
	}
	sc_elf_symbols_deinit(ret);
	*ret = whole;
	return 0;
}

/* A stripped image has .dynsym only; its debug file has the whole table, or
 * MiniDebugInfo the functions that .dynsym lacks. */
static int read_tables(struct sc_input *in, const struct sc_elf_asked *only,
		       struct sc_elf_symbols *ret, struct sc_error *err)
{
	struct sc_error fault;
	int rc = sc_elf_symbols_of_both(in->image, NULL, only, ret, err);

	if (rc || !ret->from_dynsym)
		return rc;
	rc = read_separate_table(in, only, ret, err);
	if (rc != SC_ENOTFOUND)
		return rc;
	rc = in->mini ? 0 : sc_elf_open_mini(in->image, &in->mini, &fault);
	if (rc == SC_EFORMAT && !in->reading.faults.count++)
		in->reading.faults.first = fault;
	if (rc)
		return rc == SC_ENOMEM ? sc_error_set(err, rc, "out of memory") : 0;
	sc_elf_symbols_deinit(ret);
	return sc_elf_symbols_of_both(in->image, in->mini, only, ret, err);
}

static int read_symbols(struct sc_input *in, struct sc_error *err)
{
	uint64_t base = in->image->load_base, limit = base + UINT32_MAX;
	int rc = read_tables(in, in->asked.n ? &in->asked : NULL, &in->symbols, err);

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
			return sc_no_memory(err);
		if (c)
			*c = (struct sc_code_symbol){ s->vaddr, end < limit ? end : limit, s->name };
	}
	return 0;
}

static void *read_symbols_thread(void *arg)
{
	struct sc_input *in = arg;

	sc_account = in->reading.account;
	in->reading.rc = read_symbols(in, &in->reading.err);
	atomic_store(&in->reading.done, true);
	return NULL;
}

void sc_input_begin_symbols(struct sc_input *in, bool meanwhile)
{
	struct sc_symbol_reading *r = &in->reading;

	r->begun = true;
	r->account = sc_account;
	r->running = meanwhile && sc_thread_start(&r->thread, read_symbols_thread, in);
	if (!r->running)
		read_symbols_thread(in);
}

int sc_input_symbols(struct sc_input *in, struct sc_error *err)
{
	struct sc_symbol_reading *r = &in->reading;

	join_symbols(in);
	if (r->faults.count && !in->faults.count)
		in->faults.first = r->faults.first;
	in->faults.count += r->faults.count;
	r->faults.count = 0;
	if (r->rc && err)
		*err = r->err;
	return r->rc;
}

void sc_input_narrow(struct sc_input *in)
{
	const struct dw_wanted wanted = { in->asked.vaddrs, in->asked.n };
	struct sc_elf_symbol *all = in->symbols.all.data, *aliases = in->symbols.aliases.data;
	size_t kept = 0;

	for (size_t i = 0; i < in->code_symbols.len; i++) {
		const struct sc_code_symbol s = in->code_symbols.data[i];

		if (dw_wanted_in(&wanted, s.start, s.end))
			in->code_symbols.data[kept++] = s;
	}
	in->code_symbols.len = kept;
	kept = 0;
	for (size_t i = 0; i < in->symbols.all.len; i++) /* one for each address */
		if (dw_wanted_in(&wanted, all[i].vaddr, i + 1 < in->symbols.all.len ?
				 all[i + 1].vaddr : UINT64_MAX))
			all[kept++] = all[i];
	in->symbols.all.len = kept;
	kept = 0;
	for (size_t i = 0, at = 0; i < in->symbols.aliases.len; i++) {
		while (at < in->symbols.all.len && all[at].vaddr < aliases[i].vaddr)
			at++;
		if (at < in->symbols.all.len && all[at].vaddr == aliases[i].vaddr)
			aliases[kept++] = aliases[i];
	}
	in->symbols.aliases.len = kept;
	vec_clear(&in->symbols.data);
}

uint64_t sc_input_code_end(const void *input, uint64_t vaddr)
{
	const struct sc_input *in = input;
	const struct sc_elf_range *r = sc_elf_range_at(&in->image->exec, vaddr);

	if (!in->image->exec.list.len) /* it does not say: what is left of a stripped file, or
					* an assembler's labels alone */
		return vaddr < UINT64_MAX - 1 ? UINT64_MAX - 1 : 0;
	return r ? r->end : 0;
}

/* All symbols, where in->symbols has those at some addresses alone: read when a function is met that
 * has no name. Without memory it has none. */
static const struct sc_elf_symbols *all_symbols(struct sc_input *in)
{
	pthread_mutex_lock(&in->reading.lock);
	if (!in->all_read)
		read_tables(in, NULL, &in->all_symbols, NULL);
	in->all_read = true;
	pthread_mutex_unlock(&in->reading.lock);
	return &in->all_symbols;
}

/* The symbols that name what begins somewhere. */
static const struct sc_elf_symbols *naming_symbols(const void *input)
{
	struct sc_input *in = (struct sc_input *)(uintptr_t)input;

	if (!atomic_load(&in->reading.done))
		join_symbols(in);
	return in->asked.n ? all_symbols(in) : &in->symbols;
}

static const char *name_at(const struct sc_elf_symbol *list, size_t n, uint64_t vaddr)
{
	const size_t at = SC_SEARCH(i, n, list[i].vaddr < vaddr);

	return at < n && list[at].vaddr == vaddr ? list[at].name : NULL;
}

const char *sc_input_symbol_at(const void *input, uint64_t vaddr)
{
	const struct sc_elf_symbols *s = naming_symbols(input);

	return name_at(s->code.data, s->code.len, vaddr);
}

const char *sc_input_shown_symbol_at(const void *input, uint64_t vaddr)
{
	const struct sc_elf_symbols *s = naming_symbols(input);

	return name_at(s->all.data, s->all.len, vaddr);
}

/* ---- all ------------------------------------------------------------------------ */

int sc_input_open(struct sc_input *in, const char *path,
		  const struct symcache_build_options *options, struct sc_error *err)
{
	pthread_mutex_init(&in->reading.lock, NULL);
	return open_files(in, path, options, err);
}

/* Inflates what is left of .debug_info. */
static void end_stream(struct sc_input *in)
{
	struct sc_error fault;

	if (sc_elf_stream_finish(in->stream, &fault)) {
		sc_error_prefix(&fault, "section .debug_info: ");
		if (!in->faults.count++)
			in->faults.first = fault;
		in->debug.sections.info.size = 0;
	}
	sc_elf_stream_close(in->stream);
	in->stream = NULL;
}

#define WORTH_A_THREAD (1u << 20) /* bytes of .debug_info */
#define AHEAD (24u << 20) /* bytes of .debug_info inflated before the other sections are */

struct ahead {
	struct sc_elf_stream *stream;
	atomic_bool enough;
};

static void *inflate_ahead(void *arg)
{
	struct ahead *a = arg;
	size_t before = 0, ready = 0;

	while (!atomic_load(&a->enough) && ready < AHEAD) {
		ready = sc_elf_stream_more(a->stream, 0);
		if (ready == before)
			break;
		before = ready;
	}
	return NULL;
}

/* A large .debug_info is inflated while the other sections are, and if its units are
 * self-contained, while they are read. */
static int load_main(struct sc_input *in, unsigned threads, struct sc_error *err)
{
	struct dw_sections *s = &in->debug.sections;
	struct ahead ahead = {0};
	pthread_t thread;
	bool started;
	int rc = threads < 2 ? SC_ENOTFOUND :
		sc_elf_stream_open(in->dwarf, ".debug_info", &in->stream, &s->info.data,
				   &s->info.size, NULL);

	if (rc == SC_ENOMEM)
		return sc_error_set(err, rc, "out of memory");
	ahead.stream = in->stream;
	started = in->stream && sc_thread_start(&thread, inflate_ahead, &ahead);
	rc = sc_load_dwarf(in->dwarf, false, threads - started, s, &in->faults, err);
	if (!rc && in->with_symbols && threads > 1 && (in->asked.n ||
							s->info.size >= WORTH_A_THREAD))
		sc_input_begin_symbols(in, true);
	in->self_contained = !rc && !in->alt && !s->types.size &&
			     dw_abbrevs_self_contained(&s->abbrev,
						       in->asked.n ? &in->abbrev_starts : NULL);
	if (in->self_contained && in->asked.n)
		in->debug.abbrev_starts = &in->abbrev_starts;
	atomic_store(&ahead.enough, true);
	if (started)
		pthread_join(thread, NULL);
	if (!in->self_contained)
		end_stream(in);
	return rc;
}

int sc_input_load(struct sc_input *in, unsigned threads, struct sc_error *err)
{
	int rc = in->dwarf ? load_main(in, threads, err) : 0;

	if (!rc && in->alt) {
		rc = sc_load_dwarf(in->alt, false, threads, &in->alt_debug.sections, &in->faults,
				   err);
		in->debug.alt = &in->alt_debug;
		in->debug.sections.alt = &in->alt_debug.sections;
	}
	return rc;
}

void sc_input_unload(void *input)
{
	struct sc_input *in = input;
	struct dw_sections *s = &in->debug.sections;
	/* .debug_str and .debug_line_str hold strings of the facts; so do .debug_info and
	 * .debug_line, but those were copied (struct sc_tables). */
	struct dw_section *done[] = { &s->info, &s->abbrev, &s->line, &s->str_offsets, &s->addr,
				      &s->ranges, &s->rnglists };

	sc_input_symbols(in, NULL);
	end_stream(in);
	for (size_t i = 0; in->dwarf && i < sizeof(done) / sizeof(*done); i++) {
		sc_elf_unload(in->dwarf, done[i]->data, done[i]->size);
		*done[i] = (struct dw_section){0};
	}
}

uint64_t sc_input_file_size(const struct sc_input *in)
{
	const struct sc_elf *files[] = { in->image, in->separate, in->alt,
					 in->split.package_elf };
	uint64_t size = 0;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
		size += files[i] ? files[i]->size : 0;
	for (size_t i = 0; i < in->split.files.len; i++)
		size += in->split.files.data[i]->size;
	return size;
}

int sc_input_find_split(struct sc_input *in, const struct symcache_build_options *options,
			unsigned threads, struct sc_error *err)
{
	bool any = false;

	for (size_t i = 0; i < in->debug.units.len && !any; i++)
		any = in->debug.units.data[i].split_name;
	if (!any || options->no_debug_search)
		return 0;
	in->debug.split = &in->split.source;
	in->split.threads = threads;
	in->split.faults = &in->faults;
	return sc_split_open(&in->split, in->image, in->dwarf, options->package, err);
}

int sc_input_open_whole(struct sc_input *in, const char *path, const struct sc_input *opened,
			const struct symcache_build_options *options, struct sc_error *err)
{
	const unsigned threads = options->threads ? options->threads : sc_cores();
	int rc;

	pthread_mutex_init(&in->reading.lock, NULL);
	rc = opened ? open_files_of(in, opened, err) : open_files(in, path, options, err);

	if (rc || !in->dwarf)
		return rc;
	rc = sc_input_load(in, threads, err);
	if (rc)
		return rc;
	end_stream(in);
	rc = dw_debug_read(&in->alt_debug, err);
	if (!rc)
		rc = dw_debug_read(&in->debug, err);
	return rc ? rc : sc_input_find_split(in, options, threads, err);
}

/* What a cache is made from: see input.h. */
#include "libsymcache/write/input/input.h"

#include "libsymcache/base/parallel.h"
#include "libsymcache/write/input/files.h"

void sc_input_close(struct sc_input *in)
{
	sc_input_symbols(in, NULL);
	pthread_mutex_destroy(&in->reading.lock);
	sc_elf_stream_close(in->stream);
	sc_elf_stream_close(in->names);
	free(in->debug.sections.str_pages.pages);
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

int sc_input_open(struct sc_input *in, const char *path,
		  const struct symcache_build_options *options, struct sc_error *err)
{
	pthread_mutex_init(&in->reading.lock, NULL);
	return open_files(in, path, options, err);
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

/* Where split units stand. */
static int find_split(struct sc_input *in, const struct symcache_build_options *options,
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

int sc_input_read_headers(struct sc_input *in, const struct symcache_build_options *o,
			  unsigned threads, struct sc_error *err)
{
	int rc = dw_debug_read(&in->alt_debug, err);

	if (rc || in->self_contained)
		return rc;
	rc = dw_debug_read(&in->debug, err);
	return rc ? rc : find_split(in, o, threads, err);
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
	sc_input_end_stream(in);
	rc = dw_debug_read(&in->alt_debug, err);
	if (!rc)
		rc = dw_debug_read(&in->debug, err);
	return rc ? rc : find_split(in, options, threads, err);
}

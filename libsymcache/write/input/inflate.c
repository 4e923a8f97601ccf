/* The sections of an input: inflated at once, step by step, or when they are known to be needed. */
#include "libsymcache/base/parallel.h"
#include "libsymcache/write/input/input.h"
#include "libsymcache/write/input/load.h"

void sc_input_end_stream(struct sc_input *in)
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

/* False: .debug_str is damaged, or does not end with NUL. */
static bool end_names(struct sc_input *in)
{
	const struct dw_section *str = &in->debug.sections.str;
	const bool ok = !sc_elf_stream_finish(in->names, NULL) && !str->data[str->size - 1];

	sc_elf_stream_close(in->names);
	in->names = NULL;
	return ok;
}

bool sc_input_fetch_names(void *input, const struct sc_kept *units)
{
	struct sc_input *in = input;
	struct dw_sections *s = &in->debug.sections;

	sc_kept_put_back(units, &s->info);
	s->str_pages.pages[(s->str.size - 1) / DW_STR_PAGE] = DW_STR_WANTED;
	return !sc_elf_stream_pages(in->names, DW_STR_PAGE, s->str_pages.pages) && end_names(in);
}

/* Prepares for .debug_str to come later. */
static int begin_names(struct sc_input *in)
{
	struct dw_sections *s = &in->debug.sections;
	const int rc = sc_elf_stream_open(in->dwarf, ".debug_str", 1, &in->names, &s->str.data,
					  &s->str.size);

	if (rc)
		return rc;
	s->str_pages.pages = calloc(s->str.size / DW_STR_PAGE + 1, 1);
	return s->str_pages.pages ? 0 : SC_ENOMEM;
}

#define WORTH_A_THREAD (1u << 20) /* bytes of .debug_info */
#define AHEAD (12u << 20) /* bytes of .debug_info inflated before the other sections are, if all … */
#define AHEAD_LATE (48u << 20) /* … or not .debug_str, which leaves memory for it */

struct ahead {
	struct sc_elf_stream *stream;
	size_t most;
	atomic_bool enough;
};

static void *inflate_ahead(void *arg)
{
	struct ahead *a = arg;
	size_t before = 0, ready = 0;

	while (!atomic_load(&a->enough) && ready < a->most) {
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
	const bool late = in->asked.n && !in->plainly; /* names */
	int rc = threads < 2 && !late ? SC_ENOTFOUND :
		sc_elf_stream_open(in->dwarf, ".debug_info", late ? 1 : WORTH_A_THREAD, &in->stream,
				   &s->info.data, &s->info.size);

	if (in->stream && late)
		rc = begin_names(in);
	if (rc == SC_ENOMEM)
		return sc_error_set(err, rc, "out of memory");
	ahead.stream = in->stream;
	ahead.most = in->names ? AHEAD_LATE : AHEAD;
	started = in->stream && threads > 1 && sc_thread_start(&thread, inflate_ahead, &ahead);
	rc = sc_load_dwarf(in->dwarf, false, threads, s, &in->faults, err);
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
		sc_input_end_stream(in);
	if (in->names && !in->self_contained) {
		free(s->str_pages.pages);
		s->str_pages = (struct dw_str_pages){0};
		if (!end_names(in)) {
			s->str = (struct dw_section){0};
			rc = sc_load_dwarf(in->dwarf, false, threads, s, &in->faults, err);
		}
	}
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
	sc_input_end_stream(in);
	for (size_t i = 0; in->dwarf && i < sizeof(done) / sizeof(*done); i++) {
		sc_elf_unload(in->dwarf, done[i]->data, done[i]->size);
		*done[i] = (struct dw_section){0};
	}
}

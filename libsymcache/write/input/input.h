/*
 * What a cache is made from: the image, its separate debug file, the
 * supplementary file of dwz, split units, their symbols and sections. All strings of the
 * facts lie in here.
 */
#ifndef SC_INPUT_H
#define SC_INPUT_H

#include <pthread.h>
#include <stdatomic.h>

#include "libsymcache/dwarf/line_span.h"
#include "libsymcache/dwarf/unit.h"
#include "libsymcache/elf/elf.h"
#include "libsymcache/elf/stream.h"
#include "libsymcache/elf/symbols.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/flatten/assemble.h"
#include "libsymcache/write/input/kept.h"
#include "libsymcache/write/input/split.h"

/* Symbols are read by a thread of their own, while units are. */
struct sc_symbol_reading {
	atomic_bool done;
	bool begun;
	bool running;         /* the thread is to be joined */
	pthread_mutex_t lock; /* of `running` */
	pthread_t thread;
	int rc;
	struct sc_error err;
	struct sc_section_faults faults;
	struct sc_account *account; /* of the thread that begins it */
};

struct sc_input {
	struct sc_elf *image;     /* the program: the file that was given, or found for it */
	struct sc_elf *separate;  /* its debug file, or NULL */
	bool program_found;       /* the file that was given is `separate` */
	struct sc_elf *alt;       /* the supplementary file, or NULL */
	struct sc_elf *dwarf;     /* image or separate: which has .debug_info; or NULL */
	struct sc_elf *mini;      /* MiniDebugInfo of the image, where used; or NULL */
	/* These three are there after sc_input_symbols(). */
	struct sc_elf_symbols symbols;
	VEC(struct sc_code_symbol) code_symbols;
	uint64_t symbols_too_far; /* left out: out of reach of a u32 */
	bool with_symbols;            /* they are wanted, and read while sections are, if that is
	                               * worth a thread: else by sc_input_begin_symbols() */
	struct sc_elf_asked asked;    /* n > 0: `symbols` are of these addresses alone, and … */
	struct sc_elf_symbols all_symbols; /* … these all, once they are needed */
	bool all_read;
	struct sc_symbol_reading reading;
	struct sc_elf_stream *stream; /* .debug_info is still being inflated; or NULL */
	struct sc_elf_stream *names;  /* .debug_str is inflated when asked's units are known; or NULL */
	bool plainly;                 /* all sections are there until all is read */
	bool self_contained;          /* dw_abbrevs_self_contained(), no type units */
	struct dw_abbrev_starts abbrev_starts; /* for debug.abbrev_starts */
	struct dw_debug debug, alt_debug; /* sections only, until they are read */
	struct sc_split split;    /* .dwo files and .dwp package, where needed */
	struct sc_section_faults faults;
};

/* Opens what there is; then loads the sections. Both fail as symcache_build_create()
 * does. */
int sc_input_open(struct sc_input *in, const char *path,
		  const struct symcache_build_options *options, struct sc_error *err);
int sc_input_load(struct sc_input *in, unsigned threads, struct sc_error *err);

/*
 * Reads the symbols: before it returns or, `meanwhile`, until sc_input_symbols() is called,
 * which says what came of it. Until then libelf belongs to the reading. SC_ENOMEM.
 */
void sc_input_begin_symbols(struct sc_input *in, bool meanwhile);
int sc_input_symbols(struct sc_input *in, struct sc_error *err);

/* Afterwards there are the symbols alone that in->asked needs: those of code that hold one of the
 * addresses, of `all` the last below each; none of data. */
void sc_input_narrow(struct sc_input *in);

/* Bytes of all files that are read. */
uint64_t sc_input_file_size(const struct sc_input *in);

/* Inflates what is left of .debug_info. */
void sc_input_end_stream(struct sc_input *in);

/* `fetch_names` of a source of units: where in->names is one. */
bool sc_input_fetch_names(void *input, const struct sc_kept *units);

/* Gives back the sections that are not needed once all units are read, and the symbols. */
void sc_input_unload(void *input);

/* Reads the headers of all units, unless they are read with the units, and finds where split units
 * stand, if any is a skeleton. SC_ENOMEM. */
int sc_input_read_headers(struct sc_input *in, const struct symcache_build_options *options,
			  unsigned threads, struct sc_error *err);

/* All of this at once, without symbols and with the headers of all units; of the files that
 * another input has open, if `opened` is not NULL. */
int sc_input_open_whole(struct sc_input *in, const char *path, const struct sc_input *opened,
			const struct symcache_build_options *options, struct sc_error *err);

void sc_input_close(struct sc_input *in);

/* For struct sc_flatten_env, with the input as ctx. */
uint64_t sc_input_code_end(const void *input, uint64_t vaddr);
const char *sc_input_symbol_at(const void *input, uint64_t vaddr);

/* The same of the symbol by which look-ups name code: of one address the largest, of equals the last. */
const char *sc_input_shown_symbol_at(const void *input, uint64_t vaddr);

#endif

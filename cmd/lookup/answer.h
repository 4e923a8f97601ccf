/*
 * answer.h: requests are answered: what is found is written as a style wants it.
 *
 * A worker is for one thread; what it writes and has to report gathers in texts, so that
 * several may work on one input.
 */
#ifndef CMD_ANSWER_H
#define CMD_ANSWER_H

#include "cmd/lookup/request.h"
#include "libmarkup/bytes/json.h"
#include "symcache/debug_files.h"

struct symcache_local;

enum output_style { STYLE_LLVM, STYLE_GNU, STYLE_JSON, STYLE_BINUTILS };

/* What all answers have in common. All is borrowed. */
struct answer_options {
	enum protocol protocol;
	enum output_style style;
	bool functions, addresses, pretty, verbose;
	bool list;             /* JSON: all answers are one array */
	bool narrow;           /* STYLE_BINUTILS: addresses have 8 digits */
	bool basenames;        /* likewise: of files of symbols and variables */
	bool inlines;          /* false: one frame, see answer_request() */
	bool name_of_location; /* of that one frame: the inlined function's name */
	bool short_names;      /* the same for the location of a symbol */
	enum symcache_table_rule table;
	uint64_t source_lines; /* of context for each frame */
	struct symcache_source_search search; /* for those; the files are set by session_begin() */
	bool keep_tags;        /* of the values of symbols (HWASan): then no address has them */
	uint64_t adjust_vma;   /* subtracted from addresses */
	bool relative_address; /* addresses count from the load base */
	bool explain;          /* say why, instead of what */
	const char *const *debug_dirs; /* for that, and for `files`; or NULL */
	const char *package;           /* of --dwp; or NULL */
	struct symcache_debug_files *files;     /* set by session_begin() */
	const char *name;      /* of the command line's module, as it stands there; or NULL */
	bool build_id;         /* that is one */
	const char *shown;     /* how answers call it */
	const char *tool;      /* in front of messages */
};

struct worker {
	const struct answer_options *options;
	struct symcache_symbolizer *symbolizer;
	const struct symcache_module *opened; /* the last one that was asked; or NULL */
	uint64_t base;         /* its load base, if addresses count from there */
	struct mk_out out, messages;
	struct symcache_source_files sources;
	struct mk_gen gen;     /* into `out` */
	struct mk_gen *json;   /* that; NULL: another style */
	bool in_array, module_named; /* JSON: of the current answer */
	bool partly;           /* something was not found */
};

/* Out of memory ends the program. */
void worker_init(struct worker *w, const struct answer_options *options,
		 struct symcache_caches *caches, struct symcache_names *names);
void worker_finish(struct worker *w); /* ends a list */
void worker_deinit(struct worker *w); /* writes nothing out */

/*
 * Answers a request into w->out. Without options->inlines a location has one frame: file,
 * line and column of the innermost one, under the name of the function that has the code,
 * or that of the innermost function if name_of_location.
 */
void answer_request(struct worker *w, const struct request *r);

/* The same for n of them, which are looked up together where they are for code of one
 * module. */
void answer_requests(struct worker *w, const struct request *r, size_t n);

/* A message, with the tool's name in front. */
void worker_report(struct worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Why a module, by its name or build ID, has no symbols, in llvm-symbolizer's words; NULL: it
 * says nothing. */
const char *llvm_reason(bool build_id, const char *name);

/* ---- styles: write into w->out ------------------------------------------------------ */

/* The start of an answer, then its places, or that there are none, or a variable, or a
 * fault, then its end. */
void style_begin(struct worker *w, const struct request *r);
void style_end(struct worker *w, const struct request *r);

/* A frame of a location; of a location behind another one (a request for a symbol may have
 * several) the first one is preceded by style_next_location(). */
void style_frame(struct worker *w, const struct request *r, const struct symcache_answer *a,
		 size_t frame);
void style_next_location(struct worker *w);

/* `unknown`: the module has a cache, which knows nothing; else there is none to ask. */
void style_nothing(struct worker *w, const struct request *r, bool unknown);
void style_data(struct worker *w, const struct symcache_shown_data *data); /* NULL: none */
void style_places(struct worker *w, const struct request *r); /* JSON alone: opens their array */
void style_local(struct worker *w, const struct request *r, const struct symcache_local *local);
void style_fault(struct worker *w, const char *why); /* JSON alone */

/* How answers call the module of a request. */
const char *style_module(const struct worker *w, const struct request *r);

/* ---- how answers look, as lookup and llvm-symbolizer are asked for it -------------------- */

enum { FUNCTIONS_NONE, FUNCTIONS_SHORT, FUNCTIONS_LINKAGE };

struct choices {
	int style, functions;
	bool demangle, inlines, basenames, relative_names;
	bool addresses, pretty, verbose, relative_address;
	uint64_t adjust_vma, source_lines;
};

/* By enum output_style, and of FUNCTIONS_…. */
extern const char *const choices_of_style[], *const choices_of_functions[];

/* Sets what follows from them; the rest stays. */
void choices_apply(const struct choices *c, struct answer_options *answers,
		   struct symcache_names_options *names);

#endif

/*
 * parts.h: requests are answered: what is found is written in one of two forms.
 *
 * A worker is for one thread; what it writes and has to report gathers in buffers, so that
 * several may work on one input.
 */
#ifndef SYMCACHE_ANSWERS_PARTS_H
#define SYMCACHE_ANSWERS_PARTS_H

#include "libmarkup/bytes/json.h"
#include "libsymcache/answers/answers.h"
#include "libsymcache/answers/query.h"
#include "libsymcache/write/explain.h"

struct symcache_answerer {
	struct symcache_answer_options options; /* search.files is set */
	struct symcache_caches *caches;
	struct symcache_names *names;
	struct symcache_module *module; /* of all lines; or NULL */
	char *shown;                    /* what answers call it; NULL: each line names its own */
	struct mk_worker *workers;      /* while lines are read */
	unsigned num_workers;
	bool failed;                    /* out of memory */
	unsigned long refusals;         /* of memory, before the first line */
};

/* A line of input, understood. */
struct mk_request {
	const char *line;
	const char *wrong;       /* why it is not understood; or NULL */
	struct mk_query query;   /* for code without a symbol if it is not */
	char *name;              /* of its module, as it stands there; NULL: that of all lines */
	char *shown;             /* the same as answers call it, if that is another; or NULL */
	struct symcache_module *module; /* NULL: there is none */
};

/* Of one thread: in cache lines of its own, as all of them write all the time. */
struct mk_worker {
	const struct symcache_answerer *answerer;
	const struct mk_answer_form *form;
	struct symcache_symbolizer *symbolizer;
	const struct symcache_module *opened; /* the last one that was asked; or NULL */
	const struct symcache_module *lacking; /* the last one of which options.reasons said what it
	                          * lacks */
	uint64_t base;           /* its load base, if addresses count from there */
	struct mk_out out, messages; /* out of memory is an error of `out` */
	struct mk_out path;      /* of mk_shown_path() */
	struct symcache_source_files sources;
	struct mk_gen json;      /* into `out` */
	bool list;               /* JSON: all answers are one array */
	bool in_array, module_named; /* JSON: of the current answer */
	bool also;               /* JSON: other names of a frame are being written */
	bool partly;             /* something was not found */
} __attribute__((aligned(128)));

/* False: out of memory. */
bool mk_worker_init(struct mk_worker *w, const struct symcache_answerer *d, bool list);
void mk_worker_finish(struct mk_worker *w); /* ends a list */
void mk_worker_deinit(struct mk_worker *w); /* all zero is fine */

/* Answers n requests; those for code of one module are looked up together. */
void mk_answer_requests(struct mk_worker *w, const struct mk_request *r, size_t n);

/* Why a module, by its name or build ID, has no symbols, in llvm-symbolizer's words; NULL: it
 * says nothing. */
const char *mk_llvm_reason(bool build_id, const char *name);

/* ---- forms: write into w->out ------------------------------------------------------- */

/* Why an address has the answer it has. */
struct mk_explained {
	const struct symcache *cache;
	uint64_t vaddr;
	struct symcache_why why;
};

/* begin(), then places, or that there are none, or a variable, or a fault, then end(); or
 * explained() alone. next() and fault() alone may be NULL. */
struct mk_answer_form {
	void (*begin)(struct mk_worker *w, const struct mk_request *r);
	/* A frame of a location; of a location behind another one (a request for a symbol may
	 * have several) the first one is preceded by next(). */
	void (*frame)(struct mk_worker *w, const struct mk_request *r,
		      const struct symcache_answer *a, size_t frame);
	void (*next)(struct mk_worker *w);
	/* `unknown`: the JSON of an address of code has one frame without names; else it has no
	 * frame, as LLVM's where the module cannot be read. */
	void (*nothing)(struct mk_worker *w, const struct mk_request *r, bool unknown);
	void (*data)(struct mk_worker *w, const struct symcache_shown_data *data);
	void (*local)(struct mk_worker *w, const struct mk_request *r,
		      const struct symcache_local *local);
	void (*fault)(struct mk_worker *w, const char *why); /* NULL: it has no place for it */
	void (*explained)(struct mk_worker *w, const struct mk_request *r,
			  const struct mk_explained *e);
	void (*end)(struct mk_worker *w, const struct mk_request *r);
};
extern const struct mk_answer_form mk_plain_form, mk_json_form;

/* explained(), in files of their own. */
void mk_plain_explained(struct mk_worker *w, const struct mk_request *r,
			const struct mk_explained *e);
void mk_json_explained(struct mk_worker *w, const struct mk_request *r,
		       const struct mk_explained *e);

/* ---- what forms need ------------------------------------------------------------------ */

/* Completes a binutils answer about `vaddr` where the DWARF has no function, or nothing: the
 * name is that of the nearest symbol, the place that of a variable that begins there, or the
 * file that the symbol table has. `room` is for a frame that is made. */
void mk_binutils_complete(struct mk_worker *w, const struct mk_request *r, uint64_t vaddr,
			  struct symcache_answer *a, struct sc_frame *room);

/* How answers call the module of a request. */
static inline const char *mk_shown_module(const struct mk_worker *w, const struct mk_request *r)
{
	return w->answerer->shown ? w->answerer->shown : r->shown ? r->shown : r->name ? r->name : "";
}

/* `s`, or `unknown` if its ptr is NULL. */
static inline struct sc_str mk_or(struct sc_str s, const char *unknown)
{
	return s.ptr ? s : sc_str_of(unknown);
}

/* A path, whole; ptr NULL: it is not known. Valid until the next call. */
struct sc_str mk_shown_path(struct mk_worker *w, const struct symcache_file *file);

/* A name as it is shown; ptr NULL: there is none. Valid until the symbolizer's next call. */
struct sc_str mk_shown_name(struct mk_worker *w, struct sc_str name, uint32_t lang);

/* Calls `fn` for the other names of the outermost frame of an answer, whose texts are not valid any
 * more then: aliases of the symbol, and functions that were folded into one. What is shown alike
 * counts once. */
void mk_also_of(struct mk_worker *w, const struct symcache_answer *a,
		void (*fn)(struct mk_worker *w, struct sc_str name, bool first));

/* The same of an address that has a symbol. */
void mk_also_explained(struct mk_worker *w, const struct mk_explained *e,
		       void (*fn)(struct mk_worker *w, struct sc_str name, bool first));

/* Is frame `i` of an answer the outermost one, of which other names are asked for? */
static inline bool mk_wants_also(const struct mk_worker *w, const struct symcache_answer *a, size_t i)
{
	return w->answerer->options.also && i + 1 == a->num_frames && a->cache &&
	       w->answerer->options.inlines;
}

/* Lines of the source around a frame, if they are asked for and there. */
static inline struct sc_str mk_source_around(struct mk_worker *w, const struct mk_request *r,
					     const struct sc_frame *f)
{
	const uint64_t lines = w->answerer->options.source_lines;

	return lines ? symcache_source_lines(&w->sources, r->module, f->file, f->line, lines) :
		       (struct sc_str){ "", 0 };
}

#endif

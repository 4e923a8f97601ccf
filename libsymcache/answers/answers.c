/* Lines → requests → answers: see answers.h. */
#include "libsymcache/answers/answers.h"

#include <ctype.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "libsymcache/answers/parts.h"
#include "libsymcache/answers/lines.h"
#include "libsymcache/base/parallel.h"

enum {
	MANY = 8,   /* pieces of input, for more than one thread */
	AHEAD = 32, /* pieces are answered before one that goes out before them */
	WORKERS_MAX = 64,
};

const char *const markup_answer_styles[] = { "LLVM", "GNU", "JSON", NULL };
const char *const markup_functions[] = { "none", "short", "linkage", NULL };

/* A build ID as answers show it. NULL: out of memory. */
static char *upper_case(const char *text)
{
	char *copy = strdup(text);

	for (char *c = copy; c && *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

struct symcache_names_options symcache_answer_names(const struct symcache_answer_options *o)
{
	const bool binutils = o->protocol == MARKUP_PROTOCOL_BINUTILS,
		   ours = o->protocol == MARKUP_PROTOCOL_LOOKUP;

	return (struct symcache_names_options){
		.functions = o->functions == MARKUP_FUNCTIONS_SHORT ? SYMCACHE_FUNCTIONS_SHORT :
			     o->functions == MARKUP_FUNCTIONS_LINKAGE || binutils ?
			     SYMCACHE_FUNCTIONS_WHOLE : SYMCACHE_FUNCTIONS_NONE,
		.mangled = !o->demangle,
		.paths = o->basenames ? SYMCACHE_PATHS_BASENAME :
			 o->relative_names ? SYMCACHE_PATHS_RELATIVE : SYMCACHE_PATHS_RAW,
		.table = binutils ? SYMCACHE_TABLE_NEVER : SYMCACHE_TABLE_OUTERMOST,
		.bytes = o->style == MARKUP_STYLE_JSON && ours ? SYMCACHE_BYTES_CACHED :
			 o->raw ? SYMCACHE_BYTES_ORIGINAL : SYMCACHE_BYTES_PRINTABLE,
		.binutils = binutils,
		.llvm = o->protocol == MARKUP_PROTOCOL_LLVM,
	};
}

int symcache_answerer_create(const struct symcache_answer_options *options,
			     struct symcache_caches *caches, struct symcache_answerer **ret,
			   struct sc_error *err)
{
	const struct symcache_names_options names = symcache_answer_names(options);
	struct symcache_answerer *d = *ret = calloc(1, sizeof(*d));

	if (!d)
		return sc_no_memory(err);
	d->options = *options;
	d->refusals = sc_memory_refusals();
	d->caches = caches;
	d->names = symcache_names_create(&names);
	d->options.search.files = symcache_debug_files_create(options->debug_dirs,
							      options->package);
	if (options->name) {
		d->shown = options->kind == SYMCACHE_MODULE_BUILD_ID ? upper_case(options->name) :
								       strdup(options->name);
		d->module = symcache_caches_module(caches, options->kind, options->name);
	}
	if (d->names && d->options.search.files && (d->shown || !options->name))
		return 0;
	symcache_answerer_destroy(d);
	*ret = NULL;
	return sc_no_memory(err);
}

void symcache_answerer_destroy(struct symcache_answerer *d)
{
	if (!d)
		return;
	symcache_debug_files_destroy(d->options.search.files);
	symcache_names_destroy(d->names);
	free(d->shown);
	free(d);
}

/* ---- lines ------------------------------------------------------------------------- */

/* addr2line's. */
static void understand_hex(const struct symcache_answerer *d, struct mk_worker *w,
			   struct mk_request *r)
{
	uint64_t number, vaddr;
	uint32_t at = 0;

	mk_query_parse_hex(r->line, &r->query, &number);
	if (!*r->line)
		r->line = "0";
	if (!r->query.symbol.ptr)
		return;
	if (d->module &&
	    symcache_symbolize_name(w->symbolizer, d->module, r->query.symbol, &at, &vaddr))
		number = vaddr + r->query.offset;
	r->query = (struct mk_query){ .offset = number };
}

/* FILE:ARCH is FILE, unless there is such a file; answers show it as it stands. */
static bool cut_arch(struct mk_request *r)
{
	char *colon = strrchr(r->name, ':');

	if (!colon || !access(r->name, F_OK))
		return true;
	r->shown = strdup(r->name);
	*colon = 0;
	if (access(r->name, F_OK))
		*colon = ':';
	return r->shown;
}

/* The module that a line names. False: out of memory. */
static bool find_module(const struct symcache_answerer *d, struct mk_request *r)
{
	const struct mk_query *q = &r->query;

	r->name = strndup(q->module.ptr ? q->module.ptr : "", q->module.len);
	if (!r->name)
		return false;
	if (q->module_kind == SYMCACHE_MODULE_BUILD_ID)
		r->shown = upper_case(r->name);
	else if (d->options.protocol == MARKUP_PROTOCOL_LLVM && !cut_arch(r))
		return false;
	if (!r->wrong)
		r->module = symcache_caches_module(d->caches, q->module_kind, r->name);
	return r->shown || q->module_kind != SYMCACHE_MODULE_BUILD_ID;
}

/* The kernel's module that the line names in brackets. False: out of memory. */
static bool find_kernel(const struct symcache_answerer *d, struct mk_request *r)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	struct sc_error err;
	size_t len;

	r->name = strndup(r->query.module.ptr, r->query.module.len);
	if (!r->name)
		return false;
	if (!symcache_caches_find_kernel(d->caches, r->name, NULL, id, &len, &err)) {
		r->module = symcache_caches_module_of_id(d->caches, id, len);
		return r->module;
	}
	free(r->name);
	r->wrong = r->name = strdup(err.msg);
	return r->name;
}

static struct mk_request understand(const struct symcache_answerer *d, struct mk_worker *w,
				    const char *line)
{
	const struct symcache_answer_options *o = &d->options;
	struct mk_request r = { .line = line, .module = d->module };

	if (o->protocol == MARKUP_PROTOCOL_BINUTILS) {
		understand_hex(d, w, &r);
		return r;
	}
	if (!*line)
		return r;
	if (o->protocol == MARKUP_PROTOCOL_LOOKUP && !o->name &&
	    mk_query_parse_kernel(line, &r.query)) {
		if (!find_kernel(d, &r))
			w->out.error = -ENOMEM;
		return r;
	}
	r.wrong = mk_query_parse(line, o->name, o->protocol == MARKUP_PROTOCOL_LOOKUP ?
				 NUMBERS_KERNEL : o->hex ? NUMBERS_HEX : NUMBERS_LLVM, &r.query);
	if (o->name)
		r.query.module_kind = o->kind;
	else if (!find_module(d, &r))
		w->out.error = -ENOMEM;
	if (r.wrong)
		r.query = (struct mk_query){ .kind = QUERY_CODE };
	return r;
}

/* Messages and answers go out, as if they had done so line by line; nothing does after what is
 * not whole. */
static void hand_out(struct symcache_answerer *d, struct mk_out *messages, struct mk_out *out)
{
	const struct symcache_answer_options *o = &d->options;

	d->failed |= messages->error || out->error || sc_memory_refusals() != d->refusals;
	if (messages->len && o->messages && !d->failed)
		o->messages(o->ctx, messages->buf, messages->len);
	if (out->len && !d->failed)
		o->out(o->ctx, out->buf, out->len);
	messages->len = out->len = 0;
}

/* 1 to SYMCACHE_BATCH lines. */
static void answer_batch(struct symcache_answerer *d, struct mk_worker *w,
			 char *const lines[], size_t n)
{
	struct mk_request r[SYMCACHE_BATCH];
	size_t known = 0;

	do
		r[known] = understand(d, w, lines[known]);
	while (++known < n);
	if (!d->options.explain)
		mk_answer_requests(w, r, n);
	for (size_t i = 0; i < n; i++) {
		if (d->options.explain) { /* which takes seconds for each */
			mk_answer_requests(w, &r[i], 1);
			hand_out(d, &w->messages, &w->out);
		}
		free(r[i].name);
		free(r[i].shown);
	}
}

static void answer_piece(struct symcache_answerer *d, struct mk_worker *w,
			 struct mk_lines_piece piece)
{
	char *lines[SYMCACHE_BATCH];
	size_t n;

	do {
		for (n = 0; n < SYMCACHE_BATCH && (lines[n] = mk_lines_take(&piece)); n++)
			;
		if (n)
			answer_batch(d, w, lines, n);
	} while (n == SYMCACHE_BATCH);
}

/* Faults count with MARKUP_PROTOCOL_LOOKUP alone. */
static int result(const struct symcache_answerer *d, bool partly, struct sc_error *err)
{
	return d->failed ? sc_no_memory(err) :
	       partly && d->options.protocol == MARKUP_PROTOCOL_LOOKUP;
}

static int answer_lines(struct symcache_answerer *d, char *const *lines, size_t n, bool list,
			struct sc_error *err)
{
	struct mk_worker w;

	if (mk_worker_init(&w, d, list)) {
		for (size_t i = 0; i < n; i += SYMCACHE_BATCH)
			answer_batch(d, &w, lines + i, n - i < SYMCACHE_BATCH ? n - i :
										SYMCACHE_BATCH);
		mk_worker_finish(&w);
		hand_out(d, &w.messages, &w.out);
	} else {
		d->failed = true;
	}
	mk_worker_deinit(&w);
	return result(d, w.partly, err);
}

int symcache_answerer_lines(struct symcache_answerer *d, char *const *lines, size_t n,
			    struct sc_error *err)
{
	return answer_lines(d, lines, n, true, err);
}

int symcache_answerer_check(struct symcache_answerer *d, bool *reported, struct sc_error *err)
{
	const struct symcache_answer_options *o = &d->options;
	struct mk_out message = { 0 }, answer = { 0 };
	const struct symcache *cache;
	struct sc_error names;
	const char *why;

	*reported = false;
	if (!o->name)
		return 0;
	if (o->protocol == MARKUP_PROTOCOL_LOOKUP)
		return d->module ? symcache_module_cache_at(d->module, NULL, 0, &cache, reported, err) :
				   sc_no_memory(err);
	if (o->protocol != MARKUP_PROTOCOL_LLVM || o->kind != SYMCACHE_MODULE_FILE)
		return 0;
	why = mk_llvm_reason(false, o->name);
	if (!why && symcache_symbol_names_check(o->name, &names) == SC_EFORMAT)
		why = names.msg;
	if (!why)
		return 0;
	*reported = true;
	if (o->style == MARKUP_STYLE_JSON)
		answer_lines(d, (char *[]){ "0" }, 1, false, err);
	else
		mk_put(&message, o->tool, ": error: '", d->shown, "': ", why, "\n");
	hand_out(d, &message, &answer);
	mk_out_deinit(&message);
	return d->failed ? sc_no_memory(err) : sc_error_set(err, SC_ENOTFOUND, "%s", why);
}

/* ---- many lines at once -------------------------------------------------------------- */

struct answered {
	bool ready;
	struct mk_out out, messages;
};

struct pieces {
	struct symcache_answerer *answerer;
	const struct mk_lines_piece *in;
	pthread_mutex_t lock;
	pthread_cond_t went_out;
	size_t due;                   /* the first piece that is not out */
	struct answered list[AHEAD];  /* pieces due + i, at (due + i) % AHEAD */
};

static void swap(struct mk_out *a, struct mk_out *b)
{
	const struct mk_out t = *a;

	*a = *b;
	*b = t;
}

/* Answers a piece. Who has the one that is due hands it out, and those behind it that are
 * ready; the others leave theirs, for a buffer that is empty. */
static void piece_job(void *ctx, unsigned worker, size_t job)
{
	struct pieces *p = ctx;
	struct mk_worker *w = &p->answerer->workers[worker];
	struct answered *at = &p->list[job % AHEAD];

	answer_piece(p->answerer, w, p->in[job]);
	pthread_mutex_lock(&p->lock);
	while (job >= p->due + AHEAD)
		pthread_cond_wait(&p->went_out, &p->lock);
	if (job == p->due) {
		hand_out(p->answerer, &w->messages, &w->out);
		while (p->due++, (at = &p->list[p->due % AHEAD])->ready) {
			hand_out(p->answerer, &at->messages, &at->out);
			at->ready = false;
		}
		pthread_cond_broadcast(&p->went_out);
	} else {
		swap(&w->out, &at->out);
		swap(&w->messages, &at->messages);
		at->ready = true;
	}
	pthread_mutex_unlock(&p->lock);
}

static void before_waiting(void *ctx)
{
	struct symcache_answerer *d = ctx;

	if (d->options.wait)
		d->options.wait(d->options.ctx);
	symcache_caches_update(d->caches);
	for (unsigned i = 0; i < d->num_workers; i++)
		d->workers[i].opened = NULL;
}

static void complain(void *ctx, const char *message)
{
	const struct symcache_answer_options *o = &((struct symcache_answerer *)ctx)->options;

	if (o->complain)
		o->complain(o->ctx, message);
}

static bool start_workers(struct symcache_answerer *d)
{
	const unsigned cores = sc_cores();

	/* Each one that explains has the debug information of a file in memory. */
	d->num_workers = d->options.explain ? 1 : cores < WORKERS_MAX ? cores : WORKERS_MAX;
	if (posix_memalign((void **)&d->workers, _Alignof(struct mk_worker),
			   d->num_workers * sizeof(*d->workers)))
		d->workers = NULL;
	else
		memset(d->workers, 0, d->num_workers * sizeof(*d->workers));
	for (unsigned i = 0; d->workers && i < d->num_workers; i++)
		if (!mk_worker_init(&d->workers[i], d, false))
			return false;
	return d->workers;
}

/* True: something was not found. */
static bool end_workers(struct symcache_answerer *d)
{
	bool partly = false;

	for (unsigned i = 0; d->workers && i < d->num_workers; i++) {
		partly |= d->workers[i].partly;
		mk_worker_deinit(&d->workers[i]);
	}
	free(d->workers);
	d->workers = NULL;
	return partly;
}

int symcache_answerer_read(struct symcache_answerer *d, int fd, struct sc_error *err)
{
	struct mk_lines *in = mk_lines_create(fd, before_waiting, complain, d);
	struct pieces p = { .answerer = d, .lock = PTHREAD_MUTEX_INITIALIZER,
			    .went_out = PTHREAD_COND_INITIALIZER };
	bool partly;
	size_t n;

	d->failed |= !start_workers(d) || !in;
	while (!d->failed && (p.in = mk_lines_next(in, &n))) {
		p.due = 0;
		sc_parallel(n < MANY ? 1 : d->num_workers, n, piece_job, &p);
	}
	for (size_t i = 0; i < AHEAD; i++) {
		mk_out_deinit(&p.list[i].out);
		mk_out_deinit(&p.list[i].messages);
	}
	partly = end_workers(d);
	if (in)
		partly |= mk_lines_destroy(in);
	return result(d, partly, err);
}

/* A dialogue: see session.h. */
#include "cmd/lookup/session.h"

#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/lookup/lines.h"
#include "symcache/debug_files.h"
#include "libsymcache/base/parallel.h"

enum {
	MANY = 8,   /* pieces of input, for more than one thread */
	AHEAD = 32, /* pieces are answered before one that goes out before them */
	WORKERS_MAX = 64,
};

/* A build ID as answers show it. */
static char *upper_case(const char *text)
{
	char *copy = must_asprintf("%s", text);

	for (char *c = copy; *c; c++)
		*c = (char)toupper((unsigned char)*c);
	return copy;
}

static struct symcache_module *find_module(const struct session *s, enum module_kind kind,
					   const char *name)
{
	static const enum symcache_module_kind kinds[] = {
		[MODULE_FILE] = SYMCACHE_MODULE_FILE,
		[MODULE_BUILD_ID] = SYMCACHE_MODULE_BUILD_ID,
		[MODULE_CACHE] = SYMCACHE_MODULE_CACHE,
	};

	return symcache_caches_module(s->caches.caches, kinds[kind], name);
}

void session_begin(struct session *s, const char *store, struct symcache_caches_options from,
		   const struct symcache_names_options *names)
{
	cmd_caches_init(&s->caches, store, from);
	s->names = must(symcache_names_create(names));
	if (s->kind != MODULE_NONE) {
		s->shown = s->kind == MODULE_BUILD_ID ? upper_case(s->name) :
			   must_asprintf("%s", s->name);
		s->module = find_module(s, s->kind, s->name);
	}
	s->options.name = s->name;
	s->options.shown = s->shown;
	s->options.files = s->options.search.files =
		must(symcache_debug_files_create(s->options.debug_dirs, s->options.package));
	s->options.build_id = s->kind == MODULE_BUILD_ID;
}

int session_open(struct session *s, bool *reported, struct sc_error *err)
{
	const struct symcache *cache;

	*reported = false;
	if (s->kind == MODULE_NONE)
		return 0;
	return s->module ? symcache_module_cache(s->module, &cache, reported, err) :
	       sc_error_set(err, SC_ENOMEM, "out of memory");
}

void session_end(struct session *s)
{
	for (unsigned i = 0; i < s->num_workers; i++)
		worker_deinit(&s->workers[i]);
	free(s->workers);
	symcache_debug_files_destroy(s->options.files);
	symcache_names_destroy(s->names);
	cmd_caches_deinit(&s->caches);
	free(s->shown);
}

bool session_stores(void)
{
	const char *wanted = getenv("SYMCACHE_INDEX_ON_MISS");

	return wanted && *wanted && strcmp(wanted, "0") != 0;
}

/* ---- lines ------------------------------------------------------------------------- */

/* addr2line's. */
static void understand_hex(const struct session *s, struct worker *w, struct request *r)
{
	uint64_t number, vaddr;
	uint32_t at = 0;

	query_parse_hex(r->line, &r->query, &number);
	if (!*r->line)
		r->line = "0";
	if (r->query.symbol.ptr && !(s->module && symcache_symbolize_name(w->symbolizer, s->module,
						  r->query.symbol, &at, &vaddr)))
		r->query = (struct query){ .offset = number };
	else if (r->query.symbol.ptr)
		r->query = (struct query){ .offset = vaddr + r->query.offset };
}

/* FILE:ARCH is FILE, unless there is such a file. */
static void cut_arch(struct request *r)
{
	char *colon = strrchr(r->name, ':');

	if (!colon || !access(r->name, F_OK))
		return;
	r->shown = must_asprintf("%s", r->name);
	*colon = 0;
	if (access(r->name, F_OK))
		*colon = ':';
}

static struct request understand(const struct session *s, struct worker *w, const char *line)
{
	struct request r = { .line = line, .module = s->module };
	struct query *q = &r.query;

	if (s->options.protocol == PROTOCOL_BINUTILS) {
		understand_hex(s, w, &r);
		return r;
	}
	if (!*line)
		return r;
	r.wrong = query_parse(line, s->kind != MODULE_NONE, s->numbers, q);
	if (s->kind == MODULE_NONE) {
		r.name = must_asprintf("%.*s", (int)q->module.len,
				       q->module.len ? q->module.ptr : "");
		if (q->module_kind == MODULE_BUILD_ID)
			r.shown = upper_case(r.name);
		else if (s->options.protocol == PROTOCOL_LLVM)
			cut_arch(&r);
		if (!r.wrong)
			r.module = find_module(s, q->module_kind, r.name);
	}
	if (r.wrong)
		*q = (struct query){ .kind = QUERY_CODE };
	return r;
}

/* 1 to SYMCACHE_BATCH lines. */
static void answer_batch(const struct session *s, struct worker *w, char *const lines[], size_t n)
{
	struct request r[SYMCACHE_BATCH];
	size_t known = 0;

	do
		r[known] = understand(s, w, lines[known]);
	while (++known < n);
	answer_requests(w, r, n);
	for (size_t i = 0; i < n; i++) {
		free(r[i].name);
		free(r[i].shown);
	}
}

static void answer_piece(const struct session *s, struct worker *w, struct lines_piece piece)
{
	char *lines[SYMCACHE_BATCH];
	size_t n;

	do {
		for (n = 0; n < SYMCACHE_BATCH && (lines[n] = lines_take(&piece)); n++)
			;
		if (n)
			answer_batch(s, w, lines, n);
	} while (n == SYMCACHE_BATCH);
}

/* Messages and answers go out, as if they had done so line by line. */
static void put_out(struct worker *w)
{
	out_put(&w->messages, stderr);
	out_put(&w->out, stdout);
}

/* ---- many lines at once -------------------------------------------------------------- */

struct answered {
	bool ready;
	struct mk_out out, messages;
};

struct pieces {
	const struct session *session;
	const struct lines_piece *in;
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

/* Answers a piece. Who has the one that is due puts it out, and those behind it that are
 * ready; the others leave theirs, for a buffer that is empty. */
static void piece_job(void *ctx, unsigned worker, size_t job)
{
	struct pieces *p = ctx;
	struct worker *w = &p->session->workers[worker];
	struct answered *at = &p->list[job % AHEAD];

	answer_piece(p->session, w, p->in[job]);
	pthread_mutex_lock(&p->lock);
	while (job >= p->due + AHEAD)
		pthread_cond_wait(&p->went_out, &p->lock);
	if (job == p->due) {
		put_out(w);
		while (p->due++, (at = &p->list[p->due % AHEAD])->ready) {
			out_put(&at->messages, stderr);
			out_put(&at->out, stdout);
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

static void answer_many(struct session *s, struct pieces *p, const struct lines_piece in[],
			size_t n)
{
	p->session = s;
	p->in = in;
	p->due = 0;
	sc_parallel(n < MANY ? 1 : s->num_workers, n, piece_job, p);
}

/* ---- the whole --------------------------------------------------------------------------- */

static void before_waiting(void *ctx)
{
	struct session *s = ctx;

	out_flush();
	symcache_caches_settle(s->caches.caches);
	for (unsigned i = 0; i < s->num_workers; i++)
		s->workers[i].opened = NULL;
}

static bool answer_stdin(struct session *s)
{
	struct lines *in = lines_create(STDIN_FILENO, before_waiting, s);
	struct pieces pieces = { .lock = PTHREAD_MUTEX_INITIALIZER,
				 .went_out = PTHREAD_COND_INITIALIZER };
	const struct lines_piece *some;
	size_t n;
	bool faults;

	while ((some = lines_next(in, &n)))
		answer_many(s, &pieces, some, n);
	out_flush();
	for (size_t i = 0; i < AHEAD; i++) {
		mk_out_deinit(&pieces.list[i].out);
		mk_out_deinit(&pieces.list[i].messages);
	}
	faults = lines_destroy(in);
	return faults && s->options.protocol == PROTOCOL_LOOKUP;
}

void session_answer(struct session *s, char *line)
{
	struct worker w;

	worker_init(&w, &s->options, s->caches.caches, s->names);
	answer_batch(s, &w, &line, 1);
	put_out(&w);
	worker_deinit(&w);
}

bool session_run(struct session *s, char **operands, size_t n)
{
	const unsigned cores = sc_cores();
	bool partly = false;

	/* What does not go through the workers' texts is in order on one thread only, and so is
	 * a list. */
	s->num_workers = s->options.explain || n ? 1 : cores < WORKERS_MAX ? cores : WORKERS_MAX;
	s->options.list = n;
	s->workers = must_calloc(s->num_workers, sizeof(*s->workers));
	for (unsigned i = 0; i < s->num_workers; i++)
		worker_init(&s->workers[i], &s->options, s->caches.caches, s->names);
	if (n) {
		if (s->options.protocol == PROTOCOL_LOOKUP)
			n = lines_of_operands(operands, n);
		for (size_t i = 0; i < n; i += SYMCACHE_BATCH)
			answer_batch(s, &s->workers[0], operands + i,
				     n - i < SYMCACHE_BATCH ? n - i : SYMCACHE_BATCH);
		worker_finish(&s->workers[0]);
		put_out(&s->workers[0]);
	} else {
		partly = answer_stdin(s);
	}
	for (unsigned i = 0; i < s->num_workers; i++)
		partly |= s->workers[i].partly;
	return partly;
}

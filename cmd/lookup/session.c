/* A dialogue: see session.h. */
#include "cmd/lookup/session.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/lookup/lines.h"
#include "symcache/debug_files.h"
#include "libsymcache/base/parallel.h"

enum {
	PIECE_LINES = 1024, /* of a job on one thread */
	PIECES = 24,
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
		r.name = must_asprintf("%.*s", (int)q->module.len, q->module.len ? q->module.ptr : "");
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

static void answer_lines(const struct session *s, struct worker *w, char *const lines[], size_t n)
{
	struct request r[SYMCACHE_BATCH];

	for (; n; lines += SYMCACHE_BATCH, n -= n < SYMCACHE_BATCH ? n : SYMCACHE_BATCH) {
		const size_t some = n < SYMCACHE_BATCH ? n : SYMCACHE_BATCH;

		for (size_t i = 0; i < some; i++)
			r[i] = understand(s, w, lines[i]);
		answer_requests(w, r, some);
		for (size_t i = 0; i < some; i++) {
			free(r[i].name);
			free(r[i].shown);
		}
	}
}

/* Messages and answers go out, as if they had done so line by line. */
static void put_out(struct worker *w)
{
	text_flush(&w->messages, stderr);
	text_flush(&w->out, stdout);
}

/* ---- many lines at once -------------------------------------------------------------- */

struct pieces {
	const struct session *session;
	char *const *lines;
	size_t n, of_each;
	struct piece { struct text out, messages; } list[PIECES];
};

static void piece_job(void *ctx, unsigned worker, size_t job)
{
	struct pieces *p = ctx;
	struct worker *w = &p->session->workers[worker];
	struct piece *piece = &p->list[job];
	const size_t first = job * p->of_each, left = p->n - first;

	answer_lines(p->session, w, p->lines + first, left < p->of_each ? left : p->of_each);
	/* Swapped: the piece's buffer serves for the next one. */
	const struct piece filled = { w->out, w->messages };
	w->out = piece->out;
	w->messages = piece->messages;
	*piece = filled;
}

static void answer_many(struct session *s, struct pieces *p, char *const lines[], size_t n)
{
	const size_t jobs = (n + PIECE_LINES - 1) / PIECE_LINES;

	if (n < 2 * PIECE_LINES || s->num_workers < 2) {
		answer_lines(s, &s->workers[0], lines, n);
		put_out(&s->workers[0]);
		return;
	}
	p->session = s;
	p->lines = lines;
	p->n = n;
	p->of_each = PIECE_LINES;
	sc_parallel(s->num_workers, jobs, piece_job, p);
	for (size_t i = 0; i < jobs; i++) {
		text_flush(&p->list[i].messages, stderr);
		text_flush(&p->list[i].out, stdout);
	}
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
	struct pieces *pieces = must_calloc(1, sizeof(*pieces));
	char *const *lines;
	size_t n;
	bool faults;

	while ((lines = lines_next(in, PIECES * PIECE_LINES, &n)))
		answer_many(s, pieces, lines, n);
	out_flush();
	for (size_t i = 0; i < PIECES; i++) {
		free(pieces->list[i].out.bytes);
		free(pieces->list[i].messages.bytes);
	}
	free(pieces);
	faults = lines_destroy(in);
	return faults && s->options.protocol == PROTOCOL_LOOKUP;
}

void session_answer(struct session *s, char *line)
{
	struct worker w;

	worker_init(&w, &s->options, s->caches.caches, s->names);
	answer_lines(s, &w, &line, 1);
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
		answer_lines(s, &s->workers[0], operands, n);
		worker_finish(&s->workers[0]);
		put_out(&s->workers[0]);
	} else {
		partly = answer_stdin(s);
	}
	for (unsigned i = 0; i < s->num_workers; i++)
		partly |= s->workers[i].partly;
	return partly;
}

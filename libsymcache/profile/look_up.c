/* What was asked for, looked up: frames → lines and functions of the profile. See places.h. */
#include <stdatomic.h>
#include <string.h>
#include <xxhash.h>

#include "libsymcache/base/parallel.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/profile/places.h"

#define RELEASE_EVERY 2048u /* look-ups, after which pages of the store are given back */
#define AHEAD_FROM 2048u    /* look-ups that are worth a second thread */
#define AHEAD_STEP 256u     /* of them, between two looks at how far the first one is */

/* ---- functions --------------------------------------------------------------------------- */

/* The number of a linkage name, which the cache has as it stands. */
static uint32_t linkage_text(struct prof_places *p, struct sc_str name)
{
	char *shown;
	uint32_t text;

	if (!name.ptr || sc_printable(name.ptr, name.len))
		return prof_text(p, name.ptr, name.len);
	shown = malloc(4 * name.len);
	if (!shown)
		return PROF_NONE;
	text = prof_text(p, shown, sc_make_printable(name.ptr, name.len, shown));
	free(shown);
	return text;
}

static bool function_equal(const void *ctx, uint32_t i)
{
	const struct prof_places *p = ctx;

	return !memcmp(&p->functions.data[i], &p->functions.data[p->functions.len - 1],
		       sizeof(struct prof_function));
}

/* The number of the function that is the last of the list; it goes if it was there before. */
static uint32_t unique_function(struct prof_places *p)
{
	const struct prof_function *f = &p->functions.data[p->functions.len - 1];
	uint32_t *slot = sc_intern_find(&p->function_set, XXH3_64bits(f, sizeof(*f)),
					function_equal, p);

	if (!slot)
		return PROF_NONE;
	if (*slot == SC_INTERN_NEW)
		return *slot = (uint32_t)(p->functions.len - 1);
	p->functions.len--;
	return *slot;
}

static bool memo_equal(const void *ctx, uint32_t i)
{
	const struct prof_places *p = ctx;

	return !memcmp(&p->memos.data[i], &p->memos.data[p->memos.len - 1],
		       offsetof(struct prof_memo, is));
}

/* The linkage name of a frame: of its function, or of the symbol that names it. */
static struct sc_str linkage_name(const struct symcache *cache, const struct prof_memo *m)
{
	struct symcache_symbol symbol;

	if (m->symbol != SYMCACHE_NONE)
		return symcache_symbol(cache, m->symbol, &symbol) ? symbol.name :
			(struct sc_str){ NULL, 0 };
	if (m->function == SYMCACHE_NONE ||
	    !symcache_valid(cache, &cache->functions[m->function], sizeof(*cache->functions)))
		return (struct sc_str){ NULL, 0 };
	return symcache_string(cache, cache->functions[m->function].name);
}

static uint32_t new_function(struct prof_places *p, const struct prof_memo *m,
			     const struct symcache_answer *a, size_t frame)
{
	const struct sc_frame *f = &a->frames[frame];
	const enum symprofile_names how = p->options->how;
	const struct symcache_start start = symcache_symbolize_start(p->symbolizer, a, frame);
	const uint32_t linkage = linkage_text(p, linkage_name(a->cache, m));
	struct sc_str name = sc_bare_name(f); /* as viewers that symbolize by themselves have it */
	struct prof_function *of;
	uint32_t text, file;

	if (how == SYMPROFILE_SHORT && name.ptr)
		name = symcache_short_name(name);
	text = how == SYMPROFILE_LINKAGE ? linkage : prof_text(p, name.ptr, name.len);
	file = prof_text(p, f->file.ptr, f->file.len);
	of = vec_push(&p->functions);
	if (!of || text == PROF_NONE || linkage == PROF_NONE || file == PROF_NONE)
		return PROF_NONE;
	*of = (struct prof_function){ text, linkage, file, start.line };
	return unique_function(p);
}

/* What the cache has for a frame of an answer. */
static struct prof_memo memo_of(const struct prof_question *q, const struct symcache_answer *a,
				const struct sc_frame *f)
{
	struct symcache_frame_ids ids = { SYMCACHE_NONE, SYMCACHE_NONE, 0, 0 };
	struct prof_memo ret;

	if (f->location_idx != SYMCACHE_NONE)
		symcache_location_ids(a->cache, f->location_idx, &ids);
	ret = (struct prof_memo){ q->module, ids.function, ids.file, SYMCACHE_NONE, PROF_NONE };
	if (f->of_table)
		ret.symbol = a->symbol_idx != SYMCACHE_NONE ? a->symbol_idx :
			symcache_symbol_at(a->cache, q->vaddr - symcache_load_base(a->cache));
	return ret;
}

/* The function of a frame of an answer: remembered by the numbers that the cache has for it. */
static uint32_t function_of(struct prof_places *p, const struct prof_question *q,
			    const struct symcache_answer *a, size_t frame)
{
	struct prof_memo *m = vec_push(&p->memos);
	uint32_t *slot, is;

	if (!m)
		return PROF_NONE;
	*m = memo_of(q, a, &a->frames[frame]);
	slot = sc_intern_find(&p->memo_set, XXH3_64bits(m, offsetof(struct prof_memo, is)),
			      memo_equal, p);
	if (!slot)
		return PROF_NONE;
	if (*slot != SC_INTERN_NEW) {
		p->memos.len--;
		return p->memos.data[*slot].is;
	}
	*slot = (uint32_t)(p->memos.len - 1);
	is = new_function(p, m, a, frame);
	p->memos.data[*slot].is = is;
	return is;
}

/* ---- look-ups ---------------------------------------------------------------------------- */

static inline bool question_before(const struct prof_question *a, const struct prof_question *b)
{
	return a->module != b->module ? a->module < b->module : a->vaddr < b->vaddr;
}

SC_SORT(sort_questions, struct prof_question, question_before)

/* The lines of an answer, those of a place. */
static bool take_answer(struct prof_places *p, const struct prof_question *q,
			const struct symcache_answer *a, struct prof_place *ret)
{
	*ret = (struct prof_place){ (uint32_t)p->lines.len, 0 };
	for (size_t i = 0; a->frames && i < a->num_frames; i++) {
		const struct sc_frame *f = &a->frames[i];
		struct prof_line *line;
		uint32_t function;

		if (!f->function.len && !f->file.len)
			continue;
		function = function_of(p, q, a, i);
		line = p->lines.len < PROF_NONE ? vec_push(&p->lines) : NULL;
		if (function == PROF_NONE || !line)
			return false;
		*line = (struct prof_line){ function, f->line, f->column };
		ret->num++;
	}
	return true;
}

/* The look-ups of a profile: from the first to the last. Of many, another thread does the same
 * from the last ones on, until the two meet: then the names of those are made, and their pages
 * tested and mapped, when the first thread comes to them. What comes out is the first one's. */
struct look_up {
	struct prof_places *p;
	atomic_size_t at;    /* the first thread's */
	size_t first;        /* of the other's step */
	struct symcache_symbolizer *symbolizer; /* its own */
};

static struct symcache_question question_at(void *ctx, size_t i)
{
	const struct prof_places *p = ((const struct look_up *)ctx)->p;
	const struct prof_question *q = &p->questions.data[i];

	return (struct symcache_question){ p->modules.data[q->module], q->vaddr };
}

static struct symcache_question ahead_at(void *ctx, size_t i)
{
	return question_at(ctx, ((const struct look_up *)ctx)->first + i);
}

/* Reads what the first thread will. */
static int answered_ahead(void *ctx, size_t i, const struct symcache_answer *a)
{
	const struct look_up *l = ctx;

	for (size_t k = 0; a->frames && k < a->num_frames; k++) {
		const struct prof_memo m = memo_of(&l->p->questions.data[l->first + i], a,
						   &a->frames[k]);

		linkage_name(a->cache, &m);
		symcache_symbolize_start(l->symbolizer, a, k);
	}
	return 0;
}

static void *look_up_ahead(void *arg)
{
	struct look_up *l = arg;

	l->symbolizer = symcache_symbolizer_create(l->p->options->caches, l->p->options->names);
	for (l->first = l->p->questions.len; l->symbolizer && l->first > l->at + 2 * AHEAD_STEP;) {
		l->first -= AHEAD_STEP;
		symcache_symbolize_sorted(l->symbolizer, AHEAD_STEP, ahead_at, answered_ahead, l);
	}
	symcache_symbolizer_destroy(l->symbolizer);
	return NULL;
}

static int answered(void *ctx, size_t i, const struct symcache_answer *a)
{
	struct look_up *l = ctx;
	struct prof_places *p = l->p;
	const struct prof_question *q = &p->questions.data[i];

	atomic_store_explicit(&l->at, i, memory_order_relaxed);
	if (i % RELEASE_EVERY == RELEASE_EVERY - 1)
		symcache_caches_release_pages(p->options->caches);
	if (i && q[-1].module == q->module && q[-1].vaddr == q->vaddr) {
		p->places.data[q->place] = p->places.data[q[-1].place];
		return 0;
	}
	return a->reason == SYMCACHE_NO_MEMORY ||
	       !take_answer(p, q, a, &p->places.data[q->place]) ? SC_ENOMEM : 0;
}

/* Says how much of each cache will be read. */
static void expect_reads(const struct prof_places *p)
{
	const struct prof_question *q = p->questions.data, *end = vec_end(&p->questions), *next;

	for (; q < end; q = next) {
		for (next = q; next < end && next->module == q->module; next++)
			;
		symcache_symbolize_expect(p->modules.data[q->module], (size_t)(next - q));
	}
}

/* All questions, of one thread, or of two. SC_ENOMEM. */
static int answer_all(struct prof_places *p)
{
	struct look_up l = { .p = p };
	pthread_t thread;
	bool helped;
	int rc;

	if (prof_text(p, "", 0) == PROF_NONE)
		return SC_ENOMEM;
	expect_reads(p);
	helped = p->options->two_threads && p->questions.len >= AHEAD_FROM &&
		 sc_thread_help(&thread, look_up_ahead, &l);
	rc = symcache_symbolize_sorted(p->symbolizer, p->questions.len, question_at, answered, &l);
	l.at = p->questions.len;
	if (helped)
		pthread_join(thread, NULL);
	return rc;
}

/* Was one of the caches, which were not when they were opened, found damaged? */
static bool found_damage(const struct prof_places *p)
{
	for (size_t i = 0; i < p->mappings.len; i++)
		if (p->mappings.data[i].cache && symcache_damaged(p->mappings.data[i].cache))
			return true;
	return false;
}

int prof_look_up(struct prof_places *p, struct sc_error *err)
{
	int rc = sort_questions(p->questions.data, p->questions.len) ? answer_all(p) : SC_ENOMEM;

	/* Which answers came before depends on the threads: again, without that cache. */
	if (!rc && found_damage(p)) {
		prof_forget_answers(p);
		rc = answer_all(p);
	}
	if (rc)
		return sc_no_memory(err);
	if (p->questions.len >= RELEASE_EVERY)
		symcache_caches_release_pages(p->options->caches);
	return 0;
}

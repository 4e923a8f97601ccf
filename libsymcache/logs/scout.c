/* Which addresses a short log will ask for: see scout.h. */
#include "libsymcache/logs/scout.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/vec.h"

struct question {
	struct symcache_module *module;
	uint64_t vaddr;
};

struct sc_log_scout {
	struct markup_options markup; /* as far as it says what is asked */
	char *inputs;                 /* of it */
	pthread_mutex_t lock;         /* of what follows */
	const struct markup_resolver *of;
	char *text;                   /* NULL: there is none, or it was read */
	size_t len;
	VEC(struct question) questions;
};

struct sc_log_scout *sc_log_scout_create(const struct markup_options *markup)
{
	struct sc_log_scout *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->inputs = markup->inputs ? strdup(markup->inputs) : NULL;
	s->markup = (struct markup_options){ .dialect = markup->dialect, .demux = markup->demux,
					     .inputs = s->inputs,
					     .pc_innermost = markup->pc_innermost };
	pthread_mutex_init(&s->lock, NULL);
	if (s->inputs || !markup->inputs)
		return s;
	sc_log_scout_destroy(s);
	return NULL;
}

void sc_log_scout_destroy(struct sc_log_scout *s)
{
	if (!s)
		return;
	pthread_mutex_destroy(&s->lock);
	vec_deinit(&s->questions);
	free(s->text);
	free(s->inputs);
	free(s);
}

void sc_log_scout_text(struct sc_log_scout *s, const char *text, size_t len)
{
	pthread_mutex_lock(&s->lock);
	free(s->text);
	s->text = len && len <= SC_SCOUT_MOST ? malloc(len) : NULL;
	s->len = s->text ? len : 0;
	if (s->text)
		memcpy(s->text, text, len);
	vec_clear(&s->questions);
	pthread_mutex_unlock(&s->lock);
}

/* ---- the questions ------------------------------------------------------------------- */

static void *find_module(void *ctx, struct markup_module *m, const char **why)
{
	const struct sc_log_scout *s = ctx;

	return s->of->module(s->of->ctx, m, why);
}

/* What a name means is known by the whole cache alone, which is not made for a question. */
static bool find_place(void *ctx, void *module, struct markup_place *place, uint64_t *vaddr)
{
	const struct sc_log_scout *s = ctx;

	if (place->origin == MARKUP_FROM_SHOWN || place->origin == MARKUP_FROM_SYMBOL)
		return false;
	return s->of->place(s->of->ctx, module, place, vaddr);
}

static size_t note_code(void *ctx, void *module, uint64_t vaddr, bool named,
			const struct sc_frame **ret)
{
	struct sc_log_scout *s = ctx;
	struct question *q = vec_push(&s->questions);

	(void)named, (void)ret;
	if (q)
		*q = (struct question){ module, vaddr };
	return 0;
}

static int write_nothing(void *ctx, const char *data, size_t len)
{
	(void)ctx, (void)data, (void)len;
	return 0;
}

/* Filters the text for its questions. */
static void read_text(struct sc_log_scout *s)
{
	const struct markup_resolver r = { .ctx = s, .module = find_module, .place = find_place,
					   .code = note_code };
	const struct markup_sink sink = { .write = write_nothing };
	struct markup_filter *f;

	if (!markup_filter_create(&s->markup, &r, 1, &sink, &f)) {
		if (!markup_filter_feed(f, s->text, s->len))
			markup_filter_finish(f);
		markup_filter_destroy(f);
	}
	free(s->text);
	s->text = NULL;
}

void sc_log_scout_announce(struct sc_log_scout *s, const struct markup_resolver *of,
			   struct symcache_module *m)
{
	uint64_t *vaddrs;
	size_t n = 0;
	const struct symcache *cache;

	pthread_mutex_lock(&s->lock);
	s->of = of;
	if (s->text)
		read_text(s);
	vaddrs = malloc((s->questions.len + 1) * sizeof(*vaddrs));
	for (size_t i = 0; vaddrs && i < s->questions.len; i++)
		if (s->questions.data[i].module == m)
			vaddrs[n++] = s->questions.data[i].vaddr;
	if (n)
		symcache_module_cache_at(m, vaddrs, n, &cache, NULL, NULL);
	free(vaddrs);
	pthread_mutex_unlock(&s->lock);
}

/* What was resolved and which modules are missing, over several filters: see
 * filtering.h. There are as many modules as there are different build IDs. */
#include <pthread.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/filter/filtering.h"
#include "symcache/build_id.h"

/* ---- warnings ----------------------------------------------------------------- */

struct warned {
	size_t len;
	uint8_t build_id[];
};

static int by_bytes(const void *a, const void *b)
{
	const struct warned *x = a, *y = b;

	if (x->len != y->len)
		return x->len < y->len ? -1 : 1;
	return memcmp(x->build_id, y->build_id, x->len);
}

bool tally_warns(struct tally *s, const uint8_t *build_id, size_t len)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct warned *w = must_realloc(NULL, sizeof(*w) + len);
	struct warned *const *found;

	w->len = len;
	if (len)
		memcpy(w->build_id, build_id, len);
	pthread_mutex_lock(&lock);
	found = tsearch(w, &s->warned, by_bytes);
	pthread_mutex_unlock(&lock);
	const bool first = !found || *found == w; /* no memory: rather twice than never */
	if (!found || !first)
		free(w);
	return first;
}

/* ---- the sum ------------------------------------------------------------------ */

static void add_module(void *ctx, const struct markup_module *m)
{
	struct tally *s = ctx;
	struct markup_module *to;
	char *name, *id;

	if (s->num == s->cap) {
		s->cap = 2 * s->cap + 64;
		s->modules = must_realloc(s->modules, s->cap * sizeof(*s->modules));
	}
	to = &s->modules[s->num++].m;
	*to = *m;
	name = must_realloc(NULL, m->name.len + 1);
	id = must_realloc(NULL, m->build_id_len + 1);
	if (m->name.len)
		memcpy(name, m->name.ptr, m->name.len);
	if (m->build_id_len)
		memcpy(id, m->build_id, m->build_id_len);
	to->name.ptr = name;
	to->build_id = (const uint8_t *)id;
}

void tally_add(struct tally *s, const struct markup_filter *filter)
{
	const struct markup_stats *stats = markup_filter_stats(filter);

	s->stats.frames += stats->frames;
	s->stats.frames_resolved += stats->frames_resolved;
	s->stats.frames_outside += stats->frames_outside;
	if (markup_filter_missing(filter, add_module, s))
		must_realloc(NULL, SIZE_MAX / 2); /* out of memory: tells and ends */
}

static int by_id(const void *a, const void *b)
{
	const struct markup_module *x = a, *y = b;
	size_t len = x->build_id_len < y->build_id_len ? x->build_id_len : y->build_id_len;
	int order = memcmp(x->build_id, y->build_id, len);

	return order ? order : (x->build_id_len > y->build_id_len) -
			       (x->build_id_len < y->build_id_len);
}

static int by_frames(const void *a, const void *b)
{
	const struct markup_module *x = a, *y = b;

	return x->frames != y->frames ? (x->frames > y->frames ? -1 : 1) : by_id(a, b);
}

static void free_module(struct markup_module *m)
{
	free((char *)m->name.ptr);
	free((uint8_t *)m->build_id);
}

/* Makes one of all entries of one build ID. */
static void merge(struct tally *s)
{
	size_t n = 0;

	if (!s->num)
		return;
	qsort(s->modules, s->num, sizeof(*s->modules), by_id);
	for (size_t i = 1; i < s->num; i++) {
		struct markup_module *to = &s->modules[n].m, *from = &s->modules[i].m;
		if (by_id(to, from)) {
			s->modules[++n].m = *from;
			continue;
		}
		to->frames += from->frames;
		to->no_symbols |= from->no_symbols;
		free_module(from);
	}
	s->num = n + 1;
	qsort(s->modules, s->num, sizeof(*s->modules), by_frames);
}

void tally_print(struct tally *s)
{
	const uint64_t nothing = s->stats.frames - s->stats.frames_resolved -
				 s->stats.frames_outside;
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];

	merge(s);
	cmd_error("%llu address%s: %llu resolved, %llu in no module, %llu found nothing%s",
		  (unsigned long long)s->stats.frames, s->stats.frames == 1 ? "" : "es",
		  (unsigned long long)s->stats.frames_resolved,
		  (unsigned long long)s->stats.frames_outside, (unsigned long long)nothing,
		  nothing ? " in these modules:" : "");
	for (size_t i = 0; i < s->num && s->modules[i].m.frames; i++) {
		const struct markup_module *m = &s->modules[i].m;
		symcache_build_id_text(hex, m->build_id, m->build_id_len < SYMCACHE_BUILD_ID_MAX
						  ? m->build_id_len : SYMCACHE_BUILD_ID_MAX);
		fprintf(stderr, "%8llu  %-40s  ", (unsigned long long)m->frames, hex);
		/* A name may hold anything: nothing of it may move the cursor. */
		for (size_t c = 0; c < m->name.len; c++) {
			const unsigned char byte = (unsigned char)m->name.ptr[c];
			putc(byte < ' ' || byte == 0x7f ? '?' : byte, stderr);
		}
		fprintf(stderr, "%s\n", m->no_symbols ? "" : " (has symbols)");
	}
}

void tally_deinit(struct tally *s)
{
	for (size_t i = 0; i < s->num; i++)
		free_module(&s->modules[i].m);
	free(s->modules);
	tdestroy(s->warned, free);
}

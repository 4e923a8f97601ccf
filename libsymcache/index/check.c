/* Do files have symbols? See check.h. */
#include "libsymcache/index/check.h"

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/bundle.h"
#include "libsymcache/index/index.h"
#include "libsymcache/store/upkeep.h"

/* What is known of a file besides what is reported. */
struct subject {
	struct symcache_checked of;
	uint64_t units;            /* 0: not known */
	const char *first_fault, *debug_link;
	bool joined;               /* its debug file is checked, too */
	bool entry;                /* of a bundle or store: no file was looked for */
	const char *unreadable;    /* why; or NULL */
	char *texts[4];            /* on the heap, of files: all of the above */
};

struct check {
	const struct symcache_check_options *options;
	VEC(struct subject) files; /* until all are there: see join() */
	bool no_memory;
};

/* Takes `text`; NULL: out of memory. */
static void find(struct check *c, struct subject *s, enum symcache_lack lacks, char *text)
{
	c->no_memory |= !text;
	if (text)
		s->of.findings[s->of.num_findings++] = (struct symcache_finding){ lacks, text };
}

/* The names under which a debug file was looked for. */
static char *names_sought(const struct subject *s)
{
	char by_id[sizeof("/.build-id/xx/.debug") + SYMCACHE_BUILD_ID_TEXT] = "";
	const char *link = s->debug_link && *s->debug_link ? s->debug_link : NULL;

	if (!s->of.derived)
		symcache_build_id_path(by_id, sizeof(by_id), "", s->of.build_id,
				       s->of.build_id_len);
	if (!*by_id && !link)
		return sc_text(", and the file names no debug file");
	return sc_text(", and there is no %s%s%s", *by_id ? by_id + 1 : "",
		       *by_id && link ? " or " : "", link ? link : "");
}

static void find_missing_lines(struct check *c, struct subject *s)
{
	char *sought __attribute__((cleanup(sc_free_text))) = NULL;
	const unsigned long long bad = s->of.bad_units;
	char kinds[SYMSTORE_KINDS_TEXT];

	if (!(s->of.sources & (SYMCACHE_FROM_DWARF | SYMCACHE_FROM_GO))) {
		sought = s->entry ? NULL : names_sought(s);
		find(c, s, SYMCACHE_LACKS_LINES,
		     sc_text("no debug information, only %s%s",
			     symstore_kinds_text(s->of.sources & ~(uint32_t)SYMCACHE_FROM_CFI,
						 kinds),
			     sought ? sought : ""));
	} else if (!s->of.line_bytes) {
		find(c, s, SYMCACHE_LACKS_LINES,
		     sc_text("debug information without lines of its code"));
	}
	if (bad && s->units)
		find(c, s, SYMCACHE_LACKS_LINES,
		     sc_text("%llu of %llu units of debug information are missing or broken: %s",
			     bad, (unsigned long long)s->units, s->first_fault));
	else if (bad)
		find(c, s, SYMCACHE_LACKS_LINES,
		     sc_text("units of debug information are missing or broken: %llu", bad));
}

static void judge(struct check *c, struct subject *s)
{
	char *sought __attribute__((cleanup(sc_free_text))) = NULL;

	if (s->unreadable) {
		find(c, s, SYMCACHE_LACKS_ID,
		     sc_text("%s", sc_error_behind(s->unreadable, s->of.path)));
		return;
	}
	if (s->of.derived)
		find(c, s, SYMCACHE_LACKS_ID, sc_text("no build ID"));
	if (s->of.sources & ~(uint32_t)SYMCACHE_FROM_CFI) {
		find_missing_lines(c, s);
		return;
	}
	sought = names_sought(s);
	find(c, s, SYMCACHE_LACKS_SYMBOLS, sc_text("no symbols%s", sought ? sought : ""));
}

static void check(struct check *c, struct subject *s)
{
	const struct symcache_check_options *o = c->options;
	struct symcache_check_sums *sums = o->sums;

	judge(c, s);
	for (size_t i = 0; i < s->of.num_findings; i++)
		s->of.breach |= s->of.findings[i].lacks <= o->require;
	for (const char *const *p = o->allow; s->of.breach && p && *p && !s->of.allowed; p++)
		s->of.allowed = symstore_name_matches(*p, s->of.path);
	sums->checked++;
	sums->breaches += s->of.breach && !s->of.allowed;
	sums->allowed += s->of.allowed;
	if (!s->joined) {
		sums->code_bytes += s->of.code_bytes;
		sums->line_bytes += s->of.line_bytes;
	}
	c->options->file(c->options->ctx, &s->of);
	for (size_t i = 0; i < s->of.num_findings; i++)
		free(s->of.findings[i].text);
}

static int result(const struct check *c, int rc, struct sc_error *err)
{
	return rc || !c->no_memory ? rc : sc_no_memory(err);
}

/* ---- files ------------------------------------------------------------------------ */

/* A copy that goes with the subject; NULL: so is `text`, or out of memory. */
static const char *keep(struct check *c, struct subject *s, const char *text)
{
	char **to = s->texts;

	if (!text)
		return NULL;
	while (*to)
		to++;
	*to = strdup(text);
	c->no_memory |= !*to;
	return *to;
}

static void on_file(void *ctx, const struct symcache_index_file *file)
{
	const struct symcache_build_info *info = file->info;
	struct check *c = ctx;
	struct subject *to, s = { 0 };

	/* An object file is not shipped as it is; a kernel's module has a build ID. */
	if (file->result == SYMCACHE_INDEX_UNSUPPORTED ||
	    (info && info->relocatable && info->build_id_derived))
		return;
	to = vec_push(&c->files);
	c->no_memory |= !to;
	if (!to)
		return;
	s.of.path = keep(c, &s, file->path);
	s.unreadable = keep(c, &s, file->reason);
	if (info) {
		memcpy(s.of.build_id, info->build_id, sizeof(s.of.build_id));
		s.of.build_id_len = info->build_id_len;
		s.of.derived = info->build_id_derived;
		s.of.sources = info->sources;
		s.units = info->units;
		s.of.bad_units = info->bad_units;
		s.first_fault = keep(c, &s, info->first_fault);
		s.debug_link = keep(c, &s, info->debug_link);
		s.of.code_bytes = file->code_bytes;
		s.of.line_bytes = file->line_bytes;
	}
	*to = s;
}

static int by_build_id(const void *a, const void *b)
{
	const struct symcache_checked *x = a, *y = b;
	int order = x->derived != y->derived ? x->derived - y->derived :
		    x->build_id_len != y->build_id_len ? (x->build_id_len > y->build_id_len ? 1 : -1) :
		    memcmp(x->build_id, y->build_id, x->build_id_len);

	/* What has the most lines first. */
	return order ? order : x->line_bytes != y->line_bytes ? (x->line_bytes < y->line_bytes ? 1 : -1) :
	       0;
}

/* Files without debug information have that of another file with their build ID: `objcopy
 * --only-keep-debug` makes files that lie anywhere, under any name. False: out of memory. */
static bool join(struct check *c)
{
	const size_t n = c->files.len;
	struct symcache_checked *sorted = calloc(n + 1, sizeof(*sorted)), *first;

	for (size_t i = 0; sorted && i < n; i++)
		sorted[i] = c->files.data[i].of;
	if (sorted)
		qsort(sorted, n, sizeof(*sorted), by_build_id);
	for (size_t i = 0; sorted && i < n; i++) {
		struct subject *s = &c->files.data[i];
		struct symcache_checked wanted = s->of;

		if (s->of.derived || !s->of.build_id_len || (s->of.sources & SYMCACHE_FROM_DWARF))
			continue;
		wanted.line_bytes = UINT64_MAX;
		first = sorted + SC_SEARCH(k, n, by_build_id(&sorted[k], &wanted) <= 0);
		if (!first->line_bytes || first->build_id_len != s->of.build_id_len ||
		    memcmp(first->build_id, s->of.build_id, s->of.build_id_len))
			continue;
		s->of.sources |= first->sources;
		s->of.code_bytes = first->code_bytes;
		s->of.line_bytes = first->line_bytes;
		s->joined = true;
	}
	free(sorted);
	return sorted;
}

static void on_progress(void *ctx, enum symcache_index_phase phase, uint64_t done, uint64_t total,
			const char *path)
{
	const struct symcache_check_options *o = ((struct check *)ctx)->options;

	(void)phase;
	o->progress(o->ctx, done, total, path);
}

int symcache_check_files(const char *const *paths, size_t n,
			 const struct symcache_check_options *options, struct sc_error *err)
{
	struct check c = { .options = options };
	const struct symcache_index_options how = {
		.build = options->build, .follow = options->follow, .events = {
			.file = on_file, .progress = on_progress, .ctx = &c,
		},
	};
	struct symcache_index_account account;
	int rc = symcache_index(NULL, paths, n, &how, &account, err);

	if (!c.no_memory)
		c.no_memory = !join(&c);
	for (size_t i = 0; i < c.files.len; i++) {
		if (!c.no_memory)
			check(&c, &c.files.data[i]);
		for (size_t k = 0; k < sizeof(c.files.data->texts) / sizeof(*c.files.data->texts); k++)
			free(c.files.data[i].texts[k]);
	}
	vec_deinit(&c.files);
	return result(&c, rc, err);
}

/* ---- bundles and stores ----------------------------------------------------------- */

/* How much of the code that has functions has lines. */
static void count_lines(const struct symcache *cache, struct symcache_checked *s)
{
	for (uint32_t i = 0; i + 1 < cache->header->num_ranges; i++) {
		const uint64_t size = cache->ranges[i + 1] - cache->ranges[i];
		struct symcache_frames frames;
		struct symcache_raw_frame frame;

		if (!symcache_lookup(cache, cache->ranges[i], &frames) ||
		    !symcache_next_frame(&frames, &frame))
			continue;
		s->code_bytes += size;
		s->line_bytes += frame.line ? size : 0;
	}
}

static int on_entry(void *ctx, const struct symstore_entry *entry, const void *bytes, size_t size,
		    struct sc_error *err)
{
	struct subject s = { .entry = true, .of = {
		.path = entry->source_path, .build_id_len = entry->build_id_len,
		.derived = entry->build_id_derived, .sources = entry->sources,
		.bad_units = entry->bad_units,
	} };
	char id[SYMCACHE_BUILD_ID_TEXT];
	struct symcache cache;
	int rc = symcache_open(&cache, bytes, size, err);

	if (rc)
		return rc;
	memcpy(s.of.build_id, entry->build_id, sizeof(s.of.build_id));
	if (!s.of.path || !*s.of.path)
		s.of.path = symcache_build_id_text(id, entry->build_id, entry->build_id_len);
	count_lines(&cache, &s.of);
	check(ctx, &s);
	return 0;
}

static void on_fault(void *ctx, const char *name, const char *why)
{
	check(ctx, &(struct subject){ .of.path = name, .unreadable = why, .entry = true });
}

static void on_bundle_progress(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	on_progress(ctx, SYMCACHE_INDEX_INDEXING, done, total, item);
}

static struct symstore *old_store(void *ctx)
{
	const struct symcache_check_options *o = ((struct check *)ctx)->options;

	return o->old_store ? o->old_store(o->ctx) : NULL;
}

int symcache_check_bundle(const char *path, const struct symcache_check_options *options,
			  struct sc_error *err)
{
	struct check c = { .options = options };
	const struct symbundle_reader reader = {
		.old_store = old_store, .entry = on_entry, .fault = on_fault,
		.progress = on_bundle_progress, .ctx = &c,
	};

	return result(&c, symbundle_read(path, &reader, err), err);
}

/*
 * symcache prune: takes out of the store what is old, too much, or not wanted.
 *
 * One pass over the entries gathers what a rule condemns; to a size, the oldest of
 * the rest follow. Memory grows with the number of entries, not with their bytes.
 */
#include <ctype.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/doomed.h"
#include "cmd/store/select.h"
#include "symcache/build_id.h"
#include "symcache/store.h"

static struct {
	const char *store, *older, *unused, *to_size, *keep;
	bool json, quiet, dry_run;
} o;

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "older", 0, OPT_STRING, &o.older, "AGE",
	  "remove what was indexed longer ago than this: 90d, 12h, 4w (m: minutes, y: years)" },
	{ "unused", 0, OPT_STRING, &o.unused, "AGE",
	  "remove what was neither indexed nor used in a look-up since then, as far as is known" },
	{ "to-size", 0, OPT_STRING, &o.to_size, "SIZE",
	  "remove what was indexed or used longest ago until the caches are no more than this: "
	  "500M, 20G" },
	{ "keep", 0, OPT_STRING, &o.keep, "FILE",
	  "remove all but these: a build ID a line, whole; \"-\" is standard input; the other "
	  "rules do not touch them" },
	{ "dry-run", 'n', OPT_FLAG, &o.dry_run, NULL, "only say what would be removed" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write what was removed as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "do not say what was removed" },
	{ 0 },
};

struct pruning {
	const struct symstore *store;
	int64_t before;        /* what is older goes */
	int64_t unused_before;
	uint64_t to_size;
	void *keep;            /* tree of hex digits; NULL: no list was given */
	uint64_t kept_bytes;   /* of what no rule touches */
	struct doomed doomed, rest;
};

static int compare_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Reads the list of what to keep. An empty one would remove everything: refused. */
static int read_keep(struct pruning *p, struct sc_error *err)
{
	FILE *f = !strcmp(o.keep, "-") ? stdin : fopen(o.keep, "re");
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t cap = 0, nibbles;
	char *line = NULL;
	int rc = 0;

	if (!f)
		return sc_error_sys(err, "cannot open %s", o.keep);
	for (unsigned n = 1; !rc && getline(&line, &cap, f) > 0; n++) {
		char *word = line + strspn(line, " \t"), hex[2 * SYMCACHE_BUILD_ID_MAX + 1], *copy;
		void **node;

		word[strcspn(word, " \t\r\n")] = 0; /* as `symcache list` prints it */
		if (!*word || *word == '#')
			continue;
		rc = symcache_build_id_parse(word, id, &nibbles, err);
		if (!rc && nibbles % 2)
			rc = sc_error_set(err, SC_EINVAL, "'%s' is no whole build ID", word);
		if (rc) {
			sc_error_prefix(err, "%s:%u: ", o.keep, n);
			break;
		}
		symcache_build_id_text(hex, id, nibbles / 2);
		copy = must_asprintf("%s", hex);
		node = tsearch(copy, &p->keep, compare_text);
		if (!node || *node != copy)
			free(copy);
	}
	if (!rc && ferror(f))
		rc = sc_error_sys(err, "cannot read %s", o.keep);
	if (!rc && !p->keep)
		rc = sc_error_set(err, SC_EINVAL, "%s names no build ID: that would remove everything",
				  o.keep);
	free(line);
	if (f != stdin)
		fclose(f);
	return rc;
}

static bool judge(void *ctx, const struct symstore_entry *entry)
{
	const int64_t used = symstore_last_used(((struct pruning *)ctx)->store, entry->build_id,
						entry->build_id_len);
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct symstore_entry last = *entry;
	struct pruning *p = ctx;

	last.time = used > entry->time ? used : entry->time;
	symcache_build_id_text(id, entry->build_id, entry->build_id_len);
	if (p->keep && tfind(id, &p->keep, compare_text))
		p->kept_bytes += entry->cache_size;
	else if (p->keep || entry->time < p->before || last.time < p->unused_before)
		doomed_add(&p->doomed, entry);
	else
		doomed_add(&p->rest, &last);
	return true;
}

static int newest_first(const void *a, const void *b)
{
	const struct doomed_entry *x = a, *y = b;

	return x->time != y->time ? (x->time < y->time) - (x->time > y->time) :
		memcmp(x->id, y->id, sizeof(x->id));
}

/* Of what is left the newest stay, as long as there is room. */
static void fit(struct pruning *p)
{
	uint64_t bytes = p->kept_bytes;

	if (p->rest.num)
		qsort(p->rest.entries, p->rest.num, sizeof(*p->rest.entries), newest_first);
	for (size_t i = 0; i < p->rest.num; i++) {
		struct doomed_entry *e = &p->rest.entries[i];

		bytes += e->size;
		if (bytes <= p->to_size)
			continue;
		p->doomed.entries = must_grow(p->doomed.entries, p->doomed.num, &p->doomed.cap,
					      sizeof(*p->doomed.entries));
		p->doomed.entries[p->doomed.num++] = *e;
		e->source = NULL; /* moved */
	}
}

static int prepare(struct pruning *p, struct sc_error *err)
{
	int64_t age;
	int rc;

	*p = (struct pruning){ .before = INT64_MIN, .unused_before = INT64_MIN, .to_size = UINT64_MAX };
	if (o.older && (rc = parse_age(o.older, &age, err)))
		return rc;
	if (o.older)
		p->before = time(NULL) - age;
	if (o.unused && (rc = parse_age(o.unused, &age, err)))
		return rc;
	if (o.unused)
		p->unused_before = time(NULL) - age;
	if (o.to_size && (rc = parse_size(o.to_size, &p->to_size, err)))
		return rc;
	return o.keep ? read_keep(p, err) : 0;
}

static int prune(struct pruning *p, struct symstore *store, struct sc_error *err)
{
	struct symstore_reader *reader;
	int rc = symstore_read_begin(store, &reader, err);

	p->store = store;
	if (!rc)
		rc = symstore_each(reader, NULL, 0, judge, p, err);
	symstore_read_end(reader);
	if (rc)
		return rc;
	fit(p);
	return o.dry_run ? 0 : doomed_remove(&p->doomed, store, err);
}

static int run(int argc, char **argv)
{
	struct symstore *store = NULL;
	struct sc_error err;
	struct pruning p;
	int rc;

	(void)argv;
	if (argc || (!o.older && !o.unused && !o.to_size && !o.keep)) {
		cmd_error("say what to remove: --older AGE, --unused AGE, --to-size SIZE or --keep FILE");
		return STATUS_ERROR;
	}
	rc = prepare(&p, &err);
	if (!rc)
		rc = open_store(o.store, o.dry_run ? SYMSTORE_READ : SYMSTORE_WRITE, &store, &err);
	if (!rc)
		rc = prune(&p, store, &err);
	if (!rc)
		doomed_print(&p.doomed, o.dry_run, o.json, o.quiet);
	else
		cmd_error("%s", err.msg);
	symstore_close(store);
	tdestroy(p.keep, free);
	doomed_deinit(&p.doomed);
	doomed_deinit(&p.rest);
	return rc ? STATUS_ERROR : STATUS_OK;
}

const struct command prune_command = {
	.name = "prune",
	.operands = "",
	.summary = "take out of the store what is old or too much",
	.description =
		"Removes entries by age, to a total size of the caches (the ones indexed or used longest ago "
		"go first; use is known to the day, where look-ups may write it beside the store), or all that are not in a list; of several rules each does its part, and "
		"what is in the list stays in any case. The file keeps its size, and what is indexed "
		"next uses the room; 'symcache compact' gives it back."
		"\n\n"
		"All of it happens at once or, on an error, nothing.",
	.opts = opts,
	.examples =
		"  symcache prune --older 90d\n"
		"  symcache prune --unused 26w && symcache compact\n"
		"  symcache prune --to-size 20G --dry-run\n"
		"  symcache list --tag release | symcache prune --keep -\n",
	.run = run,
};

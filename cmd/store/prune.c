/* symcache prune: takes out of the store what is old, too much, or not wanted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/cli/memory.h"
#include "cmd/cmd.h"
#include "cmd/store/removal.h"
#include "cmd/store/select.h"
#include "symcache/build_id.h"

static struct {
	const char *older, *unused, *to_size, *keep;
	struct removal_options how;
} o;

static const struct opt opts[] = {
	OPT_STORE(&o.how.store),
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
	OPTS_REMOVAL(&o.how),
	{ 0 },
};

/* The build IDs in the list of what to keep. */
struct keep {
	struct symstore_id *data;
	size_t len, cap;
};

static int add_kept(struct keep *keep, char *line, struct sc_error *err)
{
	char *word = line + strspn(line, " \t");
	struct symstore_id id = { 0 };
	size_t nibbles;
	int rc;

	word[strcspn(word, " \t\r\n")] = 0; /* as `symcache list` prints it */
	if (!*word || *word == '#')
		return 0;
	if ((rc = symcache_build_id_parse(word, id.bytes, &nibbles, err)))
		return rc;
	if (nibbles % 2)
		return sc_error_set(err, SC_EINVAL, "'%s' is not a whole build ID", word);
	id.len = nibbles / 2;
	keep->data = must_grow(keep->data, keep->len, &keep->cap, sizeof(*keep->data));
	keep->data[keep->len++] = id;
	return 0;
}

/* An empty list would remove everything: refused. */
static int read_keep(struct keep *keep, struct sc_error *err)
{
	FILE *f = !strcmp(o.keep, "-") ? stdin : fopen(o.keep, "re");
	char *line = NULL;
	size_t cap = 0;
	int rc = 0;

	if (!f)
		return sc_error_sys(err, "cannot open %s", o.keep);
	for (unsigned n = 1; !rc && getline(&line, &cap, f) > 0; n++)
		if ((rc = add_kept(keep, line, err)))
			sc_error_prefix(err, "%s:%u: ", o.keep, n);
	if (!rc && ferror(f))
		rc = sc_error_sys(err, "cannot read %s", o.keep);
	if (!rc && !keep->len)
		rc = sc_error_set(err, SC_EINVAL,
				  "%s names no build ID: that would remove everything", o.keep);
	keep->len = symstore_ids_sort(keep->data, keep->len);
	free(line);
	if (f != stdin)
		fclose(f);
	return rc;
}

/* `age` NULL: *ret stays as it is. */
static int time_before(const char *age, int64_t *ret, struct sc_error *err)
{
	int64_t seconds;
	int rc = age ? parse_age(age, &seconds, err) : 0;

	if (!rc && age)
		*ret = time(NULL) - seconds;
	return rc;
}

static int rules_init(struct symstore_prune_rules *rules, struct keep *keep, struct sc_error *err)
{
	int rc;

	*rules = (struct symstore_prune_rules){
		.indexed_before = INT64_MIN, .used_before = INT64_MIN, .to_size = UINT64_MAX,
	};
	if ((rc = time_before(o.older, &rules->indexed_before, err)) ||
	    (rc = time_before(o.unused, &rules->used_before, err)) ||
	    (o.to_size && (rc = parse_size(o.to_size, &rules->to_size, err))) ||
	    (o.keep && (rc = read_keep(keep, err))))
		return rc;
	rules->keep = keep->data;
	rules->num_keep = keep->len;
	return 0;
}

static void keep_deinit(struct keep *keep)
{
	free(keep->data);
}

static int gather(struct symstore *store, void *rules, struct symstore_removals *list,
		  struct sc_error *err)
{
	return symstore_condemn(store, rules, list, err);
}

static int run(int argc, char **argv, struct sc_error *err)
{
	struct keep keep __attribute__((cleanup(keep_deinit))) = { 0 };
	struct symstore_prune_rules rules;

	(void)argv;
	if (argc || (!o.older && !o.unused && !o.to_size && !o.keep))
		return sc_error_set(err, SC_EINVAL, "say what to remove: --older AGE, --unused AGE, "
				    "--to-size SIZE or --keep FILE");
	if (rules_init(&rules, &keep, err))
		return err->code;
	return remove_entries(&o.how, gather, &rules, err);
}

const struct command prune_command = {
	.name = "prune",
	.operands = "",
	.summary = "take out of the store what is old or too much",
	.description =
		"Removes entries by age, to a total size of the caches (the ones indexed or used "
		"longest ago go first; use is known to the day, where look-ups may write it next "
		"to the store), or all that are not in a list; of several rules each does its "
		"part, and what is in the list stays in any case. The file keeps its size, and "
		"what is indexed next uses the room; 'symcache compact' gives it back.\n\n"
		"All of it happens at once or, on an error, nothing.",
	.opts = opts,
	.examples =
		"  symcache prune --older 90d\n"
		"  symcache prune --unused 26w && symcache compact\n"
		"  symcache prune --to-size 20G --dry-run\n"
		"  symcache list --tag release | symcache prune --keep -\n",
	.see_also = "symcache-list(1) symcache-remove(1) symcache-compact(1)",
	.run = run,
};

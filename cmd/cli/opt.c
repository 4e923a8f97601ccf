/*
 * Option tables → getopt_long: see opt.h. The help is in opt_help.c.
 *
 * Long options get values from LONG upwards (row number added), so that they
 * never meet a letter; NEGATED is added for the --no-x spelling. getopt_long
 * accepts unique abbreviations of long options; its messages are replaced by
 * ours, which name the next step.
 */
#include "cmd/cli/opt.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"

enum { LONG = 0x1000, NEGATED = 0x2000, HELP = 0xfff };

/* What getopt_long wants; one allocation each, freed after parsing. */
struct tables {
	struct option *longs;
	char **names;   /* of longs, then NULL */
	char *letters;
};

static void tables_deinit(struct tables *t)
{
	for (char **n = t->names; n && *n; n++)
		free(*n);
	free(t->names);
	free(t->longs);
	free(t->letters);
}

static int opt_has_arg(const struct opt *o)
{
	if (o->kind == OPT_FLAG)
		return no_argument;
	return o->kind == OPT_BOOL || o->implied ? optional_argument : required_argument;
}

static void tables_init(struct tables *t, const struct opt *opts)
{
	size_t rows = 0, n = 0;
	char *letter;

	while (opts[rows].kind)
		rows++;
	t->longs = must_calloc(2 * rows + 2, sizeof(*t->longs));
	t->names = must_calloc(2 * rows + 2, sizeof(*t->names));
	t->letters = letter = must_calloc(3 * rows + 3, 1);
	*letter++ = ':';
	for (size_t i = 0; i < rows; i++) {
		const struct opt *o = &opts[i];
		int has_arg = opt_has_arg(o);

		if (o->name) {
			t->names[n] = must_asprintf("%s", o->name);
			t->longs[n] = (struct option){ t->names[n], has_arg, NULL, LONG + (int)i };
			n++;
		}
		if (o->name && o->kind == OPT_BOOL) {
			t->names[n] = must_asprintf("no-%s", o->name);
			t->longs[n] = (struct option){ t->names[n], no_argument, NULL,
						       LONG + NEGATED + (int)i };
			n++;
		}
		if (o->letter) {
			*letter++ = o->letter;
			for (int k = o->kind == OPT_BOOL ? 0 : has_arg; k > 0; k--)
				*letter++ = ':';
		}
	}
	t->names[n] = must_asprintf("help");
	t->longs[n] = (struct option){ t->names[n], no_argument, NULL, HELP };
	if (!strchr(t->letters, 'h'))
		*letter = 'h';
}

static void usage_error(const struct command *cmd, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static void usage_error(const struct command *cmd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmd_verror(fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try 'symcache %s --help'.\n", cmd->name);
}

static void unknown_option(const struct command *cmd, const char *word,
			   const struct tables *t)
{
	size_t len = strcspn(word, "=");
	char *name, *candidates = NULL;
	const char *closest;

	if (strncmp(word, "--", 2)) {
		usage_error(cmd, "unknown option '-%c'", optopt);
		return;
	}
	name = must_asprintf("%.*s", (int)len - 2, word + 2);
	for (char **n = t->names; *n && *name; n++) {
		if (strncmp(*n, name, len - 2))
			continue;
		char *more = must_asprintf("%s%s--%s", candidates ? candidates : "",
				       candidates ? ", " : "", *n);
		free(candidates);
		candidates = more;
	}
	closest = opt_closest(name, (const char *const *)t->names);
	if (candidates)
		usage_error(cmd, "'--%s' could mean %s: write it out", name, candidates);
	else if (closest)
		usage_error(cmd, "unknown option '--%s': did you mean '--%s'?", name, closest);
	else
		usage_error(cmd, "unknown option '--%s'", name);
	free(candidates);
	free(name);
}

/* How the option was meant to be spelled, for messages. */
static char *opt_spelling(const struct opt *o)
{
	return o->name ? must_asprintf("--%s", o->name) : must_asprintf("-%c", o->letter);
}

static bool bad_value(const struct command *cmd, const struct opt *o, const char *value,
		      const char *wanted)
{
	char *spelling = opt_spelling(o);

	usage_error(cmd, "%s: '%s' is not %s", spelling, value, wanted);
	free(spelling);
	return false;
}

static bool set_enum(const struct command *cmd, const struct opt *o, const char *value)
{
	char wanted[256] = "one of";
	size_t len = strlen(wanted);

	for (int i = 0; o->choices[i]; i++) {
		if (!strcasecmp(value, o->choices[i])) {
			*(int *)o->value = i;
			return true;
		}
		if (len < sizeof(wanted))
			len += (size_t)snprintf(wanted + len, sizeof(wanted) - len, "%s %s",
						i ? "," : "", o->choices[i]);
	}
	return bad_value(cmd, o, value, wanted);
}

static bool set_bool(const struct command *cmd, const struct opt *o, const char *value)
{
	bool yes = !value || !strcmp(value, "true");

	if (!yes && strcmp(value, "false"))
		return bad_value(cmd, o, value, "true or false");
	*(bool *)o->value = yes;
	return true;
}

static bool set_number(const struct command *cmd, const struct opt *o, const char *value)
{
	char *end;
	unsigned long long number;

	errno = 0;
	number = strtoull(value, &end, 0);
	if (errno || end == value || *end)
		return bad_value(cmd, o, value, "a number (decimal, 0x... or 0...)");
	*(uint64_t *)o->value = number;
	return true;
}

void opt_take(const struct opt *o, const char *value)
{
	struct opt_list *list = o->value;

	if (o->kind == OPT_FLAG) {
		if (o->instead)
			*o->instead = false;
		*(bool *)o->value = true;
	} else if (o->kind == OPT_STRING) {
		*(const char **)o->value = value;
	} else {
		list->items = must_realloc(list->items, (list->len + 2) * sizeof(*list->items));
		list->items[list->len++] = value;
		list->items[list->len] = NULL;
	}
}

static bool opt_set(const struct command *cmd, const struct opt *o, const char *value)
{
	if (!value)
		value = o->implied;
	switch (o->kind) {
	case OPT_BOOL:
		return set_bool(cmd, o, value);
	case OPT_NUMBER:
		return set_number(cmd, o, value);
	case OPT_ENUM:
		return set_enum(cmd, o, value);
	default:
		opt_take(o, value);
		return true;
	}
}

/* The row of a value returned by getopt_long. */
static const struct opt *opt_find(const struct opt *opts, int val)
{
	if (val >= LONG)
		return &opts[(val - LONG) & ~NEGATED];
	while (opts->kind && opts->letter != val)
		opts++;
	return opts;
}

int opt_parse(const struct command *cmd, int argc, char **argv)
{
	__attribute__((cleanup(tables_deinit))) struct tables t = { 0 };
	char *spelling;
	int val;

	tables_init(&t, cmd->opts);
	opterr = 0;
	optind = 0; /* GNU: start anew */
	while ((val = getopt_long(argc, argv, t.letters, t.longs, NULL)) != -1) {
		const struct opt *o;

		if (val == '?' && optopt < LONG) {
			unknown_option(cmd, argv[optind - 1], &t);
			return OPT_BAD;
		}
		if (val == '?' || val == ':') {
			o = opt_find(cmd->opts, optopt);
			spelling = opt_spelling(o);
			if (val == '?')
				usage_error(cmd, "%s takes no value", spelling);
			else
				usage_error(cmd, "%s needs a value: %s", spelling, o->arg);
			free(spelling);
			return OPT_BAD;
		}
		if (val == HELP || (val == 'h' && !opt_find(cmd->opts, 'h')->kind)) {
			opt_help(cmd, stdout);
			return OPT_HELP;
		}
		o = opt_find(cmd->opts, val);
		if (val >= LONG + NEGATED)
			*(bool *)o->value = false;
		/* -e=FILE is -e FILE, as llvm-symbolizer has it. */
		else if (!opt_set(cmd, o, optarg && val < LONG && *optarg == '=' ? optarg + 1
										  : optarg))
			return OPT_BAD;
	}
	return optind;
}

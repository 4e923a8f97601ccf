/*
 * Option tables → values: see opt.h. The help is in opt_help.c.
 *
 * One reader for two manners. GNU's: a long option may be cut short where that is unique, "--"
 * ends the options, the first error ends it all. LLVM's: -x stands for --x, and what is wrong is
 * reported in LLVM's words, all of it.
 */
#include "cmd/cli/opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"

struct spelling {
	char *name;            /* without dashes */
	const struct opt *opt;
	bool no;               /* it is --no-x */
};

struct reader {
	const struct command *cmd;  /* NULL: LLVM's manner */
	struct opt *opts;           /* with --help, in GNU's */
	bool help, brief;
	struct spelling *spellings; /* long ones; the last has no name */
	char **at;                  /* words that are left, then NULL */
};

static void reader_init(struct reader *r, const struct command *cmd, const struct opt *opts)
{
	struct spelling *s;
	bool h_taken = false;
	size_t rows = 0;

	for (; opts[rows].kind; rows++)
		h_taken |= opts[rows].letter == 'h';
	r->cmd = cmd;
	r->opts = must_calloc(rows + 3, sizeof(*opts));
	memcpy(r->opts, opts, rows * sizeof(*opts));
	if (cmd)
		r->opts[rows++] = (struct opt){ "help", 0, OPT_FLAG, &r->help };
	if (cmd && !h_taken)
		r->opts[rows++] = (struct opt){ NULL, 'h', OPT_FLAG, &r->brief };
	s = r->spellings = must_calloc(2 * rows + 1, sizeof(*s));
	for (const struct opt *o = r->opts; o->kind; o++) {
		if (o->name)
			*s++ = (struct spelling){ must_asprintf("%s", o->name), o, false };
		if (o->name && o->kind == OPT_BOOL)
			*s++ = (struct spelling){ must_asprintf("no-%s", o->name), o, true };
	}
}

static void reader_deinit(struct reader *r)
{
	for (struct spelling *s = r->spellings; s->name; s++)
		free(s->name);
	free(r->spellings);
	free(r->opts);
}

bool opt_takes_value(const struct opt *o)
{
	return o->kind != OPT_FLAG && o->kind != OPT_BOOL && !o->implied;
}

/* ---- what is wrong ------------------------------------------------------------------- */

static bool usage_error(const struct reader *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
static bool usage_error(const struct reader *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmd_verror(fmt, ap);
	va_end(ap);
	fprintf(stderr, "Try 'symcache %s --help'.\n", r->cmd->name);
	return false;
}

/* As the option is written, for messages. */
static const char *opt_spelling(const struct opt *o, char text[64])
{
	if (o->name)
		snprintf(text, 64, "--%s", o->name);
	else
		snprintf(text, 64, "-%c", o->letter);
	return text;
}

static bool bad_value(const struct reader *r, const struct opt *o, const char *value,
		      const char *wanted)
{
	char text[64];

	return usage_error(r, "%s: '%s' is not %s", opt_spelling(o, text), value, wanted);
}

/* An unknown long option, or one that could be several. */
static bool unknown_gnu(const struct reader *r, const char *word)
{
	const size_t len = strcspn(word, "=");
	char *name = must_asprintf("%.*s", (int)len, word), *candidates = NULL;
	const char *closest = NULL;
	size_t limit = opt_near(name);

	for (const struct spelling *s = r->spellings; s->name; s++) {
		char *before = candidates;

		if (len && !strncmp(s->name, name, len)) {
			candidates = must_asprintf("%s%s--%s", before ? before : "",
						   before ? ", " : "", s->name);
			free(before);
		}
		if (opt_is_near(name, s->name, &limit))
			closest = s->name;
	}
	if (candidates)
		usage_error(r, "'--%s' could mean %s: write it out", name, candidates);
	else if (closest)
		usage_error(r, "unknown option '--%s': did you mean '--%s'?", name, closest);
	else
		usage_error(r, "unknown option '--%s'", name);
	free(candidates);
	free(name);
	return false;
}

/* Is one at most one edit from the other? */
static bool one_edit(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return !strcmp(a, b) || (*a && *b && !strcmp(a + 1, b + 1)) || (*a && !strcmp(a + 1, b)) ||
	       (*b && !strcmp(a, b + 1));
}

static bool unknown_llvm(const struct reader *r, const char *word)
{
	const size_t len = strcspn(word, "=");
	char *name = must_asprintf("%.*s", (int)len, word);
	const struct spelling *s = r->spellings;

	while (s->name && !(len > 2 && one_edit(name + 2, s->name)))
		s++;
	fprintf(stderr, "error: unknown argument '%s'", word);
	/* Of the name itself it is the value that is wrong. */
	if (!strncmp(word, "--", 2) && s->name && (s->no || strcmp(name + 2, s->name)))
		fprintf(stderr, ", did you mean '--%s%s'?", s->name, s->no ? "" : word + len);
	fputc('\n', stderr);
	free(name);
	return false;
}

/* ---- values -------------------------------------------------------------------------- */

static bool set_enum(const struct reader *r, const struct opt *o, const char *value)
{
	char wanted[256] = "one of";
	size_t len = strlen(wanted);

	for (int i = 0; o->choices[i]; i++) {
		if (!(r->cmd ? strcasecmp : strcmp)(value, o->choices[i])) {
			*(int *)o->value = i;
			return true;
		}
		if (len < sizeof(wanted))
			len += (size_t)snprintf(wanted + len, sizeof(wanted) - len, "%s %s",
						i ? "," : "", o->choices[i]);
	}
	if (r->cmd)
		return bad_value(r, o, value, wanted);
	/* LLVM's: it means what is implied, or nothing. */
	return !o->implied || value == o->implied || set_enum(r, o, o->implied);
}

static bool set_number(const struct reader *r, const struct opt *o, const char *value)
{
	unsigned long long number;
	char *end, text[64];

	errno = 0;
	number = strtoull(value, &end, 0);
	if (o->kind == OPT_COUNT && !errno && end != value && !*end && !number)
		return usage_error(r, "%s must be at least 1, not '%s'", opt_spelling(o, text), value);
	if (!errno && end != value && !*end && (r->cmd || *value != '-')) {
		*(uint64_t *)o->value = number;
		return true;
	}
	if (r->cmd)
		return bad_value(r, o, value, "a number (decimal, 0x... or 0...)");
	fprintf(stderr, "--%s=: expected a non-negative integer, but got '%s'", o->name, value);
	return false;
}

/* A decimal number with a unit behind it. */
static bool set_scaled(const struct opt *o, const char *value)
{
	static const uint64_t seconds[] = { 1, 60, 3600, 86400, 7 * 86400, 365 * 86400 };
	static const uint64_t bytes[] = { 1ull << 10, 1ull << 20, 1ull << 30, 1ull << 40 };
	const bool age = o->kind == OPT_AGE;
	const char *what = age ? "time span" : "size", *units = age ? "smhdwy" : "KMGT", *unit,
		   *listed = age ? "s, m, h, d, w, y" : "K, M, G, T";
	uint64_t number, factor = 1;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 10);
	unit = *end ? strchr(units, *end) : NULL;
	if (unit)
		factor = (age ? seconds : bytes)[unit - units];
	if (*value < '0' || *value > '9' || errno)
		cmd_error("'%.60s' is not a %s", value, what);
	else if (*end && (!unit || end[1]))
		cmd_error("'%.60s' is not a %s: units are %s", value, what, listed);
	else if (age && !*end && number)
		cmd_error("'%.60s' has no unit: %.60sd means days (units: %s)", value, value, listed);
	else if (number > (age ? INT64_MAX / 2 : UINT64_MAX) / factor)
		cmd_error("'%.60s' is too large for a %s", value, what);
	else {
		if (age)
			*(struct opt_age *)o->value =
				(struct opt_age){ true, (int64_t)(number * factor) };
		else
			*(uint64_t *)o->value = number * factor;
		return true;
	}
	return false;
}

static bool set(const struct reader *r, const struct opt *o, const char *value)
{
	struct opt_list *list = o->value;

	value = value ? value : o->implied;
	switch (o->kind) {
	case OPT_FLAG:
		if (o->instead)
			*o->instead = false;
		*(bool *)o->value = true;
		return true;
	case OPT_BOOL:
		*(bool *)o->value = !value || !strcmp(value, "true");
		return !value || *(bool *)o->value || !strcmp(value, "false") ||
		       bad_value(r, o, value, "true or false");
	case OPT_STRING:
		*(const char **)o->value = value;
		return true;
	case OPT_LIST:
		list->items = must_realloc(list->items, (list->len + 2) * sizeof(*list->items));
		list->items[list->len++] = value;
		list->items[list->len] = NULL;
		return true;
	case OPT_NUMBER:
	case OPT_COUNT:
		return set_number(r, o, value);
	case OPT_ENUM:
		return set_enum(r, o, value);
	case OPT_AGE:
	case OPT_SIZE:
		return set_scaled(o, value);
	case OPT_HEADING:
		break;
	}
	return false;
}

static bool set_next(struct reader *r, const struct opt *o, const char *spelling)
{
	char text[64];

	if (*r->at)
		return set(r, o, *r->at++);
	if (r->cmd)
		return usage_error(r, "%s needs a value: %s", opt_spelling(o, text), o->arg);
	fprintf(stderr, "error: %s: missing argument\n", spelling);
	return false;
}

/* ---- words --------------------------------------------------------------------------- */

/* NULL: none has this name, and not just one begins so. */
static const struct spelling *find_long(const struct reader *r, const char *word, size_t len)
{
	const struct spelling *found = NULL;
	bool several = false;

	for (const struct spelling *s = r->spellings; s->name; s++) {
		if (strncmp(s->name, word, len))
			continue;
		if (!s->name[len])
			return s;
		several |= found != NULL;
		found = s;
	}
	return several || !r->cmd ? NULL : found;
}

/* `word`, without its dashes, as a long option; 1: it is none. 0: read; −1: wrong. */
static int read_long(struct reader *r, const char *spelling, const char *word)
{
	const size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;
	const struct spelling *s = find_long(r, word, len);
	char text[64];

	if (!s)
		return 1;
	if (value && (s->no || (s->opt->kind != OPT_BOOL && !s->opt->arg))) {
		if (r->cmd)
			usage_error(r, "%s takes no value", opt_spelling(s->opt, text));
		return r->cmd ? -1 : 1;
	}
	if (s->no) {
		*(bool *)s->opt->value = false;
		return 0;
	}
	if (!r->cmd && s->opt->kind == OPT_BOOL && value && strcmp(value, "true") &&
	    strcmp(value, "false"))
		return 1;
	if (opt_takes_value(s->opt) && !value)
		return set_next(r, s->opt, spelling) ? 0 : -1;
	return set(r, s->opt, value) ? 0 : -1;
}

/* Grouped letters; one that takes a value ends the group. */
static bool read_letters(struct reader *r, const char *word)
{
	bool ok = true;

	for (const char *c = word + 1; *c && (ok || !r->cmd); c++) {
		const char spelling[3] = { '-', *c, 0 };
		const struct opt *o = r->opts;

		while (o->kind && o->letter != *c)
			o++;
		if (!o->kind)
			ok = r->cmd ? usage_error(r, "unknown option '%s'", spelling) :
				      unknown_llvm(r, spelling);
		else if (opt_takes_value(o) && !c[1])
			return set_next(r, o, spelling) && ok;
		/* -e=FILE is -e FILE. */
		else if (opt_takes_value(o) || (o->implied && c[1] && (r->cmd || c[1] == '=')))
			return set(r, o, c + 1 + (c[1] == '=')) && ok;
		else
			ok &= set(r, o, NULL);
	}
	return ok;
}

static bool read_option(struct reader *r, char *word)
{
	const bool two = word[1] == '-';
	const int read = two || !r->cmd ? read_long(r, word, word + 1 + two) : 1;

	return read <= 0 ? !read :
	       !two ? read_letters(r, word) :
	       r->cmd ? unknown_gnu(r, word + 2) : unknown_llvm(r, word);
}

static int parse(struct reader *r, char **argv)
{
	int operands = 0;
	bool ok = true, ended = false;

	r->at = argv + 1;
	for (char *word; (word = *r->at) && (ok || !r->cmd) && !r->help && !r->brief;) {
		r->at++;
		if (ended || *word != '-' || !word[1])
			argv[operands++] = word;
		else if (r->cmd && !strcmp(word, "--"))
			ended = true;
		else
			ok &= read_option(r, word);
	}
	argv[operands] = NULL;
	return ok ? operands : OPT_BAD;
}

int opt_parse(const struct command *cmd, char **argv)
{
	struct reader r __attribute__((cleanup(reader_deinit))) = { 0 };
	int operands;

	reader_init(&r, cmd, cmd->opts);
	operands = parse(&r, argv);
	if ((!r.help && !r.brief) || operands < 0)
		return operands;
	opt_help(cmd, r.brief, stdout);
	return OPT_HELP;
}

int opt_parse_llvm(const struct opt *opts, char **argv)
{
	struct reader r __attribute__((cleanup(reader_deinit))) = { 0 };

	reader_init(&r, NULL, opts);
	return parse(&r, argv);
}

/*
 * The help of a command, made from its option table; see opt.h.
 */
#include "cmd/cli/opt.h"

#include <ctype.h>
#include <string.h>

enum { WIDTH = 79, HELP_COLUMN = 28 };

void opt_wrap(FILE *to, const char *text, int column, int indent)
{
	while (*text) {
		int word = (int)strcspn(text, " \n");

		if (column > indent && column + 1 + word > WIDTH) {
			fprintf(to, "\n%*s", indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", word, text);
		column += word;
		text += word;
		if (!strncmp(text, "\n\n", 2)) {
			fprintf(to, "\n\n%*s", indent, "");
			column = indent;
			text++;
		}
		if (*text)
			text++;
	}
	fputc('\n', to);
}

/* `len`: of the help that is shown. */
static void opt_help_row(const struct opt *o, size_t len, FILE *to)
{
	char text[1024];
	const char *eq = o->name ? "=" : " ";
	int column = fprintf(to, "  ");

	if (o->letter)
		column += fprintf(to, "-%c%s", o->letter, o->name ? ", " : "");
	else
		column += fprintf(to, "    ");
	if (o->name)
		column += fprintf(to, "--%s%s", o->kind == OPT_BOOL ? "[no-]" : "", o->name);
	if (o->arg)
		column += fprintf(to, "%s%s%s%s", o->implied ? "[" : "", eq, o->arg,
				  o->implied ? "]" : "");
	if (column > HELP_COLUMN - 2)
		column = fprintf(to, "\n") - 1;
	fprintf(to, "%*s", HELP_COLUMN - column, "");
	snprintf(text, sizeof(text), "%.*s", (int)len, o->help);
	opt_wrap(to, text, HELP_COLUMN, HELP_COLUMN);
}

static void opt_help_status(const struct command *cmd, FILE *to)
{
	char text[512];

	snprintf(text, sizeof(text), "0 done; %s%s%s2 %s.", cmd->partly ? "1 " : "",
		 cmd->partly ? cmd->partly : "", cmd->partly ? "; " : "",
		 cmd->failed ? cmd->failed : "error");
	opt_wrap(to, text, fprintf(to, "\nExit status:") - 1, 0);
}

/* Is `name` one of `words`, which have blanks between them? */
static bool is_among(const char *name, const char *words)
{
	const size_t len = strlen(name);

	for (const char *at = words; (at = strstr(at, name)); at += len)
		if ((at == words || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

void opt_help(const struct command *cmd, bool brief, FILE *to)
{
	const char *essential = brief ? cmd->essential : NULL;
	const bool sections = !essential && cmd->opts->kind == OPT_HEADING;

	fprintf(to, "usage: symcache %s [OPTION...]%s%s\n\n", cmd->name,
		*cmd->operands ? " " : "", cmd->operands);
	if (essential) {
		fprintf(to, "%c%s.\n", toupper((unsigned char)*cmd->summary), cmd->summary + 1);
	} else {
		opt_wrap(to, cmd->description, 0, 0);
		opt_help_status(cmd, to);
	}
	fputs(essential ? "\nThe most used options:\n" : sections ? "" : "\nOptions:\n", to);
	for (const struct opt *o = cmd->opts; o->kind; o++) {
		if (o->kind == OPT_HEADING && !essential)
			fprintf(to, "\n%s:\n", o->arg);
		if (o->help && (!essential || (o->name && is_among(o->name, essential))))
			opt_help_row(o, essential ? strcspn(o->help, ";") : strlen(o->help), to);
	}
	if (sections)
		fputc('\n', to);
	if (essential)
		fprintf(to, "      --help%*sall options, and what this does\n", HELP_COLUMN - 12, "");
	else if (cmd->essential)
		fprintf(to, "  -h%*sthe most used options\n      --help%*sthis help\n",
			HELP_COLUMN - 4, "", HELP_COLUMN - 12, "");
	else
		fprintf(to, "  -h, --help%*sthis help\n", HELP_COLUMN - 12, "");
	if (cmd->examples)
		fprintf(to, "\nExamples:\n%s", cmd->examples);
}

/* Levenshtein's distance, one row at a time. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t row[64], len = strlen(b);

	if (len >= 64)
		return len;
	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= len; j++) {
			size_t best = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			if (best > row[j] + 1)
				best = row[j] + 1;
			if (best > row[j - 1] + 1)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[len];
}

size_t opt_near(const char *word)
{
	return strlen(word) / 3 + 1;
}

bool opt_is_near(const char *word, const char *name, size_t *limit)
{
	const size_t distance = edit_distance(word, name);

	if (distance > *limit)
		return false;
	*limit = distance - (distance > 0);
	return true;
}

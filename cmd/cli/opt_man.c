/*
 * The man page of a command, made from its option table like its help; see opt.h.
 * Plain man(7): what all versions of groff and mandoc have in common.
 */
#include "cmd/cli/opt.h"

#include <string.h>

/* Text as it is: no byte of it is a request or an escape. `start`: of a line. */
static void put(FILE *to, const char *text, size_t len, bool start)
{
	for (const char *end = text + len; text < end; start = *text++ == '\n') {
		if (start && *text == '.')
			fputs("\\&", to);
		switch (*text) {
		case '\\': fputs("\\e", to); break;
		case '-': fputs("\\-", to); break;
		case '\'': fputs("\\(aq", to); break;
		case '`': fputs("\\(ga", to); break;
		case '^': fputs("\\(ha", to); break;
		case '~': fputs("\\(ti", to); break;
		default: fputc(*text, to);
		}
	}
}

static void put_words(FILE *to, const char *text)
{
	put(to, text, strlen(text), false);
}

static void put_lines(FILE *to, const char *text)
{
	put(to, text, strlen(text), true);
}

void opt_man_text(const char *text, FILE *to)
{
	for (const char *end; *text; text = end + strspn(end, "\n")) {
		end = strstr(text, "\n\n");
		end = end ? end : text + strlen(text);
		fputs(".PP\n", to);
		put(to, text, (size_t)(end - text), true);
		fputc('\n', to);
	}
}

/* What comes between the name of an option and its value. */
static void put_value(const struct opt *o, FILE *to)
{
	if (!o->arg)
		return;
	fprintf(to, "%s%s\\fI", o->implied ? "[" : "", o->name ? "=" : " ");
	put_words(to, o->arg);
	fprintf(to, "\\fR%s", o->implied ? "]" : "");
}

static void put_option(const struct opt *o, FILE *to)
{
	fputs(".TP\n", to);
	if (o->letter)
		fprintf(to, "\\fB\\-%c\\fR%s", o->letter, o->name ? ", " : "");
	if (o->name) {
		fprintf(to, "\\fB\\-\\-%s", o->kind == OPT_BOOL ? "[no\\-]" : "");
		put_words(to, o->name);
		fputs("\\fR", to);
	}
	put_value(o, to);
	fputc('\n', to);
	put_lines(to, o->help);
	fputc('\n', to);
}

void opt_man(const struct command *cmd, FILE *to)
{
	fprintf(to, ".SS symcache %s\n\\fBsymcache %s\\fR [\\fIOPTION\\fR...] ", cmd->name, cmd->name);
	put_words(to, cmd->operands);
	fputc('\n', to);
	opt_man_text(cmd->description, to);
	for (const struct opt *o = cmd->opts; o->kind; o++)
		if (o->help)
			put_option(o, to);
	if (cmd->examples) {
		fputs(".PP\nExamples:\n.PP\n.nf\n", to);
		put_lines(to, cmd->examples);
		fputs(".fi\n", to);
	}
}

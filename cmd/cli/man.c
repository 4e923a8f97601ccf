/* Man pages out of the option tables: see opt.h. */
#include "cmd/cli/opt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "libsymcache/write/build.h"

/* What stands in ENVIRONMENT and FILES of the commands that have an option of that name. */
struct known {
	const char *option, *name, *text;
};

static const struct known environment[] = {
	{ "store", "SYMCACHE_STORE", "The store, unless --store names one." },
	{ "store", "XDG_CACHE_HOME", "The folder that symcache/symcache.store is in, unless the "
	  "store is named; without it, that is ~/.cache." },
	{ "frozen", "SYMCACHE_FROZEN", "If it is neither empty nor 0, as --frozen; commands that write "
	  "the store are refused." },
	{ "url", "SYMCACHE_URLS", "Trees on web servers, with blanks between them, that are asked for what the "
	  "store lacks, after those of --url." },
	{ "url", "SYMCACHE_URL_TIMEOUT", "Seconds after which a web server that sends nothing is left alone; 10 "
	  "by default. SYMCACHE_URL_MAXTIME: the most that a file may take; 3600." },
	{ "debuginfod", "DEBUGINFOD_URLS", "The servers that --debuginfod asks." },
	{ "again", "TMPDIR", "Where members of archives are unpacked that are too large for "
	  "memory; without it /tmp." },
	{ "again", "SOURCE_DATE_EPOCH", "The time of new entries, in seconds since 1970, for a "
	  "store that is the same each time." },
	{ "color", "NO_COLOR", "If not empty, no colours, unless --color=always asks for them." },
	{ NULL },
};

static const struct known files[] = {
	{ "store", "~/.cache/symcache/symcache.store", "The store, unless another is named." },
	{ "store", "STORE-lock", "Who has the store open; only there meanwhile." },
	{ "store", "STORE-used", "When the entries of the store were last used." },
	{ "debug-file-directory", "/usr/lib/debug/.build-id/xx/rest.debug",
	  "Separate debug files, unless --debug-file-directory names other folders." },
	{ "debuginfod", "~/.cache/debuginfod_client/", "What libdebuginfod fetched." },
	{ NULL },
};

/* Bytes of a line of source before the next blank ends it; and those that it has at most, if no
 * word is longer. */
enum { LINE = 56, LINE_MOST = 76 };

/* How the character at `c`, of *len bytes, is written. */
static const char *escaped(const char *c, size_t *len)
{
	static char text[16];

	*len = 1;
	switch (*c) {
	case '\\': return "\\e";
	case '-': return "\\-";
	case '\'': return "\\(aq";
	case '`': return "\\(ga";
	case '^': return "\\(ha";
	case '~': return "\\(ti";
	}
	snprintf(text, sizeof(text), "%c", *c);
	if (*c & 0x80) { /* UTF-8, of two bytes or more */
		uint32_t code = (unsigned char)*c & (*c & 0x20 ? 0x0f : 0x1f);

		while ((c[*len] & 0xc0) == 0x80)
			code = code << 6 | (c[(*len)++] & 0x3f);
		snprintf(text, sizeof(text), "\\[u%04X]", code);
	}
	return text;
}

/* Text in which no byte is a request or an escape. With `fill`, blanks become newlines
 * where lines get long; else lines stay as they are. */
static void put_text(FILE *to, const char *text, size_t len, bool fill)
{
	size_t column = 0, bytes;

	for (const char *end = text + len; text < end; text += bytes) {
		const char *out = escaped(text, &bytes);

		if (fill && *text == ' ' &&
		    (column > LINE || column + strcspn(text + 1, " \n") > LINE_MOST))
			out = "\n";
		if (!column && *text == '.')
			fputs("\\&", to);
		fputs(out, to);
		column = *out == '\n' ? 0 : column + strlen(out);
	}
}

static void put(FILE *to, const char *text)
{
	put_text(to, text, strlen(text), true);
}

static void put_paragraphs(FILE *to, const char *text)
{
	for (const char *end, *begin = text; *text; text = end + strspn(end, "\n")) {
		end = strstr(text, "\n\n");
		end = end ? end : text + strlen(text);
		if (text != begin)
			fputs(".PP\n", to);
		put_text(to, text, (size_t)(end - text), true);
		fputc('\n', to);
	}
}

/* .TH; `command` NULL: of the program. */
static void put_title(FILE *to, const char *command)
{
	/* As reproducible builds want it. */
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
	char date[32] = "";
	struct tm tm;

	if (gmtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y-%m-%d", &tm);
	fputs(".TH SYMCACHE", to);
	for (const char *c = command ? command : ""; *c; c++)
		fprintf(to, "%s%c", c == command ? "\\-" : "", *c - 'a' + 'A');
	fprintf(to, " 1 %s \"%s\" \"User Commands\"\n", date, symcache_version);
}

/* What comes between the name of an option and its value. */
static void put_value(FILE *to, const struct opt *o)
{
	if (!o->arg)
		return;
	fprintf(to, "%s%s\\fI", o->implied ? "[" : "", o->name ? "=" : " ");
	put(to, o->arg);
	fprintf(to, "\\fR%s", o->implied ? "]" : "");
}

static void put_option(FILE *to, const struct opt *o)
{
	fputs(".TP\n", to);
	if (o->letter)
		fprintf(to, "\\fB\\-%c\\fR%s", o->letter, o->name ? ", " : "");
	if (o->name) {
		fprintf(to, "\\fB\\-\\-%s", o->kind == OPT_BOOL ? "[no\\-]" : "");
		put(to, o->name);
		fputs("\\fR", to);
	}
	put_value(to, o);
	fputc('\n', to);
	put(to, o->help);
	fputc('\n', to);
}

static bool has_option(const struct command *cmd, const char *name)
{
	for (const struct opt *o = cmd->opts; o->kind; o++)
		if (o->name && !strcmp(o->name, name))
			return true;
	return false;
}

/* The rows that are about `cmd`; all, if that is NULL. */
static void put_known(FILE *to, const char *heading, const struct command *cmd,
		      const struct known *row)
{
	bool any = false;

	for (; row->option; row++) {
		if (cmd && !has_option(cmd, row->option))
			continue;
		if (!any)
			fprintf(to, ".SH %s\n", heading);
		any = true;
		fputs(".TP\n\\fB", to);
		put(to, row->name);
		fputs("\\fR\n", to);
		put(to, row->text);
		fputc('\n', to);
	}
}

static void put_status(FILE *to, int status, const char *text)
{
	fprintf(to, ".TP\n\\fB%d\\fR\n%c", status, toupper((unsigned char)*text));
	put(to, text + 1);
	fputs(".\n", to);
}

/* "symcache-index(1), addr2line(1)" */
static void put_pages(FILE *to, const char *pages)
{
	while (*pages) {
		size_t name = strcspn(pages, "("), len = strcspn(pages, " ");

		fputs(".BR ", to);
		put_text(to, pages, name, true);
		fprintf(to, " %.*s%s\n", (int)(len - name), pages + name, pages[len] ? "," : "");
		pages += len + !!pages[len];
	}
}

void man_command(const struct command *cmd, FILE *to)
{
	put_title(to, cmd->name);
	fprintf(to, ".SH NAME\nsymcache\\-%s \\- ", cmd->name);
	put(to, cmd->summary);
	fprintf(to, "\n.SH SYNOPSIS\n\\fBsymcache %s\\fR [\\fIOPTION\\fR...]%s", cmd->name,
		*cmd->operands ? " " : "");
	put(to, cmd->operands);
	fputs("\n.SH DESCRIPTION\n", to);
	put_paragraphs(to, cmd->description);
	fputs(".SH OPTIONS\n", to);
	for (const struct opt *o = cmd->opts; o->kind; o++)
		if (o->kind == OPT_HEADING)
			fprintf(to, ".SS %s\n", o->arg);
		else if (o->help)
			put_option(to, o);
	if (cmd->opts->kind == OPT_HEADING)
		fputs(".SS Help\n", to);
	fprintf(to, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nA shorter version of this page%s.\n", cmd->essential ?
		"; with \\fB\\-h\\fR the most used options" : "");
	put_known(to, "ENVIRONMENT", cmd, environment);
	put_known(to, "FILES", cmd, files);
	fputs(".SH EXIT STATUS\n", to);
	put_status(to, 0, "Done");
	if (cmd->partly)
		put_status(to, 1, cmd->partly);
	put_status(to, 2, cmd->failed ? cmd->failed : "Error; the message says which");
	if (cmd->examples) {
		fputs(".SH EXAMPLES\n.nf\n", to);
		put_text(to, cmd->examples, strlen(cmd->examples), false);
		fputs(".fi\n", to);
	}
	fprintf(to, ".SH SEE ALSO\n.BR symcache (1)%s\n", cmd->see_also ? "," : "");
	put_pages(to, cmd->see_also ? cmd->see_also : "");
}

void man_program(const struct command *const *commands, const char *summary,
		 const char *description, FILE *to)
{
	put_title(to, NULL);
	fputs(".SH NAME\nsymcache \\- ", to);
	put(to, summary);
	fputs("\n.SH SYNOPSIS\n\\fBsymcache\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] "
	      "[\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n", to);
	put_paragraphs(to, description);
	fputs(".SH COMMANDS\nEach has a page of its own.\n", to);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(to, ".TP\n.BR symcache\\-%s (1)\n", (*c)->name);
		put(to, (*c)->summary);
		fputc('\n', to);
	}
	fputs(".SH OPTIONS\n"
	      ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nThe list of commands; after a command, its "
	      "options.\nThe same are \\fBhelp\\fR and \\fBhelp\\fR \\fICOMMAND\\fR.\n"
	      ".TP\n\\fB\\-\\-version\\fR\nThe version.\n"
	      ".TP\n\\fB\\-\\-man\\fR [\\fICOMMAND\\fR]\nThis page, or that of a command.\n"
	      ".TP\n\\fB\\-\\-completion\\fR \\fISHELL\\fR\n"
	      "A script that completes commands and options in bash, zsh or fish.\n", to);
	put_known(to, "ENVIRONMENT", NULL, environment);
	put_known(to, "FILES", NULL, files);
	fputs(".SH EXIT STATUS\n", to);
	put_status(to, 0, "Done");
	put_status(to, 1, "Something was not found, or only partly done");
	put_status(to, 2, "Error; the message says which");
	fputs(".SH EXAMPLES\n.nf\n"
	      "  symcache index /usr/bin /usr/lib/debug\n"
	      "  symcache filter crash.log\n"
	      "  symcache lookup \\-\\-file /usr/bin/python3 0x1234\n.fi\n"
	      ".SH SEE ALSO\n", to);
	for (const struct command *const *c = commands; *c; c++)
		fprintf(to, ".BR symcache\\-%s (1),\n", (*c)->name);
	fputs(".BR addr2line (1),\n.BR gdb (1),\n.BR debuginfod (8)\n", to);
}

/* Scripts for shells out of the option tables: see opt.h. */
#include "cmd/cli/opt.h"

#include <string.h>

/* What a value is, by what the help calls it. */
static bool is_folder(const char *arg)
{
	return !strcmp(arg, "DIR");
}

static bool is_file(const char *arg)
{
	static const char *const words[] = { "FILE", "FOLDER", "PATH", "ELF", "LOG", "BUNDLE" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strstr(arg, words[i]))
			return true;
	return false;
}

static void put_choices(const struct opt *o, FILE *to)
{
	for (const char *const *c = o->choices; *c; c++)
		fprintf(to, "%s%s", c == o->choices ? "" : " ", *c);
}

/* The help up to where details begin, in single quotes; `special` gets a backslash. */
static void put_help(const char *help, const char *special, FILE *to)
{
	size_t len = strcspn(help, ";(");

	while (len && strchr(" ,:", help[len - 1]))
		len--;
	for (const char *c = help, *end = help + len; c < end; c++) {
		if (*c == '\'')
			fputs("'\\''", to);
		else
			fprintf(to, "%s%c", strchr(special, *c) ? "\\" : "", *c);
	}
}

/* ---- bash ----------------------------------------------------------------------- */

/* --option=value is three words: its pattern is "--option=". A value that may lack is
 * never a word of its own. */
static void bash_values(const struct command *cmd, const struct opt *o, FILE *to)
{
	const char *more = "";

	if (!o->arg || o->kind == OPT_HEADING || (o->implied && !o->name))
		return;
	fputs("\t", to);
	if (o->name) {
		fprintf(to, "%s:--%s=", cmd->name, o->name);
		more = "|";
	}
	if (o->name && !o->implied)
		fprintf(to, "|%s:--%s", cmd->name, o->name);
	if (o->letter && !o->implied)
		fprintf(to, "%s%s:-%c", more, cmd->name, o->letter);
	fputs(") ", to);
	if (o->choices) {
		fputs("_symcache_words '", to);
		put_choices(o, to);
		fputs("'", to);
	} else if (is_folder(o->arg) || is_file(o->arg)) {
		fprintf(to, "_symcache_files -%c", is_folder(o->arg) ? 'd' : 'f');
	} else {
		fputs(":", to);
	}
	fputs("; return ;;\n", to);
}

static void bash_options(const struct command *cmd, FILE *to)
{
	fprintf(to, "\t%s) options='", cmd->name);
	for (const struct opt *o = cmd->opts; o->kind; o++) {
		if (!o->help)
			continue;
		if (o->name)
			fprintf(to, "--%s%s ", o->name, o->arg && !o->implied ? "=" : "");
		if (o->name && o->kind == OPT_BOOL)
			fprintf(to, "--no-%s ", o->name);
		if (o->letter)
			fprintf(to, "-%c ", o->letter);
	}
	fputs("--help' ;;\n", to);
}

static void bash(const struct command *const *commands, FILE *to)
{
	fputs("# bash completion of symcache: symcache --completion bash\n"
	      "_symcache_words()\n"
	      "{\n"
	      "\tmapfile -t COMPREPLY < <(compgen -W \"$1\" -- \"$cur\")\n"
	      "\tif [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} = *= ]]; then\n"
	      "\t\tcompopt -o nospace 2> /dev/null\n"
	      "\tfi\n"
	      "}\n"
	      "_symcache_files()\n"
	      "{\n"
	      "\tcompopt -o filenames 2> /dev/null\n"
	      "\tmapfile -t COMPREPLY < <(compgen \"$1\" -- \"$cur\")\n"
	      "}\n"
	      "_symcache()\n"
	      "{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} "
	      "options=\n"
	      "\tlocal commands='", to);
	for (const struct command *const *c = commands; *c; c++)
		fprintf(to, "%s ", (*c)->name);
	fputs("help'\n\tCOMPREPLY=()\n"
	      "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	      "\t\t_symcache_words \"$commands --help --version\"\n\t\treturn\n\tfi\n"
	      "\t# --option=value is three words\n"
	      "\t[ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD - 2]}=\n"
	      "\t[ \"$cur\" != = ] || before=$before= cur=\n"
	      "\tcase ${COMP_WORDS[1]}:$before in\n"
	      "\thelp:help) _symcache_words \"$commands\"; return ;;\n", to);
	for (const struct command *const *c = commands; *c; c++)
		for (const struct opt *o = (*c)->opts; o->kind; o++)
			bash_values(*c, o, to);
	fputs("\tesac\n\tif [[ $cur != -* ]]; then\n\t\t_symcache_files -f\n\t\treturn\n\tfi\n"
	      "\tcase ${COMP_WORDS[1]} in\n", to);
	for (const struct command *const *c = commands; *c; c++)
		bash_options(*c, to);
	fputs("\tesac\n\t_symcache_words \"$options\"\n}\ncomplete -F _symcache symcache\n", to);
}

/* ---- zsh ------------------------------------------------------------------------ */

/* One spelling, with its help and value. */
static void zsh_option(const struct opt *o, const char *dashes, const char *name, FILE *to)
{
	fprintf(to, "\t\t\t'%s%s%s", o->kind == OPT_LIST ? "*" : "", dashes, name);
	if (o->arg)
		fputs(o->name && !strcmp(dashes, "--") ? o->implied ? "=-" : "=" :
		      o->implied ? "-" : "+", to);
	fputs("[", to);
	put_help(o->help, "[]:", to);
	fputs("]", to);
	if (o->arg) {
		fprintf(to, ":%s%s:", o->implied ? ":" : "", o->choices ? o->name : o->arg);
		if (o->choices) {
			fputs("(", to);
			put_choices(o, to);
			fputs(")", to);
		} else if (is_folder(o->arg)) {
			fputs("_files -/", to);
		} else if (is_file(o->arg)) {
			fputs("_files", to);
		}
	}
	fputs("' \\\n", to);
}

static void zsh(const struct command *const *commands, FILE *to)
{
	fputs("#compdef symcache\n# symcache --completion zsh\n_symcache()\n{\n"
	      "\tlocal -a commands=(\n", to);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(to, "\t\t'%s:", (*c)->name);
		put_help((*c)->summary, ":", to);
		fputs("'\n", to);
	}
	fputs("\t\t'help:list the commands, or the options of one'\n\t)\n"
	      "\tif (( CURRENT == 2 )) || [[ $words[2] = help && CURRENT -eq 3 ]]; then\n"
	      "\t\t_describe command commands\n\t\treturn\n\tfi\n"
	      "\tshift words\n\t(( CURRENT-- ))\n\tcase $words[1] in\n", to);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(to, "\t%s)\n\t\t_arguments -s \\\n", (*c)->name);
		for (const struct opt *o = (*c)->opts; o->kind; o++) {
			char letter[2] = { o->letter, 0 };

			if (!o->help)
				continue;
			if (o->name)
				zsh_option(o, "--", o->name, to);
			if (o->name && o->kind == OPT_BOOL)
				zsh_option(o, "--no-", o->name, to);
			if (o->letter)
				zsh_option(o, "-", letter, to);
		}
		fprintf(to, "\t\t\t'--help[options and examples]' \\\n\t\t\t'*:%s:%s'\n\t\t;;\n",
			"argument", is_file((*c)->operands) ? "_files" : "");
	}
	fputs("\tesac\n}\n"
	      "if [[ $funcstack[1] = _symcache ]]; then _symcache \"$@\"; else compdef _symcache "
	      "symcache; fi\n",
	      to);
}

/* ---- fish ----------------------------------------------------------------------- */

static void fish_option(const struct command *cmd, const struct opt *o, FILE *to)
{
	fprintf(to, "complete -c symcache -n '__fish_seen_subcommand_from %s'", cmd->name);
	if (o->name)
		fprintf(to, " -l %s", o->name);
	if (o->letter)
		fprintf(to, " -s %c", o->letter);
	if (o->choices && o->arg) {
		fprintf(to, " %s-a '", o->implied ? "" : "-x ");
		put_choices(o, to);
		fputs("'", to);
	} else if (o->arg && !o->implied) {
		fputs(is_folder(o->arg) ? " -x -a '(__fish_complete_directories)'" :
		      is_file(o->arg) ? " -r -F" : " -x", to);
	}
	fputs(" -d '", to);
	put_help(o->help, "", to);
	fputs("'\n", to);
	if (o->name && o->kind == OPT_BOOL)
		fprintf(to, "complete -c symcache -n '__fish_seen_subcommand_from %s' -l no-%s\n",
			cmd->name, o->name);
}

static void fish(const struct command *const *commands, FILE *to)
{
	fputs("# fish completion of symcache: symcache --completion fish\n"
	      "complete -c symcache -f\n"
	      "complete -c symcache -n __fish_use_subcommand -l version -d 'the version'\n"
	      "complete -c symcache -l help -s h -d 'help'\n"
	      "complete -c symcache -n __fish_use_subcommand -a help "
	      "-d 'list the commands, or the options of one'\n"
	      "complete -c symcache -n '__fish_seen_subcommand_from help' -a '", to);
	for (const struct command *const *c = commands; *c; c++)
		fprintf(to, "%s%s", c == commands ? "" : " ", (*c)->name);
	fputs("'\n", to);
	for (const struct command *const *c = commands; *c; c++) {
		fprintf(to, "complete -c symcache -n __fish_use_subcommand -a %s -d '", (*c)->name);
		put_help((*c)->summary, "", to);
		fputs("'\n", to);
		if (is_file((*c)->operands))
			fprintf(to, "complete -c symcache -n '__fish_seen_subcommand_from %s' -F\n",
				(*c)->name);
		for (const struct opt *o = (*c)->opts; o->kind; o++)
			if (o->help)
				fish_option(*c, o, to);
	}
}

bool completion(const char *shell, const struct command *const *commands, FILE *to)
{
	static const struct {
		const char *name;
		void (*print)(const struct command *const *, FILE *);
	} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++)
		if (!strcmp(shell, shells[i].name)) {
			shells[i].print(commands, to);
			return true;
		}
	return false;
}

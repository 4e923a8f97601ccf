/* Words and help of LLVM's tools: see opt.h. */
#include "cmd/cli/opt.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"

typedef VEC(char *) words;

/* What is made here lives as long as the program, as argv does. */
static words made, all;

/* The words of a text, with quotes and backslashes as the shell has them. */
static void split(words *w, const char *text)
{
	char *to = must_calloc(strlen(text) + 1, 1), quote = 0;

	*must_push(&made) = to;
	while (*(text += strspn(text, " \t\r\n\v\f"))) {
		*must_push(w) = to;
		for (; *text && (quote || !isspace((unsigned char)*text)); text++) {
			if (quote ? *text == quote : *text == '"' || *text == '\'')
				quote = quote ? 0 : *text;
			else if (*text == '\\' && text[1] && quote != '\'')
				*to++ = *++text;
			else
				*to++ = *text;
		}
		*to++ = 0;
	}
}

/* The words of a file, as far as its first FILE_MAX bytes; false: it cannot be read. */
static bool split_file(words *w, const char *path)
{
	enum { FILE_MAX = 1 << 24 };
	FILE *file = fopen(path, "re");
	char *text;

	if (!file)
		return false;
	text = must_calloc(FILE_MAX + 1, 1);
	(void)!fread(text, 1, FILE_MAX, file);
	split(w, text);
	free(text);
	return !fclose(file);
}

/* A word, or what is in the file that it names, which may name further ones. */
static void take(char *word, unsigned *files)
{
	enum { FILES_MAX = 1000 }; /* a file may name itself */
	words inner = { 0 };

	if (*word != '@' || ++*files > FILES_MAX || !split_file(&inner, word + 1))
		*must_push(&all) = word;
	for (size_t i = 0; i < inner.len; i++)
		take(inner.data[i], files);
	vec_deinit(&inner);
}

char **opt_expand(int *argc, char **argv, const char *env)
{
	words first = { 0 };
	unsigned files = 0;

	*must_push(&all) = argv[0];
	if (env)
		split(&first, env);
	for (size_t i = 0; i < first.len; i++)
		take(first.data[i], &files);
	for (int i = 1; i < *argc; i++)
		take(argv[i], &files);
	vec_deinit(&first);
	*argc = (int)all.len;
	*must_push(&all) = NULL;
	return all.data;
}

void opt_help_llvm(const struct opt *opts, const char *tool, const char *operands)
{
	printf("OVERVIEW: %s\n\nUSAGE: %s %s\n\nOPTIONS:\n", tool, tool, operands);
	for (const struct opt *o = opts; o->kind; o++) {
		char *left = o->name ? must_asprintf("--%s%s%s", o->name, o->arg ? "=" : "",
						     o->arg ? o->arg : "") :
				       must_asprintf("-%c", o->letter);

		if (o->help)
			printf("  %-21s %s\n", left, o->help);
		if (o->help && o->kind == OPT_BOOL)
			printf("  --no-%-16s Do not\n", o->name);
		if (o->help && o->name && o->letter)
			printf("  -%-20c Alias for --%s\n", o->letter, o->name);
		free(left);
	}
	puts("\nPass @FILE as argument to read options from FILE.");
}

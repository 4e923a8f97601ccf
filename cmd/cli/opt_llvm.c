/* Command lines as LLVM's tools read them: see opt_llvm.h. */
#include "cmd/cli/opt_llvm.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cmd/cli/memory.h"

/* ---- words --------------------------------------------------------------------------- */

struct words {
	char **list;
	size_t len, cap;
};

/* What is made here lives as long as the program, as argv does. */
static struct words made, all;

static void add_word(struct words *w, char *word)
{
	w->list = must_grow(w->list, w->len, &w->cap, sizeof(*w->list));
	w->list[w->len++] = word;
}

/* The words of a text, with quotes and backslashes as the shell has them. */
static void split(struct words *w, const char *text)
{
	while (*(text += strspn(text, " \t\r\n\v\f"))) {
		char *word = must_realloc(NULL, strlen(text) + 1), *to = word, quote = 0;

		for (; *text && (quote || !isspace((unsigned char)*text)); text++) {
			if (quote ? *text == quote : *text == '"' || *text == '\'')
				quote = quote ? 0 : *text;
			else if (*text == '\\' && text[1] && quote != '\'')
				*to++ = *++text;
			else
				*to++ = *text;
		}
		*to = 0;
		add_word(w, word);
		add_word(&made, word);
	}
}

/* The words of a file; false: it cannot be read. */
static bool split_file(struct words *w, const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t len = 0, cap = 0, n = 1;

	if (!file)
		return false;
	while (n && len < 1 << 24) {
		if (cap - len < 4097)
			text = must_realloc(text, cap = 2 * cap + 8192);
		n = fread(text + len, 1, 4096, file);
		len += n;
	}
	text[len] = 0;
	split(w, text);
	free(text);
	return !fclose(file);
}

char **opt_expand(int *argc, char **argv, const char *env)
{
	enum { FILES_MAX = 1000 }; /* a file may name itself */
	struct words w = { 0 };
	int files = 0;

	add_word(&w, argv[0]);
	if (env)
		split(&w, env);
	for (int i = 1; i < *argc; i++)
		add_word(&w, argv[i]);
	for (size_t i = 0; i < w.len; i++) {
		struct words inner = { 0 };

		if (!i || *w.list[i] != '@' || ++files > FILES_MAX ||
		    !split_file(&inner, w.list[i] + 1)) {
			add_word(&all, w.list[i]);
			continue;
		}
		/* In its place, to be looked into, too. */
		for (size_t k = i + 1; k < w.len; k++)
			add_word(&inner, w.list[k]);
		w.len = i + 1;
		for (size_t k = 0; k < inner.len; k++)
			add_word(&w, inner.list[k]);
		free(inner.list);
	}
	free(w.list);
	*argc = (int)all.len;
	add_word(&all, NULL);
	return all.list;
}

/* ---- options --------------------------------------------------------------------------- */

static bool takes_value(const struct opt *o)
{
	return o->kind != OPT_FLAG && o->kind != OPT_BOOL && !o->implied;
}

/* Is one at most one edit from the other? */
static bool is_near(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	return !strcmp(a, b) || (*a && *b && !strcmp(a + 1, b + 1)) || (*a && !strcmp(a + 1, b)) ||
	       (*b && !strcmp(a, b + 1));
}

static bool unknown(const struct opt *opts, const char *word)
{
	size_t len = strcspn(word, "=");
	char *name = must_asprintf("%.*s", (int)len, word);
	char *guess = NULL;

	for (const struct opt *o = opts; o->kind && !strncmp(word, "--", 2) && !guess; o++) {
		if (o->name && !strcmp(name + 2, o->name))
			break; /* it is the value that is wrong */
		if (o->name && is_near(name + 2, o->name))
			guess = must_asprintf("--%s%s", o->name, word + len);
		else if (o->name && o->kind == OPT_BOOL && !strncmp(name, "--no-", 5) &&
			 is_near(name + 5, o->name))
			guess = must_asprintf("--no-%s", o->name);
	}
	fprintf(stderr, "error: unknown argument '%s'", word);
	if (guess)
		fprintf(stderr, ", did you mean '%s'?", guess);
	fputc('\n', stderr);
	free(guess);
	free(name);
	return false;
}

static bool set_number(const struct opt *o, const char *value)
{
	unsigned long long number;
	char *end;

	errno = 0;
	number = strtoull(value, &end, 0);
	if (errno || end == value || *end || *value == '-') {
		fprintf(stderr, "--%s=: expected a non-negative integer, but got '%s'", o->name,
			value);
		return false;
	}
	*(uint64_t *)o->value = number;
	return true;
}

/* An unknown word means what is implied, or nothing. */
static void set_enum(const struct opt *o, const char *value)
{
	int implied = -1;

	for (int i = 0; o->choices[i]; i++) {
		if (!strcmp(value, o->choices[i])) {
			*(int *)o->value = i;
			return;
		}
		if (o->implied && !strcmp(o->implied, o->choices[i]))
			implied = i;
	}
	if (implied >= 0)
		*(int *)o->value = implied;
}

static bool set(const struct opt *o, const char *value)
{
	value = value ? value : o->implied;
	switch (o->kind) {
	case OPT_BOOL:
		*(bool *)o->value = true;
		return true;
	case OPT_NUMBER:
		return set_number(o, value);
	case OPT_ENUM:
		set_enum(o, value);
		return true;
	default:
		opt_take(o, value);
		return true;
	}
}

/* What is left of a command line. */
struct rest {
	char **at, **end;
};

static bool set_next(const struct opt *o, const char *spelling, struct rest *rest)
{
	if (rest->at < rest->end)
		return set(o, *rest->at++);
	fprintf(stderr, "error: %s: missing argument\n", spelling);
	return false;
}

/* `word`, without its dashes, as a long option; 1: it is none. 0: read; −1: wrong. */
static int read_long(const struct opt *opts, const char *spelling, const char *word,
		     struct rest *rest)
{
	const size_t len = strcspn(word, "=");
	const char *value = word[len] ? word + len + 1 : NULL;

	for (const struct opt *o = opts; o->kind; o++) {
		if (!o->name)
			continue;
		if (o->kind == OPT_BOOL && !value && !strncmp(word, "no-", 3) &&
		    !strcmp(word + 3, o->name)) {
			*(bool *)o->value = false;
			return 0;
		}
		if (strlen(o->name) != len || strncmp(o->name, word, len))
			continue;
		if (o->kind == OPT_BOOL && value) {
			if (strcmp(value, "true") && strcmp(value, "false"))
				return 1;
			*(bool *)o->value = *value == 't';
			return 0;
		}
		if (o->kind == OPT_FLAG && value)
			return 1;
		if (takes_value(o) && !value)
			return set_next(o, spelling, rest) ? 0 : -1;
		return set(o, value) ? 0 : -1;
	}
	return 1;
}

/* Grouped letters. */
static bool read_letters(const struct opt *opts, const char *word, struct rest *rest)
{
	bool ok = true;

	for (const char *c = word + 1; *c; c++) {
		const char spelling[3] = { '-', *c, 0 };
		const struct opt *o = opts;

		while (o->kind && o->letter != *c)
			o++;
		if (!o->kind) {
			ok = unknown(opts, spelling);
		} else if (takes_value(o)) {
			const bool set_it = !c[1] ? set_next(o, spelling, rest) :
					    set(o, c + 1 + (c[1] == '='));
			return set_it && ok;
		} else if (c[1] == '=' && o->implied) {
			return set(o, c + 2) && ok;
		} else if (!set(o, NULL)) {
			ok = false;
		}
	}
	return ok;
}

int opt_parse_llvm(const struct opt *opts, int argc, char **argv)
{
	struct rest rest = { argv + 1, argv + argc };
	bool ok = true;
	int operands = 0, read;

	while (rest.at < rest.end) {
		char *word = *rest.at++;

		if (*word != '-' || !word[1]) {
			argv[operands++] = word;
			continue;
		}
		read = read_long(opts, word, word + 1 + (word[1] == '-'), &rest);
		if (read == 1 && word[1] != '-')
			ok &= read_letters(opts, word, &rest);
		else if (read)
			ok = read < 0 ? false : unknown(opts, word);
	}
	argv[operands] = NULL;
	return ok ? operands : OPT_BAD;
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

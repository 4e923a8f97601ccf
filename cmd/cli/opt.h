/*
 * opt.h: each option of the program is defined once, in the table of its
 * subcommand; parsing, --help, man pages and completions are made from it.
 *
 *   static struct { const char *store; bool quiet; } o;
 *   static const struct opt opts[] = {
 *           { "store", 0, OPT_STRING, &o.store, "FILE", "the store to use" },
 *           { "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress bar" },
 *           { 0 },
 *   };
 *
 * Values start as the table's owner initialised them and keep that where the
 * option is not given; the last one given wins, but for OPT_LIST, which keeps
 * all. Every command understands --help and -h without naming them.
 */
#ifndef CMD_OPT_H
#define CMD_OPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "libsymcache/base/error.h"

enum opt_kind {
	OPT_FLAG = 1, /* bool: --x sets it */
	OPT_BOOL,     /* bool: --x sets it, --no-x clears it; also --x=true, --x=false */
	OPT_STRING,   /* const char *, points into argv */
	OPT_LIST,     /* struct opt_list: may be repeated */
	OPT_NUMBER,   /* uint64_t: decimal, 0x… or 0…; a minus sign wraps around */
	OPT_COUNT,    /* the same, at least 1 */
	OPT_ENUM,     /* int: index into choices; without `arg`: that of `implied` */
	OPT_AGE,      /* struct opt_age: 90d, 12h; 0 needs no unit */
	OPT_SIZE,     /* uint64_t, bytes: 500, 64K, 2G */
	OPT_HEADING,  /* no option: `arg` stands above those that follow */
};

/* A time span. */
struct opt_age {
	bool given;
	int64_t seconds;
};

/* The values of a repeated option, in order; items is NULL or ends with NULL, and lives as long as
 * the program. */
struct opt_list {
	const char **items;
	size_t len;
};

struct opt {
	const char *name;           /* without "--"; NULL: it has a letter only */
	char letter;                /* without "-"; 0: none */
	enum opt_kind kind;
	void *value;                /* what `kind` says */
	const char *arg;            /* what the value is called in the help: "FILE" */
	const char *help;           /* one sentence, of which -h shows what stands before the
				     * first ";"; NULL: another spelling, not listed */
	const char *const *choices; /* OPT_ENUM: the values, then NULL; case is ignored. OPT_STRING:
	                             * NULL, or values that completion offers */
	const char *implied;        /* the value if none is given: --x or --x=VALUE, -x */
	bool *instead;              /* OPT_FLAG: what it clears, so that the last of both counts */
};

/* Heads the options behind it in the help and the man page. */
#define OPT_SECTION(text) { .kind = OPT_HEADING, .arg = text }

#define OPT_FORMAT_JSON(format, names) \
	{ "json", 0, OPT_ENUM, format, NULL, "the same as --format json", names, "json" }

/* A subcommand. Texts are plain; the help wraps them. */
struct command {
	const char *name;
	const char *operands;       /* "[ADDR...]"; "" if there are none */
	const char *summary;        /* a few words for the list of commands */
	const char *description;    /* paragraphs, separated by "\n\n" */
	const struct opt *opts;     /* ends with an all-zero row */
	const char *essential;      /* names of the options that -h shows, with blanks between them;
				     * NULL: all, as a whole */
	const char *examples;       /* lines as they are, or NULL */
	const char *partly;         /* when the exit status is 1; NULL: never */
	const char *failed;         /* when it is 2; NULL: an error */
	const char *see_also;       /* further man pages: "symcache-index(1) gdb(1)"; NULL: none */
	/* Gets what is left of the arguments without the options (argv[0] is the first operand,
	 * argv[argc] is NULL). Returns the exit status, or a negative SC_E… code: the message is
	 * printed, and the status is 2. */
	int (*run)(int argc, char **argv, struct sc_error *err);
};

enum {
	OPT_HELP = -1,  /* --help was given, and answered on standard output */
	OPT_BAD = -2,   /* reported on standard error, with what to do */
};

/*
 * Reads the options in argv[1..] into the values of cmd->opts and moves the operands to the
 * front of argv, which ends with NULL. Returns their number, or OPT_HELP or OPT_BAD.
 */
int opt_parse(const struct command *cmd, char **argv);

/*
 * The same as LLVM's tools do it: -x stands for --x; a value follows in the same word behind a
 * '=' or as the next word; letters group, and one that takes a value ends the group. What is
 * wrong is reported in LLVM's words.
 */
int opt_parse_llvm(const struct opt *opts, char **argv);

/* Replaces each @FILE by the words in the file, as GNU's and LLVM's tools do; `env`: words
 * that come first, or NULL. What is returned, ending with NULL, lives as long as the
 * program; *argc is its length. argv[0] is kept. */
char **opt_expand(int *argc, char **argv, const char *env);

/* Prints the help of a command: all of it, or (`brief`) a screen of what is needed most. */
void opt_help(const struct command *cmd, bool brief, FILE *to);

/* LLVM's layout of --help. `tool`: its name; `operands`: "[options] addresses..." */
void opt_help_llvm(const struct opt *opts, const char *tool, const char *operands);

/* Prints man pages of section 1 in plain man(7), what all versions of groff and mandoc have in
 * common: symcache.1 (`commands` ends with NULL; `summary` is a few words, `description` as in
 * struct command) and symcache-NAME.1. */
void man_program(const struct command *const *commands, const char *summary,
		 const char *description, FILE *to);
void man_command(const struct command *cmd, FILE *to);

/* Prints the script by which "bash", "zsh" or "fish" completes commands, options and their
 * values. False: no such shell. */
bool completion(const char *shell, const struct command *const *commands, FILE *to);

/* Prints `text` wrapped at 79 columns, continued at column `indent`; the cursor
 * stands at `column`. */
void opt_wrap(FILE *to, const char *text, int column, int indent);

/* Must a value follow? */
bool opt_takes_value(const struct opt *o);

/* Was `name` probably meant by `word`, more so than all names before? *limit is opt_near() of
 * the word before the first. */
bool opt_is_near(const char *word, const char *name, size_t *limit);
size_t opt_near(const char *word);

#endif

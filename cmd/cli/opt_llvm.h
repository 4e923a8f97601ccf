/*
 * opt_llvm.h: command lines as LLVM's tools read them, over the tables of opt.h.
 *
 * -x stands for --x; a value follows in the same word behind a '=' or as the next word;
 * letters group, and one that takes a value ends the group. @FILE holds further words, and
 * so does an environment variable, in front of all others.
 */
#ifndef CMD_OPT_LLVM_H
#define CMD_OPT_LLVM_H

#include "cmd/cli/opt.h"

/* Replaces each @FILE by the words in the file, as GNU's and LLVM's tools do; `env`: words
 * that come first, or NULL. What is returned, ending with NULL, lives as long as the
 * program; *argc is its length. argv[0] is kept. */
char **opt_expand(int *argc, char **argv, const char *env);

/* Reads the options in argv[1..argc-1] and moves the operands to the front of argv. Returns
 * their number; OPT_BAD: reported on standard error in LLVM's words. */
int opt_parse_llvm(const struct opt *opts, int argc, char **argv);

/* LLVM's layout of --help. `tool`: its name; `operands`: "[options] addresses..." */
void opt_help_llvm(const struct opt *opts, const char *tool, const char *operands);

#endif

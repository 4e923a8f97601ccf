/*
 * opt_llvm.h: what LLVM's tools do with command lines, besides reading their options
 * (opt_parse_llvm()): @FILE holds further words, and so does an environment variable, in front
 * of all others.
 */
#ifndef CMD_OPT_LLVM_H
#define CMD_OPT_LLVM_H

#include "cmd/cli/opt.h"

/* Replaces each @FILE by the words in the file, as GNU's and LLVM's tools do; `env`: words
 * that come first, or NULL. What is returned, ending with NULL, lives as long as the
 * program; *argc is its length. argv[0] is kept. */
char **opt_expand(int *argc, char **argv, const char *env);

/* LLVM's layout of --help. `tool`: its name; `operands`: "[options] addresses..." */
void opt_help_llvm(const struct opt *opts, const char *tool, const char *operands);

#endif

/*
 * dropin.h: the program under the names of others: llvm-symbolizer, llvm-addr2line, and
 * binutils' addr2line, with their command lines, messages and statuses.
 */
#ifndef CMD_DROPIN_H
#define CMD_DROPIN_H

/* The tool that a name means: argv[0], or a subcommand. NULL: none. */
typedef int dropin_fn(int argc, char **argv);
dropin_fn *dropin_by_name(const char *argv0);
dropin_fn *dropin_by_command(const char *command);

dropin_fn symbolizer_main, llvm_addr2line_main, addr2line_main;

#endif

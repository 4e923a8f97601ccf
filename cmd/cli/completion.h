/* completion.h: what completes commands, options and their values in a shell, made from
 * the option tables. */
#ifndef CMD_COMPLETION_H
#define CMD_COMPLETION_H

#include "cmd/cli/opt.h"

/* Prints the script for "bash", "zsh" or "fish"; `commands` ends with NULL. False: no
 * such shell. */
bool completion(const char *shell, const struct command *const *commands, FILE *to);

#endif

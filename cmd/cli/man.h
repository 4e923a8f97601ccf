/*
 * man.h: man pages of section 1, made from the option tables: one of the program and one
 * of each command. Plain man(7): what all versions of groff and mandoc have in common.
 */
#ifndef CMD_MAN_H
#define CMD_MAN_H

#include "cmd/cli/opt.h"

/* symcache.1. `commands` ends with NULL; `summary` is a few words, `description` as in
 * struct command. */
void man_program(const struct command *const *commands, const char *summary,
		 const char *description, FILE *to);

/* symcache-NAME.1 */
void man_command(const struct command *cmd, FILE *to);

#endif

/*
 * cmd.h: the table of subcommands.
 *
 * To add one: a file in the folder of its topic that defines NAME_command (cmd/cli/opt.h), and
 * the line X(NAME) here.
 */
#ifndef CMD_CMD_H
#define CMD_CMD_H

#include "cmd/cli/opt.h"

/* In the order of --help. */
#define FOR_EACH_COMMAND(X) \
	X(index) \
	X(build) \
	X(check) \
	X(lookup) \
	X(filter) \
	X(plan) \
	X(merge) \
	X(core) \
	X(proc) \
	X(profile) \
	X(trace) \
	X(list) \
	X(show) \
	X(pack) \
	X(unpack) \
	X(stats) \
	X(verify) \
	X(remove) \
	X(prune) \
	X(compact) \
	X(export) \
	X(import)

#define DECLARE_COMMAND(name) extern const struct command name##_command;
FOR_EACH_COMMAND(DECLARE_COMMAND)
#undef DECLARE_COMMAND

#endif

/*
 * symcache: finds the subcommand, reads its options, runs it.
 *
 * A reader that closes the pipe early has what it wanted: the program ends at
 * once, quietly, with status 0. A write that fails for another reason is an
 * error, also if it happens as late as at the end.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cmd.h"
#include "libsymcache/base/file.h"
#include "symcache/build.h"

#define COMMAND_ROW(name) &name##_command,
static const struct command *const commands[] = { FOR_EACH_COMMAND(COMMAND_ROW) NULL };

#define COMMAND_NAME(name) #name,
static const char *const command_names[] = { FOR_EACH_COMMAND(COMMAND_NAME) NULL };

static const char description[] =
	"Offline symbol database: turns addresses of programs into functions, files and lines, "
	"from caches made of ELF files and their debug information.";

static void help(FILE *to)
{
	fprintf(to, "usage: symcache COMMAND [OPTION...] [ARGUMENT...]\n\n");
	opt_wrap(to, description, 0, 0);
	fprintf(to, "\nCommands:\n");
	for (const struct command *const *c = commands; *c; c++)
		fprintf(to, "  %-9s %s\n", (*c)->name, (*c)->summary);
	fprintf(to, "\n'symcache COMMAND --help' says more; 'symcache --version' the version.\n");
}

/* symcache.1 */
static void man(FILE *to)
{
	fprintf(to, ".TH SYMCACHE 1 \"\" \"symcache %s\" \"User Commands\"\n", symcache_version);
	fprintf(to, ".SH NAME\nsymcache \\- offline symbol database and log symbolizer\n"
		    ".SH SYNOPSIS\n\\fBsymcache\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] "
		    "[\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n");
	opt_man_text(description, to);
	fprintf(to, ".SH COMMANDS\nAll of them understand \\fB\\-h\\fR and \\fB\\-\\-help\\fR.\n");
	for (const struct command *const *c = commands; *c; c++)
		opt_man(*c, to);
	fprintf(to, ".SH EXIT STATUS\n0: fine; 1: something was not found or only partly done; "
		    "2: error.\n");
}

static int run(const struct command *cmd, int argc, char **argv)
{
	static char name[32];
	int first;

	snprintf(name, sizeof(name), "symcache %s", cmd->name);
	cmd_name = name;
	first = opt_parse(cmd, argc, argv);
	if (first < 0)
		return first == OPT_HELP ? STATUS_OK : STATUS_ERROR;
	return cmd->run(argc - first, argv + first);
}

static int dispatch(int argc, char **argv)
{
	const char *closest;

	if (argc < 2) {
		help(stderr);
		return STATUS_ERROR;
	}
	if (!strcmp(argv[1], "--version")) {
		puts(symcache_version);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		help(stdout);
		return STATUS_OK;
	}
	if (!strcmp(argv[1], "--man")) { /* for `make install` */
		man(stdout);
		return STATUS_OK;
	}
	for (const struct command *const *c = commands; *c; c++)
		if (!strcmp(argv[1], (*c)->name))
			return run(*c, argc - 1, argv + 1);
	closest = opt_closest(argv[1], command_names);
	if (closest)
		cmd_error("unknown command '%s': did you mean '%s'?", argv[1], closest);
	else
		cmd_error("unknown command '%s': 'symcache --help' lists them", argv[1]);
	return STATUS_ERROR;
}

/* If it is standard error that is no longer read, the work goes on. */
static void pipe_closed(int sig)
{
	struct pollfd out = { .fd = STDOUT_FILENO };

	(void)sig;
	if (poll(&out, 1, 0) == 1 && out.revents & POLLERR)
		_exit(STATUS_OK);
}

/* A file that is not whole yet goes. */
static void interrupted(int sig)
{
	sc_new_files_remove();
	signal(sig, SIG_DFL);
	raise(sig);
}

int main(int argc, char **argv)
{
	static const int deadly[] = { SIGINT, SIGTERM, SIGHUP };
	int status;

	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
		if (signal(deadly[i], interrupted) == SIG_IGN)
			signal(deadly[i], SIG_IGN);
	signal(SIGPIPE, pipe_closed);
	signal(SIGXFSZ, SIG_IGN); /* ulimit -f: writing fails, and says so */
	status = dispatch(argc, argv);
	out_flush();
	return status;
}

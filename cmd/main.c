/*
 * symcache: finds the subcommand, reads its options, runs it.
 *
 * A reader that closes the pipe early has what it wanted: the program ends at
 * once, quietly, with status 0. A write that fails for another reason is an
 * error, also if it happens as late as at the end.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cmd/cli/messages.h"
#include "cmd/cli/output.h"
#include "cmd/cmd.h"
#include "cmd/lookup/dropin.h"
#include "libsymcache/base/file.h"
#include "libsymcache/base/process.h"
#include "libsymcache/index/index.h"
#include "libsymcache/write/build.h"

#define COMMAND_ROW(name) &name##_command,
static const struct command *const commands[] = { FOR_EACH_COMMAND(COMMAND_ROW) NULL };

static const char summary[] = "offline symbol database and log symbolizer";

static const char description[] =
	"Offline symbol database: turns addresses of programs into functions, files and lines, "
	"from caches made of ELF files and their debug information.";

static const char names[] =
	"Under the names llvm-symbolizer, llvm-addr2line and addr2line (links to it are in "
	"LIBDIR/symcache/bin; also as 'symcache symbolizer', 'symcache llvm-addr2line' and "
	"'symcache addr2line') it takes the options of these tools and answers as they do.";

/* What the commands are for, from the first of each topic on. */
static const struct { const struct command *first; const char *title; } topics[] = {
	{ &index_command, "Make caches" }, { &lookup_command, "Ask" },
	{ &list_command, "Keep the store" }, { &export_command, "Ship" },
};

static void help(FILE *to)
{
	fprintf(to, "usage: symcache COMMAND [OPTION...] [ARGUMENT...]\n\n");
	opt_wrap(to, description, 0, 0);
	for (const struct command *const *c = commands; *c; c++) {
		for (size_t i = 0; i < sizeof(topics) / sizeof(*topics); i++)
			if (topics[i].first == *c)
				fprintf(to, "\n%s:\n", topics[i].title);
		fprintf(to, "  %-9s %s\n", (*c)->name, (*c)->summary);
	}
	fprintf(to, "\n");
	opt_wrap(to, names, 0, 0);
	fprintf(to, "\n'symcache help COMMAND' says more; 'symcache --version' or -V the version.\n");
}

static int run_command(const struct command *cmd, char **argv)
{
	static char name[32];
	struct sc_error err;
	int argc, status;

	snprintf(name, sizeof(name), "symcache %s", cmd->name);
	cmd_name = name;
	argc = opt_parse(cmd, argv);
	if (argc < 0)
		return argc == OPT_HELP ? STATUS_OK : STATUS_ERROR;
	status = cmd->run(argc, argv, &err);
	if (status >= 0)
		return status;
	cmd_error("%s", err.msg);
	return STATUS_ERROR;
}

/* The row of the option that `word` is; NULL: the command has none such. */
static const struct opt *option_of(const struct command *cmd, const char *word)
{
	const bool is_long = word[1] == '-';
	const size_t len = strcspn(word, "=");

	for (const struct opt *o = cmd->opts; o->kind; o++)
		if (is_long ? o->name && strlen(o->name) == len - 2 &&
			      !strncmp(o->name, word + 2, len - 2)
			    : word[1] == o->letter)
			return o;
	return NULL;
}

/* Where the first word stands, or would stand, that is neither an option of the command nor its
 * value. 0: an option is not the command's. */
static size_t first_word(char **argv, const struct command *cmd)
{
	size_t at = 1;

	while (argv[at] && *argv[at] == '-' && argv[at][1]) {
		const struct opt *o = option_of(cmd, argv[at]);

		if (!o)
			return 0;
		at += opt_takes_value(o) && !strchr(argv[at], '=') &&
		      (argv[at][1] == '-' || !argv[at][2]) && argv[at + 1] ? 2 : 1;
	}
	return at;
}

/* Moves the command in front of options that stand before it: one that has them all; else it is
 * unknown. */
static void command_first(char **argv)
{
	char *command;
	size_t at = 0, any = 1;

	for (const struct command *const *c = commands; *c && !at; c++) {
		const size_t word = first_word(argv, *c);

		any = word ? word : any;
		at = word && argv[word] && !strcmp(argv[word], (*c)->name) ? word : 0;
	}
	while (!at && argv[any] && *argv[any] == '-')
		any++;
	at = at ? at : any;
	if (at == 1 || !argv[at])
		return;
	command = argv[at];
	memmove(argv + 2, argv + 1, (at - 1) * sizeof(*argv));
	argv[1] = command;
}

/* Reports one that does not exist. */
static const struct command *find_command(const char *name)
{
	const char *closest = NULL;
	size_t limit = opt_near(name);

	for (const struct command *const *c = commands; *c; c++) {
		if (!strcmp(name, (*c)->name))
			return *c;
		if (opt_is_near(name, (*c)->name, &limit))
			closest = (*c)->name;
	}
	if (opt_is_near(name, "help", &limit))
		closest = "help";
	if (*name == '-')
		cmd_error("no command given, only the option '%s': 'symcache --help' lists the commands", name);
	else if (closest)
		cmd_error("unknown command '%s': did you mean '%s'?", name, closest);
	else
		cmd_error("unknown command '%s': 'symcache --help' lists them", name);
	return NULL;
}

/* help [COMMAND], --man [COMMAND]; `name` NULL: of the program. */
static int describe(const char *name, bool page)
{
	const struct command *cmd = name ? find_command(name) : NULL;

	if (name && !cmd)
		return STATUS_ERROR;
	if (page && cmd)
		man_command(cmd, stdout);
	else if (page)
		man_program(commands, summary, description, stdout);
	else if (cmd)
		opt_help(cmd, false, stdout);
	else
		help(stdout);
	return STATUS_OK;
}

static int complete(const char *shell)
{
	if (shell && completion(shell, commands, stdout))
		return STATUS_OK;
	cmd_error("--completion takes bash, zsh or fish");
	return STATUS_ERROR;
}

static int dispatch(int argc, char **argv)
{
	dropin_fn *dropin = argc ? dropin_by_name(argv[0]) : NULL;
	const struct command *cmd;
	const char *word = argv[1];

	if (dropin)
		return dropin(argc, argv);
	if (argc < 2) {
		help(stderr);
		return STATUS_ERROR;
	}
	if (!strcmp(word, "--version") || !strcmp(word, "-V")) {
		puts(symcache_version);
		return STATUS_OK;
	}
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return describe(argv[2], false);
	/* For `make install`. */
	if (!strcmp(word, "--man"))
		return describe(argv[2], true);
	if (!strcmp(word, "--completion"))
		return complete(argv[2]);
	command_first(argv);
	word = argv[1];
	dropin = dropin_by_command(word);
	if (dropin)
		return dropin(argc - 1, argv + 1);
	cmd = find_command(word);
	return cmd ? run_command(cmd, argv + 1) : STATUS_ERROR;
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

/* Files are read through maps: one that is cut short meanwhile is a signal. */
static void file_shrank(int sig)
{
	static const char why[] = ": it was cut short while it was read\n";
	const char *path = symcache_index_at_work();
	struct iovec parts[] = { { (void *)(path ? path : "a store, cache or other file"), 0 },
				 { (void *)why, sizeof(why) - 1 } };

	(void)sig;
	sc_new_files_remove();
	parts[0].iov_len = strlen(parts[0].iov_base);
	(void)!writev(STDERR_FILENO, parts, 2);
	_exit(STATUS_ERROR);
}

/* The first file that is opened would take the number of a stream that is closed, and a message
 * would be written into a store. What takes it can be neither read nor written. */
static void keep_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_PATH) != fd && open("/", O_PATH) != fd)
			_exit(STATUS_ERROR);
}

int main(int argc, char **argv)
{
	static const int deadly[] = { SIGINT, SIGTERM, SIGHUP };
	int status;

	keep_streams();
	sc_own_process();
	for (size_t i = 0; i < sizeof(deadly) / sizeof(*deadly); i++)
		if (signal(deadly[i], interrupted) == SIG_IGN)
			signal(deadly[i], SIG_IGN);
	signal(SIGPIPE, pipe_closed);
	signal(SIGBUS, file_shrank);
	signal(SIGXFSZ, SIG_IGN); /* ulimit -f: writing fails, and says so */
	status = dispatch(argc, argv);
	out_flush();
	return status;
}

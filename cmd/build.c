/*
 * symcache build: one ELF file → one SymCache file, without a store.
 *
 * The file is written beside its place under another name, synced and renamed,
 * so that there is the old one or a whole new one, whatever happens. What is
 * no regular file (a device, a pipe) is written into.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "libsymcache/symcache_build.h"

static struct {
	const char *output;
	uint64_t format_version, threads;
	struct opt_list debug_dirs;
	int reader;
} o;

static const char *const readers[] = { "fast", "libdw", NULL };

static const struct opt opts[] = {
	{ "output", 'o', OPT_STRING, &o.output, "FILE",
	  "where the SymCache goes; - for standard output" },
	{ "format-version", 0, OPT_NUMBER, &o.format_version, "N",
	  "version of the SymCache format: 7, 8 or 9 (default)" },
	OPT_DEBUG_DIRS(&o.debug_dirs),
	{ "threads", 'j', OPT_NUMBER, &o.threads, "N", "use N threads (default: all cores)" },
	{ "reader", 0, OPT_ENUM, &o.reader, "READER",
	  "what reads the DWARF: fast (default), or libdw, slow, with the same result",
	  .choices = readers },
	{ 0 },
};

/* The file under its temporary name, while there is one. */
static char *volatile unfinished;

static void remove_unfinished(int sig)
{
	if (unfinished)
		unlink(unfinished);
	signal(sig, SIG_DFL);
	raise(sig);
}

static int write_all(int fd, const uint8_t *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(fd, bytes, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		size -= (size_t)n;
	}
	return 0;
}

/* Into what is there already and is no regular file. */
static int write_into(const char *path, const uint8_t *bytes, size_t size, struct sc_error *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY), rc = 0;

	if (fd < 0)
		return sc_error_sys(err, "cannot open %s", path);
	if (write_all(fd, bytes, size))
		rc = sc_error_sys(err, "cannot write %s", path);
	if (close(fd) && !rc)
		rc = sc_error_sys(err, "cannot write %s", path);
	return rc;
}

static int replace(const char *path, const uint8_t *bytes, size_t size, struct sc_error *err)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	char *temp = must_asprintf("%s.XXXXXX", path);
	mode_t mask = umask(0);
	int fd, rc = 0;

	umask(mask);
	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		signal(signals[i], remove_unfinished);
	fd = mkostemp(temp, O_CLOEXEC);
	if (fd < 0) {
		rc = sc_error_sys(err, "cannot write %s", path);
		free(temp);
		return rc;
	}
	unfinished = temp;
	if (fchmod(fd, 0666 & ~mask) || write_all(fd, bytes, size) || fsync(fd))
		rc = sc_error_sys(err, "cannot write %s", path);
	if (close(fd) && !rc)
		rc = sc_error_sys(err, "cannot write %s", path);
	if (!rc && rename(temp, path))
		rc = sc_error_sys(err, "cannot rename to %s", path);
	if (rc)
		unlink(temp);
	unfinished = NULL;
	free(temp);
	return rc;
}

static int write_cache(const char *path, const uint8_t *bytes, size_t size, struct sc_error *err)
{
	struct stat st;
	char *target;
	int rc;

	if (!strcmp(path, "-")) {
		fwrite(bytes, 1, size, stdout);
		return 0; /* main() checks it */
	}
	if (!stat(path, &st) && !S_ISREG(st.st_mode))
		return write_into(path, bytes, size, err);
	/* A link stays one. */
	target = realpath(path, NULL);
	rc = replace(target ? target : path, bytes, size, err);
	free(target);
	return rc;
}

static int run(int argc, char **argv)
{
	struct symcache_build_options options = {
		.format_version = (uint32_t)o.format_version, .debug_dirs = o.debug_dirs.items,
		.reader = o.reader ? SYMCACHE_READER_LIBDW : SYMCACHE_READER_FAST,
		.threads = (unsigned)o.threads,
	};
	const struct symcache_build_info *info;
	struct symcache_build *build;
	struct sc_error err;
	int status = STATUS_OK;
	uint8_t *bytes;
	size_t size;

	if (argc != 1 || !o.output) {
		cmd_error("%s: 'symcache build --help' tells how", argc != 1 ?
			  "name one ELF file" : "name the output with -o FILE");
		return STATUS_ERROR;
	}
	if (o.format_version > UINT32_MAX)
		options.format_version = UINT32_MAX;
	if (symcache_build_create(argv[0], &options, &build, &err)) {
		cmd_error("%s", err.msg);
		return err.code == SC_ENOSYMBOLS ? STATUS_PARTLY : STATUS_ERROR;
	}
	info = symcache_build_info(build);
	warn_of_gaps(argv[0], info);
	if (info->bad_units)
		status = STATUS_PARTLY;
	size = symcache_build_size(build);
	bytes = must_realloc(NULL, size);
	symcache_build_write(build, bytes);
	if (write_cache(o.output, bytes, size, &err)) {
		cmd_error("%s", err.msg);
		status = STATUS_ERROR;
	}
	free(bytes);
	symcache_build_destroy(build);
	return status;
}

const struct command build_command = {
	.name = "build",
	.operands = "ELF",
	.summary = "make one SymCache file of an ELF file",
	.description =
		"Reads an ELF file, and its separate debug file if it has one, and writes one "
		"SymCache file, without a store."
		"\n\n"
		"Exit status: 0 done; 1 the file has no symbols, or some of its debug information is "
		"broken and was left out; 2 error.",
	.opts = opts,
	.examples =
		"  symcache build /usr/bin/python3.11 -o python.symcache\n"
		"  symcache lookup --cache python.symcache 0x1f3a2\n",
	.run = run,
};

/*
 * A whole file of output: see cmd.h. It is written beside its place under another
 * name, synced and renamed, so that there is the old one or a whole new one,
 * whatever happens. What is no regular file (a device, a pipe) is written into.
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

/* The file under its temporary name, while there is one. */
static char *volatile unfinished;

static void remove_unfinished(int sig)
{
	if (unfinished)
		unlink(unfinished);
	signal(sig, SIG_DFL);
	raise(sig);
}

static int write_all(int fd, const char *bytes, size_t size)
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
static int write_into(const char *path, const void *bytes, size_t size, struct sc_error *err)
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

static int replace(const char *path, const void *bytes, size_t size, struct sc_error *err)
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

int replace_file(const char *path, const void *bytes, size_t size, struct sc_error *err)
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

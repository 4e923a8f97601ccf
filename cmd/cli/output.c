/* Standard output and output files: see output.h. */
#include "cmd/cli/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/messages.h"
#include "libsymcache/base/file.h"

void out_flush(void)
{
	/* ferror() alone has lost the reason: an earlier write failed. */
	bool failed = ferror(stdout);

	errno = 0;
	if (!fflush(stdout) && !failed)
		return;
	cmd_error("cannot write to standard output%s%s", errno ? ": " : "",
		  errno ? strerror(errno) : "");
	_Exit(STATUS_ERROR);
}

int out_write(const char *path, const void *bytes, size_t size, struct sc_error *err)
{
	if (strcmp(path, "-"))
		return sc_replace_file(path, bytes, size, err);
	fwrite(bytes, 1, size, stdout);
	return 0; /* out_flush() checks it */
}

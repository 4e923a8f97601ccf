/* Standard output and output files: see output.h. */
#include "cmd/cli/output.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/messages.h"
#include "libsymcache/base/file.h"

static int to_stdout(void *ctx, const char *bytes, size_t size)
{
	(void)ctx;
	fwrite(bytes, 1, size, stdout); /* out_flush() checks it */
	return 0;
}

static char buf[1 << 16];
struct mk_out out_stdout = { .buf = buf, .cap = sizeof(buf), .write = to_stdout };

struct mk_gen *out_json(bool pretty)
{
	static struct mk_gen json;

	json = (struct mk_gen){ .to = &out_stdout, .pretty = pretty };
	return &json;
}

struct mk_gen *out_json_open(bool pretty)
{
	struct mk_gen *j = out_json(pretty);

	mk_gen_open_map(j, NULL);
	return j;
}

void out_json_close(struct mk_gen *j)
{
	mk_gen_close_map(j);
	mk_gen_end(j);
}

void out_flush(void)
{
	bool failed;

	mk_out_flush(&out_stdout);
	/* ferror() alone has lost the reason: an earlier write failed. */
	failed = ferror(stdout);
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

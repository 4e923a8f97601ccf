/* Memory of the program: see memory.h. */
#include "cmd/cli/memory.h"

#include <stdlib.h>

#include "cmd/cli/messages.h"
#include "libsymcache/base/file.h"

int status_no_memory = STATUS_ERROR;

void *must(void *p)
{
	if (!p) {
		cmd_error("out of memory");
		sc_new_files_end();
		exit(status_no_memory);
	}
	return p;
}

void *must_calloc(size_t n, size_t size)
{
	return must(calloc(n, size));
}

void *must_realloc(void *p, size_t size)
{
	return must(realloc(p, size));
}

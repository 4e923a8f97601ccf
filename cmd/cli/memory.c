/* Memory of the program: see memory.h. */
#include "cmd/cli/memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cli/messages.h"

int status_no_memory = STATUS_ERROR;

void *must(void *p)
{
	if (!p) {
		cmd_error("out of memory");
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

void *must_grow(void *array, size_t len, size_t *cap, size_t size)
{
	if (len < *cap)
		return array;
	*cap = 2 * *cap + 16;
	return must_realloc(array, *cap * size);
}

char *must_asprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&s, fmt, ap);
	va_end(ap);
	return must(len < 0 ? NULL : s);
}

/*
 * What the subcommands share: messages, memory.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "symcache/build.h"

const char *cmd_name = "symcache";

void cmd_verror(const char *fmt, va_list ap)
{
	fprintf(stderr, "%s: ", cmd_name);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void cmd_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmd_verror(fmt, ap);
	va_end(ap);
}

const char *without_path(const char *message, const char *path)
{
	size_t len = strlen(path);

	return !strncmp(message, path, len) && !strncmp(message + len, ": ", 2) ?
		message + len + 2 : message;
}

void warn_of_gaps(const char *path, const struct symcache_build_info *info)
{
	if (info->bad_units)
		cmd_error("%s: %llu of %llu units of debug information are broken: %s", path,
			  (unsigned long long)info->bad_units, (unsigned long long)info->units,
			  info->first_fault);
	if (info->above_4g)
		cmd_error("%s: %llu ranges and symbols are left out: they do not lie within 4 GiB "
			  "above the load base 0x%llx", path, (unsigned long long)info->above_4g,
			  (unsigned long long)info->load_base);
}

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

static void *must(void *p)
{
	if (!p) {
		cmd_error("out of memory");
		exit(STATUS_ERROR);
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

char *format_number(char *end, uint64_t value, unsigned base)
{
	do {
		*--end = "0123456789abcdef"[value % base];
		value /= base;
	} while (value);
	return end;
}

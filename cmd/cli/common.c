/*
 * What the subcommands share: messages, memory, build IDs.
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

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int parse_build_id(const char *text, uint8_t id[SYMCACHE_BUILD_ID_MAX], size_t *nibbles,
		   struct sc_error *err)
{
	size_t n;

	memset(id, 0, SYMCACHE_BUILD_ID_MAX);
	for (n = 0; text[n]; n++) {
		int digit = hex_digit(text[n]);

		if (digit < 0)
			return sc_error_set(err, SC_EINVAL, "build ID '%.140s': '%c' is no hex digit",
					    text, text[n]);
		if (n == 2 * SYMCACHE_BUILD_ID_MAX)
			return sc_error_set(err, SC_EINVAL,
					    "build ID '%.140s' is longer than %u bytes", text,
					    SYMCACHE_BUILD_ID_MAX);
		id[n / 2] |= (uint8_t)(n % 2 ? digit : digit << 4);
	}
	if (!n)
		return sc_error_set(err, SC_EINVAL, "the build ID is empty");
	*nibbles = n;
	return 0;
}

void format_build_id(char text[2 * SYMCACHE_BUILD_ID_MAX + 1], const uint8_t *id, size_t len)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		*text++ = digits[id[i] >> 4];
		*text++ = digits[id[i] & 15];
	}
	*text = 0;
}

/* Messages: see messages.h. */
#include "cmd/cli/messages.h"

#include <stdio.h>
#include <string.h>

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
	if (info->code_above_4g)
		cmd_error("%s: %llu ranges and symbols are left out: they do not lie within 4 GiB "
			  "above the load base 0x%llx", path, (unsigned long long)info->code_above_4g,
			  (unsigned long long)info->load_base);
}

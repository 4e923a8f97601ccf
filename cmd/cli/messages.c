/* Messages: see messages.h. */
#include "cmd/cli/messages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/progress.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/utf8.h"
#include "libsymcache/write/build.h"

const char *cmd_name = "symcache";

void cmd_verror(const char *fmt, va_list ap)
{
	char *text = sc_vtext(fmt, ap), *clean = NULL;
	const size_t len = text ? strlen(text) : 0;

	/* Names may hold anything: nothing of them may move the cursor or forge a line. */
	if (text && (clean = malloc(4 * len + 1)))
		clean[sc_make_printable(text, len, clean)] = 0;
	if (!clean)
		sc_memory_refused();
	progress_erase();
	fprintf(stderr, "%s: %s\n", cmd_name, clean ? clean : "out of memory");
	free(clean);
	free(text);
}

void cmd_error(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	cmd_verror(fmt, ap);
	va_end(ap);
}

void cmd_complain(void *ctx, const char *message)
{
	(void)ctx;
	cmd_error("%s", message);
}

int cmd_absent(const struct sc_error *err)
{
	cmd_error("%s", err->msg);
	return STATUS_PARTLY;
}

void warn_of_gaps(const char *path, const struct symcache_build_info *info)
{
	if (info->bad_units)
		cmd_error("%s: %llu of %llu units of debug information are broken: %s", path,
			  (unsigned long long)info->bad_units, (unsigned long long)info->units,
			  info->first_fault);
	if (info->code_above_4g)
		cmd_error("%s: %llu ranges and symbols are left out: they do not lie within 4 GiB "
			  "above the load base 0x%llx",
			  path, (unsigned long long)info->code_above_4g,
			  (unsigned long long)info->load_base);
}

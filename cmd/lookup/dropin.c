/* Which tool a name means: see dropin.h. */
#include "cmd/lookup/dropin.h"

#include <stddef.h>
#include <string.h>

static const struct {
	const char *command;
	dropin_fn *fn;
} tools[] = {
	{ "symbolizer", symbolizer_main },
	{ "llvm-addr2line", llvm_addr2line_main },
	{ "addr2line", addr2line_main },
};

dropin_fn *dropin_by_command(const char *command)
{
	for (size_t i = 0; i < sizeof(tools) / sizeof(*tools); i++)
		if (!strcmp(command, tools[i].command))
			return tools[i].fn;
	return NULL;
}

/* llvm-symbolizer-19, x86_64-linux-gnu-addr2line */
dropin_fn *dropin_by_name(const char *argv0)
{
	const char *slash = strrchr(argv0, '/'), *name = slash ? slash + 1 : argv0;
	const char *end = name + strlen(name);

	if (!strncmp(name, "llvm-symbolizer", strlen("llvm-symbolizer")))
		return symbolizer_main;
	if (strstr(name, "llvm") && strstr(name, "addr2line"))
		return llvm_addr2line_main;
	if (end - name >= 9 && !strcmp(end - 9, "addr2line"))
		return addr2line_main;
	return NULL;
}

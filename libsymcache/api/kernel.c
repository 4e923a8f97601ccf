/* The kernel and its modules in an address space: see <symcache-process.h>. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symcache-process.h>

#include "libsymcache/api/space.h"

/* The address of a symbol in a text as /proc/kallsyms: "ffffffff81000000 T _text". 0: unknown. */
static uint64_t address_of(const char *kallsyms, const char *name)
{
	char wanted[32];
	const int len = snprintf(wanted, sizeof(wanted), " %s\n", name);

	for (const char *at = kallsyms; (at = strstr(at, wanted)); at += len) {
		const char *line = at;

		while (line > kallsyms && line[-1] != '\n')
			line--;
		if (at - line == 18) /* 16 digits, a blank and a letter */
			return strtoull(line, NULL, 16);
	}
	return 0;
}

/* A line of /proc/modules: "kvm 1056768 1 kvm_intel, Live 0xffffffffc0a00000". */
static int add_module(struct symcache_space *s, const char *line, struct sc_str release,
		      struct symcache_error *err)
{
	uint64_t size, start;
	char name[64];

	if (sscanf(line, "%63s %" SCNu64 " %*s %*s %*s 0x%" SCNx64, name, &size, &start) != 3 ||
	    !start || start + size < start)
		return 0;
	return api_space_map(s, &(struct symcache_file_id){
		.path = sc_str_of(name), .kernel = true, .release = release },
		(struct symcache_mapping){ .start = start, .end = start + size,
					   .origin = SYMCACHE_FROM_ZERO }, err);
}

int symcache_space_add_kernel(struct symcache_space *s, const char *kallsyms, const char *modules,
			      const char *release, struct symcache_error *err)
{
	const struct sc_str of = sc_str_of(release ? release : "");
	uint64_t start, end;
	int rc;

	if (!kallsyms)
		return api_error(err, SC_EINVAL, "NULL in place of kallsyms");
	start = address_of(kallsyms, "_text");
	start = start ? start : address_of(kallsyms, "_stext");
	end = address_of(kallsyms, "_etext");
	if (!start || end <= start)
		return api_error(err, SC_ENOTFOUND, "kallsyms has no addresses: only root sees them");
	rc = api_space_map(s, &(struct symcache_file_id){
		.path = sc_str_of("vmlinux"), .kernel = true, .release = of },
		(struct symcache_mapping){ .start = start, .end = end,
					   .origin = SYMCACHE_FROM_LOAD_BASE }, err);
	for (const char *line = modules; !rc && line && *line; line = strchr(line, '\n'))
		rc = add_module(s, line += *line == '\n', of, err);
	return rc;
}

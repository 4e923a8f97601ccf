/* What was at addresses of a process that left a core file?  core CORE ADDRESS... */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <symcache-build.h>

static int print(void *ctx, size_t i, const struct symcache_located *l)
{
	const struct symcache_frame *f;

	(void)ctx;
	(void)i;
	printf("0x%" PRIx64 " in %s+0x%" PRIx64 "%s%s\n", l->address, l->path, l->vaddr,
	       *l->why ? ": " : "", l->why);
	for (f = l->frames; f->function; f++)
		printf("  %s at %s:%u\n", f->function, f->file, f->line);
	return 0;
}

int main(int argc, char **argv)
{
	struct symcache_addresses at = { sizeof(at), NULL, 0, 0 };
	struct symcache_error err = { 0, "usage: core CORE ADDRESS..." };
	struct symcache_space *space;
	uint64_t list[64];

	for (; at.num < 64 && (int)at.num + 2 < argc; at.num++)
		list[at.num] = strtoull(argv[at.num + 2], NULL, 0);
	at.list = list;
	if (argc < 3 || symcache_space_create(NULL, &space, &err) ||
	    symcache_space_add_core(space, argv[1], &err) ||
	    symcache_space_use_files(space, NULL, &err) || /* what the store lacks */
	    symcache_space_symbolize(space, &at, print, NULL, &err))
		return fprintf(stderr, "%s\n", err.msg), 1;
	symcache_space_destroy(space);
}

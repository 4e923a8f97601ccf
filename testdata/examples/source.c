/* What is at an address: lines of sources, and local variables.  source FILE ADDRESS [FOLDER...] */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symcache-build.h>
#include <symcache-find.h>

static int variable(void *ctx, const struct symcache_local_variable *v)
{
	(void)ctx;
	printf("  %s of %s, declared at line %u", v->name, v->function, v->line);
	if (v->flags & SYMCACHE_LOCAL_HAS_SIZE)
		printf(", %" PRIu64 " bytes", v->size);
	putchar('\n');
	return 0;
}

/* Line `n` of a source, which is not there in all cases. */
static void print_line(struct symcache_source_reader *sources, const char *path, uint32_t n)
{
	const char *text;
	size_t size;

	if (symcache_source_text(sources, NULL, path, &text, &size, NULL))
		return;
	while (text && --n)
		text = (text = strchr(text, '\n')) ? text + 1 : NULL;
	if (text)
		printf("  %.*s\n", (int)strcspn(text, "\n"), text);
}

int main(int argc, char **argv)
{
	struct symcache_error err = { 0, "usage: source FILE ADDRESS [FOLDER...]" };
	struct symcache_make_options make = { sizeof(make), NULL, 0, SYMCACHE_MAKE_LOCALS, 0, NULL, NULL,
					      NULL };
	struct symcache_source_options where = { sizeof(where), NULL, NULL, NULL, NULL };
	struct symcache_source_reader *sources;
	struct symcache_resolver *resolver;
	const struct symcache_frame *f;
	struct symcache_cache *cache;
	uint64_t at;

	where.folders = (const char *const *)argv + (argc < 3 ? argc : 3); /* ends with NULL */
	if (argc < 3 || symcache_make(argv[1], &make, &cache, &err) ||
	    symcache_resolver_create(NULL, &resolver, &err) ||
	    symcache_source_reader_create(&where, &sources, &err))
		return fprintf(stderr, "%s\n", err.msg), 1;
	at = strtoull(argv[2], NULL, 0);
	symcache_frames(resolver, cache, at, &f);
	for (; f->function; f++) {
		printf("%s at %s:%u\n", f->function, f->file, f->line);
		if (f->line)
			print_line(sources, f->file, f->line);
	}
	if (symcache_each_local(resolver, cache, at, variable, NULL, &err))
		printf("%s\n", err.msg);
	symcache_source_reader_destroy(sources);
	symcache_resolver_destroy(resolver);
	symcache_cache_unref(cache);
}

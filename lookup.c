#include <stdio.h>
#include <stdlib.h>
#include <symcache.h>

int main(int argc, char **argv)
{
        struct symcache_error err = { 0, "usage: lookup BUILD-ID ADDRESS" };
        struct symcache_resolver *resolver;
        const struct symcache_frame *f;

        if (argc != 3 || symcache_resolver_create(NULL, &resolver, &err) ||
            symcache_resolve(resolver, argv[1], strtoull(argv[2], NULL, 0), &f, &err) < 0)
                return fprintf(stderr, "%s\n", err.msg), 1;
        for (; f->function; f++)
                printf("%s at %s:%u\n", f->function, f->file, f->line);
        symcache_resolver_destroy(resolver);
}


/*
 * first_check.c: first answers next to the whole cache's, at random addresses of code.
 *
 *   first_check ADDRESSES AT_ONCE FILE...
 *
 * Of each file, the cache of AT_ONCE addresses alone is made ADDRESSES / AT_ONCE times, and what
 * it says about each is compared with what the whole one says. Half of the addresses are random
 * between the first and the last range, half are the edges of ranges. Prints a line for each
 * file; exit status 1 if any differs.
 */
#include <stdint.h>

#include "libsymcache/write/first_check.h"

static uint64_t state = 1;

static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static uint64_t random_address(const struct symcache *c)
{
	const uint32_t n = c->header->num_ranges, first = c->ranges[0], last = c->ranges[n - 1];
	const uint64_t random = next_random();

	return symcache_load_base(c) + (random & 1 ? c->ranges[random / 2 % n] :
						     first + random / 2 % ((uint64_t)last - first + 1));
}

static int compare(const char *path, unsigned long addresses, size_t at_once)
{
	const struct symcache_build_options o = { 0 };
	unsigned long asked = 0, differ = 0;
	uint64_t vaddrs[64];
	struct built whole;
	struct sc_error err;

	if (first_build(path, &o, &whole, &err)) {
		printf("%s: %s\n", path, err.msg);
		return 1;
	}
	for (; asked < addresses && whole.cache.header->num_ranges; asked += at_once) {
		char *fault;

		for (size_t i = 0; i < at_once; i++)
			vaddrs[i] = random_address(&whole.cache);
		fault = first_differs(path, &o, &whole.cache, vaddrs, at_once);
		if (fault && !differ++)
			printf("%s\n", fault);
		free(fault);
	}
	printf("%s: %lu addresses, %lu differ\n", path, asked, differ);
	fflush(stdout);
	free(whole.bytes);
	return differ > 0;
}

int main(int argc, char **argv)
{
	const unsigned long addresses = argc > 3 ? strtoul(argv[1], NULL, 0) : 0;
	const size_t at_once = argc > 3 ? strtoul(argv[2], NULL, 0) : 0;
	int status = 0;

	if (!addresses || at_once < 1 || at_once > 64) {
		fputs("usage: first_check ADDRESSES AT_ONCE FILE...\n", stderr);
		return 2;
	}
	for (int i = 3; i < argc; i++)
		status |= compare(argv[i], addresses, at_once);
	return status;
}

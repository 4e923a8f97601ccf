/* Changes to malloc() and limits of a process that is ours: see process.h. */
#include "libsymcache/base/process.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "libsymcache/base/bigmem.h"

#ifdef __GLIBC__

#define PAD (16u << 20) /* that the main thread's heap grows at once; it must be there */
#define HEAP ((size_t)64 << 20) /* of another thread: its size, and what it is aligned to */

static bool in_main_heap(const void *p)
{
	extern char end; /* of the program's data, which the main heap stands behind */

	return (const char *)p >= &end && (const char *)p < (char *)sbrk(0);
}

/* Makes the main heap grow, which is what malloc() has least to give of. */
static void grow_main_heap(void)
{
	void *blocks[4];
	const char *before = sbrk(0);
	unsigned n = 0;

	mallopt(M_TOP_PAD, PAD);
	while (n < 4 && sbrk(0) == before)
		blocks[n++] = malloc(64 << 10);
	while (n)
		free(blocks[--n]);
	sc_big_advise((char *)sbrk(0) - PAD, PAD);
}

static void heap(void)
{
	void *p = malloc(1);

	if (p && in_main_heap(p))
		grow_main_heap();
	else if (p)
		sc_big_advise((void *)((uintptr_t)p & ~(HEAP - 1)), HEAP);
	free(p);
}

#else

static void heap(void)
{
}

#endif

static void descriptors(void)
{
	const rlim_t enough = 4096;
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < enough) {
		limit.rlim_cur = limit.rlim_max < enough ? limit.rlim_max : enough;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

void sc_own_process(void)
{
	static const struct sc_process ours = { heap, descriptors };

	sc_process = &ours;
}

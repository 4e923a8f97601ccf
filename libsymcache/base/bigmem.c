/* Memory for things of many megabytes: see bigmem.h. */
#include "libsymcache/base/bigmem.h"

#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libsymcache/base/account.h"

_Thread_local struct sc_account *sc_account;

#define HUGE_PAGE SC_BIG_PAGE
#define BIG (2 * HUGE_PAGE)

static size_t rounded(size_t size)
{
	return (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

static void *take(size_t size)
{
	size_t whole = rounded(size), head;
	char *p;

	if (size < BIG)
		return aligned_alloc(64, (size + 64) & ~(size_t)63);
	if (whole < size || whole + HUGE_PAGE < whole)
		return NULL;
	p = mmap(NULL, whole + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		 -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	/* Huge pages must be aligned: cut off what stands over on both sides. */
	head = (HUGE_PAGE - (uintptr_t)p % HUGE_PAGE) % HUGE_PAGE;
	if (head)
		munmap(p, head);
	munmap(p + head + whole, HUGE_PAGE - head);
	madvise(p + head, whole, MADV_HUGEPAGE);
	return p + head;
}

void *sc_big_alloc(size_t size)
{
	void *p;

	if (!sc_charge(size))
		return NULL;
	p = take(size);
	if (!p)
		sc_discharge(size);
	return p;
}

static void give_back(void *p, size_t size)
{
	if (size < BIG)
		free(p);
	else
		munmap(p, rounded(size));
}

void sc_big_free(void *p, size_t size)
{
	if (!p)
		return;
	sc_discharge(size);
	give_back(p, size);
}

static void *grow(void *p, size_t old, size_t size)
{
	void *bigger;

	if (size < BIG)
		return realloc(p, size);
	if (old >= BIG && rounded(old) == rounded(size))
		return p;
	bigger = take(size);
	if (!bigger || !p)
		return bigger;
	if (old < BIG || mremap(p, rounded(old), rounded(old), MREMAP_MAYMOVE | MREMAP_FIXED,
				bigger) == MAP_FAILED) {
		memcpy(bigger, p, old);
		give_back(p, old);
	}
	return bigger;
}

void *sc_big_grow(void *p, size_t old, size_t size)
{
	void *bigger;

	if (!sc_charge(size - old))
		return NULL;
	bigger = grow(p, old, size);
	if (!bigger)
		sc_discharge(size - old);
	return bigger;
}

void sc_big_advise(void *p, size_t size)
{
	uintptr_t start = rounded((uintptr_t)p);
	uintptr_t end = ((uintptr_t)p + size) & ~(HUGE_PAGE - 1);

	if (start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

void sc_big_move(void *to, void *from, size_t size)
{
#ifdef MREMAP_DONTUNMAP
	/* What is read where the pages were is zeroes, as behind sc_big_drop(). */
	if (mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, to) !=
	    MAP_FAILED)
		return;
#endif
	madvise(from, size, MADV_DONTNEED);
}

void sc_big_drop(const void *p, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)p + size) & ~(page - 1);

	if (start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

static bool ours;

void sc_own_process(void)
{
	ours = true;
}

bool sc_process_is_ours(void)
{
	return ours;
}

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

void sc_big_heap(void)
{
	void *p = ours ? malloc(1) : NULL;

	if (p && in_main_heap(p))
		grow_main_heap();
	else if (p)
		sc_big_advise((void *)((uintptr_t)p & ~(HEAP - 1)), HEAP);
	free(p);
}

#else

void sc_big_heap(void)
{
}

#endif

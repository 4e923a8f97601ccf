/* Memory for things of many megabytes: see bigmem.h. */
#include "libsymcache/base/bigmem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "libsymcache/base/account.h"
#include "libsymcache/base/error.h"

#define HUGE_PAGE SC_BIG_PAGE
#define BIG HUGE_PAGE

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
	if (!bigger) {
		sc_discharge(size - old);
		sc_memory_refused();
	}
	return bigger;
}

void sc_big_advise(void *p, size_t size)
{
	uintptr_t start = rounded((uintptr_t)p);
	uintptr_t end = ((uintptr_t)p + size) & ~(HUGE_PAGE - 1);

	if (start < end)
		madvise((void *)start, end - start, MADV_HUGEPAGE);
}

void sc_big_sparse(void *p, size_t size)
{
	if (size >= BIG)
		madvise(p, rounded(size), MADV_NOHUGEPAGE);
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

static void advise_pages(const void *p, size_t size, int advice)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)p + size) & ~(page - 1);

	if (start < end)
		madvise((void *)start, end - start, advice);
}

void sc_big_drop(const void *p, size_t size)
{
	advise_pages(p, size, MADV_DONTNEED);
}

void sc_big_touch(void *p, size_t size)
{
#ifdef MADV_POPULATE_WRITE
	advise_pages(p, size, MADV_POPULATE_WRITE);
#else
	(void)p, (void)size;
#endif
}

/* Memory for things of many megabytes: see bigmem.h. */
#include "libsymcache/base/bigmem.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE ((size_t)2 << 20)
#define BIG (2 * HUGE_PAGE)

static size_t rounded(size_t size)
{
	return (size + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
}

void *sc_big_alloc(size_t size)
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

void sc_big_free(void *p, size_t size)
{
	if (!p)
		return;
	if (size < BIG)
		free(p);
	else
		munmap(p, rounded(size));
}

void sc_big_drop(const void *p, size_t size)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = ((uintptr_t)p + page - 1) & ~(page - 1);
	uintptr_t end = ((uintptr_t)p + size) & ~(page - 1);

	if (start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
}

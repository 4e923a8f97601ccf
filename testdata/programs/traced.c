/* What tests put tracepoints into: a position-independent program without
 * optimisation, so that GDB and the line table agree on every address, and yet with
 * an inlined function.
 * recipe: gcc -O0 -g -fPIE -pie $MAP -Wl,--build-id -o $OUT $SRC
 */
#include <stdio.h>

struct pair {
	int first;
	long second;
};

int count = 3;
static char text[16] = "abcdefghijklmno";
struct pair both = { 1, 2 };

static inline __attribute__((always_inline)) void inner(int by)
{
	count += by;
	text[count % 8]++; /* mark: in the inlined function */
}

static __attribute__((noinline)) void outer(int n)
{
	both.first = n; /* mark: at the entry */
	inner(n);
	both.second += count; /* mark: stepping */
}

static __attribute__((noinline)) void done(void)
{
	puts(text);
}

int main(void)
{
	for (int i = 1; i < 4; i++)
		outer(i);
	done();
	return 0;
}

/* What dies in a handler, below a callback of libc, in inlined functions and recursion, with a
 * thread that waits.
 * recipe: gcc -O2 -g $MAP -Wl,--build-id -pthread -o $OUT $SRC
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int sink;
static volatile int *volatile nowhere;

static inline __attribute__((always_inline)) void write_to(volatile int *p, int v)
{
	*p = v;
}

static inline __attribute__((always_inline)) void touch(int v)
{
	write_to(nowhere, v);
	sink++;
}

static __attribute__((noinline)) void on_signal(int number)
{
	sink = number;
	abort();
}

static __attribute__((noinline)) int walk(int n)
{
	volatile char room[100];

	room[n] = (char)n;
	if (!n)
		touch(room[n]);
	else
		sink += walk(n - 1) + room[n];
	return sink;
}

static __attribute__((noinline)) int compare(const void *a, const void *b)
{
	sink += walk(12);
	return *(const int *)a - *(const int *)b;
}

static void *wait_for_ever(void *ctx)
{
	while (1)
		pause();
	return ctx;
}

int main(void)
{
	int list[] = { 3, 1, 2 };
	pthread_t thread;

	if (pthread_create(&thread, NULL, wait_for_ever, NULL))
		return 1;
	usleep(20000);
	signal(SIGSEGV, on_signal);
	qsort(list, 3, sizeof(list[0]), compare);
	puts("alive");
	return 0;
}

/*
 * recipe: gcc -g -O2 -Wl,--build-id=sha1 -o $OUT $SRC -pthread
 *
 * A thousand threads that wait below 25 functions; then it dies: a core file of 1,001
 * stacks. Each function's number is a template's by hand, so that no two are one.
 */
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static volatile int waiting;

__attribute__((noinline)) static int f0(int n)
{
	struct timespec ever = { 1000, n };

	__atomic_add_fetch(&waiting, 1, __ATOMIC_SEQ_CST);
	return nanosleep(&ever, NULL) + n;
}

#define BELOW(n, m) \
	__attribute__((noinline)) static int f##n(int k) \
	{ \
		volatile char room[40 + n]; \
		room[k & 31] = (char)k; \
		return f##m(k + n) + room[0]; \
	}
BELOW(1, 0) BELOW(2, 1) BELOW(3, 2) BELOW(4, 3) BELOW(5, 4) BELOW(6, 5) BELOW(7, 6) BELOW(8, 7)
BELOW(9, 8) BELOW(10, 9) BELOW(11, 10) BELOW(12, 11) BELOW(13, 12) BELOW(14, 13) BELOW(15, 14)
BELOW(16, 15) BELOW(17, 16) BELOW(18, 17) BELOW(19, 18) BELOW(20, 19) BELOW(21, 20) BELOW(22, 21)
BELOW(23, 22) BELOW(24, 23)

static void *work(void *arg)
{
	return (void *)(long)f24((int)(long)arg);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1000;
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 64 << 10);
	for (long i = 0; i < n; i++)
		if (pthread_create(&thread, &attr, work, (void *)i))
			return 1;
	while (waiting < n)
		usleep(1000);
	usleep(10000);
	abort();
}

/* bench.h: what programs that measure have in common. They end with status 2 on an error. */
#ifndef BENCH_H
#define BENCH_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Processor time of this thread. */
static inline double bench_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* The bytes of a file, on the heap. */
static inline void *bench_read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	void *data;
	long end;

	if (!f || fseek(f, 0, SEEK_END) || (end = ftell(f)) < 0) {
		perror(path);
		exit(2);
	}
	rewind(f);
	*size = (size_t)end;
	data = malloc(*size + 1);
	if (!data || fread(data, 1, *size, f) != *size) {
		perror(path);
		exit(2);
	}
	fclose(f);
	return data;
}

#endif

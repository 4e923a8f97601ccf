/*
 * tfile_testing.h: what the tests share that read the recordings and damaged files
 * of ../shared/data/tfile.
 */
#ifndef TFILE_TESTING_H
#define TFILE_TESTING_H

#include <assert.h>
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DATA "../shared/data/tfile"

/* In a test: skips it, and says so, where the data are not there. */
#define NEEDS_DATA() do { \
	if (access(DATA, F_OK)) { \
		printf("skipped: there is no %s\n", DATA); \
		skip(); \
	} \
} while (0)

/* The bytes of a file on the heap in their exact size, for the address sanitizer
 * to watch. */
static inline char *slurp(const char *path, size_t *size)
{
	FILE *f = fopen(path, "rb");
	struct stat st;
	char *data;
	size_t got;

	assert(f && fstat(fileno(f), &st) == 0);
	*size = (size_t)st.st_size;
	data = malloc(*size ? *size : 1);
	assert(data);
	got = fread(data, 1, *size, f);
	assert(got == *size);
	fclose(f);
	return data;
}

static inline char *slurp_text(const char *path)
{
	size_t size;
	char *data = slurp(path, &size);

	data = realloc(data, size + 1);
	assert(data);
	data[size] = '\0';
	return data;
}

/* Calls fn for each DATA/dir/NAME.tf; returns how many there are. */
static inline int for_each_file(const char *dir, void (*fn)(const char *name))
{
	char path[300];
	struct dirent **names;
	int n, files = 0;

	snprintf(path, sizeof(path), DATA "/%s", dir);
	n = scandir(path, &names, NULL, alphasort);
	assert(n > 0);
	for (int i = 0; i < n; i++) {
		char *dot = strrchr(names[i]->d_name, '.');

		if (dot && strcmp(dot, ".tf") == 0) {
			*dot = '\0';
			fn(names[i]->d_name);
			files++;
		}
		free(names[i]);
	}
	free(names);
	return files;
}

#endif

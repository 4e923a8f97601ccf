/* A folder for the tests of output files, and of files below a folder, which include this behind cmocka.h. */
#ifndef SC_BASE_FOLDER_TEST_H
#define SC_BASE_FOLDER_TEST_H

#include "libsymcache/base/testing.h"

static char folder[] = "/tmp/file_test.XXXXXX";

static inline const char *at(const char *name)
{
	static char path[4][128];
	static size_t next;
	char *p = path[next++ % 4];

	snprintf(p, sizeof(path[0]), "%s/%s", folder, name);
	return p;
}

static inline void assert_content(const char *path, const char *text)
{
	char got[64] = "";
	FILE *f = fopen(path, "re");

	assert_non_null(f);
	got[fread(got, 1, sizeof(got) - 1, f)] = 0;
	fclose(f);
	assert_string_equal(got, text);
}

static inline int make_folder(void **state)
{
	(void)state;
	return !mkdtemp(folder);
}

/* No test leaves an unfinished file behind: the folder is empty after it. */
static inline int remove_folder(void **state)
{
	(void)state;
	for (size_t i = 0; i < 3; i++)
		unlink(at((const char *[]){ "f", "link", "fifo" }[i]));
	return rmdir(folder);
}

#endif

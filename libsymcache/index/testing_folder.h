/* A folder with files that commands make, which is removed in the end: for tests. */
#ifndef SYMCACHE_INDEX_TESTING_FOLDER_H
#define SYMCACHE_INDEX_TESTING_FOLDER_H

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/text.h"

static inline int make_folder(char *top, const char *files)
{
	char *command;
	int rc;

	if (!mkdtemp(top))
		return -1;
	command = sc_text("cd %s && mkdir in && %s", top, files);
	rc = system(command);
	free(command);
	return rc;
}

/* And what processes shared by its name. */
static inline int remove_folder(const char *top)
{
	char *command = sc_text("rm -rf %s /dev/shm/%s", top, strrchr(top, '/') + 1);
	const int rc = system(command);

	free(command);
	return rc;
}

#endif

/*
 * recorded_test.c: libc 2.36 of Debian 12 as `symbolic` wrote it in versions 7,
 * 8 and 9, and the frames that `symbolic` itself finds there for 4,006 addresses:
 * all must be the same, from the start of a range to the end of the 32 bits.
 *
 * The files lie outside the repository, next to it; without them the test is
 * skipped. Recorded are function, clean path and line; an empty line ends the
 * frames of an address.
 */
#include "libsymcache/read/read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define FOLDER "../shared/data/symcache/"

/* All that `command` prints, NUL-terminated. */
static char *output_of(const char *command, size_t *size)
{
	FILE *f = popen(command, "r");
	size_t cap = 8 << 20;
	char *data = malloc(cap);

	assert_non_null(f);
	assert_non_null(data);
	*size = fread(data, 1, cap - 1, f);
	assert_true(*size < cap - 1);
	assert_int_equal(pclose(f), 0);
	data[*size] = '\0';
	return data;
}

/* The frames of `rel_pc` as the recording spells them. */
static void spell(const struct symcache *cache, uint64_t rel_pc, char *out, size_t size)
{
	struct symcache_frames frames;
	struct symcache_raw_frame f;
	size_t len = 0;
	char path[500];

	symcache_lookup(cache, rel_pc, &frames);
	while (symcache_next_frame(&frames, &f)) {
		symcache_path(&f.file, SYMCACHE_PATH_CLEAN, path, sizeof(path));
		len += (size_t)snprintf(out + len, size - len, "%.*s\t%s\t%u\n",
					(int)f.function.len, f.function.ptr, path, f.line);
		assert_true(len + 2 < size);
	}
	strcpy(out + len, "\n");
}

static void test_recorded(void **state)
{
	size_t size;
	char *recorded, *addresses;

	(void)state;
	if (access(FOLDER, R_OK)) {
		print_message("skipped: no " FOLDER "\n");
		skip();
	}
	recorded = output_of("xz -dc " FOLDER "libc-2.36.frames.txt.xz", &size);
	addresses = output_of("cat " FOLDER "libc-2.36.addresses.txt", &size);
	for (int version = 7; version <= 9; version++) {
		char command[200], *at = addresses, *end;
		const char *want = recorded;
		struct symcache cache;
		int n = 0;

		snprintf(command, sizeof(command), "xz -dc " FOLDER "libc-2.36-v%d.symc.xz",
			 version);
		char *bytes = output_of(command, &size);
		assert_int_equal(symcache_open(&cache, bytes, size, NULL), 0);
		assert_int_equal(cache.header->version, version);
		assert_int_equal(symcache_verify(&cache, NULL, NULL), 0);
		for (;; n++, at = end) {
			uint64_t rel_pc = strtoull(at, &end, 16);
			char got[4000];

			if (end == at)
				break;
			spell(&cache, rel_pc, got, sizeof(got));
			if (strncmp(got, want, strlen(got)))
				fail_msg("version %d, 0x%llx: got\n%s", version,
					 (unsigned long long)rel_pc, got);
			want += strlen(got);
		}
		assert_int_equal(n, 4006);
		assert_int_equal(*want, '\0');
		free(bytes);
	}
	free(addresses);
	free(recorded);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_recorded) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What is found in each seed of the fuzz target, and in damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/archive/nested.h"
#include "libsymcache/base/seeds_test.h"

static int put_member(void *ctx, const struct sc_archive_file *file, struct sc_error *err)
{
	FILE *to = ctx;
	uint64_t size;
	int fd, rc = sc_archive_unpack(file, 1 << 20, &fd, &size, err);

	if (rc) {
		fprintf(to, "%s: %d %s\n", file->name, rc, err->msg);
		return rc == SC_ELIMIT || rc == SC_ENOMEM ? rc : 0;
	}
	fprintf(to, "%s, %zu bytes read, %" PRIu64 " in all\n", file->name, file->head_len, size);
	close(fd);
	return 0;
}

/* The words are libarchive's, and change with its version. */
static void put_failed(void *ctx, const char *name, const char *reason)
{
	fprintf(ctx, "%s is broken%s\n", name, *reason ? "" : "?");
}

static void answer(const uint8_t *bytes, size_t size, FILE *to)
{
	struct sc_archive_walk walk = { .elf = put_member, .failed = put_failed, .ctx = to };
	struct sc_error err;
	char path[32];
	int fd = testing_memfd(bytes, size, path);
	const int rc = sc_archive_walk(&walk, fd, size, "a", &err);

	fprintf(to, "%d, %" PRIu64 " files, begins %d %d\n", rc, walk.members,
		symarchive_begins(bytes, size), sc_begins_elf(bytes, size));
	close(fd);
}

static void test_answers(void **state)
{
	static const char *const seeds[] = { "archive", NULL };

	(void)state;
	expect_answers("archive", seeds, 24, answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

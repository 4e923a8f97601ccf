/*
 * Fuzz target: the pages of a file that says it is an LMDB file, by a mutator that knows its pages.
 * The walk ends, and reads nothing outside of the file's bytes; nor do walks through its trees.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "libsymcache/store/lmdb_fields.h"
#include "libsymcache/store/pages.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In place of libc's: damaged meta pages are read again for 50 ms, since a writer may be at
 * work. No one is. */
int nanosleep(const struct timespec *request, struct timespec *left)
{
	(void)request;
	(void)left;
	return 0;
}

static bool go_on(void *ctx, const char *fault)
{
	(void)fault;
	return --*(int *)ctx > 0;
}

static void walk(const struct symstore_view *view, const struct symstore_tree *tree, bool integer)
{
	static const uint8_t key[20] = { 0x20 };
	struct symstore_walk w;
	volatile uint8_t last;
	int rc = symstore_seek(&w, view, tree, integer, (struct symstore_bytes){ 0 });

	for (; !rc; rc = symstore_next(&w))
		if (w.value.size)
			last = w.value.data[w.value.size - 1];
	symstore_seek(&w, view, tree, integer, (struct symstore_bytes){ key, sizeof(key) });
	(void)last;
}

static void walk_trees(const uint8_t *data, size_t size, const struct symstore_snapshot *s)
{
	static const char *const names[] = { "meta", "entries", "caches", "seen" };
	const struct symstore_view view = {
		.file = data, .pages = size / s->page_size, .page_size = s->page_size,
		.last_page = s->last_page,
	};
	struct symstore_tree tree;

	walk(&view, &s->trees[0], true);
	walk(&view, &s->trees[1], false);
	for (int i = 0; i < 4; i++)
		if (!symstore_find_tree(&view, &s->trees[1], names[i], &tree))
			walk(&view, &tree, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	struct symstore_snapshot snapshot;
	int faults = 1000;
	struct symstore_report report = { .fn = go_on, .ctx = &faults };

	if (fd < 0 && (fd = memfd_create("store", 0)) < 0)
		abort();
	if (ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		abort();
	if (!symstore_snapshot_read(fd, SYMSTORE_ANY_TXN, &snapshot, NULL)) {
		symstore_snapshot_check(data, size, &snapshot, &report);
		walk_trees(data, size, &snapshot);
	}
	return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	struct fields fields = { .data = data, .size = size };

	lmdb_fields(&fields);
	return fields_mutate(&fields, max, seed);
}

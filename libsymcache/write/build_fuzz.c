/* Fuzz target: an ELF file is indexed; the cache must be valid. */
#include "libsymcache/base/testing.h"
#include "libsymcache/write/build.h"
#include "libsymcache/write/explain.h"
#include "libsymcache/write/image/plain_cache.h"
#include "libsymcache/write/locals.h"
#include "libsymcache/write/sources.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes of the cache, checked; NULL if there is none. */
static uint8_t *build(const char *path, const struct symcache_build_options *o, size_t *size)
{
	struct symcache_build *b;
	struct plain_cache cache;
	struct sc_error err;
	const char *fault;
	uint8_t *bytes;

	if (symcache_build_create(path, o, &b, &err))
		return NULL;
	*size = symcache_build_size(b);
	bytes = malloc(*size);
	symcache_build_write(b, bytes);
	symcache_build_destroy(b);
	fault = plain_open(&cache, bytes, *size);
	if (fault) {
		fprintf(stderr, "not a valid cache: %s\n", fault);
		abort();
	}
	return bytes;
}

/* Explains addresses of where the seeds have code; what decides must hold them. */
static void explain(const char *path, const struct symcache_build_options *o)
{
	for (uint64_t vaddr = 0; vaddr < 0x1200; vaddr += 0x110) {
		struct symcache_explanation *e;

		if (symcache_explain(path, o, vaddr, &e, NULL))
			continue;
		for (size_t i = 0; i < e->num_units; i++) {
			const struct symcache_explained_unit *u = &e->units[i];

			if (u->has_row && (vaddr < u->row.start || vaddr >= u->row.end)) {
				fprintf(stderr, "the row of another address\n");
				abort();
			}
		}
		symcache_explanation_destroy(e);
	}
}

/* Asks for local variables there, also of a cache. */
static void ask_locals(const char *path, struct symcache_build_options o)
{
	const struct symcache_local *list;
	struct symcache_locals *l;
	struct symcache cache;
	uint8_t *bytes;
	uint32_t first;
	size_t n;

	o.locals = true;
	bytes = build(path, &o, &n);
	if (bytes && (symcache_open(&cache, bytes, n, NULL) || symcache_verify(&cache, NULL, NULL)))
		abort();
	if (!symcache_locals_open(path, &o, &l, NULL)) {
		for (uint64_t vaddr = 0; vaddr < 0x1200; vaddr += 0x110) {
			symcache_locals_at(l, vaddr, &list, &n, NULL);
			if (bytes)
				symcache_locals_of(&cache, vaddr, &first);
		}
		symcache_locals_close(l);
	}
	free(bytes);
}

/* Asks for an embedded source. */
static void ask_sources(const char *path, const struct symcache_build_options *o)
{
	struct symcache_sources *s;

	if (symcache_sources_open(path, o, &s, NULL) || !s)
		return;
	symcache_sources_find(s, (struct sc_str){ "a/../b.c", 8 });
	symcache_sources_close(s);
}

/* The size of the input says how: mostly with one thread, at times with three, which
 * must make the same, and at times with the slow reader; and whether addresses are explained. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct symcache_build_options o = { .no_debug_search = true, .threads = 1 };
	uint8_t *one, *three;
	size_t n, m = 0;
	char path[32];
	int fd = testing_memfd(data, size, path);

	o.format_version = 7 + size % 3;
	if (size % 16 == 1)
		o.reader = SYMCACHE_READER_LIBDW;
	one = build(path, &o, &n);
	if (size % 16 == 0) {
		o.threads = 3;
		three = build(path, &o, &m);
		if (!one != !three || (one && (n != m || memcmp(one, three, n)))) {
			fprintf(stderr, "three threads make another cache than one\n");
			abort();
		}
		free(three);
	}
	free(one);
	if (size % 16 == 2)
		explain(path, &o);
	if (size % 16 == 3)
		ask_locals(path, o);
	if (size % 16 == 4)
		ask_sources(path, &o);
	close(fd);
	return 0;
}

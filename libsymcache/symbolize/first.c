/*
 * First answers: what a file that is not in the store says about a few addresses, before its
 * whole cache is worth making: see symcache_module_cache_at().
 *
 * Each is a cache of its own that holds for its addresses alone (options.only of a build). They
 * stay until the module goes, so that threads look into them without a lock.
 */
#include "libsymcache/symbolize/first.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

void sc_first_destroy(struct sc_first *f)
{
	for (unsigned i = 0; f && i < f->num_built; i++)
		free(f->built[i].bytes);
	if (f)
		free(f->outline.bytes);
	free(f);
}

/* Those that have no answer yet, each once; returns how many, SC_FIRST_AT_ONCE + 1: more. */
static size_t list_unknown(const struct sc_first *f, const uint64_t vaddrs[], size_t n,
			   uint64_t ret[SC_FIRST_AT_ONCE])
{
	size_t unknown = 0;

	for (size_t i = 0, k; i < n; i++) {
		for (k = 0; k < unknown && ret[k] != vaddrs[i]; k++)
			;
		if (k < unknown || sc_first_find(f, vaddrs[i]))
			continue;
		if (unknown == SC_FIRST_AT_ONCE)
			return SC_FIRST_AT_ONCE + 1;
		ret[unknown++] = vaddrs[i];
	}
	return unknown;
}

/* The bytes of a build, on the heap. */
static int keep(const struct symcache_build *b, struct sc_first_cache *ret)
{
	int rc;

	ret->bytes = malloc(symcache_build_size(b));
	if (!ret->bytes)
		return SC_ENOMEM;
	symcache_build_write(b, ret->bytes);
	rc = symcache_open(&ret->cache, ret->bytes, symcache_build_size(b), NULL);
	if (rc) {
		free(ret->bytes);
		ret->bytes = NULL;
	}
	return rc;
}

/* Makes the answers of these addresses. */
static int build(struct symcache_module *m, struct sc_first *f, const uint64_t vaddrs[], size_t n)
{
	const struct symcache_caches_options *o = &m->caches->options;
	const struct symcache_build_options options = { .debug_dirs = o->debug_dirs,
		.package = o->package, .only = vaddrs, .num_only = n };
	const size_t first = f->num;
	struct sc_first_cache *to = &f->built[f->num_built];
	struct symcache_build *b;
	int rc = symcache_build_create(m->name, &options, &b, NULL);

	if (rc)
		return rc;
	rc = keep(b, to);
	if (!rc)
		sc_notice_gaps(m, m->name, symcache_build_info(b));
	if (symcache_build_info(b)->inflated)
		f->most = SC_FIRST_BUILDS_INFLATED;
	symcache_build_destroy(b);
	if (rc)
		return rc;
	f->num_built++;
	for (size_t i = 0; i < n; i++) {
		f->answers[first + i].vaddr = vaddrs[i];
		f->answers[first + i].cache = &to->cache;
	}
	atomic_store_explicit(&f->num, first + n, memory_order_release);
	m->caches->to_complete |= m->storable;
	return 0;
}

const struct symcache *sc_first_outline(struct symcache_module *m)
{
	const struct symcache_caches_options *o = &m->caches->options;
	const struct symcache_build_options options = { .debug_dirs = o->debug_dirs,
							.outline = true };
	struct sc_first *f = m->first;
	struct symcache_build *b;

	if (!f || (!f->outline.bytes && symcache_build_create(m->name, &options, &b, NULL)))
		return NULL;
	if (!f->outline.bytes) {
		keep(b, &f->outline);
		symcache_build_destroy(b);
	}
	return f->outline.bytes ? &f->outline.cache : NULL;
}

/* Else whether it has anything at all is best seen by making its cache, which costs little. */
static bool has_dwarf(const struct symcache_module *m)
{
	const struct symcache_caches_options *o = &m->caches->options;
	const struct symcache_build_options options = { .debug_dirs = o->debug_dirs };
	struct symcache_elf_facts facts = { .dwarf = false };
	const int fd = open(m->name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return false;
	if (symcache_elf_facts(fd, m->name, &facts, NULL))
		facts.dwarf = false;
	close(fd);
	return facts.dwarf || symcache_debug_file_found(m->name, &options);
}

int sc_first_make(struct symcache_module *m, const uint64_t vaddrs[], size_t n)
{
	struct sc_first *f = m->first;
	uint64_t unknown[SC_FIRST_AT_ONCE];
	size_t num;

	if (!n && !has_dwarf(m))
		return SC_ENOTFOUND;
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return SC_ENOMEM;
		f->most = SC_FIRST_BUILDS;
		atomic_store_explicit(&m->first, f, memory_order_release);
	}
	num = list_unknown(f, vaddrs, n, unknown);
	if (!num)
		return 0;
	return num > SC_FIRST_AT_ONCE || f->num_built == f->most ? SC_ENOTFOUND :
								   build(m, f, unknown, num);
}

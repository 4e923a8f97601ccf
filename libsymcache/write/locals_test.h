/*
 * Local variables of DWARF written by a test, as the file and its cache say them: for tests, which
 * include it behind cmocka.h.
 */
#ifndef SC_LOCALS_TEST_H
#define SC_LOCALS_TEST_H

#include "libsymcache/read/read.h"
#include "libsymcache/write/locals.h"
#include "libsymcache/write/synthetic_test.h"

static inline void print_local(FILE *out, size_t i, const struct symcache_local *l)
{
	fprintf(out, "%s%.*s %.*s", i ? ", " : "", l->function.ptr ? (int)l->function.len : 6,
		l->function.ptr ? l->function.ptr : "(null)", l->name.ptr ? (int)l->name.len : 6,
		l->name.ptr ? l->name.ptr : "(null)");
	fprintf(out, l->has_offset ? " %lld" : " ??", (long long)l->offset);
	fprintf(out, l->has_size ? " %llu" : " ??", (unsigned long long)l->size);
	if (l->line || l->file.name.ptr)
		fprintf(out, " at %.*s:%lld", (int)l->file.name.len, l->file.name.ptr, (long long)l->line);
	if (l->has_tag)
		fprintf(out, " tag %lld", (long long)l->tag);
}

/* The locals of an address, of the debug information. */
static inline char *of_file(struct symcache_locals *locals, uint64_t vaddr)
{
	const struct symcache_local *list;
	struct sc_error err;
	size_t n, len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	assert_int_equal(symcache_locals_at(locals, vaddr, &list, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		print_local(out, i, &list[i]);
	fclose(out);
	return text;
}

/* The same of the cache. */
static inline char *of_cache(const struct symcache *cache, uint64_t vaddr)
{
	uint32_t first = 0;
	const uint32_t n = symcache_locals_of(cache, vaddr - symcache_load_base(cache), &first);
	struct symcache_local local;
	size_t len;
	char *text;
	FILE *out = open_memstream(&text, &len);

	for (uint32_t i = 0; i < n; i++) {
		assert_true(symcache_local(cache, first + i, &local));
		print_local(out, i, &local);
	}
	fclose(out);
	return text;
}

/* Both of an address must be the same; and `want`, unless that is NULL. */
static inline void expect_same(struct symcache_locals *file, const struct symcache *cache, uint64_t vaddr,
			const char *want)
{
	char *file_says = of_file(file, vaddr), *cache_says = of_cache(cache, vaddr);

	assert_string_equal(file_says, cache_says);
	if (want)
		assert_string_equal(file_says, want);
	free(file_says);
	free(cache_says);
}

/* Indexes a file with its locals; opens both. */
static inline void open_both(const char *path, struct indexed *r, struct symcache *cache,
		      struct symcache_locals **file)
{
	const struct symcache_build_options options = { .no_debug_search = true, .locals = true };

	index_file(path, &options, r);
	assert_int_equal(r->rc, 0);
	assert_true(r->info.sources & SYMCACHE_FROM_LOCALS);
	assert_int_equal(symcache_open(cache, r->bytes, r->size, &r->err), 0);
	assert_int_equal(symcache_verify(cache, NULL, NULL), 0);
	assert_int_equal(symcache_locals_open(path, &options, file, &r->err), 0);
}

/* As expect_locals(), of a file that is loaded from `base` on. */
static inline void expect_locals_from(struct dwarf *w, uint64_t base, uint64_t vaddr, const char *want)
{
	struct symcache_locals *locals;
	struct bytes file = {0};
	struct symcache cache;
	struct indexed r;
	char path[32];
	int fd;

	dwarf_file(w, &file);
	patch(&file, sizeof(Elf64_Ehdr) + offsetof(Elf64_Phdr, p_vaddr), 8, base);
	fd = testing_memfd(file.b.data, file.b.len, path);
	open_both(path, &r, &cache, &locals);
	expect_same(locals, &cache, vaddr, want);
	for (uint64_t at = base ? base : 0xff0; at <= 0x1210; at += 0x10)
		expect_same(locals, &cache, at, NULL);
	symcache_locals_close(locals);
	indexed_deinit(&r);
	close(fd);
	bytes_deinit(&file);
}

/* "f a -8 4, g b ?? ??": the locals of an address, of the file and of its cache; those of all
 * other addresses are the same of both. */
static inline void expect_locals(struct dwarf *w, uint64_t vaddr, const char *want)
{
	expect_locals_from(w, 0, vaddr, want);
}

static inline void variable(struct dwarf *w, unsigned tag, const char *name, size_t type,
		     const void *place, size_t len)
{
	entry(w, tag, false);
	attr_str(w, DW_AT_name, name);
	if (type)
		attr_ref(w, DW_AT_type, type);
	if (!len)
		return;
	attr(w, DW_AT_location, DW_FORM_exprloc, 0);
	put_uleb(&w->info, len);
	put_block(&w->info, place, len);
}

static inline size_t base_type(struct dwarf *w, uint64_t size)
{
	size_t at = entry(w, DW_TAG_base_type, false);

	attr(w, DW_AT_byte_size, DW_FORM_data1, size);
	return at;
}

#endif

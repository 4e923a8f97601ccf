/* testing.h: for tests of bundles: entries whose records have something in each field, the stores
 * that have them, and a folder for all of it. */
#ifndef BUNDLE_TESTING_H
#define BUNDLE_TESTING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <xxhash.h>

#include "libsymcache/base/testing.h"
#include "libsymcache/bundle/bundle.h"
#include "libsymcache/write/build.h"

static struct sc_error err;
#define assert_ok(call) do { \
	if ((call)) \
		fail_msg("%s: %s", #call, err.msg); \
} while (0)

static inline const char *in_dir(const char *name)
{
	static char paths[8][700];
	static unsigned next;
	char *path = paths[next++ % 8];

	snprintf(path, sizeof(paths[0]), "%s/%s", testing_dir, name);
	return path;
}

/* An entry and its cache, of malloc(). */
struct own {
	struct symstore_entry entry;
	void *cache;
	size_t size;
};

static inline struct symcache_ext_image *own_image(struct own *o)
{
	struct symcache opened;

	assert_ok(symcache_open(&opened, o->cache, o->size, &err));
	return (struct symcache_ext_image *)opened.image;
}

static inline void own_rehash(struct own *o)
{
	const uint64_t hash = XXH3_64bits(o->cache, o->size - 8);

	memcpy((char *)o->cache + o->size - 8, &hash, 8);
}

static inline void own_id(struct own *o, const char *id)
{
	struct symcache_ext_image *image = own_image(o);

	memset(image->build_id, 0, sizeof(image->build_id));
	image->build_id_len = (uint8_t)(strlen(id) / 2);
	for (size_t i = 0; i < image->build_id_len; i++)
		assert_int_equal(sscanf(id + 2 * i, "%2hhx", &image->build_id[i]), 1);
	memcpy(o->entry.build_id, image->build_id, sizeof(image->build_id));
	o->entry.build_id_len = image->build_id_len;
	o->entry.sources = image->sources;
	o->entry.cache_size = o->size;
	own_rehash(o);
}

/* The cache of a program of testdata/programs, with another build ID: `id` in hex digits. */
static inline struct own own_entry(const char *program, const char *id)
{
	struct own o = { .entry = {
		.bad_units = 4, .source_size = 1000, .source_hash = { 0x1234, 0xabcd }, .time = 1700000000,
		.source_path = "/opt/a \"b\"\t\xc3\xa4/libdemo.so", .debug_path = "/usr/lib/debug/libdemo.so.debug",
		.tool_version = "symcache 0.1", .tags = "nightly\nrelease=1", .names = "libdemo.so\nlibdemo.so.1",
		.transforms = "map-path /a=/b\nmap-name x=y",
	} };
	struct symcache_build *build;
	char path[100];

	snprintf(path, sizeof(path), "build/testprogs/%s", program);
	assert_ok(symcache_build_create(path, NULL, &build, &err));
	o.size = symcache_build_size(build);
	o.cache = malloc(o.size);
	symcache_build_write(build, o.cache);
	symcache_build_destroy(build);
	own_id(&o, id);
	return o;
}

/* What it was made from, in the cache, too. */
static inline void own_sources(struct own *o, uint32_t sources)
{
	own_image(o)->sources = o->entry.sources = sources;
	own_rehash(o);
}

static inline struct symstore *own_open(const char *name)
{
	struct symstore *store;

	assert_ok(symstore_open(in_dir(name), SYMSTORE_WRITE, &store, &err));
	return store;
}

static inline void own_put(struct symstore *store, const struct own *list, size_t n)
{
	struct symstore_writer *writer;

	assert_ok(symstore_write_begin(store, &writer, &err));
	for (size_t i = 0; i < n; i++)
		assert_ok(symstore_put(writer, &list[i].entry, NULL, list[i].cache, NULL, &err));
	assert_ok(symstore_commit(writer, &err));
}

static inline struct symstore_reader *own_reader(struct symstore *store)
{
	struct symstore_reader *reader;

	assert_ok(symstore_read_begin(store, &reader, &err));
	return reader;
}

/* A tree in the folder t that has the entry alone. */
static inline void own_tree(const struct own *entry, const char *sign_key)
{
	const struct symbundle_export_options o = { .level = 1, .sign_key = sign_key };
	struct symstore *from = own_open("a.store");
	struct symbundle_exported done;
	struct symstore_reader *reader;

	own_put(from, entry, 1);
	reader = own_reader(from);
	assert_ok(symbundle_export(reader, in_dir("t"), SYMBUNDLE_TREE, &o, &done, &err));
	symstore_read_end(reader);
	symstore_close(from);
}

static inline void same_text(const char *got, const char *want)
{
	assert_string_equal(got ? got : "", want ? want : "");
}

/* Each field of a record, but for what depends on the cache's bytes. */
static inline void same_record(const struct symstore_entry *got, const struct symstore_entry *want)
{
	assert_int_equal(got->build_id_len, want->build_id_len);
	assert_memory_equal(got->build_id, want->build_id, want->build_id_len);
	assert_int_equal(got->build_id_derived, want->build_id_derived);
	assert_int_equal(got->bad_units, want->bad_units);
	assert_int_equal(got->source_size, want->source_size);
	assert_true(got->source_hash.low64 == want->source_hash.low64);
	assert_true(got->source_hash.high64 == want->source_hash.high64);
	assert_true(got->time == want->time);
	same_text(got->source_path, want->source_path);
	same_text(got->debug_path, want->debug_path);
	same_text(got->tool_version, want->tool_version);
	same_text(got->tags, want->tags);
	same_text(got->names, want->names);
	same_text(got->transforms, want->transforms);
}

static inline void save(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

/* "key", "pub": the first example of RFC 8032, 7.1; "other": the public key of the second. */
static inline void own_keys(void)
{
	save(in_dir("key"), "-----BEGIN PRIVATE KEY-----\n"
	     "MC4CAQAwBQYDK2VwBCIEIJ1hsZ3v/VpguoRK9JLsLMREScVpezJpGXA7rAMc\nrn9g\n-----END PRIVATE KEY-----\n");
	save(in_dir("pub"), "-----BEGIN PUBLIC KEY-----\n"
	     "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=\n-----END PUBLIC KEY-----\n");
	save(in_dir("other"), "-----BEGIN PUBLIC KEY-----\n"
	     "MCowBQYDK2VwAyEAPUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=\n-----END PUBLIC KEY-----\n");
}

#endif

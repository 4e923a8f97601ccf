/* testing.h: what tests of caches share: this program, with and without a store that has it. */
#ifndef SC_SYMBOLIZE_TESTING_H
#define SC_SYMBOLIZE_TESTING_H

#include "libsymcache/symbolize/symbolize.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <xxhash.h>

#include "libsymcache/base/build_id.h"

static const char self[] = "/proc/self/exe";
static char dir[] = "/tmp/symcache-caches-XXXXXX";
static char store_file[64], cache_file[64], text_id[SYMCACHE_BUILD_ID_TEXT];
static uint8_t self_id[SYMCACHE_BUILD_ID_MAX];
static size_t self_id_len;
static void *self_cache;
static size_t self_size;
static uint64_t main_vaddr;
static unsigned notices[SYMCACHE_NOTICE_NOT_KEPT + 1]; /* what was noticed */
static char last_file[64], last_message[200];

static inline void notify(void *ctx, const struct symcache_notice *n)
{
	(void)ctx;
	notices[n->kind]++;
	snprintf(last_file, sizeof(last_file), "%s", n->file ? n->file : "");
	snprintf(last_message, sizeof(last_message), "%s", n->message ? n->message : "");
}

static inline struct symcache_caches *open_caches(struct symcache_caches_options options)
{
	memset(notices, 0, sizeof(notices));
	options.notify = notify;
	return symcache_caches_create(&options);
}

static inline int setup(void **state)
{
	struct symcache_build *build;
	struct symcache cache;
	struct sc_error err;
	bool derived;
	FILE *file;

	(void)state;
	if (!mkdtemp(dir) || symcache_build_create(self, NULL, &build, &err) ||
	    symcache_elf_build_id(self, self_id, &self_id_len, &derived, &err))
		return -1;
	symcache_build_id_text(text_id, self_id, self_id_len);
	snprintf(store_file, sizeof(store_file), "%s/test.store", dir);
	snprintf(cache_file, sizeof(cache_file), "%s/test.symc", dir);
	self_size = symcache_build_size(build);
	self_cache = malloc(self_size);
	symcache_build_write(build, self_cache);
	symcache_build_destroy(build);
	if (symcache_open(&cache, self_cache, self_size, &err))
		return -1;
	for (uint32_t i = 0; i < cache.header->num_functions; i++) {
		struct sc_str name = symcache_string(&cache, cache.functions[i].name);
		if (name.len == 4 && !memcmp(name.ptr, "main", 4))
			main_vaddr = symcache_load_base(&cache) + cache.functions[i].entry_pc;
	}
	file = fopen(cache_file, "w");
	return fwrite(self_cache, self_size, 1, file) != 1 || fclose(file) || !main_vaddr;
}

static inline int teardown(void **state)
{
	char command[128];

	(void)state;
	free(self_cache);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	return system(command);
}

static inline uint64_t fill(void *ctx, void *to)
{
	(void)ctx;
	memcpy(to, self_cache, self_size);
	return XXH3_64bits(self_cache, self_size);
}

/* Puts the cache of this program into the store; by another process, as LMDB asks for. */
static inline void store_put(const uint8_t *id, size_t len)
{
	struct symstore_entry entry = { .build_id_len = len, .cache_size = self_size,
					.source_path = self, .tool_version = "test" };
	struct symstore_writer *writer;
	struct symstore *store;
	pid_t pid = fork();
	int status;

	memcpy(entry.build_id, id, len);
	if (!pid)
		_exit(symstore_open(store_file, SYMSTORE_WRITE, &store, NULL) ||
		      symstore_write_begin(store, &writer, NULL) ||
		      symstore_put(writer, &entry, fill, NULL, NULL, NULL) ||
		      symstore_commit(writer, NULL));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Asks for a cache, which must be this program's, and where it is. */
static inline const struct symcache *assert_self(struct symcache_module *m)
{
	const struct symcache *cache;
	struct sc_error err;

	assert_non_null(m);
	assert_int_equal(symcache_module_cache(m, &cache, NULL, &err), 0);
	assert_int_equal(cache->size, self_size);
	assert_memory_equal(cache->data, self_cache, self_size);
	return cache;
}

/* Asks for a cache that cannot be had. */
static inline bool assert_fails(struct symcache_module *m, int code, const char *part)
{
	const struct symcache *cache;
	struct sc_error err;
	bool reported;

	assert_int_equal(symcache_module_cache(m, &cache, &reported, &err), code);
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.msg, part));
	assert_null(cache);
	return reported;
}

/* Changes a byte of each block of the stored cache from `first` on. */
static inline void damage_store_from(size_t first)
{
	FILE *f = fopen(store_file, "r+");
	char *bytes;
	struct stat st;
	const char *at;

	assert_int_equal(fstat(fileno(f), &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(fread(bytes, 1, (size_t)st.st_size, f), st.st_size);
	at = memmem(bytes, (size_t)st.st_size, self_cache, 4096);
	assert_non_null(at);
	for (size_t i = first; i < self_size; i += 4096) {
		fseek(f, (long)(at - bytes) + (long)i, SEEK_SET);
		fputc(at[i] ^ 1, f);
	}
	free(bytes);
	fclose(f);
}

/* The same, but for the first block. */
static inline void damage_store(void)
{
	damage_store_from(4096);
}

#endif

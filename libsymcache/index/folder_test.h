/*
 * A folder that is indexed, and what is said of it: for tests, which include it behind cmocka.h. $F has
 * files to take: a.so and b.so, a.debug and a.stripped of a.so, other.so with a.so's build ID and more
 * code, a.o without one, bare without symbols and bare.debug of it. Debug files are found in ../debug.
 */
#ifndef SYMCACHE_FOLDER_TEST_H
#define SYMCACHE_FOLDER_TEST_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/text.h"
#include "libsymcache/index/index.h"
#include "libsymcache/index/testing_folder.h"

static char top[] = "/tmp/index_folder.XXXXXX";

static const char files[] =
	"mkdir F && cd F && printf 'int f(int x) { return 2 * x; }\n' > a.c && "
	"cc() { gcc -g -O1 -shared -fPIC -nostdlib \"$@\"; } && cc -Wl,--build-id=0xaa -o a.so a.c && "
	"cc -Wl,--build-id=0xbb -o b.so a.c && printf 'int g(void) { return 1; }\n' | cat a.c - > b.c && cc -Wl,--build-id=0xaa -o other.so b.c && "
	"objcopy --only-keep-debug a.so a.debug && objcopy --strip-all a.so a.stripped && "
	"gcc -g -c -o a.o a.c && gcc -c -o bare.o -x assembler /dev/null && "
	"printf '\\177ELF\\2\\1\\1 not one' > broken && printf 'text\n' > text && "
	"cc -Wl,--build-id=0x11 -o z1 b.c && cc -Wl,--build-id=0x22 -o z2 b.c && "
	"(! command -v dwz > /dev/null || dwz -m all.debug z1 z2) && "
	/* Without symbols, until its debug file comes. */
	"gcc -g -O1 -fno-asynchronous-unwind-tables -nostdlib -static -Wl,--build-id=0xabcd -Wl,-e,f -o bare a.c && objcopy --only-keep-debug bare bare.debug && "
	"strip -s bare && rm ?.c";

enum { AGAIN = 1, FOLLOW = 2, PINNED = 4, TIGHT = 8, NO_STORE = 16, TAGGED = 32, MANY = 64, LOCALS = 128, LIBDW = 256, MAPPED = 512 };

struct seen {
	char *text;
	int options;
};

static inline void add(struct seen *s, const char *path, const char *what, const char *reason)
{
	static const char *const short_reasons[] = { "cut off", "runcated", "it takes more" };
	const char *name = !strncmp(path, top, strlen(top)) ? path + strlen(top) + 4 : path;
	char *text;

	for (size_t i = 0; reason && i < 3; i++)
		if (strstr(reason, short_reasons[i])) {
			reason = short_reasons[i];
			break;
		}
	text = sc_text("%s%s%s %s%s%s%s", s->text ? s->text : "", s->text ? ", " : "", name, what,
		       reason ? " (" : "", reason ? reason : "", reason ? ")" : "");
	free(s->text);
	s->text = text;
}

static inline void on_file(void *ctx, const struct symcache_index_file *f)
{
	static const char *const results[] = { "built", "unchanged", "no symbols", "unsupported", "failed" };
	struct seen *s = ctx;

	if (!(s->options & MANY) || f->result == SYMCACHE_INDEX_BUILT)
		add(s, f->path, results[f->result], f->reason);
}

static inline void on_kept(void *ctx, const char *path, const struct symstore_entry *old)
{
	assert_non_null(old->source_path);
	add(ctx, path, "kept", NULL);
}

/* `name`: in the folder of the tests. */
static inline char *index_path(const char *name, int options)
{
	struct symcache_index_options o = { .time = 1700000000, .build.threads = options & MANY ? 4 : 1 };
	struct symcache_index_account a;
	char *path = sc_text("%s/%s", top, name), *store_path = sc_text("%s/store", top), *debug = sc_text("%s/debug", top), *ret;
	struct seen seen = { NULL, options };
	struct symstore *store = NULL;
	struct sc_error err;

	o.events = (struct symcache_index_events){ .file = on_file, .kept = on_kept, .ctx = &seen };
	o.again = options & AGAIN;
	o.follow = options & FOLLOW;
	o.tags = options & TAGGED ? "release=2" : options & PINNED ? "pinned" : NULL;
	o.build.debug_dirs = (const char *const[]){ debug, NULL };
	o.transforms = options & MAPPED ? "map-path /a=/b" : NULL;
	o.memory = options & TIGHT ? 1000 : 0;
	o.build.locals = options & LOCALS;
	o.build.reader = options & LIBDW ? SYMCACHE_READER_LIBDW : SYMCACHE_READER_FAST;
	if (!(options & NO_STORE))
		assert_int_equal(symstore_open(store_path, SYMSTORE_WRITE, &store, &err), 0);
	close(STDIN_FILENO); /* as in a service: files that are opened have descriptor 0 */
	if (symcache_index(store, (const char *const[]){ path }, 1, &o, &a, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(open("/dev/null", O_RDONLY), STDIN_FILENO);
	symstore_close(store);
	const struct { const char *name; uint64_t n; } counts[] = {
		{ "indexed", a.indexed }, { "better", a.better_in_store }, { "others", a.other_in_store },
		{ "unchanged", a.unchanged }, { "without", a.without_symbols },
		{ "unsupported", a.unsupported }, { "failed", a.failed }, { "broken", a.broken },
		{ "archives", a.archives }, { "same", a.archives_unchanged }, { "other", a.other },
		{ "special", a.special }, { "links", a.links }, { "loops", a.loops },
	};
	ret = sc_text("%s:", seen.text ? seen.text : "");
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		char *more = counts[i].n ? sc_text("%s %s %llu", ret, counts[i].name,
						   (unsigned long long)counts[i].n) : NULL;
		if (more) {
			free(ret);
			ret = more;
		}
	}
	free(seen.text);
	free(path);
	free(store_path);
	free(debug);
	return ret;
}

static inline char *index_folder(int options)
{
	return index_path("in", options);
}

static inline void run(const char *command)
{
	char *text = sc_text("cd %s/in && F=../F && %s", top, command);

	assert_int_equal(system(text), 0);
	free(text);
}

static inline int set_up(void **state)
{
	(void)state;
	return make_folder(top, files);
}

static inline int tear_down(void **state)
{
	(void)state;
	return remove_folder(top);
}

#endif

/* What the store has after a folder was indexed: which symbols, and all that is recorded of an entry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/index/content.h"
#include "libsymcache/index/folder_test.h"

static bool add_entry(void *ctx, const struct symstore_entry *e)
{
	static const struct { unsigned bit; const char *what; } sources[] = {
		{ SYMCACHE_FROM_DWARF, "dwarf" }, { SYMCACHE_FROM_SYMTAB, "symtab" }, { SYMCACHE_FROM_DYNSYM, "dynsym" },
		{ SYMCACHE_FROM_CFI, "cfi" }, { SYMCACHE_FROM_LOCALS, "locals" },
	};
	char **text = ctx, id[SYMCACHE_BUILD_ID_TEXT], *more;

	symcache_build_id_text(id, e->build_id, e->build_id_len);
	more = sc_text("%s%s", *text, id);
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (e->sources & sources[i].bit) {
			char *longer = sc_text("%s %s", more, sources[i].what);

			free(more);
			more = longer;
		}
	free(*text);
	*text = sc_text("%s; ", more);
	free(more);
	return true;
}

/* What a store has after a folder was indexed, changed, and indexed again with `options`. */
struct one_store {
	const char *before, *then;
	int options;
	const char *has;
};

static void expect_store(const struct one_store *of, int first_options, symstore_each_fn *fn)
{
	char *path = sc_text("%s/store", top), *has = strdup("");
	struct symstore_reader *reader;
	struct symstore *store;
	struct sc_error err;

	run("cd .. && rm -rf in store* debug && mkdir in");
	run(of->before);
	free(index_folder(first_options));
	run(of->then);
	free(index_folder(of->options));
	assert_int_equal(symstore_open(path, SYMSTORE_READ, &store, &err), 0);
	assert_int_equal(symstore_read_begin(store, &reader, &err), 0);
	assert_int_equal(symstore_each(reader, NULL, 0, fn, &has, &err), 0);
	symstore_read_end(reader);
	symstore_close(store);
	if (strcmp(has, of->has))
		fail_msg("%s; %s:\n  %s\nwanted\n  %s", of->before, of->then, has, of->has);
	free(has);
	free(path);
}

/* A stripped file has its unwind rows, its debug file what it is called: where both are known, the entry
 * has all, whichever comes first, also out of one archive. */
static void test_symbols(void **state)
{
	static const struct one_store stores[] = {
		{ "true", "cp $F/a.so .", 0, "aa dwarf symtab cfi; " },
		{ "true", "cp $F/a.so .", LOCALS, "aa dwarf symtab cfi locals; " },
		{ "true", "cp $F/a.debug .", 0, "aa dwarf symtab; " },
		{ "true", "cp $F/a.stripped .", 0, "aa dynsym cfi; " },
		{ "true", "cp $F/a.stripped $F/a.debug .", 0, "aa dwarf symtab cfi; " },
		{ "cp $F/a.stripped .", "rm *; cp $F/a.debug .", 0, "aa dwarf symtab cfi; " },
		{ "cp $F/a.debug .", "rm *; cp $F/a.stripped .", 0, "aa dwarf symtab cfi; " },
		{ "true", "tar czf a.tgz -C $F a.stripped a.debug", 0, "aa dwarf symtab cfi; " },
		{ "true", "tar czf a.tgz -C $F a.debug a.stripped", 0, "aa dwarf symtab cfi; " },
		{ "tar cf a.tar -C $F a.debug", "tar cf b.tar -C $F a.stripped", 0, "aa dwarf symtab cfi; " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
		expect_store(&stores[i], stores[i].options, add_entry);
}

/* The file of $F that has this size. */
static const char *of_size(uint64_t size)
{
	static const char *const names[] = { "a.so", "a.debug", "a.stripped" };
	struct stat st;

	for (size_t i = 0; i < 3; i++) {
		char *path = sc_text("%s/F/%s", top, names[i]);
		const bool same = !stat(path, &st) && (uint64_t)st.st_size == size;

		free(path);
		if (same)
			return names[i];
	}
	return "another file";
}

/* All that is recorded of an entry, but for what its cache is; $T is the folder of the tests. */
static bool add_record(void *ctx, const struct symstore_entry *e)
{
	const char *id = e->build_id_derived ? "derived" : e->build_id[0] == 0xaa ? "aa" : e->build_id[0] == 0xbb ? "bb" : "dd";
	char **text = ctx, *at, *more = sc_text("%s%s %s, debug %s, names %s, tags %s%s%s, of %llu, as large as %s%s; ", *text,
		id, e->source_path, e->debug_path, e->names, e->tags, *e->transforms ? ", " : "", e->transforms,
		(unsigned long long)e->time, of_size(e->source_size), e->bad_units == 1 ? ", a unit is broken" : "");
	struct sc_hash content;
	uint64_t size;

	sc_content_hash_file(e->source_path, &content, &size);
	assert_true(!size || (size == e->source_size && sc_hash_same(content, e->source_hash)));
	assert_string_equal(e->tool_version, symcache_version);
	assert_int_equal(e->build_id_len, e->build_id_derived ? 16 : 1);
	while ((at = strstr(more, top))) {
		memcpy(at, "$T", 2);
		memmove(at + 2, at + strlen(top), strlen(at + strlen(top)) + 1);
	}
	for (at = more; (at = strchr(at, '\n'));)
		*at = '+';
	free(*text);
	*text = more;
	return true;
}

/* What is recorded: paths without links and out of archives, names of each file that was seen. Of
 * several files with one build ID the best is the source. */
static void test_records(void **state)
{
	static const struct one_store stores[] = {
		{ "true", "cp $F/a.so .; ln -s a.so b; ln -s . c", 0, "aa $T/in/a.so, debug , names a.so, tags , of 1700000000, as large as a.so; " },
		{ "true", "mkdir d; cp $F/a.so d/x; ln -s d/x b", TAGGED,
		  "aa $T/in/d/x, debug , names x, tags release=2, of 1700000000, as large as a.so; " },
		{ "true", "cp $F/a.so .", MAPPED,
		  "aa $T/in/a.so, debug , names a.so, tags , map-path /a=/b, of 1700000000, as large as a.so; " },
		{ "cp $F/a.so .", "true", MAPPED,
		  "aa $T/in/a.so, debug , names a.so, tags , map-path /a=/b, of 1700000000, as large as a.so; " },
		{ "true", "gcc -g -gsplit-dwarf -shared -fPIC -nostdlib -Wl,--build-id=0xdd -x c -o x - << X\nint f(int x) { return x; }\nX\nrm *.dwo", 0,
		  "dd $T/in/x, debug , names x, tags , of 1700000000, as large as another file, a unit is broken; " },
		{ "true", "gcc -g -shared -fPIC -nostdlib -Wl,--build-id=none -x c -o x - << X\nint f(int x) { return x; }\nX", 0,
		  "derived $T/in/x, debug , names x, tags , of 1700000000, as large as another file; " },
		{ "cp $F/a.so .", "mv a.so b.so", TAGGED,
		  "aa $T/in/a.so, debug , names a.so+b.so, tags release=2, of 1700000000, as large as a.so; " },
		{ "true", "cp $F/a.debug $F/a.stripped .", 0,
		  "aa $T/in/a.debug, debug , names a+a.stripped, tags , of 1700000000, as large as a.debug; " },
		{ "true", "tar cf a.tar -C $F a.so b.so", 0,
		  "aa $T/in/a.tar!a.so, debug , names a.so, tags , of 1700000000, as large as a.so; "
		  "bb $T/in/a.tar!b.so, debug , names b.so, tags , of 1700000000, as large as a.so; " },
		{ "tar cf a.tar -C $F a.so", "true", TAGGED,
		  "aa $T/in/a.tar!a.so, debug , names a.so, tags release=2, of 1700000000, as large as a.so; " },
		{ "true", "mkdir d; tar cf d/a.tar -C $F a.stripped a.debug; ln -s d/a.tar .", 0,
		  "aa $T/in/d/a.tar!a.stripped, debug $T/in/d/a.tar!a.debug, names a+a.stripped, tags , of 1700000000, "
		  "as large as a.stripped; " },
		{ "true", "head -c 9M /dev/zero > pad && objcopy --add-section pad=pad $F/a.so x && rm pad", MANY,
		  "aa $T/in/x, debug , names x, tags , of 1700000000, as large as another file; " },
		{ "true", "gcc -shared -fPIC -nostdlib -Wl,-soname,libx.so.1 -Wl,--build-id=0xdd -x c -o x /dev/null", 0,
		  "dd $T/in/x, debug , names libx.so.1+x, tags , of 1700000000, as large as another file; " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(stores) / sizeof(*stores); i++)
		expect_store(&stores[i], 0, add_record);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols), cmocka_unit_test(test_records),
	};

	return cmocka_run_group_tests_name("index records", tests, set_up, tear_down);
}

/* Which modules logs name, as `export --for-log` takes them: one that is overlooked is missing in the
 * bundle that is taken to the machine without a store. */
#include "libsymcache/logs/logs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/testing.h"
#include "libsymcache/core/testing.h"
#include "libsymcache/symbolize/symbolize.h"

#define ID "3b43fad5c0c38faed8b0a5d27d6bcb9e33b5ffab"
#define ID_16 "00112233445566778899aabbccddeeff"
#define ID_64 ID_16 ID_16 ID_16 ID_16 /* the longest */

static char found[1000];

static const struct {
	const char *log, *found; /* "NAME BUILD-ID" of each; "?NAME": it is not known; "!": a fault */
} cases[] = {
	{ "", "" },
	{ "some text\n", "" },
	{ "{{{module:0:a.so:elf:aabb}}}\n", "a.so aabb, " },
	{ "{{{module:0:a.so:elf:" ID_64 "}}}\n", "a.so " ID_64 ", " },
	{ "{{{module:0:a.so:elf:" ID_64 "aa}}}\n", "" },
	{ "{{{module:0:a.so:elf:aabb}}}\n{{{reset}}}\n{{{module:0:b.so:elf:ccdd}}}\n", "a.so aabb, b.so ccdd, " },
	{ "{{{module:0:a.so:elf:aabb}}}\n{{{reset}}}\n{{{module:3:a.so:elf:aabb}}}\n", "a.so aabb, " },
	{ "{{{module:0:[vdso]:elf:aabb}}}\n{{{module:1:linux-vdso.so.1:elf:cc}}}\n", "" },
	{ "    #0 0x1234 in f (/lib/x.so+0x1234) (BuildId: " ID ")\n", "/lib/x.so " ID ", " },
	{ "    #0 0x1234 in f (/lib/x.so+0x1234)\n", "?x.so, " },
	{ "/lib/x.so(+0x1234) [0x55001234]\n/lib/x.so(+0x1238) [0x55001238]\n", "?x.so, " },
	{ "CPU: 1 PID: 42 Comm: d Not tainted 6.1.0 #1 " ID "\n f+0x1/0x20\n", "6.1.0 " ID ", " },
	{ " f+0x1/0x20 [ext4 " ID "]\n", "ext4 " ID ", " },
	{ "\x1f\x8b\x08 not gzip\n", "!" },
};

static void add(const char *what, const char *name)
{
	snprintf(found + strlen(found), sizeof(found) - strlen(found), "%s%s", what, name);
}

static void unknown(void *ctx, const char *name, const struct sc_error *why)
{
	(void)ctx;
	assert_true(*why->msg);
	add("?", name);
	add("", ", ");
}

static void fault(void *ctx, const char *message)
{
	(void)ctx, (void)message;
	add("!", "");
}

static void test_logs(void **state)
{
	const struct symcache_caches_options none = { .store_optional = true };
	struct symlog_modules_options options = { .unknown = unknown, .fault = fault };

	(void)state;
	options.caches = symcache_caches_create(&none);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char path[32], id[SYMCACHE_BUILD_ID_TEXT];
		const int fd = testing_memfd(cases[i].log, strlen(cases[i].log), path);
		struct symcache_process *list = symcache_process_create(NULL);
		const struct symcache_image *image;
		struct sc_error err;

		*found = 0;
		if (symlog_modules_of_logs((const char *const[]){ path }, 1, &options, list, &err))
			add("!", "");
		for (size_t k = 0; (image = symcache_process_image_at(list, k)); k++) {
			symcache_build_id_text(id, image->build_id, image->build_id_len);
			add(image->path, " ");
			add(id, ", ");
		}
		if (strcmp(found, cases[i].found))
			fail_msg("%s  gives %s\n  not %s\n", cases[i].log, found, cases[i].found);
		symcache_process_destroy(list);
		close(fd);
	}
	symcache_caches_destroy(options.caches);
}

/* What is wrong with a log that can be read all the same is said. */
static void test_faults(void **state)
{
	const struct symcache_caches_options none = { .store_optional = true };
	struct symlog_modules_options options = { .unknown = unknown, .fault = fault };
	struct symcache_process *list = symcache_process_create(NULL);
	char path[] = "/tmp/modules_XXXXXX.gz";
	const int fd = mkstemps(path, 3);
	struct sc_error err;

	(void)state;
	assert_true(dprintf(fd, "{{{module:0:a.so:elf:aabb}}}\n") > 0);
	close(fd);
	options.caches = symcache_caches_create(&none);
	*found = 0;
	assert_int_equal(symlog_modules_of_logs((const char *const[]){ path }, 1, &options, list, &err), 0);
	assert_string_equal(found, "!"); /* it is not compressed, in spite of its name */
	assert_non_null(symcache_process_image_at(list, 0));
	assert_null(symcache_process_image_at(list, 1));
	symcache_process_destroy(list);
	symcache_caches_destroy(options.caches);
	unlink(path);
}

static void test_missing(void **state)
{
	const struct symcache_caches_options none = { .store_optional = true };
	struct symlog_modules_options options = { .unknown = unknown, .fault = fault };
	struct symcache_process *list = symcache_process_create(NULL);
	struct sc_error err;

	(void)state;
	options.caches = symcache_caches_create(&none);
	assert_int_equal(symlog_modules_of_logs((const char *const[]){ "/nonexistent/log" }, 1, &options,
						list, &err), SC_ESYS);
	assert_string_equal(err.msg, "/nonexistent/log: No such file or directory");
	assert_int_equal(symlog_modules_of_logs((const char *const[]){ "/" }, 1, &options, list, &err),
			 SC_EINVAL);
	symcache_process_destroy(list);
	symcache_caches_destroy(options.caches);
}

/* A page of a file: its ELF header, and a build ID. */
static void put_page(struct bytes *o, uint8_t id)
{
	const uint8_t note[] = {
		4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, id, id, 0, 0
	};

	put_elf_header(o, ET_DYN, 0, 2);
	put_block(o, &(Elf64_Phdr){ .p_type = PT_LOAD, .p_filesz = 0x1000, .p_memsz = 0x1000 }, 56);
	put_block(o,
		  &(Elf64_Phdr){ .p_type = PT_NOTE,
				 .p_offset = 200,
				 .p_vaddr = 200,
				 .p_filesz = sizeof(note),
				 .p_memsz = sizeof(note),
				 .p_align = 4 },
		  56);
	while (o->b.len < 200)
		put(o, 1, 0);
	put_block(o, note, sizeof(note));
	while (o->b.len < 0x1000)
		put(o, 1, 0);
}

/* The modules of a core file that have a build ID, but for the vDSO. */
static void test_core(void **state)
{
	static const char names[] = "/bin/a\0/lib/b.so\0/lib/none.so";
	const uint64_t files[] = { 3,	    4096, 0x10000, 0x11000, 0, 0x20000,
				   0x21000, 0,	  0x30000, 0x31000, 0 },
		       auxv[] = { AT_SYSINFO_EHDR, 0x40000, AT_NULL, 0 };
	struct symcache_process *list = symcache_process_create(NULL);
	const struct symcache_image *image;
	struct bytes pages[4] = { 0 }, note = { 0 }, core = { 0 };
	struct made_core made = { 0 };
	struct sc_error err;
	char path[32], id[SYMCACHE_BUILD_ID_TEXT];
	int fd;

	(void)state;
	put_thread(&made, 1, 11, 0x10010, 0);
	put_block(&note, files, sizeof(files));
	put_block(&note, names, sizeof(names));
	put_note(&made, NT_FILE, note.b.data, note.b.len);
	put_words(&made, NT_AUXV, auxv, 4);
	for (unsigned i = 0; i < 4; i++) {
		put_page(&pages[i], (uint8_t)(0xa0 + i));
		if (i == 2)
			memset(pages[i].b.data + 200, 0, 20);
		add_segment_bytes(&made, 0x10000 * (i + 1), PF_R | PF_X, pages[i].b.data,
				  pages[i].b.len);
	}
	put_core(&core, &made);
	fd = testing_memfd(core.b.data, core.b.len, path);
	assert_int_equal(symlog_modules_of_core(path, list, &err), 0);
	*found = 0;
	for (size_t i = 0; (image = symcache_process_image_at(list, i)); i++) {
		symcache_build_id_text(id, image->build_id, image->build_id_len);
		add(image->path, " ");
		add(id, ", ");
	}
	assert_string_equal(found, "/bin/a a0a0, /lib/b.so a1a1, ");
	close(fd);
	for (unsigned i = 0; i < 4; i++)
		bytes_deinit(&pages[i]);
	bytes_deinit(&note);
	bytes_deinit(&core);
	bytes_deinit(&made.notes);
	assert_int_equal(symlog_modules_of_core("/nonexistent", list, &err), SC_ESYS);
	symcache_process_destroy(list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_faults),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_core),
	};

	return cmocka_run_group_tests_name("modules of logs", tests, NULL, NULL);
}

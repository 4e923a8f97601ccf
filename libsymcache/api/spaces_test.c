/*
 * What address spaces say of a small cache: by what its file is known, what offsets count from, which kernel
 * runs; each answer with all that is in it. And that they give back what they had open.
 */
#include <dirent.h>
#include <symcache-process.h>
#include <sys/stat.h>

#include "libsymcache/read/tiny_names_test.h"

#include "libsymcache/base/seeds_test.h"

static char folder[] = "/tmp/symcache-spaces-XXXXXX";
static struct symcache_store *stores[2]; /* the first has another build of one file */

static const uint8_t id[20] = "01234567890123456781"; /* of liby.so in the first */

static struct symcache_store *make_store(const char *name, struct symcache_cache *c, const char *const paths[])
{
	char path[64];
	struct symcache_store *s;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	assert_int_equal(symcache_store_open(path, SYMCACHE_STORE_WRITE, &s, NULL), 0);
	for (size_t i = 0; paths[i]; i++) {
		uint8_t of[20];
		const struct symcache_put_options put = { sizeof(put), of, sizeof(of), paths[i], NULL, 1 };

		memcpy(of, id, sizeof(of));
		of[0] = (uint8_t)(of[0] + i);
		of[19] = (uint8_t)name[0];
		assert_int_equal(symcache_store_put(s, c, &put, NULL), 0);
	}
	return s;
}

static int set_up(void **state)
{
	static const char *const first[] = { "/lib/liby.so", NULL },
		*const second[] = { "/lib/libx.so", "/boot/vmlinux-6.1", "/boot/vmlinux-6.2",
				    "/lib/modules/6.1/kernel/kvm-intel.ko.xz", "/usr/bin/vmlinux-tool", NULL };
	struct tiny t = tiny_example_names(9);
	struct symcache_cache *c;
	uint8_t *bytes;

	(void)state;
	t.decls[7].file_idx = 0;
	t.num_segments = 1;
	t.segments[0] = (struct symcache_ext_segment){ 0, 0x400000, 0x3000, 0, 0 };
	bytes = tiny_bytes(&t);
	assert_non_null(mkdtemp(folder));
	assert_int_equal(symcache_cache_open_memory(bytes, t.size, free, bytes, &c, NULL), 0);
	stores[0] = make_store("1", c, first);
	stores[1] = make_store("2", c, second);
	symcache_cache_unref(c);
	return 0;
}

static int tear_down(void **state)
{
	char command[64];

	(void)state;
	symcache_store_close(stores[0]);
	symcache_store_close(stores[1]);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

static struct symcache_space *make_space(uint32_t flags)
{
	const struct symcache_space_options options = { sizeof(options), stores, 2, flags };
	struct symcache_space *s;

	assert_int_equal(symcache_space_create(&options, &s, NULL), 0);
	return s;
}

/* ---- answers -------------------------------------------------------------------------------- */

struct answers {
	char *text[16]; /* they come in an order of their own */
};

static int keep_answer(void *ctx, size_t i, const struct symcache_located *l)
{
	struct answers *answers = ctx;
	size_t len;
	FILE *to = open_memstream(&answers->text[i], &len);

	fprintf(to, "%#" PRIx64 " is %#" PRIx64 " in [%s] ", l->address, l->vaddr, l->path);
	for (size_t k = 0; k < l->build_id_len; k++)
		fprintf(to, "%02x", l->build_id[k]);
	fprintf(to, "%s reason %d %s", l->cache ? " of a store" : "", l->reason, l->why);
	for (size_t k = 0; k < l->num_frames; k++) {
		const struct symcache_frame *f = &l->frames[k];

		fprintf(to, " %s %s:%u:%u id %d flags %u;", f->function, f->file, f->line, f->column,
			(int)f->function_id, f->flags);
	}
	assert_null(l->frames[l->num_frames].function);
	fclose(to);
	return 0;
}

static void ask(FILE *to, struct symcache_space *s, const uint64_t list[], size_t n, uint32_t flags)
{
	const struct symcache_addresses at = { sizeof(at), list, n, flags };
	struct answers answers = { { NULL } };

	assert_int_equal(symcache_space_symbolize(s, &at, keep_answer, &answers, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		fprintf(to, "%s\n", answers.text[i]);
		free(answers.text[i]);
	}
}

static void put_mapped(FILE *to)
{
	static const struct { const char *path; size_t id_len; uint64_t offset; uint32_t from, flags; } cases[] = {
		{ NULL, 20, 0x400000, SYMCACHE_OFFSET_VADDR, 0 }, { "/x/liby.so", 20, 0, SYMCACHE_OFFSET_IN_IMAGE, 0 },
		{ "/x/libx.so", 0, 0, SYMCACHE_OFFSET_IN_FILE, SYMCACHE_MANGLED },
		{ "libx.so.debug", 0, 0, SYMCACHE_OFFSET_IN_FILE, SYMCACHE_SYMBOL_NAMES | SYMCACHE_RAW_PATHS },
		{ "/other/liby.so", 0, 0x10, SYMCACHE_OFFSET_IN_IMAGE, SYMCACHE_SHORT_NAMES },
		{ NULL, 16, 0x400000, SYMCACHE_OFFSET_VADDR, 0 }, { "/x/libx.so", 15, 0x400000, SYMCACHE_OFFSET_VADDR, 0 },
		{ "/x/libz.so", 0, 0, SYMCACHE_OFFSET_IN_FILE, 0 }, { "", 0, 0, SYMCACHE_OFFSET_IN_FILE, 0 },
		{ "/x/", 0, 0, SYMCACHE_OFFSET_IN_FILE, 0 }, { "vmlinux", 0, 0, SYMCACHE_OFFSET_IN_FILE, 0 },
	};
	static const uint64_t list[] = { 0x10010, 0x10028, 0x10055, 0x10030, 0x11000, 0xffff, 0x13fff, 0x14000 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_space *s = make_space(cases[i].flags);
		const struct symcache_mapped m = { sizeof(m), 0x10000, 0x14000, cases[i].offset, cases[i].path,
			cases[i].id_len ? id : NULL, cases[i].id_len, cases[i].from, 0 };

		fprintf(to, "== mapped %zu\n", i);
		assert_int_equal(symcache_space_add(s, &m, NULL), 0);
		ask(to, s, list, 8, 0);
		ask(to, s, list, 3, SYMCACHE_RETURN_ADDRESSES);
		symcache_space_destroy(s);
	}
}

static void put_maps(FILE *to)
{
	static const char *const texts[] = {
		"10000-14000 r-xp 00000000 08:02 1 /lib/libx.so\n20000-24000 r--p 00000000 08:02 1 /lib/liby.so\n"
		"30000-34000 r--p 00001000 08:02 1 /lib/liby.so\n40000-44000 rwxp 00000000 00:00 0 [heap]\n\n"
		"50000-54000 r-xp 00000000 08:02 1 /lib/libx.so (deleted)\n60000-64000 r-xp 00000000 00:00 0",
		"", "\n", "no row", "10000-14000 r-xp 00000000 08:02 1 /lib/libx.so\nno row\n10000-12000 r-xp 00000000 08:02 1 /lib/libz.so",
	};
	static const uint64_t list[] = { 0x10024, 0x12000, 0x20024, 0x30024, 0x40024, 0x50024, 0x60024 };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct symcache_space *s = make_space(0);

		fprintf(to, "== maps %zu: %d rows\n", i, symcache_space_add_maps(s, texts[i], strlen(texts[i]), NULL));
		ask(to, s, list, 7, 0);
		symcache_space_destroy(s);
	}
}

static void put_kernels(FILE *to)
{
	static const char usual[] = "ffffffff80000000 A _text_not\nffffffff81000000 T _text\nffffffff81000000 T _stext\n"
		"ffffffff81004000 T _etext\n", kvm[] = "kvm_intel 16384 0 - Live 0xffffffffc0400000\nother 4096 1 - Live 0xffffffffc0500000\n";
	static const struct { const char *kallsyms, *modules, *release; } cases[] = {
		{ usual, kvm, "6.1" }, { usual, kvm, "6.3" }, { usual, kvm, NULL }, { usual, NULL, "6.2" }, { usual, "", "" },
		{ "ffffffff81000000 T _stext\nffffffff81004000 T _etext\n", NULL, "6.1" }, { "ffffffff81000000 T _text\n", NULL, "6.1" },
		{ "81000000 T _text\nffffffff81004000 T _etext\n", NULL, "6.1" }, { "", NULL, "6.1" },
		{ "ffffffff81000000 T _text\nffffffff81000000 T _etext\n", NULL, "6.1" }, { NULL, NULL, NULL },
		{ "0000000000000000 T _text\n0000000000000000 T _etext\n", NULL, "6.1" },
		{ usual, "no row\n\nkvm_intel 16384 0 - Live 0x0000000000000000\nbig 18446744073709551615 0 - Live 0xffffffffc0400000\n"
			"kvm-intel 16384 0 - Live 0xffffffffc0400000", "6.1" },
	};
	static const uint64_t list[] = { 0xffffffff81000024, 0xffffffff81003fff, 0xffffffff81004000, 0xffffffffc0400024,
					 0xffffffffc0500010, 0xffffffffc0404000 };
	struct symcache_error err;

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct symcache_space *s = make_space(0);
		const int rc = symcache_space_add_kernel(s, cases[i].kallsyms, cases[i].modules, cases[i].release, &err);

		fprintf(to, "== kernel %zu: %d %s\n", i, rc, rc ? err.msg : "");
		ask(to, s, list, rc ? 1 : 6, 0);
		symcache_space_destroy(s);
	}
}

/* Code that the JIT of this process made: addresses that this process never has. */
static void put_jitted(FILE *to)
{
	static const uint64_t list[] = { 0x1000, 0x100f, 0x1010, 0x1020 };
	struct symcache_space *s = make_space(0);
	char path[40];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	assert_true(map && fputs("1000 10 py::one\n1010 10 py::two\n", map) > 0 && !fclose(map) && !chmod(path, 0600));
	fprintf(to, "== jitted\n");
	ask(to, s, list, 4, 0); /* of no process yet */
	assert_int_equal(symcache_space_add_process(s, 0, NULL), 0);
	ask(to, s, list, 4, 0);
	unlink(path);
	ask(to, s, list, 4, SYMCACHE_RETURN_ADDRESSES); /* it was read */
	symcache_space_destroy(s);
}

static void test_answers(void **state)
{
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	put_mapped(to);
	put_maps(to);
	put_kernels(to);
	put_jitted(to);
	fclose(to);
	for (char *at; (at = strstr(got, folder));) /* of this run alone */
		memmove(at, at + strlen(folder), strlen(at + strlen(folder)) + 1);
	expect_recorded("spaces", got, strlen(got));
}

/* ---- what is open --------------------------------------------------------------------------- */

static size_t num_open(void)
{
	DIR *d = opendir("/proc/self/fd");
	size_t n = 0;

	for (; readdir(d); n++)
		;
	closedir(d);
	return n;
}

/* A program that makes a space for each question runs for months. */
static void test_gives_back(void **state)
{
	const uint64_t here = (uintptr_t)num_open;
	struct symcache_space_options options = { .size = sizeof(options), .num_stores = 2 };
	struct symcache_store *own[2];
	FILE *to = fopen("/dev/null", "w");
	size_t before;
	char path[64];

	(void)state;
	for (int round = 0; round < 3; round++) {
		struct symcache_space *s;

		for (int i = 0; i < 2; i++) {
			snprintf(path, sizeof(path), "%s/own%d", folder, i);
			assert_int_equal(symcache_store_open(path, SYMCACHE_STORE_WRITE, &own[i], NULL), 0);
		}
		options.stores = own;
		assert_int_equal(symcache_space_create(&options, &s, NULL), 0);
		symcache_store_close(own[0]);
		symcache_store_close(own[1]);
		assert_int_equal(symcache_space_add_process(s, 0, NULL), 0);
		ask(to, s, &here, 1, 0);
		symcache_space_destroy(s);
		if (round)
			assert_int_equal(num_open(), before);
		before = num_open();
	}
	fclose(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers), cmocka_unit_test(test_gives_back) };

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

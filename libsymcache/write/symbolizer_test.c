/* Unit tests of the whole indexer: compiled programs and installed ones, address by
 * address against llvm-symbolizer. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/write/indexed_test.h"

#define SYMBOLIZER "llvm-symbolizer-19"

/* Where the code of .text is: from readelf. */
static void text_of(const char *path, uint64_t *start, uint64_t *size)
{
	char command[512], line[256];
	FILE *in;

	*start = *size = 0;
	snprintf(command, sizeof(command), "readelf -SW %s 2> /dev/null", path);
	in = popen(command, "r");
	while (in && fgets(line, sizeof(line), in)) {
		char *at = strstr(line, "] .text ");
		if (at && sscanf(at, "] .text %*s %" SCNx64 " %*x %" SCNx64, start, size) != 2)
			*start = *size = 0;
	}
	pclose(in);
	assert_true(*size > 0);
}

static void put_part(FILE *out, const struct plain_string *s, bool *any)
{
	if (!s->len)
		return;
	fprintf(out, "%s%.*s", *any && s->ptr[0] != '/' ? "/" : "", (int)s->len, s->ptr);
	*any = true;
}

/* The path as LLVM joins it: what is absolute replaces what is before it. */
static void put_path(FILE *out, const struct plain_frame *f)
{
	const struct plain_string *parts[] = { &f->comp_dir, &f->dir, &f->name };
	size_t first = 0;
	bool any = false;

	if (!f->name.len) {
		fprintf(out, "??");
		return;
	}
	for (size_t i = 0; i < 3; i++)
		if (parts[i]->len && parts[i]->ptr[0] == '/')
			first = i;
	for (size_t i = first; i < 3; i++)
		put_part(out, parts[i], &any);
}

/* One answer in llvm-symbolizer's style. */
static char *answer(const struct plain_cache *c, uint64_t rel_pc)
{
	char *text;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	uint32_t l = plain_lookup(c, rel_pc);

	if (l == PLAIN_NONE)
		fprintf(out, "??\n??:0:0\n");
	while (l != PLAIN_NONE) {
		struct plain_frame f = plain_frame(c, l);

		fprintf(out, "%.*s\n", f.function.ptr ? (int)f.function.len : 2,
			f.function.ptr ? f.function.ptr : "??");
		if (f.line || f.column)
			put_path(out, &f);
		else
			fprintf(out, "??");
		fprintf(out, ":%" PRIu32 ":%" PRIu32 "\n", f.line, f.column);
		l = f.inlined_into;
	}
	fclose(out);
	return text;
}

/* Equal but for names: LLVM names the outermost function by its symbol, which
 * may be a clone of what the DWARF names (f.isra.0), or an alias (f_alias). */
static bool same(const char *ours, const char *theirs, bool names)
{
	for (bool name = true;; name = !name) {
		size_t n = strcspn(ours, "\n"), m = strcspn(theirs, "\n");

		if ((names || !name) && (n > m || strncmp(ours, theirs, n) ||
					 (n < m && (!name || !strchr("._", theirs[n])))))
			return false;
		ours += n;
		theirs += m;
		if (!*ours || !*theirs)
			return !*ours && !*theirs;
		ours++;
		theirs++;
	}
}

/* Compares the answers for each step-th address of .text (0: some 5000 of them), with
 * or without the names; the share that differs. */
static double differing(const char *path, uint64_t step, bool names, const struct indexed *r)
{
	char name[64], command[512], *line = NULL, *want, *got;
	size_t cap = 0, len, differs = 0, n = 0;
	ssize_t len_line;
	uint64_t vaddr, start, size;
	FILE *file, *in;

	text_of(path, &start, &size);
	if (!step)
		step = size / 5000;
	snprintf(name, sizeof(name), "%s/addresses", testing_dir);
	file = fopen(name, "w");
	for (vaddr = start; vaddr < start + size; vaddr += step)
		fprintf(file, "0x%" PRIx64 "\n", vaddr);
	fclose(file);
	snprintf(command, sizeof(command), SYMBOLIZER
		 " --no-demangle --output-style=LLVM --obj=%s < %s", path, name);
	in = popen(command, "r");
	for (vaddr = start; vaddr < start + size; vaddr += step, n++) {
		FILE *one = open_memstream(&want, &len);

		while ((len_line = getline(&line, &cap, in)) > 1)
			/* Without a line there is but the file that a symbol
			 * of type FILE names: it is not ours to guess. */
			fputs(len_line > 5 && !strcmp(line + len_line - 5, ":0:0\n") ?
			      "??:0:0\n" : line, one);
		fclose(one);
		got = answer(&r->cache, vaddr - r->info.load_base);
		if (!same(got, want, names) && ++differs <= 3)
			printf("%s 0x%" PRIx64 ":\n%sinstead of\n%s\n", path, vaddr, got, want);
		free(got);
		free(want);
	}
	pclose(in);
	free(line);
	printf("%s: %zu of %zu addresses differ\n", path, differs, n);
	return (double)differs / (double)n;
}

static void compare(const char *path)
{
	struct indexed r;

	must_index(path, &r);
	assert_true(differing(path, 1, true, &r) == 0);
	indexed_deinit(&r);
}

static void test_compilers(void **state)
{
	static const char *const names[] = {
		"inlines",	   "units",	     "layouts",	       "layouts.gcc2",
		"layouts.gcc3",	   "layouts.gcc4",   "layouts.gcc5",   "layouts.gcc4-64",
		"layouts.gcc5-64", "layouts.clang2", "layouts.clang3", "layouts.clang4",
		"layouts.clang5",
	};

	(void)state;
	if (testing_run("command -v " SYMBOLIZER " > /dev/null")) {
		printf("skipped: no " SYMBOLIZER "\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[64];

		snprintf(path, sizeof(path), PROGRAMS "%s", names[i]);
		if (!access(path, R_OK))
			compare(path);
		else
			printf("skipped: no %s\n", path);
	}
}

/* A sample of an installed debug file, which llvm-symbolizer reads as we do. */
static void compare_sample(const char *program)
{
	char path[256];
	struct indexed r;

	debug_file_of(program, path);
	if (access(path, R_OK) || testing_run("command -v " SYMBOLIZER " > /dev/null")) {
		printf("skipped: no " SYMBOLIZER " or no %s\n", path);
		skip();
	}
	must_index(path, &r);
	assert_int_equal(r.info.bad_units, 0);
	assert_true(differing(path, 0, false, &r) < 0.01);
	indexed_deinit(&r);
}

static void test_libc(void **state)
{
	(void)state;
	compare_sample("/lib/x86_64-linux-gnu/libc.so.6");
}

static void test_python(void **state)
{
	(void)state;
	compare_sample("/usr/bin/python3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compilers),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_python),
	};

	return cmocka_run_group_tests(tests, testing_set_up, testing_tear_down);
}

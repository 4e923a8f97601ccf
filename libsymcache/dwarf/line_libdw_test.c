/* The line programs of real files, and of a program compiled in each version of DWARF,
 * against the rows that libdw makes of them. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "libsymcache/dwarf/line.h"
#include "libsymcache/dwarf/line_check.h"

/* A row of either side, without those that the next row at its address replaces. */
struct plain_row {
	uint64_t vaddr;
	const char *file; /* NULL: end of the sequence */
	uint32_t line, column;
};

struct plain_rows {
	VEC(struct plain_row) list;
};

static void add_row(struct plain_rows *rows, uint64_t vaddr, const char *file, uint32_t line,
		    uint32_t column)
{
	*vec_push(&rows->list) = (struct plain_row){ vaddr, file, line, column };
}

static int by_vaddr(const void *a, const void *b)
{
	const struct plain_row *const *x = a, *const *y = b;

	if ((*x)->vaddr != (*y)->vaddr)
		return (*x)->vaddr < (*y)->vaddr ? -1 : 1;
	if (!(*x)->file != !(*y)->file) /* ends before starts, as libdw sorts */
		return (*x)->file ? 1 : -1;
	return *x < *y ? -1 : *x > *y;
}

static bool same_name(const char *ours, const char *theirs)
{
	size_t n = strlen(ours), m = strlen(theirs);

	return m >= n && !strcmp(theirs + m - n, ours);
}

/* True if a sequence ends at vaddr, the address of line i. */
static bool an_end_at(Dwarf_Lines *lines, size_t n, size_t i, Dwarf_Addr vaddr)
{
	Dwarf_Addr other = vaddr;
	bool end = false;

	while (i && !dwarf_lineaddr(dwarf_onesrcline(lines, i - 1), &other) && other == vaddr)
		i--;
	for (; i < n && !end; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		if (dwarf_lineaddr(line, &other) || other != vaddr)
			break;
		dwarf_lineendsequence(line, &end);
	}
	return end;
}

/* Compares the rows of one unit. libdw sorts all sequences into one list. */
static void compare_unit(Dwarf_Die *cudie, const struct dw_sections *s, size_t *theirs,
			 size_t *compared)
{
	struct dw_facts u = {0};
	struct plain_rows ours = {0};
	struct plain_row **sorted;
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	Dwarf_Lines *lines;
	struct sc_error err = { .msg = "" };
	size_t n, at = 0;

	if (!dwarf_attr(cudie, DW_AT_stmt_list, &attr) || dwarf_formudata(&attr, &offset) ||
	    dwarf_getsrclines(cudie, &lines, &n))
		return;
	assert_int_equal(dw_read_lines(s, offset, NULL, &u, &err), 0);
	line_check(&u);
	for (size_t i = 0; i < u.sequences.len; i++) {
		const struct dw_sequence *q = &u.sequences.data[i];
		for (size_t k = q->first_row; k < q->first_row + q->num_rows; k++) {
			const struct dw_row *r = &u.rows.data[k];
			add_row(&ours, r->vaddr,
				r->file == DW_NONE ? "" : u.files.data[r->file].name, r->line,
				r->column);
		}
		add_row(&ours, q->end, NULL, 0, 0);
	}
	*theirs += n;
	sorted = calloc(ours.list.len + 1, sizeof(*sorted));
	for (size_t i = 0; i < ours.list.len; i++)
		sorted[i] = &ours.list.data[i];
	qsort(sorted, ours.list.len, sizeof(*sorted), by_vaddr);
	for (size_t i = 0; i < n; i++) {
		Dwarf_Line *line = dwarf_onesrcline(lines, i);
		Dwarf_Addr vaddr;
		int number, column;
		bool end;
		const char *file = dwarf_linesrc(line, NULL, NULL);

		assert_int_equal(dwarf_lineaddr(line, &vaddr) | dwarf_lineno(line, &number) |
				 dwarf_linecol(line, &column) | dwarf_lineendsequence(line, &end),
				 0);
		if (at == ours.list.len || sorted[at]->vaddr != vaddr || !sorted[at]->file != end) {
			/* What covers nothing is dropped here. */
			if (!an_end_at(lines, n, i, vaddr))
				fail_msg("no row for line %d at 0x%" PRIx64, number, vaddr);
			continue;
		}
		if (!end) {
			assert_int_equal(sorted[at]->line, number);
			assert_int_equal(sorted[at]->column, column);
			assert_true(same_name(sorted[at]->file, file));
		}
		at++;
		++*compared;
	}
	assert_int_equal(at, ours.list.len);
	free(sorted);
	vec_deinit(&ours.list);
	dw_facts_deinit(&u);
}

/* Inflated by libelf, which libdw has asked to do so. */
static struct dw_section section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	size_t names;

	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((scn = elf_nextscn(elf, scn))) {
		GElf_Shdr sh;
		Elf_Data *data;

		gelf_getshdr(scn, &sh);
		if (strcmp(elf_strptr(elf, names, sh.sh_name), name))
			continue;
		data = elf_getdata(scn, NULL);
		return (struct dw_section){ data->d_buf, data->d_size };
	}
	return (struct dw_section){ NULL, 0 };
}

static void compare_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	Dwarf *dbg = fd < 0 ? NULL : dwarf_begin(fd, DWARF_C_READ);
	Dwarf_CU *cu = NULL;
	Dwarf_Die cudie;
	struct dw_sections s;
	size_t theirs = 0, compared = 0, units = 0;

	if (!dbg) {
		printf("skipped: cannot read %s\n", path);
		skip();
	}
	s = (struct dw_sections){
		.line = section(dwarf_getelf(dbg), ".debug_line"),
		.str = section(dwarf_getelf(dbg), ".debug_str"),
		.line_str = section(dwarf_getelf(dbg), ".debug_line_str"),
	};
	while (!dwarf_get_units(dbg, cu, &cu, NULL, NULL, &cudie, NULL)) {
		compare_unit(&cudie, &s, &theirs, &compared);
		units++;
	}
	printf("%s: %zu units, %zu of %zu rows\n", path, units, compared, theirs);
	assert_true(compared > 0 && compared >= theirs - theirs / 50 - 1);
	dwarf_end(dbg);
	close(fd);
}

/* The separate debug file of an installed program, by its build ID. */
static void compare_debug_file_of(const char *program)
{
	char path[128] = "/usr/lib/debug/.build-id/";
	int fd = open(program, O_RDONLY);
	Elf *elf;
	const void *id = NULL;
	ssize_t len;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
	len = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0;
	for (ssize_t i = 0; i < len; i++)
		sprintf(path + strlen(path), "%02x%s", ((const uint8_t *)id)[i], i ? "" : "/");
	elf_end(elf);
	if (fd >= 0)
		close(fd);
	compare_file(strcat(path, ".debug"));
}

static void test_libc(void **state)
{
	(void)state;
	compare_debug_file_of("/lib/x86_64-linux-gnu/libc.so.6");
}

static void test_python(void **state)
{
	(void)state;
	compare_debug_file_of("/usr/bin/python3");
}

/* Compiled in each version by gcc and by clang. */
static void test_compilers(void **state)
{
	static const char *const suffixes[] = {
		"gcc2", "gcc3", "gcc4", "gcc5", "gcc3-64", "gcc4-64", "gcc5-64",
		"clang2", "clang3", "clang4", "clang5", "zlib",
	};

	(void)state;
	assert_int_equal(system("scripts/testprogs.sh build/testprogs"), 0);
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		char path[64];

		snprintf(path, sizeof(path), "build/testprogs/layouts.%s", suffixes[i]);
		if (!access(path, R_OK))
			compare_file(path);
		else
			printf("skipped: no %s\n", path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_compilers),
		cmocka_unit_test(test_libc),
		cmocka_unit_test(test_python),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

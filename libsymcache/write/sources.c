/*
 * Sources in line tables: see sources.h. Costs .debug_line and .debug_line_str, inflated,
 * and a look at each header of DWARF 5; the programs are not run.
 */
#include "libsymcache/write/sources.h"

#include <stdlib.h>

#include "libsymcache/base/limits.h"
#include "libsymcache/base/parallel.h"
#include "libsymcache/base/search.h"
#include "libsymcache/base/sort.h"
#include "libsymcache/dwarf/cursor.h"
#include "libsymcache/dwarf/line.h"
#include "libsymcache/write/input/input.h"

struct source {
	char *path; /* clean */
	const char *text;
};

struct symcache_sources {
	struct sc_input input;
	struct dw_sections sections;
	VEC(struct source) list; /* by path */
	uint64_t path_bytes;     /* of them: many files may refer to one long name */
};

void symcache_sources_close(struct symcache_sources *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->list.len; i++)
		free(s->list.data[i].path);
	vec_deinit(&s->list);
	sc_input_close(&s->input);
	free(s);
}

/* On the heap; NULL: out of memory. */
static char *clean_path(const struct symcache_file *file)
{
	const size_t len = symcache_path(file, SYMCACHE_PATH_CLEAN, NULL, 0);
	char *path = malloc(len + 1);

	if (path)
		symcache_path(file, SYMCACHE_PATH_CLEAN, path, len + 1);
	return path;
}

static bool add(struct symcache_sources *s, const char *comp_dir, const struct dw_file *f)
{
	const struct symcache_file file = { sc_str_of(comp_dir), sc_str_of(f->dir), sc_str_of(f->name) };
	struct source *added;
	char *path;

	if (!f->source || !f->name || s->path_bytes > sc_limit_strings(s->sections.file_size))
		return true;
	path = clean_path(&file);
	added = path ? vec_push(&s->list) : NULL;
	if (!added) {
		free(path);
		return false;
	}
	s->path_bytes += strlen(path) + sizeof(*added);
	*added = (struct source){ path, f->source };
	return true;
}

/* The files of the table at `offset`. False: out of memory. */
static bool read_table(struct symcache_sources *s, uint64_t offset, struct dw_facts *scratch)
{
	const char *comp_dir = NULL;
	bool ok;

	dw_facts_clear(scratch);
	ok = dw_read_line_files(&s->sections, offset, NULL, scratch, NULL) != SC_ENOMEM;
	/* Of DWARF 5, which has the folder of the compilation as folder 0. */
	for (size_t i = 0; i < scratch->files.len && !comp_dir; i++)
		comp_dir = scratch->files.data[i].comp_dir;
	for (size_t i = 0; i < scratch->files.len && ok; i++)
		ok = add(s, comp_dir, &scratch->files.data[i]);
	return ok;
}

static bool read_tables(struct symcache_sources *s)
{
	struct dw_cursor c = dw_cursor_at(&s->sections.line, 0, s->sections.swap);
	struct dw_facts scratch = {0};
	bool ok = true;

	while (ok && dw_left(&c) && !c.bad) {
		const uint64_t offset = s->sections.line.size - dw_left(&c);
		unsigned offset_size;
		const uint64_t length = dw_initial_length(&c, &offset_size);
		struct dw_cursor header = c;

		if (!c.bad && dw_u16(&header) >= 5)
			ok = read_table(s, offset, &scratch);
		dw_skip(&c, length);
	}
	dw_facts_deinit(&scratch);
	return ok;
}

static inline bool before(const struct source *a, const struct source *b)
{
	return strcmp(a->path, b->path) < 0;
}

SC_SORT(sort_by_path, struct source, before)

static int open_sources(struct symcache_sources *s, const char *path,
			const struct symcache_build_options *o, struct sc_error *err)
{
	struct sc_elf_wanted wanted[] = { { .name = ".debug_line" }, { .name = ".debug_line_str" },
					  { .name = ".debug_str" } };
	int rc = sc_input_open(&s->input, path, o, err);

	if (rc || !s->input.dwarf)
		return rc;
	sc_elf_load(s->input.dwarf, o->threads ? o->threads : sc_cores(), wanted, 3);
	s->sections = (struct dw_sections){
		.line = { wanted[0].data, wanted[0].size },
		.line_str = { wanted[1].data, wanted[1].size },
		.str = { wanted[2].data, wanted[2].size },
		.swap = s->input.dwarf->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__),
		.file_size = s->input.dwarf->size,
	};
	dw_section_end_with_nul(&s->sections.str);
	dw_section_end_with_nul(&s->sections.line_str);
	if (!read_tables(s) || !sort_by_path(s->list.data, s->list.len))
		return sc_no_memory(err);
	return 0;
}

int symcache_sources_open(const char *path, const struct symcache_build_options *options,
			  struct symcache_sources **ret, struct sc_error *err)
{
	static const struct symcache_build_options defaults;
	struct symcache_sources *s = calloc(1, sizeof(*s));
	int rc;

	*ret = NULL;
	if (!s)
		return sc_no_memory(err);
	rc = open_sources(s, path, options ? options : &defaults, err);
	if (rc || !s->list.len)
		symcache_sources_close(s);
	else
		*ret = s;
	return rc;
}

static const struct source *find_end(const struct symcache_sources *s, const char *path)
{
	const size_t len = strlen(path);

	for (size_t i = 0; i < s->list.len; i++) {
		const char *whole = s->list.data[i].path;
		const size_t all = strlen(whole);

		if (all > len && whole[all - len - 1] == '/' && !strcmp(whole + all - len, path))
			return &s->list.data[i];
	}
	return NULL;
}

struct sc_str symcache_sources_find(const struct symcache_sources *s,
				    struct sc_str path)
{
	const struct symcache_file file = { .name = path };
	char *clean = path.len ? clean_path(&file) : NULL;
	const struct source *found = NULL;
	size_t at;

	if (!clean)
		return sc_str_of(NULL);
	at = SC_SEARCH(i, s->list.len, strcmp(s->list.data[i].path, clean) < 0);
	if (at < s->list.len && !strcmp(s->list.data[at].path, clean))
		found = &s->list.data[at];
	else if (*clean != '/')
		found = find_end(s, clean);
	free(clean);
	return sc_str_of(found ? found->text : NULL);
}

/* Files of other units: see file_numbers.h. */
#include "libsymcache/dwarf/file_numbers.h"

#include "libsymcache/dwarf/line.h"

/* Where a file of another unit stands in our files, if we are in the unit that says so. */
struct file_here {
	uint32_t unit, index;
};

/* The file table of another unit. */
struct dw_foreign_files {
	const struct dw_unit *unit;
	struct dw_facts files;       /* nothing but files */
	VEC(struct file_here) here; /* by their file number */
};

void dw_file_numbers_begin(struct dw_file_numbers *n, const struct dw_unit *u,
			   struct dw_facts *out)
{
	n->rows = u;
	n->out = out;
	n->units++;
}

void dw_file_numbers_forget(struct dw_file_numbers *n)
{
	for (size_t i = 0; i < n->foreign.len; i++) {
		dw_facts_deinit(&n->foreign.data[i].files);
		vec_deinit(&n->foreign.data[i].here);
	}
	vec_clear(&n->foreign);
	sc_intern_deinit(&n->foreign_set);
}

void dw_file_numbers_deinit(struct dw_file_numbers *n)
{
	dw_file_numbers_forget(n);
	vec_deinit(&n->foreign);
}

struct foreign_key {
	const struct dw_file_numbers *n;
	const struct dw_unit *unit;
};

static bool same_unit(const void *ctx, uint32_t i)
{
	const struct foreign_key *k = ctx;

	return k->n->foreign.data[i].unit == k->unit;
}

static struct dw_foreign_files *foreign_files(struct dw_file_numbers *n,
					      const struct dw_unit *u)
{
	struct foreign_key key = { n, u };
	struct dw_foreign_files *f;
	uint32_t *slot = sc_intern_find(&n->foreign_set,
					(uintptr_t)u * 0x9e3779b97f4a7c15ull, same_unit, &key);

	if (!slot)
		return NULL;
	if (*slot != SC_INTERN_NEW)
		return &n->foreign.data[*slot];
	f = vec_push(&n->foreign);
	if (!f)
		return NULL;
	*slot = (uint32_t)n->foreign.len - 1;
	f->unit = u;
	if (u->has_stmt_list) /* a broken table has no files */
		dw_read_line_files(&u->debug->sections, u->stmt_list, u->comp_dir, &f->files, NULL);
	return f;
}

bool dw_foreign_file_index(struct dw_file_numbers *n, const struct dw_unit *u,
			   uint64_t file, uint32_t *ret)
{
	struct dw_foreign_files *f = foreign_files(n, u);
	struct dw_file *copy;

	if (!f)
		return false;
	if (file >= f->files.files.len || !f->files.files.data[file].name)
		return true;
	while (f->here.len <= file)
		if (!vec_push(&f->here))
			return false;
	if (f->here.data[file].unit != n->units) {
		copy = vec_push(&n->out->files);
		if (!copy)
			return false;
		*copy = f->files.files.data[file];
		f->here.data[file] = (struct file_here){ n->units,
							 (uint32_t)n->out->files.len - 1 };
	}
	*ret = f->here.data[file].index;
	return true;
}

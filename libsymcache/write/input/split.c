/*
 * Where split units stand: see split.h.
 *
 * A program of thousands of units has thousands of .dwo files, so each is opened by
 * the thread that reads the unit and stays mapped, without a descriptor. What a
 * name leads to is only a possibility: the unit's id must be in it.
 */
#include "libsymcache/write/input/split.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- .dwo files ------------------------------------------------------------------ */

static bool put_path(char path[PATH_MAX], const char *dir, const char *sub, const char *name)
{
	int n;

	if (*name == '/')
		dir = sub = "";
	else if (sub && *sub == '/')
		dir = "";
	n = snprintf(path, PATH_MAX, "%s%s%s%s%s", dir, *dir ? "/" : "", sub ? sub : "",
		     sub && *sub ? "/" : "", name);
	return n > 0 && n < PATH_MAX;
}

/* The place numbered `at` where a .dwo file may be. False: no more. */
static bool place(const struct sc_split *s, const struct dw_unit *u, unsigned at,
		  char path[PATH_MAX])
{
	const char *slash = strrchr(u->split_name, '/'), *base = slash ? slash + 1 : u->split_name;

	path[0] = 0;
	if (at >= 6)
		return false;
	if (!s->dirs[at % 2] || !*base)
		return true; /* nothing there */
	if (at < 2 ? !put_path(path, s->dirs[at], u->comp_dir, u->split_name) :
		     !put_path(path, s->dirs[at % 2], NULL, at < 4 ? u->split_name : base))
		path[0] = 0;
	return true;
}

static int open_dwo(struct sc_split *s, const char *path, struct dw_sections *ret,
		    struct sc_error *err)
{
	struct sc_section_faults faults = {0};
	struct sc_elf *elf, **slot;
	int rc = sc_elf_open(path, &elf, err);

	if (rc)
		return rc == SC_ENOMEM ? rc : SC_EFORMAT;
	sc_elf_close_fd(elf);
	rc = sc_load_dwarf(elf, true, 1, ret, &faults, err);
	if (!rc && faults.count)
		rc = sc_error_set(err, SC_EFORMAT, "%s: %s", path, faults.first.msg);
	pthread_mutex_lock(&s->lock);
	slot = rc ? NULL : vec_push(&s->files);
	if (slot)
		*slot = elf;
	pthread_mutex_unlock(&s->lock);
	if (slot)
		return 0;
	sc_elf_close(elf);
	return rc ? rc : sc_no_memory(err);
}

static int find(void *ctx, const struct dw_unit *u, unsigned attempt,
		struct dw_sections *ret, struct sc_error *err)
{
	struct sc_split *s = ctx;
	char path[PATH_MAX];

	if (s->package_elf && dw_package_find(&s->package, u->id, ret) && !attempt--)
		return 0;
	for (unsigned at = 0; place(s, u, at, path); at++)
		if (*path && !access(path, R_OK) && !attempt--)
			return open_dwo(s, path, ret, err);
	return sc_error_set(err, SC_ENOTFOUND, "no file %s", u->split_name);
}

/* ---- packages -------------------------------------------------------------------- */

/* Loads the file, if there is one and it is a package. */
static int load_package(struct sc_split *s, const char *name, struct sc_error *err)
{
	struct sc_elf *elf;
	int rc;

	if (s->package_elf || access(name, R_OK) || sc_elf_open(name, &elf, NULL))
		return 0;
	if (sc_elf_section(elf, ".debug_cu_index", &s->package.cu_index.data,
			   &s->package.cu_index.size, NULL)) {
		sc_elf_close(elf);
		return 0;
	}
	s->package_elf = elf;
	rc = sc_load_dwarf(elf, true, s->threads, &s->package.sections, s->faults, err);
	return rc;
}

/* Tries PATH.dwp. */
static int try_package(struct sc_split *s, const char *path, size_t len, struct sc_error *err)
{
	char name[PATH_MAX + 8];

	snprintf(name, sizeof(name), "%.*s.dwp", (int)len, path);
	return load_package(s, name, err);
}

static int try_packages(struct sc_split *s, const struct sc_elf *elf, struct sc_error *err)
{
	char real[PATH_MAX];
	size_t len;
	int rc = try_package(s, elf->path, strlen(elf->path), err);

	if (rc || !realpath(elf->path, real))
		return rc;
	len = strlen(real);
	rc = try_package(s, real, len, err);
	if (!rc && len > 6 && !strcmp(real + len - 6, ".debug"))
		rc = try_package(s, real, len - 6, err);
	return rc;
}

static char *folder_of(const char *path)
{
	char real[PATH_MAX];

	if (!realpath(path, real))
		return NULL;
	*strrchr(real, '/') = 0;
	return strdup(real);
}

int sc_split_open(struct sc_split *s, const struct sc_elf *image, const struct sc_elf *dwarf,
		  const char *package, struct sc_error *err)
{
	int rc;

	s->open = true;
	s->source = (struct dw_split_source){ find, s };
	pthread_mutex_init(&s->lock, NULL);
	s->dirs[0] = folder_of(dwarf->path);
	if (image != dwarf)
		s->dirs[1] = folder_of(image->path);
	rc = package ? load_package(s, package, err) : 0;
	if (!rc)
		rc = try_packages(s, image, err);
	if (!rc && image != dwarf)
		rc = try_packages(s, dwarf, err);
	return rc;
}

void sc_split_close(struct sc_split *s)
{
	if (!s->open)
		return;
	for (size_t i = 0; i < s->files.len; i++)
		sc_elf_close(s->files.data[i]);
	vec_deinit(&s->files);
	sc_elf_close(s->package_elf);
	free(s->dirs[0]);
	free(s->dirs[1]);
	pthread_mutex_destroy(&s->lock);
	memset(s, 0, sizeof(*s));
}

/* Which module is meant: see finder.h. */
#include "libsymcache/symbolize/finder.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"

enum {
	GUID_BYTES = 16,
	KERNEL_MAX_LEN = 64, /* of the names of kernels and their modules, and of releases */
};

/* A copy that ends with a NUL; false: it is longer than size - 1. */
static bool copy(struct sc_str text, char *buf, size_t size)
{
	if (text.len >= size)
		return false;
	if (text.len) /* else ptr may be NULL */
		memcpy(buf, text.ptr, text.len);
	buf[text.len] = '\0';
	return true;
}

/* What an option binds the name to, behind "NAME=", or NULL. */
static const char *bound_to(const struct symcache_finder *f, const char *name)
{
	for (size_t i = 0; i < f->num_modules; i++) {
		const char *row = f->modules[i], *equals = strchr(row, '=');

		if (equals && sc_str_is(sc_last_part(sc_span(row, equals)), name))
			return equals + 1;
	}
	return NULL;
}

static bool is_digits(const char *text)
{
	return *text && !text[strspn(text, "0123456789abcdefABCDEF")];
}

int symcache_finder_check(const struct symcache_finder *f, struct sc_error *err)
{
	for (size_t i = 0; i < f->num_modules; i++) {
		const char *row = f->modules[i], *equals = strchr(row, '=');

		if (!equals || equals == row)
			return sc_error_set(err, SC_EINVAL, "%s: '%.100s' is not NAME=BUILDID, NAME=FILE or "
					    "NAME=TAG", f->option, row);
		if (!is_digits(equals + 1) && (f->no_files || access(equals + 1, F_OK)) &&
		    !symcache_caches_have_tag(f->caches, equals + 1))
			return sc_error_set(err, SC_EINVAL, "%s %.100s: '%.100s' is neither a build ID, nor a "
					    "file, nor the tag of an entry in the store", f->option, row,
					    equals + 1);
	}
	return 0;
}

static int none(struct sc_error *err)
{
	return sc_error_set(err, SC_ENOTFOUND, "%s", "");
}

/* Has the module symbols? */
static int use(const struct symcache_finder *f, struct symcache_module *m,
	       struct symcache_module **ret, struct sc_error *err)
{
	const struct symcache *cache;
	int rc;

	if (!m) /* of those without symbols no more are remembered */
		return none(err);
	rc = f->first ? symcache_module_cache_at(m, NULL, 0, &cache, NULL, err) :
			symcache_module_cache(m, &cache, NULL, err);
	if (!rc)
		*ret = m;
	return rc;
}

/* The file at an absolute path, if it has this build ID. */
static bool has_id(const struct symcache_file_id *of, const char *path)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;
	bool derived;

	return !symcache_elf_build_id(path, id, &len, &derived, NULL) && !derived &&
	       len == of->build_id_len && !memcmp(id, of->build_id, len);
}

static int find_id(const struct symcache_finder *f, const struct symcache_file_id *of,
		   struct symcache_module **ret, struct sc_error *err)
{
	char hex[2 * GUID_BYTES + 1], path[PATH_MAX];
	int rc = use(f, symcache_caches_module_of_id(f->caches, of->build_id, of->build_id_len), ret,
		     err);

	if (rc && of->build_id_len == GUID_BYTES) {
		/* A minidump has no more of a build ID. */
		symcache_build_id_text(hex, of->build_id, GUID_BYTES);
		rc = use(f, symcache_caches_module(f->caches, SYMCACHE_MODULE_BUILD_ID, hex), ret,
			 err);
	}
	if (rc && !f->no_files && of->path.len && *of->path.ptr == '/' &&
	    copy(of->path, path, sizeof(path)) && has_id(of, path))
		rc = use(f, symcache_caches_module(f->caches, SYMCACHE_MODULE_FILE, path), ret,
			 err);
	return rc;
}

/* The only entry of the store that is called `name`, and has `tag`, if it is not NULL. */
static int find_entry(const struct symcache_finder *f, const char *name, const char *tag,
		      struct symcache_module **ret, struct sc_error *err)
{
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;
	int rc = symcache_caches_find_name(f->caches, name, tag, id, &len, err);

	if (!rc)
		return use(f, symcache_caches_module_of_id(f->caches, id, len), ret, err);
	if (rc == SC_ENOTFOUND && !tag)
		return none(err);
	if (rc == SC_EINVAL && f->option)
		snprintf(err->msg + strlen(err->msg), sizeof(err->msg) - strlen(err->msg),
			 "; choose one with %s NAME=BUILDID", f->option);
	return rc;
}

/* Mappings of what is no ELF file are not looked for: "[vdso]", and these. */
static bool is_no_file(struct sc_str path)
{
	static const char *const begins[] = { "//anon", "/memfd:", "/dev/dri/" };

	if (*path.ptr == '[' && path.ptr[path.len - 1] == ']')
		return true;
	for (size_t i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (sc_str_begins(path, begins[i]))
			return true;
	return false;
}

/* Nothing says that the file at the path is the one that ran, nor that a debug file without a name
 * belongs to it: the user may know. Names and paths are such
 * that no shell takes apart. */
static void advise(const struct symcache_finder *f, const struct symcache_file_id *of,
		   const char *name, struct sc_error *err)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				   "/._+-@:,";
	char path[100], hex[SYMCACHE_BUILD_ID_TEXT];
	struct symstore_id id;
	struct stat st;
	size_t nameless;

	if (!f->option || *name == '-' || name[strspn(name, safe)])
		return;
	if (!f->no_files && copy(of->path, path, sizeof(path)) && *path != '-' &&
	    !path[strspn(path, safe)] && !stat(path, &st) && S_ISREG(st.st_mode)) {
		sc_error_set(err, SC_ENOTFOUND, "if %s on this machine is the file that ran, use "
			     "%s %s=%s", path, f->option, name, path);
		return;
	}
	nameless = symcache_caches_nameless(f->caches, &id);
	if (nameless == 1)
		sc_error_set(err, SC_ENOTFOUND, "the store has one debug file without a name; if it "
			     "belongs to this module, use %s %.128s=%s", f->option, name,
			     symcache_build_id_text(hex, id.bytes, id.len));
	else if (nameless)
		sc_error_set(err, SC_ENOTFOUND, "the store has %zu debug files without a name: index "
			     "their programs, too, or use %s %.128s=BUILDID", nameless, f->option, name);
}

static int find_named(const struct symcache_finder *f, const struct symcache_file_id *of,
		      struct symcache_module **ret, struct sc_error *err)
{
	char name[SYMCACHE_FILE_NAME_MAX + 1];
	const char *bound;
	int rc;

	if (!symcache_file_name(of->path, name))
		return none(err);
	bound = bound_to(f, name);
	if (!bound && is_no_file(of->path))
		return none(err);
	if (!bound) {
		rc = find_entry(f, name, NULL, ret, err);
		if (rc && !*err->msg)
			advise(f, of, name, err);
		return rc;
	}
	if (!f->no_files && !access(bound, F_OK))
		return use(f, symcache_caches_module(f->caches, SYMCACHE_MODULE_FILE, bound), ret,
			   err);
	if (is_digits(bound))
		return use(f, symcache_caches_module(f->caches, SYMCACHE_MODULE_BUILD_ID, bound),
			   ret, err);
	return find_entry(f, name, bound, ret, err);
}

static int find_kernel(const struct symcache_finder *f, const struct symcache_file_id *of,
		       struct symcache_module **ret, struct sc_error *err)
{
	char name[KERNEL_MAX_LEN + 1], release[KERNEL_MAX_LEN + 1];
	uint8_t id[SYMCACHE_BUILD_ID_MAX];
	size_t len;
	int rc;

	if (!copy(of->path, name, sizeof(name)) || !copy(of->release, release, sizeof(release)))
		return none(err);
	if (bound_to(f, name))
		return find_named(f, of, ret, err);
	rc = symcache_caches_find_kernel(f->caches, name, *release ? release : NULL, id, &len,
					 err);
	if (!rc)
		return use(f, symcache_caches_module_of_id(f->caches, id, len), ret, err);
	return rc == SC_ENOTFOUND ? none(err) : rc;
}

int symcache_find_module(const struct symcache_finder *f, const struct symcache_file_id *of,
			 struct symcache_module **ret, struct sc_error *err)
{
	*ret = NULL;
	if (of->bound)
		return use(f, symcache_caches_module(f->caches, access(of->bound, F_OK) ?
						  SYMCACHE_MODULE_BUILD_ID : SYMCACHE_MODULE_FILE,
						  of->bound), ret, err);
	if (of->build_id_len)
		return find_id(f, of, ret, err);
	return of->kernel ? find_kernel(f, of, ret, err) : find_named(f, of, ret, err);
}

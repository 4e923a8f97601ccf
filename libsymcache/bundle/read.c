/* Reading a bundle: which shape has it? See bundle.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/archive/archive.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/groups.h"
#include "libsymcache/bundle/tree.h"

/* LMDB's magic number, in either byte order and word size. What cannot be sought in is none; errno
 * is 0, or why it could not be read. */
static bool is_store(int fd)
{
	char head[32];
	ssize_t n = pread(fd, head, sizeof(head), 0);

	errno = n >= 0 || errno == ESPIPE ? 0 : errno;
	return n > 0 && (memmem(head, (size_t)n, "\xde\xc0\xef\xbe", 4) ||
			 memmem(head, (size_t)n, "\xbe\xef\xc0\xde", 4));
}

/* Does an archive begin with a manifest, as those that we write? */
static bool archive_of_ours(int fd)
{
	struct symarchive *a;
	const char *name;
	bool ours;

	if (symarchive_open(fd, NULL, &a, NULL))
		return false;
	ours = !symarchive_next(a, &name, NULL) && !strcmp(name, SYMBUNDLE_MANIFEST);
	symarchive_close(a);
	return ours;
}

bool symbundle_is_one(const char *path, enum symbundle_shape *ret)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return false;
	if (S_ISDIR(st.st_mode)) {
		*ret = SYMBUNDLE_TREE;
		return !faccessat(fd, SYMBUNDLE_MANIFEST, R_OK, 0);
	}
	*ret = S_ISREG(st.st_mode) && is_store(fd) ? SYMBUNDLE_STORE : SYMBUNDLE_ARCHIVE;
	return *ret == SYMBUNDLE_STORE || (S_ISREG(st.st_mode) && archive_of_ours(fd));
}

static int read_any(struct bundle_reading *b, const char *path, struct sc_error *err)
{
	const bool web = symbundle_is_url(path);
	int fd __attribute__((cleanup(sc_close_fd))) =
		web ? -1 : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct stat st;

	if (web)
		return bundle_read_web(b, path, err);
	if (fd < 0 || fstat(fd, &st))
		return sc_error_sys(err, "cannot open");
	if (S_ISDIR(st.st_mode))
		return bundle_read_tree(b, path, err);
	if (is_store(fd))
		return bundle_read_store(b, path, err);
	return errno ? sc_error_sys(err, "cannot read") : bundle_read_archive(b, fd, err);
}

int symbundle_read(const char *path, const struct symbundle_reader *r, struct sc_error *err)
{
	struct bundle_reading b = { .r = r, .found = calloc(r->num_ids + 1, sizeof(*b.found)) };
	int rc = b.found ? read_any(&b, path, err) : sc_no_memory(err);

	if (!rc)
		rc = groups_flush(&b, err);
	for (size_t i = 0; i < r->num_ids && !rc && r->missing; i++)
		if (!b.found[i])
			r->missing(r->ctx, &r->ids[i]);
	groups_deinit(&b);
	free(b.seen);
	free(b.found);
	manifest_deinit(&b.manifest);
	if (rc && !b.named)
		sc_error_prefix(err, "%.100s: ", path);
	return rc;
}

/* ---- the manifest alone -------------------------------------------------------- */

static int copy_text(struct bundle_file *f, const void *text, size_t size, struct sc_error *err)
{
	if (!vec_reserve(f, size + 1))
		return sc_no_memory(err);
	memcpy(f->data, text, size);
	f->len = size;
	return 0;
}

static int manifest_of_store(const char *path, struct bundle_file *f, struct sc_error *err)
{
	struct symstore_reader *reader = NULL;
	struct symstore *store;
	const void *text;
	size_t size;
	int rc = symstore_open_copy(path, &store, err);

	if (!rc)
		rc = symstore_read_begin(store, &reader, err);
	if (!rc && symstore_get_note(reader, SYMBUNDLE_MANIFEST, &text, &size, NULL))
		rc = sc_error_set(err, SC_EFORMAT, "it has no manifest");
	if (!rc)
		rc = copy_text(f, text, size, err);
	symstore_read_end(reader);
	symstore_close(store);
	return rc;
}

/* `path`: the tree, or the manifest in it. */
static int manifest_of_parts(const char *path, bool is_tree, const struct bundle_file *f,
			     struct manifest *m, struct sc_error *err)
{
	const char *slash = is_tree ? NULL : strrchr(path, '/');
	char *folder __attribute__((cleanup(sc_free_text))) = is_tree ? sc_text("%s", path) :
		slash ? sc_text("%.*s", (int)(slash - path + 1), path) : sc_text(".");
	struct tree_top top = { 0 };
	int rc = folder ? tree_top_read(&top, f->data, f->len, err) : sc_no_memory(err);

	*m = (struct manifest){ 0 };
	if (!rc && (rc = tree_read_manifest(&top, folder, m, err)))
		manifest_deinit(m);
	tree_top_deinit(&top);
	return rc;
}

int bundle_read_manifest(const char *path, struct manifest *m, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) =
		open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *inner __attribute__((cleanup(sc_free_text))) = NULL;
	struct bundle_file f = { 0 };
	uint8_t head[SYMARCHIVE_HEAD];
	struct stat st;
	ssize_t n;
	int rc;

	if (fd < 0 || fstat(fd, &st))
		return sc_error_sys(err, "cannot open %s", path);
	if (S_ISDIR(st.st_mode) && !(inner = sc_text("%s/" SYMBUNDLE_MANIFEST, path)))
		return sc_no_memory(err);
	n = S_ISREG(st.st_mode) ? pread(fd, head, sizeof(head), 0) : 0;
	if (S_ISREG(st.st_mode) && is_store(fd))
		rc = manifest_of_store(path, &f, err);
	else if (n > 0 && symarchive_begins(head, (size_t)n))
		rc = bundle_manifest_of_archive(fd, &f, err);
	else
		rc = bundle_read_file(inner ? inner : path, MANIFEST_MAX, &f, err);
	if (!rc)
		rc = tree_begins(f.data, f.len) ?
			manifest_of_parts(path, S_ISDIR(st.st_mode), &f, m, err) :
			manifest_read(m, f.data, f.len, err);
	vec_deinit(&f);
	if (rc)
		return sc_error_prefix(err, "%s: ", path);
	manifest_sort(m);
	return 0;
}

/* What a tree in parts has before it is added to: see tree.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/base/below.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/bundle/tree.h"

/* But for what is hidden: new files of a process that died, or a web server's own. */
static bool is_empty(int folder)
{
	DIR *dir = sc_folder_entries(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
	const struct dirent *e;
	bool empty = dir;

	while (empty && (e = readdir(dir)))
		empty = e->d_name[0] == '.';
	if (dir)
		closedir(dir);
	return empty;
}

void tree_lock(int dir)
{
	while (flock(dir, LOCK_EX) && errno == EINTR)
		;
}

static int read_tree(const char *path, struct tree_state *s, struct sc_error *err)
{
	int rc = tree_read_file((void *)path, SYMBUNDLE_MANIFEST, MANIFEST_MAX, &s->text, err);

	if (rc == SC_ENOTFOUND && is_empty(s->dir))
		return 0;
	if (rc == SC_ENOTFOUND || (!rc && !tree_begins(s->text.data, s->text.len)))
		return sc_error_set(err, SC_EINVAL, "%s already exists, and not a tree to which entries "
				    "can be added", path);
	if (!rc)
		rc = tree_top_read(&s->top, s->text.data, s->text.len, err);
	if (!rc)
		rc = tree_read_manifest(&s->top, path, &s->entries, err);
	return rc ? sc_error_prefix(err, "%s: ", path) : 0;
}

int tree_state_read(const char *path, struct tree_state *ret, struct sc_error *err)
{
	struct stat st;

	*ret = (struct tree_state){ .dir = -1 };
	if (lstat(path, &st) && errno == ENOENT)
		return 0;
	ret->dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (ret->dir < 0 && errno == ENOTDIR)
		return sc_error_set(err, SC_EINVAL, "%s already exists", path);
	if (ret->dir < 0)
		return sc_error_sys(err, "cannot open %s", path);
	tree_lock(ret->dir);
	return read_tree(path, ret, err);
}

void tree_state_deinit(struct tree_state *s)
{
	if (s->dir >= 0)
		close(s->dir);
	vec_deinit(&s->text);
	tree_top_deinit(&s->top);
	manifest_deinit(&s->entries);
}

bool tree_state_has(const struct tree_state *s, const struct symstore_entry *entry)
{
	const struct manifest_entry *e = manifest_find(&s->entries, entry->build_id,
						       entry->build_id_len);
	char name[BUNDLE_NAME];

	if (!e || (e->old.len && !s->deltas) ||
	    faccessat(s->dir, bundle_hashed_name(e, name), F_OK, 0))
		return false;
	if (e->entry.cache_size == entry->cache_size && e->entry.cache_hash == entry->cache_hash)
		return symstore_names_have(e->entry.tags, entry->tags) &&
		       symstore_names_have(e->entry.names, entry->names);
	return !symstore_entry_replaces(entry, &e->entry) ||
	       (symstore_entry_replaces(&e->entry, entry) && e->entry.time > entry->time);
}

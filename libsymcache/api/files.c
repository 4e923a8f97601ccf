/*
 * The stores' files that this process has open, each once: LMDB's locks are of the process,
 * and are gone when any descriptor of the lock file is closed.
 *
 * A file is opened for writing where it can be, also by whoever only reads: it cannot be
 * opened anew when a writer comes later. That changes nothing in the file. What a forked child
 * inherits is left as it is: the locks and snapshots are its parent's.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/api/api.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct api_file *files;

/* Else a child of a process with threads could find it locked for ever. */
static void take_lock(void)
{
	pthread_mutex_lock(&lock);
}

static void give_lock(void)
{
	pthread_mutex_unlock(&lock);
}

static void prepare_forks(void)
{
	pthread_atfork(take_lock, give_lock, give_lock);
}

bool api_file_is_ours(const struct api_file *file)
{
	return file->pid == getpid();
}

static struct api_file *find(const struct stat *st)
{
	for (struct api_file *f = files; f; f = f->next)
		if (f->dev == st->st_dev && f->ino == st->st_ino && api_file_is_ours(f))
			return f;
	return NULL;
}

/* Opens one that this process has not open. */
static int open_new(const char *path, bool write, struct api_file *f, struct sc_error *err)
{
	struct stat st;
	int rc;

	/* An empty file becomes a store only when someone wants to write. */
	f->writable = write || (!stat(path, &st) && st.st_size && !access(path, W_OK));
	rc = f->writable ? symstore_open(path, SYMSTORE_WRITE, &f->store, err) : 0;
	if (!write && (!f->writable || rc)) {
		f->writable = false;
		rc = symstore_open(path, SYMSTORE_READ, &f->store, err);
	}
	if (!rc && stat(path, &st)) {
		rc = sc_error_sys(err, "store %s", path);
		symstore_close(f->store);
	}
	if (rc)
		return rc;
	f->dev = st.st_dev;
	f->ino = st.st_ino;
	f->pid = getpid();
	return 0;
}

static int open_locked(const char *path, bool write, struct api_file **ret, struct sc_error *err)
{
	struct api_file *f;
	struct stat st;
	int rc;

	f = !stat(path, &st) ? find(&st) : NULL;
	if (!f) {
		f = calloc(1, sizeof(*f));
		if (!f)
			return sc_error_set(err, SC_ENOMEM, "out of memory");
		rc = open_new(path, write, f, err);
		if (rc) {
			free(f);
			return rc;
		}
		f->next = files;
		files = f;
	} else if (write && !f->writable) {
		return sc_error_set(err, SC_EINVAL, "store %s: this process has it open, and could not "
				    "open it for writing", path);
	}
	f->users++;
	*ret = f;
	return 0;
}

int api_file_open(const char *path, bool write, struct api_file **ret, struct sc_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int rc;

	pthread_once(&once, prepare_forks);
	pthread_mutex_lock(&lock);
	rc = open_locked(path, write, ret, err);
	pthread_mutex_unlock(&lock);
	return rc;
}

struct api_file *api_file_share(struct api_file *file)
{
	pthread_mutex_lock(&lock);
	file->users++;
	pthread_mutex_unlock(&lock);
	return file;
}

void api_file_close(struct api_file *file)
{
	struct api_file **at = &files;

	if (!api_file_is_ours(file))
		return;
	pthread_mutex_lock(&lock);
	if (!--file->users) {
		while (*at != file)
			at = &(*at)->next;
		*at = file->next;
		symstore_close(file->store);
		free(file);
	}
	pthread_mutex_unlock(&lock);
}

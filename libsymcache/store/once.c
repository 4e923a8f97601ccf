/*
 * The stores that this process has open, each file once: LMDB's locks are fcntl()'s, and a
 * process loses all that it has on a file when it closes any descriptor of it. So all who open
 * a file get the same store.
 *
 * What a forked child inherits is left as it is: locks and snapshots are its parent's.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/store/parts.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct symstore *open_stores;

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

static void lock_list(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, prepare_forks);
	take_lock();
}

bool symstore_is_ours(const struct symstore *store)
{
	return store->pid == getpid();
}

static struct symstore *find(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return NULL;
	for (struct symstore *s = open_stores; s; s = s->next)
		if (s->dev == st.st_dev && s->ino == st.st_ino && symstore_is_ours(s))
			return s;
	return NULL;
}

static int open_locked(const char *path, enum symstore_mode mode, struct symstore **ret,
		       struct sc_error *err)
{
	struct symstore *store = find(path);
	struct stat st;
	int rc;

	*ret = NULL;
	if (store && mode == SYMSTORE_WRITE && !store->writable)
		return sc_error_set(err, SC_EINVAL, "store %s: this process has it open, but not for "
				    "writing", path);
	if (!store) {
		rc = symstore_open_at(&(struct symstore_opening){ path, mode }, &store, err);
		if (rc)
			return rc;
		store->writable = mode == SYMSTORE_WRITE;
		if (!fstat(store->place, &st)) {
			store->dev = st.st_dev;
			store->ino = st.st_ino;
			store->next = open_stores;
			open_stores = store;
		}
	}
	store->users++;
	*ret = store;
	return 0;
}

int symstore_open(const char *path, enum symstore_mode mode, struct symstore **ret,
		  struct sc_error *err)
{
	int rc;

	if (mode == SYMSTORE_FROZEN) /* without locks */
		return symstore_open_at(&(struct symstore_opening){ path, mode }, ret, err);
	lock_list();
	rc = open_locked(path, mode, ret, err);
	give_lock();
	return rc;
}

int symstore_open_for_all(const char *path, struct symstore **ret, struct sc_error *err)
{
	struct stat st;
	int rc;

	lock_list();
	/* An empty file becomes a store only when someone writes. */
	rc = !stat(path, &st) && st.st_size && !access(path, W_OK) ?
		open_locked(path, SYMSTORE_WRITE, ret, err) : SC_EINVAL;
	if (rc)
		rc = open_locked(path, SYMSTORE_READ, ret, err);
	give_lock();
	return rc;
}

struct symstore *symstore_share(struct symstore *store)
{
	lock_list();
	store->users++;
	give_lock();
	return store;
}

void symstore_close(struct symstore *store)
{
	struct symstore **at = &open_stores;

	if (!store)
		return;
	lock_list();
	if (store->users > 1) {
		store->users--;
	} else {
		while (*at && *at != store)
			at = &(*at)->next;
		if (*at)
			*at = store->next;
		symstore_destroy(store);
	}
	give_lock();
}

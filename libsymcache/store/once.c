/*
 * The stores that this process has open, each file once: LMDB's locks are fcntl()'s, and a
 * process loses all that it has on a file when it closes any descriptor of it. Who may meet
 * another user of the same file in the process opens it shared.
 *
 * What a forked child inherits is left as it is: locks and snapshots are its parent's.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "libsymcache/store/store.h"

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

/* Also opens no lock file of one that is open. */
static int open_locked(const char *path, enum symstore_mode mode, struct symstore **ret,
		       struct sc_error *err)
{
	struct stat st;
	int rc;

	*ret = NULL;
	if (find(path))
		return sc_error_set(err, SC_EINVAL, "store %s: this process has it open already", path);
	rc = symstore_open_sized(path, mode, 0, ret, err);
	if (rc || fstat((*ret)->place, &st)) /* it is not locked */
		return rc;
	(*ret)->dev = st.st_dev;
	(*ret)->ino = st.st_ino;
	(*ret)->next = open_stores;
	open_stores = *ret;
	return 0;
}

int symstore_open(const char *path, enum symstore_mode mode, struct symstore **ret,
		  struct sc_error *err)
{
	int rc;

	if (mode == SYMSTORE_FROZEN) /* without locks */
		return symstore_open_sized(path, mode, 0, ret, err);
	lock_list();
	rc = open_locked(path, mode, ret, err);
	give_lock();
	return rc;
}

static void close_locked(struct symstore *store)
{
	struct symstore **at = &open_stores;

	while (*at && *at != store)
		at = &(*at)->next;
	if (*at)
		*at = store->next;
	symstore_destroy(store);
}

void symstore_close(struct symstore *store)
{
	if (!store)
		return;
	lock_list();
	close_locked(store);
	give_lock();
}

/* A file is opened for writing where it can be, also by who only reads: it cannot be opened
 * anew when a writer comes later. An empty one becomes a store only when someone writes. */
static int open_first(const char *path, bool write, struct symstore **ret, struct sc_error *err)
{
	struct stat st;
	const bool can = write || (!stat(path, &st) && st.st_size && !access(path, W_OK));
	int rc = can ? open_locked(path, SYMSTORE_WRITE, ret, err) : 0;

	if (!write && (!can || rc))
		return open_locked(path, SYMSTORE_READ, ret, err);
	if (!rc)
		(*ret)->writable = true;
	return rc;
}

int symstore_open_shared(const char *path, bool write, struct symstore **ret, struct sc_error *err)
{
	struct symstore *store;
	int rc = 0;

	*ret = NULL;
	lock_list();
	store = find(path);
	if (!store || !store->users)
		rc = open_first(path, write, &store, err);
	else if (write && !store->writable)
		rc = sc_error_set(err, SC_EINVAL, "store %s: this process has it open, and could not open "
				  "it for writing", path);
	if (!rc) {
		store->users++;
		*ret = store;
	}
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

void symstore_leave(struct symstore *store)
{
	if (!store || !symstore_is_ours(store))
		return;
	lock_list();
	if (!--store->users)
		close_locked(store);
	give_lock();
}

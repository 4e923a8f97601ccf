/* Debug files from debuginfod's servers: see debuginfod.h. */
#include "symcache/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "libsymcache/base/vec.h"
#include "symcache/build_id.h"

/* What of the library is used. Its interface is fixed by its soname, so that its header
 * is not needed to build. */
static const char soname[] = "libdebuginfod.so.1";
struct client;
typedef int find_fn(struct client *, const unsigned char *id, int len, char **path);

struct symcache_debuginfod {
	void *library;
	struct client *client;
	void (*end)(struct client *);
	find_fn *find_debuginfo, *find_executable;
	pthread_mutex_t lock;    /* a client does one thing at a time */
	int64_t retry;           /* seconds */
	VEC(char *) paths;       /* that symcache_debuginfod_files() handed out */
};

static int load(struct symcache_debuginfod *d, struct sc_error *err)
{
	struct client *(*begin)(void);

	d->library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	if (!d->library)
		return sc_error_set(err, SC_EUNSUPPORTED, "debuginfod needs %s (Debian: "
				    "libdebuginfod1): %s", soname, dlerror());
	begin = (struct client *(*)(void))dlsym(d->library, "debuginfod_begin");
	d->end = (void (*)(struct client *))dlsym(d->library, "debuginfod_end");
	d->find_debuginfo = (find_fn *)dlsym(d->library, "debuginfod_find_debuginfo");
	d->find_executable = (find_fn *)dlsym(d->library, "debuginfod_find_executable");
	if (!begin || !d->end || !d->find_debuginfo || !d->find_executable)
		return sc_error_set(err, SC_EUNSUPPORTED, "%s lacks a function", soname);
	d->client = begin();
	return d->client ? 0 : sc_error_set(err, SC_ESYS, "%s cannot start", soname);
}

int symcache_debuginfod_create(int64_t retry, struct symcache_debuginfod **ret,
			       struct sc_error *err)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct symcache_debuginfod *d;
	int rc;

	*ret = NULL;
	if (!urls || !*urls)
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "debuginfod asks the servers in $DEBUGINFOD_URLS, which is empty");
	d = calloc(1, sizeof(*d));
	if (!d)
		return sc_error_set(err, SC_ENOMEM, "out of memory");
	pthread_mutex_init(&d->lock, NULL);
	d->retry = retry;
	rc = load(d, err);
	if (rc)
		symcache_debuginfod_destroy(d);
	else
		*ret = d;
	return rc;
}

/* The library stays loaded: web clients do not like to be unloaded. */
void symcache_debuginfod_destroy(struct symcache_debuginfod *d)
{
	if (!d)
		return;
	if (d->client)
		d->end(d->client);
	for (size_t i = 0; i < d->paths.len; i++)
		free(d->paths.data[i]);
	vec_deinit(&d->paths);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static int check(const char *path, const uint8_t *id, size_t len, struct sc_error *err)
{
	struct symcache_elf_facts facts;
	int fd = open(path, O_RDONLY | O_CLOEXEC), rc;

	if (fd < 0)
		return sc_error_sys(err, "%s", path);
	rc = symcache_elf_facts(fd, path, &facts, err);
	close(fd);
	if (!rc && (facts.build_id_len != len || memcmp(facts.build_id, id, len)))
		rc = sc_error_set(err, SC_EFORMAT, "%s: the server gave a file with another build ID",
				  path);
	return rc;
}

int symcache_debuginfod_get(struct symcache_debuginfod *d, const uint8_t *id, size_t len,
			    char **path, struct sc_error *err)
{
	char hex[SYMCACHE_BUILD_ID_TEXT];
	int fd, rc;

	*path = NULL;
	/* With the length 0 the client would take it for text. */
	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_ENOTFOUND, "no build ID");
	symcache_build_id_text(hex, id, len);
	pthread_mutex_lock(&d->lock);
	fd = d->find_debuginfo(d->client, id, (int)len, path);
	if (fd == -ENOENT)
		fd = d->find_executable(d->client, id, (int)len, path);
	pthread_mutex_unlock(&d->lock);
	if (fd == -ENOENT)
		return sc_error_set(err, SC_ENOTFOUND, "no server has %s", hex);
	if (fd < 0)
		return sc_error_set(err, SC_ESYS, "the servers cannot be asked for %s: %s", hex,
				    strerror(-fd));
	close(fd);
	rc = *path ? check(*path, id, len, err) : sc_error_set(err, SC_ESYS, "no path for %s", hex);
	if (rc) {
		free(*path);
		*path = NULL;
	}
	return rc;
}

/* ---- what was not there -------------------------------------------------------------- */

/* It stands among the contents that were looked at. */
static struct symstore_hash miss_key(const uint8_t *id, size_t len)
{
	static const char prefix[] = "debuginfod"; /* and its NUL */
	uint8_t text[sizeof(prefix) + SYMCACHE_BUILD_ID_MAX];
	XXH128_hash_t hash;

	memcpy(text, prefix, sizeof(prefix));
	memcpy(text + sizeof(prefix), id, len);
	hash = XXH3_128bits(text, sizeof(prefix) + len);
	return (struct symstore_hash){ hash.low64, hash.high64 };
}

bool symcache_debuginfod_missed(const struct symcache_debuginfod *d,
				struct symstore_reader *reader, const uint8_t *id, size_t len)
{
	struct symstore_hash key = miss_key(id, len);
	struct symstore_outcome seen;
	int64_t now = time(NULL);

	return !symstore_seen(reader, &key, symcache_version, &seen, NULL) &&
	       seen.time <= now && now - seen.time < d->retry;
}

int symcache_debuginfod_remember(struct symstore_writer *writer, const uint8_t *id,
				 size_t len, struct sc_error *err)
{
	struct symstore_outcome outcome = { .code = SC_ENOTFOUND, .time = time(NULL) };
	struct symstore_hash key = miss_key(id, len);

	return symstore_remember(writer, &key, symcache_version, &outcome, err);
}

/* ---- files that files refer to ---------------------------------------------------------- */

static int open_file(void *ctx, const char *path)
{
	(void)ctx;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

static const char *find_file(void *ctx, const struct symcache_wanted *wanted, unsigned n)
{
	struct symcache_debuginfod *d = ctx;
	char *path, **kept;

	if (n || !wanted->build_id ||
	    symcache_debuginfod_get(d, wanted->build_id, wanted->build_id_len, &path, NULL))
		return NULL;
	pthread_mutex_lock(&d->lock);
	kept = vec_push(&d->paths);
	if (kept)
		*kept = path;
	pthread_mutex_unlock(&d->lock);
	if (!kept)
		free(path);
	return kept ? path : NULL;
}

struct symcache_files symcache_debuginfod_files(struct symcache_debuginfod *d)
{
	return (struct symcache_files){ open_file, find_file, d };
}

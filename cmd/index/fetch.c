/* Debug files from debuginfod's servers: see fetch.h. */
#include "cmd/index/fetch.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

#include "cmd/index/content.h"
#include "cmd/store/entry.h"
#include "cmd/store/select.h"

static const char default_retry[] = "1d";

/* What of the library is used. Its interface is fixed by its soname, so that its header
 * is not needed to build. */
static const char soname[] = "libdebuginfod.so.1";
struct client;
typedef int find_fn(struct client *, const unsigned char *id, int len, char **path);

struct fetcher {
	void *library;
	struct client *client;
	void (*end)(struct client *);
	find_fn *find_debuginfo, *find_executable;
	pthread_mutex_t lock;    /* a client does one thing at a time */
	int64_t retry;           /* seconds */
	char **paths;            /* that fetcher_files() handed out */
	size_t num_paths, cap_paths;
};

static int load(struct fetcher *f, struct sc_error *err)
{
	struct client *(*begin)(void);

	f->library = dlopen(soname, RTLD_NOW | RTLD_LOCAL);
	if (!f->library)
		return sc_error_set(err, SC_EUNSUPPORTED, "--debuginfod needs %s (Debian: "
				    "libdebuginfod1): %s", soname, dlerror());
	begin = (struct client *(*)(void))dlsym(f->library, "debuginfod_begin");
	f->end = (void (*)(struct client *))dlsym(f->library, "debuginfod_end");
	f->find_debuginfo = (find_fn *)dlsym(f->library, "debuginfod_find_debuginfo");
	f->find_executable = (find_fn *)dlsym(f->library, "debuginfod_find_executable");
	if (!begin || !f->end || !f->find_debuginfo || !f->find_executable)
		return sc_error_set(err, SC_EUNSUPPORTED, "%s lacks a function", soname);
	f->client = begin();
	return f->client ? 0 : sc_error_set(err, SC_ESYS, "%s cannot start", soname);
}

int fetcher_create(const struct fetch_options *options, struct fetcher **ret,
		   struct sc_error *err)
{
	const char *urls = getenv("DEBUGINFOD_URLS");
	struct fetcher *f;
	int64_t retry = 0;
	int rc = 0;

	*ret = NULL;
	if (!options->on)
		return 0;
	rc = parse_age(options->retry ? options->retry : default_retry, &retry, err);
	if (rc)
		return rc;
	if (!urls || !*urls)
		return sc_error_set(err, SC_EUNSUPPORTED,
				    "--debuginfod asks the servers in $DEBUGINFOD_URLS, which is empty");
	f = must_calloc(1, sizeof(*f));
	pthread_mutex_init(&f->lock, NULL);
	f->retry = retry;
	rc = load(f, err);
	if (rc)
		fetcher_destroy(f);
	else
		*ret = f;
	return rc;
}

/* The library stays loaded: web clients do not like to be unloaded. */
void fetcher_destroy(struct fetcher *f)
{
	if (!f)
		return;
	if (f->client)
		f->end(f->client);
	for (size_t i = 0; i < f->num_paths; i++)
		free(f->paths[i]);
	free(f->paths);
	pthread_mutex_destroy(&f->lock);
	free(f);
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

int fetcher_get(struct fetcher *f, const uint8_t *id, size_t len, char **path,
		struct sc_error *err)
{
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	int fd, rc;

	*path = NULL;
	/* With the length 0 the client would take it for text. */
	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_ENOTFOUND, "no build ID");
	format_build_id(hex, id, len);
	pthread_mutex_lock(&f->lock);
	fd = f->find_debuginfo(f->client, id, (int)len, path);
	if (fd == -ENOENT)
		fd = f->find_executable(f->client, id, (int)len, path);
	pthread_mutex_unlock(&f->lock);
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

bool fetcher_missed(const struct fetcher *f, struct symstore_reader *reader, const uint8_t *id,
		    size_t len)
{
	struct symstore_hash key = miss_key(id, len);
	struct symstore_outcome seen;
	int64_t now = time(NULL);

	return !symstore_seen(reader, &key, symcache_version, &seen, NULL) &&
	       seen.time <= now && now - seen.time < f->retry;
}

int fetcher_remember_miss(struct symstore_writer *writer, const uint8_t *id, size_t len,
			  struct sc_error *err)
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
	struct fetcher *f = ctx;
	char *path;

	if (n || !wanted->build_id ||
	    fetcher_get(f, wanted->build_id, wanted->build_id_len, &path, NULL))
		return NULL;
	pthread_mutex_lock(&f->lock);
	f->paths = must_grow(f->paths, f->num_paths, &f->cap_paths, sizeof(*f->paths));
	f->paths[f->num_paths++] = path;
	pthread_mutex_unlock(&f->lock);
	return path;
}

struct symcache_files fetcher_files(struct fetcher *f)
{
	return (struct symcache_files){ open_file, find_file, f };
}

/* ---- into the store ------------------------------------------------------------------- */

static void fill(void *ctx, void *dst)
{
	symcache_build_write(ctx, dst);
}

static int put(struct symstore_writer *writer, struct symcache_build *build, const char *path,
	       const uint8_t *id, size_t len, struct sc_error *err)
{
	struct symstore_entry entry = entry_of_build(build, id, len, time(NULL));

	entry.source_path = path;
	entry.debug_path = symcache_build_info(build)->debug_path;
	content_hash_file(path, &entry.source_hash, &entry.source_size);
	return symstore_put(writer, &entry, fill, build, NULL, err);
}

/* A cache, or if `build` is NULL, that there is none to be had. */
static int commit(struct symstore *store, struct symcache_build *build, const char *path,
		  const uint8_t *id, size_t len, struct sc_error *err)
{
	struct symstore_writer *writer;
	int rc = symstore_write_begin(store, &writer, err);

	if (rc)
		return rc;
	rc = build ? put(writer, build, path, id, len, err) :
		     fetcher_remember_miss(writer, id, len, err);
	if (rc)
		symstore_abort(writer);
	return rc ? rc : symstore_commit(writer, err);
}

int fetcher_store_miss(struct symstore *store, const uint8_t *id, size_t len,
		       struct sc_error *err)
{
	return commit(store, NULL, NULL, id, len, err);
}

static int store_fetched(const char *store_option, struct symcache_build *build, const char *path,
			 const uint8_t *id, size_t len, struct sc_error *err)
{
	struct symstore *store;
	int rc = open_store(store_option, SYMSTORE_WRITE, &store, err);

	if (rc)
		return rc;
	rc = commit(store, build, path, id, len, err);
	symstore_close(store);
	return rc;
}

int fetch_into_store(struct fetcher *f, const char *store_option, const uint8_t *id, size_t len,
		     struct sc_error *err)
{
	struct symcache_files files = fetcher_files(f);
	const struct symcache_build_options options = { .files = &files };
	struct symcache_build *build = NULL;
	struct sc_error ignored;
	char *path;
	int rc = fetcher_get(f, id, len, &path, err);

	if (rc == SC_ENOTFOUND)
		store_fetched(store_option, NULL, NULL, id, len, &ignored);
	if (rc)
		return rc;
	rc = symcache_build_create(path, &options, &build, err);
	if (!rc) {
		warn_of_gaps(path, symcache_build_info(build));
		rc = store_fetched(store_option, build, path, id, len, err);
	}
	symcache_build_destroy(build);
	free(path);
	return rc;
}

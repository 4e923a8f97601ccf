/*
 * Debug files from debuginfod's servers: see debuginfod.h. A miss is what a server says it
 * does not have; it is remembered for each server by itself.
 */
#include "libsymcache/index/debuginfod.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/cleanup.h"
#include "libsymcache/base/vec.h"
#include "libsymcache/index/servers.h"
#include "libsymcache/store/misses.h"

struct symcache_debuginfod {
	struct sc_servers *servers;
	pthread_mutex_t lock;    /* a client does one thing at a time */
	int64_t retry;           /* seconds */
	struct symstore_misses misses;
	struct sc_error unsaid;  /* a server that failed while another had the file */
	VEC(char *) paths;       /* that symcache_debuginfod_files() handed out */
};

int symcache_debuginfod_create(int64_t retry, struct symcache_debuginfod **ret,
			       struct sc_error *err)
{
	struct symcache_debuginfod *d = calloc(1, sizeof(*d));
	int rc = d ? sc_servers_open(&d->servers, err) : sc_no_memory(err);

	*ret = rc ? NULL : d;
	if (rc) {
		free(d);
		return rc;
	}
	pthread_mutex_init(&d->lock, NULL);
	d->retry = retry;
	return 0;
}

void symcache_debuginfod_destroy(struct symcache_debuginfod *d)
{
	if (!d)
		return;
	sc_servers_close(d->servers);
	symstore_misses_deinit(&d->misses);
	for (size_t i = 0; i < d->paths.len; i++)
		free(d->paths.data[i]);
	vec_deinit(&d->paths);
	pthread_mutex_destroy(&d->lock);
	free(d);
}

static int check(const char *path, const uint8_t *id, size_t len, struct sc_error *err)
{
	int fd __attribute__((cleanup(sc_close_fd))) = open(path, O_RDONLY | O_CLOEXEC);
	struct symcache_elf_facts facts;
	int rc;

	if (fd < 0)
		return sc_error_sys(err, "%s", path);
	rc = symcache_elf_facts(fd, path, &facts, err);
	if (!rc && (facts.build_id_len != len || memcmp(facts.build_id, id, len)))
		rc = sc_error_set(err, SC_EFORMAT,
				  "%s: the server gave a file with another build ID", path);
	return rc;
}

/* The key under which a miss stands among the contents that were looked at. */
static struct sc_hash miss_key(const char *url, const uint8_t *id, size_t len)
{
	return symstore_miss_key("debuginfod", url, id, len);
}

/* One server after the other. */
static int ask(struct symcache_debuginfod *d, const uint8_t *id, size_t len, bool program,
	       char **path, struct sc_error *err)
{
	const struct symcache_wanted wanted = { id, len, .program = program };
	struct sc_error why = { 0 };
	char hex[SYMCACHE_BUILD_ID_TEXT];
	size_t failed = 0;
	int rc = SC_ENOTFOUND;

	symcache_build_id_text(hex, id, len);
	for (size_t i = 0; i < sc_servers_count(d->servers); i++) {
		const struct sc_hash key = miss_key(sc_server_url(d->servers, i), id, len);

		if (symstore_misses_have(&d->misses, &key))
			continue;
		rc = sc_server_find(d->servers, i, &wanted, path, &why);
		if (!rc)
			return 0;
		if (rc == SC_ENOTFOUND) {
			if (!program)
				symstore_misses_add(&d->misses, &key);
			continue;
		}
		failed++;
		if (*why.msg && !d->unsaid.code)
			d->unsaid = why;
	}
	if (d->unsaid.code) {
		d->unsaid.code = 0;
		return sc_error_set(err, SC_ESYS, "%s", d->unsaid.msg);
	}
	return sc_error_set(err, SC_ENOTFOUND, failed ? "no server that answered has %s" :
			    "no server has %s", hex);
}

int symcache_debuginfod_get(struct symcache_debuginfod *d, const uint8_t *id, size_t len,
			    bool program, char **path, struct sc_error *err)
{
	int rc;

	*path = NULL;
	if (!len || len > SYMCACHE_BUILD_ID_MAX)
		return sc_error_set(err, SC_ENOTFOUND, "no build ID");
	pthread_mutex_lock(&d->lock);
	rc = ask(d, id, len, program, path, err);
	pthread_mutex_unlock(&d->lock);
	if (!rc)
		rc = check(*path, id, len, err);
	if (rc) {
		free(*path);
		*path = NULL;
	}
	return rc;
}

size_t symcache_debuginfod_failed(const struct symcache_debuginfod *d)
{
	return sc_servers_failed(d->servers);
}

bool symcache_debuginfod_missed(const struct symcache_debuginfod *d,
				struct symstore_reader *reader, const uint8_t *id, size_t len)
{
	for (size_t i = 0; i < sc_servers_count(d->servers); i++) {
		const struct sc_hash key = miss_key(sc_server_url(d->servers, i), id, len);

		if (!symstore_missed(reader, &key, symcache_version, d->retry))
			return false;
	}
	return true;
}

int symcache_debuginfod_remember(struct symcache_debuginfod *d, struct symstore_writer *writer,
				 const uint8_t *id, size_t len, struct sc_error *err)
{
	int rc = 0;

	pthread_mutex_lock(&d->lock);
	for (size_t i = 0; i < sc_servers_count(d->servers) && !rc; i++) {
		const struct sc_hash key = miss_key(sc_server_url(d->servers, i), id, len);

		if (symstore_misses_have(&d->misses, &key))
			rc = symstore_remember_miss(writer, &key, symcache_version, err);
	}
	pthread_mutex_unlock(&d->lock);
	return rc;
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
	    symcache_debuginfod_get(d, wanted->build_id, wanted->build_id_len, wanted->program, &path,
				    NULL))
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
	return (struct symcache_files){ open_file, find_file, d, .programs = true };
}

/*
 * symcache import: a bundle, a tree of SymCache files or another store → the store.
 *
 * Each cache is checked before it is taken. Better symbols win by the rule of
 * `index`; of equally good ones with different bytes the one indexed later stays,
 * and that is reported. Caches gather in memory for a commit each BATCH_BYTES.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/store/bundle.h"
#include "cmd/store/select.h"

enum { BATCH_BYTES = 64 << 20, BATCH_ENTRIES = 1000 };

static struct {
	const char *store, *verify_key;
	struct opt_list tags;
	bool json, quiet;
} o;

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "verify-key", 0, OPT_STRING, &o.verify_key, "KEY",
	  "take only what is signed by this Ed25519 public key (PEM)" },
	{ "tag", 0, OPT_LIST, &o.tags, "TAG",
	  "put this tag on what is imported, beside its own; may be repeated" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress and no summary" },
	{ 0 },
};

struct pending {
	void *bytes;
	size_t size;
	char *id;
	bool stored;
};

struct importing {
	struct symstore *store;
	struct symstore_writer *writer; /* NULL: nothing gathered */
	struct pending pending[BATCH_ENTRIES];
	size_t num_pending;
	uint64_t bytes;
	char *tags;
	struct progress progress;
	uint64_t imported, unchanged, better_known, conflicts, bad;
};

static void fill(void *ctx, void *dst)
{
	const struct pending *p = ctx;

	memcpy(dst, p->bytes, p->size);
}

static void forget(struct importing *m)
{
	for (size_t i = 0; i < m->num_pending; i++) {
		free(m->pending[i].bytes);
		free(m->pending[i].id);
	}
	m->num_pending = 0;
	m->bytes = 0;
	m->writer = NULL;
}

static int commit(struct importing *m, struct sc_error *err)
{
	int rc = m->writer ? symstore_commit(m->writer, err) : 0;

	for (size_t i = 0; i < m->num_pending && !rc; i++) {
		m->imported += m->pending[i].bytes && m->pending[i].stored;
		m->better_known += m->pending[i].bytes && !m->pending[i].stored;
	}
	forget(m);
	return rc;
}

static void conflict(struct importing *m, const char *id, bool taken)
{
	progress_erase(&m->progress);
	cmd_error("%s: other bytes than the store has, equally good: %s was indexed later and stays",
		  id, taken ? "the one imported" : "the store's");
	m->conflicts++;
}

/* Does the store's own entry stay, as equally good or the same? */
static int compare(struct importing *m, const struct symstore_entry *entry, const void *cache,
		   size_t size, bool *stays, struct sc_error *err)
{
	char id[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct symstore_reader *reader;
	struct symstore_entry old;
	int rc = symstore_read_begin(m->store, &reader, err);

	*stays = false;
	if (rc)
		return rc;
	rc = symstore_entry(reader, entry->build_id, entry->build_id_len, &old, err);
	if (!rc && old.cache_size == size && old.cache_hash == XXH3_64bits(cache, size)) {
		*stays = true;
		m->unchanged++;
	} else if (!rc && symstore_entry_replaces(entry, &old) &&
		   symstore_entry_replaces(&old, entry)) {
		symcache_build_id_text(id, entry->build_id, entry->build_id_len);
		*stays = old.time > entry->time;
		m->better_known += *stays;
		conflict(m, id, !*stays);
	}
	symstore_read_end(reader);
	return rc == SC_ENOTFOUND ? 0 : rc;
}

static int import_entry(void *ctx, const struct symstore_entry *given, const void *cache,
			size_t size, struct sc_error *err)
{
	struct symstore_entry entry = *given;
	struct importing *m = ctx;
	struct pending *p;
	bool stays;
	char *tags;
	int rc = compare(m, &entry, cache, size, &stays, err);

	if (!rc && !m->writer)
		rc = symstore_write_begin(m->store, &m->writer, err);
	if (rc)
		return rc;
	tags = symstore_tags_unite(entry.tags, m->tags);
	entry.tags = tags;
	entry.cache_size = size;
	p = &m->pending[m->num_pending++];
	*p = (struct pending){ .size = size };
	if (stays) {
		rc = *tags ? symstore_add_tags(m->writer, entry.build_id, entry.build_id_len, tags, err)
			   : 0;
	} else {
		p->bytes = must_realloc(NULL, size + 1);
		memcpy(p->bytes, cache, size);
		rc = symstore_put(m->writer, &entry, fill, p, &p->stored, err);
		m->bytes += size;
	}
	free(tags);
	if (!rc && (m->bytes >= BATCH_BYTES || m->num_pending == BATCH_ENTRIES))
		rc = commit(m, err);
	return rc;
}

static void on_fault(void *ctx, const char *name, const char *why)
{
	struct importing *m = ctx;

	progress_erase(&m->progress);
	cmd_error("%s: %s: left out", name, why);
	m->bad++;
}

static void summarise(const struct importing *m)
{
	struct json_gen *j;

	if (!o.json) {
		if (!o.quiet)
			printf("%llu imported, %llu the same, %llu with better symbols in the store, "
			       "%llu conflicts, %llu bad\n", (unsigned long long)m->imported,
			       (unsigned long long)m->unchanged, (unsigned long long)m->better_known,
			       (unsigned long long)m->conflicts, (unsigned long long)m->bad);
		return;
	}
	j = json_gen_create(false);
	json_gen_open_map(j, NULL);
	json_gen_number(j, "imported", m->imported);
	json_gen_number(j, "unchanged", m->unchanged);
	json_gen_number(j, "better_in_store", m->better_known);
	json_gen_number(j, "conflicts", m->conflicts);
	json_gen_number(j, "bad", m->bad);
	json_gen_bool(j, "signature_checked", o.verify_key);
	json_gen_close_map(j);
	json_gen_end(j);
	json_gen_destroy(j);
}

static int run(int argc, char **argv)
{
	static struct importing m;
	struct bundle_reader reader = {
		.verify_key = o.verify_key, .entry = import_entry, .fault = on_fault, .ctx = &m,
		.progress = &m.progress,
	};
	struct sc_error err;
	int rc;

	if (!argc) {
		cmd_error("name bundles, trees or stores");
		return STATUS_ERROR;
	}
	progress_init(&m.progress, "importing", o.quiet);
	rc = parse_tags(&o.tags, &m.tags, &err);
	if (!rc)
		rc = open_store(o.store, SYMSTORE_WRITE, &m.store, &err);
	for (int i = 0; i < argc && !rc; i++)
		if (!(rc = bundle_read(argv[i], &reader, &err)))
			rc = commit(&m, &err);
	progress_erase(&m.progress);
	if (rc)
		cmd_error("%s", err.msg);
	symstore_abort(m.writer);
	forget(&m);
	summarise(&m);
	symstore_close(m.store);
	free(m.tags);
	return rc ? STATUS_ERROR : m.bad ? STATUS_PARTLY : STATUS_OK;
}

const struct command import_command = {
	.name = "import",
	.operands = "PATH...",
	.summary = "merge bundles, trees and other stores into the store",
	.description =
		"Takes what 'symcache export' wrote, a folder of SymCache files (ab/cdef.symcache), an "
		"archive of such, or another store. Every cache is compared with the manifest's hashes "
		"and checked before it is taken; a bad one is named and left out. A cache with better "
		"symbols replaces one with worse of the same build ID, never the other way round; of "
		"equally good ones that differ, the one indexed later stays, and that is told. Tags "
		"are united."
		"\n\n"
		"Exit status: 1 if something in a bundle was bad; 2 if a bundle could not be read, or "
		"is not signed by the key.",
	.opts = opts,
	.examples =
		"  symcache import release.tar.zst\n"
		"  symcache import --verify-key public.pem /media/stick/bundle\n"
		"  symcache import other.store --tag from=other\n",
	.run = run,
};

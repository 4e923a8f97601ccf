/*
 * symcache export: entries of the store → a bundle that travels.
 *
 * What is chosen is gathered with its hashes as the manifest; then the bundle is
 * written from the same snapshot.
 */
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/filter/log_input.h"
#include "cmd/store/bundle.h"
#include "cmd/store/select.h"
#include "cmd/store/sign.h"
#include "libmarkup/markup.h"

static struct {
	const char *store, *output, *since, *sign;
	struct selection sel;
	struct opt_list logs;
	int shape;
	bool json, quiet;
} o = { .sel = SELECTION_ALL, .shape = -1 };

static const char *const shapes[] = { "store", "tree", "archive", NULL };

static const struct opt opts[] = {
	OPT_STORE(&o.store),
	{ "output", 'o', OPT_STRING, &o.output, "PATH", "where the bundle goes" },
	{ "shape", 0, OPT_ENUM, &o.shape, "SHAPE",
	  "store: a store file, ready for use; tree: a folder of SymCache files; archive: one "
	  "tar.zst (default: by the name: NAME.store, NAME.tar.zst, else a tree)",
	  .choices = shapes },
	{ "for-log", 0, OPT_LIST, &o.logs, "FILE",
	  "those whose modules are in this log's markup; \"-\" is standard input; may be repeated" },
	{ "since", 0, OPT_STRING, &o.since, "MANIFEST",
	  "but for what an earlier bundle had, by its " MANIFEST_NAME },
	OPTS_SELECTION(&o.sel),
	{ "sign", 0, OPT_STRING, &o.sign, "KEY",
	  "sign the manifest with this Ed25519 private key (PEM)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress and no summary" },
	{ 0 },
};

struct exporting {
	struct symstore_reader *reader;
	struct manifest manifest, earlier;
	struct progress progress;
	uint64_t total, looked, missing, damaged, skipped;
	int rc;
	struct sc_error *err;
};

static bool take(void *ctx, const struct symstore_entry *entry)
{
	const struct manifest_entry *before;
	struct exporting *x = ctx;
	struct sc_error why;
	const void *cache;
	size_t size, last = x->manifest.num;

	progress_update(&x->progress, x->looked++, x->total, entry->source_path);
	if (!selection_has(&o.sel, entry))
		return true;
	x->rc = symstore_get(x->reader, entry->build_id, entry->build_id_len, &cache, &size, x->err);
	if (x->rc)
		return false;
	if (XXH3_64bits(cache, size) != entry->cache_hash) {
		symstore_damaged(entry->build_id, entry->build_id_len, &why);
		progress_erase(&x->progress);
		cmd_error("%s", why.msg);
		x->damaged++;
		return true;
	}
	manifest_add(&x->manifest, entry, cache, o.sign);
	before = manifest_find(&x->earlier, entry->build_id, entry->build_id_len);
	if (before && before->hash.low64 == x->manifest.entries[last].hash.low64 &&
	    before->hash.high64 == x->manifest.entries[last].hash.high64) {
		manifest_drop_last(&x->manifest);
		x->skipped++;
	}
	return true;
}

/* ---- modules of logs ------------------------------------------------------------ */

struct id {
	uint8_t bytes[SYMCACHE_BUILD_ID_MAX];
	size_t len;
};

static int compare_ids(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct id));
}

static void add_module(void **ids, struct markup_str hex)
{
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct id *id = must_calloc(1, sizeof(*id)), **node;
	size_t nibbles;

	snprintf(text, sizeof(text), "%.*s", (int)hex.len, hex.ptr);
	if (hex.len >= sizeof(text) || symcache_build_id_parse(text, id->bytes, &nibbles, NULL) ||
	    nibbles % 2) {
		free(id);
		return;
	}
	id->len = nibbles / 2;
	node = tsearch(id, ids, compare_ids);
	if (!node || *node != id)
		free(id);
}

/* {{{module:ID:NAME:elf:BUILDID}}} */
static void look_at_line(void **ids, const char *line, size_t len)
{
	struct markup_parser parser;
	struct markup_node node;

	markup_parse_line(&parser, line, len, MARKUP_SYNTAX);
	while (markup_next_node(&parser, &node))
		if (node.kind == MARKUP_ELEMENT && node.tag.len == 6 && node.num_fields >= 4 &&
		    !memcmp(node.tag.ptr, "module", 6))
			add_module(ids, node.fields[3]);
}

/* Lines are as long as the markup filter takes them; a longer one is cut. */
static int read_log(const char *path, void **ids, struct sc_error *err)
{
	char *buf = must_realloc(NULL, MARKUP_LINE_MAX), *end;
	size_t have = 0, len;
	struct log_input in;
	int rc = log_input_open(&in, path, err);

	if (rc) {
		free(buf);
		return rc;
	}
	while (!(rc = log_input_read(&in, buf + have, MARKUP_LINE_MAX - have, &len, err)) && len) {
		char *line = buf;

		have += len;
		while ((end = memchr(line, '\n', have - (size_t)(line - buf)))) {
			look_at_line(ids, line, (size_t)(end + 1 - line));
			line = end + 1;
		}
		if (line == buf && have == MARKUP_LINE_MAX) {
			look_at_line(ids, buf, have);
			line = buf + have;
		}
		have -= (size_t)(line - buf);
		memmove(buf, line, have);
	}
	if (!rc)
		look_at_line(ids, buf, have);
	log_input_close(&in);
	free(buf);
	return rc;
}

static struct exporting *walking; /* twalk() passes nothing along */

static void take_id(const void *node, VISIT visit, int depth)
{
	const struct id *id = *(struct id *const *)node;
	struct exporting *x = walking;
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct symstore_entry entry;
	int rc;

	(void)depth;
	if (x->rc || (visit != postorder && visit != leaf))
		return;
	rc = symstore_entry(x->reader, id->bytes, id->len, &entry, x->err);
	if (!rc) {
		take(x, &entry);
	} else if (rc == SC_ENOTFOUND) {
		symcache_build_id_text(hex, id->bytes, id->len);
		progress_erase(&x->progress);
		cmd_error("the store has no symbols of %s", hex);
		x->missing++;
	} else {
		x->rc = rc;
	}
}

/* ---- what is chosen ---------------------------------------------------------------- */

static int choose(struct exporting *x, char **texts, struct sc_error *err)
{
	struct symstore_info info;
	void *ids = NULL;
	int rc = 0;

	for (size_t i = 0; i < o.logs.len && !rc; i++)
		rc = read_log(o.logs.items[i], &ids, err);
	for (; *texts && !rc; texts++) {
		struct id *id = must_calloc(1, sizeof(*id)), **node;

		rc = symstore_find_id(x->reader, *texts, id->bytes, &id->len, err);
		/* What lies behind the ID would count in comparisons. */
		memset(id->bytes + id->len, 0, sizeof(id->bytes) - id->len);
		node = rc ? NULL : tsearch(id, &ids, compare_ids);
		if (!node || *node != id)
			free(id);
	}
	if (!rc && !o.logs.len && !ids && !(rc = symstore_info(x->reader, &info, err))) {
		x->total = info.entries;
		rc = symstore_each(x->reader, NULL, 0, take, x, err);
	} else if (!rc) {
		walking = x;
		twalk(ids, take_id);
	}
	tdestroy(ids, free);
	return rc ? rc : x->rc;
}

static int read_earlier(struct manifest *m, struct sc_error *err)
{
	FILE *f = fopen(o.since, "re");
	char *text = NULL;
	size_t cap = 0;
	ssize_t len;
	int rc;

	if (!f)
		return sc_error_sys(err, "cannot open %s", o.since);
	len = getdelim(&text, &cap, 0, f);
	rc = manifest_read(m, text, len > 0 ? (size_t)len : 0, err);
	if (rc)
		sc_error_prefix(err, "%s: ", o.since);
	manifest_sort(m);
	free(text);
	fclose(f);
	return rc;
}

static int write_bundle(struct exporting *x, struct sc_error *err)
{
	char *text = manifest_write(&x->manifest);
	uint8_t signature[SIGNATURE_SIZE];
	struct bundle_source source = {
		.reader = x->reader, .manifest = &x->manifest, .text = text,
		.signature = o.sign ? signature : NULL, .progress = &x->progress,
	};
	int rc = o.sign ? sign_bytes(o.sign, text, strlen(text), signature, err) : 0;

	progress_erase(&x->progress);
	progress_init(&x->progress, "exporting", o.quiet);
	if (!rc)
		rc = bundle_write(o.output, o.shape < 0 ? bundle_shape_of(o.output) :
				  (enum bundle_shape)o.shape, &source, err);
	free(text);
	return rc;
}

static void summarise(const struct exporting *x)
{
	uint64_t bytes = 0;
	struct json_gen *j;

	for (size_t i = 0; i < x->manifest.num; i++)
		bytes += x->manifest.entries[i].entry.cache_size;
	if (!o.json) {
		if (o.quiet)
			return;
		printf("%zu exported, %llu bytes of caches", x->manifest.num, (unsigned long long)bytes);
		if (o.since)
			printf(", %llu as before", (unsigned long long)x->skipped);
		if (x->missing)
			printf(", %llu not in the store", (unsigned long long)x->missing);
		if (x->damaged)
			printf(", %llu damaged", (unsigned long long)x->damaged);
		putchar('\n');
		return;
	}
	j = json_gen_create(false);
	json_gen_open_map(j, NULL);
	json_gen_number(j, "exported", x->manifest.num);
	json_gen_number(j, "bytes", bytes);
	json_gen_number(j, "as_before", x->skipped);
	json_gen_number(j, "missing", x->missing);
	json_gen_number(j, "damaged", x->damaged);
	json_gen_bool(j, "signed", o.sign);
	json_gen_close_map(j);
	json_gen_end(j);
	json_gen_destroy(j);
}

static int run(int argc, char **argv)
{
	struct symstore *store = NULL;
	struct sc_error err;
	struct exporting x = { .err = &err };
	int rc;

	(void)argc;
	if (!o.output) {
		cmd_error("say where the bundle goes: -o PATH");
		return STATUS_ERROR;
	}
	progress_init(&x.progress, "hashing", o.quiet);
	rc = selection_init(&o.sel, &err);
	if (!rc && o.since)
		rc = read_earlier(&x.earlier, &err);
	if (!rc)
		rc = open_store(o.store, SYMSTORE_READ, &store, &err);
	if (!rc)
		rc = symstore_read_begin(store, &x.reader, &err);
	if (!rc)
		rc = choose(&x, argv, &err);
	if (!rc)
		rc = write_bundle(&x, &err);
	progress_erase(&x.progress);
	if (rc)
		cmd_error("%s", err.msg);
	else
		summarise(&x);
	symstore_read_end(x.reader);
	symstore_close(store);
	manifest_deinit(&x.manifest);
	manifest_deinit(&x.earlier);
	return rc ? STATUS_ERROR : x.missing || x.damaged ? STATUS_PARTLY : STATUS_OK;
}

const struct command export_command = {
	.name = "export",
	.operands = "-o PATH [BUILDID...]",
	.summary = "write entries of the store as a bundle",
	.description =
		"Writes all entries, or those chosen by build IDs, by the modules in a log, and by "
		"the other options, into a bundle for 'symcache import': a store file, a tree of "
		"SymCache files, or one compressed archive. A manifest in it lists build IDs, sizes "
		"and hashes, and can be signed. A store file is for machines of the same byte order "
		"and word size; the tree and the archive are for all. The bundle appears under its "
		"name when it is complete."
		"\n\n"
		"Exit status: 1 if the store lacks modules of a log, or entries are damaged; the others "
		"are in the bundle.",
	.opts = opts,
	.examples =
		"  symcache export -o all.tar.zst\n"
		"  symcache export -o crash.store --for-log crash.log\n"
		"  symcache export -o new --tag release=1.4.2 --since old/" MANIFEST_NAME " --sign key.pem\n",
	.run = run,
};

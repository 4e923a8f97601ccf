/* symcache export: entries of the store → a bundle that travels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cli/memory.h"
#include "cmd/cli/messages.h"
#include "cmd/cli/progress.h"
#include "cmd/cli/store.h"
#include "cmd/cmd.h"
#include "cmd/filter/log_input.h"
#include "cmd/store/select.h"
#include "libmarkup/markup.h"
#include "symcache/bundle.h"

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
	  "but for what an earlier bundle had, by its " SYMBUNDLE_MANIFEST },
	OPTS_SELECTION(&o.sel),
	{ "sign", 0, OPT_STRING, &o.sign, "KEY",
	  "sign the manifest with this Ed25519 private key (PEM)" },
	{ "json", 0, OPT_FLAG, &o.json, NULL, "write the summary as a JSON object" },
	{ "quiet", 'q', OPT_FLAG, &o.quiet, NULL, "no progress and no summary" },
	{ 0 },
};

/* The build IDs that were asked for. */
struct ids {
	struct symstore_id *data;
	size_t len, cap;
};

static struct symstore_id *add_id(struct ids *ids)
{
	ids->data = must_grow(ids->data, ids->len, &ids->cap, sizeof(*ids->data));
	ids->data[ids->len] = (struct symstore_id){ 0 };
	return &ids->data[ids->len++];
}

/* ---- modules of logs ------------------------------------------------------------ */

static void add_module(struct ids *ids, struct markup_str hex)
{
	char text[2 * SYMCACHE_BUILD_ID_MAX + 1];
	struct symstore_id *id = add_id(ids);
	size_t nibbles;

	snprintf(text, sizeof(text), "%.*s", (int)hex.len, hex.ptr);
	if (hex.len >= sizeof(text) || symcache_build_id_parse(text, id->bytes, &nibbles, NULL) ||
	    nibbles % 2)
		ids->len--;
	else
		id->len = nibbles / 2;
}

/* {{{module:ID:NAME:elf:BUILDID}}} */
static void look_at_line(struct ids *ids, const char *line, size_t len)
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
static int read_log(const char *path, struct ids *ids, struct sc_error *err)
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

/* ---- what is chosen ---------------------------------------------------------------- */

static int gather_ids(struct symstore_reader *reader, char **texts, struct ids *ids,
		      struct sc_error *err)
{
	int rc = 0;

	for (size_t i = 0; i < o.logs.len && !rc; i++)
		rc = read_log(o.logs.items[i], ids, err);
	for (; *texts && !rc; texts++) {
		struct symstore_id *id = add_id(ids);

		rc = symstore_find_id(reader, *texts, id->bytes, &id->len, err);
		/* What is behind the ID would count in comparisons. */
		memset(id->bytes + id->len, 0, sizeof(id->bytes) - id->len);
	}
	ids->len = symstore_ids_sort(ids->data, ids->len);
	return rc;
}

static bool choose(void *ctx, const struct symstore_entry *entry)
{
	(void)ctx;
	return selection_has(&o.sel, entry);
}

static void on_hashing(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	progress_update(ctx, done, total, item);
}

static void on_writing(void *ctx, uint64_t done, uint64_t total, const char *item)
{
	((struct progress *)ctx)->verb = "exporting";
	progress_update(ctx, done, total, item);
}

static void on_missing(void *ctx, const struct symstore_id *id)
{
	char hex[2 * SYMCACHE_BUILD_ID_MAX + 1];

	symcache_build_id_text(hex, id->bytes, id->len);
	progress_erase(ctx);
	cmd_error("the store has no symbols of %s", hex);
}

static void on_damaged(void *ctx, const char *why)
{
	progress_erase(ctx);
	cmd_error("%s", why);
}

static int export(struct symstore_reader *reader, char **texts, struct symbundle_exported *done,
		  struct sc_error *err)
{
	struct progress progress;
	struct ids ids = { 0 };
	const bool all = !o.logs.len && !*texts;
	struct symbundle_export_options options = {
		.choose = choose, .since = o.since, .sign_key = o.sign, .missing = on_missing,
		.damaged = on_damaged, .hashing = on_hashing, .writing = on_writing,
		.ctx = &progress,
	};
	int rc = gather_ids(reader, texts, &ids, err);

	progress_init(&progress, "hashing", o.quiet);
	options.ids = all ? NULL : ids.len ? ids.data : &(struct symstore_id){ 0 };
	options.num_ids = ids.len;
	if (!rc)
		rc = symbundle_export(reader, o.output, o.shape < 0 ? symbundle_shape_of(o.output) :
				      (enum symbundle_shape)o.shape, &options, done, err);
	progress_erase(&progress);
	free(ids.data);
	return rc;
}

static void summarise(const struct symbundle_exported *done)
{
	struct json_gen *j;

	if (!o.json) {
		if (o.quiet)
			return;
		printf("%llu exported, %llu bytes of caches", (unsigned long long)done->exported,
		       (unsigned long long)done->bytes);
		if (o.since)
			printf(", %llu as before", (unsigned long long)done->as_before);
		if (done->missing)
			printf(", %llu not in the store", (unsigned long long)done->missing);
		if (done->damaged)
			printf(", %llu damaged", (unsigned long long)done->damaged);
		putchar('\n');
		return;
	}
	j = json_gen_create(false);
	json_gen_open_map(j, NULL);
	json_gen_number(j, "exported", done->exported);
	json_gen_number(j, "bytes", done->bytes);
	json_gen_number(j, "as_before", done->as_before);
	json_gen_number(j, "missing", done->missing);
	json_gen_number(j, "damaged", done->damaged);
	json_gen_bool(j, "signed", o.sign);
	json_gen_close_map(j);
	json_gen_end(j);
	json_gen_destroy(j);
}

static int run(int argc, char **argv)
{
	struct symstore_reader *reader = NULL;
	struct symbundle_exported done = { 0 };
	struct symstore *store = NULL;
	struct sc_error err;
	int rc;

	(void)argc;
	if (!o.output) {
		cmd_error("say where the bundle goes: -o PATH");
		return STATUS_ERROR;
	}
	rc = selection_init(&o.sel, &err);
	if (!rc)
		rc = open_store(o.store, SYMSTORE_READ, &store, &err);
	if (!rc)
		rc = symstore_read_begin(store, &reader, &err);
	if (!rc)
		rc = export(reader, argv, &done, &err);
	if (rc)
		cmd_error("%s", err.msg);
	else
		summarise(&done);
	symstore_read_end(reader);
	symstore_close(store);
	return rc ? STATUS_ERROR : done.missing || done.damaged ? STATUS_PARTLY : STATUS_OK;
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
		"  symcache export -o new --tag release=1.4.2 --since old/" SYMBUNDLE_MANIFEST " --sign key.pem\n",
	.run = run,
};

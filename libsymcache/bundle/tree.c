/* The manifest of a tree in parts, and its names: see tree.h. */
#include "libsymcache/bundle/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sodium.h>

#include "libsymcache/base/build_id.h"
#include "libsymcache/base/json_text.h"
#include "libsymcache/base/text.h"
#include "libsymcache/base/vec.h"

#define FORMAT "symcache tree"

enum { HASH_TEXT = 2 * TREE_SHA256, PART_TEXT = TREE_NIBBLES + 1 + HASH_TEXT + 1 };

/* "PREFIX-HASH"; returns `text`. */
static const char *part_text(const struct tree_part *part, char text[PART_TEXT])
{
	char hash[HASH_TEXT + 1];

	snprintf(text, PART_TEXT, "%s-%s", part->prefix,
		 symcache_build_id_text(hash, part->sha256, TREE_SHA256));
	return text;
}

bool tree_part_parse(const char *text, size_t len, struct tree_part *ret)
{
	const char *dash = memchr(text, '-', len);
	const size_t nibbles = dash ? (size_t)(dash - text) : 0;

	*ret = (struct tree_part){ 0 };
	if (!nibbles || nibbles > TREE_NIBBLES || len != nibbles + 1 + HASH_TEXT)
		return false;
	for (size_t i = 0; i < len; i++)
		if (text + i != dash &&
		    (sc_hex_digit(text[i]) < 0 || (text[i] >= 'A' && text[i] <= 'F')))
			return false;
	memcpy(ret->prefix, text, nibbles);
	for (size_t i = 0; i < HASH_TEXT; i++)
		ret->sha256[i / 2] = (uint8_t)(ret->sha256[i / 2] << 4 | sc_hex_digit(dash[1 + i]));
	return true;
}

/* ---- reading -------------------------------------------------------------------- */

struct reading {
	struct tree_top *top;
	struct sc_error *err;
	int depth;
	enum { OTHER, FORMAT_KEY, VERSION_KEY, ENTRIES_KEY, PARTS_KEY } key; /* of the top map */
	bool is_tree;
};

enum { IN_TREE = 1, IN_PARTS = 2, MAX_DEPTH = 8 };

static int refuse(struct reading *r, const char *what)
{
	sc_error_set(r->err, SC_EFORMAT, "the manifest's %s", what);
	return 0;
}

static int on_string(void *ctx, const unsigned char *s, size_t len)
{
	struct reading *r = ctx;
	struct tree_part *part;

	if (r->depth == IN_TREE && r->key == FORMAT_KEY)
		r->is_tree = len == strlen(FORMAT) && !memcmp(s, FORMAT, len);
	if (r->depth != IN_PARTS || r->key != PARTS_KEY)
		return 1;
	if (!(part = vec_push(r->top))) {
		sc_no_memory(r->err);
		return 0;
	}
	if (!tree_part_parse((const char *)s, len, part))
		return refuse(r, "list of parts has a name that is none of a part");
	if (part > r->top->data && strcmp(part[-1].prefix, part->prefix) >= 0)
		return refuse(r, "parts are not in order");
	return 1;
}

static int on_integer(void *ctx, long long n)
{
	struct reading *r = ctx;

	if (r->depth != IN_TREE)
		return 1;
	if (r->key == ENTRIES_KEY && n < 0)
		return refuse(r, "number of entries is negative");
	if (r->key == ENTRIES_KEY)
		r->top->entries = (uint64_t)n;
	if (r->key != VERSION_KEY || n == TREE_VERSION)
		return 1;
	sc_error_set(r->err, SC_EUNSUPPORTED, "the tree is of version %lld; this program knows %d", n,
		     TREE_VERSION);
	return 0;
}

static int on_key(void *ctx, const unsigned char *s, size_t len)
{
	static const char *const keys[] = { [FORMAT_KEY] = "format", [VERSION_KEY] = "version",
					    [ENTRIES_KEY] = "entries", [PARTS_KEY] = "parts" };
	struct reading *r = ctx;

	if (r->depth != IN_TREE)
		return 1;
	r->key = OTHER;
	for (int i = FORMAT_KEY; i <= PARTS_KEY; i++)
		if (strlen(keys[i]) == len && !memcmp(keys[i], s, len))
			r->key = i;
	return 1;
}

static int deeper(void *ctx)
{
	struct reading *r = ctx;

	return ++r->depth <= MAX_DEPTH || refuse(r, "levels are too many");
}

static int out(void *ctx)
{
	((struct reading *)ctx)->depth--;
	return 1;
}

bool tree_begins(const char *text, size_t len)
{
	static const char begin[] = "{\"format\":\"" FORMAT "\"";

	return len >= strlen(begin) && !memcmp(text, begin, strlen(begin));
}

int tree_top_read(struct tree_top *top, const char *text, size_t len, struct sc_error *err)
{
	static const yajl_callbacks callbacks = {
		.yajl_integer = on_integer, .yajl_string = on_string, .yajl_map_key = on_key,
		.yajl_start_map = deeper, .yajl_end_map = out,
		.yajl_start_array = deeper, .yajl_end_array = out,
	};
	struct sc_error first = { 0 };
	struct reading r = { .top = top, .err = &first };
	int rc;

	*top = (struct tree_top){ 0 };
	rc = manifest_parse(&callbacks, &r, &first, (struct sc_str){ text, len }, err);
	if (!rc && !r.is_tree)
		rc = sc_error_set(err, SC_EFORMAT, "the manifest is not that of a tree in parts");
	if (rc)
		tree_top_deinit(top);
	return rc;
}

void tree_top_deinit(struct tree_top *top)
{
	vec_deinit(top);
}

int tree_top_write(const struct tree_top *top, char **ret, size_t *len, struct sc_error *err)
{
	struct mk_out out_text = { 0 };
	struct mk_gen *g = &(struct mk_gen){ .to = &out_text };
	char text[PART_TEXT];

	mk_gen_open_map(g, NULL);
	mk_gen_text(g, "format", FORMAT);
	mk_gen_number(g, "version", TREE_VERSION);
	mk_gen_number(g, "entries", top->entries);
	mk_gen_open_array(g, "parts");
	for (size_t i = 0; i < top->len; i++)
		mk_gen_text(g, NULL, part_text(&top->data[i], text));
	mk_gen_close_array(g);
	mk_gen_close_map(g);
	return manifest_take(&out_text, ret, len, err);
}

/* ---- names ---------------------------------------------------------------------- */

bool tree_part_fits(const struct tree_part *part, const uint8_t *id, size_t len)
{
	for (size_t i = 0; part->prefix[i]; i++) {
		const uint8_t byte = i / 2 < len ? id[i / 2] : 0;

		if (sc_hex_digit(part->prefix[i]) != (i % 2 ? byte & 15 : byte >> 4))
			return false;
	}
	return true;
}

const struct tree_part *tree_part_of(const struct tree_top *top, const uint8_t *id, size_t len)
{
	for (size_t i = 0; i < top->len; i++)
		if (tree_part_fits(&top->data[i], id, len))
			return &top->data[i];
	return NULL;
}

int tree_part_check(const struct tree_part *part, const char *text, size_t len,
		    struct sc_error *err)
{
	uint8_t sha256[TREE_SHA256];

	crypto_hash_sha256(sha256, (const uint8_t *)text, len);
	return !memcmp(sha256, part->sha256, sizeof(sha256)) ? 0 :
		sc_error_set(err, SC_EFORMAT, "its SHA-256 is not that of the manifest");
}

const char *tree_part_name(const struct tree_part *part, char name[TREE_NAME])
{
	char text[PART_TEXT];

	snprintf(name, TREE_NAME, "parts/%s.json", part_text(part, text));
	return name;
}

const char *tree_signature_name(const char *top, size_t len, char name[TREE_NAME])
{
	char hash[HASH_TEXT + 1];
	uint8_t sha256[TREE_SHA256];

	crypto_hash_sha256(sha256, (const uint8_t *)top, len);
	snprintf(name, TREE_NAME, "parts/%s.sig",
		 symcache_build_id_text(hash, sha256, sizeof(sha256)));
	return name;
}

/*
 * Fuzz target: any text as the manifest of a tree in parts. What is read is written and read again,
 * and is the same; each part is found by the build IDs that are in it.
 */
#include "libsymcache/bundle/tree.h"

#include <stdlib.h>
#include <string.h>

#include "libsymcache/base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool ok)
{
	if (!ok)
		abort();
}

/* A build ID that begins as the part says; its first part may be one that begins it. */
static void look_up(const struct tree_top *top, const struct tree_part *part)
{
	uint8_t id[TREE_NIBBLES / 2] = { 0 };
	const struct tree_part *found;

	for (size_t i = 0; part->prefix[i]; i++)
		id[i / 2] |= (uint8_t)(sc_hex_digit(part->prefix[i]) << (i % 2 ? 0 : 4));
	found = tree_part_of(top, id, sizeof(id));
	must(tree_part_fits(part, id, sizeof(id)) && found && found <= part &&
	     !strncmp(found->prefix, part->prefix, strlen(found->prefix)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tree_top top, again;
	struct tree_part part;
	struct sc_error err;
	char name[TREE_NAME], *text;
	size_t len;

	tree_begins((const char *)data, size);
	if (tree_top_read(&top, (const char *)data, size, &err))
		return 0;
	must(!tree_top_write(&top, &text, &len, &err) && tree_begins(text, len));
	must(!tree_top_read(&again, text, len, &err));
	must(again.len == top.len && again.entries == top.entries);
	for (size_t i = 0; i < top.len; i++) {
		must(!memcmp(&top.data[i], &again.data[i], sizeof(part)));
		look_up(&top, &top.data[i]);
		tree_part_name(&top.data[i], name);
		must(tree_part_parse(strchr(name, '/') + 1, strcspn(name, ".") - 6, &part) &&
		     !memcmp(&part, &top.data[i], sizeof(part)));
	}
	tree_top_deinit(&again);
	tree_top_deinit(&top);
	free(text);
	return 0;
}

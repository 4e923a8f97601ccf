/* What is read of each seed of the fuzz targets, and of damaged ones: manifests, trees, bundles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "libsymcache/base/seeds_test.h"
#include "libsymcache/bundle/manifest.h"
#include "libsymcache/bundle/tree.h"

static void manifest_of(const uint8_t *bytes, size_t size, FILE *to)
{
	struct manifest m;
	struct sc_error err;
	char *text, name[BUNDLE_NAME];
	size_t len;

	if (manifest_read(&m, (const char *)bytes, size, &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	assert_int_equal(manifest_write(&m, &text, &len, &err), 0);
	fprintf(to, "%s\n", text);
	for (size_t i = 0; i < m.len; i++) {
		struct symstore_id id;

		fprintf(to, "%s %s", bundle_name(&m.data[i].entry, name),
			bundle_hashed_name(&m.data[i], name));
		fprintf(to, " %d", bundle_id_of_name(name, &id));
		fprintf(to, " %d %d\n", manifest_has(&m, &m.data[i]),
			manifest_check(&m.data[i], bytes, size, &err));
	}
	manifest_sort(&m);
	for (size_t i = 0; i < m.len; i++)
		fprintf(to, "%td ",
			manifest_find(&m, m.data[i].entry.build_id, m.data[i].entry.build_id_len) -
				m.data);
	fputc('\n', to);
	manifest_deinit(&m);
	free(text);
}

static void tree_of(const uint8_t *bytes, size_t size, FILE *to)
{
	struct tree_top top;
	struct sc_error err;
	char *text, name[TREE_NAME];
	size_t len;

	fprintf(to, "%d: ", tree_begins((const char *)bytes, size));
	if (tree_top_read(&top, (const char *)bytes, size, &err)) {
		fprintf(to, "%d %s\n", err.code, err.msg);
		return;
	}
	assert_int_equal(tree_top_write(&top, &text, &len, &err), 0);
	fprintf(to, "%" PRIu64 " entries %s, signed by %s\n", top.entries, text,
		tree_signature_name(text, len, name));
	for (size_t i = 0; i < top.len; i++)
		fprintf(to, "%s %d\n", tree_part_name(&top.data[i], name),
			tree_part_check(&top.data[i], (const char *)bytes, size, &err));
	for (unsigned i = 0; i < 256; i += 5) {
		const uint8_t id[2] = { (uint8_t)i, 0x7f };
		const struct tree_part *part = tree_part_of(&top, id, sizeof(id));

		fprintf(to, "%s ", part ? part->prefix : "-");
	}
	fputc('\n', to);
	tree_top_deinit(&top);
	free(text);
}

static int put_entry(void *ctx, const struct symstore_entry *entry, const void *bytes, size_t size,
		     struct sc_error *err)
{
	FILE *to = ctx;

	(void)err;
	for (size_t i = 0; i < entry->build_id_len; i++)
		fprintf(to, "%02x", entry->build_id[i]);
	fprintf(to, " of %s, tags %s, time %" PRId64 ", sources %" PRIx32 ": ",
		entry->source_path ? entry->source_path : "-", entry->tags ? entry->tags : "-",
		entry->time, entry->sources);
	put_digest(to, bytes, size);
	fputc('\n', to);
	return 0;
}

static void put_fault(void *ctx, const char *name, const char *why)
{
	const bool in_memory = !strncmp(name, "/proc/", 6);

	fprintf(ctx, "fault in %s: %s\n", in_memory ? "it" : name, why);
}

static void bundle_of(const uint8_t *bytes, size_t size, FILE *to)
{
	const struct symbundle_reader reader = { .entry = put_entry,
						 .fault = put_fault,
						 .ctx = to };
	struct sc_error err = { .msg = "" };
	char path[32], *at;
	int fd = testing_memfd(bytes, size, path);

	symbundle_read(path, &reader, &err);
	at = strstr(err.msg, path);
	/* libarchive's own words change with its version. */
	if (strcasestr(err.msg, "zstd") || strstr(err.msg, "Truncated"))
		fprintf(to, "%d the archive is damaged\n", err.code);
	else
		fprintf(to, "%d %s\n", err.code, at ? at + strlen(path) : err.msg);
	close(fd);
}

static void test_manifests(void **state)
{
	static const char *const seeds[] = { "manifest", NULL };

	(void)state;
	expect_answers("manifest", seeds, 64, manifest_of);
}

static void test_trees(void **state)
{
	static const char *const seeds[] = { "tree", NULL };

	(void)state;
	expect_answers("tree", seeds, 64, tree_of);
}

static void test_bundles(void **state)
{
	static const char *const seeds[] = { "bundle", NULL };

	(void)state;
	expect_answers("bundle", seeds, 24, bundle_of);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_manifests),
		cmocka_unit_test(test_trees),
		cmocka_unit_test(test_bundles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

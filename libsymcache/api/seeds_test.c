/*
 * All that is said of a small cache by the public names, one question after the other: frames as texts and as
 * numbers with each kind of text, variables, definitions, lines, local variables, entries of its store, and
 * what is refused, with its message; logs.
 */
#include <symcache-filter.h>
#include <symcache-find.h>

#include "libsymcache/read/tiny_names_test.h"

#include "libsymcache/base/seeds_test.h"

static const uint64_t vaddrs[] = {
	0x400000, 0x400010, 0x400024, 0x400028, 0x400030, 0x400040, 0x400050, 0x400055, 0x400059, 0x400060, 0x40006a,
	0x400072, 0x400078, 0x3fffff, 0x401000, 0x401012, 0x402000, 0, UINT64_MAX,
};
enum { VADDRS = sizeof(vaddrs) / sizeof(*vaddrs) };

static const uint32_t flags[] = {
	0, SYMCACHE_MANGLED, SYMCACHE_SHORT_NAMES, SYMCACHE_RAW_PATHS, SYMCACHE_RAW_BYTES, SYMCACHE_SYMBOL_NAMES,
	SYMCACHE_SYMBOL_NAMES | SYMCACHE_MANGLED | SYMCACHE_RAW_PATHS | SYMCACHE_RAW_BYTES,
};

static void put_result(FILE *to, int rc, const struct symcache_error *err)
{
	fprintf(to, " -> %d%s%s\n", rc, rc < 0 ? " " : "", rc < 0 ? err->msg : "");
}

static void put_frames(FILE *to, const struct symcache_frame *f)
{
	for (; f->function; f++)
		fprintf(to, " %s %s:%u:%u id %d flags %u;", f->function, f->file, f->line, f->column,
			(int)f->function_id, f->flags);
}

static struct symcache_resolver *resolver_of(uint32_t of, struct symcache_store *s)
{
	const struct symcache_resolver_options options = { sizeof(options), of, s };
	struct symcache_resolver *r;

	assert_int_equal(symcache_resolver_create(&options, &r, NULL), 0);
	return r;
}

/* One by one, and announced in fours: that is the same. */
static void put_all_frames(FILE *to, struct symcache_cache *c, uint32_t of)
{
	struct symcache_resolver *r = resolver_of(of, NULL), *ahead = resolver_of(of, NULL);
	const struct symcache_frame *f;

	fprintf(to, "== frames, flags %u\n", of);
	for (size_t i = 0; i < VADDRS; i++) {
		char *one, *announced;
		size_t len;
		FILE *text = open_memstream(&one, &len);
		const size_t n = symcache_frames(r, c, vaddrs[i], &f);

		put_frames(text, f);
		fclose(text);
		fprintf(to, "%#" PRIx64 ": %zu reason %d%s\n", vaddrs[i], n, symcache_reason(r), one);
		if (i % 4 == 0)
			symcache_frames_ahead(ahead, c, vaddrs + i, VADDRS - i < 4 ? VADDRS - i : 4);
		symcache_frames(ahead, c, vaddrs[i], &f);
		text = open_memstream(&announced, &len);
		put_frames(text, f);
		fclose(text);
		assert_string_equal(one, announced);
		free(one);
		free(announced);
	}
	symcache_resolver_destroy(ahead);
	symcache_resolver_destroy(r);
}

static void put_numbers(FILE *to, const struct symcache_cache *c)
{
	struct symcache_ids list[64], one[8];
	uint64_t first[VADDRS + 1];
	const size_t n = symcache_frame_ids_batch(c, vaddrs, VADDRS, first, list, 64);

	fprintf(to, "== numbers: %zu frames, %u functions, %u files, base %#" PRIx64 "\n", n,
		symcache_cache_num_functions(c), symcache_cache_num_files(c), symcache_cache_load_base(c));
	for (size_t i = 0; i < VADDRS; i++) {
		const size_t k = symcache_frame_ids(c, vaddrs[i], one, 8);

		fprintf(to, "%#" PRIx64 ":", vaddrs[i]);
		for (size_t j = first[i]; j < first[i + 1]; j++)
			fprintf(to, " %d %d:%u:%u", (int)list[j].function, (int)list[j].file, list[j].line, list[j].column);
		fputc('\n', to);
		assert_int_equal(k, first[i + 1] - first[i]);
		assert_memory_equal(one, list + first[i], k * sizeof(*one));
		assert_int_equal(symcache_frame_ids(c, vaddrs[i], one, 1), k);
	}
	for (uint32_t i = 0; i <= symcache_cache_num_functions(c); i++) {
		size_t len;
		const char *name = symcache_linkage_name(c, i, &len);

		fprintf(to, "function %u: %.*s, %zu bytes, at %#" PRIx64 "\n", i, (int)len, name ? name : "", len,
			symcache_function_entry(c, i));
	}
}

/* ---- questions whose answers come one by one ------------------------------------------------ */

static int put_definition(void *ctx, const struct symcache_definition *d)
{
	fprintf(ctx, " %s [%s] %#" PRIx64 "+%" PRIu64 " %s:%u flags %u;", d->name, d->linkage_name, d->vaddr, d->size,
		d->file, d->line, d->flags);
	return 0;
}

static int put_range(void *ctx, const struct symcache_line_range *p)
{
	fprintf(ctx, " %#" PRIx64 "-%#" PRIx64 " %s %s:%u:%u flags %u depth %u;", p->vaddr, p->end, p->function, p->file,
		p->line, p->column, p->flags, p->depth);
	return 0;
}

static int put_local(void *ctx, const struct symcache_local_variable *v)
{
	fprintf(ctx, " %s of %s %s:%u flags %u offset %" PRId64 " size %" PRIu64 " tag %" PRIu64 ";", v->name,
		v->function, v->file, v->line, v->flags, v->offset, v->size, v->tag);
	return 0;
}

static void put_variables(FILE *to, struct symcache_resolver *r, struct symcache_cache *c)
{
	struct symcache_error err;
	struct symcache_variable v;

	fprintf(to, "== variables\n");
	for (size_t i = 0; i < VADDRS; i++) {
		const int rc = symcache_variable_at(r, c, vaddrs[i], &v);

		fprintf(to, "%#" PRIx64 " -> %d %s %#" PRIx64 "+%" PRIu64 " %s:%u flags %u\n", vaddrs[i], rc,
			v.name ? v.name : "", v.vaddr, v.size, v.file ? v.file : "", v.line, v.flags);
	}
	fprintf(to, "== local variables\n");
	for (size_t i = 0; i < VADDRS; i++) {
		fprintf(to, "%#" PRIx64 ":", vaddrs[i]);
		put_result(to, symcache_each_local(r, c, vaddrs[i], put_local, to, &err), &err);
	}
}

static void put_names(FILE *to, struct symcache_resolver *r, struct symcache_cache *c)
{
	static const char *const names[] = { "main", "leaf", "_ZN1a4workEv", "a::work()", "table", "first", "none", "" },
		*const patterns[] = { "*", "*work*", "ta?le", "m", "" },
		*const lines[] = { "main.c:10", "/src/main.c:11", "leaf.h:3", "leaf.h:7", "work.cc:30", "main.c:99", "none.c:1",
				   "main.c", "main.c:0", ":1" },
		*const mangled[] = { "_ZN1a4workEv", "main", "_ZN1a4workEv.cold", "_R", "" };
	struct symcache_error err;
	uint64_t at[4];

	fprintf(to, "== names\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const size_t n = symcache_addresses_of(r, c, names[i], at, 4);

		assert_int_equal(symcache_addresses_of(r, c, names[i], NULL, 0), n);
		fprintf(to, "%s at", names[i]);
		for (size_t k = 0; k < n && k < 4; k++)
			fprintf(to, " %#" PRIx64, at[k]);
		put_result(to, symcache_each_definition(r, c, names[i], put_definition, to, &err), &err);
	}
	for (size_t i = 0; i < sizeof(patterns) / sizeof(*patterns); i++) {
		fprintf(to, "%s:", patterns[i]);
		put_result(to, symcache_each_match(r, c, patterns[i], put_definition, to, &err), &err);
	}
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		fprintf(to, "%s:", lines[i]);
		put_result(to, symcache_each_line_range(r, c, lines[i], put_range, to, &err), &err);
	}
	for (uint32_t i = 0; i <= 8; i++) {
		const char *name = symcache_function_name(r, c, i);

		fprintf(to, "%u: %s ", i, name ? name : "(none)");
		name = symcache_file_path(r, c, i);
		fprintf(to, "%s\n", name ? name : "(none)");
	}
	for (size_t i = 0; i < sizeof(mangled) / sizeof(*mangled); i++)
		fprintf(to, "%s: %s\n", mangled[i], symcache_demangled(r, mangled[i]));
}

/* ---- the cache in a store ------------------------------------------------------------------- */

static int put_entry(void *ctx, const struct symcache_entry *e)
{
	size_t len;
	const uint8_t *id = symcache_entry_build_id(e, &len);

	for (size_t i = 0; i < len; i++)
		fprintf(ctx, "%02x", id[i]);
	fprintf(ctx, " [%s] [%s] [%s] %" PRIu64 " bytes, sources %u, time %" PRId64 "\n", symcache_entry_source_path(e),
		symcache_entry_debug_path(e), symcache_entry_tags(e), symcache_entry_size(e), symcache_entry_sources(e),
		symcache_entry_time(e));
	return 0;
}

/* Each text as a build ID, a name, or either: what is resolved by it. */
static void put_resolved(FILE *to, struct symcache_store *s)
{
	static int (*const resolve[])(struct symcache_resolver *, const char *, uint64_t, const struct symcache_frame **,
				      struct symcache_error *) = {
		symcache_resolve, symcache_resolve_build_id, symcache_resolve_name,
	};
	static const char *const texts[] = { "0102", "0103", "01", "libx.so", "liby.so", "longest.so", "beef", "ff", "x y", "" };
	struct symcache_resolver *r = resolver_of(0, s);
	const struct symcache_frame *f;
	struct symcache_error err;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		for (int by = 0; by < 3; by++) {
			static const uint64_t at[] = { 0x400024, 0x400030, 0x500000 };
			const int rc = resolve[by](r, texts[i], at[by], &f, &err);

			fprintf(to, "%s, %d:", texts[i], by);
			put_frames(to, f);
			put_result(to, rc, &err);
		}
	}
	symcache_resolver_destroy(r);
}

/* ---- logs ------------------------------------------------------------------------------------ */

static int put_text(void *ctx, const char *data, size_t len)
{
	return fwrite(data, 1, len, ctx) != len;
}

static void put_complaint(void *ctx, const char *data, size_t len)
{
	fprintf(ctx, "[%.*s]\n", (int)(len - (len && data[len - 1] == '\n')), data);
}

static void put_missing(void *ctx, const struct symcache_missing *m)
{
	fprintf(ctx, "missing %.*s", (int)m->name_len, m->name);
	for (size_t i = 0; i < m->build_id_len; i++)
		fprintf(ctx, " %02x", m->build_id[i]);
	fprintf(ctx, " %" PRIu64 " frames, flags %u\n", m->frames, m->flags);
}

/* Each form of output but pages, each setting. */
static void put_filtered(FILE *to, struct symcache_store *s)
{
	static const struct { uint32_t form; const char *name, *value; } ways[] = {
		{ SYMCACHE_FILTER_TEXT, NULL, NULL }, { SYMCACHE_FILTER_JSON, NULL, NULL }, { SYMCACHE_FILTER_LLVM, NULL, NULL },
		{ SYMCACHE_FILTER_TEXT, "dialect", "llvm" }, { SYMCACHE_FILTER_TEXT, "dialect", "fuchsia" },
		{ SYMCACHE_FILTER_TEXT, "input", "markup" }, { SYMCACHE_FILTER_TEXT, "demux", "^([0-9]+): " },
		{ SYMCACHE_FILTER_TEXT, "module", "bound=0102" }, { SYMCACHE_FILTER_TEXT, "group", "yes" },
		{ SYMCACHE_FILTER_JSON, "group", "yes" },
	};
	static const char log[] = "{{{reset}}}\n{{{module:0:x:elf:0102}}}\n{{{mmap:0x10000:0x1000:load:0:rx:0x400000}}}\n"
		"{{{mmap:0x1000}}}\nat {{{pc:0x10028}}} <b>\n{{{bt:0:0x10055}}}\n1: {{{bt:1:0x10011}}}\n2: {{{bt:2:0x99}}}\n"
		"/x/bound(+0x24) [0x550000000024]\n/x/libx.so(+0x24) [0x550000400024]\n/x/none(+0x10) [0x7f0000000010]\n";

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		const struct symcache_filter_options options = { sizeof(options), ways[i].form, 2, put_text, put_complaint, to };
		struct symcache_filter_stats n = { .size = sizeof(n) };
		struct symcache_filter *f;
		const size_t first = sizeof(log) * i / 10;

		assert_int_equal(symcache_filter_create(s, &options, &f, NULL), 0);
		fprintf(to, "== filter, form %u, %s\n", ways[i].form, ways[i].name ? ways[i].name : "no setting");
		if (ways[i].name)
			assert_int_equal(symcache_filter_set(f, ways[i].name, ways[i].value, NULL), 0);
		assert_int_equal(symcache_filter_feed(f, log, first, NULL), 0);
		assert_int_equal(symcache_filter_feed(f, log + first, sizeof(log) - 1 - first, NULL), 0);
		assert_int_equal(symcache_filter_end(f, NULL), 0);
		assert_int_equal(symcache_filter_get_stats(f, &n, NULL), 0);
		fprintf(to, "%" PRIu64 " bytes, %" PRIu64 " frames, %" PRIu64 " found, %" PRIu64 " outside, %" PRIu64
			" understood, %" PRIu64 " guessed\n", n.bytes, n.frames, n.found, n.outside, n.understood, n.guessed);
		assert_int_equal(symcache_filter_each_missing(f, put_missing, to, NULL), 0);
		symcache_filter_destroy(f);
	}
}

/* `malformed` is not taken. */
static void put_store(FILE *to, const struct symcache_cache *c, const struct symcache_cache *malformed)
{
	static const char longest[SYMCACHE_BUILD_ID_MAX + 1] = "\x77";
	static const struct { const char *id; size_t len; const char *path, *tags; } entries[] = {
		{ "\1\2", 2, "/lib/liby.so", "a" }, { "\1\2", 2, "/lib/libx.so", "a\nrelease=6" }, { "\1\3", 2, "/opt/liby.so", NULL }, { "\xbe\xef", 2, NULL, "b" },
		{ "\1\2", 2, "/elsewhere/libx.so", "later" }, { longest, SYMCACHE_BUILD_ID_MAX, "/lib/longest.so", NULL }, { "\x20", 0, "/none", NULL }, { longest, SYMCACHE_BUILD_ID_MAX + 1, "/none", NULL },
	};
	char path[40] = "/tmp/symcache-api-XXXXXX";
	struct symcache_store *s;
	struct symcache_error err;

	fprintf(to, "== store\n");
	assert_true(mkdtemp(path) && !rmdir(path));
	assert_int_equal(symcache_store_open(path, SYMCACHE_STORE_WRITE, &s, NULL), 0);
	for (size_t i = 0; i < sizeof(entries) / sizeof(*entries); i++) {
		const struct symcache_put_options put = { sizeof(put), (const uint8_t *)entries[i].id, entries[i].len,
			entries[i].path, entries[i].tags, (int64_t)i - 1 };

		fprintf(to, "put %zu", i);
		put_result(to, symcache_store_put(s, i ? c : malformed, &put, &err), &err);
	}
	assert_int_equal(symcache_store_each(s, NULL, put_entry, to, NULL), 0);
	put_resolved(to, s);
	put_filtered(to, s);
	for (size_t len = SYMCACHE_BUILD_ID_MAX; len <= SYMCACHE_BUILD_ID_MAX + 1; len++) {
		struct symcache_cache *found;

		fprintf(to, "get %zu bytes", len);
		put_result(to, symcache_store_get(s, (const uint8_t *)longest, len, &found, &err), &err);
		symcache_cache_unref(found);
	}
	fprintf(to, "tag");
	put_result(to, symcache_store_tag(s, (const uint8_t *)"\1\3", 2, "new\nb", &err), &err);
	fprintf(to, "remove");
	put_result(to, symcache_store_remove(s, (const uint8_t *)"\1\2", 2, &err), &err);
	fprintf(to, "remove");
	put_result(to, symcache_store_remove(s, (const uint8_t *)"\1\2", 2, &err), &err);
	assert_int_equal(symcache_store_each(s, NULL, put_entry, to, NULL), 0);
	symcache_store_close(s);
	unlink(path);
	unlink(strcat(path, "-lock"));
}

static struct symcache_cache *open_tiny(struct tiny *t)
{
	uint8_t *bytes = tiny_bytes(t);
	struct symcache_cache *c;

	assert_int_equal(symcache_cache_open_memory(bytes, t->size, free, bytes, &c, NULL), 0);
	return c;
}

static void test_answers(void **state)
{
	struct tiny t = tiny_example_names(9);
	const uint32_t leaf = t.functions[2].name, odd = t.functions[5].name;
	struct symcache_cache *c, *in_order;
	char *got;
	size_t len;
	FILE *to = open_memstream(&got, &len);

	(void)state;
	t.num_local_ranges = 2;
	t.local_ranges[0] = (struct symcache_ext_local_range){ 0x10, 0, 3 };
	t.local_ranges[1] = (struct symcache_ext_local_range){ 0x30, 0, 0 };
	t.num_local_order = t.num_locals = 3;
	t.local_order[1] = 1;
	t.local_order[2] = 2;
	t.locals[0] = (struct symcache_ext_local){ SYMCACHE_NONE, leaf, SYMCACHE_NONE, 0, -8, 0, 0, SYMCACHE_LOCAL_OFFSET };
	t.locals[1] = (struct symcache_ext_local){ odd, leaf, 1, 7, 8, 400, 128, 7 };
	t.locals[2] = (struct symcache_ext_local){ leaf, SYMCACHE_NONE, 0, 3, 0, 0, 5, SYMCACHE_LOCAL_TAG };
	c = open_tiny(&t);
	t.decls[7].file_idx = 0; /* it has no such file */
	in_order = open_tiny(&t);
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
		put_all_frames(to, c, flags[i]);
	put_numbers(to, c);
	for (size_t i = 0; i < 2; i++) {
		struct symcache_resolver *r = resolver_of(flags[6 * i], NULL);

		put_variables(to, r, c);
		put_names(to, r, c);
		symcache_resolver_destroy(r);
	}
	put_store(to, in_order, c);
	symcache_cache_unref(in_order);
	symcache_cache_unref(c);
	fclose(to);
	expect_recorded("api", got, len);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_answers) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}

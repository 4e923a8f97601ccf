/*
 * read_fuzz.c: any bytes through every function of the reader.
 *
 * Besides "no crash" it holds answers against each other: frames and strings lie
 * inside the bytes, a chain is no longer than the table of locations, a path cut
 * short is the beginning of the whole one, batches find what single look-ups do, and
 * where symcache_verify() finds nothing but the hash to be wrong, the index changes no
 * answer. The unit tests call the same entry point with cut and damaged files.
 */
#include "libsymcache/read/batch_check.h"
#include "libsymcache/read/rows.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* Not assert(): these checks are the point, whatever the flavour of the build. */
static void must(bool ok)
{
	if (!ok)
		abort();
}

static unsigned char use_bytes(const struct symcache *c, struct sc_str s)
{
	const char *begin = (const char *)c->strings, *end = begin + c->header->string_bytes;
	unsigned char sum = 0;

	if (s.ptr && s.len != 1) /* "?" is a literal */
		must(s.ptr >= begin && s.len <= (size_t)(end - s.ptr));
	for (size_t i = 0; i < s.len; i++)
		sum += (unsigned char)s.ptr[i];
	return sum;
}

static void use_file(const struct symcache *c, const struct symcache_file *file)
{
	char whole[4096], cut[9];

	use_bytes(c, file->comp_dir);
	use_bytes(c, file->directory);
	use_bytes(c, file->name);
	for (int style = SYMCACHE_PATH_CLEAN; style <= SYMCACHE_PATH_RAW; style++) {
		size_t len = symcache_path(file, style, whole, sizeof(whole));
		size_t kept = len < sizeof(cut) ? len : sizeof(cut) - 1;

		must(symcache_path(file, style, cut, sizeof(cut)) == len);
		must(symcache_path(file, style, NULL, 0) == len);
		must(!memcmp(cut, whole, kept) && !cut[kept]);
	}
}

static void look_up(const struct symcache *c, uint64_t rel_pc)
{
	struct symcache_frames frames;
	struct symcache_raw_frame frame;
	struct symcache_data data;
	struct symcache_local local;
	struct symcache_row row;
	uint32_t location;
	char text[500];
	uint64_t n = 0;

	if (symcache_lookup(c, rel_pc, &frames)) {
		while (symcache_next_frame(&frames, &frame)) {
			must(n++ < c->header->num_source_locations);
			must(frame.function.ptr != NULL);
			use_bytes(c, frame.function);
			use_file(c, &frame.file);
			const struct symcache_file decl = symcache_file(c, frame.decl_file_idx);
			use_file(c, &decl);
		}
		must(n > 0);
	}
	if (symcache_lookup(c, rel_pc, &frames))
		while ((location = symcache_next_location(&frames)) != SYMCACHE_NONE) {
			symcache_discriminator(c, location, rel_pc);
			symcache_inlined_start(c, location, rel_pc);
		}
	for (uint32_t first = 0, k = symcache_locals_of(c, rel_pc, &first), i = 0; i < k && i < 64; i++)
		if (symcache_local(c, first + i, &local)) {
			use_bytes(c, local.function);
			use_bytes(c, local.name);
			use_file(c, &local.file);
		}
	if (symcache_find_row(c, rel_pc, &row)) {
		uint64_t start;
		uint32_t number;

		must(row.cfa && row.number < c->unwind.num_rows &&
		     row.range < c->unwind.num_starts);
		must(symcache_row_range(c, row.range, &start, &number) && number == row.number);
		must(symcache_row_text(c, &row, text, sizeof(text)) > 0);
	}
	if (symcache_lookup_data(c, rel_pc, &data)) {
		must(data.rel_address <= rel_pc);
		must(!data.size || rel_pc - data.rel_address < data.size);
		use_bytes(c, data.name);
		use_file(c, &data.file);
	}
}

static bool count_fault(void *ctx, const char *fault)
{
	must(*fault && !strchr(fault, '\n'));
	*(size_t *)ctx += strncmp(fault, "hash: ", 6) != 0;
	return true;
}

static void compare_without_index(const struct symcache *c, uint64_t rel_pc)
{
	struct symcache plain = *c;
	struct symcache_frames a, b;
	struct symcache_query q = { .cache = c, .rel_pc = rel_pc };

	plain.index = NULL;
	must(symcache_lookup(c, rel_pc, &a) == symcache_lookup(&plain, rel_pc, &b));
	must(a.location == b.location);
	symcache_lookup_batch(&q, 1);
	must(q.frames.location == a.location);
}

static void compare_batches(const struct symcache *c)
{
	uint64_t rel_pcs[BATCH_CHECK_MAX] = { UINT64_MAX, 0 };
	const uint32_t ranges = c->header->num_ranges;

	for (uint32_t i = 2; i < BATCH_CHECK_MAX && ranges; i++)
		rel_pcs[i] = c->ranges[(i - 2) % ranges] + (i - 2) / ranges % 3;
	for (uint32_t most = 0; most <= BATCH_CHECK_FRAMES; most += 5)
		must(batch_is_same(c, rel_pcs, BATCH_CHECK_MAX, most, 40));
}

static void use_cache(const struct symcache *c)
{
	static const uint64_t fixed[] = { 0, 1, 0x7fffffff, 0xffffffff, 0x100000000, UINT64_MAX };
	const struct symcache_header *h = c->header;
	size_t faults = 0;
	bool in_order = (symcache_verify(c, count_fault, &faults), faults == 0);

	for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
		look_up(c, fixed[i]);
	compare_batches(c);
	for (uint32_t i = 0; i < h->num_ranges && i < 64; i++) {
		for (int64_t d = -1; d <= 1; d++) {
			look_up(c, (uint64_t)c->ranges[i] + (uint64_t)d);
			if (in_order)
				compare_without_index(c, (uint64_t)c->ranges[i] + (uint64_t)d);
		}
	}
	for (size_t i = 0; i < c->num_data_symbols && i < 64; i++)
		look_up(c, (uint64_t)c->data_symbols[i].address + c->data_symbols[i].size - 1);
	for (size_t i = 0; i < c->locals.num_ranges && i < 64; i++)
		look_up(c, c->locals.ranges[i].start);
	for (uint32_t i = 0; i < c->unwind.num_starts && i < 64; i++) {
		uint64_t start;
		uint32_t number;

		if (symcache_row_range(c, i, &start, &number))
			look_up(c, start);
	}
	for (uint32_t i = 0; i <= h->num_files && i < 64; i++) {
		struct symcache_file file = symcache_file(c, i);

		use_file(c, &file);
	}
	if (c->image) {
		must(c->image->build_id_len <= SYMCACHE_BUILD_ID_MAX);
		use_bytes(c, symcache_string(c, c->image->soname));
		must(symcache_load_base(c) == c->image->load_base);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	/* An allocation of exactly this size, aligned: reads past it are seen. */
	uint8_t *copy = malloc(size ? size : 1);
	struct symcache cache;
	struct sc_error err = { 0 };

	must(copy != NULL);
	memcpy(copy, bytes, size);
	if (symcache_open(&cache, copy, size, &err) == 0)
		use_cache(&cache);
	else
		must(err.code == SC_EFORMAT && err.msg[0]);
	free(copy);
	return 0;
}
